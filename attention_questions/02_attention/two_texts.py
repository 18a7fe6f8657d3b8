"""Checks of assignment 02: a query from another text, and a review on which two pictures of attention disagree."""

from attention_questions.prelude import ATTENTIONS, Question, functools, rounded, services, torch
from coursekit.models import load_weights

from . import solution
from .one_head import AFTER, ATTENDING, COLUMNS, GONE

# -- cross_attention -------------------------------------------------------------------------------------------------

def _texts(S, T, d_e, d_att, d_out, seed, real=None):
    shapes = (S, d_e), (T, d_e), (d_att, d_e), (d_att, d_e), (d_out, d_e)
    return (*(rounded(*shape, seed=seed + i) for i, shape in enumerate(shapes)), *([] if real is None else [real]))


cross_attention = Question(solution.cross_attention, (1, 0), {
    "two tokens ask five": _texts(2, 5, 4, 3, 6, seed=60),
    "with padding": _texts(3, 4, 4, 2, 5, 70, torch.tensor([True, True, False, False])),
    "scores of zero": (torch.ones(1, 2), torch.tensor([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]),
                       torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[1.0, 3.0]]),
                       torch.tensor([True, True, False])),
    "a real score far below the padding's": (torch.ones(1, 2), torch.tensor([[-1e10, 0.0], [4.0, 4.0]]),
                                             *[torch.eye(2)] * 3, torch.tensor([True, False]))},
    returns="output (S, d_out), A (S, T)", forbidden=ATTENTIONS, lend=("softmax",),
    instead="matrix products and your softmax",
    hints={"shapes": "A matrix acts on rows as x @ W.T. Are queries made of x, and both the keys and the values "
                     "of memory? Then scores are (S, T), and the mask, (T,), has an entry for each column."},
    otherwise="Queries are made of x with W_q, keys and values of memory with W_k and W_v; a row of A for each "
              "token of x, from scores over √d_att, and no weight on padding.",
    promises={"At least one token is real": lambda x, memory, W_q, W_k, W_v, real=None: (
                  real is None or real.any())},
    why="Question 2, with keys and values of another text. The mask (T,) is spread over all rows by itself: an entry "
        "for each column, whoever asks.")
cross_attention.mistakes(
    *ATTENDING,
    (COLUMNS, "-math.inf), 1) → -math.inf), 0)"),
    (AFTER, "masked_fill(~real, -math.inf), 1) → clone(), 1) * (1 if real is None else real)"),
    (GONE, "masked_fill(~real, -math.inf), 1) → clone(), 1) * (1 if real is None else real)",
     "return A @ v → A = A / A.sum(1, keepdim=True)\n    return A @ v"),
    ("The two texts have changed places: x asks, memory answers.",
     lambda x, memory, *more: solution.cross_attention(memory, x, *more[:3])),
    ("Here x asks itself. Keys and values are made of memory.",
     lambda x, memory, *more: solution.cross_attention(x, x, *more[:3])),
    ("Here memory asks itself. The queries are made of x.", "x @ W_q.T → memory @ W_q.T"),
    ("`real` changes nothing here: padding still gets weight.", "if real is None → if True"),
    ("The mask is the wrong way round: `real` is True where a token stands, and those may be looked at.",
     "~real → real"))


# -- they_disagree ---------------------------------------------------------------------------------------------------

LONGEST = 20                            # words of the review


@functools.cache
def _model():
    return load_weights("imdb-tame")


def _top(review):
    """(the token with the most attention, the one with the largest share of the score), their places behind [CLS]."""
    model = _model()
    document = model.tokenizer.tokenize(review)
    with torch.no_grad():
        e = model.pad(model.embed(document))
        u, w = model.fold(e[0])
        alpha = torch.softmax(e @ u.T, 0)                               # (256, K)
        share = (alpha * (e @ w.T)).mean(1)
    places = [1 + values[1:1 + len(document)].argmax().item() for values in (alpha.mean(1), share.abs())]
    return [document[place - 1] for place in places], places


def _tell(answer, arguments):
    words, places = _top(services.run(answer, arguments))
    print(f"  most attention: {words[0]} ({places[0]}); largest share: {words[1]} ({places[1]})")


they_disagree = Question(solution.they_disagree, (1, 0), {
    "your own review": ()}, also=_tell,
    why="No word of it is praise or blame: then the word that is looked at most need not be the one that counts most. "
        "Found by trying a few plain sentences.")


@they_disagree.judge
def _(got):
    if type(got) is not str:
        yield "Return the review: one text."
    words = _model().tokenizer.tokenize(got)
    if not 5 <= len(words) <= LONGEST:
        yield f"The review has {len(words)} tokens. Between 5 and {LONGEST} are asked for."
    words, _ = _top(got)
    if words[0] == words[1]:
        yield f"Both pick the same word, {words[0]!r}. Which words does the model look at without being moved by them?"
