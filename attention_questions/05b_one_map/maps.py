"""Checks of assignment 05b on maps: words out of pieces; rollout, layer by layer; attention with gradients, for one
class or for one rather than another."""

from attention_questions.prelude import Question, numbers, same, torch

from . import solution

# -- word_map --------------------------------------------------------------------------------------------------------

SELF = numbers("0.5 0.25 0.125 0.125  0.25 0.25 0.375 0.125  0 0.5 0.25 0.25  0.125 0.125 0.25 0.5", 4, 4)
CROSS = numbers("0.5 0.25 0.25  0.125 0.125 0.75   0.25 0 0.75  0.375 0.5 0.125", 2, 2, 3)

word_map = Question(solution.word_map, (1, 2), {
    "one text, the second word has two pieces": (SELF, [[0], [1, 2], [3]], [[0], [1, 2], [3]]),
    "two heads, a word of two pieces looks at another text": (CROSS, [[0, 1]], [[0, 1], [2]]),
    "words whose pieces stand apart": (SELF, [[1], [0, 3], [2]], [[2, 0], [1, 3]]),
    "two layers of one head, two words look at one word": (CROSS[:, None], [[0], [1]], [[0, 2]]),
    "rows of one half, places that belong to no word, double precision": (
        SELF.double() / 2, [[1, 2]], [[1, 2], [3]])},
    returns="map (..., W_q, W)",
    forbidden=("coursekit.explain.word_attention",), instead="a sum over columns and a mean over rows",
    otherwise="One entry by hand: in each row of the word that asks, the columns of the other word; then these "
              "rows together. (Axes in front of the last two stay as they are in A.)",
    hints={"shapes": "The rows of A belong to `looking`, its columns to `seen`; there may be axes in front of them.",
           "IndexError": "Axes may stand in front of rows and columns: A[rows] takes entries of the *first* one, "
                         "A[..., rows, :] rows wherever they are. Rows belong to `looking`, columns to `seen`. "
                         "And two lists in one bracket make pairs of places, not a block.",
           "only one element tensors|can be converted to (a )?(Python )?scalar":
               "torch.tensor makes a tensor of numbers. With axes in front each entry is a tensor itself: torch.stack "
               "puts these together."},
    why="`A[..., places]` works for any number of axes in front, so the function needs no loop over heads or layers. "
        "Columns become words first; the mean over rows could as well come first, because both steps are linear.")
word_map.mistakes(
    ("The wrong way round: what goes *to* a word is the sum over its pieces (columns), what comes *from* it the mean "
     "over them (rows).", "sum(-1) → mean(-1)", "mean(-2) → sum(-2)"),
    ("Rows were added up as well. What comes *from* a word is the mean over its pieces.", "mean(-2) → sum(-2)"),
    ("Columns were averaged as well. What goes *to* a word is the sum over its pieces: a word gets no less for being "
     "cut.", "sum(-1) → mean(-1)"),
    ("Only the first piece of a word that is looked at counts here. All are added up.",
     "A[..., places] → A[..., places[:1]]"),
    ("Only the first piece of a word that looks counts here. Take the mean of all.",
     "B[..., places, :] → B[..., places[:1], :]"),
    ("Only the last piece of a word that looks counts here. Take the mean of all.",
     "B[..., places, :] → B[..., places[-1:], :]"),
    ("The largest piece of a word that is looked at was taken. All are added up.", "sum(-1) → amax(-1)"),
    ("The largest piece of a word that looks was taken. Take the mean of all.", "mean(-2) → amax(-2)"),
    ("The rows of A were divided by their sums. A row may sum to less than one, and stays so.",
     "B = → A = A / A.sum(-1, keepdim=True)\n    B ="),
    ("Rows were rescaled to sum to one. Leave them: what is missing went to places that belong to no word.",
     "return → words =", "looking], -2) → looking], -2)\n    return words / words.sum(-1, keepdim=True)"),
    *(("Everything from a word's first to its last piece was taken. Only the places in its list belong to it.",
       f"A[..., places] → A[..., {word}]", f"B[..., places, :] → B[..., {word}, :]")
      for word in ("min(places):max(places) + 1", "places[0]:places[-1] + 1")),
    ("Rows and columns have changed places: `looking` groups the rows, A[…, s, t] goes from s to t.",
     "B = → A = A.mT if A.shape[-1] == A.shape[-2] else A\n    B ="),
    ("The result is transposed: words that look are its rows, words that are looked at its columns.",
     "looking], -2) → looking], -2).mT"),
    ("A has an axis of heads in front, and it stays: there is a word map for each head.",
     "B = → A = A[0] if A.dim() == 3 else A\n    B ="),
    *(("Two lists in one bracket, `A[..., rows, columns]`, make pairs of places, not a block. Take columns first, "
       "then rows.",
       f"B[..., places, :].mean(-2) → torch.stack([A[..., places, columns].sum(-1){mean} for columns in seen], -1)")
      for mean in ("", " / len(places)")))


# -- rolled ----------------------------------------------------------------------------------------------------------

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
    "two heads, the last row": (HEADS, -1, [0.25, 0.5]), "some attention was cut off": (CUT, 0, [0.5, 0.25]),
    "a row of zeros": (LOST, 0, [0.5, 0.25])},
    returns="rows (L + 1, T)", forbidden=("coursekit.explain.rollout",), instead="matrix products",
    hints={"shapes": "Each layer is one matrix (T, T) after the mean over heads; `skip` has one number for each."},
    promises={"rows sum to one *or less*": lambda A, row, skip: A.min() >= 0 and A.sum(-1).max() < 1 + 1e-5,
              "`skip` is a list of $L$ numbers from 0 to 1": lambda A, row, skip: (
                  len(skip) == len(A) and all(0 <= share <= 1 for share in skip))},
    why="The whole matrix R is carried along, and one row of it noted down: a later layer multiplies from the left, so "
        "one row alone would not do. `torch.where` also takes care of rows of zeros.")
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
    ("Each column was divided by its sum. It is rows that must sum to one.",
     "sum(1, keepdim=True) → sum(0, keepdim=True)"),
    ("Everything was divided by the sum of *all* entries. Each row has a sum of its own.",
     "sum(1, keepdim=True) → sum()"),
    ("That is a softmax of weights. Each row is divided by its sum, and nothing else.",
     "torch.where(total > 0, mean / total, I) → mean.softmax(-1)"),
    ("Rows were divided by their sum after the identity came in: the skip then counts for more than its share. Divide "
     "the mean first.", "maps.mean(0) → (1 - share) * maps.mean(0) + share * I", f"{MIXED} → mean"),
    ("Each head was divided by its sums before the mean was taken. Take the mean first.",
     "maps.mean(0) → (maps / maps.sum(-1, keepdim=True)).mean(0)"),
    ("A token that looks at nothing keeps itself: its row is that of the identity, and not of zeros.",
     "mean / total, I → mean / total, 0"),
    ("A token that looks at nothing keeps itself: its row is that of the identity, and not an even one.",
     "mean / total, I → mean / total, 1 / len(I)"),
    ("One row of zeros made the whole layer the identity. Only that row becomes one of the identity.",
     "torch.where(total > 0, mean / total, I) → mean / total if total.min() > 0 else I"),
    ("The skip is one half here, whatever `skip` says.", f"{MIXED} → (mean / 2 + I / 2)"),
    ("The skips were passed in the wrong order: skip[0] belongs to A[0].", "zip(A, skip) → zip(A, skip[::-1])"),
    ("Every layer has the skip of the first. Each has its own.", "zip(A, skip) → zip(A, skip[:1] * len(A))"),
    ("The result is transposed: what a token holds after a layer is a row of it.", "stack(rows) → stack(rows, 1)"),
    ("Only the first head came in. Take the mean of all.", "maps.mean(0) → maps[0]"))


@rolled.suspect
def _(got, A, row, skip):
    if not got.isfinite().all():
        yield "A row of zeros, divided by its sum, is 0/0. A token that looks at nothing keeps itself."
    right = solution.rolled(A, row, skip)
    if got.shape == right.shape and got.dtype == A.dtype:
        first = next(l for l in range(len(right)) if not same(got[l], right[l]))
        yield ("The first row is that before any layer: row `row` of the identity (−1 is its last one)." if first == 0
               else f"Row {first} of the result is the first that is wrong, and the first with layer {first - 1} in "
               "it. Do this layer by hand.")


# -- guided ----------------------------------------------------------------------------------------------------------

def _drawn(C, L, K, T, seed):
    """A (L, K, T, T) in quarters that sum to one in each row, and G (C, L, K, T, T) of small whole numbers."""
    draw = torch.Generator().manual_seed(seed)
    A = torch.nn.functional.one_hot(torch.randint(T, (L * K * T, 4), generator=draw), T).sum(1).reshape(L, K, T, T) / 4
    return A, torch.randint(-9, 10, (C, L, K, T, T), generator=draw).float()


ONE = numbers("0.25 0.75  0.5 0.5   0.75 0.25  0.5 0.5", 1, 2, 2, 2), numbers(
    "8 -8  6 -2   4 16  0 6     4 8  2 2   -8 4  -2 0", 2, 1, 2, 2, 2)
DRAWN = _drawn(C=2, L=2, K=1, T=3, seed=0)

guided = Question(solution.guided, (2, 2), {
    "one layer, class 0": (*ONE, 0, 0), "one layer, class 0 rather than 1": (*ONE, 0, 0, 1),
    "two layers of two heads, the last row": (*_drawn(C=2, L=2, K=2, T=2, seed=5), -1, 1),
    "two layers, class 1": (*DRAWN, 1, 1),
    "class 1 rather than 0, double precision": (DRAWN[0].double(), DRAWN[1].double(), 2, 1, 0)},
    returns="relevance (T,)",
    forbidden=("coursekit.explain.gradient_attention", "coursekit.explain.relevance._self_relevance"),
    instead="products of matrices and clamp",
    otherwise="One layer by hand: in each head, the gradient of f times the weight, 0 where that is negative; "
              "then the mean of the heads. In the next layer, R is what came out of this.",
    hints={"shapes": "G[c] has the shape of A, (L, K, T, T); after the mean over heads a layer is (T, T).",
           "IndexError": "The first axis of G is that of the classes, G[target]; A has none, and begins with the "
                         "layers."},
    why="The gradient of a difference is the difference of the gradients, so both questions need one line, before "
        "anything is dropped. From there on it is rollout with another matrix.")
LAYER = "(slope * maps).clamp(min=0).mean(0)"
guided.mistakes(
    ("The 1 with which R began is still in it: take the identity out at the end.", "(R - I)[row] → R[row]"),
    ("The token's own entry was set to 0. Only the 1 with which it began is taken out of it.",
     "(R - I)[row] → (R * (1 - I))[row]"),
    ("The mean over heads was taken first, then what is negative was dropped. One head's plus then pays for another's "
     "minus: drop first.", ".clamp(min=0).mean(0) → .mean(0).clamp(min=0)"),
    ("Nothing was dropped. What is negative, entry by entry, becomes 0.", ".clamp(min=0) → "),
    ("Absolute values were taken. What is negative speaks against f and becomes 0.", "clamp(min=0) → abs()"),
    ("The heads were added up. Take their mean.", "mean(0) → sum(0)"),
    ("The largest head was taken. Take the mean of all.", ".mean(0) → .amax(0)"),
    ("Gradients and weights were multiplied as matrices, with `@`. Entry by entry is `*`.",
     "slope * maps → slope @ maps"),
    ("Only what helps counts, and what is negative was kept here: clamp(min=0) sets that to 0.", "min=0 → max=0"),
    ("Rows were divided by their sums, as for rollout. Here they stay as large as they are.",
     f"{LAYER} → torch.nn.functional.normalize({LAYER}, p=1, dim=-1)"),
    ("The result was divided by its sum. It stays as large as it is.",
     "(R - I)[row] → torch.nn.functional.normalize((R - I)[row], p=1, dim=0)"),
    ("R and Ā R were halved, as for rollout. Here they are added up as they are.", "R = R + → R = R / 2 + 0.5 *"),
    ("Only the last layer came in.", "zip(A, slopes) → zip(A[-1:], slopes[-1:])"),
    ("A column was read. Row s of R is what token s draws from.", "(R - I)[row] → (R - I)[:, row]"),
    ("The gradients alone came in. They are multiplied by the attention, entry by entry.", "slope * maps → slope"),
    ("The gradients have no part in it: attention alone was multiplied.", "slope * maps → maps"),
    ("The order is turned round: R ← R + Ā R, the later layer stands to the left.", f"{LAYER} @ R → R @ {LAYER}"),
    ("The layers were added up. Each of them acts on what came through those before: Ā R.", " @ R → "),
    ("I was added again in each layer. The R on both sides of the + is what came out of the layer before.",
     "R = R + → R = I +"),
    ("This is the product Ā ⋯ Ā alone. The skip connections are the R in R + Ā R.", "R = R + → R ="),
    ("Row 0 was read. It is `row` that says which one (−1 is the last).", "[row] → [0]"),
    ("Rows and columns have changed places: row s, of a map and of R, holds what token s draws from.",
     "(slope * maps) → (slope * maps).mT"),
    ("Where `other` is class 0 it changes nothing here. Does `if other` ask for it? `is not None` asks that.",
     "other is None → not other"),
    ("`other` changes nothing here. If it is given, f is the difference of two logits.", "other is None → True"),
    ("Two results were subtracted. f is the difference of the logits, and so its gradient is G[target] − G[other], "
     "*before* anything is dropped.", lambda A, G, row, target, other=None: (
         solution.guided(A, G, row, target) - (0 if other is None else solution.guided(A, G, row, other)))),
    ("Two results were subtracted, and what is negative dropped once more. The gradient of f is G[target] − G[other], "
     "from the beginning.", lambda A, G, row, target, other=None: solution.guided(A, G, row, target) if other is None
     else (solution.guided(A, G, row, target) - solution.guided(A, G, row, other)).clamp(min=0)),
    ("The difference is turned round: f is the logit of `target` less that of `other`.",
     "G[target] - G[other] → G[other] - G[target]"),
    *(("Without `other`, f is the logit of `target` alone, and nothing is subtracted.",
       f"G[target] if other is None else G[target] - G[other] → G[target] - G[{c} if other is None else other]")
      for c in (0, -1)),
    ("The two gradients were added up. f is a difference.", "G[target] - G[other] → G[target] + G[other]"),
    ("Those are the gradients of another class than `target`.", "slopes = → G = G.flip(0)\n    slopes ="),
    ("Everything is 0. Did R begin as the identity, and is it not another name for it? After `R = I` both are one "
     "tensor, and `R += …` changes both.", "R = R + → R +="))
