"""Check of assignment 12 on closing accuracy by distance."""

from attention_questions.prelude import Question, np

from . import solution
from .reading import DEEPER, LIBRARY, balanced

TEXTS = ["([[]()])", "[](()[])"]


def _case(texts, *turned):
    """Logits (n, 1 + T, 4) that are right wherever a bracket closes, by 1, and in even rows have more for opening ones;
    but turned round before some places of some texts, both from 0 on. And the texts."""
    logits = np.zeros((len(texts), 1 + len(texts[0]), 4)) + [3.0, 1.0, 2.0, 0.0]
    logits[:, 1::2, ::2] -= 4.0
    for z, text in zip(logits, texts, strict=True):
        z[:-1, 3] = [2.0 * (symbol == "]") for symbol in text]
    for i, t in turned:
        logits[i, t] = logits[i, t, [0, 3, 2, 1]]
    return logits, texts


by_distance = Question(solution.by_distance, (2, 2), {
    "one wrong": _case(["[()[]()()]"], (0, 4)), "all right": _case(TEXTS),
    "one wrong, at distance 3": _case(["([[]()])", "[][([])]"], (1, 6)),
    "the last one wrong": _case(["([])[]"], (0, 5)), "five deep": _case(["[(([[]]))]"], (0, 8)),
    "far ones wrong": _case(TEXTS, (0, 6), (0, 7), (1, 7))},
    promises={"balanced texts of $T$ round and square brackets": lambda logits, texts: balanced(texts, logits),
              "(No two are equal here.)": lambda logits, texts: (logits[:, :, 1] != logits[:, :, 3]).all()},
    forbidden=LIBRARY, instead="a stack of your own", lend=("read",),
    otherwise="Take `([])` by hand: which row is asked for the `]`, which for the `)`, and how far away are their "
              "partners?",
    hints={**DEEPER, "out of bounds": "There are 1 + T rows. The row at place t − 1 predicts the bracket at place t."})

ROUND, PAIRS = "z[t - 1, 1] > z[t - 1, 3]", "for distance, (right, n) in found.items()"
by_distance.mistakes(
    ("Opening brackets have a say. The question is which bracket closes, *given that one does*: compare the logits of "
     "the two closing ones.", f'")" if {ROUND} else "]" → "()[]"[z[t - 1].argmax()]'),
    ("The row at a bracket's own place has read it already. The row before it is the one that predicts it.",
     f"{ROUND} → z[t, 1] > z[t, 3]"),
    ("That row is one too early. With places from 1 on, row t − 1 stands before the bracket at place t.",
     f"{ROUND} → z[t - 2, 1] > z[t - 2, 3]"),
    ("The distance is the number of brackets between the two. It is the difference of their places: 1 for neighbours.",
     "stack.pop() → stack.pop() - 1"),
    ("Distances were taken from the last bracket that was opened. The partner may be another: what is on the stack?",
     "stack.append(t) → newest = t", "stack.pop() → newest"),
    ("Pairs of neighbours are missing, distance 1.",
     "found[distance] = → if distance > 1:\n                    found[distance] ="),
    ("The first number counts the wrong ones.", "said == symbol → said != symbol"),
    ("The second number is how many there are in all, not how many are wrong.", "n + 1 → n + (said != symbol)"),
    ("The pair is turned round: how many are right comes first.",
     f"return found → return {{distance: (n, right) {PAIRS}}}"),
    ("A share came back. Two whole numbers are due: how many are right, and of how many.",
     f"return found → return {{distance: right / n {PAIRS}}}"))
