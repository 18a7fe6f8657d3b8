"""Checks of assignment 12 on reading brackets with a stack, on what may come next, and on accuracy by distance."""

from attention_questions.prelude import Question, kind, np

from . import solution

LIBRARY = tuple(f"coursekit.worlds.dyck.{name}" for name in (
    "pushdown", "stack_top", "depths", "closings", "closing_accuracy", "stack_likeness", "counting_model", "sample"))
LIBRARY += ("coursekit.evaluate.map_distance",)
DEEPER = {"list index out of range": "Does `read` stop early? It does where a text gets deeper than its `depth`, and "
                                     "these may have any."}                         # a hint of questions 3 and 4


# -- read ------------------------------------------------------------------------------------------------------------

def _height(text):
    return sum(1 if symbol in "([{" else -1 for symbol in text)


def _depth_first(text, depth):
    """Depths are looked at before anything is read."""
    tops, error = solution.read(text, depth)
    return tops, next((t for t in range(1, len(text) + 1) if _height(text[:t]) > depth), error)


read = Question(solution.read, (1, 2), {
    "balanced": ("[()]{}", 4), "one bracket too many": ("[()])(", 4), "crossed": ("{([)]}", 4),
    "too deep": ("[]({)", 1), "just deep enough": ("([{}])", 3), "still open": ("([]{}", 4),
    "it closes what is not open": ("]", 2), "nothing": ("", 4), "all open": ("{[(", 4),
    "two of a kind, too deep": ("[[]]", 1), "crossed, and too deep behind": ("[)(((", 2)},
    promises={"of **three** kinds of brackets, `()[]{}`": lambda text, depth: {*text} <= {*"()[]{}"}},
    returns="tops, error", forbidden=LIBRARY, instead="a stack of your own", free=("depth",),
    otherwise="Go through the text with a finger, and write down what is on the stack after each symbol.",
    hints={"pop from empty|list index out of range": "Nothing is open, so nothing is on the stack: ask for that before "
                                                     "you look at its top."},
    why="The stack keeps places, not kinds: the text says which kind stands there. So one list answers both questions, "
        "which bracket may close and what is on top.")

SYMBOLS = "`tops` has symbols. The *places* where they stand are due."
BOTTOM = "Where nothing is open, START is on top: place 0."
BEHIND = "`tops` ends with the last symbol that can be read. What stands behind it does not count."
NO_ERROR = "A balanced text has no error: `error` is None then, not a number or False."
OPEN, PAIRS = "len(stack) < depth", '("()", "[]", "{}")'
read.mistakes(
    ("A text that ends too early has its error *behind* the last symbol, at place T + 1.", "len(text) + 1 → len(text)"),
    ("The first symbol stands at place 1: place 0 is START's.",
     "enumerate(text, 1) → enumerate(text)", "stack[-1] - 1 → stack[-1]", "len(text) + 1 → len(text)"),
    ("`tops` counts the first symbol as 0. It stands at place 1: 0 is START's.",
     "append(stack[-1] if stack else 0) → append(stack[-1] - 1 if stack else 0)"),
    ("`error` counts the first symbol as 0. It stands at place 1: 0 is START's.",
     "return tops, t → return tops, t - 1", "len(text) + 1 → len(text)"),
    ("`tops` begins before any symbol is read, with START on top: a 0.", "[], [0] → [], []"),
    (SYMBOLS, 'append(stack[-1] if stack else 0) → append(text[stack[-1] - 1] if stack else "")'),
    (BOTTOM, "append(stack[-1] if stack else 0) → append(stack[-1] if stack else -1)"),
    (NO_ERROR, "if stack else None → if stack else 0"),
    (BEHIND, "return tops, t → return tops + [0] * (1 + len(text) - len(tops)), t"),
    ("A closing bracket has closed one of another kind. Which bracket must be on top of the stack for a `)`?",
     f'text[stack[-1] - 1] + symbol in {PAIRS} → symbol in ")]}}"'),
    # a stack for each kind is the same as taking the last one of the symbol's own kind out of one stack for all
    ("In your result each kind has a stack of its own, and so ([)] is read to its end. There is one stack for all.",
     f"stack and text[stack[-1] - 1] + symbol in {PAIRS} → "
     f"own := [s for s in stack if text[s - 1] + symbol in {PAIRS}]", "stack.pop() → stack.remove(own[-1])"),
    ("You allow one open bracket too many. At most `depth` are open at once.", f"{OPEN} → len(stack) <= depth"),
    ("You allow `depth` open brackets of each kind. At most `depth` are open at once, of all kinds.",
     f"{OPEN} → sum(text[s - 1] == symbol for s in stack) < depth"),
    *(("Is each of the three kinds opened and closed, `{}` too?", *edits) for edits in (
        (f'{PAIRS} → ("()", "[]")',), (f'{PAIRS} → ("()", "[]")', 'symbol in "([{" → symbol in "(["'))),
    ("The error is where the text gets too deep, and it breaks before that. Read symbol by symbol: the first one that "
     "cannot be read counts.", _depth_first),
    ("It stops one too early: `depth` brackets may be open at once.", f"{OPEN} → len(stack) < depth - 1"),
    ("A text that ends too early has its error behind the last symbol, not at the bracket that is never closed.",
     "len(text) + 1 → stack[-1]"),
    ("`tops` has heights. The *place* of the bracket on top is due.",
     "append(stack[-1] if stack else 0) → append(len(stack))"),
    ("All symbols were read, but something is still open: the text ends too early, at place T + 1.",
     "len(text) + 1 if stack else None → None"),
    ("`tops` has an entry for the symbol that cannot be read. It ends with the last one that was read.",
     "return tops, t → return [*tops, tops[-1]], t"),
    ("`tops` has what was on top *before* the symbol. After it, a bracket that was just opened is on top, and one that "
     "was just closed is gone.",                                                    # but in an empty stack
     "if symbol in → before = stack[-1:]\n        if symbol in",
     "append(stack[-1] if stack else 0) → append([*before, *stack, 0][0])"))


@read.suspect
def _(got, text, depth):
    (tops, error), (mine, at) = solution.read(text, depth), got
    if type(mine) in (list, tuple):
        if any(type(top) is str for top in mine):
            yield SYMBOLS
        if {-1, None} & {*mine}:
            yield BOTTOM
        if len(mine) > len(tops):
            yield BEHIND
        if error is None and at is not None and [*mine] == tops:
            yield NO_ERROR


def begins(text, depth):
    """Can it be read to its end, though something may still be open?"""
    return solution.read(text, depth)[1] in (None, len(text) + 1)


def balanced(texts, table):
    """Are they balanced texts of ()[], n of T symbols, for a table (n, 1 + T, …)?"""
    return table.shape[:2] == (len(texts), 1 + len(texts[0])) and all(
        len(text) == len(texts[0]) and {*text} <= {*"()[]"} and solution.read(text, len(text))[1] is None
        for text in texts)


# -- chances ---------------------------------------------------------------------------------------------------------

def _begins_one(text, length, depth):
    to_open = length - len(text) - _height(text)                                    # and to be closed again
    return to_open >= 0 and to_open % 2 == 0 and depth > 0


chances = Question(solution.chances, (1, 2), {
    "one is open": ("(", 4, 2), "nothing yet": ("", 4, 2), "two are open": ("[(", 8, 3),
    "no time to open": ("[]([", 6, 4), "no room to open": ("[([", 10, 3),
    "the last that was opened is closed": ("([]", 8, 3),
    "all is closed, four are left": ("[()]", 8, 3), "a hundred": ("[(", 100, 4)},
    promises={"`text` has only round and square brackets": lambda text, length, depth: {*text} <= {*"()[]"},
              "can be read": lambda text, length, depth: begins(text, depth),
              "is shorter than `length`": lambda text, length, depth: len(text) < length,
              "at least one balanced text begins so": _begins_one,
              "`length` goes up to 100 and `depth` up to 10":
                  lambda text, length, depth: length <= 100 and depth <= 10},
    returns="N, p (4,)", forbidden=LIBRARY, instead="your own count", lend=("read",),
    otherwise="The second example by hand: which strings of four brackets begin with `(`, and how do they go on?",
    hints={"division by zero": "No way goes on from here: `ways` must be those with m − 1 symbols left, after the next "
                               "one.",
           "endless": "For a hundred brackets there are more ways than anybody can visit, but only a handful of "
                      "heights: for each number of steps left, keep one count per height."},
    why="Kinds are left out of the count and multiplied in at the end, 2 for each pair still to be opened; whole "
        "numbers keep it exact. A 0 at both ends of the list stands for heights that there are not.")

OPENING, CLOSING = "opening / (opening + closing) / 2", "closing / (opening + closing)"
chances.mistakes(
    ("N counts paths of opening and closing. Each bracket that is *still to be opened* has two kinds.",
     " * 2 ** ((m - h) // 2) → "),
    ("N counts kinds for all pairs of the string. Those that `text` has opened are what they are.",
     "(m - h) // 2 → length // 2"),
    ("Of the m brackets that are left, h only close what is open now. How many of the others open?",
     "(m - h) // 2 → m // 2"),
    ("Nothing keeps the strings from getting deeper than `depth`.", "stack = [] → stack, depth = [], length"),
    ("The count goes below 0: nothing can be closed where nothing is open.",
     "[0, 1] → [0] * length + [0, 1]", "range(1, depth + 2) → range(1, length + depth + 2)",   # from height −length on
     "ways[h + 2], ways[h] → ways[length + h + 2], ways[length + h]"),
    ("At height 0 something closes. Does a list look up entry −1? That is its last one: there are no ways from −1.",
     ", ways[h] → , ways[1:-1][h - 1]"),
    ("Both kinds of opening bracket have the whole chance of opening. The four chances add up to 1.",
     "closing) / 2 → closing)"),
    ("In your result opening and closing are equally likely wherever both can be. What counts is how many strings go "
     "on in each way.", "p = → N, opening, closing = opening + closing, opening > 0, closing > 0\n    p =",
     "return (opening + closing) → return N"),
    ("The chance of closing is split between both kinds. Which of them can it be?",
     f'1 if stack[-1] == "(" else 3] = {CLOSING} → [1, 3]] = {CLOSING} / 2'),
    ("It closes what was opened last. That may be closed already: which bracket is on top of the stack?",
     'stack[-1] == "(" → text.rfind("(") > text.rfind("[")'),
    ("The order of p is ( ) [ ], and yours is ( [ ) ].", "2), p → 2), p[[0, 2, 1, 3]]"),
    ("p has numbers of paths and no chances yet: divide by what they add up to.",
     f"{OPENING} → opening / 2", f"= {CLOSING} → = closing"))


@chances.suspect
def _(got, text, length, depth):
    if type(got) in (list, tuple) and kind(got[0]) == "a number":
        yield "N is a whole number, and `/` and floats round it: use Python's whole numbers, and // where you divide."
    N = solution.chances(text, length, depth)[0]
    if kind(got[0]) == "a whole number" and got[0] != N and (
            abs(int(got[0]) - N) < 1e-9 * N or (int(got[0]) - N) % 2 ** 63 == 0):
        yield "N is long here. Floats round it, and NumPy's whole numbers run over: Python's own hold it."


# -- by_distance -----------------------------------------------------------------------------------------------------

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


by_distance = Question(solution.by_distance, (1, 1), {
    "one wrong": _case(["[()[]()()]"], (0, 4)), "all right": _case(TEXTS),
    "one wrong, at distance 3": _case(["([[]()])", "[][([])]"], (1, 6)),
    "the last one wrong": _case(["([])[]"], (0, 5)), "five deep": _case(["[(([[]]))]"], (0, 8)),
    "far ones wrong": _case(TEXTS, (0, 6), (0, 7), (1, 7))},
    promises={"balanced texts of $T$ round and square brackets": lambda logits, texts: balanced(texts, logits),
              "(No two are equal here.)": lambda logits, texts: (logits[:, :, 1] != logits[:, :, 3]).all()},
    forbidden=LIBRARY, instead="a stack of your own", lend=("read",),
    otherwise="Take `([])` by hand: which row is asked for the `]`, which for the `)`, and how far away are their "
              "partners?",
    hints={**DEEPER, "out of bounds": "There are 1 + T rows. The row at place t − 1 predicts the bracket at place t."},
    why="A stack of places gives the partner, so the distance is a subtraction. Only the two closing brackets' logits "
        "are compared, in the row that has not read the bracket yet.")

ROUND, ITEMS = "z[t - 1, 1] > z[t - 1, 3]", "for distance, (right, n) in found.items()"
by_distance.mistakes(
    ("In your result opening brackets have a say. The question is which bracket closes, *given that one does*: compare "
     "the logits of the two closing ones.", f'")" if {ROUND} else "]" → "()[]"[z[t - 1].argmax()]'),
    ("The row at a bracket's own place has read it already. The row before it is the one that predicts it.",
     f"{ROUND} → z[t, 1] > z[t, 3]"),
    ("That row is one too early. With places from 1 on, row t − 1 stands before the bracket at place t.",
     f"{ROUND} → z[t - 2, 1] > z[t - 2, 3]"),
    ("You counted the brackets between the two. The distance is the difference of their places: 1 for neighbours.",
     "stack.pop() → stack.pop() - 1"),
    ("Distances were taken from the last bracket that was opened. The partner may be another: what is on the stack?",
     "stack.append(t) → newest = t", "stack.pop() → newest"),
    ("Pairs of neighbours are missing, distance 1.",
     "found[distance] = → if distance > 1:\n                    found[distance] ="),
    ("The first number counts the wrong ones.", "said == symbol → said != symbol"),
    ("The second number is how many there are in all, not how many are wrong.", "n + 1 → n + (said != symbol)"),
    ("The pair is turned round: how many are right comes first.",
     f"return found → return {{distance: (n, right) {ITEMS}}}"),
    ("You return shares. Two whole numbers are due: how many are right, and of how many.",
     f"return found → return {{distance: right / n {ITEMS}}}"))
