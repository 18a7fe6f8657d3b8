"""The check of assignment 11 on what lies between two minima of a loss."""

import numpy as np

from coursegrade.kit.question import question

__all__ = ["barrier"]


def drawn(n, d, seed=0):
    """Sequences x (n, 2, d), targets y (n, 2, d) of some teacher."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 2, d))
    return x, _student(random.normal(size=d), x)


def _scores(Q, x):
    g = x @ Q / np.sqrt(len(Q))                                         # (n, 2)
    return g[:, :, None] * g[:, None]


def _mix(scores, x):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ x


def _student(Q, x, scores=_scores, mix=_mix):
    return mix(scores(Q, x), x)


def _case(n, d, seed, turned, lam=0.05, t=(0.0, 0.25, 0.5, 0.75, 1.0)):
    random = np.random.default_rng(seed)
    Q0, Q1 = random.normal(size=(2, d))
    Q1 = Q1 * np.sign(Q0 @ Q1) * (-1 if turned else 1)
    return (Q0, Q1, *drawn(n, d, seed), lam, np.array(t))


def _same_side(Q0, Q1):
    return -Q1 if Q0 @ Q1 < 0 else Q1


def _above_both(losses):
    return losses.max() - max(losses[0], losses[-1])


@question((1, 0), {"one side": _case(6, 4, 0, False), "opposite sides": _case(8, 5, 1, True),
                   "no penalty, and uneven steps": _case(7, 3, 11, True, lam=0.0, t=(0.0, 0.1, 0.3, 0.8, 1.0)),
                   "only the ends": _case(5, 4, 3, False, t=(0.0, 1.0))},
          promises={"that begins with 0 and ends with 1": lambda Q0, Q1, x, y, lam, t: t[0] == 0 and t[-1] == 1},
          returns="losses (m,), height", tolerance=(1e-6, 1e-9),
          forbidden=("coursekit.worlds.teacher.minimise",), instead="the formula",
          otherwise="Take the first t, 0: then Q is Q₀. Compute the four numbers of the first sequence's attention, "
                    "its two outputs, and the sum of squares of what is left, one after the other.",
          hints={"matmul|shapes|dimension": "x is (n, 2, d) and Q (d,): x @ Q is (n, 2), one number g for each token. "
                                            "The scores are (n, 2, 2), and the weights times x (n, 2, d)."})
def barrier(Q0, Q1, x, y, lam, t, *, side=_same_side, scores=_scores, mix=_mix, halves=2, per=len, penalty=1.0,
            above=_above_both):
    """barrier(Q0, Q1, x, y, lam, t): losses per d at (1−t) Q0 ± t Q1, the sign of Q1 such that Q0·Q1 ≥ 0; and how far
    the highest lies above both ends."""
    Q1, d, losses = side(Q0, Q1), per(Q0), []
    for share in t:
        Q = (1 - share) * Q0 + share * Q1
        error = np.sum((_student(Q, x, scores, mix) - y) ** 2) / (halves * len(Q))
        losses.append((error + penalty * lam / 2 * Q @ Q) / d)
    losses = np.array(losses)
    return losses, float(above(losses))


barrier.mistakes(
    ("Q and −Q give the same outputs, and their midpoint is 0. Turn Q₁ round where Q₀·Q₁ is negative, or the path "
     "leads past 0.", dict(side=lambda Q0, Q1: Q1)),
    ("The penalty λ/2 ‖Q‖² is missing.", dict(penalty=0.0)),
    ("The penalty is λ/2 ‖Q‖²: the half is missing.", dict(penalty=2.0)),
    ("Each g is x·Q over √d. It was divided by d.", dict(scores=lambda Q, x: _scores(Q, x) / len(Q))),
    ("A score is a product of two g, and each g is x·Q over √d: these scores are too large.",
     dict(scores=lambda Q, x: _scores(Q, x) * len(Q))),
    ("A score is a product of two g, and each has a √d: the scores were divided by √d only once.",
     dict(scores=lambda Q, x: _scores(Q, x) * len(Q) ** 0.5)),
    ("The squares are divided by d and not by 2d.", dict(halves=1)),
    ("That is a mean over the sequences. In the formula they are added up.", lambda Q0, Q1, x, y, lam, t: tuple(
        part / len(x) for part in barrier.reference(Q0, Q1, x, y, lam * len(x), t))),
    ("That is the loss itself. It is asked for per d: divided by d once more.", dict(per=lambda Q: 1)),
    ("The softmax runs over the wrong axis: the weights of *each token* add up to 1, row by row.",
     dict(mix=lambda scores, x: _mix(scores, np.broadcast_to(np.eye(2), (len(x), 2, 2))).mT @ x)),
    ("The height is that of the middle. The largest loss may lie anywhere on the way.",
     dict(above=lambda losses: max(losses[len(losses) // 2] - max(losses[0], losses[-1]), 0.0))),
    ("The height is measured from the lower end. A barrier is what rises above both.",
     dict(above=lambda losses: losses.max() - min(losses[0], losses[-1]))),
    ("The height is measured from the mean of the ends. A barrier is what rises above both.",
     dict(above=lambda losses: losses.max() - (losses[0] + losses[-1]) / 2)))
