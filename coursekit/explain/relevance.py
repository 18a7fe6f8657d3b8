"""Attention weighted by what it did to the score: the two methods of Chefer, Gur and Wolf, and their rule for
cross-attention.

Weights count where raising them raises the score: Ā = mean over heads of (∇A ⊙ A)⁺. So the explained class matters here
as it does not for raw attention. Scores speak for the *prediction*: for log-odds, for the side that they are on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import torch
from torch import nn

from coursekit.inputs import Document
from coursekit.models import EncoderDecoder, MultiHeadAttention
from coursekit.models.protocols import WhiteBox

from .asking import of_own_tokens, pick_class, require_methods
from .attribution import Attribution


def gradient_attention(model: WhiteBox, document: Document, target: int | str | None = None) -> Attribution:
    """Gradient-weighted attention through all layers: R ← R + Ā R from R = I (Chefer et al., ICCV 2021, Eq. 5 and 6).

    model: a white box. target: a class, for models that have several; by default the likeliest. (Of a single score its
    label is what it speaks for, whatever is predicted.) Unsigned; the read-out row of R, the document's own tokens.

    >>> from types import SimpleNamespace
    >>> from coursekit.models.attention import Trace
    >>> def trace(e):                                                     # one head, read out at row 0: score 1.2 − 0.2
    ...     A = torch.tensor([[[0.2, 0.6, 0.2]] * 3], requires_grad=True)
    ...     return Trace(A[0, 0] @ torch.tensor([0.0, 2.0, -1.0]), [A], [])
    >>> model = SimpleNamespace(tokens=lambda d: ["[CLS]", *d], own=lambda d: [1, 2], readout=0, trace=trace,
    ...                         embed=lambda d: torch.zeros(3, 1))
    >>> gradient_attention(model, ["good", "film"])                       # weight × slope: 0.6 · 2; below 0 is 0
    gradient-weighted attention: good(+1.2) film(0)
    """
    f, maps, target = _traced(model, document, target, "gradient_attention")
    R = _self_relevance(_weighted(f, maps))
    return of_own_tokens(model, document, R[model.readout], "gradient-weighted attention", target, signed=False)


def relevance_attention(model: WhiteBox, document: Document, target: int | str | None = None) -> Attribution:
    """Relevance × gradient: the read-out row of (I + Ā_L) ⋯ (I + Ā_1) with Ā = mean of (∇A ⊙ R_A)⁺, where R_A ≥ 0 is
    the relevance that layer-wise propagation gives to the attention weights (Chefer et al., CVPR 2021, Eq. 13 and 14).

    Relevance is computed by the rules of `relevance_rules`, which differ from the paper's for norms and products, and
    what is negative of it is dropped: the paper's rule (Eq. 5) shares among positive parts only, and the product of a
    negative relevance and a negative slope would count as support. Arguments as for `gradient_attention`.

    >>> from types import SimpleNamespace
    >>> from coursekit.models.attention import Trace
    >>> def trace(e):                                                     # one head, read out at row 0: score 1.2 − 0.2
    ...     A = torch.tensor([[[0.2, 0.6, 0.2]] * 3], requires_grad=True)
    ...     return Trace(A[0, 0] @ torch.tensor([0.0, 2.0, -1.0]), [A], [])
    >>> model = SimpleNamespace(tokens=lambda d: ["[CLS]", *d], own=lambda d: [1, 2], readout=0, trace=trace,
    ...                         embed=lambda d: torch.zeros(3, 1), modules=list, queries_and_keys=list)
    >>> relevance_attention(model, ["good", "film"])                      # slope × relevance: 2 · (0.6 · 2)
    relevance × gradient of attention: good(+2.4) film(0)
    """
    require_methods(model, "embed", "trace", "own", "modules", "queries_and_keys", explainer="relevance_attention")
    f, maps, target = _traced(model, document, target, "relevance_attention")
    with relevance_rules(model):
        g, of_rules, _ = _traced(model, document, target, "relevance_attention")
        slopes = torch.autograd.grad(g, of_rules, allow_unused=True, materialize_grads=True)
    relevance = [(A * slope).clamp(min=0) for A, slope in zip(of_rules, slopes, strict=True)]
    R = _self_relevance(_weighted(f, maps, relevance))
    return of_own_tokens(model, document, R[model.readout], "relevance × gradient of attention", target, signed=False)


@contextmanager
def relevance_rules(model: torch.nn.Module) -> Iterator[None]:
    """Inside, gradient × input *is* layer-wise relevance: what comes out of a layer is shared among its inputs.

    Linear layers share by the ε-rule (ε → 0), which gradient × input is already. A norm's deviation, an activation's
    slope f(x)/x and the attention weights count as constants (Ali et al., ICML 2022, section 3), so that relevance
    flows through values, and no layer but a bias takes or adds any: with all biases 0 the relevances of the inputs sum
    to f. Which layers make queries and keys the model itself tells (`queries_and_keys`).
    Works by hooks on the model's modules, which are taken off at the end.

    >>> net, x = nn.Sequential(nn.GELU()), torch.tensor([2.0], requires_grad=True)
    >>> net.queries_and_keys = list                                       # this one has none
    >>> with relevance_rules(net):
    ...     y = net(x)
    ...     slope, = torch.autograd.grad(y, x)
    >>> round(y.item(), 4), round((x * slope).item(), 4)                  # nothing is lost
    (1.9545, 1.9545)
    """
    require_methods(model, "modules", "queries_and_keys", explainer="relevance_rules")
    constant, hooks = dict(model.queries_and_keys()), []
    for module in model.modules():
        if module in constant:
            hooks.append(module.register_forward_hook(partial(_constant_columns, constant[module])))
        elif isinstance(module, nn.LayerNorm):
            hooks.append(module.register_forward_hook(_linear_norm))
        elif module is not model and _is_activation(module):
            hooks.append(module.register_forward_hook(_constant_slope))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _linear_norm(layer, inputs, output):
    x, = inputs
    deviation = (x.var(-1, unbiased=False, keepdim=True) + layer.eps).sqrt().detach()
    return (x - x.mean(-1, keepdim=True)) / deviation * layer.weight + layer.bias


def _constant_columns(n, layer, inputs, output):
    """The first n columns, queries or keys, cut off from where they come from; the weights they make keep a slope."""
    return torch.cat([output[..., :n].detach().requires_grad_(), output[..., n:]], -1)


def _is_activation(module):
    """A module with nothing inside and nothing learned, that is no dropout either."""
    return not [*module.children(), *module.parameters()] and "Dropout" not in type(module).__name__


def _constant_slope(layer, inputs, output):
    x = inputs[0]
    return x * torch.where(x == 0, 0, output / x).detach()


@torch.inference_mode(False)
def cross_gradient_attention(model: torch.nn.Module, source: torch.Tensor, target: torch.Tensor,
                             place: int) -> np.ndarray:
    """Which source words made an EncoderDecoder say word `place` of its target (Chefer et al., ICCV 2021, Eq. 5 to 11).

    source (1, T_in) and target (1, T_out) ids, target as `model.translate` gave it. Returns relevances (T_in,), through
    the decoder's own past, cross-attention and the encoder; not negative.

    >>> model = EncoderDecoder(D_in=6, D_out=6, d_e=8, K=2)
    >>> scores = cross_gradient_attention(model, torch.tensor([[3, 4, 5, 2]]), torch.tensor([[5, 4, 2]]), place=0)
    >>> scores.shape, bool(scores.min() >= 0)
    ((4,), True)
    """
    if not isinstance(model, EncoderDecoder):
        raise TypeError(f"cross_gradient_attention needs an EncoderDecoder, got {type(model).__name__}")
    with _all_attention(model) as maps:
        logits = model(source, target)
    score = logits[0, place, target[0, place]]
    weighted = dict(zip(maps, _weighted(score, [*maps.values()]), strict=True))
    of_encoder = _self_relevance([A for name, A in weighted.items() if name.startswith("encoder")])
    of_target, across = torch.eye(target.shape[1]).to(logits), logits.new_zeros(target.shape[1], source.shape[1])
    for l in range(len(model.blocks)):
        A = weighted[f"blocks.{l}.attention"]
        of_target, across = of_target + A @ of_target, across + A @ across
        across = across + _normalised(of_target).T @ weighted[f"blocks.{l}.cross"] @ _normalised(of_encoder)
    return across[place].numpy()


@contextmanager
def _all_attention(model):
    """A dictionary that fills with {name of an attention layer: its weights (K, T_q, T)} in a pass of one document."""
    weights, hooks = {}, []
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            hooks.append(module.register_forward_pre_hook(
                lambda layer, args, kwargs: (args[:3], {**kwargs, "need_weights": True}), with_kwargs=True))
            hooks.append(module.register_forward_hook(
                lambda layer, args, output, name=name: weights.update({name: output[1]})))
    try:
        yield weights
    finally:
        for hook in hooks:
            hook.remove()


def _traced(model, document, target, explainer):
    """(score towards the prediction, the L attention maps in its graph, the class)."""
    require_methods(model, "embed", "trace", "own", "readout", explainer=explainer)
    with torch.inference_mode(False):
        trace = model.trace(model.embed(document).detach().requires_grad_())
        scores, number = pick_class(trace.score[None], target, model)
        f = scores[0]
        return (f if target is not None or number is not None or f >= 0 else -f), trace.attentions, number


def _weighted(f, maps, strengths=None):
    """Ā of each map: the mean over heads of (∇A ⊙ strength)⁺, the strength being A itself unless given. (…, T, T)."""
    slopes = torch.autograd.grad(f, maps, allow_unused=True, materialize_grads=True)
    with torch.no_grad():
        strengths = maps if strengths is None else strengths
        return [(slope * strength).clamp(min=0).flatten(0, -3).mean(0)
                for slope, strength in zip(slopes, strengths, strict=True)]


def _self_relevance(weighted):
    """R = (I + Ā_L) ⋯ (I + Ā_1): rows from, columns to."""
    R = torch.eye(weighted[0].shape[-1]).to(weighted[0])
    for A in weighted:
        R = R + A @ R
    return R


def _normalised(R):
    """R with its part beyond the identity scaled to rows that sum to one (their Eq. 8 and 9)."""
    more = R - torch.eye(len(R))
    return more / more.sum(-1, keepdim=True).clamp(min=1e-12) + torch.eye(len(R))
