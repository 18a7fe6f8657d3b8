"""Checks of assignment 03 on GPT-2's parts: layer norm, also of a part of the stream; the MLP, also some of its units,
and to first order; causal attention, several heads from one matrix, some of them silent."""

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


def as_lists(reference):
    """Two mistakes: a list in place of a tensor, of numbers and of rows."""
    words = "A list came back, and a tensor is due: torch.tensor(…) makes one of numbers, torch.stack(…) of tensors."
    return (words, lambda *given: reference(*given).tolist()), (words, lambda *given: [*reference(*given)])


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
    hints={"^a (single row|batch of tables)": "x may be a row, a table or a batch of tables. The last axis is −1, "
                                              "whatever stands before it.",
           "shapes": "Do mean and variance keep their axis, so that there is one of each for a row?"},
    why="The row less its mean is kept, since it is needed twice: squared for the variance, and divided by the root. "
        "A part takes the same root, so that contributions add up.")
VARIANCE, NORMED = "(c * c).mean(-1, keepdim=True)", "c / root * gain + shift"
OF_PART = "(part - part.mean(-1, keepdim=True)) / root * gain"
layer_norm.mistakes(
    ("The variance is divided by d − 1 here, as torch's .var() and .std() do unless they are told otherwise. A layer "
     "norm divides by d: it describes this row, and estimates nothing. (`correction=0`)",
     f"{VARIANCE} → x.var(-1, keepdim=True)"),
    ("eps stands outside the root. It is added to the variance, under the root.",
     f"torch.sqrt({VARIANCE} + eps) → torch.sqrt({VARIANCE}) + eps"),
    ("Two things at once: torch's .std() divides by d − 1 (with `correction=0` by d), and eps is added to the "
     "variance, under the root.", f"torch.sqrt({VARIANCE} + eps) → x.std(-1, keepdim=True) + eps"),
    ("The squares are summed here. The variance is their mean: the sum over d.", "(c * c).mean → (c * c).sum"),
    ("The variance is the mean square of what is left without the mean, not of x itself.", "c * c → x * x"),
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
    ("Gain and shift have changed places: the gain multiplies, the shift is added.",
     f"{NORMED} → c / root * shift + gain"),
    ("The shift is multiplied by the gain, too: it is added at the very end.", f"{NORMED} → (c / root + shift) * gain"),
    ("Mean and variance run along axis 0, over the tokens. Each token's row stands by itself: the last axis.",
     "x.mean(-1 → x.mean(0", "(c * c).mean(-1 → (c * c).mean(0"),
    ("One mean and one variance were taken for the whole table. Each row has its own.",
     "x.mean(-1, keepdim=True) → x.mean()", f"{VARIANCE} → (c * c).mean()"),
    ("One variance was taken for the whole table. Each row has its own.", f"{VARIANCE} → (c * c).mean()"),
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
    ("The gain is missing where there is a part.", "True)) / root * gain → True)) / root"),
    ("The mean of x was taken away from the part: it is the part's own.",
     f"{OF_PART} → (part - x.mean(-1, keepdim=True)) / root * gain"),
    ("One mean was taken for the whole part. Each of its rows has its own.",
     f"{OF_PART} → (part - part.mean()) / root * gain"),
    ("That is by how much the norm of x changes without the part. Then the root changes as well; here it stays x's.",
     f"{OF_PART} → layer_norm(x, gain, shift, eps) - layer_norm(x - part, gain, shift, eps)"),
    ("A row of equal numbers became 0. What is left of it is 0, yes; then the shift is added, as everywhere.",
     f"{NORMED} → torch.where(c.abs().amax(-1, True) == 0, 0, {NORMED})"),
    ("The numbers were turned into single precision on the way: near 100,000 that costs digits. Keep x's dtype.",
     "c = x → x = x.float()\n    c = x"),
    *as_lists(solution.layer_norm))


# -- mlp -------------------------------------------------------------------------------------------------------------

def _double(*parts):
    return tuple(part.double() if torch.is_tensor(part) else part for part in parts)


SPREAD = torch.tensor([[-3.0, -1.0, 0.0, 0.5, 2.0]])
PLAIN = torch.eye(5), torch.zeros(5), torch.eye(5), torch.zeros(5)      # the GELU alone
TWO_TOKENS = tuple(rounded(*shape, seed=50 + i) for i, shape in enumerate([(2, 3), (6, 3), (6,), (3, 6), (3,)]))
SQUARE = tuple(rounded(*shape, seed=60 + i) for i, shape in enumerate([(4, 4), (4, 4), (4,), (4, 4), (4,)]))
NO_GELU = ("torch.nn.functional.gelu", "torch.nn.GELU", "coursekit.models.gelu")
DIGITS = "Nearly right: are the numbers of the formula, √(2/π) and 0.044715, there with all their digits?"


def _exactly(answer, arguments):
    to_the_digit(answer, _double(*arguments), solution.mlp, DIGITS)


mlp = Question(solution.mlp, (1, 1), {
    "identity matrices": (SPREAD, *PLAIN), "two tokens": TWO_TOKENS, "square matrices": SQUARE,
    "large numbers": (50 * SPREAD, *PLAIN), "double precision": _double(SPREAD, *PLAIN),
    "three of six units": (*TWO_TOKENS, [4, 0, 3]), "two units, square matrices": (*SQUARE, [3, 1]),
    "all units": (*TWO_TOKENS, [*range(6)]), "no unit": (*TWO_TOKENS, [])},
    forbidden=NO_GELU, instead="the formula", tolerance=(1e-3, 1e-5), also=_exactly, returns="(T, d_e)",
    promises={"each at most once": lambda x, W_1, b_1, W_2, b_2, units=(): len({*(units or ())}) == len(units or ())},
    otherwise="Go through it in three lines: the hidden layer with its bias, the GELU of every number, the second "
              "layer with its bias. Are all brackets of the formula there? With units: only their columns of the "
              "hidden layer and of W_2, and no b_2.",
    hints={"shapes": "A linear layer's matrix is (out, in): what stands at @ between a row and it? And units are "
                     "columns, of the hidden layer and of W_2.",
           "takes 5 positional|'gelu' is not defined": "The lecture's function knows no `units`, and its gelu stands "
                                                       "in another cell. Here you write both.",
           "IndexError": "An index is too large. Hidden units are the columns of the (T, d_h) table and of W_2, their "
                         "second axis."},
    why="The hidden layer is computed once; the units are picked afterwards, as columns of both sides of the last "
        "product. That product is a sum over the units, so leaving out columns leaves out terms.")
GELU, WRITTEN, OUTPUT = "h / 2 * (1 + torch.tanh(", "g[:, units] @ W_2[:, units].T", "g @ W_2.T + b_2"
ERF = "h / 2 * (1 + torch.erf(h / math.sqrt(2)))"
FORMULA = "h / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)))"
AT_THE_END = f"return {OUTPUT} → h = {OUTPUT}\n        return {FORMULA}"
TWICE = "The GELU was applied twice. It stands once, between the two layers."
mlp.mistakes(
    ("There is no GELU between the two layers, and two linear maps in a row are one linear map.", f"{FORMULA} → h"),
    ("This is the exact GELU, with erf, or Φ itself. GPT-2 was trained with the tanh form: loaded into the other one "
     "its logits would be off in the fourth digit.", f"{FORMULA} → {ERF}"),
    *((TWICE, *edits) for edits in (
        (AT_THE_END,), (AT_THE_END, f"return {WRITTEN} → h = {WRITTEN}\n    return {FORMULA}"),
        (f"g = {FORMULA} → h = {FORMULA}\n    g = {FORMULA}",))),
    ("The GELU comes before the first layer. It stands between the two: it acts on x W_1ᵀ + b_1, the hidden numbers.",
     "h = x @ W_1.T + b_1 → h = x", f"g = {FORMULA} → g = ({FORMULA}) @ W_1.T + b_1"),
    ("The GELU stands between the two layers, not behind the second.", f"g = {FORMULA} → g = h", AT_THE_END,
     f"return {WRITTEN} → h = {WRITTEN}\n    return {FORMULA}"),
    *(("That is h times a sigmoid, another function in place of the GELU. Here it is the form with tanh.",
       f"{FORMULA} → h * torch.sigmoid({factor} * h)") for factor in (1, 1.702)),
    ("This is ReLU: a GELU bends smoothly, and is below zero for small negative numbers.",
     f"{FORMULA} → torch.relu(h)"),
    ("The root multiplies both terms: h, and 0.044715·h³.", "(h + 0.044715 * h ** 3)) → h + 0.044715 * h ** 3)"),
    ("Twice as large as it should be: half of h is multiplied.", f"{GELU} → h * (1 + torch.tanh("),
    ("That is the tanh form of Φ alone. GELU is h·Φ(h).", f"{GELU} → 0.5 * (1 + torch.tanh("),
    ("The 1 in the bracket is missing: it is 1 + tanh(…).", f"{GELU} → h / 2 * (torch.tanh("),
    ("h/2 multiplies the whole bracket, the 1 and the tanh.", f"{GELU} → h / 2 + (torch.tanh("),
    ("√(2/π) is the root of the whole fraction.", "math.sqrt(2 / math.pi) → math.sqrt(2) / math.pi"),
    ("2/π stands under a root.", "math.sqrt(2 / math.pi) → 2 / math.pi"),
    ("The fraction under the root stands upside down: it is 2/π.", "math.sqrt(2 / math.pi) → math.sqrt(math.pi / 2)"),
    ("The cube is missing: to h comes 0.044715·h³.", "(h + 0.044715 * h ** 3) → h"),
    ("Only the second h is cubed, not the bracket.", "(h + 0.044715 * h ** 3) → (h + 0.044715 * h) ** 3"),
    *(("A zero too many or too few behind the point: it is 0.044715.", f"0.044715 → {typed}") for typed in
      (0.44715, 0.0044715)),
    ("The power in the bracket is the third.", "h ** 3 → h ** 2"),
    ("The cube is of h, not of 0.044715·h: 0.044715 stands before the power.",
     "0.044715 * h ** 3 → (0.044715 * h) ** 3"),
    ("The first layer's bias b_1 is missing.", " + b_1 → "),
    ("The second layer's bias b_2 is missing.", " + b_2 → "),
    ("b_1 is added before the GELU, not behind it.", " + b_1 → ", f"{FORMULA} → {FORMULA} + b_1"),
    ("x was added at the end. The skip belongs to the block, not to the MLP.",
     "W_2.T + b_2 → W_2.T + b_2 + x", f"{WRITTEN} → {WRITTEN} + x"),
    ("The units play no role here: with `units` given, what these alone write is asked for.",
     "if units is None → if True"),
    ("No unit writes 0: an empty list is not None. Ask `if units is None`.", "if units is None → if not units"),
    ("b_2 belongs to no unit: with `units` given it stays out.", f"{WRITTEN} → {WRITTEN} + b_2"),
    ("b_2 belongs to no unit: not a share of it, either.", f"{WRITTEN} → {WRITTEN} + b_2 * len(units) / len(b_1)"),
    *(("These units were left out. What *they* write is asked for.", f"{WRITTEN} → g @ W_2.T - {WRITTEN}{bias}")
      for bias in ("", " + b_2")),
    ("That is what all units write, without b_2. With `units` only the columns of these count.",
     f"{WRITTEN} → g @ W_2.T"),
    *(("A slice takes all units between two. `units` may name any, in any order: `g[:, units]` takes these alone.",
       f"{WRITTEN} → g[:, {cut}] @ W_2[:, {cut}].T") for cut in
      ("units[0]:units[-1] + 1", "min(units):max(units) + 1", "min(units, default=0):max(units, default=-1) + 1")),
    ("That is what the first units write, as many as there are in `units`. It holds their numbers.",
     f"{WRITTEN} → g[:, :len(units)] @ W_2[:, :len(units)].T"),
    *(("The output is a *sum* over the units: what these write is the sum as well, not a mean.",
       f"{WRITTEN} → {WRITTEN} / {number}") for number in ("len(units)", "max(len(units), 1)")),
    ("Only the first of these units is in the result: does a loop return in its first round?",
     f"{WRITTEN} → g[:, units[:1]] @ W_2[:, units[:1]].T"),
    ("Only the last of these units is in the result: does each round of a loop begin anew?",
     f"{WRITTEN} → g[:, units[-1:]] @ W_2[:, units[-1:]].T"),
    ("Units count from 0.", "if units is None → units = units and [i - 1 for i in units]\n    if units is None"),
    ("Those are the hidden numbers of these units. What they *write* comes out of the second layer.",
     f"{WRITTEN} → g[:, units]"),
    ("That is what the hidden numbers write before the GELU. It is needed with `units` as well.",
     f"{WRITTEN} → h[:, units] @ W_2[:, units].T"),
    ("With `units` the bias b_1 is missing: a hidden number is the same, however many of them are asked for.",
     f"{WRITTEN} → ({FORMULA.replace('h ', '(h - b_1) ')})[:, units] @ W_2[:, units].T"),
    (DIGITS, "0.044715 → 0.04471"),
    ("In double precision it comes to another result: does a constant in your function have a dtype of its own?",
     lambda *parts: solution.mlp(*(part.float() if torch.is_tensor(part) else part for part in parts))),
    *as_lists(solution.mlp))


@mlp.suspect
def _(got, x, W_1, b_1, W_2, b_2, units=None):
    if not got.isfinite().all():
        yield ("A tanh put together from exponentials breaks for large numbers: ∞/∞ is not a number. torch.tanh knows "
               "better.")
    ways = [solution.mlp(x, W, b_1, V, b_2, units) for W in (W_1.T, W_1) for V in (W_2.T, W_2)][:-1]  # if square
    if any(torch.allclose(got, way, 1e-3, 1e-5) for way in ways):
        yield ("A linear layer computes x @ W.T, and a unit writes by a *column* of W_2. With square matrices other "
               "ways run as well, and mean something else.")


# -- mlp_change ------------------------------------------------------------------------------------------------------

ONES, MOVING = torch.ones(1, 5), (*TWO_TOKENS[:1], rounded(2, 3, seed=58), *TWO_TOKENS[1:4])


def _change_exactly(answer, arguments):
    to_the_digit(answer, _double(*arguments), solution.mlp_change, DIGITS + " Is the derivative that of the tanh form, "
                 "and a formula rather than a small difference?")


mlp_change = Question(solution.mlp_change, (0, 1), {
    "identity matrices": (SPREAD, ONES, *PLAIN[:3]), "two tokens": MOVING,
    "large numbers": (50 * SPREAD, ONES, *PLAIN[:3]),
    "numbers near 10¹⁵": (1e15 * SPREAD.double(), *_double(ONES, *PLAIN[:3]))},
    forbidden=(*NO_GELU, "torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward", "torch.func.jvp",
               "torch.func.vjp", "torch.func.grad", "torch.autograd.functional.jvp"),
    instead="the formulas", tolerance=(1e-3, 1e-5), also=_change_exactly, returns="(T, d_e)",
    otherwise="The change goes through both matrices, without biases, and is multiplied by the slope of the GELU in "
              "between: that at the hidden numbers of x. Is it ½ at 0, and nearly 1 at 5?",
    hints={"shapes": "A linear layer's matrix is (out, in): what stands at @ between a row and it?"},
    why="The slope is that of a product, ½h times (1 + tanh z), so it has two terms; everything else is linear, and "
        "passes a change on as it is.")


def _moved(*parts, b_2=0):
    """The MLP's output on parts x, W_1, b_1, W_2."""
    return solution.mlp(*parts, b_2)


def _central_difference(x, change, *layers):
    """In double precision, in place of the derivative."""
    x, change, *layers = _double(x, change, *layers)
    return ((_moved(x + 1e-5 * change, *layers) - _moved(x - 1e-5 * change, *layers)) / 2e-5).to(layers[0].dtype)


SMALL = ("Is that a difference of two outputs, or of two GELUs? Among numbers near 10¹⁵ it drowns in rounding. The "
         "slope is asked for as a formula, by the product and the chain rule.")
SLOPE, MOVED = "(1 + t) / 2 + h / 2 * (1 - t ** 2) * dz", "(slope * (change @ W_1.T)) @ W_2.T"
mlp_change.mistakes(
    ("That is the output for x. By how much it moves is asked for.",
     lambda x, change, *layers: _moved(x, *layers)),
    ("That is the output of x + change, less that of x. To first order the change is multiplied by the slope at x.",
     lambda x, change, *layers: _moved(x + change, *layers) - _moved(x, *layers)),
    ("That is the output for the change alone. Near x the GELU acts as its slope at x says.",
     lambda x, change, *layers: _moved(change, *layers)),
    ("The slope of the GELU is missing: each hidden number's change is multiplied by the slope there.",
     "slope * (change → (change"),
    ("The product rule has a second half: h/2 times the slope of the tanh.", f"{SLOPE} → (1 + t) / 2"),
    ("The product rule has a first half: ½ (1 + tanh …), the slope of h/2 times the rest.",
     f"{SLOPE} → h / 2 * (1 - t ** 2) * dz"),
    ("The chain rule goes one step further in: the bracket h + 0.044715·h³ has the slope 1 + 3·0.044715·h².",
     " * (1 + 3 * 0.044715 * h ** 2) → "),
    ("The slope of h³ is 3h²: the 3 is missing.", "(1 + 3 * 0.044715 → (1 + 0.044715"),
    ("√(2/π) stands before the bracket in the tanh, and so before the slope of that bracket.",
     "dz = math.sqrt(2 / math.pi) * → dz ="),
    *(("The second half has the factor h/2.", f"h / 2 * (1 - t → {factor}(1 - t") for factor in ("h * ", "")),
    ("The slope of h/2 is ½: the first half is ½ (1 + tanh …).", "(1 + t) / 2 → (1 + t)"),
    ("The slope of tanh z is 1 − tanh² z: the tanh is squared, not the difference.", "(1 - t ** 2) → (1 - t) ** 2"),
    ("That is the slope of the exact GELU, Φ(h) + h·φ(h). Here it is the tanh form's.",
     f"{SLOPE} → (1 + torch.erf(h / math.sqrt(2))) / 2 + h * torch.exp(-h ** 2 / 2) / math.sqrt(2 * math.pi)"),
    ("The first layer's bias b_1 is missing: the slope is that at the hidden numbers of x.", " + b_1 → "),
    ("A change passes a linear layer without its bias: the bias is the same before and after.",
     f"{MOVED} → (slope * (change @ W_1.T + b_1)) @ W_2.T"),
    (SMALL, _central_difference),
    ("In double precision it comes to another result: does a constant in your function have a dtype of its own?",
     lambda *parts: solution.mlp_change(*(part.float() for part in parts))))


@mlp_change.suspect
def _(got, x, change, W_1, b_1, W_2):
    if x.abs().max() > 1e14:                                            # and all was right before
        yield SMALL


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
                         "columns."},
    why="A loop over the heads keeps every table two-dimensional; −∞ before the softmax gives weights that are exactly "
        "0, and a silent head leaves zeros in its place, so that W_o still fits.")

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
    *((LOWER_STILL, f"-math.inf → {low}") for low in (-10, -100)),
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
    ("Tokens and heads got mixed, twice. On the way in: first (T, d_e) to (T, K, d_e/K), then K to the front with "
     "transpose. On the way back: T to the front, then reshape to (T, d_e).",
     f"{HEADS} → zip(*(part.reshape(K, len(x), -1) for part in (q, k, v)))",
     f"{SIDE_BY_SIDE} → torch.stack(outputs).reshape(len(x), -1)"),
    ("The heads' outputs got mixed on the way back: from (K, T, d_e/K), T comes to the front (transpose) before the "
     "heads are put side by side.", f"{SIDE_BY_SIDE} → torch.stack(outputs).reshape(len(x), -1)"),
    ("Here heads look at heads, for each token. The heads come to the front before the product: (K, T, d_e/K).",
     f"{HEADS} → zip(*(part.view(len(x), K, -1) for part in (q, k, v)))", "(len(x), len(x)) → (K, K)", f"{SILENT} → ",
     f"{SIDE_BY_SIDE} → torch.stack(outputs).flatten(1)"),
    ("The scores are not scaled: where is the root?", " / math.sqrt(q_i.shape[1]) → "),
    (SCALED + "Here it is √d_e, of all heads together.", "q_i.shape[1] → q.shape[1]"),
    (SCALED + "Here it is d_e/K itself.", "math.sqrt → "),
    (SCALED + "Here they are multiplied.", "/ math.sqrt → * math.sqrt"),
    (SCALED + "Here it is √K, of the number of heads.", "q_i.shape[1] → K"),
    *(("In W_qkv the queries come first, then the keys, then the values. The values are not the third block here.",
       f"q, k, v = → {order} =") for order in ("q, v, k", "v, k, q", "v, q, k", "k, v, q")),
    ("Queries and keys have changed places, in the cut (the queries come first in W_qkv) or in the product (row s of "
     "the scores belongs to query s).", "q_i @ k_i.T → k_i @ q_i.T"),
    ("b_o was added before W_o. It is added at the very end.",
     f"{SIDE_BY_SIDE} @ W_o.T + b_o → ({SIDE_BY_SIDE} + b_o) @ W_o.T"),
    ("With all heads silent the output's bias b_o is left, in every row.", "+ b_o → + b_o * (len(silent) < K)"),
    ("The heads stand side by side, as they should, but W_o and b_o did not mix them.", " @ W_o.T + b_o → "),
    ("The output's bias b_o is missing.", " + b_o → "),
    ("x was added at the end. The skip belongs to the block, not to attention.", "+ b_o → + b_o + x"),
    *(("The heads were added up or averaged. They stand side by side, head after head, and W_o mixes them.",
       f"{SIDE_BY_SIDE} → {mixed}.repeat(1, K)") for mixed in ("sum(outputs)", "(sum(outputs) / K)")),
    ("b_o was added more than once. It is added at the end, not for each head.", "+ b_o → + K * b_o"),
    ("W_o acts from the wrong side. It is (out, in), as in every linear layer: y @ W_o.T.", "W_o.T → W_o"),
    ("The bias b_qkv is missing.", " + b_qkv → "),
    *(("That is one big head. Q, K and V are cut into K heads, by columns.", f"{HEADS} → [(q, k, v)]", f"{SILENT} → ",
       f"q_i.shape[1] → {size}") for size in ("q_i.shape[1]", "(q_i.shape[1] / K)")),
    ("The heads have K columns each. There are K heads, of d_e/K columns: `chunk` wants a number, `split` a size.",
     f"{HEADS} → zip(q.split(K, 1), k.split(K, 1), v.split(K, 1))", f"{SILENT} → "),
    ("Nobody is silent here: the heads whose numbers stand in `silent` give zeros in place of their output.",
     f"{SILENT} → "),
    *(("The other way round: the heads in `silent` are those that give zeros.", f"i in silent → {heard}")
      for heard in ("i not in silent", "silent and i not in silent")),
    ("Only one of the heads in `silent` is silent: there may be several.", "i in silent → i in [*silent][:1]"),
    ("Heads count from 0.", "i in silent → i + 1 in silent"),
    ("A silent head still looks here, at all tokens alike: its output is 0, not its scores.",
     f"{SILENT} → ", "A = torch → scores = scores * (i not in silent)\n        A = torch"),
    ("The bias b_o is gone where a head is silent. It stays.", "+ b_o → + b_o * (not silent)"),
    *((f"Silence comes before W_o, in the head's own columns of the table (T, d_e): i·d_e/K to (i + 1)·d_e/K. {where}",
       f"{SILENT} → ", f"return {SIDE_BY_SIDE} @ W_o.T + b_o → out, d = {SIDE_BY_SIDE}, len(W_o) // K\n"
       f"    {before}\n    for i in silent:\n        out[{those}] = 0\n    return {after}")
      for where, before, those, after in (
        ("Here columns of the output were cleared.", "out = out @ W_o.T + b_o", ":, i * d:(i + 1) * d", "out"),
        ("Here it was every K-th column.", "", ":, i::K", "out @ W_o.T + b_o"),
        ("Here it was one column.", "", ":, i", "out @ W_o.T + b_o"),
        ("Here it was a row, which is a token.", "", "i", "out @ W_o.T + b_o"))),
    *as_lists(solution.causal_attention),
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
