"""Check of assignment 04 on the cache: new tokens are read behind those of which only keys and values are left."""

from attention_questions.prelude import ATTENTIONS, Question, rounded

from . import solution


def _reading(t, T, d_e, d_att, d_out, seed):
    """Arguments of read_on: t new tokens after T."""
    shapes = (t, d_e), (d_att, d_e), (d_att, d_e), (d_out, d_e), (T, d_att), (T, d_out)
    return tuple(rounded(*shape, seed=seed + i) for i, shape in enumerate(shapes))


read_on = Question(solution.read_on, (1, 0), {
    "three new tokens after five": _reading(t=3, T=5, d_e=2, d_att=3, d_out=6, seed=40),
    "one new token after four": _reading(t=1, T=4, d_e=2, d_att=3, d_out=6, seed=45),
    "three new tokens after two": _reading(t=3, T=2, d_e=2, d_att=2, d_out=3, seed=50),
    "two tokens, and an empty cache": _reading(t=2, T=0, d_e=3, d_att=2, d_out=1, seed=60),
    "one dimension": _reading(t=2, T=3, d_e=1, d_att=1, d_out=1, seed=70),
    "large scores": tuple(10 * x for x in _reading(t=3, T=2, d_e=3, d_att=2, d_out=2, seed=80)),
    "a longer text, double precision": tuple(x.double() for x in _reading(t=5, T=9, d_e=4, d_att=4, d_out=4, seed=90))},
    returns="output (t, d_out), keys (T + t, d_att), values (T + t, d_out)",
    tolerance=(1e-3, 1e-3),                                             # large scores make much of rounding
    forbidden=(*ATTENTIONS, "coursekit.models.gpt2.CausalAttention"), instead="matrix products and a softmax",
    hints={"shapes": "x @ W.T is (t, …); the cache has T rows, and with the new ones T + t. A mask of t rows "
                     "and T + t columns fits the scores.",
           "empty": "Write it, or use torch.softmax here."},
    otherwise="The cache first: the T rows of K and V, then W_k x and W_v x for each new token. If these are "
              "right and the output is not: what are the scores divided by, over which axis is the softmax, and who "
              "may look where?",
    why="The new rows are put behind the cache first; then it is attention as ever, with queries of the new tokens "
        "alone. `tril(T)` moves the triangle of the mask by the length of the cache.")
read_on.mistakes(
    ("The triangle of the mask begins at the wrong place: new token 0 sees only column 0. Its own column is T, so it "
     "sees the columns 0 to T.", "tril(len(K)) → tril()"),
    ("The new tokens see each other's future. New token i sees the T cached tokens and the new ones up to itself.",
     ".tril(len(K)) → "),
    ("A new token does not see itself. It looks at the cache with its own key already in it.",
     "tril(len(K)) → tril(len(K) - 1)"),
    ("Each new token sees one token of the future. New token i sees the columns 0 to T + i.",
     "tril(len(K)) → tril(len(K) + 1)"),
    ("The future has the score 0 here, and e⁰ = 1: it counts. Only a score of −∞ gives a weight of 0.",
     "-math.inf → 0.0"),
    ("The cache came back as it was. The new tokens' keys and values go into it, behind the old ones.",
     ", keys, values → , K, V"),
    ("Only the new keys came back. The cache is the old ones with the new ones behind them: torch.cat.",
     ", keys, values → , x @ W_k.T, x @ W_v.T"),
    ("The new keys stand in front. They come behind the old ones: the order of the rows is that of the text.",
     ", keys, values → , torch.cat([x @ W_k.T, K]), torch.cat([x @ W_v.T, V])"),
    ("The new tokens see neither themselves nor each other: they look at the cache as it was.",
     "tempered(scores.masked_fill(~allowed, -math.inf), 1) @ values → torch.softmax(scores[:, :len(K)], 1) @ V"),
    ("The new tokens look only at each other. They see the whole cache as well.",
     "~allowed → ~allowed | (torch.arange(len(keys)) < len(K))"),
    ("The scores are not scaled: where is √d_att?", " / math.sqrt(keys.shape[1]) → "),
    ("The scores are divided by √d_e. It is √d_att, the length of a key.", "keys.shape[1] → x.shape[1]"),
    ("The scores are divided by d_att. It is its square root.", "math.sqrt → "))


@read_on.suspect
def _(got, x, W_q, W_k, W_v, K, V):
    if tuple(got[0].shape) == (len(K) + len(x), V.shape[1]) and len(K):
        yield ("The output has a row for each *new* token: queries come from x alone, and the mask of the scores has "
               "as many rows, t.")
    if not got[0].isfinite().all():
        yield ("There is a row of the scores in which everything was forbidden (a new token sees all T cached tokens, "
               "and itself), or exp was taken of a large score (torch.softmax takes the largest out first).")
