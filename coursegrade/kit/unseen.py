"""Random inputs for tests that students do not see, from a seed that a teacher may keep."""

import hashlib
import os

SEED = "COURSEGRADE_HIDDEN_SEED"    # an environment variable; any text will do
DRAW = "COURSEGRADE_HIDDEN_DRAW"    # another: what is drawn in place of a draw that will not do
OLD = "COURSEKIT_HIDDEN_SEED"       # the name of the first in 0.1.0, accepted until 0.4


def seed():
    """The seed in the environment, "" if there is none."""
    return os.environ.get(SEED, os.environ.get(OLD, ""))


def unseen(name):
    """A NumPy random generator that depends on `name` and on the environment variables COURSEGRADE_HIDDEN_SEED and
    COURSEGRADE_HIDDEN_DRAW alone. Unset, they count as empty.

    Whoever gives marks sets the first, and keeps it secret: who has read the hidden tests then still does not know
    their numbers. When a class is graded it is made of the teacher's seed, the student and the answers
    (marking/answers.py), so that what one hand-in finds out helps no other.

    >>> bool((unseen("softmax").normal(size=3) == unseen("softmax").normal(size=3)).all())
    True
    """
    import numpy as np

    draw = os.environ.get(DRAW, "")
    digest = hashlib.sha256(f"{seed()}/{name}{draw and '/'}{draw}".encode()).digest()
    return np.random.default_rng(list(digest))
