"""Checks of assignment 05: how far what a head brings would move if it looked evenly; an experiment of the student's
own; and a review in which the mean attention points at the wrong word."""

from attention_questions.prelude import Question, functools, kind, np, numbers, same, torch
from coursegrade.kit.experiment import experiment
from coursekit.models import load_weights

from . import solution
from .reading import CUT, CUTS, _sending

# -- by_looking ------------------------------------------------------------------------------------------------------

ONE = numbers("1 0  0.7 0.3", 1, 2, 2), numbers("4 0", 1, 2, 1), numbers("3 4", 2, 1)               # of length 20, 14
LATER = (torch.tensor([[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]],
                       [[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.0, 0.5, 0.5]]]),
         *_sending(K=2, T=3, d_out=1, d_e=2, seed=4)[1:3])

by_looking = Question(solution.by_looking, (1, 2), {
    "one head, causal": (*ONE, True),
    "one head that sees everything": (*ONE, False),
    "two heads, causal": (*LATER, True),
    "the same two heads without the mask": (*LATER, False),
    "as large as the heads together": (*_sending(K=2, T=3, d_out=2, d_e=4, seed=7)[:3], False),
    "one token, double precision": (*(x.double() for x in _sending(K=3, T=1, d_out=1, d_e=2, seed=5)[:3]), True)},
    returns="brought (K, T), moved (K, T)",
    otherwise="Take one head and one row by hand: the vectors W_o^(i) v_t of the tokens that the row sees; their sum "
              "with the weights of A; their mean. How long is the first sum, and how long the difference of the two?",
    hints={"shapes": "Head i has the columns i·d_out to (i + 1)·d_out − 1 of W_o, (d_e, d_out), and values v[i] (T, "
                     "d_out). What it sends is (T, d_e)."},
    promises={"each row of `A` sums to one": lambda A, v, W_o, causal: same(A.sum(-1), torch.ones_like(A[..., 0]))},
    why="An even look is a map like any other, so both vectors are made by one and the same product: A @ f and even @ "
        "f.\nThe mask is in the map alone: a row of it is 1/(s + 1) up to s, and 0 behind.")

VECTORS, LENGTHS = "h, g = A @ f, even @ f", "return h.norm(dim=-1), (h - g).norm(dim=-1)"
by_looking.mistakes(
    ("With the mask, even attention is spread over the s + 1 tokens that row s sees, and not over all T.",
     "if causal → if False"),
    ("The mask was used here though `causal` is False. Then each row sees all T tokens.", "if causal → if True"),
    ("A token sees itself as well: with the mask, row s sees the tokens t ≤ s.",
     ".tril() → .tril(-1)"),
    ("The even weights are ones here. Each row of them sums to one: divide by the number of tokens that it sees.",
     "seen / seen.sum(1, keepdim=True) → seen"),
    ("The even weights are the same in each *column*. A row is divided by how many tokens that row sees.",
     "seen.sum(1, keepdim=True) → seen.sum(0)"),
    ("The even weights of masked tokens are not 0: softmax of ones and zeros leaves them some. Masked scores are −∞.",
     "seen / seen.sum(1, keepdim=True) → torch.softmax(seen, -1)"),
    ("What a row sees was taken from the weights. A weight may be 0 where a head could have looked.",
     "torch.ones_like(A[0]).tril() if causal else torch.ones_like(A[0]) → (A > 0).any(0).to(A.dtype)"),
    ("That is the difference of two lengths. Two vectors of the same length may point elsewhere: subtract first, then "
     "take the length.", "(h - g).norm(dim=-1) → (h.norm(dim=-1) - g.norm(dim=-1)).abs()"),
    ("The second result is what is lost if the head sends nothing. Here it goes on sending, evenly.", "(h - g) → h"),
    ("The second result is the length of what an even look brings. Asked for is how far that lies from what the head "
     "brings.", "(h - g) → g"),
    ("The second result was divided by the first. Return both lengths as they are.",
     "(h - g).norm(dim=-1) → (h - g).norm(dim=-1) / h.norm(dim=-1)"),
    ("The heads were added up. Here each head is asked alone: both results are (K, T).",
     f"{VECTORS} → h, g = (A @ f).sum(0).expand_as(f), (even @ f).sum(0).expand_as(f)"),
    ("W_o is missing: what a head brings is W_o^(i) v, not v itself.", "values @ W.T → values"),
    ("W_o was transposed, or cut by rows. A head writes W_o^(i) v: head i has *columns* of W_o, and a row vector goes "
     "through `v @ W.T`.", "W_o.chunk → (W_o.T if len(W_o) == len(W_o.T) else W_o).chunk"),
    ("Rows and columns have changed places: A[i, s, t] is how strongly s looks at t.", f"{VECTORS} → h, g = A.mT @ f, "
     "even.mT @ f"),
    ("Lengths were added up over the tokens. The vectors are added up first, and can cancel.",
     f"{VECTORS} → n = f.norm(dim=-1, keepdim=True)",
     f"{LENGTHS} → return (A @ n)[..., 0], ((A - even).abs() @ n)[..., 0]"),
    ("The weights were compared, and not what comes with them. Multiply by f first.",
     "(h - g).norm(dim=-1) → (A - even).norm(dim=-1)"),
    ("Head 0 lent its columns of W_o to all heads. Head i has the columns i·d_out to (i + 1)·d_out − 1.",
     "values @ W.T → values @ W_o[:, :v.shape[2]].T"),
    ("Those are squares of lengths: a root is missing.",
     f"{LENGTHS} → return h.square().sum(-1), (h - g).square().sum(-1)"),
    ("A length is the root of a sum of squares, and not the sum of the sizes.",
     f"{LENGTHS} → return h.abs().sum(-1), (h - g).abs().sum(-1)"),
    *((CUT, f"W_o.chunk(len(v), 1) → {cut}") for cut in CUTS),
    ("The even weights of *column* t were divided by what row t sees: sum(1) drops its axis, keepdim=True keeps it.",
     "seen.sum(1, keepdim=True) → seen.sum(1)"),
    ("Row s was divided by s. With the mask it sees s + 1 tokens, itself among them.",
     "seen.sum(1, keepdim=True) → (seen.sum(1, keepdim=True) - int(causal)).clamp(min=1)"),
    ("The even weights were divided by how many pairs there are in all. A row is divided by how many tokens it sees.",
     "seen.sum(1, keepdim=True) → seen.sum()"),
    ("The even weights stand above the diagonal. Row s sees the tokens t ≤ s: the lower triangle.",
     ".tril() → .triu()"),
    ("A token sees itself as well: with the mask, row s sees the tokens t ≤ s.", ".tril() → .tril(-1)",
     "sum(1, keepdim=True) → sum(1, keepdim=True).clamp(min=1)"),
    ("That is the difference of two lengths. Two vectors of the same length may point elsewhere: subtract first, then "
     "take the length.", "(h - g).norm(dim=-1) → h.norm(dim=-1) - g.norm(dim=-1)"),
    ("The lengths were taken along the tokens. The numbers of a vector are the last axis of h (K, T, d_e).",
     f"{LENGTHS} → return h.norm(dim=1), (h - g).norm(dim=1)"),
    ("Those are the vectors. Asked for is the length of each.", f"{LENGTHS} → return h, h - g"))


@by_looking.suspect
def _(got, A, v, W_o, causal):
    brought, moved = got
    if "a list" in (kind(brought), kind(moved)):
        yield ("Both results are tensors (K, T): torch.tensor(…) makes one of lists of numbers, torch.stack(…) of "
               "tensors.")
    right = solution.by_looking(A, v, W_o, causal)
    if same(brought, right[0]) and moved.shape == brought.shape and moved.dtype == brought.dtype:
        yield ("What is brought is right. For the other: with which weights does an even look add up the same vectors, "
               "and what is subtracted from what before the length is taken?")


# -- my_experiment ---------------------------------------------------------------------------------------------------

my_experiment = experiment(solution.my_experiment, (1, 0), otherwise="Return two numbers, for example: return "
                           "float(as_it_was), float(changed). `seed` alone may decide what is drawn.",
    why="The words of a dialogue are shuffled, and nothing else: the same model, the same words, the same places.\nIf "
        "a head goes by the place alone, its share of the token before stays; if it goes by words, it falls.")


# -- review ----------------------------------------------------------------------------------------------------------

@functools.cache
def _model():
    return load_weights("imdb-6layer")


def effects(document):
    """What the score changes by when each word becomes [UNK], and the mean attention to it, both (n,)."""
    score, *others = _model().predict([document, *(
        [*document[:i], "[UNK]", *document[i + 1:]] for i in range(len(document)))])
    A, own = _model().attentions(document).detach(), _model().own(document)
    return np.array(others) - score, solution.one_row(A, 0, own, "mean", "mean").numpy()


LENGTH = ("Marks count as well. Begin with one strong word of praise or blame, and let a few others outvote it: which "
          "word matters then?")

review = Question(solution.review, (1, 0), {"your review": ()},
    why="One *boring* draws the attention, and is outvoted by three words of praise, so that without it nothing "
        "changes;\nwithout *wonderful* a lot does: a review can lean on a single word.")


@review.judge
def _(text):
    if not isinstance(text, str):
        yield f"it returns {kind(text)}", "Return the review as one string, in quotes."
    document = _model().tokenizer.tokenize(text)
    if not 6 <= len(document) <= 20:
        yield f"it has {len(document)} words and marks, and 6 to 20 are due", LENGTH
    if strange := [word for word in document if word not in _model().tokenizer.vocab]:
        yield f"the model does not know {strange[0]!r}", "To the model that word *is* [UNK]. Choose another one."
    change, attention = effects(document)
    top, most = attention.argmax(), abs(change).argmax()
    found = (f"most attention: {document[top]}, without which the score changes by {change[top]:+.2f}; largest effect: "
             f"{document[most]}, {change[most]:+.2f}")
    if abs(change[most]) < 1:
        yield f"{found}, and at least 1 is due", ("Here no single word changes the score much. Do many say the "
                                                  "same? Then one of them more or less is nothing to the score.")
    if (ratio := abs(change[top]) / abs(change[most])) > 0.25:
        yield f"{found}; ratio {ratio:.2f}, and at most 0.25 is due", (
            "Without the word with most attention the score changes a lot. Can the others say the opposite, and "
            "louder?")
