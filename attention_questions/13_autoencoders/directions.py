"""Check of assignment 13 on more directions than dimensions: neighbours, and shares of a dimension."""

from attention_questions.prelude import Question, kind, np

from . import solution

LIBRARY = tuple(f"coursekit.models.{name}" for name in (
    "SparseAutoencoder", "sae.reconstruction_quality", "sae.max_cosine_similarity", "features.correlations",
    "features.clamp_feature")) + ("coursekit.worlds.superposition.interference",)


def _fan(m, lengths):
    """m directions in the plane (2, m), evenly around the circle, with these lengths."""
    angles = 2 * np.pi * np.arange(m) / m
    return np.array([np.cos(angles), np.sin(angles)]) * lengths


sharing = Question(solution.sharing, (1, 2), {
    "five in the plane": (_fan(5, [1.0, 1.5, 0.5, 2.0, 1.0]),),
    "four in space": (np.array([[1.0, 0.0, -2.0, 0.5], [0.0, 1.0, 0.5, 1.0], [0.0, 2.0, 1.0, -0.5]]),),
    "one is all 0, two are parallel": (np.array([[1.0, 0.0, 1.0, 2.0], [2.0, 0.0, 1.0, 4.0]]),),
    "one alone": (np.array([[0.5], [1.0], [3.0]]),)},
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
    ("A column that is alone has no neighbour: `nearest` is 0.", "cosines, 0.0 → cosines, -1.0"),
    ("The squares are missing in `share`.", "(U.T @ W) ** 2 → abs(U.T @ W)", "lengths ** 2 → lengths"),
    ("The sum of `share` is of (ŵ_j · w_k)², with ŵ_j of length 1. Yours has w_j.", "U.T @ W → W.T @ W"))


@sharing.suspect
def _(got, W):
    if type(got) in (tuple, list) and any(kind(part) == "a NumPy array" and np.isnan(part).any() for part in got):
        yield "A direction that is all 0 has no cosine, and 0/0 is nan: both its numbers are 0 here."
