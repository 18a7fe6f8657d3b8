"""Checks of assignment 12 on attention maps: the top of the stack in them, and how far two are apart; on even attention
that counts, votes of base^depth; and on a text on which a model with perfect test accuracy errs."""

from attention_questions.prelude import Question, functools, np, torch
from coursekit.models import load_weights
from coursekit.worlds import dyck

from . import solution
from .reading import DEEPER, LIBRARY, balanced, begins


def _drawn(n, T, seed, holes=False):
    """Causal maps (n, 1 + T, 1 + T); with holes, some weights are 0."""
    rng = np.random.default_rng(seed)
    A = np.tril(rng.random((n, 1 + T, 1 + T)) ** 3 + 0.01)
    if holes:
        A *= (rng.random(A.shape) < 0.6) | (np.arange(1 + T) == 0)
    return A / A.sum(2, keepdims=True)


def even(n, T):
    """Even attention to all places read, (n, 1 + T, 1 + T)."""
    A = np.tril(np.ones((1 + T, 1 + T)))
    return np.tile(A / A.sum(1, keepdims=True), (n, 1, 1))


def causal(*maps):
    """Are they maps (n, 1 + T, 1 + T) whose rows read no future and add up to 1?"""
    return all(A.shape[1] == A.shape[2] and (A >= 0).all() and (np.triu(A, 1) == 0).all()
               and np.allclose(A.sum(2), 1, rtol=0, atol=1e-12) for A in maps)


# -- on_top ----------------------------------------------------------------------------------------------------------

on_top = Question(solution.on_top, (2, 2), {
    "one short text": (_drawn(1, 4, 8), ["()[]"]),
    "two texts": (_drawn(2, 6, 0), ["([]())", "[(())]"]), "even": (even(1, 6), ["[]([])"]),
    "some weights are 0": (_drawn(2, 8, 2, holes=True), ["(([])[])", "[]([()])"]),
    "one pair": (_drawn(1, 2, 2), ["[]"]), "five deep": (_drawn(1, 10, 7), ["[(([[]]))]"])},
    promises={"row $t$ has weights for places 0 to $t$, which add up to 1, and zeros behind":
                  lambda A, texts: causal(A),
              "balanced texts of $T$ round and square brackets": lambda A, texts: balanced(texts, A)},
    returns="top, even, spread", forbidden=LIBRARY, instead="a stack of your own", lend=("read",),
    otherwise="Take the text `[]`: one bracket closes, and the row before it has two places. What are the three "
              "numbers?",
    hints=DEEPER,
    why="`read` is given len(text) as its depth, so that it never stops early. Weights of 0 are left out of a row "
        "before the logarithm is taken; the row sees t places all the same, and log t divides its entropy.")


def _places(number):
    """Another number of places that a row can see; the logarithm of 1 is no divisor."""
    return f"1 / t, → 1 / ({number}),", f"np.log(t) → np.log(max({number}, 2))"


on_top.mistakes(
    ("These are the rows *of* the closing brackets. The row before it decides which bracket comes.",
     "a[t - 1][a[t - 1] > 0] → a[t][a[t] > 0]", "a[t - 1, tops → a[t, tops"),
    ("The top after the closing bracket was looked up. Before it is closed, its partner is on top.",
     "tops[t - 1] → tops[t]"),
    ("That is what was on top one symbol earlier. The row before place t has read t − 1 symbols: the top after them.",
     "tops[t - 1] → tops[t - 2]"),
    ("That is attention on the last bracket that was opened. It may be closed already: the top is the last *unmatched* "
     "one.", 'if symbol in ")]" → if symbol in "([":\n                newest = t\n            else',
     "tops[t - 1] → newest"),
    ("All rows count in your result. Only those before a closing bracket are due.",
     'if symbol in ")]" → if True', "np.log(t) → np.log(max(t, 2))"),
    *(("The row at place t − 1 can see t places, START included: even attention gives each 1/t.", *_places(number))
      for number in ("t + 1", "t - 1")),
    ("A place of weight 0 can be seen, too: even attention has 1/t for each of t places.", *_places("len(kept)")),
    ("Even attention reads no future: it has 1/t for the t places up to the row's own, not 1/(1 + T).",
     *_places("len(a)")),
    ("`spread` is the entropy in nats. Divide each row's by that of an even row, log t.", " / np.log(t) → "),
    ("The entropy is in bits, and that of the even row in nats.", "np.log(kept) → np.log2(kept)"),
    *(("`spread` is divided by log t: the row at place t − 1 sees t places, START included.",
       f"np.log(t) → np.log({number})") for number in ("t + 1", "len(a)")),
    ("A place of weight 0 can be seen, too: the entropy of an even row is log t, however many weights are above 0.",
     "np.log(t) → np.log(len(kept))"),
    ("The entropy is in bits, and not yet divided by that of an even row.",
     "np.log(kept) → np.log2(kept)", " / np.log(t) → "),
    ("An entropy is not below 0: is a minus missing?", "-(kept → (kept"),
    ("That is the largest weight of a row. It need not be on the top.", "a[t - 1, tops[t - 1]] → a[t - 1].max()"),
    ("The weight beside the top is taken. Place 0 is START's: what stands at index i of a text has place i + 1.",
     "a[t - 1, tops[t - 1]] → a[t - 1, max(tops[t - 1] - 1, 0)]"),
    ("Only `)` closes in your result. `]` closes, too.", 'in ")]" → in ")"'),
    ("`even` is 1 over a mean number of places. It is the mean of 1/t, row by row.", "1 / t, → t,",
     "return tuple(np.mean(found, 0).tolist()) → top, seen, spread = np.mean(found, 0).tolist()\n"
     "    return top, 1 / seen, spread"),
    ("These are the rows before *opening* brackets.", 'in ")]" → in "(["', "np.log(t) → np.log(max(t, 2))"),
    ("These are sums over the rows. Their means are due.", "np.mean(found → np.sum(found"),
    ("That is the first text alone. Means are over the rows of all texts.",
     lambda A, texts: solution.on_top(A[:1], texts[:1])),
    ("`spread` is a quotient of means. It is the mean of quotients, row by row.", " / np.log(t) → , np.log(t)",
     "return tuple(np.mean(found, 0).tolist()) → top, even, nats, most = np.mean(found, 0).tolist()\n"
     "    return top, even, nats / most"))


@on_top.suspect
def _(got, A, texts):
    seen = A[:, np.tril(np.ones(A.shape[1:], bool))]
    if (seen == 0).any() and any(np.isnan(part) for part in got):
        yield "0 · log 0 is nan on a computer, and 0 in an entropy: leave the places without weight out."
    if any(isinstance(part, float) and np.isinf(part) for part in got):
        yield ("Is a spread divided by log 1, which is 0? The row before the bracket at place 2 sees two places: START "
               "and the partner.")


# -- apart -----------------------------------------------------------------------------------------------------------

GROUPS = np.array([[0, 1, 2, 1, 2, 3, 4], [5, 5, 1, 7, 1, 7, 7]])


apart = Question(solution.apart, (1, 0), {
    "two texts": (_drawn(2, 6, 3), _drawn(2, 6, 4), GROUPS),
    "each place its own group": (_drawn(1, 4, 5), even(1, 4), np.arange(5)[None]),
    "one group": (_drawn(2, 6, 6), even(2, 6), np.zeros((2, 7), int)),
    "the same maps": (even(2, 6), even(2, 6), GROUPS)},
    promises={"arrays $(n, 1 + T, 1 + T)$ as in question 2": lambda A, B, groups: (
                  A.shape == B.shape and causal(A, B)),
              "whole numbers $(n, 1 + T)$": lambda A, B, groups: (
                  groups.shape == A.shape[:2] and groups.dtype.kind == "i")},
    returns="by place, by group", forbidden=LIBRARY, instead="sums of your own",
    otherwise="Take one row of three places by hand, [1, 0, 0] and [0, 1, 0], with the first two in one group.",
    why="Adding up within groups is linear, so the maps are subtracted first: a product with a table of zeros and ones "
        "gives the sums of all groups of all rows at once.")
apart.mistakes(
    ("Half of the sum of differences is due: two rows without a common place are at distance 1.", " / 2 → "),
    ("START's row is in the mean. All maps agree there, and so it makes them look nearer.", "[:, 1:] → "),
    ("That is the mean over all entries. Each *row* has its distance.", ".sum(2) → "),
    ("Only the largest difference of a row counts here. It is half of their sum.",
     "sum(2).mean() / 2 → max(2).mean()"),
    ("The squares of differences were added up, not their sizes.", "abs(x) → (x ** 2)"),
    ("Within a group the sizes of differences were added up. First add the weights, then compare.",
     "D @ member → abs(D) @ member"),
    ("In your result all texts have the groups of the first one.", "groups[:, :, None] → groups[:1, :, None]"))


# -- votes -----------------------------------------------------------------------------------------------------------

def _far_from_0(text, base):
    """Whole bases are exact: their sums may be 0."""
    sums = solution.votes(text, base)[0] * np.arange(1, len(text) + 2)
    opened = np.array(solution.read(text, len(text))[0]) > 0
    return base == int(base) or (np.abs(sums[opened]) > 1e-9 * base ** len(text)).all()


votes = Question(solution.votes, (2, 3), {
    "two of one kind": ("[[]]", 2), "a round one within a square one": ("[()]", 2),
    "base 1": ("([[()]", 1), "base 1.5, three deep": ("(([[][]]))", 1.5), "base 2": ("(([[][]]))", 2),
    "base 3": ("[]([(([]", 3), "nothing": ("", 2), "closed, and again": ("()[()][]", 1.7)},
    promises={"the beginning of a balanced text of round and square brackets":
                  lambda text, base: {*text} <= {*"()[]"} and begins(text, len(text)),
              "$b > 0$": lambda text, base: base > 0,
              "no such sum comes so near to 0 that rounding counts": _far_from_0},
    returns="m (1 + T,), wrong", forbidden=LIBRARY, instead="counts of your own", lend=("read",),
    otherwise="Write each symbol's vote below it, and take the means from the left. START votes 0.",
    why="One stack of signs is enough: its length is the depth, its last entry the side on which the sum has to be. A "
        "closing bracket takes back what its partner voted, before that one leaves the stack.")


def _vote(size):
    """Votes of another size, of opening brackets and of closing ones."""
    return (f"{sign}= stack[-1] * float(base) ** len(stack) → {sign}= stack[-1] * {size}" for sign in "+-")


IS_WRONG = "total * stack[-1] <= 0"
NOTHING_OPEN = "`wrong` has places after which nothing is open. There no bracket closes next, and m may be 0."
votes.mistakes(
    ("A closing bracket votes at the depth of its pair, as its partner does: the two cancel.",
     "-= stack[-1] * float(base) ** len(stack) → -= stack[-1] * float(base) ** (len(stack) - 1)"),
    ("An opening bracket counts itself: put it on the stack first, then take the depth.",
     "+= stack[-1] * float(base) ** len(stack) → += stack[-1] * float(base) ** (len(stack) - 1)"),
    ("In your result a closing bracket votes for its own kind. It must take its partner's vote back.",
     "total -= → total +="),
    ("In your result closing brackets do not vote. Then what has been closed is never forgotten.",
     "-= stack[-1] → -= 0"),
    ("The signs are turned round: square brackets count up, round ones down.",
     '1 if symbol == "[" else -1 → -1 if symbol == "[" else 1'),
    ("These are sums. Even attention gives the *mean* over all places read.", " / (1 + t) → "),
    ("START is a place, too, with a vote of 0: after t symbols there are 1 + t places.", "(1 + t) → t"),
    ("The mean at place t is over places 0 to t, not over all of the text.", "(1 + t) → (1 + len(text))"),
    ("`wrong` counts the first bracket as 0. It stands at place 1: 0 is START's.",
     "wrong.append(t) → wrong.append(t - 1)"),
    ("In your result the sign is part of what is raised: (−b)² is +b². It stands in front of b^d.",
     *(f"{sign}= stack[-1] * float(base) → {sign}= (stack[-1] * float(base))" for sign in "+-")),
    ("A vote is base^depth, not base · depth.", *_vote("base * len(stack)")),
    ("The outermost pair has depth 1, and votes ±base.", *_vote("float(base) ** (len(stack) - 1)")),
    *(("Where m is 0 it names no bracket, so that place is wrong if something is open.", f"{IS_WRONG} → {instead}")
      for instead in ("total * stack[-1] < 0", "(total >= 0) != (stack[-1] > 0)", "(total > 0) != (stack[-1] > 0)")),
    ("`wrong` has the places where m names the right bracket. Those where it does not are due.",
     f"{IS_WRONG} → total * stack[-1] > 0"),
    (NOTHING_OPEN, "[0.0], [] → [0.0], [0]", f"if stack and {IS_WRONG} → if {IS_WRONG} if stack else total == 0"),
    ("`wrong` is about all places after which a bracket is open, not only those before a closing one.",
     f"if stack and {IS_WRONG} → if text[t:t + 1] in (')', ']') and {IS_WRONG}"))


@votes.suspect
def _(got, text, base):
    (m, wrong), expected = got, solution.votes(text, base)[0]
    if type(m) is np.ndarray and type(wrong) is list:
        if any(type(t) in (bool, np.bool_) for t in wrong):
            yield "`wrong` has True and False. A list of the *places* that are wrong is due."
        if {*wrong} - {t for t, top in enumerate(solution.read(text, len(text))[0]) if top}:
            yield NOTHING_OPEN
        if 1e-9 < np.abs(m - expected).max() < 1e-3:
            yield "The numbers in the examples are rounded. Return m with all its digits."


# -- fool ------------------------------------------------------------------------------------------------------------

LONGEST, WANTED = dyck.T, 3.0           # brackets; logits
_loaded = functools.cache(load_weights)

fool = Question(solution.fool, (3, 0), {"your text": ()},
    otherwise="The model weighs equal brackets alike, however many there are. Which pairs could drown the top? Try "
              "those of the top's own kind, too, and the deepest place.",
    why="A loop over all texts of one kind of pair, as many as fit, inside of one to three others: 28 texts, four of "
        "them pass, and this one is the surest.")


@fool.judge
def _(text):
    due = f"a balanced text of ()[] is due, of at most {LONGEST} brackets, no deeper than {dyck.D}"
    if not isinstance(text, str) or not text or not {*text} <= {*dyck.BRACKETS}:
        yield due, 'Return a text of round and square brackets, a string such as "[()]".'
    if len(text) > LONGEST:
        yield due, f"At most {LONGEST} brackets: that is the length of the texts that it was trained on."
    if not dyck.pushdown(text, None).accepted:
        yield due, "The brackets do not match. Your own `read` says where."
    if not dyck.pushdown(text).accepted:
        yield due, f"Deeper than {dyck.D}. The model has never seen that, so nobody claims that it can."
    ids = dyck.encode(text)
    with torch.no_grad():
        z = _loaded("dyck-minimal")(ids[None])[0, :-1, 1::2]                        # (T, 2): round, square
    over = (z[:, 0] - z[:, 1]) * torch.where(ids[1:] == 3, 1.0, -1.0)               # the wrong one's, above the right
    most = over[dyck.closings(ids[None])[0]].max().item()
    if most < WANTED:
        yield (f"the wrong one is ahead by {most:.2f} at most; {WANTED:g} is due" if most > 0 else
               f"the right one is ahead everywhere, by {-most:.2f} at the nearest; the wrong one must be ahead by "
               f"{WANTED:g} somewhere",
               "It errs already, but it is not sure enough. More of the same, a level deeper or less deep, or another "
               "kind around it?" if most > 0 else None)
