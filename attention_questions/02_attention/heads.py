"""Checks of assignment 02, second half: several heads, a test of equivariance, a folded head, one's own experiment."""

from attention_questions.prelude import ATTENTIONS, CheckFailed, Question, difference, kind, rounded, same, torch
from coursegrade.kit.experiment import experiment
from coursekit.models import causal_mask, scaled_dot_product_attention, sinusoidal_positions

from . import solution
from .one_head import COLUMNS

# -- multi_head ------------------------------------------------------------------------------------------------------

def _stacked(T, d_e, d_att, d_out, K, seed):
    """Arguments of multi_head, small, so that no map is all zeros and ones."""
    shapes = (T, d_e), (K * d_att, d_e), (K * d_att, d_e), (K * d_out, d_e), (d_e, K * d_out)
    return (*(rounded(*shape, seed=seed + i) / 2 for i, shape in enumerate(shapes)), K)


multi_head = Question(solution.multi_head, (1, 3), {
    "two heads": _stacked(T=5, d_e=6, d_att=4, d_out=3, K=2, seed=4),
    "one head": _stacked(T=4, d_e=3, d_att=2, d_out=5, K=1, seed=20),
    "three heads": _stacked(T=4, d_e=5, d_att=2, d_out=1, K=3, seed=30)},
    returns="output (T, d_e), A (K, T, T)", forbidden=ATTENTIONS, lend=("softmax", "self_attention"),
    instead="your self_attention, or matrix products and your softmax",
    hints={"shapes": "Are the matrices cut by rows? And the heads' outputs put side by side (dim=1)?"},
    otherwise="Look at one head alone: are its queries and keys the rows i·d_att to (i + 1)·d_att of W_q and "
              "W_k, times e? Then the heads' outputs side by side, head after head, before W_o.",
    why="A loop over heads: each is question 2 again, with rows of its own. chunk(K) cuts into K parts whatever their "
        "size is, so that d_att and d_out may differ. (One product for all heads is faster, and harder to read.)")

HEADS, SIDE = "zip(W_q.chunk(K), W_k.chunk(K), W_v.chunk(K))", "torch.cat(outputs, 1)"


def _at_once(split, axis=-1, join=lambda heads: torch.cat(list(heads), 1)):
    """All heads in one product, queries, keys and values (K, T, d) made by `split`."""
    def answer(e, W_q, W_k, W_v, W_o, K):
        q, k, v = (split(e @ W.T, K) for W in (W_q, W_k, W_v))
        A = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, axis)
        return join(A @ v) @ W_o.T, A
    return answer


def _cut(rows):
    """The heads, cut out of the rows of the three matrices in another way."""
    return f"{HEADS} → (({rows} for W in (W_q, W_k, W_v)) for i in range(K))"


def _scaled(root):
    """Scores that are divided by another root."""
    return f"W_q.chunk(K) → (W_q * (len(W_q) / K) ** 0.5 / {root}).chunk(K)"


multi_head.mistakes(
    ("W_v has K·d_out rows: is it cut by d_out, not by d_att?", "W_v.chunk(K) → W_v.split(len(W_q) // K)"),
    ("The heads are interleaved: head i took every K-th row. Head 0 has the first d_att rows of W_q, head 1 the next "
     "ones: split(d_att), or a reshape to (T, K, d_att).", _cut("W[i::K]")),
    ("Tokens and heads got mixed: reshape (T, K·d_att) to (T, K, d_att) first, then move K to the front by "
     "transpose. A reshape straight to (K, T, d_att) cuts elsewhere.",
     _at_once(lambda x, K: x.reshape(K, len(x), -1))),
    ("The heads were cut by d_e // K rows. The size of a head is the number of rows of W_q, over K.",
     "W_q.chunk(K), W_k.chunk(K) → W_q.split(e.shape[1] // K), W_k.split(e.shape[1] // K)"),
    ("All heads are the same one. Each has rows of its own in W_q, W_k and W_v: head i begins at row i·d_att.",
     f"{HEADS} → [*{HEADS}][:1] * K"),
    ("Head i begins at row i·d_att (and i·d_out of W_v), not at row i.", _cut("W[i:i + len(W) // K]")),
    ("The matrices were not cut: this is one head of size K·d_att.",
     f"{HEADS} → [(W_q, W_k, W_v)]", "torch.stack(maps) → torch.stack(maps * K)"),
    ("All heads have the same map. Each has rows of its own in W_q and W_k.",
     "zip(W_q.chunk(K), W_k.chunk(K) → zip(W_q.chunk(K)[:1] * K, W_k.chunk(K)[:1] * K"),
    ("Here heads look at heads, for each token. The heads come to the front before the product: (K, T, d_att).",
     _at_once(lambda x, K: x.view(len(x), K, -1), join=lambda tokens: tokens.flatten(1))),
    ("The heads stand in the wrong order: the first d_att rows are head 0.", f"{HEADS} → [*{HEADS}][::-1]"),
    ("The scores are not scaled: where is √d_att?", _scaled("1")),
    ("The scores are divided by the root of K·d_att, the size of all heads together. Each head divides by the root of "
     "its own size.", _scaled("len(W_q) ** 0.5")),
    ("The scores are divided by √d_e. Each head divides by √d_att.", _scaled("e.shape[1] ** 0.5")),
    ("The scores are divided by d_att. It is its square root.", _scaled("(len(W_q) / K)")),
    ("The scores are divided by √d_out. It is √d_att, the length of a query.", _scaled("(len(W_v) / K) ** 0.5")),
    ("The scores are divided by √(d_e / K). The size of a head is the number of rows of W_q, over K.",
     _scaled("(e.shape[1] / K) ** 0.5")),
    ("Queries and keys have changed places: W_q is cut for the queries, W_k for the keys.",
     "W_q.chunk(K), W_k.chunk(K) → W_k.chunk(K), W_q.chunk(K)"),
    ("The softmax runs over the heads. Of (K, T, T), the tokens that are looked at are the last axis.",
     _at_once(lambda x, K: torch.stack(x.chunk(K, 1)), axis=0)),
    ("The outputs are interleaved: the first number of each head, then the second. Head after head: torch.cat.",
     f"{SIDE} → torch.stack(outputs, -1).flatten(1)"),
    ("Nothing is divided by K: W_o mixes the heads as they are.", "W_o.T → W_o.T / K"),
    ("Nothing is added to the output: there is no residual connection here.", "W_o.T → W_o.T + e"),
    ("The maps are transposed: row s holds the weights that token s gives.", "stack(maps) → stack(maps).mT"),
    (COLUMNS, _at_once(lambda x, K: torch.stack(x.chunk(K, 1)), axis=1)),
    ("The heads stand side by side, as they should, but W_o did not mix them.", " @ W_o.T → "),
    ("W_o acts from the wrong side. With a row for each token, W_o x becomes x @ W_o.T.", "W_o.T → W_o"),
    ("The heads' outputs were averaged. They are put side by side: torch.cat.",
     f"{SIDE} → torch.stack(outputs).mean(0).repeat(1, K)"),
    ("The heads' outputs stand in the wrong order.", "(outputs, 1) → (outputs[::-1], 1)"),
    ("The maps are right, the output is not: a reshape of (K, T, d) to (T, K·d) mixes tokens and heads, unless T comes "
     "first before it.", f"{SIDE} → torch.stack(outputs).reshape(len(e), -1)"))


@multi_head.suspect
def _(got, e, W_q, W_k, W_v, W_o, K):
    output, A = got
    right, _ = multi_head.reference(e, W_q, W_k, W_v, W_o, K)
    if kind(A) == "a tensor" and A.shape[1:] == (len(e), len(e)) and len(A) != K:
        yield (f"There are {len(A)} maps, one for each of {K} heads is due. `chunk(n)` cuts into n parts, `split(n)` "
               "into parts of n rows.")
    if same(output, right) and not (kind(A) == "a tensor" and A.shape == (K, len(e), len(e))):
        yield "The output is right. Put the maps on top of each other: torch.stack gives (K, T, T)."


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


is_equivariant = Question(solution.is_equivariant, (0, 0), {
    "attention with positions": (known(_attend(positions=True), False), 6, 8),
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
    given=_bare, also=_several_tries,
    why="One pair of results that differ is enough for False, so it returns at the first. Twenty random inputs, each "
        "in a random order, are hard to pass by luck; they prove nothing.")


@is_equivariant.judge
def _(got, layer, T, d):
    yield difference(got, layer.equivariant)


@is_equivariant.suspect
def _(got, layer, T, d):
    calls = len(layer.calls)
    if kind(got) != "True or False":
        yield "The answer is one word, True or False. `==` of two tensors compares every entry; torch.allclose all."
    if not calls:
        yield "The layer was never called. Its code is not to be seen: try it out."
    if calls == 1:
        yield ("The layer was called once. It takes two outputs to compare: of an input, and of the same input "
               "reordered.")
    if layer.equivariant:
        yield ("This layer is equivariant. Is it layer(e)[order] that you compare with layer(e[order])? And with a "
               "tolerance? Sums in another order differ in the last digit: torch.allclose(…, atol=1e-4).")
    yield ("This layer is not equivariant. One special reordering (a swap of two, a reversal, a shift) does not show "
           "it, nor an input whose rows are equal or whose numbers are all above 0, nor a comparison that forgives "
           "more than 10⁻⁴. Try several random orders of a random input: one try is not enough.")


# -- fold ------------------------------------------------------------------------------------------------------------

HEAD = tuple(rounded(*shape, seed=13 + i) for i, shape in enumerate([(3,), (2, 3), (2, 3), (5, 3), (5,)]))
SQUARE = tuple(rounded(*shape, seed=40 + i) for i, shape in enumerate([(3,), (3, 3), (3, 3), (2, 3), (2,)]))


fold = Question(solution.fold, (2, 3), {
    "d_e = 3, d_att = 2, d_out = 5": HEAD, "d_e = d_att = 3, d_out = 2": SQUARE},
    returns="u (d_e,), w (d_e,)", forbidden=("coursekit.models.AttentionClassifier",), instead="matrix products",
    hints={"shapes": "In (W x)·y = x·(…) the matrix changes sides: what becomes of it there?"},
    otherwise="Start from q·k_t with q = W_q e_cls and k_t = W_k e_t. Write it as (a vector)·e_t: that vector, "
              "scaled, is u. And w is the vector whose product with e_t is W_ℓ · W_v e_t.",
    why="Each matrix meets a vector, the brackets see to that: W_q e_cls first, then W_k transposed. A product of two "
        "matrices gives the same, and takes longer.")
fold.mistakes(
    ("u lacks the division by √d_att: α_t is to be exp(e_t·u), divided by its sum.", " / math.sqrt(len(W_q)) → "),
    ("u is divided by √d_e. It is √d_att, the length of a query.", "len(W_q) → len(e_cls)"),
    ("u is divided by √d_out. It is √d_att, the length of a query.", "len(W_q) → len(W_v)"),
    ("u is divided by d_att. It is its square root.", "math.sqrt → "),
    ("u is divided by half of d_att: `d ** 1 / 2` is (d ** 1) / 2. The root is `d ** 0.5`.",
     "math.sqrt(len(W_q)) → (len(W_q) / 2)"),
    ("u is multiplied by √d_att. The scores are divided by it.", "/ math → * math"),
    ("w has no root: only scores are scaled.", "@ W_l → @ W_l / math.sqrt(len(W_q))"),
    ("q·(W_k e_t) = (W_kᵀ q)·e_t: the matrix changes sides transposed.",
     "W_k.T → (W_k if len(W_k) == len(e_cls) else W_k.T)"),
    ("The class token asks: its embedding goes through W_q, the others' through W_k.",
     "W_k.T @ (W_q @ e_cls) → W_q.T @ (W_k @ e_cls)"),
    ("The class token asks, and all tokens answer: its query is W_q e_cls, and u is made of that and of W_k.",
     "(W_q @ e_cls) → (W_k @ e_cls)"),
    ("The class token asks, and all tokens answer: its query is W_q e_cls, and u is made of that and of W_k.",
     "W_k.T → W_q.T"),
    ("e_cls is missing: the query is W_q e_cls, and no sum over W_q.", "(W_q @ e_cls) → W_q.sum(1)"),
    ("A matrix changes sides transposed: a·(W b) = (Wᵀ a)·b. No inverse is due.",
     "W_k.T → torch.linalg.pinv(W_k)", "W_v.T → torch.linalg.pinv(W_v)"),
    ("u is divided by its own length. Its length counts: the longer u, the sharper the attention.",
     "/ math.sqrt(len(W_q)) → / (W_k.T @ (W_q @ e_cls)).norm()"),
    ("w sums up the columns of W_v. W_ℓ says how much each of its rows counts.", "W_v.T @ W_l → W_v.sum(0)"),
    ("There is a softmax in u. It is taken over the tokens, of e_t·u, and not in here.",
     "W_k.T @ (W_q @ e_cls) / math.sqrt(len(W_q)) → torch.softmax(W_k.T @ (W_q @ e_cls) / math.sqrt(len(W_q)), 0)"),
    ("u has the length of a query. It is to be multiplied with e_t itself: W_k has to go into it, too.", "W_k.T @ → "),
    ("u is a vector. Is W_q applied to e_cls, so that no matrix is left?", "(W_q @ e_cls) → W_q"))


# -- my_experiment ---------------------------------------------------------------------------------------------------

my_experiment = experiment(
    solution.my_experiment, (3, 0),
    why="Keys are made with W_q, too: a token's own score is then a square over √d_att, never negative. So there was a "
        "reason to say which way its weight goes, and any seed could have shown the opposite.")
