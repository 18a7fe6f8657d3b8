"""Check of assignment 08 on the gradient of a layer, split into the two ways on which a token acts."""

from attention_questions.prelude import Question, kind, torch

from . import solution

NOT_BY = ("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward", "torch.func.grad",
          "torch.func.vjp", "torch.func.jacrev", "torch.func.jacfwd", "torch.autograd.functional.jacobian",
          "coursekit.explain.gradient_closed_form")


def drawn(T, d_e, d_att, d_out, K, seed, times=1.0):
    """Arguments with small whole numbers over 2, in double precision; `times` makes the queries larger."""
    generator = torch.Generator().manual_seed(seed)
    e, q, W_k, W_v, W_l = (torch.randint(-3, 4, shape, generator=generator) / 2 for shape in (
        (T, d_e), (K, d_att), (K, d_att, d_e), (K, d_out, d_e), (K, d_out)))
    return e.double(), times * q.double(), W_k.double(), W_v.double(), W_l.double()


two_ways = Question(solution.two_ways, (1, 2), {
    "one head": drawn(T=3, d_e=2, d_att=4, d_out=1, K=1, seed=3),
    "two heads": drawn(T=4, d_e=3, d_att=2, d_out=2, K=2, seed=5),
    "large scores": drawn(T=3, d_e=2, d_att=4, d_out=3, K=2, seed=8, times=400.0)},
    returns="by_value (T, d_e), by_key (T, d_e)", forbidden=NOT_BY, instead="the formula",
    tolerance=(1e-6, 1e-6),                             # √d_att may be in single precision, torch.tensor(2.0).sqrt()
    why="Folded, a head is two vectors: u for how loud a token is, w for what it says. Values move the score along w, "
        "by α; keys along u, by α times how far y is from its mean, over the root.",
    otherwise="Do one head first, by the folded maps: u = W_kᵀq and w = W_vᵀW_ℓ are vectors (d_e,), and y = e·w "
              "are T numbers. Print y and its mean under α before you go on.")


def _before_the_heads(line):
    """An edit: this line comes first, where nothing is split into heads yet."""
    return f"for i in range → {line}\n    for i in range"


SCORES = "scale * torch.einsum('kad,ka,td->kt', W_k, q, e)"             # of all heads, (K, T)
two_ways.mistakes(
    ("`by_key` lacks a root: the score is qᵀk_t/√d_att, so what the key does is divided by √d_att, too.",
     "by_key += scale * → by_key +="),
    ("The scores inside the softmax are to be divided by √d_att.", "scale * (e @ u) → e @ u"),
    ("There is no √d_att at all, neither in the scores nor in what the key does.", "W_k.shape[1] ** -0.5 → 1"),
    ("The root is that of d_att, the length of a query. Here it is that of d_e.", "W_k.shape[1] → W_k.shape[2]"),
    ("The root is that of d_att, the length of a query. Here it is that of d_out.", "W_k.shape[1] → W_v.shape[1]"),
    ("The heads were added up. f is their mean.", "by_value / len(q), by_key / len(q) → by_value, by_key"),
    ("These are the parts of the last head, divided by K. f is the mean of all heads: add them up.",
     "for i in range(len(q)) → for i in (len(q) - 1,)"),
    ("The maps of the first head were taken for all. Each head has its own.",
     "W_k[i].T @ q[i], W_v[i].T @ W_l[i] → W_k[0].T @ q[0], W_v[0].T @ W_l[0]"),
    ("In `by_key` the mean is missing: more attention for one token is less for all others, so v_t counts by how far "
     "it is from Σ α_s v_s.", "(y - alpha @ y) → y"),
    ("The mean in `by_key` counts all tokens alike. It is the head's output: each v_s counts with its α_s.",
     "alpha @ y → y.mean()"),
    ("`by_key` was centred with the output of all heads. Each head has a mean of its own.",
     _before_the_heads(f"f = torch.einsum('kt,td,kod,ko->', torch.softmax({SCORES}, 1), e, W_v, W_l) / len(q)"),
     "alpha @ y → f"),
    ("`by_key` lacks the factor α_t: a token that gets no attention does not change the score.",
     "alpha * (y - alpha @ y) → y - alpha @ y"),
    ("In `by_key` each score changes its own weight alone, α_t(1 − α_t). It changes the weights of the others as well.",
     "(y - alpha @ y) → (1 - alpha) * y"),
    ("`by_value` is what a value does with the weight that it has: α_t is missing.",
     "outer(alpha, w) → outer(torch.ones_like(alpha), w)"),
    ("The softmax ran over the heads. Within each head the weights of the T tokens add up to 1.",
     _before_the_heads(f"A = torch.softmax({SCORES}, 0)"), "torch.softmax(scale * (e @ u), 0) → A[i]"),
    ("`by_key` has the wrong sign: v_t less the mean, not the mean less v_t.", "y - alpha @ y → alpha @ y - y"))


@two_ways.suspect
def _(got, *arguments):
    if any(kind(part) == "a tensor" and not part.isfinite().all() for part in got):
        yield "Something is not a number: exp of a large score is infinite. Take the largest score away first."
