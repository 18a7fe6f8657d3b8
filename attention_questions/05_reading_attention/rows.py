"""Check of assignment 05: one row out of many maps."""

from attention_questions.prelude import Question, kind, numbers

from . import solution

PERCENT = numbers("20 20 60  30 30 40  10 10 80    85 10 5  50 20 30  90 5 5    "
                  "55 25 20  5 5 90  20 70 10    35 30 35  25 25 50  60 10 30", 2, 2, 3, 3)
DEEP = numbers("90 10 70 30  20 80 40 60   55 45 15 85  35 65 50 50   75 25 5 95  10 90 65 35", 3, 2, 2, 2)
PAIR = ("Is one of the things there None, or a pair? `chosen` may be None, and `.max(axis)` returns two things, the "
        "values and where they stand; `.amax(axis)` is the values alone.")


one_row = Question(solution.one_row, (1, 2), {
    "mean of all": (PERCENT, 0, [1, 2], "mean", "mean"),
    "the largest of the heads, the mean of the layers": (PERCENT, 0, [1, 2], "max", "mean"),
    "column 2, then column 0": (PERCENT, 1, [2, 0], "mean", "max"),
    "the second layer alone, double precision": (DEEP.double(), 0, [1], "sum", "mean", [1]),
    "the last row, the last and the first layer": (DEEP, -1, [0, 1], "max", "sum", [-1, 0]),
    "nothing but special tokens: an empty `own`": (PERCENT, 0, [], "mean", "max")},
    returns="scores (len(own),)",
    forbidden=("coursekit.explain.attention_mean", "coursekit.explain.attention_max",
               "coursekit.explain.attention_sum"), instead="torch's mean, amax and sum along an axis",
    otherwise="One column of `own` by hand: of each layer the numbers of its heads, which become one; then those "
              "of the layers.",
    hints={"shapes": "A is (L, K, T, T). Which axes are left once the row is taken?",
           "IndexError": "Which axes are left there, and how long is each? (A list can be an index, also an "
                         "empty one; torch.tensor([]) holds no whole numbers.)",
           "KeyError": "An operation is 'mean', 'max' or 'sum', for the heads and for the layers. Does your "
                       "dictionary have all three?",
           "AttributeError|TypeError": PAIR},
    promises={"not empty, no layer twice": lambda A, row, own, heads, layers, chosen=None: (
                  chosen is None or len({layer % len(A) for layer in chosen}) == len(chosen) > 0)})
one_row.mistakes(
    ("A column was read. Row s holds what token s looks at: A[l, i, s, t] goes from s to t.",
     "rows = → A = A.mT\n    rows ="),
    ("Row 0 was read. It is `row` that says which one (−1 is the last).", "rows = → row = 0\n    rows ="),
    ("The two operations have changed places: `heads` is for the heads, axis 1, and `layers` for the layers, axis 0.",
     "together[layers](together[heads] → together[heads](together[layers]"),
    ("The layers were put together first, then the heads. With a maximum in it the order matters: heads first.",
     "together[layers](together[heads](rows, 1) → together[heads](together[layers](rows, 0)"),
    ("Axis 0 of A are the layers, axis 1 the heads. Here they were taken for each other.", "rows, 1 → rows, 0"),
    ("The operation of the heads was used for the layers as well.", "together[layers] → together[heads]"),
    ("All layers came in. If `chosen` is given, only those count.", "chosen is None → True"),
    ("Here `chosen` picked heads: axis 0 of A are the layers.", "A[chosen] → A[:, chosen]"),
    ("A layer of `chosen` did not come in. (−1 is the last one.)", "A[chosen] → A[[i for i in chosen if i >= 0]]"),
    ("The columns stand in another order than in `own`.", "[own] → [sorted(own)]"),
    ("The scores were rescaled to sum to one. Leave them: what is missing went to other tokens.",
     "return → scores =", "[own] → [own]\n    return scores / scores.sum()"))


@one_row.suspect
def _(got, *arguments):
    yield PAIR if kind(got) == "a max" else None
