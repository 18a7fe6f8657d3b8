"""Checks of assignment 13 on directions and codes: neighbours and shares of a dimension, what an autoencoder costs, the
best code of a dictionary, and k features each."""

from attention_questions.prelude import Question, np

from . import solution

LIBRARY = tuple(f"coursekit.models.{name}" for name in (
    "SparseAutoencoder", "sae.reconstruction_quality", "sae.max_cosine_similarity", "features.correlations",
    "features.clamp_feature")) + ("coursekit.worlds.superposition.interference",)
LENGTHS = "np.linalg.norm(W_dec, axis=0)"


# -- sharing ---------------------------------------------------------------------------------------------------------

def _fan(m, lengths):
    """m directions in the plane (2, m), evenly around the circle, with these lengths."""
    angles = 2 * np.pi * np.arange(m) / m
    return np.array([np.cos(angles), np.sin(angles)]) * lengths


sharing = Question(solution.sharing, (1, 1), {
    "five in the plane": (_fan(5, [1.0, 1.5, 0.5, 2.0, 1.0]),),
    "four in space": (np.array([[1.0, 0.0, -2.0, 0.5], [0.0, 1.0, 0.5, 1.0], [0.0, 2.0, 1.0, -0.5]]),),
    "one is all 0, two are parallel": (np.array([[1.0, 0.0, 1.0, 2.0], [2.0, 0.0, 1.0, 4.0]]),),
    "one alone": (np.array([[0.5], [1.0], [3.0]]),)},
    why="One table of products has all cosines, another one all lengths along a direction. A column of zeros is "
        "divided by 1 and stays 0.",
    returns="nearest (F,), share (F,)", forbidden=LIBRARY, instead="products of your own",
    otherwise="Take the columns (2, 0) and (1, 1) by hand. Their cosine is 1/√2. Seen from the first, of unit "
              "direction (1, 0), the lengths along it are 2 and 1: its share is 4/(4 + 1).")

TAKEN = "np.where(taken > 0, taken, 1.0)"
sharing.mistakes(
    ("Each direction is its own nearest neighbour here, with cosine 1. Only others count.",
     "cosines, 0.0 → cosines, 1.0"),
    ("The opposite direction, cosine −1, is as near as the same one: take the size of the cosine.",
     "np.abs(U.T @ U) → U.T @ U"),
    ("Columns that point the same way are neighbours, with cosine 1. Only the diagonal of the table is left out.",
     "np.fill_diagonal(cosines, 0.0) → cosines[np.isclose(U.T @ U, 1)] = 0.0"),
    ("`nearest` are inner products. A cosine is that of the directions, divided by both lengths.",
     "U.T @ U → W.T @ W"),
    ("`share` is that of directions of length 1. Here lengths count: a long neighbour takes more than a short one. (A "
     "sum along the wrong axis, over ŵ_j, comes to the same.)", "U.T @ W → U.T @ U", "lengths ** 2 → 1"),
    ("In the sum of `share` the direction itself is missing: k runs over all of them, j included.",
     "U.T @ W → U.T @ W * (1 - np.eye(len(lengths)))", f"{TAKEN} → taken"),
    ("These are the rows. A direction is a column of W.", lambda W: solution.sharing(W.T)),
    ("`share` is turned upside down: alone a direction has 1, with an equal one beside it 1/2.",
     f"lengths ** 2 / {TAKEN} → taken / np.where(lengths > 0, lengths ** 2, 1.0)"),
    ("`share` has ‖w_j‖ above the line, and ‖w_j‖² is due.", "lengths ** 2 → lengths"),
    ("The mean was taken off. Directions start at 0: take the columns as they are.",
     lambda W: solution.sharing(W - W.mean(1, keepdims=True))),
    ("A column that is alone has no neighbour: `nearest` is 0.", "cosines, 0.0 → cosines, -1.0"),
    ("The squares are missing in `share`.", "(U.T @ W) ** 2 → abs(U.T @ W)", "lengths ** 2 → lengths"),
    ("The sum of `share` is of (ŵ_j · w_k)², with ŵ_j of length 1. Yours has w_j.", "U.T @ W → W.T @ W"))


@sharing.suspect
def _(got, W):
    if any(np.isnan(part).any() for part in got):
        yield "A direction that is all 0 has no cosine, and 0/0 is nan: both its numbers are 0 here."


# -- audit -----------------------------------------------------------------------------------------------------------

def drawn(n, d, F, seed, shift=0.0):
    """States (n, d) and an autoencoder of them, W_enc (F, d), b_enc (F,), W_dec (d, F), b_dec (d,)."""
    rng = np.random.default_rng(seed)
    W_dec = rng.normal(size=(d, F)) * rng.uniform(0.3, 1.5, F)
    W_enc = W_dec.T * rng.uniform(0.2, 0.8, (F, 1))
    b_enc = rng.normal(size=F) * 0.3 - 0.2
    b_enc[F // 2] = -50.0                                                # this one is dead
    H = np.maximum(rng.normal(size=(n, F)), 0.0) @ W_dec.T * 0.5 + shift
    return tuple(x.round(1) for x in (H, W_enc, b_enc, W_dec, rng.normal(size=d) * 0.3 + shift))


audit = Question(solution.audit, (1, 1), {
    "three states": (*drawn(3, 2, 4, 62), 0.5), "six states": (*drawn(6, 3, 5, 34), 2.0),
    "states far from 0": (*drawn(5, 2, 3, 4, shift=4.0), 1.0),
    "fewer features than dimensions": (*drawn(4, 3, 2, 3), 0.25), "no penalty": (*drawn(4, 2, 3, 9), 0.0)},
    promises={"The states are not all alike.": lambda H, *rest: np.ptp(H, axis=0).any()},
    why="Activations and errors are computed once, for all states. What was lost in a state is needed twice: in the "
        "loss and in the variance.",
    returns="loss, variance, L0, dead", forbidden=LIBRARY, instead="the formulas",
    otherwise="Take one state by hand: a, then s(h), then ‖h − s(h)‖². Which of the four numbers is the first that is "
              "wrong?",
    hints={"shapes": "States are rows of H, features are columns of W_dec and rows of W_enc: z is H times the "
                     "transpose of W_enc, s(h) is a times the transpose of W_dec, and W_dec's columns have F lengths."})

SPREAD = "((H - H.mean(0)) ** 2).sum()"
audit.mistakes(
    ("The penalty is Σ a_j: the length of W_dec's column is missing. So a feature could pay less with a small a_j and "
     "a long column.", f"A @ {LENGTHS} → A.sum(1)"),
    ("Errors are added up over the dimensions of a state, and the mean is over states alone. Yours is over both.",
     "(lost + → (lost / H.shape[1] +"),
    ("The loss is a sum over states. It is their mean.", f"{LENGTHS}).mean() → {LENGTHS}).sum()"),
    ("Of the error, ‖h − s(h)‖ is *squared* in the loss.", "(lost + → (np.sqrt(lost) +"),
    ("In the penalty the lengths of the columns are squared. They are not.", f"{LENGTHS} → {LENGTHS} ** 2"),
    ("The penalty is a mean over features. It is their sum.", "lam * A → lam * A / len(b_enc)"),
    ("λ is missing.", "lam * → "),
    ("`b_dec` is missing in s(h).", " - b_dec → "),
    ("No ReLU: a is never below 0.", "np.maximum(H @ W_enc.T + b_enc, 0) → H @ W_enc.T + b_enc"),
    ("You take b_dec from h before it is encoded. Some do; in this loss W_enc h + b_enc is all.",
     "H @ W_enc.T → (H - b_dec) @ W_enc.T"),
    ("The variance is that *about the mean state*. Yours is about 0, and large for states that are all alike.",
     f"{SPREAD} → (H ** 2).sum()"),
    ("`variance`: the mean state h̄ has d numbers, a mean for each dimension. Yours is one mean of all entries.",
     "H.mean(0) → H.mean()"),
    ("`variance`: the errors' own mean was taken off. An error that is the same everywhere is an error too.",
     f"lost.sum() / {SPREAD} → (H - A @ W_dec.T - b_dec).var(0).sum() / H.var(0).sum()"),
    ("`variance` is what was lost. What was explained is 1 less that.", "1 - lost → lost"),
    ("`variance` is a mean over dimensions. Here all their squares are added up first, then divided.",
     f"lost.sum() / {SPREAD} → (((H - A @ W_dec.T - b_dec) ** 2).mean(0) / H.var(0)).mean()"),
    ("L0 is how many features are on in a state, not which share of them.", "(A > 0).sum(1) → (A > 0)"),
    ("`dead` lists the living.", "~ → "),
    ("`dead` has the features that are off in *some* state. Dead is off in all.", "any(0) → all(0)"))


# -- best_code -------------------------------------------------------------------------------------------------------

def dictionary(n, d, F, seed):
    """States (n, d) made of few columns of W_dec (d, F), which are not orthogonal, and b_dec (d,)."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(d, F)) + 0.6
    W *= rng.uniform(0.5, 2.0, F) / np.sqrt((W ** 2).sum(0))
    b = rng.normal(size=d)
    H = (rng.uniform(0, 3, (n, F)) * (rng.random((n, F)) < 0.6)) @ W.T + b + rng.normal(size=(n, d)) * 0.1
    return tuple(x.round(1) for x in (H, W, b))


best_code = Question(solution.best_code, (2, 3), {
    "two directions, one round": (*dictionary(3, 2, 2, 11), 0.4, 1),
    "three directions, one round": (*dictionary(4, 3, 3, 1), 1.0, 1),
    "three directions, two rounds": (*dictionary(4, 3, 3, 1), 1.0, 2),
    "four directions in the plane": (*dictionary(3, 2, 4, 2), 0.8, 3),
    "orthogonal ones": (np.array([[3.0, 1.0], [0.2, -2.0]]), np.diag([2.0, 0.5]), np.zeros(2), 1.0, 4)},
    promises={"No column is all 0": lambda H, W_dec, b_dec, lam, rounds: W_dec.any(0).all(),
              "$\\lambda \\ge 0$": lambda H, W_dec, b_dec, lam, rounds: lam >= 0},
    why="What is left of the states is kept up to date, so a turn costs one product. All states go at once; features "
        "must wait for each other.",
    returns="A (n, F)", forbidden=LIBRARY, instead="the closed form, feature by feature",
    otherwise="Take one state h = (3, 0), the column w = (2, 0), b_dec = 0 and λ = 1 by hand: r·w = 6, and the result "
              "is (6 − 1)/4 = 1.25.",
    hints={"shapes": "R holds what is left of the states, (n, d). One column w (d,) is in it R @ w times, one number "
                     "for each state; np.outer(…, w) makes a table (n, d) of them again."})

THRESHOLD, PUT_BACK = "lam / 2 * np.linalg.norm(w)", "R = R + np.outer(A[:, j], w)"
DIVIDED = f"np.maximum(R @ w - {THRESHOLD}, 0) / (w @ w)"
BELOW_0 = f"np.maximum(R @ w - {THRESHOLD}, 0) → (R @ w - {THRESHOLD})"
best_code.mistakes(
    ("The threshold is λ‖w‖: half of it is due. The square in the loss has a factor of 2 in its derivative.",
     "lam / 2 → lam"),
    ("‖w‖ is missing in the threshold: the penalty is on a‖w‖.", f"{THRESHOLD} → lam / 2"),
    ("The threshold is taken after the division by ‖w‖². Inside of it, or divided as well.",
     f"{DIVIDED} → np.maximum(R @ w / (w @ w) - {THRESHOLD}, 0)"),
    ("The threshold has ‖w‖²: it is λ/2 · ‖w‖.", f"{THRESHOLD} → lam / 2 * (w @ w)"),
    ("The division by ‖w‖² is missing: the longer w is, the less of it is due.", " / (w @ w) → "),
    ("The threshold is taken off after the maximum, so a falls below 0. The maximum is of 0 and what is left then.",
     f"{DIVIDED} → (np.maximum(R @ w, 0) - {THRESHOLD}) / (w @ w)"),
    ("No penalty here: this is least squares with a ≥ 0.", f" - {THRESHOLD} → "),
    ("Some a are below 0. Where the best would be, 0 is the best that is allowed.", BELOW_0),
    ("What is below 0 becomes 0 at the end only. It is due at each turn: the next features must not make up for it.",
     BELOW_0, "return A → return np.maximum(A, 0)"),
    ("Shrunk from both sides: a feature that points away from what is left is not on, with either sign.",
     f"np.maximum(R @ w - {THRESHOLD}, 0) → np.sign(R @ w) * np.maximum(abs(R @ w) - {THRESHOLD}, 0)"),
    ("These are the feature activations a_j‖w_j‖. The a_j are due.", f"return A → return A * {LENGTHS}"),
    ("Divided by ‖w‖. The derivative of ‖r − a w‖² has a‖w‖², so ‖w‖² is due.", "(w @ w) → np.linalg.norm(w)"),
    *(("The feature's own share is still taken off when its turn comes. Put a_j w_j back first, then ask what fits "
       "best.", edit) for edit in ("R @ w → (R - np.outer(A[:, j], w)) @ w", f"            {PUT_BACK}\n → ")),
    ("`b_dec` is still in the states. What the features are to explain is h − b_dec.", "H - b_dec → H"),
    ("`b_dec` was added to the states. What the features are to explain is h − b_dec.", "H - b_dec → H + b_dec"),
    ("A round is missing: `rounds` of them are due, and with one round each feature has had its turn.",
     "range(rounds) → range(1, rounds)"),
    ("There is a round too many: `rounds` of them are due.", "range(rounds) → range(rounds + 1)"),
    ("All features were set at once, from the a of the round before. Each is due at its turn, with the others as they "
     "are by then: is its new part taken off what is left, before the next one's turn?",
     f"{PUT_BACK} → own = np.outer(A[:, j], w)", "R @ w → (R + own) @ w",
     "            R = R - np.outer(A[:, j], w) →         R = H - b_dec - A @ W_dec.T"),     # after the round
    ("It stops after the first round, or each round begins with a = 0, or all rounds of a feature come before the "
     "next one's turn, which is all the same.", "range(rounds) → range(1)"),
    ("Features are set from the last to the first. Feature 0 has the first turn.",
     "enumerate(W_dec.T) → [*enumerate(W_dec.T)][::-1]"))


# -- batch_topk ------------------------------------------------------------------------------------------------------

def _all_differ(Z, W_dec, k):
    activations = np.sort((np.maximum(Z, 0) * np.linalg.norm(W_dec, axis=0)).ravel())
    return (np.diff(activations[activations > 0]) > 1e-9).all()


def _z(n, F, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    Z, W_dec = rng.normal(size=(n, F)) * rng.uniform(0.3, 2.0, (n, 1)) + shift, rng.normal(size=(3, F)) + 0.5
    return Z.round(2), (W_dec * rng.uniform(0.3, 2.5, F)).round(1)


batch_topk = Question(solution.batch_topk, (1, 0), {
    "three states": (*_z(3, 5, 0, 0.3), 2), "four states": (*_z(4, 6, 2, 0.5), 1),
    "few are above 0": (*_z(4, 4, 2, -1.2), 2), "one state": (*_z(1, 5, 3, 0.8), 2),
    "all may stay": (*_z(2, 3, 4, 1.5), 9)},
    promises={"No two activations above 0 are equal": _all_differ, "$k \\ge 1$": lambda Z, W_dec, k: k >= 1},
    why="The n·k-th largest activation is the threshold. A slice that is too long ends at the last entry: then all "
        "stay.",
    returns="A (n, F)", forbidden=LIBRARY, instead="a sort of your own",
    otherwise="Write down all a_j‖w_j‖ of all states and sort them: which are the n·k largest, and which a_j are "
              "those?",
    hints={"out of bounds|out of range": "n·k may be more than there are entries: then all above 0 stay."})
batch_topk.mistakes(
    ("Each state keeps k features here. The n·k largest of *all* states are due: one may keep more, another fewer.",
     "axis=None)[::-1][:len(Z) * k][-1] → axis=1)[:, ::-1][:, :k][:, -1:]"),
    ("The largest a_j were kept. Which features count is decided by a_j‖w_j‖.", f" * {LENGTHS} → "),
    ("Compared by a_j‖w_j‖². Which features count is decided by a_j‖w_j‖.", f"{LENGTHS} → {LENGTHS} ** 2"),
    ("Feature activations came back. They decide who stays; the a_j themselves are due.",
     "least, A → least, activation"),
    ("There is something below 0: only max(0, z) can be kept.", "np.maximum(Z, 0) → Z"),
    ("One is missing: the entry at place n·k itself stays, so at least as large as it, not larger.", ">= → >"),
    ("One too many: counted from 0, the last of the n·k largest is at place n·k − 1.", "len(Z) * k → len(Z) * k + 1"),
    ("k of all states together were kept. n·k are due.", "len(Z) * k → k"),
    ("Sizes |z| were compared. What is below 0 is off, however far.", "np.maximum(Z, 0) → np.abs(Z)"))
