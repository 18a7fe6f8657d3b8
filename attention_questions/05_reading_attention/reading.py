"""Checks of assignment 05: one row out of many maps; a head's habit, its attention to one kind of token beside what
chance would give; and what arrives, the vectors that attention brings, and how much of a token they make."""

from attention_questions.prelude import CheckFailed, Question, kind, numbers, rounded, same, services, torch
from coursegrade.kit.question import EXACTLY

from . import solution

# -- one_row ---------------------------------------------------------------------------------------------------------

PERCENT = numbers("20 20 60  30 30 40  10 10 80    85 10 5  50 20 30  90 5 5    "
                  "55 25 20  5 5 90  20 70 10    35 30 35  25 25 50  60 10 30", 2, 2, 3, 3)
DEEP = numbers("90 10 70 30  20 80 40 60   55 45 15 85  35 65 50 50   75 25 5 95  10 90 65 35", 3, 2, 2, 2)
PAIR = ("Is one of the things there None, or a pair? `chosen` may be None, and `.max(axis)` returns two things, the "
        "values and where they stand; `.amax(axis)` is the values alone.")
NO_COLUMN = ("None came back. Where `own` is empty, the scores are a tensor without entries; and everywhere the "
             "function ends with `return …`.")

one_row = Question(solution.one_row, (1, 1), {
    "mean of all": (PERCENT, 0, [1, 2], "mean", "mean"),
    "the largest of the heads, the mean of the layers": (PERCENT, 0, [1, 2], "max", "mean"),
    "column 2, then column 0": (PERCENT, 1, [2, 0], "mean", "max"),
    "the second layer alone, double precision": (DEEP.double(), 0, [1], "sum", "mean", [1]),
    "the last row, the last and the first layer": (DEEP, -1, [0, 1], "max", "sum", [-1, 0]),
    "nothing but special tokens: an empty `own`": (PERCENT, 0, [], "mean", "max")},
    returns="scores (len(own),)",
    forbidden=("coursekit.explain.attention_mean", "coursekit.explain.attention_max",
               "coursekit.explain.attention_sum"), instead="torch's mean, amax and sum along an axis",
    otherwise="One column of `own` by hand: of each layer the numbers of its heads, which become one; then those "
              "of the layers.",
    hints={"shapes": "A is (L, K, T, T). Which axes are left once the row is taken?",
           "nothing": NO_COLUMN,
           "IndexError": "Which axes are left there, and how long is each? (A list can be an index, also an "
                         "empty one; torch.tensor([]) holds no whole numbers.)",
           "KeyError": "An operation is 'mean', 'max' or 'sum', for the heads and for the layers. Does your "
                       "dictionary have all three?",
           "AttributeError|TypeError": PAIR},
    promises={"not empty, no layer twice": lambda A, row, own, heads, layers, chosen=None: (
                  chosen is None or len({layer % len(A) for layer in chosen}) == len(chosen) > 0)},
    why="A dictionary leads from a name to an operation, so that heads and layers need one line and no `if`.\nThe row "
        "is taken first: all that comes after is a table of heads, layers and tokens.")
one_row.mistakes(
    ("A column was read. Row s holds what token s looks at: A[l, i, s, t] goes from s to t.",
     "rows = → A = A.mT\n    rows ="),
    ("Row 0 was read. It is `row` that says which one (−1 is the last).", "rows = → row = 0\n    rows ="),
    ("The two operations have changed places: `heads` is for the heads, axis 1, and `layers` for the layers, axis 0.",
     "together[layers](together[heads] → together[heads](together[layers]"),
    ("The layers were put together first, then the heads. With a maximum in it the order matters: heads first.",
     "together[layers](together[heads](rows, 1) → together[heads](together[layers](rows, 0)"),
    ("Axis 0 of A are the layers, axis 1 the heads. Here they were taken for each other.", "rows, 1 → rows, 0"),
    ("The operation of the heads was used for the layers as well.", "together[layers] → together[heads]"),
    ("All layers came in. If `chosen` is given, only those count.", "chosen is None → True"),
    ("Here `chosen` picked heads: axis 0 of A are the layers.", "A[chosen] → A[:, chosen]"),
    ("A layer of `chosen` did not come in. (−1 is the last one.)", "A[chosen] → A[[i for i in chosen if i >= 0]]"),
    ("Of `chosen` only the first layer came in.", "A[chosen] → A[chosen[:1]]"),
    ("A layer −i of `chosen` was read as layer i. It counts from the end: −1 is the last one.",
     "A[chosen] → A[[abs(i) for i in chosen]]"),
    ("Layers that are not in `chosen` still counted: as zeros, or in the number that a mean divides by.",
     '[own] → [own] * (len(rows) / len(A) if layers == "mean" else 1)'),
    ("Heads and layers were put together at once, by the operation `layers`. Heads come first, by their own.",
     "together[heads](rows, 1) → rows.flatten(0, 1)"),
    ("A mean came out where a sum is asked for.", "torch.sum → torch.mean"),
    ("That is a list. The scores are a tensor: leave them one, or torch.tensor(…) makes one.",
     "[own] → [own].tolist()"),
    (NO_COLUMN, "return → if not own:\n        return None\n    return"),
    ("Each row was rescaled over the columns in `own`. Leave it: what is missing went to other tokens.", "[own] →",
     "rows, 1 → rows[..., own] / rows[..., own].sum(-1, keepdim=True), 1"),
    ("The columns stand in another order than in `own`.", "[own] → [sorted(own)]"),
    ("The scores were rescaled to sum to one. Leave them: what is missing went to other tokens.",
     "return → scores =", "[own] → [own]\n    return scores / scores.sum()"))
one_row.suspect(lambda got, *arguments: [PAIR] if kind(got) == "a max" else [])


# -- habit -----------------------------------------------------------------------------------------------------------

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


habit = Question(solution.habit, (2, 2), {
    "previous token, a causal head": ([PAST], [previous(3)], True),
    "previous token, a head that sees everything": ([BOTH], [previous(3)], False),
    "previous token or itself, causal": ([FOUR], [_pairs("x---", "xx--", "-xx-", "--xx")], True),
    "the same word, before or after, double precision": ([PAST.double()], [_pairs("-xx", "x-x", "xx-")], True),
    "three texts, one of them a single token": ([SHORT, torch.ones(2, 1, 1), LONG],
                                                [previous(2), previous(1), previous(3)], True),
    "attention to padding was cut away": ([BOTH / 2], [_pairs("-x-", "--x", "-x-")], False),
    "no row has a choice": ([torch.ones(2, 1, 1)], [_pairs("x")], True)},
    returns="share (K,), even", also=_leaves_tensors,
    forbidden=("coursekit.explain.head_patterns",), instead="sums over columns and a mean over rows",
    otherwise="Write down, for each row of one text, what it sees, and which of that is of the kind. Which rows "
              "count? And in such a row, what is the *sum* of the attention to the kind?",
    hints={"shapes": "Texts differ in length: go through them one at a time, (K, T, T) with its pairs (T, T).",
           "nothing": "None came back. It is due only if no row counts in *any* of the texts, and here some do, also "
                      "with several wanted tokens. (With the mask, does row s of your table hold the t ≤ s, and are "
                      "its rows counted, not its columns? Or does the function end without `return …`?)"},
    promises={"all of the same $K$ heads": lambda maps, pairs, causal: len({len(A) for A in maps}) == 1},
    why="Two counts of a row, seen and wanted, say whether it has a choice and what even attention would give.\nRows "
        "of all texts are put side by side before the one mean, so that each row counts alike.")

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
    ("The even one was subtracted from the share. Return both as they are.",
     "mean(1), → mean(1) - sum(even) / len(even),"),
    ("Of a row, the *largest* weight of a wanted token was taken. It is the sum of all of them.",
     "sum(-1) → amax(-1)"),
    ("The even one divides all wanted tokens by all that are seen. It is a mean of fractions, one for each row.",
     f"{EVEN} → torch.stack([found, total], 1)[rows]",
     "sum(even) / len(even) → sum(one[0] for one in even) / sum(one[1] for one in even)"),
    ("A row's even share is 1 over what it sees here. It is how many *wanted* tokens it sees, over that.",
     "found / total → 1 / total"),
    ("Pairs in the future were counted as well, which a causal head does not see.",
     "found / total → kind.sum(1) / total"),
    *((f"Only the {which} text came in. The means are over the rows of all of them: collect these, and return after "
       "the loop.", f"zip(maps, pairs) → zip(maps[{part}], pairs[{part}])")
      for which, part in (("first", ":1"), ("last", "-1:"))),
    *(("Row 0 was left out by its number. A row counts if it sees a token that is wanted and one that is not, whichever"
       " row it is.", f"{CHOICE} → {other} & (torch.arange(len(kind)) > 0)") for other in (CHOICE, "(found > 0)")),
    *(("What rows see was counted down the columns. Row s of the table is what s sees: the counts run along axis 1.",
       "(kind & seen).sum(1), seen.sum(1) → (kind & seen).sum(0), seen.sum(0)", *more)
      for more in ([], ["sum(-1) → sum(-2)"])),
    ("`share` is a list here. Leave it a tensor (K,), or torch.tensor(…) makes one.", "mean(1), → mean(1).tolist(),"),
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


# -- carried ---------------------------------------------------------------------------------------------------------

def _sending(K, T, d_out, d_e, seed):
    """Arguments of carried, with one decimal; the attention in eighths."""
    places = torch.randint(T, (K * T, 8), generator=torch.Generator().manual_seed(seed))
    A = torch.nn.functional.one_hot(places, T).sum(1).float().reshape(K, T, T) / 8
    return A, rounded(K, T, d_out, seed=seed), rounded(d_e, K * d_out, seed=seed + 1), rounded(T, d_e, seed=seed + 2)


CUT = ("W_o was cut into heads in another order. Head i has the *columns* i·d_out to (i + 1)·d_out − 1, side by side: "
       "W_o.chunk(K, 1) has them so.")
CUTS = ("W_o.reshape(len(v), len(W_o), -1)", "W_o.reshape(len(W_o), -1, len(v)).permute(2, 0, 1)",
        "W_o.T.reshape(len(v), len(W_o), -1)")


def _small(A, v, W_o, x):
    return A, v / 10_000, W_o, x / 10_000


HALVES = (torch.full((2, 2, 2), 0.5), numbers("2 2  0 4", 2, 2, 1), numbers("3 1  4 4", 2, 2),
          numbers("33 11  -5 -12", 2, 2))                               # others : own = 13 : 39 and 5 : 0

carried = Question(solution.carried, (2, 2), {
    "two heads, even attention": HALVES,
    "two heads, mixed by W_o": _sending(K=2, T=2, d_out=2, d_e=3, seed=3),
    "as large as the heads together": _sending(K=2, T=3, d_out=2, d_e=4, seed=7),
    "one token, so no others, double precision": tuple(x.double() for x in _sending(K=3, T=1, d_out=1, d_e=2, seed=5)),
    "nothing arrives, and nothing is there": (torch.full((1, 2, 2), 0.5), torch.zeros(1, 2, 1), torch.ones(2, 1),
                                              numbers("0 0  1 0", 2, 2)),
    "vectors that are very short": _small(*_sending(K=2, T=2, d_out=1, d_e=2, seed=1))},
    returns="norms (T, T), mixing (T,)",
    forbidden=("coursekit.explain.norm_attention", "coursekit.explain.attention.norm_maps"),
    instead="matrix products and a norm",
    otherwise="Take one pair s, t by hand: for each head A[i, s, t] times W_o^(i) v_t; add these K vectors; take "
              "the length.",
    hints={"shapes": "Head i has the columns i·d_out to (i + 1)·d_out − 1 of W_o, (d_e, d_out), and values v[i] (T, "
                     "d_out)."},
    why="All vectors r_st are kept in one tensor, since both answers are made of it: heads are added up before any "
        "length.\nOthers are everything less the diagonal; `where` sees to the tokens to which nothing comes.")

NORMS, HEADS = "return r.norm(dim=-1)", 'torch.einsum("kst,kte->kste", A, f)'      # HEADS: what each of them brings
BOTH_LENGTHS = "(r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)"
WHOLE = "torch.where(a + b > 0, a / (a + b), 0)"
carried.mistakes(
    ("Norms of the heads were added up. The heads write into the same stream, where their vectors can cancel: add the "
     "vectors, then take the norm.", f"{NORMS} → return {HEADS}.norm(dim=-1).sum(0)"),
    ("This is the mean of the heads' norms. Add the heads' vectors first, then take the norm.",
     f"{NORMS} → return {HEADS}.norm(dim=-1).mean(0)"),
    ("The heads were averaged. Each writes into the stream in full: their vectors are added up.",
     "A, f) → A / len(A), f)"),
    ("There is a map for each head. What the heads bring is added up, as vectors, before the norm: one map (T, T).",
     f"{NORMS} → return {HEADS}.norm(dim=-1)"),
    ("Those are the vectors. Asked for is the length of each.", f"{NORMS} → return r"),
    ("W_o is missing: what a head brings is W_o^(i) v, not v itself.",
     f'{NORMS} → return torch.einsum("kst,ktd->stkd", A, v).flatten(2).norm(dim=-1)'),
    ("W_o was transposed, or cut by rows. A head writes W_o^(i) v: head i has *columns* of W_o, and a row vector goes "
     "through `v @ W.T`.", "W_o.chunk → (W_o.T if len(W_o) == len(W_o.T) else W_o).chunk"),
    ("The heads' weights were averaged before they met their values. Each head's values have weights of their own.",
     "A, f) → A.mean(0).expand_as(A), f)"),
    ("The attention weights are missing: what head i brings from t is multiplied by A[i, s, t].",
     "A, f) → torch.ones_like(A), f)"),
    ("Rows and columns have changed places: A[i, s, t] is how strongly s looks at t, and row s of the norms holds what "
     "s *receives*.", "A, f) → A.mT, f)"),
    ("For the mixing, lengths were added up. What comes from the others is added up as *vectors*, which can cancel, "
     "and then measured.", "(r.sum(1) - own).norm(dim=-1) → r.norm(dim=-1).sum(1) - own.norm(dim=-1)"),
    ("For the mixing, everything that attention brings was counted as the others'. What s brings to itself, r_ss, "
     "belongs to its own part.", "(r.sum(1) - own) → r.sum(1)", "(x + own) → x"),
    ("For the mixing, what s brings to itself, r_ss, is still among what comes from others.",
     "(r.sum(1) - own) → r.sum(1)"),
    ("The own part of the mixing lacks what s brings to itself: x_s + r_ss, added before the norm.", "(x + own) → x"),
    ("The own part of the mixing lacks x_s, which comes over the skip connection.", "(x + own) → own"),
    ("The own part of the mixing is the length of a sum: add x_s and what s brings to itself first.",
     "(x + own).norm(dim=-1) → x.norm(dim=-1) + own.norm(dim=-1)"),
    ("The mixing is divided by the length of everything together. Divide by the sum of the two lengths.",
     "return → whole = (x + r.sum(1)).norm(dim=-1)\n    return", f"{WHOLE} → torch.where(whole > 0, a / whole, 0)"),
    ("The mixing is turned round: the share of the *others*, not of what is its own.", "a / (a + b) → b / (a + b)"),
    ("Where b alone is 0, the mixing is 0 here. Everything came from others then, and it is 1.", "a + b > 0 → b > 0"),
    ("Where nothing is there and nothing arrives, the mixing is 0/0. It is 0 there.", f"{WHOLE} → a / (a + b)"),
    *(("The mixing is others / own here. It is others / (others + own), between 0 and 1.", f"{WHOLE} → {other}")
      for other in ("torch.where(b > 0, a / b, 0)", "a / b", "(a / b).nan_to_num(0)")),
    *((CUT, f"W_o.chunk(len(v), 1) → {cut}") for cut in CUTS),
    ("Rows and columns have changed places: A[i, s, t] is how strongly s looks at t, and row s of the norms holds what "
     "s *receives*.", f"{NORMS} → return r.norm(dim=-1).T"),
    ("W_o is missing: what a head brings is W_o^(i) v, not v itself.",
     f'{NORMS} → return torch.einsum("kst,ktd->std", A, v).norm(dim=-1)'),
    ("What comes from t was made of the values of s. It is W_o^(i) v_t, for each t another one.",
     "kst,kte → kst,kse"),
    *((f"Only the {which} head's vectors are in the sum. Add up those of all heads.",
       f'torch.einsum("kst,kte->ste", A, f) → A[{i}][:, :, None] * f[{i}]')
      for which, i in (("first", 0), ("last", -1))),
    ("x_s stands in the norms as well. They hold what attention brings: x belongs to the mixing alone.",
     f"{NORMS} → r[range(len(x)), range(len(x))] = x + own\n    return r.norm(dim=-1)"),
    ("Those are squares of lengths: a root is missing.", f"{NORMS} → return r.square().sum(-1)"),
    *(("A length is the root of a sum of squares, and not the sum of the sizes.", f"{NORMS} → return r.abs().sum(-1)",
       *more) for more in ([], [f"{BOTH_LENGTHS} → (r.sum(1) - own).abs().sum(-1), (x + own).abs().sum(-1)"])),
    *(("The lengths were taken along an axis of tokens. The numbers of a vector are the last axis of r (T, T, d_e).",
       f"{NORMS} → return r.norm(dim={axis})") for axis in (0, 1)),
    ("The norms were rescaled: each row sums to one. Leave them as long as they are.",
     f"{NORMS} → return r.norm(dim=-1) / r.norm(dim=-1).sum(1, keepdim=True)"),
    ("The mixing is made of squares of lengths: a root is missing.",
     f"{BOTH_LENGTHS} → (r.sum(1) - own).square().sum(-1), (x + own).square().sum(-1)"),
    ("For the mixing, what token s *sends* was added up. It receives r[s, t]: the sum runs over t, axis 1.",
     "(r.sum(1) - own) → (r.sum(0) - own)"),
    ("For the mixing, x_s is among what comes from others. It is its own.", "(r.sum(1) - own) → (x + r.sum(1) - own)"),
    ("The diagonal is turned round: r.diagonal() is (d_e, T), with the axis of tokens last.",
     "r[range(len(x)), range(len(x))] → r.diagonal()"),
    *(("To a + b something small was added, and here a + b is small as well. Divide by a + b itself, wherever it is "
       "not 0.", f"{WHOLE} → a / (a + b{more}") for more in (" + 1e-6)", " + 1e-5)", ").clamp(min=1e-3)")))


@carried.suspect
def _(got, A, v, W_o, x):
    norms, mixing = got
    if same(norms, solution.carried(A, v, W_o, x)[0]) and mixing.shape == x.shape[:1] and mixing.dtype == x.dtype:
        yield ("The norms are right, the mixing is not. For one s: which vectors come from others, which are its own? "
               "Add up each group, then take two lengths.")
