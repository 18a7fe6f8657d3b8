"""Check of assignment 05 on the habit of a head: its attention to one kind of token, beside what chance would give."""

import torch

from coursekit.grade.kit import services
from coursekit.grade.kit.messages import CheckFailed
from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import EXACTLY, question
from coursekit.grade.kit.same import kind, same

from .maps import numbers, unlike

__all__ = ["habit", "previous"]


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
    for name, given, after in zip(("maps", "pairs"), arguments, left):
        if len(after) == len(given) and not same(after, given, EXACTLY):
            raise CheckFailed(f"It changes a tensor in `{name}`, which its caller still needs. `a &= b`, `a *= b` and "
                              "an assignment to an entry change `a` itself; `a & b` and `a * b` are new tensors.")


@question((2, 2), {"previous token, a causal head": ([PAST], [previous(3)], True),
                   "previous token, a head that sees everything": ([BOTH], [previous(3)], False),
                   "previous token or itself, causal": ([FOUR], [_pairs("x---", "xx--", "-xx-", "--xx")], True),
                   "the same word, before or after, double precision": ([PAST.double()], [_pairs("-xx", "x-x", "xx-")],
                                                                        True),
                   "three texts, one of them a single token": ([SHORT, torch.ones(2, 1, 1), LONG],
                                                               [previous(2), previous(1), previous(3)], True),
                   "nowhere a choice": ([torch.ones(2, 1, 1)], [_pairs("x")], True)},
          forbidden=("coursekit.explain.head_patterns",), instead="sums over columns and a mean over rows",
          also=_leaves_tensors, parts=("share", "even"),
          hints={"shapes": "Texts differ in length: go through them one at a time, (K, T, T) with its pairs (T, T).",
                 "nothing": "None came back. It is due only if no row counts in *any* of the texts, and here some do. "
                            "(With the mask, does row s of your table hold the t ≤ s, and are its rows counted, not "
                            "its columns? Or does the function end without `return …`?)"})
def habit(maps, pairs, causal):
    """habit(maps, pairs, causal): (share (K,), even), or None; means over the rows that have a choice."""
    return _habit(maps, pairs, causal)


def _habit(maps, pairs, causal, rows="choice", sees="due", hidden="", texts=False, even="fraction", of_kind="sum",
           axis=1):
    """rows: which of them count; sees: what a row sees; hidden: of the kind though not seen, "even" for the even share
    alone; texts: a mean of the texts' means; even: "all T" is spread over all T, "one" counts one token of the kind;
    of_kind: what becomes of a row's attention to the kind; axis: along which tokens are counted."""
    shares, chances = [], []
    for A, kinds in zip(maps, pairs):
        everything = torch.ones_like(kinds)
        past = everything.tril()
        seen = {"due": past if causal else everything, "all": everything, "past": past, "weights": (A > 0).any(0),
                "others": everything.tril(-1) if causal else everything}[sees]
        total, found = seen.sum(axis), ((kinds if hidden == "all" else kinds & seen).sum(axis)).double()
        counted = {"choice": (found > 0) & (found < total), "some": found > 0, "all": found >= 0,
                   "others": found < total}[rows]
        chance = torch.ones_like(found) if even == "one" else kinds.sum(1).double() if hidden else found
        paid = {"sum": (A * kinds).sum(-1), "mean": (A * kinds).sum(-1) / found.to(A.dtype),
                "max": (A * kinds).amax(-1), "column": (A * kinds).sum(-2)}[of_kind]
        shares.append(paid[:, counted])                                 # (K, rows)
        chances.append((chance / (len(seen) if even == "all T" else total))[counted])
    if texts:
        shares = [share.mean(1, keepdim=True) for share in shares if share.shape[1]]
        chances = [chance.mean(0, keepdim=True) for chance in chances if len(chance)]
    shares, chances = torch.cat(shares, 1), torch.cat(chances)
    return (shares.mean(1), chances.mean().item()) if len(chances) else None


FROM_WEIGHTS = ("What a row sees was taken from the weights. A weight may be 0 where a head could have looked: only "
                "`causal` says what is seen.")
HIDDEN = "Pairs in the future were counted as well, which a causal head does not see."
MASKED = "The causal mask was used here though `causal` is False. Then each row sees all T tokens."


@habit.suspect
def _(got, maps, pairs, causal):
    right = _habit(maps, pairs, causal)
    if right is None:
        return "No row has a choice here, so that there is nothing to measure: the result is None."
    if type(got) not in (list, tuple) or len(got) != 2:
        return "Return both: the share of each head, a tensor (K,), and the share that even attention would have."
    (share, even), (due, chance) = got, right
    if kind(share) != "a tensor" and kind(even) == "a tensor" and even.dim():
        return "The two have changed places: first the heads' shares, then the even one."
    if kind(share) != "a tensor":
        return "The first of the two is a tensor, with the share of each of the K heads."
    if tuple(share.shape) != tuple(due.shape):
        return f"The heads have a share each: a tensor (K,), here ({len(due)},), also if there is one head alone."
    if share.dtype != due.dtype:
        return "The shares have the dtype of the maps."
    if share.isnan().any():
        return ("A mean of no rows is nan, and in a text there may be none that counts. Collect the rows of all texts, "
                "then take one mean.")

    def changed(**change):
        return _habit(maps, pairs, causal, **change) or (None, None)

    if same(share, due):
        if kind(even) in ("a tensor", "a NumPy array") and len(even.shape):
            return ("The shares of the heads are right. The even one is a single number: a mean over the rows that "
                    "count. (`.item()` makes a number of a tensor with one entry.)")
        return "The shares of the heads are right. " + (first_match(even, unlike(chance, [
            (changed(even="all T")[1], "Even attention is spread over what a row *sees*: with a causal mask these are "
                                       "s + 1 tokens in row s, not T."),
            (None if causal else changed(sees="past")[1], MASKED),
            (changed(sees="weights")[1], FROM_WEIGHTS),
            (changed(hidden="even")[1], "For the even one: " + HIDDEN[0].lower() + HIDDEN[1:]),
            (changed(rows="all")[1], "And the even one was averaged over *all* rows. It takes the same rows as they "
                                     "do."),
            (changed(texts=True)[1], "The even one is a mean over rows as well, not over texts."),
            (changed(even="one")[1], "For the even one, one token of the kind was counted in each row. There can be "
                                     "more of them."),
            (1 - chance, "The even one is that of tokens that are *not* of the kind.")
        ])) or "The even one, in a row that counts: tokens of the kind that the row sees, divided by all that it sees.")
    variants = [
        (changed(rows="others"), "A row came in that sees *no* token of the kind. It has no choice: leave it out."),
        (changed(rows="some"), "A row came in that sees nothing *but* tokens of the kind. It has no choice: leave it "
                               "out."),
        (changed(rows="all"), "All rows count here. Those that see no token of the kind, or nothing else, have no "
                              "choice: leave them out."),
        (changed(hidden="all"), HIDDEN),
        (None if causal else changed(sees="past"), MASKED),
        (changed(sees="weights"), FROM_WEIGHTS),
        (changed(sees="others"), "A token sees itself as well: with the causal mask, row s sees the tokens t ≤ s."),
        (changed(sees="all"), "`causal` changes nothing here. If it is True, row s sees only the tokens t ≤ s."),
        (changed(texts=True), "That is the mean of the texts' means. Asked for is the mean over all rows that count, "
                              "so that a long text has more weight."),
        (_habit(maps[:1], pairs[:1], causal), "Only the first text came in."),
        (_habit(maps[-1:], pairs[-1:], causal), "Only the last text came in."),
        (_habit([A.mT for A in maps], pairs, causal), "Columns were read in place of rows: A[i, s, t] is what token s "
                                                      "pays to token t."),
        (changed(axis=0), "What rows see was counted down the columns. What row s sees is a sum over t, along axis 1."),
        (changed(of_kind="column"), "Attention was added up over s, down the columns. The share of row s is a sum over "
                                    "t, the last axis."),
        (changed(of_kind="mean"), "A row's attention to the kind was divided by the number of such tokens. It is their "
                                  "sum."),
        (changed(of_kind="max"), "Of the tokens of the kind in a row, the largest weight alone was taken. All of them "
                                 "are added up."),
        ((due / chance, chance), "The share was divided by the even one. Return both as they are."),
        (_habit([_hits(A) for A in maps], pairs, causal),
         "This counts in how many rows the *largest* weight is of the kind. Add up the weights themselves.")]
    if words := first_match(got, [(value, words) for value, words in variants if value and not same(value[0], due)]):
        return words
    if same(even, chance):
        return ("The even one is right. The shares take the same rows, and in each of them the *sum* of the attention "
                "to tokens of the kind; then the mean over these rows.")
    return ("Write down, for each row of one text, what it sees, and which of that is of the kind. Which rows count? "
            "And in such a row, what is the *sum* of the attention to the kind?")


def _hits(A):
    return torch.zeros_like(A).scatter(-1, A.argmax(-1, keepdim=True), 1.0)
