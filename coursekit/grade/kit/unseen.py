"""Random inputs for tests that students do not see, from a seed that a teacher may keep."""

import hashlib
import os

SEED = "COURSEKIT_HIDDEN_SEED"      # an environment variable; any text will do


def unseen(name):
    """A NumPy random generator that depends on `name` and on the environment variable COURSEKIT_HIDDEN_SEED alone.

    Set the variable where marks are given (export COURSEKIT_HIDDEN_SEED=…), and keep its value for yourself: who has
    read the hidden tests then still does not know their numbers. Unset, it counts as empty.

    >>> bool((unseen("softmax").normal(size=3) == unseen("softmax").normal(size=3)).all())
    True
    """
    import numpy as np

    digest = hashlib.sha256(f"{os.environ.get(SEED, '')}/{name}".encode()).digest()
    return np.random.default_rng(list(digest))
