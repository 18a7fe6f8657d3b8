"""Checks of assignment 05, second part: rollout layer by layer, and what a token receives, measured."""

import torch

from coursekit.grade.kit.cases import rounded
from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same

from .maps import DTYPE, numbers, unlike

__all__ = ["rolled", "carried"]


# -- rolled ----------------------------------------------------------------------------------------------------------

FINGER = numbers("0.5 0 0.5  0.25 0 0.75  0 0.5 0.5    0 1 0  0 0.75 0.25  0.5 0 0.5", 2, 1, 3, 3)
DEEP = numbers("0.5 0.25 0.25  0.125 0.75 0.125  0.25 0.5 0.25    0.25 0.625 0.125  0.5 0 0.5  0.125 0.125 0.75    "
               "0.125 0.5 0.375  0.25 0.25 0.5  1 0 0", 3, 1, 3, 3)
HEADS = numbers("0.5 0.5  0.25 0.75   0 1  0.75 0.25    0.75 0.25  0.5 0.5   1 0  0.125 0.875", 2, 2, 2, 2)
CUT = numbers("0.5 0.25  0.5 0   0.125 0.125  0.25 0.25    0.375 0.125  0.25 0.75   0 1  0.25 0", 2, 2, 2, 2)
LOST = numbers("0.25 0.25 0.25  0 0 0  0 0.5 0.25    0.25 0.5 0  0.5 0.25 0.25  0 0 0.5", 2, 1, 3, 3)


@question((2, 2), {"two layers, skips of one half": (FINGER, 0, [0.5, 0.5]),
                   "three layers, no skips": (DEEP, 0, [0.0, 0.0, 0.0]),
                   "each layer with a skip of its own, double precision": (DEEP.double(), 1, [0.25, 0.5, 0.125]),
                   "two heads, the last row": (HEADS, -1, [0.25, 0.5]),
                   "some attention was cut off": (CUT, 0, [0.5, 0.25]),
                   "a row of zeros": (LOST, 0, [0.5, 0.25])},
          forbidden=("coursekit.explain.rollout",), instead="matrix products",
          hints={"shapes": "Each layer is one matrix (T, T) after the mean over heads; `skip` has one number for "
                           "each."})
def rolled(A, row, skip):
    """rolled(A, row, skip): (L + 1, T): row `row` of the rollout after 0, 1, … L layers."""
    return _rolled(A, row, skip)


def _layers(A, skip, rescale="mean", residual="share", lost="itself"):
    """The matrices (L, T, T) that are multiplied, each with one thing done in another way if asked for."""
    I = torch.eye(A.shape[-1], dtype=A.dtype)

    def scaled(x, keepdim=True):
        total = x.sum(-1, keepdim=keepdim)
        return torch.where(total > 0, x / total, {"itself": I, "zero": 0 * I, "even": 0 * I + 1 / len(I)}[lost])

    found = []
    for maps, share in zip(A, skip):
        mean = scaled(maps).mean(0) if rescale == "heads" else maps.mean(0)
        mean = scaled(mean, rescale == "mean") if rescale in ("mean", "flat") else mean
        mixed = {"share": (1 - share) * mean + share * I, "other": share * mean + (1 - share) * I, "none": mean,
                 "half": (mean + I) / 2, "added": mean + I, "weighted": mean + share * I}[residual]
        found.append(scaled(mixed) if rescale == "end" else mixed)
    return found


def _rolled(A, row, skip, left=True, **change):
    layers = _layers(A, skip, **change)
    rows, R = [torch.eye(A.shape[-1], dtype=A.dtype)], torch.eye(A.shape[-1], dtype=A.dtype)
    for layer in layers:
        R = layer @ R if left else R @ layer
        rows.append(R)
    return torch.stack(rows)[:, row]


@rolled.suspect
def _(got, A, row, skip):
    if kind(got) != "a tensor":
        return "The result is one tensor: torch.stack makes it of a list of rows."
    right, (L, K, T, _) = _rolled(A, row, skip), A.shape
    if not got.isfinite().all():
        return "A row of zeros, divided by its sum, is 0/0. A token that looks at nothing keeps itself."
    if tuple(got.shape) == (T,):
        return "That is one row. Asked for is the row after *each* layer, and before the first: (L + 1, T)."
    if tuple(got.shape) == (L, T):
        if same(got, right[1:]):
            return "The row before the first layer is missing: there, a token is itself alone."
        return "One row is missing: the first one is that before any layer, and then comes one after each, (L + 1, T)."
    if tuple(got.shape) == (L + 1, T, T):
        return "Those are whole matrices. Asked for is their row `row` alone."
    if tuple(got.shape) != (L + 1, T):
        return "The result has a row before the first layer, and one after each layer: (L + 1, T)."
    if got.dtype != A.dtype:
        return DTYPE
    if same(got, right[-1:].expand_as(right)):
        return ("Every row is that after the last layer. R[row] is a view: if R is changed in place, rows that were "
                "noted down earlier change as well.")
    I, layers = torch.eye(T, dtype=A.dtype), _layers(A, skip)

    def down(layers):                                                   # the row, from the top layer to the bottom
        rows = [I[row]]
        for layer in layers[::-1]:
            rows.append(rows[-1] @ layer)
        return torch.stack(rows)

    columns = [torch.eye(T, dtype=A.dtype)]
    for layer in layers:
        columns.append(layer @ columns[-1])
    variants = [
        (_rolled(A, row, skip, left=False), "The order of the product is turned round: a later layer stands to the "
                                            "*left* of those before it."),
        (down(layers), "The row was followed down from the top layer: row l of this is what remains after the *last* l "
                       "layers. Asked for are the first l."),
        (right.flip(0), "The rows are turned round: the first one is that before any layer."),
        (_rolled(A.mT, row, skip), "Rows and columns have changed places: A[l, i, s, t] goes from s to t, and rows sum "
                                   "to one."),
        (torch.stack(columns)[..., row], "A column was taken. Row s of the product is what token s holds."),
        (torch.stack([I[row], *(layer[row] for layer in layers)]),
         "Each layer stands here for itself. What reaches a token has come through all layers before: a product."),
        (torch.cumprod(torch.stack([I, *layers]), 0)[:, row], "The matrices were multiplied entry by entry. Their "
                                                              "product is `@`, and not `*`."),
        (_rolled(A, row, skip, residual="none"), "Nothing came over the skip connections here."),
        (_rolled(A, row, skip, residual="other"), "`skip` is the share of the identity. Here it is that of the "
                                                  "attention."),
        (_rolled(A, row, skip, residual="half"), "The skips are one half here. `skip` says how strong each layer's "
                                                 "is."),
        (_rolled(A, row, skip, residual="added"), "The whole identity was added to whole attention: rows then sum to "
                                                  "2. Each gets its share."),
        (_rolled(A, row, skip, residual="weighted"),
         "The identity has its share, but the attention is not multiplied by 1 − skip."),
        (_rolled(A.flip(0), row, skip[::-1]), "The layers were passed in the wrong order: A[0] comes first."),
        (_rolled(A, row, skip[::-1]), "The skips have changed places: skip[0] is that of the first layer."),
        (_rolled(A, row, skip, rescale="none", lost="zero"),
         "What is missing in a row was not made up for. Divide each row of the mean by its sum."),
        (_rolled(A, row, skip, rescale="flat"), "Each *column* was divided, by the sum of the row of its number. With "
                                                "keepdim=True the sums stay a column, one for each row."),
        (_rolled(A, row, skip, rescale="end"), "Rows were divided by their sum after the identity came in: the skip "
                                               "then counts for more than its share. Divide the mean first."),
        (_rolled(A, row, skip, rescale="heads"), "Each head was divided by its sums before the mean was taken. Take "
                                                 "the mean first."),
        (_rolled(A, row, skip, lost="zero"), "A token that looks at nothing keeps itself: its row is that of the "
                                             "identity, and not of zeros."),
        (_rolled(A, row, skip, lost="even"), "A token that looks at nothing was made to look at everything. It keeps "
                                             "itself."),
        (_rolled(A[:, :1], row, skip) if K > 1 else None, "Only the first head came in. Take the mean of all."),
        (_rolled(A.amax(1, keepdim=True), row, skip) if K > 1 else None,
         "The largest of the heads was taken. It is their mean."),
        (_rolled(A, 0, skip) if row else None, "Row 0 was read. It is `row` that says which one (−1 is the last).")]
    if words := first_match(got, unlike(right, variants)):
        return words
    first = next(l for l in range(L + 1) if not same(got[l], right[l]))
    return ("The first row is that before any layer: row `row` of the identity (−1 is its last one)." if first == 0 else
            f"Row {first} of the result is the first that is wrong, and the first with layer {first - 1} in it. Do "
            "this layer by hand.")


# -- carried ---------------------------------------------------------------------------------------------------------

def _sending(K, T, d_out, d_e, seed):
    """Arguments of carried, with one decimal; the attention in eighths."""
    places = torch.randint(T, (K * T, 8), generator=torch.Generator().manual_seed(seed))
    A = torch.nn.functional.one_hot(places, T).sum(1).float().reshape(K, T, T) / 8
    return A, rounded(K, T, d_out, seed=seed), rounded(d_e, K * d_out, seed=seed + 1), rounded(T, d_e, seed=seed + 2)


EVEN = (torch.full((2, 2, 2), 0.5), numbers("2 2  0 4", 2, 2, 1), numbers("3 1  4 4", 2, 2),
        numbers("33 11  -5 -12", 2, 2))                                 # others : own = 13 : 39 and 5 : 0


@question((2, 2), {"two heads, even attention": EVEN,
                   "two heads, mixed by W_o": _sending(K=2, T=2, d_out=2, d_e=3, seed=3),
                   "as large as the heads together": _sending(K=2, T=3, d_out=2, d_e=4, seed=7),
                   "one token, so no others, double precision": tuple(
                       x.double() for x in _sending(K=3, T=1, d_out=1, d_e=2, seed=5)),
                   "nothing arrives, and nothing is there": (torch.full((1, 2, 2), 0.5), torch.zeros(1, 2, 1),
                                                             torch.ones(2, 1), numbers("0 0  1 0", 2, 2))},
          forbidden=("coursekit.explain.norm_attention", "coursekit.explain.norm_maps"),
          instead="matrix products and a norm", parts=("norms", "mixing"),
          hints={"shapes": "Head i has the columns i·d_out to (i + 1)·d_out of W_o, (d_e, d_out), and values v[i] (T, "
                           "d_out)."})
def carried(A, v, W_o, x):
    """carried(A, v, W_o, x): (norms (T, T) of what s receives from t, mixing (T,))."""
    return _lengths(_sent(A, v, W_o).sum(0), x)


def _sent(A, v, W_o, interleaved=False):
    """(K, T, T, d_e): the vector that head i brings from t to s."""
    K, T, d_out = v.shape
    by_head = torch.stack([W_o[:, i::K] for i in range(K)]) if interleaved else torch.stack(W_o.chunk(K, 1))
    return torch.einsum("kst,ktd,ked->kste", A, v, by_head)


def _lengths(sent, x, mixing="vectors"):
    """norms (T, T) and mixing (T,) of vectors (T, T, d_e)."""
    own = sent.diagonal() if mixing == "turned" and x.shape == x.T.shape else sent.diagonal().T       # (T, d_e)
    others = (sent.sum(1) - own).norm(dim=-1)
    kept = (x + own).norm(dim=-1)
    if mixing == "lengths":
        others = sent.norm(dim=-1).sum(1) - own.norm(dim=-1)
    if mixing == "both":
        others = sent.sum(1).norm(dim=-1)
    if mixing == "sent":
        others = (sent.sum(0) - own).norm(dim=-1)
    if mixing == "all":
        others, kept = sent.sum(1).norm(dim=-1), x.norm(dim=-1)
    if mixing == "only x":
        kept = x.norm(dim=-1)
    if mixing == "no x":
        kept = own.norm(dim=-1)
    if mixing == "apart":
        kept = x.norm(dim=-1) + own.norm(dim=-1)
    if mixing == "all of it":
        return sent.norm(dim=-1), others / (x + sent.sum(1)).norm(dim=-1)
    if mixing == "ratio":
        return sent.norm(dim=-1), others / kept
    there = kept > 0 if mixing == "nothing kept" else others + kept > 0
    return sent.norm(dim=-1), torch.where(there, others / (others + kept), torch.zeros_like(others))


MIXINGS = (("lengths", "for the mixing, lengths were added up. What comes from the others is added up as *vectors*, "
                       "which can cancel, and then measured."),
           ("all", "for the mixing, everything that attention brings was counted as the others'. What s brings to "
                   "itself, r_ss, belongs to its own part."),
           ("both", "for the mixing, what s brings to itself, r_ss, is still among what comes from others."),
           ("sent", "for the mixing, what s *sends* was added up. What s receives is row s of r: a sum over t."),
           ("turned", "for the mixing, what s brings to itself is read in the wrong direction: `r.diagonal()` puts the "
                      "axis of the diagonal last, (d_e, T)."),
           ("only x", "the own part of the mixing lacks what s brings to itself: x_s + r_ss, added before the norm."),
           ("no x", "the own part of the mixing lacks x_s, which comes over the skip connection."),
           ("apart", "the own part of the mixing is the length of a sum: add x_s and what s brings to itself first."),
           ("all of it", "the mixing is divided by the length of everything together. Divide by the sum of the two "
                         "lengths."),
           ("nothing kept", "where b alone is 0, the mixing is 0 here. Everything came from others then, and it is 1."),
           ("ratio", "the mixing is others / own here. It is others / (others + own), between 0 and 1."))


@carried.suspect
def _(got, A, v, W_o, x):
    if type(got) not in (list, tuple) or len(got) != 2:
        return "Return both: the norms (T, T) and the mixing (T,)."
    (norms, mixing), sent, (K, T, d_out) = got, _sent(A, v, W_o), v.shape
    right, due = _lengths(sent.sum(0), x)
    if kind(norms) != "a tensor" or kind(mixing) != "a tensor":
        return "Both are tensors: norms (T, T), mixing (T,)."
    if norms.dtype != A.dtype or mixing.dtype != A.dtype:
        return DTYPE
    if T > 1 and tuple(norms.shape) == (T,) and tuple(mixing.shape) == (T, T):
        return "The two have changed places: first the norms, then the mixing."
    if same(norms, sent.sum(0)):
        return "Those are the vectors. Asked for is the length of each."
    if tuple(norms.shape) == (K, T, T) and K > 1:
        return ("There is a map for each head. What the heads bring is added up, as vectors, before the norm: one map "
                "(T, T).")
    if same(norms, right):
        if tuple(mixing.shape) != (T,):
            return "The norms are right. The mixing is one number for each token, (T,)."
        blank = (x == 0).all(1) & (right == 0).all(1)                   # 0/0
        if blank.any() and same(mixing[~blank], due[~blank]):
            return "The norms are right. Where nothing is there and nothing arrives, the mixing is 0/0. It is 0 there."
        if same(mixing, 1 - due):
            return "The norms are right. The mixing is turned round: the share of the *others*, not of what is its own."
        for change, words in MIXINGS:
            other = _lengths(sent.sum(0), x, change)[1]
            there = other.isfinite()                                    # others / own may be infinite
            if not same(other[there], due[there]) and same(mixing[there], other[there]):
                return "The norms are right; " + words
        return ("The norms are right, the mixing is not. For one s: which vectors come from others, which are its own? "
                "Add up each group, then take two lengths.")
    if tuple(norms.shape) != (T, T):
        return "norms has an entry for each pair of tokens, (T, T)."
    by_head, values, variants = sent.norm(dim=-1), torch.einsum("kst,ktd->kstd", A, v), []
    if K > 1:
        variants += [
            (by_head.sum(0), "Norms of the heads were added up. The heads write into the same stream, where their "
                             "vectors can cancel: add the vectors, then take the norm."),
            (by_head.mean(0), "This is the mean of the heads' norms. Add the heads' vectors first, then take the "
                              "norm."),
            (by_head.amax(0), "This is the largest of the heads' norms. Add the heads' vectors first, then take the "
                              "norm."),
            (right / K, "The heads were averaged. Each writes into the stream in full: their vectors are added up."),
            (_lengths(_sent(A, v, W_o, interleaved=True).sum(0), x)[0],
             "W_o was cut into every K-th column. Head i has d_out columns that stand side by side, from i·d_out on."),
            (_sent(A.mean(0).expand_as(A), v, W_o).sum(0).norm(dim=-1),
             "The heads' weights were averaged before they met their values. Each head's values have weights of their "
             "own."),
            (sent[0].norm(dim=-1), "Only the first head came in."),
            (_sent(A, v, W_o[:, :d_out].repeat(1, K)).sum(0).norm(dim=-1),
             "The columns of head 0 were used for all heads: head i has those from i·d_out on.")]
    if d_out * K == len(W_o):
        variants += [(_lengths(_sent(A, v, W_o.T).sum(0), x)[0], "W_o was transposed, or cut by rows. A head writes "
                                                                 "W_o^(i) v: head i has *columns* of W_o, and a row "
                                                                 "vector goes through `v @ W.T`.")]
    variants += [
        (values.permute(1, 2, 0, 3).flatten(2).norm(dim=-1),
         "W_o is missing: what a head brings is W_o^(i) v, not v itself."),
        (values.sum(0).norm(dim=-1), "W_o is missing: what a head brings is W_o^(i) v, not v itself."),
        *((value, "Rows and columns have changed places: A[i, s, t] is how strongly s looks at t, and row s of the "
                  "norms holds what s *receives*.") for value in (right.T, _sent(A.mT, v, W_o).sum(0).norm(dim=-1))),
        (right.square(), "Those are squares of the lengths: the root is missing."),
        (_lengths(_sent(torch.ones_like(A), v, W_o).sum(0), x)[0],
         "The attention weights are missing: what head i brings from t is multiplied by A[i, s, t]."),
        (sent.sum(0).abs().sum(-1), "The absolute values were added up. The length of a vector is the root of the sum "
                                    "of squares."),
        ((sent.sum(0) + torch.diag_embed(x.T).permute(1, 2, 0)).norm(dim=-1),
         "x was added on the diagonal of the norms. It belongs to the mixing alone.")]
    return first_match(norms, unlike(right, variants)) or (
        "Take one pair s, t by hand: for each head A[i, s, t] times W_o^(i) v_t; add these K vectors; take the length.")
