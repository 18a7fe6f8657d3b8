"""Checks of assignment 03: causal attention, several heads from one matrix, some of them silent."""

from attention_questions.prelude import ATTENTIONS, Question, rounded, same
from coursegrade.kit.mistakes import as_answer

from . import solution


def _fused(T, d_e, K, seed, size=1, silent=None):
    """Arguments of causal_attention; with size 16 scores of which no exp can be taken."""
    shapes = (T, d_e), (3 * d_e, d_e), (3 * d_e,), (d_e, d_e), (d_e,)
    x, *weights = (rounded(*shape, seed=seed + i) / 2 for i, shape in enumerate(shapes))
    return (size * x, *weights, K, *([silent] if silent is not None else []))


causal_attention = Question(solution.causal_attention, (2, 3), {
    "two heads": _fused(T=4, d_e=6, K=2, seed=70), "one head": _fused(T=3, d_e=2, K=1, seed=60),
    "three heads": _fused(T=5, d_e=6, K=3, seed=80), "one token": _fused(T=1, d_e=4, K=2, seed=90),
    "large scores": _fused(T=4, d_e=4, K=2, seed=95, size=16),
    "head 2 of three is silent": _fused(T=5, d_e=6, K=3, seed=80, silent=[2]),
    "two of three are silent": _fused(T=4, d_e=6, K=3, seed=75, silent=[1, 0]),
    "all are silent": _fused(T=3, d_e=4, K=2, seed=65, silent=[0, 1])},
    tolerance=(1e-3, 1e-3), returns="(T, d_e)",                         # large scores make much of rounding
    forbidden=(*ATTENTIONS, "coursekit.models.gpt2.CausalAttention"), instead="matrix products and torch.softmax",
    otherwise="Follow one head: are its queries, keys and values the columns i·d_e/K to (i + 1)·d_e/K of the three "
              "blocks? Does row s of its weights end at column s, and sum to one? A silent head gives zeros where its "
              "output would stand.",
    hints={"shapes": "x @ W_qkv.T is (T, 3·d_e). Cut into three, and each into heads, by columns, that makes (T, "
                     "d_e/K) for a head. A silent head keeps its place: zeros stand where its output would.",
           "ValueError": "Does the cut make three parts? `chunk(3)` cuts rows, the tokens; `chunk(3, 1)` cuts "
                         "columns."})

HEADS, SIDE_BY_SIDE, SILENT = ("zip(q.chunk(K, 1), k.chunk(K, 1), v.chunk(K, 1))", "torch.cat(outputs, 1)",
                               "torch.zeros_like(v_i) if i in silent else ")
SCALED = "The root is that of a head's size, d_e/K: scores are divided by it. "
LOWER_STILL = "The future has a large negative score here, and scores may be lower still. Only −∞ is below every other."
causal_attention.mistakes(
    ("Every token sees the whole text, the future too: where is the causal mask?",
     ".masked_fill(future, -math.inf) → "),
    ("The mask is the wrong way round: tokens see themselves and the future.", "triu(1) → tril(-1)"),
    ("A token does not see itself here. Only t > s is forbidden.",
     "triu(1) → triu()", "-math.inf), 1) → -math.inf), 1).nan_to_num()"),
    ("Each token sees one token of the future. Token s sees the tokens 0 to s.", "triu(1) → triu(2)"),
    (LOWER_STILL, "-math.inf → -10"),
    ("The future has the score 0 here, and e⁰ = 1: it counts. Only a score of −∞ gives a weight of 0.",
     "-math.inf → 0"),
    ("The mask comes after the softmax, so rows no longer sum to one, and the future has been used.",
     "scores.masked_fill(future, -math.inf), 1) → scores, 1).masked_fill(future, 0)"),
    ("The columns sum to one, the rows should: is the softmax over the wrong axis?", "-math.inf), 1) → -math.inf), 0)"),
    ("The heads were cut first, and then each into query, key and value. In GPT-2 it is the other way round: first "
     "three blocks of d_e columns, Q, K and V, and then each into heads.",
     f"{HEADS} → (head.chunk(3, 1) for head in (x @ W_qkv.T + b_qkv).chunk(K, 1))"),
    ("The heads are interleaved: head i took every K-th column. Head 0 has the first d_e/K columns of Q, head 1 the "
     "next ones.", f"{HEADS} → ((q[:, i::K], k[:, i::K], v[:, i::K]) for i in range(K))"),
    ("Tokens and heads got mixed: first (T, d_e) to (T, K, d_e/K), then K to the front with transpose. A reshape "
     "straight to (K, T, d_e/K) cuts elsewhere.",
     f"{HEADS} → zip(*(part.reshape(K, len(x), -1) for part in (q, k, v)))"),
    ("The heads' outputs got mixed on the way back: from (K, T, d_e/K), T comes to the front (transpose) before the "
     "heads are put side by side.", f"{SIDE_BY_SIDE} → torch.stack(outputs).reshape(len(x), -1)"),
    ("Here heads look at heads, for each token. The heads come to the front before the product: (K, T, d_e/K).",
     f"{HEADS} → zip(*(part.view(len(x), K, -1) for part in (q, k, v)))", "(len(x), len(x)) → (K, K)", f"{SILENT} → ",
     f"{SIDE_BY_SIDE} → torch.stack(outputs).flatten(1)"),
    ("The scores are not scaled: where is the root?", " / math.sqrt(q_i.shape[1]) → "),
    (SCALED + "Here it is √d_e, of all heads together.", "q_i.shape[1] → q.shape[1]"),
    (SCALED + "Here it is d_e/K itself.", "math.sqrt → "),
    ("Queries and keys have changed places, in the cut (the queries come first in W_qkv) or in the product (row s of "
     "the scores belongs to query s).", "q_i @ k_i.T → k_i @ q_i.T"),
    ("b_o was added before W_o. It is added at the very end.",
     f"{SIDE_BY_SIDE} @ W_o.T + b_o → ({SIDE_BY_SIDE} + b_o) @ W_o.T"),
    ("With all heads silent the output's bias b_o is left, in every row.", "+ b_o → + b_o * (len(silent) < K)"),
    ("The heads stand side by side, as they should, but W_o and b_o did not mix them.", " @ W_o.T + b_o → "),
    ("The output's bias b_o is missing.", " + b_o → "),
    ("b_o was added more than once. It is added at the end, not for each head.", "+ b_o → + K * b_o"),
    ("W_o acts from the wrong side. It is (out, in), as in every linear layer: y @ W_o.T.", "W_o.T → W_o"),
    ("The bias b_qkv is missing.", " + b_qkv → "),
    ("That is one big head. Q, K and V are cut into K heads, by columns.", f"{HEADS} → [(q, k, v)]", f"{SILENT} → "),
    ("The heads have K columns each. There are K heads, of d_e/K columns: `chunk` wants a number, `split` a size.",
     f"{HEADS} → zip(q.split(K, 1), k.split(K, 1), v.split(K, 1))", f"{SILENT} → "),
    ("Nobody is silent here: the heads whose numbers stand in `silent` give zeros in place of their output.",
     f"{SILENT} → "),
    ("Rows of W_o were cleared. Head i comes into the output through the *columns* i·d_e/K to (i + 1)·d_e/K of W_o.",
     f"{SILENT} → ", "return → W_o = W_o.clone()\n    for i in silent:\n        W_o.chunk(K)[i][:] = 0\n    return"))

LOW = [as_answer(solution.causal_attention, f"-math.inf → {low}") for low in (-1e4, -1e5)]  # few scores are lower


@causal_attention.suspect
def _(got, x, *rest):
    if not got.isfinite().all() and x.abs().max() > 8:
        yield ("∞/∞ is not a number, and exp makes ∞ of large scores: take the largest score of the row away first. "
               "torch.softmax does.")
    if not got.isfinite().all():
        yield ("A row in which everything is forbidden is 0/0: may every token see at least itself? Is the softmax "
               "over the last axis? (−∞ · 0 is not a number either: masked_fill puts −∞ where it belongs.)")
    yield LOWER_STILL if any(same(got, answer(x, *rest)) for answer in LOW) else None
