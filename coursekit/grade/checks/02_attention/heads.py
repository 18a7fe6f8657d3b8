"""Checks of assignment 02, second half: several heads, a test of equivariance, a folded head."""

import math

import torch

from coursekit.grade.kit.cases import rounded
from coursekit.grade.kit.messages import CheckFailed
from coursekit.grade.kit.library import ATTENTIONS
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same
from coursekit.models import causal_mask, scaled_dot_product_attention, sinusoidal_positions

__all__ = ["multi_head", "known", "is_equivariant", "fold"]

# -- multi_head ------------------------------------------------------------------------------------------------------

def _stacked(T, d_e, d_att, d_out, K, seed):
    """Arguments of multi_head, small, so that no map is all zeros and ones."""
    shapes = (T, d_e), (K * d_att, d_e), (K * d_att, d_e), (K * d_out, d_e), (d_e, K * d_out)
    return (*(rounded(*shape, seed=seed + i) / 2 for i, shape in enumerate(shapes)), K)


@question((2, 2), {"two heads": _stacked(T=5, d_e=6, d_att=4, d_out=3, K=2, seed=4),
                   "one head": _stacked(T=4, d_e=3, d_att=2, d_out=5, K=1, seed=20),
                   "three heads": _stacked(T=4, d_e=5, d_att=2, d_out=1, K=3, seed=30)},
          forbidden=ATTENTIONS, instead="your self_attention, or matrix products and your softmax",
          hints={"shapes": "Are the matrices cut by rows? And the heads' outputs put side by side (dim=1)?"})
def multi_head(e, W_q, W_k, W_v, W_o, K):
    """multi_head(e, W_q, W_k, W_v, W_o, K): (output (T, d_e), A (K, T, T)); the heads are stacked in W_q, W_k, W_v."""
    return _heads(e, W_q, W_k, W_v, W_o, K)


def _heads(e, W_q, W_k, W_v, W_o, K, interleaved=False, scale=None):
    def split(x):                                                       # (T, K·d) → (K, T, d)
        return torch.stack(x.chunk(K, -1)) if not interleaved else torch.stack([x[:, i::K] for i in range(K)])

    q, k, v = (split(e @ W.T) for W in (W_q, W_k, W_v))
    q = q if scale is None else q * math.sqrt(q.shape[-1]) / scale
    output, A = scaled_dot_product_attention(q, k, v)
    return torch.cat(list(output), -1) @ W_o.T, A


@multi_head.suspect
def _(got, e, W_q, W_k, W_v, W_o, K):
    if type(got) not in (list, tuple) or len(got) != 2:
        return "Return both: output (T, d_e), A (K, T, T)."
    (output, A), (right, maps) = got, multi_head.__wrapped__(e, W_q, W_k, W_v, W_o, K)
    stacked = kind(A) == "a tensor"
    if stacked and A.dim() == 3 and tuple(A.shape[1:]) == tuple(maps.shape[1:]) and len(A) != K:
        return (f"There are {len(A)} maps, one for each of {K} heads is due. `chunk(n)` cuts into n parts, `split(n)` "
                "into parts of n rows.")
    if stacked and tuple(A.shape) == (len(e), K, K) and K != len(e):
        return ("Here heads look at heads, for each token. The heads come to the front before the product: (K, T, "
                "d_att).")
    if stacked and tuple(A.shape) == (*maps.shape[1:], K) and K != len(e):
        return "The heads come first: (K, T, T)."
    if same(output, right) and (not stacked or tuple(A.shape) != tuple(maps.shape)):
        return "The output is right. Put the maps on top of each other: torch.stack gives (K, T, T)."
    if not stacked or kind(output) != "a tensor":
        return None
    if same(output, maps) and same(A, right):
        return "The two have changed places: first the output, then the maps."
    mixed = torch.cat(list(maps @ torch.stack((e @ W_v.T).chunk(K, -1))), -1)
    if same(A, maps):
        if same(output, mixed):
            return "The heads stand side by side, as they should, but W_o did not mix them."
        if mixed.shape[1] == W_o.shape[0] == W_o.shape[1] and same(output, mixed @ W_o):
            return "W_o acts from the wrong side. With a row for each token, W_o x becomes x @ W_o.T."
        average = (maps @ torch.stack((e @ W_v.T).chunk(K, -1))).mean(0)
        if average.shape[1] == W_o.shape[1] and same(output, average @ W_o.T):
            return "The heads' outputs were averaged. They are put side by side: torch.cat."
        backwards = torch.cat(list(maps @ torch.stack((e @ W_v.T).chunk(K, -1)))[::-1], -1)
        if same(output, backwards @ W_o.T):
            return "The heads' outputs stand in the wrong order."
        values, d_att = e @ W_v.T, len(W_q) // K
        by_att = torch.cat([A_i @ values[:, i * d_att:(i + 1) * d_att] for i, A_i in enumerate(maps)], 1)
        if by_att.shape == mixed.shape and same(output, by_att @ W_o.T):
            return "W_v has K·d_out rows: is it cut by d_out, not by d_att?"
        return ("The maps are right, the output is not. The heads' outputs stand side by side, head after head, "
                "before W_o: a reshape of (K, T, d) to (T, K·d) mixes tokens and heads, unless T comes first before "
                "it.")
    if K > 1 and same(A, _heads(e, W_q, W_k, W_v, W_o, K, interleaved=True)[1]):
        return ("The heads are interleaved: head i took every K-th row. Head 0 has the first d_att rows of W_q, head "
                "1 the next ones: split(d_att), or a reshape to (T, K, d_att).")
    for scale, words in ((1, "The scores are not scaled: where is √d_att?"),
                         (math.sqrt(W_q.shape[0]), "The scores are divided by the root of K·d_att, the size of all "
                                                   "heads together. Each head divides by the root of its own size."),
                         (math.sqrt(e.shape[1]), "The scores are divided by √d_e. Each head divides by √d_att.")):
        if same(A, _heads(e, W_q, W_k, W_v, W_o, K, scale=scale)[1]):
            return words
    if tuple(A.shape) == tuple(maps.shape) and A.isfinite().all():
        if torch.allclose(A.sum(1), torch.ones_like(A.sum(1)), atol=1e-3):
            return "The columns sum to one, the rows should: is the softmax over the wrong axis?"
        if K > 1 and same(A, A[:1].expand_as(A)):
            return "All heads have the same map. Each has rows of its own in W_q and W_k."
        if K > 1 and _reshaped_at_once(A, e, W_q, W_k, K):
            return ("Tokens and heads got mixed: reshape (T, K·d_att) to (T, K, d_att) first, then move K to the "
                    "front with transpose. A reshape straight to (K, T, d_att) cuts elsewhere.")
    if _size_of_a_head(A, e, W_q, W_k, K):
        return "The heads were cut by d_e // K rows. The size of a head is the number of rows of W_q, divided by K."
    return "Look at one head alone: are its queries and keys the rows i·d_att to (i + 1)·d_att of W_q and W_k, times e?"


def _size_of_a_head(A, e, W_q, W_k, K):
    """Were the heads cut by d_e // K?"""
    d = e.shape[1] // K
    heads = [(e @ W_q[i * d:(i + 1) * d].T, e @ W_k[i * d:(i + 1) * d].T) for i in range(K)]
    return d and same(A, torch.stack([torch.softmax(q @ k.T / math.sqrt(d), 1) for q, k in heads]))


def _reshaped_at_once(A, e, W_q, W_k, K):
    """Did a reshape from (T, K·d) straight to (K, T, d) make these maps?"""
    q, k = ((e @ W.T).reshape(K, len(e), -1) for W in (W_q, W_k))
    return same(A, torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1))


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


@question((2, 2), {"attention with positions": (known(_attend(positions=True), False), 6, 8),
                   "attention with a causal mask": (known(_attend(mask=causal_mask(5)), False), 5, 4),
                   "reversing and shifting change nothing": (known(
                       lambda e: e + torch.roll(e, 1, 0) + torch.roll(e, -1, 0), False), 5, 3),
                   "only the last two rows differ": (known(
                       lambda e: e * (1 + (torch.arange(len(e))[:, None] >= len(e) - 2)), False), 6, 3),
                   "many orders do not show it": (known(_first_if_largest, False), 4, 3),
                   "attention without positions": (known(_attend(), True), 6, 8),
                   "each token by itself": (known(lambda e: torch.relu(e) - 0.1, True), 4, 3)},
          prepare=_bare, also=_several_tries)
def is_equivariant(layer, T, d):
    """is_equivariant(layer, T, d): True if layer, (T, d) → (T, d), permutes its output as its input is permuted."""
    return layer.equivariant


@is_equivariant.suspect
def _(got, layer, T, d):
    calls = len(layer.calls)
    if kind(got) != "True or False":
        if kind(got) == "a tensor":
            return ("The answer is one word, True or False. `==` of two tensors compares every entry; torch.allclose "
                    "all.")
        return "The answer is True or False."
    if not calls:
        return "The layer was never called. Its code is not to be seen: try it out."
    if calls == 1:
        return ("The layer was called once. It takes two outputs to compare: of an input, and of the same input "
                "reordered.")
    if layer.equivariant:
        return ("This layer is equivariant. Is it layer(e)[order] that you compare with layer(e[order])? And with a "
                "tolerance? Sums in another order differ in the last digit: torch.allclose(…, atol=1e-4).")
    return ("This layer is not equivariant. One special reordering (a swap of two, a reversal, a shift) does not show "
            "it, nor an input whose rows are equal, nor a comparison that forgives much. Try several random orders of "
            "a random input: one try is not enough.")


# -- fold ------------------------------------------------------------------------------------------------------------

HEAD = tuple(rounded(*shape, seed=13 + i) for i, shape in enumerate([(3,), (2, 3), (2, 3), (5, 3), (5,)]))


@question((1, 2), {"d_e = 3, d_att = 2, d_out = 5": HEAD},
          forbidden=("coursekit.models.AttentionClassifier",), instead="matrix products",
          hints={"shapes": "In (W x)·y = x·(…) the matrix changes sides: what becomes of it there?"})
def fold(e_cls, W_q, W_k, W_v, W_l):
    """fold(e_cls, W_q, W_k, W_v, W_l): (u, w), both (d_e,): α_t ∝ exp(e_t·u), and the head adds Σ α_t (e_t·w)."""
    return torch.einsum("ad,ab,b->d", W_k, W_q, e_cls) / math.sqrt(len(W_k)), torch.einsum("od,o->d", W_v, W_l)


@fold.suspect
def _(got, e_cls, W_q, W_k, W_v, W_l):
    if type(got) not in (list, tuple) or len(got) != 2:
        return "Return both: u, w."
    (u, w), (right_u, right_w) = got, fold.__wrapped__(e_cls, W_q, W_k, W_v, W_l)
    if same(u, right_w) and same(w, right_u):
        return "The two have changed places: first u, for where, then w, for what."
    if kind(u) != "a tensor" or kind(w) != "a tensor":
        return None
    d_e = len(e_cls)
    if tuple(u.shape) != (d_e,):
        if tuple(u.shape) == (len(W_q),):
            return "u has the length of a query. It is to be multiplied with e_t itself: W_k has to go into it, too."
        return f"u is a vector of length d_e = {d_e}. Is W_q applied to e_cls, so that no matrix is left?"
    if same(u, torch.softmax(right_u, 0)):
        return "There is a softmax in u. It is taken over the tokens, of e_t·u, and not in here."
    if same(u, right_u):
        if tuple(w.shape) != (d_e,):
            return f"u is right. w is a vector of length d_e = {d_e}, as e_t is."
        if same(w, right_w / math.sqrt(len(W_k))):
            return "w has no root: only scores are scaled."
        return ("u is right. For w: the head's output is W_ℓ · W_v e_t, weighted. Which vector has that product with "
                "e_t?")
    root = math.sqrt(len(W_k))
    if same(u, right_u * root):
        return "u lacks the division by √d_att: α_t is to be exp(e_t·u), divided by its sum."
    if same(u, right_u * root / math.sqrt(len(e_cls))):
        return "u is divided by √d_e. It is √d_att, the length of a query."
    if same(u, right_u * root / math.sqrt(len(W_v))):
        return "u is divided by √d_out. It is √d_att, the length of a query."
    if same(u, right_u / root):
        return "u is divided by d_att. It is its square root."
    if W_q.shape[0] == W_q.shape[1] and same(u, W_k @ (W_q @ e_cls) / root):
        return "q·(W_k e_t) = (W_kᵀ q)·e_t: the matrix changes sides transposed."
    if same(u, W_q.T @ (W_k @ e_cls) / root):
        return "The class token asks: its embedding goes through W_q, the others' through W_k."
    return ("Start from q·k_t with q = W_q e_cls and k_t = W_k e_t. Write it as (a vector)·e_t: that vector, scaled, "
            "is u.")
