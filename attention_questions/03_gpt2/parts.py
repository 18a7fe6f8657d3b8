"""Checks of assignment 03 on GPT-2's parts: layer norm, also of a part of the stream; the MLP, also to first order;
causal attention, several heads from one matrix, some of them silent."""

from attention_questions.prelude import ATTENTIONS, CheckFailed, Question, difference, rounded, same, services, torch
from coursegrade.kit.mistakes import as_answer

from . import solution


def to_the_digit(answer, arguments, reference, words):
    """Raise CheckFailed with these words unless the answer is right on the arguments, which are in double precision.

    In single precision a right answer may be off by as much as one with another eps, so that little is asked for there.
    Here six digits are: constants in single precision are welcome.
    """
    try:
        wrong = difference(services.run(answer, arguments), reference(*arguments), (1e-6, 1e-6))
    except Exception:
        wrong = "the dtype"                                             # with which it stops
    if wrong:
        raise CheckFailed("In double precision it comes to another result: does a constant in your function have a "
                          "dtype of its own?" if "the dtype" in wrong else words)


# -- layer_norm ------------------------------------------------------------------------------------------------------

ROWS = torch.tensor([[1.0, 2.0, 3.0, 6.0], [0.0, 0.0, 4.0, 4.0]])
PART = torch.tensor([[1.0, 0.0, 0.0, 3.0], [2.0, -1.0, 1.0, 6.0]])
GAIN, SHIFT = torch.tensor([1.0, 1.0, 2.0, -3.0]), torch.tensor([0.0, 1.0, -2.0, 5.0])
THIRDS = 100_000 + ROWS.double() / 3                                    # not to be had in single precision
FAR = 1000 + torch.tensor([[0.0, 0.25, 0.5, 1.25], [-0.5, 0.25, 0.25, 1.0]])    # sums without rounding

layer_norm = Question(solution.layer_norm, (1, 2), {
    "a large eps": (ROWS, GAIN, SHIFT, 3.75), "a small eps": (ROWS, GAIN, SHIFT, 1e-5),
    "small numbers, and no eps": (ROWS / 1000, GAIN, SHIFT, 0),
    "equal numbers in a row": (torch.full((1, 4), 7.0), GAIN, SHIFT, 1e-5),
    "numbers near 1000": (FAR, GAIN, SHIFT, 1e-5), "a single row": (ROWS[0], GAIN, SHIFT, 0.5),
    "a batch of tables": (torch.stack([ROWS, 2 - ROWS, FAR - 999]), GAIN, SHIFT, 0.5),
    "double precision": (THIRDS, GAIN.double(), SHIFT.double(), 1e-5),
    "a part of x": (ROWS, GAIN, SHIFT, 0.5, PART), "a part of a row": (ROWS[1], GAIN, SHIFT, 1e-5, PART[1])},
    returns="(..., d)", instead="a mean, a variance and a root",
    forbidden=("torch.nn.functional.layer_norm", "torch.native_layer_norm", "torch.nn.LayerNorm",
               "torch.nn.functional.group_norm", "torch.nn.functional.rms_norm", "torch.instance_norm",
               "torch.batch_norm", "coursekit.models.layer_norm"),
    otherwise="Compute a row by hand: its mean, the mean of the squared distances from it, the root of that plus eps. "
              "With a part: the part minus its own mean, over x's root, times the gain.",
    hints={"shapes": "Do mean and variance keep their axis, so that there is one of each for a row?"})
VARIANCE, NORMED = "(c * c).mean(-1, keepdim=True)", "c / root * gain + shift"
OF_PART = "(part - part.mean(-1, keepdim=True)) / root * gain"
layer_norm.mistakes(
    ("The variance is divided by d − 1 here, as torch's .var() and .std() do unless they are told otherwise. A layer "
     "norm divides by d: it describes this row, and estimates nothing. (`correction=0`)",
     f"{VARIANCE} → x.var(-1, keepdim=True)"),
    ("eps stands outside the root. It is added to the variance, under the root.",
     f"torch.sqrt({VARIANCE} + eps) → torch.sqrt({VARIANCE}) + eps"),
    *(("The argument eps does not come in: it is added to the variance, under the root.", f"+ eps → + {eps}")
      for eps in (0, 1e-5)),
    ("Divided by the variance: its *root* makes the variance 1.", "torch.sqrt → "),
    ("The mean of each row is 0 now; the division that makes its variance 1 is missing.",
     "c / root → c", "True)) / root → True))"),
    ("The mean was not taken away from the numbers.", "c / root → x / root"),
    ("Divided by the root of the mean square: that is RMS norm, which newer models use. A layer norm takes the mean "
     "away first.", "c * c → x * x", "c / root → x / root"),
    ("The rows are normalised; gain and shift are still to be applied.", f"{NORMED} → c / root"),
    ("The shift is missing.", f"{NORMED} → c / root * gain"),
    ("The gain is missing.", f"{NORMED} → c / root + shift"),
    ("The shift is multiplied by the gain, too: it is added at the very end.", f"{NORMED} → (c / root + shift) * gain"),
    ("Mean and variance run along axis 0, over the tokens. Each token's row stands by itself: the last axis.",
     "x.mean(-1 → x.mean(0", "(c * c).mean(-1 → (c * c).mean(0"),
    ("One mean and one variance were taken for the whole table. Each row has its own.",
     "x.mean(-1, keepdim=True) → x.mean()", f"{VARIANCE} → (c * c).mean()"),
    ("Nearly right: digits got lost. Was the variance computed as (mean of the squares) − (square of the mean)? Near "
     "1000 that is the small difference of two numbers near 1,000,000. First take the mean away, then square.",
     f"{VARIANCE} → (x * x).mean(-1, keepdim=True) - x.mean(-1, keepdim=True) ** 2"),
    ("The part plays no role here: with `part` given, what this part contributes is asked for, not the whole.",
     "if part is None → if True"),
    ("The part was normalised by its own root. It is divided by x's: only then do the parts of x add up.",
     f"{OF_PART} → layer_norm(part, gain, 0, eps)"),
    ("The shift was added to the part. It is no part of x: the parts and the shift together make the norm of x.",
     f"{OF_PART} → {OF_PART} + shift"),
    ("No mean was taken away from the part. Its own is: the means of all parts add up to that of x.",
     f"{OF_PART} → part / root * gain"),
    ("The gain is missing where there is a part.", "True)) / root * gain → True)) / root"))


# -- mlp -------------------------------------------------------------------------------------------------------------

def _double(*parts):
    return tuple(part.double() for part in parts)


SPREAD = torch.tensor([[-3.0, -1.0, 0.0, 0.5, 2.0]])
PLAIN = torch.eye(5), torch.zeros(5), torch.eye(5), torch.zeros(5)      # the GELU alone
TWO_TOKENS = tuple(rounded(*shape, seed=50 + i) for i, shape in enumerate([(2, 3), (12, 3), (12,), (3, 12), (3,)]))
ONES = torch.ones(1, 5)


def _exactly(answer, arguments):
    to_the_digit(answer, _double(*arguments), solution.mlp,
                 "Nearly right: are the numbers of the formula, √(2/π) and 0.044715, there with all their digits? Is "
                 "the derivative that of the tanh form, and a formula rather than a small difference?")


mlp = Question(solution.mlp, (1, 3), {
    "identity matrices": (SPREAD, *PLAIN), "two tokens": TWO_TOKENS,
    "large numbers": (50 * SPREAD, *PLAIN), "double precision": _double(SPREAD, *PLAIN),
    "a change, identity matrices": (SPREAD, *PLAIN, ONES),
    "a change of two tokens": (*TWO_TOKENS, rounded(2, 3, seed=58)),
    "a change of large numbers": (50 * SPREAD, *PLAIN, ONES),
    "a change of numbers near 10¹⁵": (1e15 * SPREAD.double(), *_double(*PLAIN, ONES))},
    forbidden=("torch.nn.functional.gelu", "torch.nn.GELU", "coursekit.models.gelu",
               "torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward", "torch.func.jvp",
               "torch.func.vjp", "torch.func.grad", "torch.autograd.functional.jvp"),
    instead="the formulas", tolerance=(1e-3, 1e-5), also=_exactly, returns="(T, d_e)",
    otherwise="Go through it in three lines: the hidden layer with its bias, the GELU of every number, the second "
              "layer with its bias. Are all brackets of the formula there, and all digits of 0.044715? With a change: "
              "the change goes through both matrices, without biases, and is multiplied by the slope of the GELU in "
              "between.",
    hints={"shapes": "A linear layer's matrix is (out, in): what stands at @ between a row and it?",
           "takes 5 positional|'gelu' is not defined": "The lecture's function knows no `change`, and its gelu stands "
                                                       "in another cell. Here you write both."})


def _central_difference(*parts):
    """In double precision, in place of the derivative."""
    if len(parts) == 5:
        return solution.mlp(*parts)
    x, *layers, change = _double(*parts)
    ahead, behind = (solution.mlp(x + step * change, *layers) for step in (1e-5, -1e-5))
    return ((ahead - behind) / 2e-5).to(parts[0].dtype)


SMALL = ("Is that a difference of two outputs, or of two GELUs? Among numbers near 10¹⁵ it drowns in rounding. The "
         "slope is asked for as a formula, by the product and the chain rule.")
GELU, SLOPE = "(h / 2 * (1 + t))", "(1 + t) / 2 + h / 2 * (1 - t ** 2) * dz"
MOVED = "(slope * (change @ W_1.T)) @ W_2.T"
mlp.mistakes(
    ("There is no GELU between the two layers, and two linear maps in a row are one linear map.", f"{GELU} → h"),
    ("This is the exact GELU, with erf, or Φ itself. GPT-2 was trained with the tanh form: loaded into the other one "
     "its logits would be off in the fourth digit.", f"{GELU} → (h / 2 * (1 + torch.erf(h / math.sqrt(2))))"),
    ("This is ReLU: a GELU bends smoothly, and is below zero for small negative numbers.", f"{GELU} → torch.relu(h)"),
    ("The root multiplies both terms: h, and 0.044715·h³.", "(h + 0.044715 * h ** 3)) → h + 0.044715 * h ** 3)"),
    ("Twice as large as it should be: half of h is multiplied.", f"{GELU} → (h * (1 + t))"),
    ("That is the tanh form of Φ alone. GELU is h·Φ(h).", f"{GELU} → ((1 + t) / 2)"),
    ("The first layer's bias b_1 is missing.", " + b_1 → "),
    ("The second layer's bias b_2 is missing.", " + b_2 → "),
    ("b_1 is added before the GELU, not behind it.", " + b_1 → ", f"{GELU} → ({GELU} + b_1)"),
    ("x was added at the end. The skip belongs to the block, not to the MLP.",
     "W_2.T + b_2 → W_2.T + b_2 + x", f"{MOVED} → {MOVED} + x"),
    ("The change plays no role here: with `change` given, by how much the output moves is asked for, not the output.",
     "if change is None → if True"),
    ("That is the output of x + change, less that of x. To first order the change is multiplied by the slope at x.",
     f"{MOVED} → mlp(x + change, W_1, b_1, W_2, b_2) - mlp(x, W_1, b_1, W_2, b_2)"),
    (SMALL, _central_difference),
    ("That is the output for the change alone. Near x the GELU acts as its slope at x says.",
     f"{MOVED} → mlp(change, W_1, b_1, W_2, b_2)"),
    ("The slope of the GELU is missing: each hidden number's change is multiplied by the slope there.",
     "slope * (change → (change"),
    ("The product rule has a second half: h/2 times the slope of the tanh.", f"{SLOPE} → (1 + t) / 2"),
    ("The product rule has a first half: ½ (1 + tanh …), the slope of h/2 times the rest.",
     f"{SLOPE} → h / 2 * (1 - t ** 2) * dz"),
    ("The chain rule goes one step further in: the bracket h + 0.044715·h³ has the slope 1 + 3·0.044715·h².",
     " * (1 + 3 * 0.044715 * h ** 2) → "),
    ("That is the slope of the exact GELU, Φ(h) + h·φ(h). Here it is the tanh form's.",
     f"{SLOPE} → (1 + torch.erf(h / math.sqrt(2))) / 2 + h * torch.exp(-h ** 2 / 2) / math.sqrt(2 * math.pi)"),
    ("In double precision it comes to another result: does a constant in your function have a dtype of its own?",
     lambda *parts: solution.mlp(*(part.float() for part in parts))),
    ("A change passes a linear layer without its bias: the bias is the same before and after.",
     f"{MOVED} → (slope * (change @ W_1.T + b_1)) @ W_2.T + b_2"))


@mlp.suspect
def _(got, x, W_1, b_1, W_2, b_2, change=None):
    if not got.isfinite().all():
        yield ("A tanh put together from exponentials breaks for large numbers: ∞/∞ is not a number. torch.tanh knows "
               "better.")
    if change is not None and x.abs().max() > 1e14:                     # and all was right before
        yield SMALL
    ways = [solution.mlp(x, W, b_1, V, b_2) for W in (W_1.T, W_1) for V in (W_2.T, W_2)][:-1]  # if square
    if any(torch.allclose(got, way, 1e-3, 1e-5) for way in ways):
        yield "A linear layer computes x @ W.T. Square matrices fit without the .T, too, and mean something else."


# -- causal_attention ------------------------------------------------------------------------------------------------

def _fused(T, d_e, K, seed, size=1, silent=None):
    """Arguments of causal_attention; with size 16 scores of which no exp can be taken."""
    shapes = (T, d_e), (3 * d_e, d_e), (3 * d_e,), (d_e, d_e), (d_e,)
    x, *weights = (rounded(*shape, seed=seed + i) / 2 for i, shape in enumerate(shapes))
    return (size * x, *weights, K, *([silent] if silent is not None else []))


causal_attention = Question(solution.causal_attention, (2, 3), {
    "two heads": _fused(T=4, d_e=6, K=2, seed=70), "one head": _fused(T=3, d_e=2, K=1, seed=60),
    "three heads": _fused(T=5, d_e=6, K=3, seed=80), "one token": _fused(T=1, d_e=4, K=2, seed=90),
    "large scores": _fused(T=4, d_e=4, K=2, seed=95, size=16),
    "head 2 of three is silent": _fused(T=5, d_e=6, K=3, seed=80, silent=[2]),
    "two of three are silent": _fused(T=4, d_e=6, K=3, seed=75, silent=[1, 0]),
    "all are silent": _fused(T=3, d_e=4, K=2, seed=65, silent=[0, 1])},
    tolerance=(1e-3, 1e-3), returns="(T, d_e)",                         # large scores make much of rounding
    forbidden=(*ATTENTIONS, "coursekit.models.gpt2.CausalAttention"), instead="matrix products and torch.softmax",
    otherwise="Follow one head: are its queries, keys and values the columns i·d_e/K to (i + 1)·d_e/K of the three "
              "blocks? Does row s of its weights end at column s, and sum to one? A silent head gives zeros where its "
              "output would stand.",
    hints={"shapes": "x @ W_qkv.T is (T, 3·d_e). Cut into three, and each into heads, by columns, that makes (T, "
                     "d_e/K) for a head. A silent head keeps its place: zeros stand where its output would.",
           "ValueError": "Does the cut make three parts? `chunk(3)` cuts rows, the tokens; `chunk(3, 1)` cuts "
                         "columns."})

HEADS, SIDE_BY_SIDE, SILENT = ("zip(q.chunk(K, 1), k.chunk(K, 1), v.chunk(K, 1))", "torch.cat(outputs, 1)",
                               "torch.zeros_like(v_i) if i in silent else ")
SCALED = "The root is that of a head's size, d_e/K: scores are divided by it. "
LOWER_STILL = "The future has a large negative score here, and scores may be lower still. Only −∞ is below every other."
causal_attention.mistakes(
    ("Every token sees the whole text, the future too: where is the causal mask?",
     ".masked_fill(future, -math.inf) → "),
    ("The mask is the wrong way round: tokens see themselves and the future.", "triu(1) → tril(-1)"),
    ("A token does not see itself here. Only t > s is forbidden.",
     "triu(1) → triu()", "-math.inf), 1) → -math.inf), 1).nan_to_num()"),
    ("Each token sees one token of the future. Token s sees the tokens 0 to s.", "triu(1) → triu(2)"),
    (LOWER_STILL, "-math.inf → -10"),
    ("The future has the score 0 here, and e⁰ = 1: it counts. Only a score of −∞ gives a weight of 0.",
     "-math.inf → 0"),
    ("The mask comes after the softmax, so rows no longer sum to one, and the future has been used.",
     "scores.masked_fill(future, -math.inf), 1) → scores, 1).masked_fill(future, 0)"),
    ("The columns sum to one, the rows should: is the softmax over the wrong axis?", "-math.inf), 1) → -math.inf), 0)"),
    ("The heads were cut first, and then each into query, key and value. In GPT-2 it is the other way round: first "
     "three blocks of d_e columns, Q, K and V, and then each into heads.",
     f"{HEADS} → (head.chunk(3, 1) for head in (x @ W_qkv.T + b_qkv).chunk(K, 1))"),
    ("The heads are interleaved: head i took every K-th column. Head 0 has the first d_e/K columns of Q, head 1 the "
     "next ones.", f"{HEADS} → ((q[:, i::K], k[:, i::K], v[:, i::K]) for i in range(K))"),
    ("Tokens and heads got mixed: first (T, d_e) to (T, K, d_e/K), then K to the front with transpose. A reshape "
     "straight to (K, T, d_e/K) cuts elsewhere.",
     f"{HEADS} → zip(*(part.reshape(K, len(x), -1) for part in (q, k, v)))"),
    ("The heads' outputs got mixed on the way back: from (K, T, d_e/K), T comes to the front (transpose) before the "
     "heads are put side by side.", f"{SIDE_BY_SIDE} → torch.stack(outputs).reshape(len(x), -1)"),
    ("Here heads look at heads, for each token. The heads come to the front before the product: (K, T, d_e/K).",
     f"{HEADS} → zip(*(part.view(len(x), K, -1) for part in (q, k, v)))", "(len(x), len(x)) → (K, K)", f"{SILENT} → ",
     f"{SIDE_BY_SIDE} → torch.stack(outputs).flatten(1)"),
    ("The scores are not scaled: where is the root?", " / math.sqrt(q_i.shape[1]) → "),
    (SCALED + "Here it is √d_e, of all heads together.", "q_i.shape[1] → q.shape[1]"),
    (SCALED + "Here it is d_e/K itself.", "math.sqrt → "),
    ("Queries and keys have changed places, in the cut (the queries come first in W_qkv) or in the product (row s of "
     "the scores belongs to query s).", "q_i @ k_i.T → k_i @ q_i.T"),
    ("b_o was added before W_o. It is added at the very end.",
     f"{SIDE_BY_SIDE} @ W_o.T + b_o → ({SIDE_BY_SIDE} + b_o) @ W_o.T"),
    ("With all heads silent the output's bias b_o is left, in every row.", "+ b_o → + b_o * (len(silent) < K)"),
    ("The heads stand side by side, as they should, but W_o and b_o did not mix them.", " @ W_o.T + b_o → "),
    ("The output's bias b_o is missing.", " + b_o → "),
    ("b_o was added more than once. It is added at the end, not for each head.", "+ b_o → + K * b_o"),
    ("W_o acts from the wrong side. It is (out, in), as in every linear layer: y @ W_o.T.", "W_o.T → W_o"),
    ("The bias b_qkv is missing.", " + b_qkv → "),
    ("That is one big head. Q, K and V are cut into K heads, by columns.", f"{HEADS} → [(q, k, v)]", f"{SILENT} → "),
    ("The heads have K columns each. There are K heads, of d_e/K columns: `chunk` wants a number, `split` a size.",
     f"{HEADS} → zip(q.split(K, 1), k.split(K, 1), v.split(K, 1))", f"{SILENT} → "),
    ("Nobody is silent here: the heads whose numbers stand in `silent` give zeros in place of their output.",
     f"{SILENT} → "),
    ("Rows of W_o were cleared. Head i comes into the output through the *columns* i·d_e/K to (i + 1)·d_e/K of W_o.",
     f"{SILENT} → ", "return → W_o = W_o.clone()\n    for i in silent:\n        W_o.chunk(K)[i][:] = 0\n    return"))

LOW = [as_answer(solution.causal_attention, f"-math.inf → {low}") for low in (-1e4, -1e5)]  # few scores are lower


@causal_attention.suspect
def _(got, x, *rest):
    if not got.isfinite().all() and x.abs().max() > 8:
        yield ("∞/∞ is not a number, and exp makes ∞ of large scores: take the largest score of the row away first. "
               "torch.softmax does.")
    if not got.isfinite().all():
        yield ("A row in which everything is forbidden is 0/0: may every token see at least itself? Is the softmax "
               "over the last axis? (−∞ · 0 is not a number either: masked_fill puts −∞ where it belongs.)")
    yield LOWER_STILL if any(same(got, answer(x, *rest)) for answer in LOW) else None
