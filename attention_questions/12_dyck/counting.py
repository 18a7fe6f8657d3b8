"""Check of assignment 12 on even attention that counts: votes of base^depth."""

from attention_questions.prelude import Question, np

from . import solution
from .reading import LIBRARY, begins


def _far_from_0(text, base):
    """Whole bases are exact: their sums may be 0."""
    sums = solution.votes(text, base)[0] * np.arange(1, len(text) + 2)
    opened = np.array(solution.read(text, len(text))[0]) > 0
    return base == int(base) or (np.abs(sums[opened]) > 1e-9 * base ** len(text)).all()


votes = Question(solution.votes, (2, 2), {
    "two of one kind": ("[[]]", 2), "a round one within a square one": ("[()]", 2),
    "base 1": ("([[()]", 1), "base 1.5, three deep": ("(([[][]]))", 1.5), "base 2": ("(([[][]]))", 2),
    "base 3": ("[]([(([]", 3), "nothing": ("", 2), "closed, and again": ("()[()][]", 1.7)},
    promises={"the beginning of a balanced text of round and square brackets":
                  lambda text, base: {*text} <= {*"()[]"} and begins(text, len(text)),
              "$b > 0$": lambda text, base: base > 0,
              "no sum of votes of open brackets is 0 or so near to it that rounding counts": _far_from_0},
    returns="m (1 + T,), wrong", forbidden=LIBRARY, instead="counts of your own", lend=("read",),
    otherwise="Write each symbol's vote below it, and take the means from the left. START votes 0.")


def _vote(size):
    """Votes of another size, of opening brackets and of closing ones."""
    return (f"{sign}= stack[-1] * float(base) ** len(stack) → {sign}= stack[-1] * {size}" for sign in "+-")


IS_WRONG = "total * stack[-1] <= 0"
votes.mistakes(
    ("A closing bracket votes at the depth of its pair, as its partner does: the two cancel.",
     "-= stack[-1] * float(base) ** len(stack) → -= stack[-1] * float(base) ** (len(stack) - 1)"),
    ("Closing brackets vote for their own kind here. They take their partner's vote back.", "total -= → total +="),
    ("Closing brackets do not vote here. Then what has been closed is never forgotten.", "-= stack[-1] → -= 0"),
    ("The signs are turned round: square brackets count up, round ones down.",
     '1 if symbol == "[" else -1 → -1 if symbol == "[" else 1'),
    ("These are sums. Even attention gives the *mean* over all places read.", " / (1 + t) → "),
    ("START is a place, too, with a vote of 0: after t symbols there are 1 + t places.", "(1 + t) → t"),
    ("The mean at place t is over places 0 to t, not over all of the text.", "(1 + t) → (1 + len(text))"),
    ("`wrong` counts the first bracket as 0. It stands at place 1: 0 is START's.",
     "wrong.append(t) → wrong.append(t - 1)"),
    ("A vote is base^depth, not base · depth.", *_vote("base * len(stack)")),
    ("The outermost pair has depth 1, and votes ±base.", *_vote("float(base) ** (len(stack) - 1)")),
    *(("Where m is 0 it names no bracket, so that place is wrong if something is open.", f"{IS_WRONG} → {instead}")
      for instead in ("total * stack[-1] < 0", "(total >= 0) != (stack[-1] > 0)", "(total > 0) != (stack[-1] > 0)")),
    ("`wrong` has places after which nothing is open. There no bracket closes next, and m may be 0.",
     "[0.0], [] → [0.0], [0]", f"if stack and {IS_WRONG} → if {IS_WRONG} if stack else total == 0"))
