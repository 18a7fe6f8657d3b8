"""Check of assignment 12 on closing accuracy by distance, and random cases for what reads texts and arrays."""

import numpy as np

from coursegrade.kit.question import question

from .reading import LIBRARY, balanced

__all__ = ["by_distance"]

TEXTS = ["([[]()])", "[](()[])"]


def _right(texts):
    """Logits (n, 1 + T, 4) that are right wherever a bracket closes, by 1; in even rows opening brackets have more."""
    logits = np.zeros((len(texts), 1 + len(texts[0]), 4)) + [3.0, 1.0, 2.0, 0.0]
    logits[:, 1::2, ::2] -= 4.0
    for z, text in zip(logits, texts, strict=True):
        for t, symbol in enumerate(text):
            z[t, 3] = 2.0 * (symbol == "]")
    return logits


def _turned(texts, *places):
    """As `_right`, but for the places of the text, from 0 on, before which the logits are turned round."""
    logits = _right(texts)
    for i, t in places:
        logits[i, t] = logits[i, t, [0, 3, 2, 1]]
    return logits


@question((2, 2), {"one wrong": (_turned(["[()[]()()]"], (0, 4)), ["[()[]()()]"]), "all right": (_right(TEXTS), TEXTS),
                   "one wrong, at distance 3": (_turned(TEXTS, (1, 4)), ["([[]()])", "[][([])]"]),
                   "the last one wrong": (_turned(["([])[]"], (0, 5)), ["([])[]"]),
                   "five deep": (_turned(["[(([[]]))]"], (0, 8)), ["[(([[]]))]"]),
                   "far ones wrong": (_turned(TEXTS, (0, 6), (0, 7), (1, 7)), TEXTS)},
          promises={"balanced texts of $T$ round and square brackets": lambda logits, texts: balanced(texts, logits),
                    "(No two are equal here.)": lambda logits, texts: (logits[:, :, 1] != logits[:, :, 3]).all()},
          returns="", forbidden=LIBRARY, instead="a stack of your own", lend=("read",),
          otherwise="Take `([])` by hand: which row is asked for the `]`, which for the `)`, and how far away are "
                    "their partners?",
          hints={"list index out of range": "Does `read` stop early? It does where a text gets deeper than its "
                                            "`depth`, and these may have any.",
                 "out of bounds": "There are 1 + T rows. The row at place t − 1 predicts the bracket at place t."})
def by_distance(logits, texts, *, row=-1, of=(1, 3), gap=0, least=1, last=False, count=lambda right, n: (right, n)):
    """by_distance(logits, texts): {distance of closing brackets from their partners: (how many right, of how many)}."""
    found = {}
    for z, text in zip(logits, texts, strict=True):
        opened = []
        for t, symbol in enumerate(text, 1):
            if symbol in "([":
                opened, newest = [*opened, t], t
                continue
            *opened, partner = opened
            distance = t - (newest if last else partner) - gap
            said = max(of, key=lambda i: z[t + row, i])
            if distance >= least:
                found.setdefault(distance, []).append(int("()[]"[said] == symbol))
    return {distance: count(sum(rights), len(rights)) for distance, rights in found.items()}


by_distance.mistakes(
    ("Opening brackets have a say. The question is which bracket closes, *given that one does*: compare the logits of "
     "the two closing ones.", dict(of=(0, 1, 2, 3))),
    ("The row at a bracket's own place has read it already. The row before it is the one that predicts it.",
     dict(row=0)),
    ("That row is one too early. With places from 1 on, row t − 1 stands before the bracket at place t.", dict(row=-2)),
    ("The distance is the number of brackets between the two. It is the difference of their places: 1 for neighbours.",
     dict(gap=1, least=0)),
    ("Distances were taken from the last bracket that was opened. The partner may be another: what is on the stack?",
     dict(last=True)),
    ("Pairs of neighbours are missing, distance 1.", dict(least=2)),
    ("The first number counts the wrong ones.", dict(count=lambda right, n: (n - right, n))),
    ("The second number is how many there are in all, not how many are wrong.",
     dict(count=lambda right, n: (right, n - right))),
    ("The pair is turned round: how many are right comes first.", dict(count=lambda right, n: (n, right))),
    ("A share came back. Two whole numbers are due: how many are right, and of how many.",
     dict(count=lambda right, n: right / n)))
