"""Checks of assignment 05, first part: one row out of many maps, and words out of pieces."""

import torch

from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same

__all__ = ["DTYPE", "TOGETHER", "numbers", "unlike", "one_row", "word_map"]

TOGETHER = {"mean": torch.mean, "max": torch.amax, "sum": torch.sum}
DTYPE = "What comes back has the dtype of what came in: a tensor that you make takes dtype=A.dtype."


def numbers(text, *shape):
    """The numbers of a text as a tensor of this shape."""
    return torch.tensor([float(number) for number in text.split()]).reshape(shape)


def unlike(right, variants):
    """Those (value, words) whose value is not what would be right as well."""
    return [(value, words) for value, words in variants if value is not None and not same(value, right)]


# -- one_row ---------------------------------------------------------------------------------------------------------

PERCENT = numbers("20 20 60  30 30 40  10 10 80    85 10 5  50 20 30  90 5 5    "
                  "55 25 20  5 5 90  20 70 10    35 30 35  25 25 50  60 10 30", 2, 2, 3, 3)
DEEP = numbers("90 10 70 30  20 80 40 60   55 45 15 85  35 65 50 50   75 25 5 95  10 90 65 35", 3, 2, 2, 2)


PAIR = ("Is one of the things there None, or a pair? `chosen` may be None, and `.max(axis)` returns two things, the "
        "values and where they stand; `.amax(axis)` is the values alone.")


@question((1, 2), {"percent, mean of all": (PERCENT, 0, [1, 2], "mean", "mean"),
                   "the largest of the heads, the mean of the layers": (PERCENT, 0, [1, 2], "max", "mean"),
                   "column 2, then column 0": (PERCENT, 1, [2, 0], "mean", "max"),
                   "the last row, the last and the first layer": (DEEP, -1, [0, 1], "max", "sum", [-1, 0]),
                   "the second layer alone, double precision": (DEEP.double(), 0, [1], "sum", "max", [1]),
                   "nothing but special tokens: an empty `own`": (PERCENT, 0, [], "mean", "max")},
          forbidden=("coursekit.explain.attention_mean", "coursekit.explain.attention_max",
                     "coursekit.explain.attention_sum"),
          instead="torch's mean, amax and sum along an axis",
          hints={"shapes": "A is (L, K, T, T). Which axes are left once the row is taken?",
                 "IndexError": "Which axes are left there, and how long is each? (A list can be an index, also an "
                               "empty one; torch.tensor([]) holds no whole numbers.)",
                 "AttributeError": PAIR, "TypeError": PAIR})
def one_row(A, row, own, heads, layers, chosen=None):
    """one_row(A, row, own, heads, layers, chosen=None): scores (len(own),), heads put together first, then layers."""
    return _put(A[:, :, row], heads, 1, layers, chosen)[own]


def _put(rows, first, axis, second, chosen=None):
    """rows (L, K, T) → (T,): one operation along an axis, then another along what is left."""
    return TOGETHER[second](TOGETHER[first](rows if chosen is None else rows[chosen], axis), 0)


@one_row.suspect
def _(got, A, row, own, heads, layers, chosen=None):
    if kind(got) != "a tensor":
        return PAIR if kind(got) == "a max" else None
    rows, right = A[:, :, row], _put(A[:, :, row], heads, 1, layers, chosen)[own]
    if tuple(got.shape) == (len(A[0, 0]),) != tuple(right.shape):
        return "There is a number for each of the T columns. Asked for are those of the columns in `own` alone."
    if got.dim() > 1:
        return (f"The shape is {tuple(got.shape)}: is there still an axis of layers, of heads or of rows? One number "
                "is left for each place in `own`.")
    if got.dim() == 0 or len(got) != len(own):
        return f"`own` has {len(own)} entries here, and one number is due for each of them."
    if got.dtype != A.dtype:
        return DTYPE
    variants = [(_put(A[..., row], heads, 1, layers, chosen),
                 "A column was read. Row s holds what token s looks at: A[l, i, s, t] goes from s to t."),
                (_put(rows, layers, 1, heads, chosen),
                 "The two operations have changed places: `heads` is for the heads, axis 1, and `layers` for the "
                 "layers, axis 0."),
                (_put(rows, layers, 0, heads, chosen),
                 "The layers were put together first, then the heads. With a maximum in it the order matters: heads "
                 "first."),
                (_put(rows, heads, 0, layers, chosen),
                 "Axis 0 of A are the layers, axis 1 the heads. Here they were taken for each other."),
                (_put(rows, heads, 1, heads, chosen), "The operation of the heads was used for the layers as well."),
                (_put(rows, layers, 1, layers, chosen), "The operation of the layers was used for the heads as well."),
                (_put(A[:, :, 0], heads, 1, layers, chosen),
                 "Row 0 was read. It is `row` that says which one (−1 is the last).")]
    if chosen is None:
        variants += [(_put(rows, heads, 1, layers, [place]), f"Only the {name} layer came in. Without `chosen` all do.")
                     for place, name in ((0, "first"), (-1, "last"))]
    else:
        variants += [(_put(rows, heads, 1, layers), "All layers came in. If `chosen` is given, only those count."),
                     (_put(rows, heads, 1, layers, [(i - 1) % len(A) for i in chosen]),
                      "Those are other layers: they count from 0, and −1 is the last one."),
                     *((_put(rows, heads, 1, layers, [j for j in chosen if j != i]),
                        f"Layer {i} of `chosen` did not come in. (−1 is the last one.)")
                       for i in chosen if len(chosen) > 1)]
    variants = [(value[own], words) for value, words in variants]
    variants += [(_put(rows, heads, 1, layers, chosen)[sorted(own)], "The columns stand in another order than in "
                                                                     "`own`.")]
    if len(own) > 1:
        variants += [(right / right.sum(), "The scores were rescaled to sum to one. Leave them: what is missing went "
                                           "to other tokens."),
                     (right / right.max(), "The scores were divided by the largest of them. Leave them as they are.")]
    return first_match(got, unlike(right, variants)) or (
        "One column of `own` by hand: of each layer the numbers of its heads, which become one; then those of the "
        "layers.")


# -- word_map --------------------------------------------------------------------------------------------------------

SELF = numbers("0.5 0.25 0.125 0.125  0.25 0.25 0.375 0.125  0 0.5 0.25 0.25  0.125 0.125 0.25 0.5", 4, 4)
CROSS = numbers("0.5 0.25 0.25  0.125 0.125 0.75   0.25 0 0.75  0.375 0.5 0.125", 2, 2, 3)


@question((1, 2), {"one text, the second word has two pieces": (SELF, [[0], [1, 2], [3]], [[0], [1, 2], [3]]),
                   "two heads, a word of two pieces looks at another text": (CROSS, [[0, 1]], [[0, 1], [2]]),
                   "words whose pieces stand apart": (SELF, [[1], [0, 3], [2]], [[2, 0], [1, 3]]),
                   "two layers of one head, two words look at one word": (CROSS[:, None], [[0], [1]], [[0, 2]]),
                   "places that belong to no word, double precision": (SELF.double(), [[1, 2]], [[1, 2], [3]])},
          forbidden=("coursekit.explain.word_attention",), instead="a sum over columns and a mean over rows",
          hints={"shapes": "The rows of A belong to `asking`, its columns to `asked`; there may be axes in front of "
                           "them.",
                 "IndexError": "Axes may stand in front of rows and columns: A[rows] takes entries of the *first* one, "
                               "A[..., rows, :] rows wherever they are. Rows belong to `asking`, columns to `asked`. "
                               "And two lists in one bracket make pairs of places, not a block."})
def word_map(A, asking, asked):
    """word_map(A, asking, asked): (…, T_q, T) among pieces → (…, W_q, W), sums over columns and means over rows."""
    return _words(A, asking, asked)


def _words(A, asking, asked, rows="mean", columns="sum"):
    A = torch.stack([TOGETHER[columns](A[..., places], -1) for places in asked], -1)           # (…, T_q, W)
    return torch.stack([TOGETHER[rows](A[..., places, :], -2) for places in asking], -2)


TRANSPOSED = "The result is transposed: words that ask are its rows, words that are asked its columns."


@word_map.suspect
def _(got, A, asking, asked):
    if kind(got) != "a tensor":
        return None
    right = _words(A, asking, asked)
    if got.dtype != A.dtype:
        return DTYPE
    if A.dim() == 3 and tuple(got.shape) == tuple(right.shape[1:]):
        return "A has an axis of heads in front, and it stays: there is a word map for each head."
    if tuple(got.shape) == tuple(right.mT.shape) != tuple(right.shape):
        return TRANSPOSED
    if tuple(got.shape) != tuple(right.shape):
        return (f"The last two axes of the result are ({len(asking)}, {len(asked)}) here: words that ask, words that "
                "are asked. Those in front of them stay as they are in A.")

    def first(words, place=0):
        return [places[place:][:1] for places in words]

    def filled(words):
        return [list(range(min(places), max(places) + 1)) for places in words]

    def sliced(words):
        return [list(range(places[0], places[-1] + 1)) for places in words]

    def paired(size):                                                   # A[..., rows, columns].sum(-1) / size
        return torch.stack([torch.stack([sum(
            A[..., rows[i % len(rows)], columns[i % len(columns)]] for i in range(max(len(rows), len(columns)))
        ) / size(len(rows), len(columns)) for columns in asked], -1) for rows in asking], -2)

    variants = [
        (_words(A, asking, asked, "sum", "mean"), "The wrong way round: what goes *to* a word is the sum over its "
                                                  "pieces (columns), what comes *from* it the mean over them (rows)."),
        (_words(A, asking, asked, "sum", "sum"), "Rows were added up as well. What comes *from* a word is the mean "
                                                 "over its pieces."),
        (_words(A, asking, asked, "mean", "mean"),
         "Columns were averaged as well. What goes *to* a word is the sum over its pieces: a word gets no less for "
         "being cut."),
        (_words(A, asking, asked, "max", "sum"), "Of the rows of a word the largest were taken, not their mean."),
        (_words(A, asking, asked, "mean", "max"), "Of the columns of a word the largest was taken, not their sum."),
        (_words(A, asking, first(asked)), "Only the first piece of a word that is asked counts here. All are added "
                                          "up."),
        (_words(A, first(asking), asked), "Only the first piece of a word that asks counts here. Take the mean of "
                                          "all."),
        (_words(A, first(asking, -1), asked), "Only the last piece of a word that asks counts here. Take the mean of "
                                              "all."),
        (right / right.sum(-1, keepdim=True), "Rows were rescaled to sum to one. Leave them: what is missing went to "
                                              "places that belong to no word."),
        *((_words(A, whole(asking), whole(asked)),
           "Everything from a word's first to its last piece was taken. Only the places in its list belong to it.")
          for whole in (filled, sliced)),
        *((paired(size), "Two lists in one bracket, `A[..., rows, columns]`, make pairs of places, not a block. Take "
                         "columns first, then rows.") for size in (max, lambda n, _: n, lambda n, _: 1)),
        (right.mT, TRANSPOSED)]
    if A.shape[-1] == A.shape[-2]:
        variants += [(_words(A.mT, asking, asked), "Rows and columns have changed places: `asking` groups the rows, "
                                                   "A[…, s, t] goes from s to t.")]
    return first_match(got, unlike(right, variants)) or (
        "One entry by hand: in each row of the word that asks, the columns of the other word; then these rows "
        "together.")
