"""Checks of assignment 03: layer norm, also of a part of the stream; the MLP, also to first order."""

import functools
import math

import torch

from coursegrade.kit.cases import rounded
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.question import question
from coursegrade.kit.same import difference
from coursegrade.kit.services import run

__all__ = ["to_the_digit", "layer_norm", "mlp"]


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
PART = torch.tensor([[1.0, 0.0, 0.0, 3.0], [2.0, -1.0, 1.0, 6.0]])
GAIN, SHIFT = torch.tensor([1.0, 1.0, 2.0, -3.0]), torch.tensor([0.0, 1.0, -2.0, 5.0])
THIRDS = 100_000 + ROWS.double() / 3                                    # not to be had in single precision
FAR = 1000 + torch.tensor([[0.0, 0.25, 0.5, 1.25], [-0.5, 0.25, 0.25, 1.0]])    # sums without rounding


def _biased(variance, eps, d):
    return torch.sqrt(variance * d / (d - 1) + eps)


@question((1, 2), {"a large eps": (ROWS, GAIN, SHIFT, 3.75), "a small eps": (ROWS, GAIN, SHIFT, 1e-5),
                   "small numbers, and no eps": (ROWS / 1000, GAIN, SHIFT, 0),
                   "equal numbers in a row": (torch.full((1, 4), 7.0), GAIN, SHIFT, 1e-5),
                   "numbers near 1000": (FAR, GAIN, SHIFT, 1e-5), "a single row": (ROWS[0], GAIN, SHIFT, 0.5),
                   "a batch of tables": (torch.stack([ROWS, 2 - ROWS, FAR - 999]), GAIN, SHIFT, 0.5),
                   "double precision": (THIRDS, GAIN.double(), SHIFT.double(), 1e-5),
                   "a part of x": (ROWS, GAIN, SHIFT, 0.5, PART),
                   "a part of a row": (ROWS[1], GAIN, SHIFT, 1e-5, PART[1])},
          returns="(..., d)", instead="a mean, a variance and a root",
          forbidden=("torch.nn.functional.layer_norm", "torch.native_layer_norm", "torch.nn.LayerNorm",
                     "torch.nn.functional.group_norm", "torch.nn.functional.rms_norm", "torch.instance_norm",
                     "torch.batch_norm", "coursekit.models.layer_norm"),
          otherwise="Compute a row by hand: its mean, the mean of the squared distances from it, the root of that plus "
                    "eps. With a part: the part minus its own mean, over x's root, times the gain.",
          hints={"shapes": "Do mean and variance keep their axis, so that there is one of each for a row?"})
def layer_norm(x, gain, shift, eps, part=None):
    """layer_norm(x, gain, shift, eps, part): (..., d), every row of x to mean 0 and variance 1, times gain, plus shift;
    with a part, what this summand of x contributes to that."""
    return _normed(x, gain, shift, eps, part)


def _normed(x, gain, shift, eps, part=None, *, width=lambda variance, eps, d: torch.sqrt(variance + eps), axis=-1,
            centre=True, around_0=False, mix=lambda rows, gain, shift: gain * rows + shift,
            its=lambda centred, gain, shift: gain * centred, part_mean=None, own_root=False):
    """layer_norm, with one thing done in another way. (Nothing here bears the name of what answers must not call.)"""
    mean = x.mean(axis, keepdim=True)
    root = width((x - (0 if around_0 else mean)).square().mean(axis, keepdim=True), eps, x.shape[-1])
    if part is None:
        return mix((x - mean if centre else x) / root, gain, shift)
    own = part - part.mean(-1, keepdim=True)
    root = torch.sqrt(own.square().mean(-1, keepdim=True) + eps) if own_root else root
    return its((part - part_mean(x) if part_mean else own) / root, gain, shift)


def _way(**knobs):
    return functools.partial(_normed, **knobs)


def _squares(x, gain, shift, eps, part=None):
    return _normed(x, gain, shift, eps, part, width=lambda _, eps, d: torch.sqrt(
        (x * x).mean(-1, keepdim=True) - x.mean(-1, keepdim=True) ** 2 + eps))


UNUSED = "The argument eps does not come in: it is added to the variance, under the root."

layer_norm.mistakes(
    ("The variance is divided by d − 1 here, as torch's .var() and .std() do unless they are told otherwise. A layer "
     "norm divides by d: it describes this row, and estimates nothing. (`correction=0`)", _way(width=_biased)),
    ("eps stands outside the root. It is added to the variance, under the root.",
     _way(width=lambda variance, eps, d: variance.sqrt() + eps)),
    *((UNUSED, _way(width=lambda variance, eps, d, fixed=fixed: torch.sqrt(variance + fixed))) for fixed in (0, 1e-5)),
    ("Divided by the variance: its *root* makes the variance 1.", _way(width=lambda variance, eps, d: variance + eps)),
    ("The mean of each row is 0 now; the division that makes its variance 1 is missing.",
     _way(width=lambda variance, eps, d: 1)),
    ("The mean was not taken away from the numbers.", _way(centre=False)),
    ("Divided by the root of the mean square: that is RMS norm, which newer models use. A layer norm takes the mean "
     "away first.", _way(centre=False, around_0=True)),
    ("The rows are normalised; gain and shift are still to be applied.", _way(mix=lambda rows, gain, shift: rows)),
    ("The shift is missing.", _way(mix=lambda rows, gain, shift: gain * rows)),
    ("The gain is missing.", _way(mix=lambda rows, gain, shift: rows + shift)),
    ("The shift is multiplied by the gain, too: it is added at the very end.",
     _way(mix=lambda rows, gain, shift: gain * (rows + shift))),
    ("Mean and variance run along axis 0, over the tokens. Each token's row stands by itself: the last axis.",
     _way(axis=0)),
    ("One mean and one variance were taken for the whole table. Each row has its own.",
     lambda x, *others: _normed(x, *others, axis=tuple(range(x.dim())))),
    ("Nearly right: digits got lost. Was the variance computed as (mean of the squares) − (square of the mean)? Near "
     "1000 that is the small difference of two numbers near 1,000,000. First take the mean away, then square.",
     _squares),
    ("The part plays no role here: with `part` given, what this part contributes is asked for, not the whole.",
     lambda x, gain, shift, eps, part=None: _normed(x, gain, shift, eps)),
    ("The part was normalised by its own root. It is divided by x's: only then do the parts of x add up.",
     _way(own_root=True)),
    ("The shift was added to the part. It is no part of x: the parts and the shift together make the norm of x.",
     _way(its=lambda centred, gain, shift: gain * centred + shift)),
    ("No mean was taken away from the part. Its own is: the means of all parts add up to that of x.",
     _way(part_mean=lambda x: 0)),
    ("The gain is missing where there is a part.", _way(its=lambda centred, gain, shift: centred)))


# -- mlp -------------------------------------------------------------------------------------------------------------

def _linear(d, d_h, seed):
    shapes = (d_h, d), (d_h,), (d, d_h), (d,)
    return tuple(rounded(*shape, seed=seed + i) for i, shape in enumerate(shapes))


SPREAD = torch.tensor([[-3.0, -1.0, 0.0, 0.5, 2.0]])
PLAIN = torch.eye(5), torch.zeros(5), torch.eye(5), torch.zeros(5)      # the GELU alone
ROOT, CUBE = math.sqrt(2 / math.pi), 0.044715


def _exactly(answer, arguments):
    to_the_digit(answer, [part.double() for part in arguments], mlp.reference,
                 "Nearly right: are the numbers of the formula, √(2/π) and 0.044715, there with all their digits? Is "
                 "the derivative that of the tanh form, and a formula rather than a small difference?")


def _tanh_form(h):
    return h / 2 * (1 + torch.tanh(ROOT * (h + CUBE * h ** 3)))


def _erf_form(h):
    return h / 2 * (1 + torch.erf(h / math.sqrt(2)))


def _slope(h, inner=lambda h: 1 + 3 * CUBE * h ** 2, first=1, second=1):
    """The derivative of GELU's tanh form: Φ̃ + h Φ̃′."""
    t = torch.tanh(ROOT * (h + CUBE * h ** 3))
    return first * (1 + t) / 2 + second * h / 2 * (1 - t ** 2) * ROOT * inner(h)


@question((1, 3), {"identity matrices": (SPREAD, *PLAIN), "two tokens": (rounded(2, 3, seed=50), *_linear(3, 12, 51)),
                   "large numbers": (50 * SPREAD, *PLAIN),
                   "double precision": (SPREAD.double(), *(part.double() for part in PLAIN)),
                   "a change, identity matrices": (SPREAD, *PLAIN, torch.ones(1, 5)),
                   "a change of two tokens": (rounded(2, 3, seed=50), *_linear(3, 12, 51), rounded(2, 3, seed=58)),
                   "a change of large numbers": (50 * SPREAD, *PLAIN, torch.ones(1, 5)),
                   "a change of numbers near 10¹⁵": (1e15 * SPREAD.double(), *(part.double() for part in (
                       *PLAIN, torch.ones(1, 5))))},
          forbidden=("torch.nn.functional.gelu", "torch.nn.GELU", "coursekit.models.gelu",
                     "torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward", "torch.func.jvp",
                     "torch.func.vjp", "torch.func.grad", "torch.autograd.functional.jvp"),
          instead="the formulas", tolerance=(1e-3, 1e-5), also=_exactly, returns="(T, d_e)",
          otherwise="Go through it in three lines: the hidden layer with its bias, the GELU of every number, the "
                    "second layer with its bias. Are all brackets of the formula there, and all digits of 0.044715? "
                    "With a change: the change goes through both matrices, without biases, and is multiplied by the "
                    "slope of the GELU in between.",
          hints={"shapes": "A linear layer's matrix is (out, in): what stands at @ between a row and it?",
                 "takes 5 positional|'gelu' is not defined": "The lecture's function knows no `change`, and its gelu "
                                                            "stands in another cell. Here you write both."})
def mlp(x, W_1, b_1, W_2, b_2, change=None, *, act=_tanh_form, slope=_slope, first=lambda x, W, b: x @ W.T + b,
        second=lambda h, W, b: h @ W.T + b, biased=0):
    """mlp(x, W_1, b_1, W_2, b_2, change): (T, d), two linear layers with the tanh form of GELU between them; with a
    change of x, by how much that moves the output, to first order."""
    h = first(x, W_1, b_1)
    if change is None:
        return second(act(h), W_2, b_2)
    return (slope(h) * (change @ W_1.T + biased * b_1)) @ W_2.T + biased * b_2


def _difference(*parts):
    """A central difference, in double precision, in place of the derivative."""
    x, *layers, change = (part.double() for part in parts)
    ahead, behind = (mlp.reference(x + step * change, *layers) for step in (1e-5, -1e-5))
    return ((ahead - behind) / 2e-5).to(parts[0].dtype)


SMALL = ("Is that a difference of two outputs, or of two GELUs? Among numbers near 10¹⁵ it drowns in rounding. The "
         "slope is asked for as a formula, by the product and the chain rule.")

mlp.mistakes(
    ("There is no GELU between the two layers, and two linear maps in a row are one linear map.",
     dict(act=lambda h: h)),
    ("This is the exact GELU, with erf, or Φ itself. GPT-2 was trained with the tanh form: loaded into the other one "
     "its logits would be off in the fourth digit.", dict(act=_erf_form)),
    ("This is ReLU: a GELU bends smoothly, and is below zero for small negative numbers.", dict(act=torch.relu)),
    ("The root multiplies both terms: h, and 0.044715·h³.",
     dict(act=lambda h: h / 2 * (1 + torch.tanh(ROOT * h + CUBE * h ** 3)))),
    ("Twice as large as it should be: half of h is multiplied.",
     dict(act=lambda h: h * (1 + torch.tanh(ROOT * (h + CUBE * h ** 3))))),
    ("That is the tanh form of Φ alone. GELU is h·Φ(h).",
     dict(act=lambda h: (1 + torch.tanh(ROOT * (h + CUBE * h ** 3))) / 2)),
    ("The first layer's bias b_1 is missing.", dict(first=lambda x, W, b: x @ W.T)),
    ("The second layer's bias b_2 is missing.", dict(second=lambda h, W, b: h @ W.T)),
    ("b_1 is added before the GELU, not behind it.",
     lambda x, W_1, b_1, W_2, b_2, change=None: mlp.reference(
         x, W_1, b_1, W_2, b_2, change, first=lambda x, W, b: x @ W.T, act=lambda h: _tanh_form(h) + b_1)),
    ("x was added at the end. The skip belongs to the block, not to the MLP.",
     lambda x, *others: x + mlp.reference(x, *others)),
    ("The change plays no role here: with `change` given, by how much the output moves is asked for, not the output.",
     lambda x, W_1, b_1, W_2, b_2, change=None: mlp.reference(x, W_1, b_1, W_2, b_2)),
    ("That is the output of x + change, less that of x. To first order the change is multiplied by the slope at x.",
     lambda x, W_1, b_1, W_2, b_2, change=None: mlp.reference(x, W_1, b_1, W_2, b_2) if change is None else
     mlp.reference(x + change, W_1, b_1, W_2, b_2) - mlp.reference(x, W_1, b_1, W_2, b_2)),
    (SMALL, lambda *parts: _difference(*parts) if len(parts) > 5 else mlp.reference(*parts)),
    ("That is the output for the change alone. Near x the GELU acts as its slope at x says.",
     lambda x, W_1, b_1, W_2, b_2, change=None: mlp.reference(x if change is None else change, W_1, b_1, W_2, b_2)),
    ("The slope of the GELU is missing: each hidden number's change is multiplied by the slope there.",
     dict(slope=torch.ones_like)),
    ("The product rule has a second half: h/2 times the slope of the tanh.", dict(slope=lambda h: _slope(h, second=0))),
    ("The product rule has a first half: ½ (1 + tanh …), the slope of h/2 times the rest.",
     dict(slope=lambda h: _slope(h, first=0))),
    ("The chain rule goes one step further in: the bracket h + 0.044715·h³ has the slope 1 + 3·0.044715·h².",
     dict(slope=lambda h: _slope(h, inner=torch.ones_like))),
    ("That is the slope of the exact GELU, Φ(h) + h·φ(h). Here it is the tanh form's.",
     dict(slope=lambda h: (1 + torch.erf(h / math.sqrt(2))) / 2
          + h * torch.exp(-h ** 2 / 2) / math.sqrt(2 * math.pi))),
    ("In double precision it comes to another result: does a constant in your function have a dtype of its own?",
     lambda *parts: mlp.reference(*(part.float() for part in parts))),
    ("A change passes a linear layer without its bias: the bias is the same before and after.", dict(biased=1)))


@mlp.suspect
def _(got, x, W_1, b_1, W_2, b_2, change=None):
    if not got.isfinite().all():
        return ("A tanh put together from exponentials breaks for large numbers: ∞/∞ is not a number. torch.tanh knows "
                "better.")
    if change is not None and x.abs().max() > 1e14:                     # and all was right before
        return SMALL
    turned = "A linear layer computes x @ W.T. Square matrices fit without the .T, too, and mean something else."
    square = change is None and W_1.shape[0] == W_1.shape[1]
    ways = [_tanh_form(x @ W + b_1) @ V + b_2 for W in (W_1, W_1.T) for V in (W_2, W_2.T)][:-1] if square else []
    return turned if any(torch.allclose(got, way, 1e-3, 1e-5) for way in ways) else None
