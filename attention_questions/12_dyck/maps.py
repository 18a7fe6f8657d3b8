"""Checks of assignment 12 on attention maps: what is on the stack's top, and how far two maps are apart."""

from attention_questions.prelude import Question, kind, np

from . import solution
from .reading import DEEPER, LIBRARY, balanced


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

on_top = Question(solution.on_top, (1, 2), {
    "two texts": (_drawn(2, 6, 0), ["([]())", "[(())]"]), "even": (even(1, 6), ["[]([])"]),
    "some weights are 0": (_drawn(2, 8, 1, holes=True), ["(([])[])", "[]([()])"]),
    "one pair": (_drawn(1, 2, 2), ["[]"]), "five deep": (_drawn(1, 10, 7), ["[(([[]]))]"])},
    promises={"row $t$ has weights for places 0 to $t$, which add up to 1, and zeros behind":
                  lambda A, texts: causal(A), "`texts` as in question 3": lambda A, texts: balanced(texts, A)},
    returns="top, even, spread", forbidden=LIBRARY, instead="a stack of your own", lend=("read",),
    otherwise="Take the text `[]`: one bracket closes, and the row before it has two places. What are the three "
              "numbers?",
    hints=DEEPER)


def _places(number):
    """Another number of places that a row can see; the logarithm of 1 is no divisor."""
    return f"1 / t, → 1 / ({number}),", f"np.log(t) → np.log(max({number}, 2))"


on_top.mistakes(
    ("These are the rows *of* the closing brackets. The row before it decides which bracket comes.",
     "a[t - 1][a[t - 1] > 0] → a[t][a[t] > 0]", "a[t - 1, tops → a[t, tops"),
    ("The top after the closing bracket was looked up. Before it is closed, its partner is on top.",
     "tops[t - 1] → tops[t]"),
    ("That is attention on the last bracket that was opened. It may be closed already: the top is the last *unmatched* "
     "one.", 'if symbol in ")]" → if symbol in "([":\n                newest = t\n            else',
     "tops[t - 1] → newest"),
    ("All rows count here. Only those before a closing bracket are due.",
     'if symbol in ")]" → if True', "np.log(t) → np.log(max(t, 2))"),
    *(("The row at place t − 1 can see t places, START included: even attention gives each 1/t.", *_places(number))
      for number in ("t + 1", "t - 1")),
    ("A place of weight 0 can be seen, too: even attention has 1/t for each of t places.", *_places("len(kept)")),
    ("Even attention reads no future: it has 1/t for the t places up to the row's own, not 1/(1 + T).",
     *_places("len(a)")),
    ("`spread` is the entropy in nats. Divide each row's by that of an even row, log t.", " / np.log(t) → "),
    ("The entropy is in bits, and that of the even row in nats.", "np.log(kept) → np.log2(kept)"),
    ("`spread` is a quotient of means. It is the mean of quotients, row by row.", " / np.log(t) → , np.log(t)",
     "return tuple(np.mean(found, 0).tolist()) → top, even, nats, most = np.mean(found, 0).tolist()\n"
     "    return top, even, nats / most"))


@on_top.suspect
def _(got, A, texts):
    seen = A[:, np.tril(np.ones(A.shape[1:], bool))]
    if (seen == 0).any() and type(got) in (list, tuple) and any(
            kind(part) == "a number" and np.isnan(part) for part in got):
        yield "0 · log 0 is nan on a computer, and 0 in an entropy: leave the places without weight out."


# -- apart -----------------------------------------------------------------------------------------------------------

GROUPS = np.array([[0, 1, 2, 1, 2, 3, 4], [5, 5, 1, 7, 1, 7, 7]])


apart = Question(solution.apart, (1, 0), {
    "two texts": (_drawn(2, 6, 3), _drawn(2, 6, 4), GROUPS),
    "each place its own group": (_drawn(1, 4, 5), even(1, 4), np.arange(5)[None]),
    "one group": (_drawn(2, 6, 6), even(2, 6), np.zeros((2, 7), int)),
    "the same maps": (even(2, 6), even(2, 6), GROUPS)},
    promises={"arrays $(n, 1 + T, 1 + T)$ as in question 4": lambda A, B, groups: (
                  A.shape == B.shape and causal(A, B)),
              "whole numbers $(n, 1 + T)$": lambda A, B, groups: (
                  groups.shape == A.shape[:2] and groups.dtype.kind == "i")},
    returns="by place, by group", forbidden=LIBRARY, instead="sums of your own",
    otherwise="Take one row of three places by hand, [1, 0, 0] and [0, 1, 0], with the first two in one group.")
apart.mistakes(
    ("Half of the sum of differences is due: two rows without a common place are at distance 1.", " / 2 → "),
    ("START's row is in the mean. All maps agree there, and so it makes them look nearer.", "[:, 1:] → "),
    ("That is the mean over all entries. Each *row* has its distance.", ".sum(2) → "),
    ("Only the largest difference of a row counts here. It is half of their sum.",
     "sum(2).mean() / 2 → max(2).mean()"),
    ("The squares of differences were added up, not their sizes.", "abs(x) → (x ** 2)"),
    ("Within a group the sizes of differences were added up. First add the weights, then compare.",
     "D @ member → abs(D) @ member"),
    ("All texts' groups are those of the first one here.", "groups[:, :, None] → groups[:1, :, None]"))
