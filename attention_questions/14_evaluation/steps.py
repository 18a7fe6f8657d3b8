"""The check of assignment 14 on the area over the curve of deletion, and on whom it declares the winner."""

import numpy as np

from coursegrade.kit.question import question

from .models import LIBRARY, head

__all__ = ["aopc"]

WORDS = {"fine": (1.0, 1.5), "cast": (0.5, 1.0), "dull": (1.5, -2.0), "the": (-0.5, -0.5), "plot": (0.0, 0.5)}
MOVED_UP = "Once a token is deleted, all behind it have moved up: places in the order are those of the whole document."
FILLS, PREDICT = ["[UNK]", "the", None], head(WORDS, later=0.25, empty=0.5)


def _step(document, order, k, fill):
    """The document without the first k of the order."""
    gone = {*order[:k].tolist()}
    return [fill if t in gone else word for t, word in enumerate(document) if t not in gone or fill is not None]


def _first_alike(document, order, k, fill):
    copy = document if fill is None else _step(document, order, k, fill)
    for t in order[:k if fill is None else 0]:
        at = copy.index(document[t])
        copy = copy[:at] + copy[at + 1:]
    return copy


def _shifted(document, order, k, fill):
    """Places counted in what is left, not in the whole document."""
    left = list(document)
    for t in order[:k]:
        if fill is None:
            left.pop(min(t, len(left) - 1))
        else:
            left[t] = fill
    return left


def _all_equal(document, order, k, fill):
    gone = {document[t] for t in order[:k]}
    return [fill if word in gone else word for word in document if word not in gone or fill is not None]


@question((2, 2), {"a decision for": (PREDICT, ["cast", "fine", "the", "plot", "plot"],
                                      np.array([[-2.0, -1.0, -2.0, 2.0, -1.0], [3.0, 3.0, -1.0, 2.0, -2.0]]), FILLS),
                   "a decision against": (PREDICT, ["dull", "plot", "dull", "the", "fine"],
                                          np.array([[-1.0, -1.0, 0.0, 2.0, -1.0], [2.0, 3.0, 1.0, 1.0, 0.5]]), FILLS),
                   "a score of 0": (PREDICT, ["so", "so"], np.array([[2.0, 1.0], [1.0, 2.0]]), ["fine", "dull"]),
                   "one token": (PREDICT, ["dull"], np.array([[-1.0]]), ["[UNK]", None])},
          returns="table (m, fills), winners (fills,)", forbidden=LIBRARY, instead="`predict`",
          otherwise="The last case by hand: f = −2 for the whole document, 0 with [UNK] and 0.5 without any token. "
                    "Towards the decision *against* these are falls by 2 and 2.5, at one of two steps: 1 and 1.25.",
          hints={"pop index|assignment index|list index": MOVED_UP,
                 "got a single one": "`predict` takes a list of documents: predict([document])[0] scores one."})
def aopc(predict, document, attributions, fills, *, key=lambda s, a: -s * a, step=_step, fall=lambda s, f: s * f,
         over=lambda T: T + 1, best=np.argmax, sign=lambda f: 1.0 if f >= 0 else -1.0, ties=lambda order, key: order):
    """aopc(predict, document, attributions, fills): (m, fills), the mean fall of the score towards the decision, over
    steps 0 … T; and for each fill the place of the attribution with the largest."""
    T, f = len(document), predict([document])[0]
    s, table = sign(f), np.zeros((len(attributions), len(fills)))
    for i, a in enumerate(attributions):
        order = ties(np.argsort(key(s, a), kind="stable"), key(s, a))
        for j, fill in enumerate(fills):
            scores = predict([step(document, order, k, fill) for k in range(T + 1)])
            table[i, j] = fall(s, f - scores).sum() / over(T)
    return table, best(table, axis=0)


aopc.mistakes(
    ("Of a decision *against*, the tokens that pull the score down go first: the sign is missing in the order.",
     dict(key=lambda s, a: -a)),
    ("The order goes by size. A token that speaks against the decision goes last.", dict(key=lambda s, a: -np.abs(a))),
    ("Of equal attributions the *later* token goes first here, as where a sorted order is turned round by [::-1]. "
     "np.argsort(-values, kind=\"stable\") lets the earlier go first.",
     dict(ties=lambda order, key: np.argsort(-key, kind="stable")[::-1])),
    ("The least important token goes first here.", dict(key=lambda s, a: s * a)),
    ("The fall is counted downwards always. Of a decision *against* the score rises: towards the decision, that is a "
     "fall.", dict(fall=lambda s, f: f)),
    ("Where the fill is None, the token is deleted. Here something stands in its place.",
     dict(step=lambda document, order, k, fill: _step(document, order, k, fill or "None"))),
    ("Divided by T. Steps 0 to T are T + 1, with the untouched document.", dict(over=lambda T: T)),
    ("These are sums over the steps. A mean is due.", dict(over=lambda T: 1)),
    ("A rise counts as a fall here, by its size. It makes the area smaller.", dict(fall=lambda s, f: np.abs(f))),
    ("Each token was taken away alone. At step k, the first k are gone together.",
     dict(step=lambda document, order, k, fill: _step(document, order[max(k - 1, 0):], min(k, 1), fill))),
    ("With a token, its equals elsewhere in the document went as well. Each place has its own attribution.",
     dict(step=_all_equal)),
    (MOVED_UP, dict(step=_shifted)),
    ("`remove` takes the first of equal tokens away, wherever the one that is meant stands.", dict(step=_first_alike)),
    ("`np.sign` of 0 is 0, and a score of exactly 0 decides *for*.", dict(sign=np.sign)),
    ("A score of exactly 0 decides *for*: at least 0.", dict(sign=lambda f: 1.0 if f > 0 else -1.0)),
    ("`winners` has the smallest area. The steeper the score falls, the better.", dict(best=np.argmin)))
