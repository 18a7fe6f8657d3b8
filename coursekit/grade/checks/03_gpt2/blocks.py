"""Checks of assignment 03: layer norm, the MLP with its GELU, a block."""

import math

import torch
from torch.nn import functional as F

from coursekit.grade.kit.cases import rounded
from coursekit.grade.kit.messages import CheckFailed
from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import difference, kind, same
from coursekit.grade.kit.services import run
from coursekit.models import gelu, gelu_exact
from coursekit.models import layer_norm as normalised

__all__ = ["to_the_digit", "layer_norm", "mlp", "block"]


def to_the_digit(answer, arguments, reference, words):
    """Raise CheckFailed with these words unless the answer is right on the arguments, which are in double precision.

    In single precision a right answer may be off by as much as one with another eps, so that little is asked for there.
    Here six digits are: constants in single precision are welcome.
    """
    try:
        wrong = difference(run(answer, arguments), reference(*arguments), (1e-6, 1e-6))
    except Exception:
        wrong = "the dtype"                                             # with which it stops
    if wrong:
        raise CheckFailed("In double precision it comes to another result: does a constant in your function have a "
                          "dtype of its own?" if "the dtype" in wrong else words)


# -- layer_norm ------------------------------------------------------------------------------------------------------

ROWS = torch.tensor([[1.0, 2.0, 3.0, 6.0], [0.0, 0.0, 4.0, 4.0]])
GAIN, SHIFT = torch.tensor([1.0, 1.0, 2.0, -3.0]), torch.tensor([0.0, 1.0, -2.0, 5.0])
THIRDS = 100_000 + ROWS.double() / 3                                    # not to be had in single precision
FAR = 1000 + torch.tensor([[0.0, 0.25, 0.5, 1.25], [-0.5, 0.25, 0.25, 1.0]])    # sums without rounding


@question((1, 2), {"a large eps": (ROWS, GAIN, SHIFT, 3.75), "a small eps": (ROWS, GAIN, SHIFT, 1e-5),
                   "small numbers, and no eps": (ROWS / 1000, GAIN, SHIFT, 0),
                   "equal numbers in a row": (torch.full((1, 4), 7.0), GAIN, SHIFT, 1e-5),
                   "numbers near 1000": (FAR, GAIN, SHIFT, 1e-5),
                   "a single row": (ROWS[0], GAIN, SHIFT, 0.5),
                   "a batch of tables": (torch.stack([ROWS, 2 - ROWS, FAR - 999]), GAIN, SHIFT, 0.5),
                   "double precision": (THIRDS, GAIN.double(), SHIFT.double(), 1e-5)},
          forbidden=("torch.nn.functional.layer_norm", "torch.native_layer_norm", "torch.nn.LayerNorm",
                     "torch.nn.functional.group_norm", "torch.nn.functional.rms_norm", "torch.instance_norm",
                     "torch.batch_norm", "coursekit.models.layer_norm"),
          instead="a mean, a variance and a root",
          hints={"shapes": "Do mean and variance keep their axis, so that there is one of each for a row?"})
def layer_norm(x, gain, shift, eps):
    """layer_norm(x, gain, shift, eps): x (..., d), every row to mean 0 and variance 1, times gain, plus shift."""
    return normalised(x, gain, shift, eps)


@layer_norm.suspect
def _(got, x, gain, shift, eps):
    if kind(got) != "a tensor":
        return None
    if got.dtype != x.dtype:
        return "Input and result have one dtype. Does a constant in your function have another one?"
    if not got.isfinite().all():
        return ("A row of equal numbers has the variance 0, and 0/0 is not a number: eps belongs under the root. (A "
                "row of one number, divided by d − 1 = 0, ends like that, too.)")
    d, centred = x.shape[-1], x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    larger = variance * d / max(d - 1, 1)
    norm = centred / torch.sqrt(variance + eps)

    def along(axis):
        centred = x - x.mean(axis, keepdim=True)
        return centred / torch.sqrt(centred.square().mean(axis, keepdim=True) + eps)

    def scaled(values):
        return gain * values + shift

    return first_match(got, [
        (scaled(centred / torch.sqrt(larger + eps)),
         "The variance is divided by d − 1 here, as torch's .var() and .std() do unless they are told otherwise. A "
         "layer norm divides by d: it describes this row, and estimates nothing. (`correction=0`)"),
        (scaled(centred / (variance.sqrt() + eps)), "eps stands outside the root. It is added to the variance, under "
                                                    "the root."),
        (scaled(centred / (larger.sqrt() + eps)),
         "Two things: eps stands outside the root (it is added to the variance), and .std() divides by d − 1 unless it "
         "is told otherwise (`correction=0`)."),
        (scaled(centred / torch.sqrt(variance.clamp(min=eps))), "eps is only a lower bound here. It is added to the "
                                                                "variance, whatever that is."),
        *((scaled(centred / torch.sqrt(variance + max(eps, least))),
           "eps was made larger. It may be 0, and then nothing is added.") for least in (1e-5, 1e-6, 1e-8)),
        *((scaled(centred / torch.sqrt(variance + fixed)), "The argument eps does not come in: it is added to the "
                                                           "variance, under the root.") for fixed in (0, 1e-5)),
        *((scaled(centred / torch.sqrt(larger + fixed)),
           "Two things: the argument eps does not come in (it is added to the variance, under the root), and .var() "
           "and .std() divide by d − 1 unless they are told otherwise (`correction=0`).") for fixed in (0, 1e-5)),
        (scaled(centred / torch.sqrt(variance + eps ** 2)), "eps is squared here. It is added to the variance as it "
                                                            "is."),
        (scaled(centred / (variance + eps)), "Divided by the variance: its *root* makes the variance 1."),
        (scaled(centred / torch.sqrt(d * variance + eps)), "The squared distances are added up here. The variance is "
                                                           "their mean."),
        (scaled(centred), "The mean of each row is 0 now; the division that makes its variance 1 is missing."),
        (scaled(x / torch.sqrt(variance + eps)), "The mean was not taken away from the numbers."),
        (scaled(x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)),
         "Divided by the root of the mean square: that is RMS norm, which newer models use. A layer norm takes the "
         "mean away first."),
        (norm, "The rows are normalised; gain and shift are still to be applied."),
        (gain * norm, "The shift is missing."), (norm + shift, "The gain is missing."),
        (shift * norm + gain, "Gain and shift have changed places: the gain multiplies, the shift is added."),
        (gain * (norm + shift), "The shift is multiplied by the gain, too: it is added at the very end."),
        (gain * (centred / torch.sqrt(variance + eps)) - shift, "The shift is subtracted, and should be added."),
        *((scaled(along(axis)), f"Mean and variance run along axis {axis}, over the tokens. Each token's row stands by "
                                "itself: the last axis.") for axis in range(x.dim() - 1)),
        (scaled(along(tuple(range(x.dim())))), "One mean and one variance were taken for the whole table. Each row has "
                                               "its own."),
    ]) or _rounding(got, x, scaled(norm), normalised(x.float(), gain.float(), shift.float(), eps))


def _rounding(got, x, right, single):
    if x.dtype == torch.float64 and same(got.float(), single, (1e-3, 1e-3)):
        return "Nearly right: digits got lost, as many as single precision has not. Is there a .float() on the way?"
    if x.abs().mean() > 100 and tuple(got.shape) == tuple(right.shape) and (got - right).abs().max() < 1:
        return ("Nearly right: digits got lost. Was the variance computed as (mean of the squares) − (square of the "
                "mean)? Near 1000 that is the small difference of two numbers near 1,000,000. First take the mean "
                "away, then square.")
    return "Compute a row by hand: its mean, the mean of the squared distances from it, the root of that plus eps."


# -- mlp -------------------------------------------------------------------------------------------------------------

def _linear(d, d_h, seed):
    shapes = (d_h, d), (d_h,), (d, d_h), (d,)
    return tuple(rounded(*shape, seed=seed + i) for i, shape in enumerate(shapes))


SPREAD = torch.tensor([[-3.0, -1.0, 0.0, 0.5, 2.0]])
PLAIN = torch.eye(5), torch.zeros(5), torch.eye(5), torch.zeros(5)      # the GELU alone


def _exactly(answer, arguments):
    to_the_digit(answer, [part.double() for part in arguments], mlp.__wrapped__,
                 "Nearly right: are the numbers of the formula, √(2/π) and 0.044715, there with all their digits?")


@question((1, 2), {"identity matrices": (SPREAD, *PLAIN), "two tokens": (rounded(2, 3, seed=50), *_linear(3, 12, 51)),
                   "large numbers": (50 * SPREAD, *PLAIN),
                   "double precision": (SPREAD.double(), *(part.double() for part in PLAIN))},
          forbidden=("torch.nn.functional.gelu", "torch.nn.GELU", "coursekit.models.gelu",
                     "coursekit.models.gelu_exact"), instead="the formula", tolerance=(1e-3, 1e-5), also=_exactly,
          hints={"shapes": "A linear layer's matrix is (out, in): what stands at @ between a row and it?"})
def mlp(x, W_1, b_1, W_2, b_2):
    """mlp(x, W_1, b_1, W_2, b_2): (T, d), two linear layers with the tanh form of GELU between them."""
    return gelu(x @ W_1.T + b_1) @ W_2.T + b_2


def _activations(h):
    root, cube = math.sqrt(2 / math.pi), 0.044715
    return [
        (h, "There is no GELU between the two layers, and two linear maps in a row are one linear map."),
        (gelu_exact(h), "This is the exact GELU, with erf, or Φ itself. GPT-2 was trained with the tanh form: loaded "
                        "into the other one its logits would be off in the fourth digit."),
        (torch.relu(h), "This is ReLU: a GELU bends smoothly, and is below zero for small negative numbers."),
        (h * torch.sigmoid(1.702 * h), "This is h·σ(1.702 h), the other approximation in the GELU paper. GPT-2 has the "
                                       "one with tanh."),
        (F.silu(h), "This is h·σ(h), called SiLU or Swish. GPT-2 has the formula with tanh."),
        (h / 2 * (1 + torch.tanh(root * (h + cube * h ** 2))), "The 0.044715 goes with the cube, h³, not the square."),
        (h / 2 * (1 + torch.tanh(root * (h + cube * h) ** 3)), "Only the h beside 0.044715 is cubed. Look at the "
                                                               "brackets."),
        (h / 2 * (1 + torch.tanh(root * (h + (cube * h) ** 3))), "Only h is cubed, not its factor: in Python ** binds "
                                                                 "more tightly than *."),
        (h / 2 * (1 + torch.tanh(root * h + cube * h ** 3)), "The root multiplies both terms: h, and 0.044715·h³."),
        (h / 2 * (1 + torch.tanh(h + cube * h ** 3)), "The factor √(2/π) in front of the bracket is missing."),
        (h / 2 * (1 + torch.tanh(2 / math.pi * (h + cube * h ** 3))), "2/π stands there without its root."),
        (h / 2 * (1 + torch.tanh(root * h)), "The term with the cube is missing."),
        (h * (1 + torch.tanh(root * (h + cube * h ** 3))), "Twice as large as it should be: half of h is multiplied."),
        ((1 + torch.tanh(root * (h + cube * h ** 3))) / 2, "That is the tanh form of Φ alone. GELU is h·Φ(h)."),
        (h / 2 * torch.tanh(root * (h + cube * h ** 3)), "The 1 + in front of the tanh is missing."),
    ]


@mlp.suspect
def _(got, x, W_1, b_1, W_2, b_2):
    if kind(got) != "a tensor":
        return None
    if got.dtype != x.dtype:
        return "Input and result have one dtype. Does a constant in your function have another one?"
    if not got.isfinite().all():
        return ("A tanh put together from exponentials breaks for large numbers: ∞/∞ is not a number. torch.tanh knows "
                "better.")
    h = x @ W_1.T + b_1
    right = gelu(h) @ W_2.T + b_2
    turned = "A linear layer computes x @ W.T. Square matrices fit without the .T, too, and mean something else."
    square = W_1.shape[0] == W_1.shape[1]
    if tuple(got.shape) == (len(x), len(W_1)) != tuple(x.shape):
        return "That is as wide as the hidden layer. The second layer leads back to the width of x."
    return first_match(got, [
        *((value @ W_2.T + b_2, words) for value, words in _activations(h)),
        (gelu(x @ W_1.T) @ W_2.T + b_2, "The first layer's bias b_1 is missing."),
        (gelu(h) @ W_2.T, "The second layer's bias b_2 is missing."),
        (gelu(x @ W_1.T) @ W_2.T, "Both biases are missing."),
        *((gelu(x @ W + b_1) @ V + b_2, turned) for W in (W_1, W_1.T) for V in (W_2, W_2.T) if square),
        ((gelu(x @ W_1.T) + b_1) @ W_2.T + b_2, "b_1 is added before the GELU, not behind it."),
        (gelu(right), "There is a GELU behind the second layer, too: only the hidden layer has one."),
        (gelu(x) @ W_1.T @ W_2.T, "The GELU stands before the first layer: it belongs between the two."),
        ((gelu(x) @ W_1.T + b_1) @ W_2.T + b_2, "The GELU stands before the first layer: it belongs between the two."),
        (x + right, "x was added at the end. The skip belongs to the block, of question 3, not to the MLP."),
    ]) or ("Go through it in three lines: the hidden layer with its bias, the GELU of every number, the second layer "
           "with its bias. Are all brackets of the formula there, and all digits of 0.044715?")


# -- block -----------------------------------------------------------------------------------------------------------

def _told(formula, function):
    """The function with a docstring, which a message shows."""
    function.__doc__ = formula
    return function


PAST = _told("x → each row plus all rows before it", lambda x: x.cumsum(0))
SQUARE = _told("x → x²", lambda x: x * x)
TENFOLD, MORE = _told("x → 10 x", lambda x: 10 * x), _told("x → x + 3", lambda x: x + 3)
FIRST, SECOND = _told("x → x/2 + 1", lambda x: x / 2 + 1), _told("x → 3 − x", lambda x: 3 - x)


def _careful(x, *parts):
    """The parts, as functions that refuse what they cannot take."""
    def careful(part, name):
        def call(y):
            if kind(y) != "a tensor" or y.shape != x.shape:
                found = f"one of shape {tuple(y.shape)}" if kind(y) == "a tensor" else kind(y)
                raise ValueError(f"{name} takes a tensor of shape (T, d_e) = {tuple(x.shape)}, got {found}")
            return part(y)
        return call

    return x, *map(careful, parts, ("attention", "mlp", "norm_1", "norm_2"))


@question((1, 2), {"three tokens": (torch.tensor([[1.0, -2.0], [0.0, 3.0], [2.0, 1.0]]), PAST, SQUARE, FIRST, SECOND),
                   "one token, one number": (torch.tensor([[4.0]]), TENFOLD, MORE, FIRST, SECOND)},
          forbidden=("coursekit.models.gpt2.GPT2Block", "torch.nn.TransformerEncoderLayer"),
          instead="the four functions that you are given", prepare=_careful)
def block(x, attention, mlp, norm_1, norm_2):
    """block(x, attention, mlp, norm_1, norm_2): (T, d), what a pre-norm block of these parts makes of x (T, d)."""
    y = x + attention(norm_1(x))
    return y + mlp(norm_2(y))


@block.suspect
def _(got, x, attention, mlp, norm_1, norm_2):
    y = x + attention(norm_1(x))
    bare, post, other = x + attention(x), norm_1(x + attention(x)), x + attention(norm_2(x))
    first, inner, mlp_first = norm_1(x), x + norm_1(attention(x)), x + mlp(norm_2(x))
    skipless, from_norm, early = attention(norm_1(x)), first + attention(first), x + mlp(norm_1(x))
    return first_match(got, [
        (y, "The MLP never came to anything: what it makes of norm_2 of the stream is added, too."),
        (norm_2(post + mlp(post)),
         "The norms stand *behind* the additions: post-norm, as the transformer of 2017 had it. In GPT-2 they stand "
         "before attention and MLP, and the stream itself is never normalised on the way."),
        (inner + norm_2(mlp(inner)), "The norms are applied to what attention and MLP give. They belong before them: "
                                     "to what attention and MLP read."),
        (skipless + mlp(norm_2(skipless)), "The first skip is missing: attention *adds* to x."),
        (mlp(norm_2(y)), "The second skip is missing: the MLP adds to what attention has left."),
        (mlp(norm_2(skipless)), "Both skips are missing: what comes out of attention and MLP is added to the stream."),
        (from_norm + mlp(norm_2(from_norm)),
         "The skips start from the normalised numbers. x itself goes round attention and MLP; only what they read is "
         "normalised."),
        (norm_2(from_norm) + mlp(norm_2(from_norm)),
         "The skips start from the normalised numbers. x itself goes round attention and MLP; only what they read is "
         "normalised."),
        (norm_2(y) + mlp(norm_2(y)),
         "The second skip starts from the normalised numbers. The stream itself goes round the MLP; only what the MLP "
         "reads is normalised."),
        (norm_2(y + mlp(norm_2(y))), "The result was normalised at the end. The stream itself is returned, as the MLP "
                                     "leaves it."),
        (x + attention(norm_1(x)) + mlp(norm_2(x)),
         "Attention and MLP both read x here. In GPT-2 the MLP reads what attention has left. (Some later models do "
         "run both side by side.)"),
        (x + mlp(norm_2(y)), "The second skip starts from x. The MLP adds to what attention has left."),
        (mlp(attention(x)), "Here neither the norms nor the skips are used."),
        (bare + mlp(bare), "Neither norm is used."), (bare + mlp(norm_2(bare)), "norm_1 is not used."),
        (y + mlp(y), "norm_2 is not used."), (y + mlp(norm_1(y)), "norm_1 is used twice, norm_2 never."),
        (other + mlp(norm_1(other)), "The norms have changed places: norm_1 is attention's, norm_2 the MLP's."),
        (mlp_first + attention(norm_1(mlp_first)), "The MLP comes first here. Attention does."),
        (early + attention(norm_2(early)), "The MLP comes first here. Attention does."),
        (y + mlp(norm_2(attention(norm_1(x)))), "The MLP reads attention's contribution alone. It reads the whole "
                                                "stream, x included."),
        (y + norm_2(mlp(y)), "norm_2 is applied to what the MLP gives. It belongs before it: to what the MLP reads."),
        (2 * x + attention(norm_1(x)) + mlp(norm_2(y)), "x was added twice: it is in what attention has left."),
    ]) or "Draw the stream as a line from x down. Where does something branch off it, where is something added to it?"
