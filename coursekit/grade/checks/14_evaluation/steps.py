"""The check of assignment 14 on the area over the curve of deletion, and on whom it declares the winner."""

import numpy as np

from coursekit.grade.kit.question import question

from .models import LIBRARY, head

__all__ = ["aopc"]

WORDS = {"fine": (1.0, 1.5), "cast": (0.5, 1.0), "dull": (1.5, -2.0), "the": (-0.5, -0.5), "plot": (0.0, 0.5)}
FILLS = ["[UNK]", "the", None]


def _step(document, order, k, fill):
    """The document without the first k of the order."""
    gone = {*order[:k].tolist()}
    return [fill if t in gone else word for t, word in enumerate(document) if t not in gone or fill is not None]


def _alone(document, order, k, fill):
    return _step(document, order[max(k - 1, 0):], min(k, 1), fill)


def _all_equal(document, order, k, fill):
    gone = {document[t] for t in order[:k]}
    return [fill if word in gone else word for word in document if word not in gone or fill is not None]


@question((2, 2), {"a decision for": (head(WORDS), ["cast", "fine", "the", "plot", "plot"],
                                      np.array([[-2.0, -1.0, -2.0, 2.0, -1.0], [3.0, 3.0, -1.0, 2.0, -2.0]]), FILLS),
                   "a decision against": (head(WORDS), ["dull", "plot", "dull", "the", "fine"],
                                          np.array([[-1.0, -1.0, 0.0, 2.0, -1.0], [1.0, 3.0, 1.0, 1.0, 0.5]]), FILLS),
                   "one token": (head(WORDS), ["dull"], np.array([[-1.0]]), ["[UNK]", None])},
          returns="table (m, fills), winners (fills,)", forbidden=LIBRARY, instead="`predict`",
          otherwise="The last case by hand: f = −2 for the whole document, and 0 without its only token. Towards the "
                    "decision *against* that is a fall by 2, at one of two steps: 1.",
          hints={"got a single one": "`predict` takes a list of documents: predict([document])[0] scores one."})
def aopc(predict, document, attributions, fills, *, key=lambda s, a: -s * a, step=_step, fall=lambda s, f: s * f,
         over=lambda T: T + 1, best=np.argmax):
    """aopc(predict, document, attributions, fills): (m, fills), the mean fall of the score towards the decision, over
    steps 0 … T; and for each fill the place of the attribution with the largest."""
    T, f = len(document), predict([document])[0]
    s, table = (1.0 if f >= 0 else -1.0), np.zeros((len(attributions), len(fills)))
    for i, a in enumerate(attributions):
        order = np.argsort(key(s, a), kind="stable")
        for j, fill in enumerate(fills):
            scores = predict([step(document, order, k, fill) for k in range(T + 1)])
            table[i, j] = fall(s, f - scores).sum() / over(T)
    return table, best(table, axis=0)


aopc.mistakes(
    ("Of a decision *against*, the tokens that pull the score down go first: the sign is missing in the order.",
     dict(key=lambda s, a: -a)),
    ("The order goes by size. A token that speaks against the decision goes last.", dict(key=lambda s, a: -np.abs(a))),
    ("The least important token goes first here.", dict(key=lambda s, a: s * a)),
    ("The fall is counted downwards always. Of a decision *against* the score rises: towards the decision, that is a "
     "fall.", dict(fall=lambda s, f: f)),
    ("Where the fill is None, the token is deleted. Here something stands in its place.",
     dict(step=lambda document, order, k, fill: _step(document, order, k, fill or "None"))),
    ("Divided by T. Steps 0 to T are T + 1, with the untouched document.", dict(over=lambda T: T)),
    ("Each token was taken away alone. At step k, the first k are gone together.", dict(step=_alone)),
    ("With a token, its equals elsewhere in the document went as well. Each place has its own attribution.",
     dict(step=_all_equal)),
    ("`winners` has the smallest area. The steeper the score falls, the better.", dict(best=np.argmin)))
