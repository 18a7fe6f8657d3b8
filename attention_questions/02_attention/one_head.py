"""Checks of assignment 02 on one head: softmax, one query, self-attention, a window of the past."""

from attention_questions.prelude import ATTENTIONS, SOFTMAXES, Question, kind, math, rounded, same, torch
from coursegrade.kit.differentiable import gradients_get_through

from . import solution

# -- softmax ---------------------------------------------------------------------------------------------------------

def _differentiable(answer, arguments):
    u, axis = arguments
    gradients_get_through(answer, arguments, lambda leaf: torch.softmax(leaf, axis),
                          torch.arange(u.numel()).reshape(u.shape).to(u.dtype))


TABLE = torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 4.0]])
OVERFLOW = ("exp(1000) is infinite, in double precision, too, and infinity divided by infinity is not a number. Which "
            "number can be subtracted from all scores without changing the weights?")
NUMBER = "Is an axis written as a number? `axis` says which it is, in the maximum and in the sum."
UNDERFLOW = ("All exponentials of a line are 0, and 0/0 is not a number. What is taken away has to be the largest "
             "score of *that* line, not a number for all lines.")


softmax = Question(solution.softmax, (1, 1), {
    "three scores": (torch.tensor([0.0, 1.0, 2.0]), 0), "along the rows": (TABLE, 1),
    "along the columns": (TABLE, 0),
    "scores of a thousand": (torch.tensor([[1000.0, 999.0, 0.0], [-1000.0, -999.0, -1000.0]]), 1),
    "double precision": (TABLE.double(), 1)},
    forbidden=SOFTMAXES, instead="exp, a maximum and a sum", also=_differentiable, free=("axis",),
    hints={"shapes": "Do the maximum and the sum keep the axis that they are taken along?",
           "Dimension out of range": NUMBER},
    promises={"Scores may be as large as 1000 or as small as −1000": lambda u, axis: u.abs().max() <= 1000},
    why="The largest score of each line is taken away first: no weight changes, and no exponent is above 0. With "
        "keepdim the axis stays, so that the shapes fit for any shape of u.")
WHOLE = "e / e.sum(axis, keepdim=True)"
softmax.mistakes(
    (OVERFLOW, " - u.amax(axis, keepdim=True) → "),
    ("These are exponentials that nobody divided by their sum.", " / e.sum(axis, keepdim=True) → "),
    ("Where is the exponential? Scores may be negative, weights may not.",
     "torch.exp(u - u.amax(axis, keepdim=True)) → u"),
    ("The weights sum to one along another axis than the one asked for. Is `axis` used in every sum, and in the "
     "maximum?", "amax(axis → amax(0", "sum(axis → sum(0"),
    *(("The largest score is taken along another axis than the sum, so the scores of one line do not all lose the same "
       "number.", f"amax(axis → amax({other}") for other in (0, -1)),
    *(("All weights together sum to one. Each line along the axis has a sum of its own: sum(axis, keepdim=True).",
       *largest, "sum(axis, keepdim=True) → sum()") for largest in ((), ("amax(axis, keepdim=True) → max()",))),
    ("nan became 0, where the largest score should have nearly all the weight. ∞/∞ is to be avoided, not mended: which "
     "number can be subtracted from all scores without changing the weights?",
     " - u.amax(axis, keepdim=True) → ", f"{WHOLE} → ({WHOLE}).nan_to_num()"),
    ("Large scores are cut off, and weigh the same then. Subtract instead: differences stay what they are.",
     "u - u.amax(axis, keepdim=True) → u.clamp(-80, 80)"),
    ("The lowest score gets the largest weight: where does a minus come from?", "u - u.amax(axis, keepdim=True) → -u"),
    (NUMBER, "amax(axis → amax(1", "sum(axis → sum(1"),
    ("The axes of the result stand in another order than those of `u`. Was one moved, and not moved back?",
     lambda u, axis: solution.softmax(u, axis).movedim(axis, 0)),
    ("These are the logarithms of the weights.", f"{WHOLE} → ({WHOLE}).log()"),
    ("Weights depend on differences of scores: the largest is taken away, and nothing is divided by it.",
     "u - u.amax → u / u.amax"),
    ("Is it the natural exponential?", "exp( → exp2("))


@softmax.suspect
def _(got, u, axis):
    if kind(got) != "a tensor":
        yield "Stay with torch from the first line to the last: gradients do not get through anything else."
    if not got.isfinite().all():
        line = u.amax(axis)[~got.isfinite().all(axis)]
        yield OVERFLOW if line.max() > 80 else UNDERFLOW
    sums = got.sum(axis).flatten()
    if not torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        yield (f"Along axis {axis} the weights should sum to one, and sum to "
               f"{sums[(sums - 1).abs().argmax()].item():.6g}. Along which axis do you sum? Are numerator and "
               "denominator shifted alike, and is nothing added?")


# -- look_up ---------------------------------------------------------------------------------------------------------

K3, V3 = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]), torch.tensor([[10.0, 0], [0, 10], [5, 5]])
LENGTH_3 = rounded(5, 3, seed=18), rounded(5, 2, seed=19)


look_up = Question(solution.look_up, (1, 0), {
    "temperature 1": (torch.tensor([1.0, 0, 1, 0]), K3, V3, 1.0),
    "temperature 2": (torch.tensor([1.0, 0, 1, 0]), K3, V3, 2.0),
    "cold": (torch.tensor([0.0, 1, 0, 1]), K3, V3, 0.25),
    "keys of length three": (torch.tensor([1.0, -1, 2]), *LENGTH_3, 2.0)},
    returns="output (d_out,), weights (T,)", forbidden=ATTENTIONS, lend=("softmax",),
    instead="your softmax and matrix products",
    hints={"shapes": "k is (T, d_att), v is (T, d_out), and the result of k @ q is (T,): what is in front of @?"},
    otherwise="The scores (T,), divided; their softmax; the values, weighted by it and added up over the tokens.",
    promises={r"a temperature $\tau > 0$": lambda q, k, v, tau: tau > 0},
    why="Root and temperature stand in one bracket, since both divide: in a / b * c only b does. One product gives the "
        "scores of all keys, another one the weighted sum of the values.")
look_up.mistakes(
    ("The temperature changes nothing here. It divides the scores.", "(tau * math.sqrt(len(q))) → math.sqrt(len(q))"),
    ("The temperature multiplies the scores here, and should divide them: hotter means flatter.",
     "(tau * math.sqrt(len(q))) → (math.sqrt(len(q)) / tau)"),
    ("The scores are not scaled: where is √d_att?", " * math.sqrt(len(q)) → "),
    ("The scores are divided by d_att. It is its square root.", "math.sqrt → "),
    ("The scores are divided by √T, the number of tokens. It is the length of a key that counts.", "len(q) → len(k)"),
    ("The scores are divided by half of d_att: `d ** 1 / 2` is (d ** 1) / 2. The root is `d ** 0.5`.",
     "math.sqrt(len(q)) → len(q) / 2"),
    ("The temperature stands under the root. It divides the scores as it is.",
     "tau * math.sqrt(len(q)) → math.sqrt(tau * len(q))"),
    ("The scores are divided by √d_out. It is √d_att, the length of a key.", "len(q) → v.shape[1]"),
    ("The scores are multiplied by √d_att. In a / b * c only b divides: a / (b * c).", "tau * math → tau / math"),
    ("The temperature divides the weights, which then do not sum to one. It divides the scores.",
     "(tau * math.sqrt(len(q))), 0) → math.sqrt(len(q)), 0) / tau"),
    ("These weights are scores: the softmax is missing.", "softmax(k @ q / (tau * math.sqrt(len(q))), 0) → "
                                                          "k @ q / (tau * math.sqrt(len(q)))"),
    ("The weighted values are still to be added up, over the tokens.", "alpha @ v → alpha[:, None] * v"),
    ("Only the value with the largest weight came back. The output is all values, weighted and added up.",
     "alpha @ v → v[alpha.argmax()]"))


# -- self_attention --------------------------------------------------------------------------------------------------

E3 = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 1]])          # T = 3, d_e = 4, d_att = 2, d_out = 5
W2 = [rounded(2, 4, seed=seed) for seed in (1, 2)]
WV = rounded(5, 4, seed=3)
LOOK = torch.tensor([[True, True, False], [True, True, True], [False, False, True]])
BLIND = torch.tensor([[False, True, True], [False, False, False], [False, True, True]])     # row 1, and column 0
FAR = torch.diag(torch.tensor([1e6, -1e6]))                              # scores of −7e11, where one may look
NEXT = torch.tensor([[False, True], [True, False]])
E5 = rounded(5, 6, seed=51), rounded(3, 6, seed=52), rounded(3, 6, seed=53), rounded(4, 6, seed=54)     # T = 5, d_e = 6


def _where_somebody_looks(e, W_q, W_k, W_v, may_look=None):
    """The call of softmax of whoever empties rows afterwards: a row that may look at nothing keeps its scores."""
    scores = (e @ W_q.T) @ (e @ W_k.T).T / len(W_q) ** 0.5
    hidden = torch.zeros_like(scores, dtype=torch.bool) if may_look is None else ~may_look
    return [(softmax, (scores.masked_fill(hidden & ~hidden.all(1, keepdim=True), -math.inf), 1))]


self_attention = Question(solution.self_attention, (2, 2), {
    "five tokens": E5, "with a mask": (E3, *W2, WV, LOOK),
    "a token that may look at nothing": (E3, *W2, WV, BLIND),
    "scores of zero": (torch.eye(2), torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[1.0, 3.0]]),
                       torch.tensor([[False, True], [False, False]])),
    "allowed scores far below zero": (FAR, torch.ones(2, 2), torch.eye(2), torch.eye(2), NEXT)},
    returns="output (T, d_out), A (T, T)", forbidden=ATTENTIONS, lend=("softmax",), uses=_where_somebody_looks,
    instead="matrix products and your softmax",
    otherwise="Row s of the scores: the query of s with every key, over √d_att; −∞ where it may not look; "
              "softmax of each row; the output is A times the values.",
    why="A row that may look at nothing keeps its scores, so that no nan arises on the way, and gets zeros behind the "
        "softmax. masked_fill makes a new tensor, so the mask and the scores stay what they were.")

ROOT, MASK, EMPTY = "math.sqrt(q.shape[1])", "~may_look & ~empty", "may_look.any(1, keepdim=True)"
LOW = ("Tokens that may not be looked at still get some weight. Only −∞ stands for “forbidden”: allowed scores may be "
       "lower than any other number.")
ATTENDING = (           # mistakes of whoever attends: of cross_attention, too
    ("The scores are not scaled: where is √d_att?", f" / {ROOT} → "),
    ("The scores are divided by √d_e. Queries and keys have length d_att: their last axis.",
     "q.shape[1] → W_q.shape[1]"),
    ("The scores are divided by √T. It is √d_att, the length of a query.", "q.shape[1] → len(k)"),
    ("The scores are divided by d_att. It is its square root.", "math.sqrt → "),
    ("The scores are divided by √d_out. It is √d_att, the length of a query.", "q.shape[1] → len(W_v)"),
    ("The scores are divided by half of d_att: `d ** 1 / 2` is (d ** 1) / 2. The root is `d ** 0.5`.",
     f"{ROOT} → (q.shape[1] / 2)"),
    ("The scores are multiplied by √d_att, and should be divided by it.", f"/ {ROOT} → * {ROOT}"),
    *(("The second result is the weights, and these are scores: before the softmax.", f"A @ v, A → A @ v, {before}")
      for before in ("scores", f"q @ k.mT / {ROOT}")),
    ("The weights average the embeddings themselves. Average the values, W_v e_t.", " @ W_v.T → "),
    *((LOW, f"-math.inf → {fill}") for fill in (-10.0, -1e4, -1e9)),
    ("A score of 0 is not “nothing”: exp(0) = 1. In place of a forbidden score put −∞.", "-math.inf → 0.0"))
COLUMNS = "The columns sum to one, the rows should: is the softmax over the wrong axis?"
AFTER = ("The weights were set to zero after the softmax, so rows no longer sum to one. Take the scores away before "
         "the softmax: −∞ in their place.")
BLIND_ROWS = "Only the rows of tokens that may look at nothing are wrong: weights and output are zero there."
NOTHING = ("A token that may look at nothing has the weights 0/0. It gets zeros, as the question says: after the "
           "softmax, or before it.")
GONE = ("Where all allowed scores are far below the others, or below zero, their exponentials are 0, and nothing is "
        "left to divide. Put −∞ for the others *before* the softmax, and let it take away the largest of what is left.")
self_attention.mistakes(
    *ATTENDING,
    ("The output of a token is made with its own row of weights: A @ v, not A.T @ v.", "A @ v, A → A.mT @ v, A"),
    (COLUMNS, "(scores, 1) → (scores, 0)"),
    (AFTER, f"{MASK} → empty & ~empty", "(empty, 0) → (~may_look, 0)"),
    ("Queries and keys have changed places: row s of the scores belongs to the query of s.", "q @ k.T → k @ q.T"),
    ("The keys were made with W_q, too. They have a matrix of their own, W_k.", "W_k.T → W_q.T"),
    ("The mask changes nothing here.", "if may_look is None → if True"),
    ("There are two softmaxes, one on top of the other.", "A @ v, A → softmax(A, 1) @ v, softmax(A, 1)"),
    ("√d_att divides the weights, which then do not sum to one. It divides the scores, in front of the softmax.",
     f" / {ROOT} → ", f"(empty, 0) → (empty, 0) / {ROOT}"),
    ("The mask is transposed: token s may look at token t where may_look[s, t] is True, row s, column t.",
     "empty = → may_look = may_look.T\n    empty ="),
    ("The mask is the wrong way round: True means that a token may be looked at.",
     "if may → may_look = None if may_look is None else ~may_look\n    if may"),
    *(("The mask is the wrong way round: masked_fill writes −∞ where it is True, and that is where one may look.",
       "if may → given = may_look is not None\n    if may", f"{MASK} → may_look & given", *edits)
      for edits in ((), (".masked_fill(empty, 0) → ",))),
    ("Nobody asked for a mask of the future here: without `may_look` all may look at all.",
     "dtype=torch.bool) → dtype=torch.bool).tril()"),
    ("A score of exactly 0 may belong to an allowed token. −∞ goes where the mask is False, whatever the score.",
     f"{MASK} → scores * may_look == 0", ".masked_fill(empty, 0) → .nan_to_num()"),
    (NOTHING, f"{MASK} → ~may_look", ".masked_fill(empty, 0) → "),
    ("The weights are right, the output is not: it was made of the weights while there was still nan among them.",
     f"{MASK} → ~may_look", ".masked_fill(empty, 0) → ", "A @ v, A → A @ v, A.nan_to_num()"),
    *((GONE, "softmax(scores, 1) → (scores.exp() / scores.exp().sum(1, keepdim=True))", f"{MASK} → ~may_look", *mended)
      for mended in ((), (".masked_fill(empty, 0) → .nan_to_num()",))),
    (GONE, f"{MASK} → empty & ~empty",
     "(empty, 0) → (~may_look, 0)\n    A = (A / A.sum(1, keepdim=True)).nan_to_num()"),
    ("The diagonal was opened. A token may look at itself only where the mask says so.",
     "if may → may_look = None if may_look is None else may_look | torch.eye(len(e)).bool()\n    if may"),
    ("`may_look` says who may look where, and it may say anything: it need not be the past.",
     "if may → may_look = None if may_look is None else torch.ones_like(scores).tril().bool()\n    if may"),
    ("Rows in which *something* is forbidden were set to zero. Those are meant in which everything is: any, not all.",
     f"{MASK} → ~may_look", "~may_look.any( → ~may_look.all("),
    *(("`any(0)` looks down a column: may somebody look *at* this token? Its row says what it may look at itself.",
       f"{MASK} → ~may_look", f"{EMPTY} → {empty}") for empty in ("may_look.any(0)[:, None]", "may_look.any(0)")),
    ("True and False were added to the scores, as 1 and 0. In place of a forbidden score put −∞.",
     "if may_look is None → scores = scores if may_look is None else scores + may_look\n    if True"),
    *(("The *columns* of tokens that may look at nothing were set to zero. Their rows are meant: others may look at "
       "them.", *columns) for columns in (("(empty, 0) → (empty | empty.T, 0)",),
                                          (f"{MASK} → ~may_look", "(empty, 0) → (empty.T, 0)"))),
    (BLIND_ROWS, f"{MASK}, -math.inf → ~may_look, -1e9", ".masked_fill(empty, 0) → "))


@self_attention.suspect
def _(got, e, W_q, W_k, W_v, may_look=None):
    if may_look is None:                # who has no mask yet gives other results where there is one
        for words, answer in self_attention.wrong_answers():
            if all(map(same, got, answer(e, W_q, W_k, W_v))):
                yield words
        return
    rows, nothing = got[1].isfinite().all(1), ~may_look.any(1)
    if not rows[nothing].all():
        yield NOTHING
    if not rows.all():
        yield ("A row that may look at something is not a number. Is the mask the wrong way round (−∞ belongs where it "
               "is False)? Or was −∞ multiplied by 0?")
    if (got[1][nothing] != 0).any() and not (got[1][~nothing][~may_look[~nothing]] != 0).any():
        yield BLIND_ROWS
    if (got[1][~may_look] != 0).any():
        yield ("A token that may not be looked at gets some weight here. Is −∞ put in place of its score, in every row "
               "where the mask is False, and is the mask used as it is given?")


# -- masked_weights --------------------------------------------------------------------------------------------------

SCORES = torch.tensor([[0.5, -1.0, 0.3, 2.0], [0.2, 0.4, -0.6, 1.0], [1.0, 0.1, 0.7, -0.5], [-1.0, 0.6, 0.2, 0.9]])


masked_weights = Question(solution.masked_weights, (1, 0), {
    "the past and the present": (SCORES, 4), "a window of two": (SCORES, 2),
    "a window of one": (SCORES, 1), "scores far below zero": (1e10 * (SCORES - 3), 3),
    "equal scores": (torch.zeros(3, 3), 2)},
    returns="weights (T, T)", forbidden=("coursekit.models.causal_mask",), lend=("softmax",),
    instead="a comparison of places, or torch.tril",
    hints={"Boolean value": "A comparison of tensors has many Trues and Falses; `and`, or a chain such as a < b "
                            "<= c, wants one. `(a < b) & (b <= c)` goes entry by entry; & binds more tightly "
                            "than <=, so the brackets count."},
    otherwise="Which tokens have weight above zero in each row? They should be s − w + 1, …, s, as far as they "
              "exist.",
    promises={r"a window $w \geq 1$": lambda scores, w: w >= 1},
    why="The two comparisons say what is forbidden, as masked_fill wants it. A token may always look at itself, so no "
        "row is empty, and none needs care.")
HIDDEN = "(t > s) | (t <= s - w)"
masked_weights.mistakes(
    ("These are the weights of the slide: the future was taken away after the softmax, which had seen it. Take its "
     "scores away before.", f"scores.masked_fill({HIDDEN}, -math.inf), 1) → scores, 1).masked_fill({HIDDEN}, 0)"),
    *(("Forbidden places have a score that is low here, and scores may be lower still. Only −∞ is below all.",
       f"-math.inf → {fill}") for fill in (-10.0, -1e9)),
    ("A forbidden score was set to 0, and exp(0) = 1 is not nothing. Put −∞ there.", "-math.inf → 0.0"),
    ("The mask is the wrong way round: masked_fill writes −∞ where it is True, and these are the forbidden places.",
     f"{HIDDEN} → (t <= s) & (t > s - w)"),
    ("The mask is on the wrong side: these tokens look at the future. Row s, column t: allowed is t ≤ s.",
     f"{HIDDEN} → (t < s) | (t >= s + w)"),
    ("The future is hidden, but the past does not end: only w tokens may be looked at.", " | (t <= s - w) → "),
    ("The window is one too wide: w counts the token itself.", "t <= s → t < s"),
    ("The window is one too narrow: w counts the token itself.", "s - w → s - w + 1"),
    ("The window reaches into the future, too: only t ≤ s is allowed.", "t > s → t >= s + w"),
    ("The first row has nothing left to look at. A token may look at itself: the diagonal stays.", "t > s → t >= s"),
    (COLUMNS, "-math.inf), 1) → -math.inf), 0)"))


@masked_weights.suspect
def _(got, scores, w):
    if got.dtype == torch.bool:
        yield "The result is the matrix of weights, (T, T), not the mask and not the output."
    if not got.isfinite().all():
        yield ("A row is not a number: has it nothing left to look at, or is −∞ multiplied by something (−∞ · 0 is "
               "nan)? Is exp taken of large scores, or divided by a sum from which all weight was taken away?")
