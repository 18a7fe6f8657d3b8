"""Check of assignment 12 on even attention that counts: votes of base^depth."""

import numpy as np

from coursegrade.kit.question import question

from .reading import LIBRARY, read

__all__ = ["votes"]


def _means(v):
    return np.cumsum(v) / np.arange(1, len(v) + 1)


def _begins(text, base):
    return {*text} <= {*"()[]"} and read.reference(text, len(text))[1] in (None, len(text) + 1)


def _far_from_0(text, base):
    """Whole bases are exact: their sums may be 0."""
    sums = votes.reference(text, base, mean=np.cumsum)[0]
    opened = np.array(read.reference(text, len(text))[0]) > 0
    return base == int(base) or (np.abs(sums[opened]) > 1e-9 * base ** len(text)).all()


def _power(base, depth):
    return float(base) ** depth


@question((2, 2), {"two of one kind": ("[[]]", 2), "a round one within a square one": ("[()]", 2),
                   "base 1": ("([[()]", 1), "base 1.5, three deep": ("(([[][]]))", 1.5), "base 2": ("(([[][]]))", 2),
                   "base 3": ("[]([(([]", 3), "nothing": ("", 2), "closed, and again": ("()[()][]", 1.7)},
          promises={"the beginning of a balanced text of round and square brackets": _begins,
                    "$b > 0$": lambda text, base: base > 0,
                    "no sum of votes of open brackets is 0 or so near to it that rounding counts": _far_from_0},
          returns="m (1 + T,), wrong", forbidden=LIBRARY, instead="counts of your own", lend=("read",),
          otherwise="Write each symbol's vote below it, and take the means from the left. START votes 0.")
def votes(text, base, *, size=_power, mean=_means, closes=-1.0, low=0, square=1.0, tie=(), always=False):
    """votes(text, base): (m (1 + T,), the places after which something is open and m has not the sign of its kind)."""
    v, stack, wrong = [0.0], [], []
    tops = [0]
    for symbol in text:
        sign = square if symbol in "[]" else -square
        if symbol in "([":
            stack.append(sign)
            v.append(sign * size(base, len(stack)))
        else:
            v.append(closes * sign * size(base, len(stack) - low))
            stack.pop()
        tops.append(stack[-1] if stack else 0)
    m = mean(np.array(v))
    for t, top in enumerate(tops):
        if (top or always) and (m[t] * top < 0 or m[t] == 0 and top not in tie):
            wrong.append(t)
    return m, wrong


votes.mistakes(
    ("A closing bracket votes at the depth of its pair, as its partner does: the two cancel.", dict(low=1)),
    ("Closing brackets vote for their own kind here. They take their partner's vote back.", dict(closes=1.0)),
    ("Closing brackets do not vote here. Then what has been closed is never forgotten.", dict(closes=0.0)),
    ("The signs are turned round: square brackets count up, round ones down.", dict(square=-1.0)),
    ("These are sums. Even attention gives the *mean* over all places read.", dict(mean=np.cumsum)),
    ("START is a place, too, with a vote of 0: after t symbols there are 1 + t places.",
     dict(mean=lambda v: np.cumsum(v) / np.maximum(np.arange(len(v)), 1))),
    ("The mean at place t is over places 0 to t, not over all of the text.",
     dict(mean=lambda v: np.cumsum(v) / len(v))),
    ("`wrong` counts the first bracket as 0. It stands at place 1: 0 is START's.", lambda text, base: (
        (found := votes.reference(text, base))[0], [t - 1 for t in found[1]])),
    ("A vote is base^depth, not base · depth.", dict(size=lambda base, depth: float(base) * depth)),
    ("The outermost pair has depth 1, and votes ±base.", dict(size=lambda base, depth: float(base) ** (depth - 1))),
    *(("Where m is 0 it names no bracket, so that place is wrong if something is open.", dict(tie=tie))
      for tie in ((1, -1), (1,), (-1,))),
    ("`wrong` has places after which nothing is open. There no bracket closes next, and m may be 0.",
     dict(always=True)))
