"""How the score reacts to each token's embedding: the gradient, gradient × input, integrated gradients.

A document is discrete, so the model is split as f = g ∘ e and differentiated at the embeddings e (T, d_e) that
`model.embed` gives. Each token then has a vector of d_e slopes, from which one number is to be made.
"""

import math
import warnings
from functools import cache

import numpy as np
import torch

from coursekit.inputs import Document, as_whole
from coursekit.models.protocols import WhiteBox

from .asking import of_own_tokens, pick_class, require_methods
from .attribution import Attribution

NOISE = 0.15                    # of smooth=: its standard deviation, in those of the document's own embeddings
TOLERANCE = 1e-4                # what may be missing of integrated gradients' sum, in units of the score
REDUCE = {"mean": lambda g: g.mean(-1), "l1": lambda g: g.abs().sum(-1), "l2": lambda g: g.norm(dim=-1)}


def gradient(model: WhiteBox, document: Document, reduce: str | None = None, target: int | str | None = None,
             smooth: int | None = None) -> Attribution:
    """The gradient of the score with respect to each token's embedding, reduced to one number for each token.

    model: a white box. reduce: "mean", G-avg, (1/d_e) Σ_j ∂f/∂e_tj (Atanasova et al., EMNLP 2020), signed, but it
    depends on the basis of the embedding space; "l1", G-L1, Σ_j |∂f/∂e_tj| (Li et al., NAACL 2016); "l2", G-L2, the
    Euclidean norm (Poerner et al., ACL 2018), which no rotation of that space changes. Both norms are unsigned and as
    in Lopardo et al. (2024, section 4.1). Some sources divide by d_e and call G-L1 the mean of |∂f/∂e_tj| and G-L2 the
    mean of its square: that is "l1"/d_e and "l2"²/d_e, and the order of tokens is the same.
    target: a class, for models that score several, by its number or one of the model's `labels`; by default the one
    with the highest score.
    smooth: the mean gradient of so many noisy copies, 50 say, is taken (SmoothGrad, Smilkov et al., 2017): to all
    entries of the document's own embeddings normal noise is added, the same on each call, with 0.15 of their standard
    deviation. (Images take 0.1 to 0.2 of their range; a text's range is wider, and its prediction would be lost.)

    Where the embeddings are read only through layer norms, as in BERT, GPT-2 and `TransformerClassifier`, the mean is
    zero: adding one number to all coordinates of e_t changes nothing, and what is left is rounding. There reduce=None
    takes "l2", elsewhere "mean" (`method` and `signed` of the result tell which), and "mean" warns.

    >>> from types import SimpleNamespace
    >>> product = SimpleNamespace(tokens=list, own=lambda d: [0, 1], embed=lambda d: torch.tensor([[2.0], [5.0]]),
    ...                           from_embeddings=lambda e: e.prod(-2)[..., 0])
    >>> gradient(product, ["two", "five"])                                # f = e₁ e₂ has the slopes e₂ and e₁
    gradient (mean): two(+5) five(+2)
    """
    if reduce is not None and reduce not in REDUCE:
        raise ValueError(f"reduce must be one of {', '.join(map(repr, REDUCE))}, got {reduce!r}")
    require_methods(model, "own", "embed", "from_embeddings", explainer="gradient")
    _, g, target = _slopes_at(model, document, target, smooth)
    zero = g.mean(-1).abs().max() < 1e-5 * g.norm(dim=-1).max()
    reduce = reduce or ("l2" if zero else "mean")
    if zero and reduce == "mean":
        warnings.warn("the mean of the gradient is zero but for rounding, as layer norms make it: "
                      "take reduce='l2', or gradient_x_input with baseline='unk'", stacklevel=2)
    return of_own_tokens(model, document, REDUCE[reduce](g), f"{'SmoothGrad' if smooth else 'gradient'} ({reduce})",
                         target, dict(smooth=smooth) if smooth else {}, signed=reduce == "mean")


def gradient_x_input(model: WhiteBox, document: Document, baseline: str | None = None,
                     target: int | str | None = None, smooth: int | None = None) -> Attribution:
    """Gradient × input: each token's gradient times its embedding, the number e_t · ∇_{e_t} f (Denil et al., 2014).

    model: a white box. With a `baseline`, "unk", "pad" or "zero" (see the model's `baseline`), the product is with
    e_t − e_t⁰ instead: to first order what the score loses when the token's embedding becomes e_t⁰.
    target, smooth: as for `gradient`; the mean gradient is multiplied by the embedding without noise.

    >>> from types import SimpleNamespace
    >>> product = SimpleNamespace(tokens=list, own=lambda d: [0, 1], embed=lambda d: torch.tensor([[2.0], [5.0]]),
    ...                           baseline=lambda d, kind: torch.zeros(2, 1),
    ...                           from_embeddings=lambda e: e.prod(-2)[..., 0])
    >>> gradient_x_input(product, ["two", "five"])                        # f = e₁ e₂ = 10: each gets all of it
    gradient × input: two(+10) five(+10)
    """
    require_methods(model, "own", "embed", "baseline", "from_embeddings", explainer="gradient_x_input")
    e, g, target = _slopes_at(model, document, target, smooth)
    step = e if baseline is None else e - model.baseline(document, baseline).detach()
    scores = (g * step).sum(-1)
    name, about = ("SmoothGrad × input", dict(smooth=smooth)) if smooth else ("gradient × input", {})
    return of_own_tokens(model, document, scores, name, target, dict(baseline=baseline, **about))


def integrated_gradients(model: WhiteBox, document: Document, baseline="unk", n_nodes: int | None = None,
                         target: int | str | None = None) -> Attribution:
    """Integrated gradients: (e_t − e_t⁰) · ∫₀¹ ∇_{e_t} f(e⁰ + a (e − e⁰)) da (Sundararajan et al., ICML 2017, Eq. 1).

    model: a white box. baseline: e⁰, "unk", "pad" or "zero": the document with every own token replaced by [UNK],
    padding or the zero vector (see the model's `baseline`). n_nodes: the path is looked at in so many Gauss–Legendre
    nodes; None takes as many as it needs, and finds the kinks of ReLU networks (see `path_integral`), or 32 of a model
    in half precision (which tells its relative `rounding`), as more would not mend that. target: as for `gradient`.
    A long document and six layers with ReLUs may take a minute.

    The scores sum to f(x) − f(baseline) (completeness, their Proposition 1), less `about["remainder"]`, which is what
    the quadrature misses: with n_nodes=None at most 1e-4 on all models of this course. Warns where it exceeds one
    percent of Σ|scores| and what rounding may leave. A remainder of 0 is necessary, not sufficient (`path_integral`).

    >>> from types import SimpleNamespace
    >>> product = SimpleNamespace(tokens=list, own=lambda d: [0, 1], embed=lambda d: torch.tensor([[2.0], [5.0]]),
    ...                           baseline=lambda d, kind: torch.zeros(2, 1),
    ...                           from_embeddings=lambda e: e.prod(-2)[..., 0])
    >>> integrated_gradients(product, ["two", "five"], baseline="zero")   # f = e₁ e₂ = 10, and 0 at the baseline
    integrated gradients: two(+5) five(+5)
    """
    require_methods(model, "own", "embed", "baseline", "from_embeddings", explainer="integrated_gradients")
    rounding = getattr(model, "rounding", 1e-6)
    n_nodes = 32 if n_nodes is None and rounding > 1e-4 else n_nodes
    e = model.embed(document).detach()
    with torch.no_grad():
        target = pick_class(model.from_embeddings(e[None]), target, model)[1]

    def f(points):
        return pick_class(model.from_embeddings(points), target)[0]

    chunk = max(1, 1024 // len(e))                                               # tokens at once: bounds the memory
    scores, about = path_integral(f, e, model.baseline(document, baseline).detach(), n_nodes, chunk=chunk,
                                  rounding=rounding)
    about = dict(baseline=baseline, **about)
    return of_own_tokens(model, document, scores.sum(-1), "integrated gradients", target, about)


def slopes(f, e):
    """Gradients (n, …) of f at n points e (n, …), where f takes such a batch and returns (n,).

    >>> slopes(lambda e: e.square().sum(-1), torch.tensor([[1.0, 2.0]]))
    tensor([[2., 4.]])
    """
    return _values_and_slopes(f, e)[1]


def path_integral(f, e, start, n_nodes=None, chunk=16, rounding=1e-6):
    """Integrated gradients of f from the point `start` to e, one number for each entry, and how complete they are.

    f: takes points (n, …), returns (n,). e, start: tensors (…). Returns (scores (…), {"n_nodes": …, "remainder":
    f(e) − f(start) − Σ scores}). At most `chunk` points go through f at once. rounding: what f's values are off by,
    relatively.
    n_nodes=None: 4, 8, 16 and 32 Gauss–Legendre nodes, for smooth f (where the last step was far smaller than the one
    before, or with 64 becomes so) 64 and 128, too, then, for ReLU networks, 64, 128, … 4096 pieces whose kinks are
    located, until |remainder| ≤ 1e-4 (or is what rounding may leave) *and* the scores have settled: they differ from
    those before by a thousandth. A sum can be right by accident: one entry's error may be another's.

    >>> def f(x):                                            # 1 − ReLU(1 − x): flat beyond x = 1
    ...     return 1 - (1 - x).relu()
    >>> two, zero = torch.tensor(2.0), torch.tensor(0.0)
    >>> abs(slopes(f, two[None]).item()), round(path_integral(f, two, zero)[0].item(), 6)
    (0.0, 1.0)
    """
    step = e - start
    with torch.no_grad():
        values = f(torch.stack([e, start]))
    change, largest = (values[0] - values[1]).item(), values.abs().max().item()
    if n_nodes is None:
        rules = [*((_smooth, 2**k) for k in range(2, 8)), *((_kinked, 2**k) for k in range(6, 13))]
    else:
        rules = [(_smooth, n_nodes)]
    before, last, smooth, hopeful = torch.full_like(e, math.inf), math.inf, True, True
    for rule, n in rules:
        if rule is _smooth and n > 32 and not (smooth or hopeful and n == 64):
            continue
        scores = rule(f, start, step, n, chunk) * step
        remainder, moved = change - scores.sum().item(), (scores - before).norm().item()
        known, smooth, hopeful = smooth, moved < last / 8, moved < 0.4 * last    # kinks, twice the nodes: half of it
        if rule is _smooth and n == 64 and not (known or smooth):                # it was not, and counts for nothing
            continue
        before, last = scores, moved
        if abs(remainder) <= max(TOLERANCE, rounding * largest) and moved <= 1e-3 * scores.norm() + rounding * largest:
            break
    size = scores.abs().sum().item()
    if abs(remainder) > max(TOLERANCE, 0.01 * size, rounding * (largest + size)):
        warnings.warn(f"integrated gradients with {n} nodes miss {remainder:.1g} of the score's change by "
                      f"{change:.3g}: " + ("the score jumps" if n_nodes is None else "take more n_nodes"), stacklevel=3)
    return scores, dict(n_nodes=n, remainder=remainder)


def _smooth(f, start, step, n, chunk):
    """The mean gradient along the path, by n Gauss–Legendre nodes."""
    mean = torch.zeros_like(step)
    for a, weight in zip(*(x.to(step).tensor_split(math.ceil(n / chunk)) for x in gauss_legendre(n)), strict=True):
        mean += torch.tensordot(weight, slopes(f, start + _along(a, step)), 1)
    return mean


def _kinked(f, start, step, n, chunk):
    """The mean gradient along the path, by n pieces, each a weighted mean of the gradients g, g′ at its two ends.

    The weights 1/2 ∓ c are such that the slope along the path has the mean that the change of f tells. Where the slope
    jumps once on a piece and is constant on either side, that puts the jump where it is; c stays within ±1/2.
    """
    mean, at = torch.zeros_like(step), torch.linspace(0, 1, n + 1).to(step)
    for i in range(0, n, chunk):
        value, g = _values_and_slopes(f, start + _along(at[i:i + chunk + 1], step))          # of chunk + 1 points
        slope = (g * step).flatten(1).sum(1)
        c = (value.diff() * n - (slope[1:] + slope[:-1]) / 2) / slope.diff()
        c = c.nan_to_num().clamp(-0.5, 0.5)
        mean += (torch.tensordot(0.5 - c, g[:-1], 1) + torch.tensordot(0.5 + c, g[1:], 1)) / n
    return mean


def _values_and_slopes(f, e):
    """f's values (n,) and gradients (n, …) at n points e (n, …)."""
    with torch.inference_mode(False):                                            # gradients are on, whatever is around
        e = e.detach().clone().requires_grad_()
        value = f(e)
        return value.detach(), torch.autograd.grad(value.sum(), e)[0]


def _along(a, step):
    """The products a · step (n, …) of n numbers and a tensor (…)."""
    return a.reshape(-1, *[1] * step.dim()) * step


@cache
def gauss_legendre(n):
    """Nodes and weights (n,) that integrate every polynomial of degree 2n − 1 over [0, 1] exactly.

    >>> [part.tolist() for part in gauss_legendre(1)]                      # one node: the middle
    [[0.5], [1.0]]
    """
    nodes, weights = np.polynomial.legendre.leggauss(as_whole(n, "n_nodes", 1))
    return torch.tensor((nodes + 1) / 2), torch.tensor(weights / 2)


def _slopes_at(model, document, target, smooth=None):
    """Embeddings e (T, d_e) of the document, the gradient (T, d_e) of its score there, or the mean one of `smooth`
    noisy copies, and the class."""
    with torch.inference_mode(False):
        e = model.embed(document).detach().requires_grad_()
        score, target = pick_class(model.from_embeddings(e[None]), target, model)
        e, g = e.detach(), torch.autograd.grad(score.sum(), e)[0]
    if smooth is not None:
        parts = noisy_copies(model, document, e, as_whole(smooth, "smooth", 1)).split(max(1, 1024 // len(e)))
        g = torch.cat([slopes(lambda part: pick_class(model.from_embeddings(part), target)[0], part)
                       for part in parts]).mean(0)
    return e, g, target


def noisy_copies(model, document, e, n):
    """n copies (n, T, d_e) of embeddings e (T, d_e) with noise on the rows of the document's own tokens, but for those
    that stand between two texts."""
    tokens, between = model.tokens(document), getattr(model, "separator", [])
    rows = [row for row in model.own(document) if tokens[row] not in between]
    copies, random = e.repeat(n, 1, 1), torch.Generator().manual_seed(0)
    if rows:
        noise = torch.randn(n, len(rows), e.shape[1], generator=random).to(e)
        copies[:, rows] += NOISE * e[rows].std(correction=0) * noise
    return copies
