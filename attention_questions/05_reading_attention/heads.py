"""Check of assignment 05 on the habit of a head: its attention to one kind of token, beside what chance would give."""

from attention_questions.prelude import CheckFailed, Question, numbers, same, services, torch
from coursegrade.kit.question import EXACTLY

from . import solution


def previous(T):
    """(T, T): is t the token before s?"""
    return torch.ones(T, T, dtype=torch.bool).tril(-1).triu(-1)


def _pairs(*rows):
    return torch.tensor([[place == "x" for place in row] for row in rows])


PAST, BOTH = (numbers(text, 1, 3, 3) for text in ("1 0 0  0.625 0.375 0  0.25 0.5 0.25",
                                                  "0.25 0.5 0.25  0.625 0 0.375  0 0.375 0.625"))
FOUR = numbers("1 0 0 0  0.625 0.375 0 0  0.25 0.5 0.25 0  0.125 0.25 0.125 0.5", 1, 4, 4)
SHORT, LONG = numbers("1 0  0.75 0.25   1 0  0.125 0.875", 2, 2, 2), numbers(
    "1 0 0  0.5 0.5 0  0 0.25 0.75   1 0 0  0 1 0  0 0.375 0.625", 2, 3, 3)


def _leaves_tensors(answer, arguments):
    """Raise CheckFailed if a tensor in `maps` or `pairs` changes: a copy of the list would not help."""
    _, left = services.back(answer, arguments, [0, 1])
    for name, given, after in zip(("maps", "pairs"), arguments, left, strict=False):
        if len(after) == len(given) and not same(after, given, EXACTLY):
            raise CheckFailed(f"It changes a tensor in `{name}`, which its caller still needs. `a &= b`, `a *= b` and "
                              "an assignment to an entry change `a` itself; `a & b` and `a * b` are new tensors.")


habit = Question(solution.habit, (2, 3), {
    "previous token, a causal head": ([PAST], [previous(3)], True),
    "previous token, a head that sees everything": ([BOTH], [previous(3)], False),
    "previous token or itself, causal": ([FOUR], [_pairs("x---", "xx--", "-xx-", "--xx")], True),
    "the same word, before or after, double precision": ([PAST.double()], [_pairs("-xx", "x-x", "xx-")], True),
    "three texts, one of them a single token": ([SHORT, torch.ones(2, 1, 1), LONG],
                                                [previous(2), previous(1), previous(3)], True),
    "attention to padding was cut away": ([BOTH / 2], [_pairs("-x-", "--x", "-x-")], False),
    "nowhere a choice": ([torch.ones(2, 1, 1)], [_pairs("x")], True)},
    returns="share (K,), even", also=_leaves_tensors,
    forbidden=("coursekit.explain.head_patterns",), instead="sums over columns and a mean over rows",
    otherwise="Write down, for each row of one text, what it sees, and which of that is of the kind. Which rows "
              "count? And in such a row, what is the *sum* of the attention to the kind?",
    hints={"shapes": "Texts differ in length: go through them one at a time, (K, T, T) with its pairs (T, T).",
           "nothing": "None came back. It is due only if no row counts in *any* of the texts, and here some do. "
                      "(With the mask, does row s of your table hold the t ≤ s, and are its rows counted, not "
                      "its columns? Or does the function end without `return …`?)"},
    promises={"all of the same $K$ heads": lambda maps, pairs, causal: len({len(A) for A in maps}) == 1})

NO_CHOICE = "No row has a choice here, so that there is nothing to measure: the result is None."
SHARES = ("The even one is right. The shares take the same rows, and in each of them the *sum* of the attention to "
          "tokens of the kind; then the mean over these rows.")
CHOICE, EVEN = "(found > 0) & (found < total)", "(found / total)[rows]"
habit.mistakes(
    ("Even attention is spread over what a row *sees*: with a causal mask these are s + 1 tokens in row s, not T. (Is "
     "`causal` used at all?)", "found / total → found / len(kind)"),
    ("A row came in that sees *no* token of the kind. It has no choice: leave it out.", f"{CHOICE} → found < total"),
    ("A row came in that sees nothing *but* tokens of the kind. It has no choice: leave it out.",
     f"{CHOICE} → found > 0"),
    ("A token sees itself as well: with the causal mask, row s sees the tokens t ≤ s.", ".tril() → .tril(-1)"),
    ("The causal mask was used here though `causal` is False. Then each row sees all T tokens.", "if causal → if True"),
    ("What a row sees was taken from the weights. A weight may be 0 where a head could have looked: only `causal` says "
     "what is seen.", "torch.ones_like(kind).tril() if causal else torch.ones_like(kind) → (A > 0).any(0)"),
    ("Pairs in the future were counted as well, which a causal head does not see.", "(kind & seen) → kind"),
    ("The shares of the heads are right, and the even one was averaged over *all* rows. It takes the same rows as they "
     "do.", f"{EVEN} → (found / total)"),
    ("That is the mean of the texts' means. Asked for is the mean over all rows that count, so that a long text has "
     "more weight.", "shares.append → if not rows.any():\n            continue\n        shares.append",
     "[:, rows] → [:, rows].mean(1, keepdim=True)", f"{EVEN}.tolist() → [{EVEN}.mean().item()]"),
    ("Columns were read in place of rows: A[i, s, t] is what token s pays to token t.", "A * kind → A.mT * kind"),
    ("Attention was added up over s, down the columns. The share of row s is a sum over t, the last axis.",
     "sum(-1) → sum(-2)"),
    ("A row's attention to the kind was divided by the number of such tokens. It is their sum.",
     "[:, rows] → [:, rows] / found[rows]"),
    ("The share was divided by the even one. Return both as they are.",
     "mean(1), → mean(1) / (sum(even) / len(even)),"),
    ("The share was divided by the sum of its row, and some rows sum to less than one. It is divided by nothing.",
     "A * kind → A / A.sum(-1, keepdim=True) * kind"),
    (SHARES, "(A * kind).sum(-1)[:, rows] → A[:, kind & seen]"),
    (NO_CHOICE, "return None → return torch.zeros(len(maps[0])), 0.0"))


@habit.suspect
def _(got, maps, pairs, causal):
    if (right := solution.habit(maps, pairs, causal)) is None:
        yield NO_CHOICE
    share, even = got
    if share.isnan().any():
        yield ("A mean of no rows is nan, and in a text there may be none that counts. Collect the rows of all texts, "
               "then take one mean.")
    if same(even, right[1]) and tuple(share.shape) == tuple(right[0].shape) and share.dtype == right[0].dtype:
        yield SHARES
