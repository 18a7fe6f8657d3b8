"""Check of assignment 05 on what arrives: the vectors that attention brings, and how much of a token they make."""

import math

import torch

from coursegrade.kit.cases import numbers, rounded
from coursegrade.kit.question import question
from coursegrade.kit.same import same

__all__ = ["carried"]


def _sending(K, T, d_out, d_e, seed):
    """Arguments of carried, with one decimal; the attention in eighths."""
    places = torch.randint(T, (K * T, 8), generator=torch.Generator().manual_seed(seed))
    A = torch.nn.functional.one_hot(places, T).sum(1).float().reshape(K, T, T) / 8
    return A, rounded(K, T, d_out, seed=seed), rounded(d_e, K * d_out, seed=seed + 1), rounded(T, d_e, seed=seed + 2)


EVEN = (torch.full((2, 2, 2), 0.5), numbers("2 2  0 4", 2, 2, 1), numbers("3 1  4 4", 2, 2),
        numbers("33 11  -5 -12", 2, 2))                                 # others : own = 13 : 39 and 5 : 0


@question((2, 3), {"two heads, even attention": EVEN,
                   "two heads, mixed by W_o": _sending(K=2, T=2, d_out=2, d_e=3, seed=3),
                   "as large as the heads together": _sending(K=2, T=3, d_out=2, d_e=4, seed=7),
                   "one token, so no others, double precision": tuple(
                       x.double() for x in _sending(K=3, T=1, d_out=1, d_e=2, seed=5)),
                   "nothing arrives, and nothing is there": (torch.full((1, 2, 2), 0.5), torch.zeros(1, 2, 1),
                                                             torch.ones(2, 1), numbers("0 0  1 0", 2, 2))},
          returns="norms (T, T), mixing (T,)",
          forbidden=("coursekit.explain.norm_attention", "coursekit.explain.attention.norm_maps"),
          instead="matrix products and a norm",
          otherwise="Take one pair s, t by hand: for each head A[i, s, t] times W_o^(i) v_t; add these K vectors; take "
                    "the length.",
          hints={"shapes": "Head i has the columns i·d_out to (i + 1)·d_out of W_o, (d_e, d_out), and values v[i] (T, "
                           "d_out)."})
def carried(A, v, W_o, x, *, mixing="vectors", zero=0.0):
    """carried(A, v, W_o, x): (norms (T, T) of what s receives from t, mixing (T,))."""
    r = _sent(A, v, W_o).sum(0)                                         # (T, T, d_e)
    return r.norm(dim=-1), _mixing(r, x, mixing, zero)


def _sent(A, v, W_o):
    """(K, T, T, d_e): the vector that head i brings from t to s."""
    return torch.einsum("kst,ktd,ked->kste", A, v, torch.stack(W_o.chunk(len(v), 1)))


def _mixing(r, x, how="vectors", zero=0.0):
    """The share (T,) of what comes from others, of vectors r (T, T, d_e); how: one thing that is done otherwise."""
    own, everything = r.diagonal().T, r.sum(1)                          # (T, d_e)
    others = {"lengths": r.norm(dim=-1).sum(1) - own.norm(dim=-1), "both": everything.norm(dim=-1),
              "all": everything.norm(dim=-1)}.get(how, (everything - own).norm(dim=-1))
    kept = {"all": x.norm(dim=-1), "only x": x.norm(dim=-1), "no x": own.norm(dim=-1),
            "apart": x.norm(dim=-1) + own.norm(dim=-1)}.get(how, (x + own).norm(dim=-1))
    whole = {"ratio": kept, "all of it": (x + everything).norm(dim=-1)}.get(how, others + kept)
    share = others / whole
    there = kept > 0 if how in ("nothing kept", "ratio") else whole > 0
    return torch.where(there, 1 - share if how == "round" else share, zero)


def _norms(of_heads):
    """An answer whose norms alone are wrong; of_heads: the vectors (K, T, T, d_e) of the heads, and x → (T, T)."""
    return lambda A, v, W_o, x: (of_heads(_sent(A, v, W_o), x), carried.reference(A, v, W_o, x)[1])


def _with(change):
    """An answer that takes other A, v, W_o."""
    return lambda A, v, W_o, x: carried.reference(*change(A, v, W_o), x)


def _plain(A, v, W_o, x):
    values = torch.einsum("kst,ktd->stkd", A, v)
    return values.flatten(2).norm(dim=-1), carried.reference(A, v, W_o, x)[1]


def _by_rows(A, v, W_o):
    return A, v, W_o.T if W_o.shape[0] == W_o.shape[1] else W_o


TURNED = ("Rows and columns have changed places: A[i, s, t] is how strongly s looks at t, and row s of the norms holds "
          "what s *receives*.")

carried.mistakes(
    ("Norms of the heads were added up. The heads write into the same stream, where their vectors can cancel: add the "
     "vectors, then take the norm.", _norms(lambda sent, x: sent.norm(dim=-1).sum(0))),
    ("This is the mean of the heads' norms. Add the heads' vectors first, then take the norm.",
     _norms(lambda sent, x: sent.norm(dim=-1).mean(0))),
    ("The heads were averaged. Each writes into the stream in full: their vectors are added up.",
     _with(lambda A, v, W_o: (A / len(A), v, W_o))),
    ("There is a map for each head. What the heads bring is added up, as vectors, before the norm: one map (T, T).",
     _norms(lambda sent, x: sent.norm(dim=-1))),
    ("Those are the vectors. Asked for is the length of each.", _norms(lambda sent, x: sent.sum(0))),
    ("W_o is missing: what a head brings is W_o^(i) v, not v itself.", _plain),
    ("W_o was transposed, or cut by rows. A head writes W_o^(i) v: head i has *columns* of W_o, and a row vector goes "
     "through `v @ W.T`.", _with(_by_rows)),
    ("The heads' weights were averaged before they met their values. Each head's values have weights of their own.",
     _with(lambda A, v, W_o: (A.mean(0).expand_as(A), v, W_o))),
    ("The attention weights are missing: what head i brings from t is multiplied by A[i, s, t].",
     _with(lambda A, v, W_o: (torch.ones_like(A), v, W_o))),
    (TURNED, _with(lambda A, v, W_o: (A.mT, v, W_o))),
    ("For the mixing, lengths were added up. What comes from the others is added up as *vectors*, which can cancel, "
     "and then measured.", dict(mixing="lengths")),
    ("For the mixing, everything that attention brings was counted as the others'. What s brings to itself, r_ss, "
     "belongs to its own part.", dict(mixing="all")),
    ("For the mixing, what s brings to itself, r_ss, is still among what comes from others.", dict(mixing="both")),
    ("The own part of the mixing lacks what s brings to itself: x_s + r_ss, added before the norm.",
     dict(mixing="only x")),
    ("The own part of the mixing lacks x_s, which comes over the skip connection.", dict(mixing="no x")),
    ("The own part of the mixing is the length of a sum: add x_s and what s brings to itself first.",
     dict(mixing="apart")),
    ("The mixing is divided by the length of everything together. Divide by the sum of the two lengths.",
     dict(mixing="all of it")),
    ("The mixing is turned round: the share of the *others*, not of what is its own.", dict(mixing="round")),
    ("Where b alone is 0, the mixing is 0 here. Everything came from others then, and it is 1.",
     dict(mixing="nothing kept")),
    ("Where nothing is there and nothing arrives, the mixing is 0/0. It is 0 there.", dict(zero=math.nan)),
    ("The mixing is others / own here. It is others / (others + own), between 0 and 1.", dict(mixing="ratio")))


@carried.suspect
def _(got, A, v, W_o, x):
    norms, mixing = got
    if not same(norms, carried.reference(A, v, W_o, x)[0]) or tuple(mixing.shape) != (len(x),) or (
            mixing.dtype != x.dtype):
        return None
    return ("The norms are right, the mixing is not. For one s: which vectors come from others, which are its own? Add "
            "up each group, then take two lengths.")
