"""Check of assignment 05b: rollout, layer by layer."""

from attention_questions.prelude import Question, numbers, same

from . import solution

FINGER = numbers("0.5 0 0.5  0.25 0 0.75  0 0.5 0.5    0 1 0  0 0.75 0.25  0.5 0 0.5", 2, 1, 3, 3)
DEEP = numbers("0.5 0.25 0.25  0.125 0.75 0.125  0.25 0.5 0.25    0.25 0.625 0.125  0.5 0 0.5  0.125 0.125 0.75    "
               "0.125 0.5 0.375  0.25 0.25 0.5  1 0 0", 3, 1, 3, 3)
HEADS = numbers("0.5 0.25 0.25  0.125 0.25 0.625  0.25 0.25 0.5   0 1 0  0.5 0.25 0.25  0.75 0.125 0.125    "
                "0.75 0.125 0.125  0.25 0.5 0.25  0.5 0 0.5   1 0 0  0 0.5 0.5  0.125 0.75 0.125", 2, 2, 3, 3)
CUT = numbers("0.5 0.25  0.5 0   0.125 0.125  0.25 0.25    0.375 0.125  0.25 0.75   0 1  0.25 0", 2, 2, 2, 2)
LOST = numbers("0.25 0.25 0.25  0 0 0  0 0.5 0.25    0.25 0.5 0  0.5 0.25 0.25  0 0 0.5", 2, 1, 3, 3)


rolled = Question(solution.rolled, (2, 2), {
    "two layers, skips of one half": (FINGER, 0, [0.5, 0.5]),
    "three layers, no skips": (DEEP, 0, [0.0, 0.0, 0.0]),
    "each layer with a skip of its own, double precision": (DEEP.double(), 1, [0.25, 0.5, 0.125]),
    "two heads, the last row": (HEADS, -1, [0.25, 0.5]),
    "some attention was cut off": (CUT, 0, [0.5, 0.25]),
    "a row of zeros": (LOST, 0, [0.5, 0.25])},
    returns="rows (L + 1, T)", forbidden=("coursekit.explain.rollout",), instead="matrix products",
    hints={"shapes": "Each layer is one matrix (T, T) after the mean over heads; `skip` has one number for each."},
    promises={"rows sum to one *or less*": lambda A, row, skip: A.min() >= 0 and A.sum(-1).max() < 1 + 1e-5,
              "`skip` is a list of $L$ numbers from 0 to 1": lambda A, row, skip: (
                  len(skip) == len(A) and all(0 <= share <= 1 for share in skip))})
MIXED = "((1 - share) * mean + share * I)"
rolled.mistakes(
    ("The order of the product is turned round: a later layer stands to the *left* of those before it.",
     f"{MIXED} @ R → R @ {MIXED}"),
    ("The row was followed down from the top layer: row l of this is what remains after the *last* l layers. Asked for "
     "are the first l.", "zip(A, skip) → zip(A.flip(0), skip[::-1])", f"{MIXED} @ R → R @ {MIXED}"),
    ("The rows are turned round: the first one is that before any layer.", "stack(rows) → stack(rows[::-1])"),
    ("The row before the first layer is missing: there, a token is itself alone.", "[I[row]] → []"),
    ("Every row is that after the last layer. R[row] is a view: if R is changed in place, rows that were noted down "
     "earlier change as well.", "stack(rows) → stack(rows[-1:] * len(rows))"),
    ("Row 0 was read. It is `row` that says which one (−1 is the last).", "I[row] → I[0]", "R[row] → R[0]"),
    ("Rows and columns have changed places: A[l, i, s, t] goes from s to t, and rows sum to one.",
     "zip(A, skip) → zip(A.mT, skip)"),
    ("A column was taken. Row s of the product is what token s holds.", "I[row] → I[:, row]", "R[row] → R[:, row]"),
    ("Each layer stands here for itself. What reaches a token has come through all layers before: a product.",
     f"{MIXED} @ R → {MIXED}"),
    ("The matrices were multiplied entry by entry. Their product is `@`, and not `*`.", f"{MIXED} @ R → {MIXED} * R"),
    ("Nothing came over the skip connections here.", f"{MIXED} → mean"),
    ("`skip` is the share of the identity. Here it is that of the attention.",
     f"{MIXED} → (share * mean + (1 - share) * I)"),
    ("The whole identity was added to whole attention: rows then sum to 2. Each gets its share.",
     f"{MIXED} → (mean + I)"),
    ("The identity has its share, but the attention is not multiplied by 1 − skip.", f"{MIXED} → (mean + share * I)"),
    ("The layers were passed in the wrong order: A[0] comes first.", "zip(A, skip) → zip(A.flip(0), skip[::-1])"),
    ("What is missing in a row was not made up for. Divide each row of the mean by its sum.",
     "torch.where(total > 0, mean / total, I) → mean"),
    ("Each *column* was divided, by the sum of the row of its number. With keepdim=True the sums stay a column, one "
     "for each row.", "sum(1, keepdim=True) → sum(1)"),
    ("Rows were divided by their sum after the identity came in: the skip then counts for more than its share. Divide "
     "the mean first.", "maps.mean(0) → (1 - share) * maps.mean(0) + share * I", f"{MIXED} → mean"),
    ("Each head was divided by its sums before the mean was taken. Take the mean first.",
     "maps.mean(0) → (maps / maps.sum(-1, keepdim=True)).mean(0)"),
    ("A token that looks at nothing keeps itself: its row is that of the identity, and not of zeros.",
     "mean / total, I → mean / total, 0"),
    ("Only the first head came in. Take the mean of all.", "maps.mean(0) → maps[0]"))


@rolled.suspect
def _(got, A, row, skip):
    if not got.isfinite().all():
        yield "A row of zeros, divided by its sum, is 0/0. A token that looks at nothing keeps itself."
    right = solution.rolled(A, row, skip)
    if tuple(got.shape) != tuple(right.shape) or got.dtype != A.dtype:
        return
    first = next(l for l in range(len(right)) if not same(got[l], right[l]))
    yield ("The first row is that before any layer: row `row` of the identity (−1 is its last one)." if first == 0 else
           f"Row {first} of the result is the first that is wrong, and the first with layer {first - 1} in it. Do "
           "this layer by hand.")
