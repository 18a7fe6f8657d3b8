"""Checks of assignment 12 on reading brackets with a stack, and on what may come next."""

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["read", "chances"]

LIBRARY = tuple(f"coursekit.worlds.dyck.{name}" for name in (
    "pushdown", "stack_top", "depths", "closings", "closing_accuracy", "stack_likeness", "counting_model", "sample"))
LIBRARY += ("coursekit.evaluate.map_distance",)
OPENS, CLOSES = "([{", ")]}"


# -- read ------------------------------------------------------------------------------------------------------------

@question((1, 2), {"balanced": ("[()]{}", 4), "one bracket too many": ("[()])(", 4), "crossed": ("{([)]}", 4),
                   "too deep": ("[]({)", 1), "just deep enough": ("([{}])", 3), "still open": ("([]{}", 4),
                   "it closes what is not open": ("]", 2), "nothing": ("", 4), "all open": ("{[(", 4),
                   "two of a kind, too deep": ("[[]]", 1), "crossed, and too deep behind": ("[)(((", 2)},
          promises={"of **three** kinds of brackets, `()[]{}`": lambda text, depth: {*text} <= {*OPENS, *CLOSES}},
          returns="tops, error", forbidden=LIBRARY, instead="a stack of your own", free=("depth",),
          otherwise="Go through the text with a finger, and write down what is on the stack after each symbol.",
          hints={"pop from empty|list index out of range": "Nothing is open, so nothing is on the stack: ask for that "
                                                           "before you look at its top."})
def read(text, depth, *, first=1, more=0, kinds=True, beside=False, late=False, ends=True,
         behind=1):
    """read(text, depth): (the place of the last unmatched bracket after START and each symbol, the error's or None)."""
    stack, tops = [], [0]
    for t, symbol in enumerate(text, first):
        there = [stack[-1]] if stack else []
        if symbol in OPENS and len(stack) < depth + more:
            stack.append(t)
        elif symbol in CLOSES and stack and (not kinds or text[stack[-1] - first] == OPENS[CLOSES.index(symbol)]):
            stack.pop()
        else:
            return [*tops, *tops[-1:] * beside], t
        tops.append(there[0] if late and there else stack[-1] if stack else 0)
    return tops, first + len(text) - 1 + behind if stack and ends else None


def _by_kind(text, depth):
    """With a stack for each kind, so that ([)] is read to its end."""
    stacks, tops = {kind: [] for kind in OPENS}, [0]
    for t, symbol in enumerate(text, 1):
        own = stacks[symbol if symbol in OPENS else OPENS[CLOSES.index(symbol)]]
        if symbol in OPENS and sum(map(len, stacks.values())) < depth:
            own.append(t)
        elif symbol in CLOSES and own:
            own.pop()
        else:
            return tops, t
        tops.append(max([0, *sum(stacks.values(), [])]))
    return tops, 1 + len(text) if any(stacks.values()) else None


def _each_kind(text, depth):
    """With one stack, and so many brackets of each kind."""
    for t, symbol in enumerate(text, 1):
        if symbol in OPENS and text[:t].count(symbol) - text[:t].count(CLOSES[OPENS.index(symbol)]) > depth:
            tops, error = read.reference(text[:t - 1], 99)
            return (tops, t) if error in (None, t) else (tops, error)
    return read.reference(text, 99)


def _depth_first(text, depth):
    """Depths are looked at before anything is read."""
    heights = np.cumsum([1 if symbol in OPENS else -1 for symbol in text])
    tops, error = read.reference(text, depth)
    return tops, int(np.argmax(heights > depth)) + 1 if (heights > depth).any() else error


read.mistakes(
    ("A text that ends too early has its error *behind* the last symbol, at place T + 1.", dict(behind=0)),
    ("The first symbol stands at place 1: place 0 is START's.", dict(first=0)),
    ("A closing bracket has closed one of another kind. Which bracket must be on top of the stack for a `)`?",
     dict(kinds=False)),
    ("Each kind has a stack of its own here, and so ([)] is read to its end. There is one stack for all.", _by_kind),
    ("One bracket too many is allowed to be open. At most `depth` are open at once.", dict(more=1)),
    ("`depth` brackets of each kind may be open here. At most `depth` are open at once, of all kinds.", _each_kind),
    ("The error is where the text gets too deep, and it breaks before that. Read symbol by symbol: the first one that "
     "cannot be read counts.", _depth_first),
    ("It stops one too early: `depth` brackets may be open at once.", dict(more=-1)),
    ("A text that ends too early has its error behind the last symbol, not at the bracket that is never closed.",
     lambda text, depth: ((found := read.reference(text, depth))[0],
                          found[0][-1] if found[1] == len(text) + 1 else found[1])),
    ("`tops` has heights. The *place* of the bracket on top is due.", lambda text, depth: (
        [sum(1 if symbol in OPENS else -1 for symbol in text[:t]) for t in range(len(read.reference(text, depth)[0]))],
        read.reference(text, depth)[1])),
    ("All symbols were read, but something is still open: the text ends too early, at place T + 1.", dict(ends=False)),
    ("`tops` has an entry for the symbol that cannot be read. It ends with the last one that was read.",
     dict(beside=True)),
    ("`tops` has what was on top *before* the symbol. After it, a bracket that was just opened is on top, and one that "
     "was just closed is gone.", dict(late=True)))


def balanced(texts, table):
    """Are they balanced texts of ()[], n of T symbols, for a table (n, 1 + T, …)?"""
    return table.shape[:2] == (len(texts), 1 + len(texts[0])) and all(
        len(text) == len(texts[0]) and {*text} <= {*"()[]"} and read.reference(text, len(text))[1] is None
        for text in texts)


# -- chances ---------------------------------------------------------------------------------------------------------

def _paths(left, height, depth, lowest=0):
    """How many ways lead from a height to 0 in `left` steps, never below `lowest` nor above `depth`."""
    ways = {0: 1}
    for _ in range(left):
        ways = {h: ways.get(h - 1, 0) + ways.get(h + 1, 0) for h in range(lowest, depth + 1)}
    return ways.get(height, 0)


def _shares(opening, closing):
    return opening / (opening + closing), closing / (opening + closing)


def _even(opening, closing):
    return _shares(opening > 0, closing > 0)


def _readable(text, length, depth):
    return read.reference(text, depth)[1] in (None, len(text) + 1)


def _begins_one(text, length, depth):
    height = sum(1 if symbol in OPENS else -1 for symbol in text)
    return _paths(length - len(text), height, depth) > 0


@question((2, 3), {"one is open": ("(", 4, 2), "nothing yet": ("", 4, 2), "two are open": ("[(", 8, 3),
                   "no time to open": ("[]([", 6, 4), "no room to open": ("[([", 10, 3),
                   "the last that was opened is closed": ("([]", 8, 3),
                   "all is closed, four are left": ("[()]", 8, 3), "a hundred": ("[(", 100, 4)},
          promises={"`text` has only round and square brackets": lambda text, length, depth: {*text} <= {*"()[]"},
                    "can be read": _readable,
                    "is shorter than `length`": lambda text, length, depth: len(text) < length,
                    "at least one balanced text begins so": _begins_one,
                    "`length` goes up to 100 and `depth` up to 10":
                        lambda text, length, depth: length <= 100 and depth <= 10},
          returns="N, p (4,)", forbidden=LIBRARY, instead="your own count", lend=("read",),
          otherwise="The second example by hand: which strings of four brackets begin with `(`, and how do they go on?",
          hints={"endless": "For a hundred brackets there are more ways than anybody can visit, but only a handful of "
                            "heights: for each number of steps left, keep one count per height."})
def chances(text, length, depth, *, lowest=0, deep=None, kinds=lambda left, height, length: 2 ** ((left - height) // 2),
            shares=_shares, opens=0.5, other=0.0, below=lambda height, depth: height - 1,
            newest=False):
    """chances(text, length, depth): (how many balanced strings begin so, the chances of ( ) [ ] to come next)."""
    top, stack = depth if deep is None else deep, []
    for symbol in text:
        stack = [*stack, symbol] if symbol in OPENS else stack[:-1]
    left, height = length - len(text), len(stack)
    opening, closing = (_paths(left - 1, h, top, lowest) for h in (height + 1, below(height, depth)))
    count = (opening + closing) * kinds(left, height, length)
    opening, closing = shares(opening, closing)
    p = np.array([opening * opens, closing * other, opening * opens, closing * other])
    if stack:
        symbol = [symbol for symbol in text if symbol in OPENS][-1] if newest else stack[-1]
        p["([".index(symbol) * 2 + 1] = closing * (1 - other)
    return count, p


chances.mistakes(
    ("N counts paths of opening and closing. Each bracket that is *still to be opened* has two kinds.",
     dict(kinds=lambda left, height, length: 1)),
    ("N counts kinds for all pairs of the string. Those that `text` has opened are what they are.",
     dict(kinds=lambda left, height, length: 2 ** (length // 2))),
    ("Nothing keeps the strings from getting deeper than `depth`.", dict(deep=999)),
    ("The count goes below 0: nothing can be closed where nothing is open.", dict(lowest=-99)),
    ("At height 0 something closes. Does a list look up entry −1? That is its last one: there are no ways from −1.",
     dict(below=lambda height, depth: (height - 1) % (depth + 1))),
    ("Both kinds of opening bracket have the whole chance of opening. The four chances add up to 1.", dict(opens=1.0)),
    ("Opening and closing are as likely as each other here, wherever both can be. What counts is how many strings go "
     "on in each way.", dict(shares=_even)),
    ("The chance of closing is split between both kinds. Which of them can it be?", dict(other=0.5)),
    ("It closes what was opened last. That may be closed already: which bracket is on top of the stack?",
     dict(newest=True)),
    ("The order of p is ( ) [ ], and yours is ( [ ) ].", lambda text, length, depth: (
        (found := chances.reference(text, length, depth))[0], found[1][[0, 2, 1, 3]])),
    ("p has numbers of paths and no chances yet: divide by what they add up to.",
     dict(shares=lambda opening, closing: (opening, closing))))


@chances.suspect
def _(got, text, length, depth):
    if type(got) in (list, tuple) and kind(got[0]) == "a number":
        return "N is a whole number, and `/` and floats round it: use Python's whole numbers, and // where you divide."
    N = chances.reference(text, length, depth)[0]
    if kind(got[0]) == "a whole number" and got[0] != N and (
            abs(int(got[0]) - N) < 1e-9 * N or (int(got[0]) - N) % 2 ** 63 == 0):
        return "N is long here. Floats round it, and NumPy's whole numbers run over: Python's own hold it."
    return None
