"""Checks of assignment 02: a query from another text, and a review on which two pictures of attention disagree."""

import functools
import math

import torch

from attention_questions.library import ATTENTIONS
from coursegrade.kit.cases import rounded
from coursegrade.kit.question import question
from coursegrade.kit.services import run
from coursekit.models import load_weights

from .one_head import ATTENDING, softmax

__all__ = ["cross_attention", "they_disagree"]


# -- cross_attention -------------------------------------------------------------------------------------------------

def _texts(S, T, d_e, d_att, d_out, seed, real=None):
    shapes = (S, d_e), (T, d_e), (d_att, d_e), (d_att, d_e), (d_out, d_e)
    return (*(rounded(*shape, seed=seed + i) for i, shape in enumerate(shapes)), *([] if real is None else [real]))


@question((1, 1), {"two tokens ask five": _texts(2, 5, 4, 3, 2, seed=60),
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
                        real is None or real.any())})
def cross_attention(x, memory, W_q, W_k, W_v, real=None, *, scale=lambda memory, q: q.shape[1] ** 0.5, axis=1,
                    fill=-math.inf, after=False, values=lambda memory, W_v: memory @ W_v.T):
    """cross_attention(x, memory, W_q, W_k, W_v, real=None): (output (S, d_out), A (S, T)), x asking memory."""
    q, k = x @ W_q.T, memory @ W_k.T                                    # (S, d_att), (T, d_att)
    scores = q @ k.T / scale(memory, q)                                 # (S, T)
    real = torch.ones(len(memory), dtype=torch.bool) if real is None else real
    A = softmax.reference(scores if after else scores.masked_fill(~real, fill), axis)
    A = A * real if after else A
    return A @ values(memory, W_v), A


cross_attention.mistakes(
    *ATTENDING,
    ("The two texts have changed places: x asks, memory answers.",
     lambda x, memory, *more: cross_attention.reference(memory, x, *more[:3])),
    ("Here x asks itself. Keys and values are made of memory.",
     lambda x, memory, *more: cross_attention.reference(x, x, *more[:3])),
    ("Here memory asks itself. The queries are made of x.",
     lambda x, memory, *more: cross_attention.reference(memory, memory, *more)),
    ("`real` changes nothing here: padding still gets weight.", lambda *given: cross_attention.reference(*given[:5])),
    ("The mask is the wrong way round: `real` is True where a token stands, and those may be looked at.",
     lambda *given: cross_attention.reference(*given[:5], *(~real for real in given[5:] if real is not None))))


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
    words, places = _top(run(answer, arguments))
    print(f"  most attention: {words[0]} ({places[0]}); largest share: {words[1]} ({places[1]})")


@question((1, 0), {"your own review": ()}, also=_tell)
def they_disagree():
    """they_disagree(): a review, a text, whose word with most attention is not the one with the largest share."""
    return "One of the few movies that I would watch again."


@they_disagree.judge
def _(got):
    if type(got) is not str:
        return "Return the review: one text."
    words = _model().tokenizer.tokenize(got)
    if not 5 <= len(words) <= LONGEST:
        return f"The review has {len(words)} tokens. Between 5 and {LONGEST} are asked for."
    words, _ = _top(got)
    if words[0] == words[1]:
        return f"Both pick the same word, {words[0]!r}. Which words does the model look at without being moved by them?"
    return None
