"""Checks of assignment 13 on codes: what an autoencoder costs, the best code of a dictionary, and k features each."""

import numpy as np

from coursegrade.kit.question import question

from .directions import LIBRARY

__all__ = ["audit", "best_code", "batch_topk"]


def _relu(z):
    return np.maximum(z, 0.0)


# -- audit -----------------------------------------------------------------------------------------------------------

def drawn(n, d, F, seed, shift=0.0):
    """States (n, d) and an autoencoder of them, W_enc (F, d), b_enc (F,), W_dec (d, F), b_dec (d,)."""
    rng = np.random.default_rng(seed)
    W_dec = rng.normal(size=(d, F)) * rng.uniform(0.3, 1.5, F)
    W_enc = W_dec.T * rng.uniform(0.2, 0.8, (F, 1))
    b_enc = rng.normal(size=F) * 0.3 - 0.2
    b_enc[F // 2] = -50.0                                                # this one is dead
    H = _relu(rng.normal(size=(n, F))) @ W_dec.T * 0.5 + shift
    return tuple(x.round(1) for x in (H, W_enc, b_enc, W_dec, rng.normal(size=d) * 0.3 + shift))


def _square(x):
    return (x ** 2).sum(1).mean()


def _explained(error, H):
    return 1 - (error ** 2).sum() / ((H - H.mean(0)) ** 2).sum()


def _sum_over_lengths(a, sizes):
    return (a * sizes).sum(1).mean()


def _in_a_state(alive):
    return alive.sum(1).mean()


def _dead(alive):
    return [j for j in range(alive.shape[1]) if not alive[:, j].any()]


@question((2, 2), {"three states": (*drawn(3, 2, 4, 62), 0.5), "six states": (*drawn(6, 3, 5, 34), 2.0),
                   "states far from 0": (*drawn(5, 2, 3, 4, shift=4.0), 1.0),
                   "fewer features than dimensions": (*drawn(4, 3, 2, 3), 0.25),
                   "no penalty": (*drawn(4, 2, 3, 9), 0.0)},
          promises={"The states are not all alike.": lambda H, *rest: np.ptp(H, axis=0).any()},
          returns="loss, variance, L0, dead", forbidden=LIBRARY, instead="the formulas",
          otherwise="Take one state by hand: a, then s(h), then ‖h − s(h)‖². Which of the four numbers is the first "
                    "that is wrong?",
          hints={"shapes": "States are rows of H, features are columns of W_dec and rows of W_enc: z is H times the "
                           "transpose of W_enc, s(h) is a times the transpose of W_dec, and W_dec's columns have F "
                           "lengths."})
def audit(H, W_enc, b_enc, W_dec, b_dec, lam, *, before=lambda h, b: h, sigma=_relu, back=1.0, far=_square,
          penalty=_sum_over_lengths, weight=lambda lam: lam, share=_explained, count=_in_a_state, dead=_dead):
    """audit(H, W_enc, b_enc, W_dec, b_dec, lam): (the loss, the share of the variance, L0, the features never on)."""
    z = before(H, b_dec) @ W_enc.T + b_enc                               # (n, F)
    a = sigma(z)
    error = H - (a @ W_dec.T + back * b_dec)
    loss = far(error) + weight(lam) * penalty(a, np.sqrt((W_dec ** 2).sum(0)))
    return float(loss), float(share(error, H)), float(count(a > 0)), dead(a > 0)


audit.mistakes(
    ("The penalty is Σ a_j: the length of W_dec's column is missing. So a feature could pay less with a small a_j and "
     "a long column.", dict(penalty=lambda a, sizes: a.sum(1).mean())),
    ("Errors are added up over the dimensions of a state, and the mean is over states alone. Yours is over both.",
     dict(far=lambda error: (error ** 2).mean())),
    ("The loss is a sum over states. It is their mean.",
     dict(far=lambda error: (error ** 2).sum(), penalty=lambda a, sizes: (a * sizes).sum())),
    ("Of the error, ‖h − s(h)‖ is *squared* in the loss.", dict(far=lambda error: np.sqrt((error ** 2).sum(1)).mean())),
    ("In the penalty the lengths of the columns are squared. They are not.",
     dict(penalty=lambda a, sizes: (a * sizes ** 2).sum(1).mean())),
    ("The penalty is a mean over features. It is their sum.",
     dict(penalty=lambda a, sizes: (a * sizes).mean())),
    ("λ is missing.", dict(weight=lambda lam: 1.0)),
    ("`b_dec` is missing in s(h).", dict(back=0.0)),
    ("No ReLU: a is never below 0.", dict(sigma=lambda z: z)),
    ("You take b_dec from h before it is encoded. Some do; in this loss W_enc h + b_enc is all.",
     dict(before=lambda h, b: h - b)),
    ("The variance is that *about the mean state*. Yours is about 0, and large for states that are all alike.",
     dict(share=lambda error, H: 1 - (error ** 2).sum() / (H ** 2).sum())),
    ("`variance`: the mean state h̄ has d numbers, a mean for each dimension. Yours is one mean of all entries.",
     dict(share=lambda error, H: 1 - (error ** 2).mean() / H.var())),
    ("`variance`: the errors' own mean was taken off. An error that is the same everywhere is an error too.",
     dict(share=lambda error, H: 1 - error.var(0).sum() / H.var(0).sum())),
    ("`variance` is what was lost. What was explained is 1 less that.",
     dict(share=lambda error, H: (error ** 2).sum() / ((H - H.mean(0)) ** 2).sum())),
    ("`variance` is a mean over dimensions. Here all their squares are added up first, then divided.",
     dict(share=lambda error, H: (1 - (error ** 2).sum(0) / ((H - H.mean(0)) ** 2).sum(0)).mean())),
    ("L0 is how many features are on in a state, not which share of them.", dict(count=lambda alive: alive.mean())),
    ("`dead` lists the living.", dict(dead=lambda alive: [j for j in range(alive.shape[1]) if alive[:, j].any()])),
    ("`dead` has the features that are off in *some* state. Dead is off in all.",
     dict(dead=lambda alive: [j for j in range(alive.shape[1]) if not alive[:, j].all()])))


# -- best_code -------------------------------------------------------------------------------------------------------

def dictionary(n, d, F, seed):
    """States (n, d) made of few columns of W_dec (d, F), which are not orthogonal, and b_dec (d,)."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(d, F)) + 0.6
    W *= rng.uniform(0.5, 2.0, F) / np.sqrt((W ** 2).sum(0))
    b = rng.normal(size=d)
    H = (rng.uniform(0, 3, (n, F)) * (rng.random((n, F)) < 0.6)) @ W.T + b + rng.normal(size=(n, d)) * 0.1
    return tuple(x.round(1) for x in (H, W, b))


def _threshold(lam, size):
    return lam * size / 2


@question((2, 3), {"two directions, one round": (*dictionary(2, 2, 2, 0), 0.4, 1),
                   "three directions, one round": (*dictionary(3, 3, 3, 1), 1.0, 1),
                   "three directions, two rounds": (*dictionary(3, 3, 3, 1), 1.0, 2),
                   "four directions in the plane": (*dictionary(3, 2, 4, 2), 0.8, 3),
                   "orthogonal ones": (np.array([[3.0, 1.0], [0.2, -2.0]]), np.diag([2.0, 0.5]), np.zeros(2), 1.0, 4)},
          promises={"No column is all 0": lambda H, W_dec, b_dec, lam, rounds: W_dec.any(0).all(),
                    "$\\lambda \\ge 0$": lambda H, W_dec, b_dec, lam, rounds: lam >= 0},
          returns="A (n, F)", forbidden=LIBRARY, instead="the closed form, feature by feature",
          otherwise="Take one state h = (3, 0), the column w = (2, 0), b_dec = 0 and λ = 1 by hand: r·w = 6, and the "
                    "result is (6 − 1)/4 = 1.25.",
          hints={"shapes": "R holds what is left of the states, (n, d). One column w (d,) is in it R @ w times, one "
                           "number for each state; np.outer(…, w) makes a table (n, d) of them again."})
def best_code(H, W_dec, b_dec, lam, rounds, *, least=0.0, threshold=_threshold, over=lambda size: size ** 2,
              back=True, centre=1.0, jacobi=False, times=lambda rounds: rounds, turn=1, out=lambda A, sizes: A):
    """best_code(H, W_dec, b_dec, lam, rounds): A (n, F), round by round each a_j the best that there is."""
    sizes = np.sqrt((W_dec ** 2).sum(0))
    A, H = np.zeros((len(H), len(sizes))), H - centre * b_dec
    for _ in range(times(rounds)):
        old = A.copy()
        for j in range(len(sizes))[::turn]:
            R = H - (old if jacobi else A) @ W_dec.T
            if back:
                R = R + np.outer((old if jacobi else A)[:, j], W_dec[:, j])
            A[:, j] = np.maximum((R @ W_dec[:, j] - threshold(lam, sizes[j])) / over(sizes[j]), least)
    return out(A, sizes)


def _never_put_back(H, W_dec, b_dec, lam, rounds):
    """What is left is kept from turn to turn, and no feature's old part comes back into it."""
    sizes, R = np.sqrt((W_dec ** 2).sum(0)), H - b_dec
    A = np.zeros((len(H), len(sizes)))
    for _ in range(rounds):
        for j, w in enumerate(W_dec.T):
            A[:, j] = _relu(R @ w - _threshold(lam, sizes[j])) / sizes[j] ** 2
            R = R - np.outer(A[:, j], w)
    return A


best_code.mistakes(
    ("The threshold is λ‖w‖: half of it is due. The square in the loss has a factor of 2 in its derivative.",
     dict(threshold=lambda lam, size: lam * size)),
    ("‖w‖ is missing in the threshold: the penalty is on a‖w‖.", dict(threshold=lambda lam, size: lam / 2)),
    ("The threshold is taken after the division by ‖w‖². Inside of it, or divided as well.",
     dict(threshold=lambda lam, size: lam / 2 * size ** 3)),
    ("No penalty here: this is least squares with a ≥ 0.", dict(threshold=lambda lam, size: 0.0)),
    ("Some a are below 0. Where the best would be, 0 is the best that is allowed.", dict(least=-np.inf)),
    ("What is below 0 becomes 0 at the end only. It is due at each turn: the next features must not make up for it.",
     dict(least=-np.inf, out=lambda A, sizes: _relu(A))),
    ("These are the feature activations a_j‖w_j‖. The a_j are due.", dict(out=lambda A, sizes: A * sizes)),
    ("Divided by ‖w‖. The derivative of ‖r − a w‖² has a‖w‖², so ‖w‖² is due.", dict(over=lambda size: size)),
    ("The feature's own share is still taken off when its turn comes. Put a_j w_j back first, then ask what fits best.",
     dict(back=False)),
    ("The feature's own share is still taken off when its turn comes. Put a_j w_j back first, then ask what fits best.",
     _never_put_back),
    ("`b_dec` is still in the states. What the features are to explain is h − b_dec.", dict(centre=0.0)),
    ("All features were set at once, from the a of the round before. Each is due at its turn, with the others as they "
     "are by then: is its new part taken off what is left, before the next one's turn?", dict(jacobi=True)),
    ("It stops after the first round, or has all rounds of a feature before the next one's turn, which comes to the "
     "same.", dict(times=lambda rounds: 1)),
    ("Features are set from the last to the first. Feature 0 has the first turn.", dict(turn=-1)))


# -- batch_topk ------------------------------------------------------------------------------------------------------

def _lengths(W):
    return np.sqrt((W ** 2).sum(0))


def _together(scores, k):
    flat = np.sort(scores.ravel())[::-1]
    return scores >= flat[min(len(scores) * k, flat.size) - 1]


def _above(scores, k):
    return scores > np.sort(scores.ravel())[::-1][min(len(scores) * k, scores.size) - 1]


def _one_more(scores, k):
    return scores >= np.sort(scores.ravel())[::-1][min(len(scores) * k, scores.size - 1)]


def _apart(scores, k):
    return scores >= np.sort(scores, axis=1)[:, ::-1][:, min(k, scores.shape[1]) - 1][:, None]


def _all_differ(Z, W_dec, k):
    sizes = np.sort((_relu(Z) * _lengths(W_dec)).ravel())
    return (np.diff(sizes[sizes > 0]) > 1e-9).all()


def _z(n, F, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    Z, W_dec = rng.normal(size=(n, F)) * rng.uniform(0.3, 2.0, (n, 1)) + shift, rng.normal(size=(3, F)) + 0.5
    return Z.round(2), (W_dec * rng.uniform(0.3, 2.5, F)).round(1)


@question((1, 0), {"three states": (*_z(3, 5, 0, 0.3), 2), "four states": (*_z(4, 6, 2, 0.5), 1),
                   "few are above 0": (*_z(4, 4, 2, -1.2), 2), "one state": (*_z(1, 5, 3, 0.8), 2),
                   "all may stay": (*_z(2, 3, 4, 1.5), 9)},
          promises={"No two activations above 0 are equal": _all_differ,
                    "$k \\ge 1$": lambda Z, W_dec, k: k >= 1},
          returns="A (n, F)", forbidden=LIBRARY, instead="a sort of your own",
          otherwise="Write down all a_j‖w_j‖ of all states and sort them: which are the n·k largest, and which a_j are "
                    "those?",
          hints={"out of bounds|out of range": "n·k may be more than there are entries: then all above 0 stay."})
def batch_topk(Z, W_dec, k, *, keep=_together, size=_lengths, sigma=_relu, out=lambda A, sizes: A):
    """batch_topk(Z, W_dec, k): A (n, F), max(0, Z) where a_j‖w_j‖ is among the n·k largest of all, elsewhere 0."""
    sizes, A = size(W_dec), sigma(Z)
    return out(np.where(keep(A * sizes, k), A, 0.0), _lengths(W_dec))


batch_topk.mistakes(
    ("Each state keeps k features here. The n·k largest of *all* states are due: one may keep more, another fewer.",
     dict(keep=_apart)),
    ("The largest a_j were kept. Which features count is decided by a_j‖w_j‖.", dict(size=lambda W: 1.0)),
    ("Compared by a_j‖w_j‖². Which features count is decided by a_j‖w_j‖.", dict(size=lambda W: (W ** 2).sum(0))),
    ("Feature activations came back. They decide who stays; the a_j themselves are due.",
     dict(out=lambda A, sizes: A * sizes)),
    ("There is something below 0: only max(0, z) can be kept.", dict(sigma=lambda z: z)),
    ("One is missing: the entry at place n·k itself stays, so at least as large as it, not larger.", dict(keep=_above)),
    ("One too many: counted from 0, the last of the n·k largest is at place n·k − 1.", dict(keep=_one_more)),
    ("k of all states together were kept. n·k are due.",
     dict(keep=lambda scores, k: scores >= np.sort(scores.ravel())[::-1][min(k, scores.size) - 1])),
    ("Sizes |z| were compared. What is below 0 is off, however far.", dict(sigma=np.abs)))
