"""Checks of assignment 02, second half: several heads, a test of equivariance, a folded head."""

import math

import torch

from attention_questions.library import ATTENTIONS
from coursegrade.kit.cases import rounded
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.question import question
from coursegrade.kit.same import difference, kind, same
from coursekit.models import causal_mask, scaled_dot_product_attention, sinusoidal_positions

from .one_head import softmax

__all__ = ["multi_head", "known", "is_equivariant", "fold"]

# -- multi_head ------------------------------------------------------------------------------------------------------

def _stacked(T, d_e, d_att, d_out, K, seed):
    """Arguments of multi_head, small, so that no map is all zeros and ones."""
    shapes = (T, d_e), (K * d_att, d_e), (K * d_att, d_e), (K * d_out, d_e), (d_e, K * d_out)
    return (*(rounded(*shape, seed=seed + i) / 2 for i, shape in enumerate(shapes)), K)


def _by_rows(x, K):
    return torch.stack(x.chunk(K, -1))                                  # (T, K·d) → (K, T, d)


@question((1, 2), {"two heads": _stacked(T=5, d_e=6, d_att=4, d_out=3, K=2, seed=4),
                   "one head": _stacked(T=4, d_e=3, d_att=2, d_out=5, K=1, seed=20),
                   "three heads": _stacked(T=4, d_e=5, d_att=2, d_out=1, K=3, seed=30)},
          returns="output (T, d_e), A (K, T, T)", forbidden=ATTENTIONS, lend=("softmax", "self_attention"),
          instead="your self_attention, or matrix products and your softmax",
          hints={"shapes": "Are the matrices cut by rows? And the heads' outputs put side by side (dim=1)?"},
          otherwise="Look at one head alone: are its queries and keys the rows i·d_att to (i + 1)·d_att of W_q and "
                    "W_k, times e? Then the heads' outputs side by side, head after head, before W_o.")
def multi_head(e, W_q, W_k, W_v, W_o, K, *, split=_by_rows, scale=None, axis=-1,
               join=lambda heads: torch.cat(list(heads), -1), mix=lambda joined, W_o: joined @ W_o.T):
    """multi_head(e, W_q, W_k, W_v, W_o, K): (output (T, d_e), A (K, T, T)) of K heads, stacked in W_q, W_k, W_v."""
    q, k, v = (split(e @ W.T, K) for W in (W_q, W_k, W_v))              # (K, T, d) each
    A = softmax.reference(q @ k.mT / (scale(e, W_q) if scale else math.sqrt(q.shape[-1])), axis)
    return mix(join(A @ v), W_o), A


def _one_map_for_all(e, W_q, W_k, W_v, W_o, K):
    first = W_q.chunk(K)[0].repeat(K, 1), W_k.chunk(K)[0].repeat(K, 1)
    return multi_head.reference(e, *first, W_v, W_o, K)


def _values_by_keys(e, W_q, W_k, W_v, W_o, K):
    d_att, values = len(W_q) // K, e @ W_v.T
    _, A = multi_head.reference(e, W_q, W_k, W_v, W_o, K)
    return torch.cat([A_i @ values[:, i * d_att:(i + 1) * d_att] for i, A_i in enumerate(A)], 1) @ W_o.T, A


def _heads_by_embedding(e, W_q, W_k, W_v, W_o, K):
    d = e.shape[1] // K
    q, k = (torch.stack([e @ W[i * d:(i + 1) * d].T for i in range(K)]) for W in (W_q, W_k))
    A = torch.softmax(q @ k.mT / math.sqrt(d), -1)
    return torch.cat(list(A @ _by_rows(e @ W_v.T, K)), -1) @ W_o.T, A


def _among_heads(e, W_q, W_k, W_v, W_o, K):
    q, k, v = ((e @ W.T).view(len(e), K, -1) for W in (W_q, W_k, W_v))
    A = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    return (A @ v).flatten(1) @ W_o.T, A


multi_head.mistakes(
    ("W_v has K·d_out rows: is it cut by d_out, not by d_att?", _values_by_keys),
    ("The heads are interleaved: head i took every K-th row. Head 0 has the first d_att rows of W_q, head 1 the next "
     "ones: split(d_att), or a reshape to (T, K, d_att).",
     dict(split=lambda x, K: torch.stack([x[:, i::K] for i in range(K)]))),
    ("Tokens and heads got mixed: reshape (T, K·d_att) to (T, K, d_att) first, then move K to the front by "
     "transpose. A reshape straight to (K, T, d_att) cuts elsewhere.",
     dict(split=lambda x, K: x.reshape(K, len(x), -1))),
    ("The heads were cut by d_e // K rows. The size of a head is the number of rows of W_q, over K.",
     _heads_by_embedding),
    ("All heads have the same map. Each has rows of its own in W_q and W_k.", _one_map_for_all),
    ("Here heads look at heads, for each token. The heads come to the front before the product: (K, T, d_att).",
     _among_heads),
    ("The heads stand in the wrong order: the first d_att rows are head 0.",
     dict(split=lambda x, K: _by_rows(x, K).flip(0))),
    ("The scores are not scaled: where is √d_att?", dict(scale=lambda e, W_q: 1.0)),
    ("The scores are divided by the root of K·d_att, the size of all heads together. Each head divides by the root of "
     "its own size.", dict(scale=lambda e, W_q: len(W_q) ** 0.5)),
    ("The scores are divided by √d_e. Each head divides by √d_att.", dict(scale=lambda e, W_q: e.shape[1] ** 0.5)),
    ("The columns sum to one, the rows should: is the softmax over the wrong axis?", dict(axis=1)),
    ("The heads stand side by side, as they should, but W_o did not mix them.", dict(mix=lambda joined, W_o: joined)),
    ("W_o acts from the wrong side. With a row for each token, W_o x becomes x @ W_o.T.",
     dict(mix=lambda joined, W_o: joined @ W_o)),
    ("The heads' outputs were averaged. They are put side by side: torch.cat.",
     lambda e, W_q, W_k, W_v, W_o, K: multi_head.reference(
         e, W_q, W_k, W_v, W_o, K, join=lambda heads: heads.mean(0).repeat(1, K))),
    ("The heads' outputs stand in the wrong order.",
     dict(join=lambda heads: torch.cat(list(heads.flip(0)), -1))),
    ("The maps are right, the output is not: a reshape of (K, T, d) to (T, K·d) mixes tokens and heads, unless T comes "
     "first before it.", dict(join=lambda heads: heads.reshape(heads.shape[1], -1))))


@multi_head.suspect
def _(got, e, W_q, W_k, W_v, W_o, K):
    output, A = got
    right, _ = multi_head.reference(e, W_q, W_k, W_v, W_o, K)
    if same(output, right) and not (kind(A) == "a tensor" and A.dim() == 3):
        return "The output is right. Put the maps on top of each other: torch.stack gives (K, T, T)."
    if len(A) != K:
        return (f"There are {len(A)} maps, one for each of {K} heads is due. `chunk(n)` cuts into n parts, `split(n)` "
                "into parts of n rows.")
    return None


# -- is_equivariant --------------------------------------------------------------------------------------------------

def known(layer, equivariant):
    """A layer, (T, d) → (T, d), of which it is known whether it is permutation equivariant."""
    layer.equivariant, layer.calls = equivariant, []
    return layer


def _attend(positions=False, mask=None):
    def layer(e):
        e = e + sinusoidal_positions(*e.shape) if positions else e
        return scaled_dot_product_attention(e, 2 * e, e, mask)[0]
    return layer


def _bare(layer, T, d):
    """The layer without its truth; it counts its calls and refuses what it cannot take."""
    def bare(e):
        if kind(e) != "a tensor" or tuple(e.shape) != (T, d) or not e.is_floating_point():
            found = f"{kind(e)} of shape {tuple(e.shape)}, {e.dtype}" if kind(e) == "a tensor" else kind(e)
            raise ValueError(f"layer takes a tensor of shape (T, d) = {(T, d)} with floating-point numbers, got "
                             f"{found}")
        layer.calls.append(1)
        return layer(e.detach().float().clone())

    layer.calls.clear()
    return bare, T, d


def _first_if_largest(e):
    """Adds one to the first row if it has the largest number of the first column: most orders do not show it."""
    return e + (torch.arange(len(e))[:, None] == 0) * (e[:, 0].argmax() == 0)


def _several_tries(answer, arguments):
    layer, T, _ = arguments
    if layer.equivariant and T > 2 and len(layer.calls) <= 2:
        raise CheckFailed("One input in one order does not show much, and one try is not enough: some layers fail for "
                          "a few orders only. Try several random orders of random inputs.")


@question((0, 0), {"attention with positions": (known(_attend(positions=True), False), 6, 8),
                   "attention with a causal mask": (known(_attend(mask=causal_mask(5)), False), 5, 4),
                   "reversing and shifting change nothing": (known(
                       lambda e: e + torch.roll(e, 1, 0) + torch.roll(e, -1, 0), False), 5, 3),
                   "only the last two rows differ": (known(
                       lambda e: e * (1 + (torch.arange(len(e))[:, None] >= len(e) - 2)), False), 6, 3),
                   "a small difference": (known(
                       lambda e: e + 0.004 * (torch.arange(len(e))[:, None] == 0), False), 4, 3),
                   "only numbers below 0 show it": (known(
                       lambda e: e.clamp(min=0) + e.clamp(max=0) * torch.arange(1.0, 5)[:, None], False), 4, 2),
                   "many orders do not show it": (known(_first_if_largest, False), 4, 3),
                   "attention without positions": (known(_attend(), True), 6, 8),
                   "each token by itself": (known(lambda e: torch.relu(e) - 0.1, True), 4, 3)},
          given=_bare, also=_several_tries)
def is_equivariant(layer, T, d):
    """is_equivariant(layer, T, d): True if layer, (T, d) → (T, d), permutes its output as its input is permuted."""
    tries = [(torch.randn(T, d), torch.randperm(T)) for _ in range(100)]
    return all(torch.allclose(layer(e[order]), layer(e)[order], atol=1e-4) for e, order in tries)


@is_equivariant.judge
def _(got, layer, T, d):
    return difference(got, layer.equivariant)


@is_equivariant.suspect
def _(got, layer, T, d):
    calls = len(layer.calls)
    if kind(got) != "True or False":
        return "The answer is one word, True or False. `==` of two tensors compares every entry; torch.allclose all."
    if not calls:
        return "The layer was never called. Its code is not to be seen: try it out."
    if calls == 1:
        return ("The layer was called once. It takes two outputs to compare: of an input, and of the same input "
                "reordered.")
    if layer.equivariant:
        return ("This layer is equivariant. Is it layer(e)[order] that you compare with layer(e[order])? And with a "
                "tolerance? Sums in another order differ in the last digit: torch.allclose(…, atol=1e-4).")
    return ("This layer is not equivariant. One special reordering (a swap of two, a reversal, a shift) does not show "
            "it, nor an input whose rows are equal or whose numbers are all above 0, nor a comparison that forgives "
            "more than 10⁻⁴. Try several random orders of a random input: one try is not enough.")


# -- fold ------------------------------------------------------------------------------------------------------------

HEAD = tuple(rounded(*shape, seed=13 + i) for i, shape in enumerate([(3,), (2, 3), (2, 3), (5, 3), (5,)]))
SQUARE = tuple(rounded(*shape, seed=40 + i) for i, shape in enumerate([(3,), (3, 3), (3, 3), (2, 3), (2,)]))


@question((1, 2), {"d_e = 3, d_att = 2, d_out = 5": HEAD, "d_e = d_att = 3, d_out = 2": SQUARE},
          returns="u (d_e,), w (d_e,)", forbidden=("coursekit.models.AttentionClassifier",), instead="matrix products",
          hints={"shapes": "In (W x)·y = x·(…) the matrix changes sides: what becomes of it there?"},
          otherwise="Start from q·k_t with q = W_q e_cls and k_t = W_k e_t. Write it as (a vector)·e_t: that vector, "
                    "scaled, is u. And w is the vector whose product with e_t is W_ℓ · W_v e_t.")
def fold(e_cls, W_q, W_k, W_v, W_l, *, scale=lambda e_cls, W_k, W_v: len(W_k) ** 0.5, root_in_w=False):
    """fold(e_cls, W_q, W_k, W_v, W_l): (u, w), both (d_e,): α_t ∝ exp(e_t·u), and the head adds Σ α_t (e_t·w)."""
    u, w = torch.einsum("ad,ab,b->d", W_k, W_q, e_cls), torch.einsum("od,o->d", W_v, W_l)
    return u / scale(e_cls, W_k, W_v), w / len(W_k) ** 0.5 if root_in_w else w


def _other_matrix(e_cls, W_q, W_k, W_v, W_l):
    u = W_k @ (W_q @ e_cls) if len(W_q) == len(e_cls) else W_k.T @ (W_q @ e_cls)
    return u / len(W_k) ** 0.5, W_v.T @ W_l


fold.mistakes(
    ("u lacks the division by √d_att: α_t is to be exp(e_t·u), divided by its sum.",
     dict(scale=lambda e_cls, W_k, W_v: 1.0)),
    ("u is divided by √d_e. It is √d_att, the length of a query.",
     dict(scale=lambda e_cls, W_k, W_v: len(e_cls) ** 0.5)),
    ("u is divided by √d_out. It is √d_att, the length of a query.",
     dict(scale=lambda e_cls, W_k, W_v: len(W_v) ** 0.5)),
    ("u is divided by d_att. It is its square root.", dict(scale=lambda e_cls, W_k, W_v: len(W_k))),
    ("w has no root: only scores are scaled.", dict(root_in_w=True)),
    ("q·(W_k e_t) = (W_kᵀ q)·e_t: the matrix changes sides transposed.", _other_matrix),
    ("The class token asks: its embedding goes through W_q, the others' through W_k.",
     lambda e_cls, W_q, W_k, W_v, W_l: fold.reference(e_cls, W_k, W_q, W_v, W_l)),
    ("There is a softmax in u. It is taken over the tokens, of e_t·u, and not in here.",
     lambda *head: (torch.softmax(fold.reference(*head)[0], 0), fold.reference(*head)[1])),
    ("u has the length of a query. It is to be multiplied with e_t itself: W_k has to go into it, too.",
     lambda e_cls, W_q, W_k, W_v, W_l: (W_q @ e_cls / len(W_q) ** 0.5, W_v.T @ W_l)),
    ("u is a vector. Is W_q applied to e_cls, so that no matrix is left?",
     lambda e_cls, W_q, W_k, W_v, W_l: (W_k.T @ W_q / len(W_q) ** 0.5, W_v.T @ W_l)))
