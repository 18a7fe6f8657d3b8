"""Check of assignment 05 on what arrives: the vectors that attention brings, and how much of a token they make."""

from attention_questions.prelude import Question, numbers, rounded, same, torch

from . import solution


def _sending(K, T, d_out, d_e, seed):
    """Arguments of carried, with one decimal; the attention in eighths."""
    places = torch.randint(T, (K * T, 8), generator=torch.Generator().manual_seed(seed))
    A = torch.nn.functional.one_hot(places, T).sum(1).float().reshape(K, T, T) / 8
    return A, rounded(K, T, d_out, seed=seed), rounded(d_e, K * d_out, seed=seed + 1), rounded(T, d_e, seed=seed + 2)


EVEN = (torch.full((2, 2, 2), 0.5), numbers("2 2  0 4", 2, 2, 1), numbers("3 1  4 4", 2, 2),
        numbers("33 11  -5 -12", 2, 2))                                 # others : own = 13 : 39 and 5 : 0


carried = Question(solution.carried, (2, 3), {
    "two heads, even attention": EVEN,
    "two heads, mixed by W_o": _sending(K=2, T=2, d_out=2, d_e=3, seed=3),
    "as large as the heads together": _sending(K=2, T=3, d_out=2, d_e=4, seed=7),
    "one token, so no others, double precision": tuple(x.double() for x in _sending(K=3, T=1, d_out=1, d_e=2, seed=5)),
    "nothing arrives, and nothing is there": (torch.full((1, 2, 2), 0.5), torch.zeros(1, 2, 1), torch.ones(2, 1),
                                              numbers("0 0  1 0", 2, 2))},
    returns="norms (T, T), mixing (T,)",
    forbidden=("coursekit.explain.norm_attention", "coursekit.explain.attention.norm_maps"),
    instead="matrix products and a norm",
    otherwise="Take one pair s, t by hand: for each head A[i, s, t] times W_o^(i) v_t; add these K vectors; take "
              "the length.",
    hints={"shapes": "Head i has the columns i·d_out to (i + 1)·d_out of W_o, (d_e, d_out), and values v[i] (T, "
                     "d_out)."})

NORMS, HEADS = "return r.norm(dim=-1)", 'torch.einsum("kst,kte->kste", A, f)'      # HEADS: what each of them brings
WHOLE = "torch.where(a + b > 0, a / (a + b), 0)"
carried.mistakes(
    ("Norms of the heads were added up. The heads write into the same stream, where their vectors can cancel: add the "
     "vectors, then take the norm.", f"{NORMS} → return {HEADS}.norm(dim=-1).sum(0)"),
    ("This is the mean of the heads' norms. Add the heads' vectors first, then take the norm.",
     f"{NORMS} → return {HEADS}.norm(dim=-1).mean(0)"),
    ("The heads were averaged. Each writes into the stream in full: their vectors are added up.",
     "A, f) → A / len(A), f)"),
    ("There is a map for each head. What the heads bring is added up, as vectors, before the norm: one map (T, T).",
     f"{NORMS} → return {HEADS}.norm(dim=-1)"),
    ("Those are the vectors. Asked for is the length of each.", f"{NORMS} → return r"),
    ("W_o is missing: what a head brings is W_o^(i) v, not v itself.",
     f'{NORMS} → return torch.einsum("kst,ktd->stkd", A, v).flatten(2).norm(dim=-1)'),
    ("W_o was transposed, or cut by rows. A head writes W_o^(i) v: head i has *columns* of W_o, and a row vector goes "
     "through `v @ W.T`.", "W_o.chunk → (W_o.T if len(W_o) == len(W_o.T) else W_o).chunk"),
    ("The heads' weights were averaged before they met their values. Each head's values have weights of their own.",
     "A, f) → A.mean(0).expand_as(A), f)"),
    ("The attention weights are missing: what head i brings from t is multiplied by A[i, s, t].",
     "A, f) → torch.ones_like(A), f)"),
    ("Rows and columns have changed places: A[i, s, t] is how strongly s looks at t, and row s of the norms holds what "
     "s *receives*.", "A, f) → A.mT, f)"),
    ("For the mixing, lengths were added up. What comes from the others is added up as *vectors*, which can cancel, "
     "and then measured.", "(r.sum(1) - own).norm(dim=-1) → r.norm(dim=-1).sum(1) - own.norm(dim=-1)"),
    ("For the mixing, everything that attention brings was counted as the others'. What s brings to itself, r_ss, "
     "belongs to its own part.", "(r.sum(1) - own) → r.sum(1)", "(x + own) → x"),
    ("For the mixing, what s brings to itself, r_ss, is still among what comes from others.",
     "(r.sum(1) - own) → r.sum(1)"),
    ("The own part of the mixing lacks what s brings to itself: x_s + r_ss, added before the norm.", "(x + own) → x"),
    ("The own part of the mixing lacks x_s, which comes over the skip connection.", "(x + own) → own"),
    ("The own part of the mixing is the length of a sum: add x_s and what s brings to itself first.",
     "(x + own).norm(dim=-1) → x.norm(dim=-1) + own.norm(dim=-1)"),
    ("The mixing is divided by the length of everything together. Divide by the sum of the two lengths.",
     "return → whole = (x + r.sum(1)).norm(dim=-1)\n    return", f"{WHOLE} → torch.where(whole > 0, a / whole, 0)"),
    ("The mixing is turned round: the share of the *others*, not of what is its own.", "a / (a + b) → b / (a + b)"),
    ("Where b alone is 0, the mixing is 0 here. Everything came from others then, and it is 1.", "a + b > 0 → b > 0"),
    ("Where nothing is there and nothing arrives, the mixing is 0/0. It is 0 there.", f"{WHOLE} → a / (a + b)"),
    ("The mixing is others / own here. It is others / (others + own), between 0 and 1.",
     f"{WHOLE} → torch.where(b > 0, a / b, 0)"))


@carried.suspect
def _(got, A, v, W_o, x):
    norms, mixing = got
    if not same(norms, solution.carried(A, v, W_o, x)[0]) or tuple(mixing.shape) != (len(x),) or (
            mixing.dtype != x.dtype):
        return
    yield ("The norms are right, the mixing is not. For one s: which vectors come from others, which are its own? Add "
           "up each group, then take two lengths.")
