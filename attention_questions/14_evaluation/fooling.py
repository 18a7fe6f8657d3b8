"""The check of assignment 14 on attributions that a metric likes, far from the truth."""

from attention_questions.prelude import Question, itertools, kind, math, np

from . import solution
from .models import head

WORDS = {"a": (-1.0, 0.1), "warm": (1.0, 1.5), "and": (-1.0, 0.0), "funny": (1.5, 2.0), "film": (-0.5, 0.5),
         "with": (-1.0, 0.0), "superb": (1.25, 3.0), "songs": (0.25, 1.0)}                  # as in the notebook
DOCUMENT, PREDICT = [*WORDS], head(WORDS)
MOVES = np.array([[0, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 1, 1, 0, 0],
                  [0, 1, 0, 0, 0, 0, 0, 1], [1, 0, 0, 1, 1, 0, 0, 1]], float)
FAR, LITTLE, T = -0.5, 0.001, len(DOCUMENT)                                                 # cosine, infidelity


def masked(Z):
    """Scores of the document with the words of rows Z (n, 8) of 0 and 1, the others replaced."""
    return PREDICT([[word if keep else "[UNK]" for word, keep in zip(DOCUMENT, row, strict=True)] for row in Z])


def truth():
    """The exact Shapley values (8,) of the document's words."""
    Z, share = [*itertools.product((0, 1), repeat=T)], [1 / T / math.comb(T - 1, k) for k in range(T)]
    return masked(Z) @ [[share[sum(z) - 1] if there else -share[sum(z)] for there in z] for z in Z]


def measured(attribution):
    """(cosine to the truth, area over the curve beyond that of the truth, infidelity under the five moves)."""
    phi = truth()
    area = solution.aopc(PREDICT, DOCUMENT, np.array([attribution, phi]), ["[UNK]"])[0][:, 0]
    raw = solution.infidelity(masked, np.ones(T), attribution[None], MOVES)[0][0]
    return attribution @ phi / np.linalg.norm(attribution) / np.linalg.norm(phi), area[0] - area[1], raw


fool = Question(solution.fool, (3, 0), {"your attributions": ()},
    why="A shift leaves every order as it is, and turns the cosine. Of eight directions five moves see five: what "
        "they do not see of the truth is taken away five times over.",
    otherwise="The second is fine for the five moves, and still too near to the truth. Which φ does no move see? "
              "As much of one may be added as you like.")


@fool.judge
def _(got):
    if not _are_two(got):
        yield (f"two arrays are due, {T} finite numbers each, not all 0",
               "Return two arrays of eight numbers each, finite and not all 0: np.array(…) makes one of a list.")
    (near, area, raw_1), (other, area_2, raw) = map(measured, got)                           # nan is not enough
    if max(near, other) <= FAR and area_2 >= -1e-9 and raw_1 <= LITTLE and not area >= -1e-9:
        yield "the two stand in the other order", "First the one for the area, then the one for the infidelity."
    first = f"first: cosine {near:.3f} and area {area:+.4f} beside the truth's; at most {FAR} and at least 0 are due"
    if not area >= -1e-9:
        yield first, ("The first one takes the words away in a worse order than the truth. Begin with the truth's "
                      "order.")
    if not near <= FAR:
        yield first, ("The first one's order is right, and it is still too near. A cosine knows where 0 lies: does "
                      "the area over the curve?")
    second = f"second: cosine {other:.3f} and infidelity {raw:.5f}; at most {FAR} and {LITTLE} are due"
    if not raw <= LITTLE:
        yield second, "A move sees the second one. Begin with your `best`, and add what all five moves leave at 0."
    if not other <= FAR:
        yield second, None


def _are_two(got):
    """Also as one array (2, 8)."""
    return (type(got) in (list, tuple) or kind(got) == "a NumPy array" and got.ndim == 2) and len(got) == 2 and all(
        map(_is_one, got))


def _is_one(a):
    return kind(a) == "a NumPy array" and a.dtype.kind in "fi" and a.shape == (T,) and np.isfinite(a).all() and a.any()
