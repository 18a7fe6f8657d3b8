"""Checks of assignment 04 on rules and the draw: the temperature, the k likeliest tokens, the nucleus, and which token
a number between 0 and 1 stands for."""

from attention_questions.prelude import SOFTMAXES, Question, kind, math, torch

from . import solution

LIBRARY = ("coursekit.models.apply_rules", "coursekit.models.next_token_distribution", "coursekit.models.sample")

# -- tempered --------------------------------------------------------------------------------------------------------

UNLIKE = torch.tensor([[0.0, 1.0], [1000.0, 999.0]])


tempered = Question(solution.tempered, (1, 1), {
    "temperature 1": (torch.tensor([2.0, 1.0, 0.0]), 1.0), "temperature 0.5": (torch.tensor([2.0, 1.0, 0.0]), 0.5),
    "temperature 4, a table": (torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 5.0]]), 4.0),
    "large logits, cold": (torch.tensor([1000.0, 999.0, 0.0]), 0.5),
    "temperature 0": (torch.tensor([[1.0, 3.0, 2.0], [0.5, 0.0, -1.0]]), 0.0),
    "temperature 0, two likeliest": (torch.tensor([1.0, 3.0, 3.0]), 0),
    "temperature 0, nearly equal": (torch.tensor([0.0, 1e-30, -1.0]), 0.0),
    "temperature 0, double precision": (torch.tensor([[1.0, 3.0, 2.0]]).double(), 0.0),
    "temperature 0.0001, nearly equal": (torch.tensor([0.0, 1e-4, -1e-4]), 1e-4),
    "rows of different size": (UNLIKE, 0.5), "rows of different size, temperature 0": (UNLIKE, 0.0),
    "temperature ∞, double precision": (torch.tensor([[5.0, 1.0, 0.0], [1.0, 2.0, 2.0]]).double(), math.inf)},
    returns="(..., D)", forbidden=(*SOFTMAXES, "coursekit.models.tempered_softmax", *LIBRARY),
    instead="exp, a maximum and a sum",
    hints={"shapes": "Do the maximum and the sum keep the axis that they are taken along?"},
    otherwise="Is each logit divided by the temperature, then exp taken, then divided by the sum of its row?",
    why="The largest logit is subtracted *before* the division, so that no exponent is above 0 at any temperature: "
        "infinity needs no case, and 0 is a comparison with the largest.",
    promises={r"$\tau$ is any number from 0 to `math.inf`": lambda logits, tau: tau >= 0,
              "Logits may be as large as 1000": lambda logits, tau: logits.max() <= 1000})
LISTED = "A list came back, and a tensor is needed: {} makes one of it."
LIMIT, SUM = "(logits == top).to(logits.dtype)", "e.sum(-1, keepdim=True)"
tempered.mistakes(
    ("Nothing can be divided by a temperature of 0. It stands for the limit: who is left when the temperature gets "
     "smaller and smaller?", f"{LIMIT} if tau == 0 else → "),
    ("The temperature changes nothing here. It divides the logits.", "(logits - top) / tau → logits - top"),
    ("The logits are multiplied by the temperature. They are divided by it: hotter means flatter.", "/ tau → * tau"),
    ("The temperature divides the probabilities, which then do not sum to one. It divides the logits, before.",
     "(logits - top) / tau → logits - top", f"{SUM} → {SUM} / (tau or 1)"),
    ("exp of a large number is infinite, and ∞/∞ is not a number. Which number can be subtracted from all logits "
     "without changing the probabilities? (A cold temperature makes logits larger.)", "(logits - top) → logits"),
    ("The columns sum to one, the rows should: the tokens stand along the last axis.", "amax(-1 → amax(0",
     "sum(-1 → sum(0"),
    ("The whole table sums to one. Each row is a distribution of its own, with a sum of its own.", f"{SUM} → e.sum()"),
    ("That is temperature 1. At 0 only the likeliest token is left, with everything.",
     f"{LIMIT} → torch.exp(logits - top)"),
    ("In some row nobody is left: the largest logit of *each row* counts, not that of the whole table.",
     "logits == top → logits == logits.max()"),
    ("Two tokens are equally likely here, at every temperature however small. So neither is left alone in the limit: "
     "they share.", f"{LIMIT} → torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)"),
    ("The likeliest token of *one* row got something in the others, too. An index without its row means all rows: "
     "compare each row with its own largest.",
     "return e → return torch.zeros_like(logits).index_fill(-1, logits.argmax(-1).flatten(), 1) if tau == 0 else e"),
    ("Only the likeliest are left, as they should be, but the sum is more than one.", f"{SUM} → ({SUM} if tau else 1)"),
    ("At temperature 0 equally likely tokens share everything, and nearly equal is not equal. (Nor is a small "
     "temperature 0.)", "(logits == top) → torch.isclose(logits, top)"),
    ("That is temperature 0. A small temperature is not 0, and the limit has not been reached.",
     "tau == 0 → tau < 1e-3"),
    ("Everything in a row was rounded to 0, and 0/0 is not a number. Is there a power 1/τ? Of numbers below 1 it is 0 "
     "soon. Divide the logits by τ, the largest of the row subtracted, before exp is taken.",
     "torch.exp((logits - top) / tau) → torch.softmax(logits, -1) ** (1 / tau)"),
    ("In some row every exp was rounded to 0: the largest logit of *each row* is subtracted, not that of the whole "
     "table.", "logits - top → logits - logits.max()"),
    (LISTED.format("torch.tensor(…)"), f"e / {SUM} → (e / {SUM}).tolist()"),
    ("Logits and probabilities have one dtype. A comparison gives True and False, which are no numbers yet.",
     "return e → return logits == top if tau == 0 else e"))


# -- keep_top_k ------------------------------------------------------------------------------------------------------

NINE = torch.tensor([[0.04, 0.17, 0.09, 0.18, 0.1, 0.15, 0.08, 0.07, 0.12],    # k = 4: every slip leaves other tokens
                     [0.24, 0.02, 0.09, 0.07, 0.19, 0.05, 0.21, 0.08, 0.05]])
BATCH = torch.tensor([[0.5, 0.05, 0.3, 0.15], [0.05, 0.25, 0.1, 0.6]])


def _left(got, right):
    if torch.equal(got > 0, right > 0) and (got.dtype == right.dtype or not got.is_floating_point()):
        yield "The right tokens are left, with wrong numbers: each keeps its probability, divided by its row's sum."


keep_top_k = Question(solution.keep_top_k, (1, 0), {
    "the best four of each row": (NINE, 4), "the best three of four": (BATCH, 3),
    "one row": (NINE[:1], 3), "only the best": (BATCH, 1),
    "a tie with the second": (torch.tensor([[0.2, 0.4, 0.2, 0.2], [0.1, 0.4, 0.2, 0.3]]), 2),
    "a tie of the first two": (torch.tensor([[0.15, 0.3, 0.25, 0.3]]), 2),
    "more than there are": (BATCH, 9), "double precision": (NINE.double(), 5)},
    returns="(n, D)", forbidden=("coursekit.models.keep_top_k", *LIBRARY),
    instead="a sort or torch.topk, and a comparison",
    hints={"shapes": "p is a table (n, D), not one row: the k-th largest of each row is a column (n, 1). Does a "
                     "sum or a maximum keep its axis?",
           "IndexError": "Something was asked for that is not there. k may be larger than D: then all stay. And "
                         "p is a table (n, D), with n rows, not a single row (D,)."},
    otherwise="Which number is the k-th largest of each row? What is at least as large stays.",
    why="A comparison with the k-th largest, in place of the places of the k largest: ties stay, and no token has to "
        "be brought back to where it was.",
    promises={r"$k \geq 1$ may be larger than $D$": lambda p, k: k >= 1})
RESCALED = "kept / kept.sum(-1, keepdim=True)"
RESCALING = (           # mistakes of the nucleus, too
    ("The right tokens are left, but a row no longer sums to one. It is divided by its sum.", f"{RESCALED} → kept"),
    ("All rows together sum to one. Each row is a distribution of its own: keepdim=True, and the last axis.",
     f"{RESCALED} → kept / kept.sum()"),
    ("The columns were divided by their sums. Each *row* is divided by its own: keepdim=True, and the last axis.",
     f"{RESCALED} → kept / kept.sum(0)"),
    *(("p holds probabilities already. A softmax of them is another distribution, nearly flat: divide by the sum "
       "instead.", f"{RESCALED} → torch.softmax({left}, -1)")
      for left in ("torch.where(kept > 0, kept, -math.inf)", "kept")),
    ("The numbers are right, but sorted. Place i belongs to token i: bring them back to their places.",
     f"{RESCALED} → ({RESCALED}).sort(-1, descending=True).values"))
KTH, KEPT = "p.topk(min(k, p.shape[1]), -1).values[:, -1:]", "torch.where(p >= smallest, p, 0)"
keep_top_k.mistakes(
    *RESCALING,
    ("The shape stays (n, D): a token that may not be drawn keeps its place, with probability 0.",
     f"{KEPT} → p.topk(min(k, p.shape[1])).values"),
    *(("One row's threshold is used for all. Each row has its own k-th largest probability.", f"[:, -1:] → {one}")
      for one in ("[0, -1]", "[:, -1].min()")),
    ("The k likeliest of the whole table were kept. Each row has k of its own.",
     f"{KTH} → p.flatten().topk(min(k, p.numel())).values[-1]"),
    ("k was cut to the number of rows. The size of the vocabulary is the number of columns, p.shape[1].",
     "p.shape[1] → len(p)"),
    ("The k-th is missing: it stays as well. Is it > where ≥ is meant? (With k = 1 nothing is left then, and 0/0 is "
     "not a number.)", "p >= smallest → p > smallest"),
    ("There is one too many: that is the (k + 1)-th largest. Places count from 0, so the k-th is at k − 1.",
     "min(k, → min(k + 1,"),
    ("That is the k-th smallest. What is at least as large as the k-th *largest* of its row stays.",
     "-1).values → -1, largest=False).values"),
    ("Tokens exactly as likely as the k-th stay as well, so more than k may be left. Compare with the k-th largest "
     "probability instead of taking places.",
     f"kept = {KEPT} → values, places = p.topk(min(k, p.shape[1]))\n"
     "    kept = torch.zeros_like(p).scatter(1, places, values)"))
keep_top_k.suspect(lambda got, p, k: _left(got, solution.keep_top_k(p, k)))


# -- keep_nucleus ----------------------------------------------------------------------------------------------------

WHOSE = "mass holds a number for each row. Which one is this row's?"


keep_nucleus = Question(solution.keep_nucleus, (2, 2), {
    "one row": (torch.tensor([[0.1, 0.2, 0.15, 0.3, 0.25]]), torch.tensor([0.72])),
    "two rows": (torch.tensor([[0.5, 0.05, 0.3, 0.15], [0.05, 0.05, 0.1, 0.8]]), torch.tensor([0.78, 0.78])),
    "a mass for each": (torch.tensor([[0.2, 0.35, 0.3, 0.15], [0.25, 0.3, 0.05, 0.4], [0.3, 0.25, 0.35, 0.1]]),
                        torch.tensor([0.82, 0.6, 0.3])),
    "reached exactly": (torch.tensor([[0.125, 0.5, 0.125, 0.25], [0.125, 0.125, 0.125, 0.625]]),
                        torch.tensor([0.75, 0.75])),
    "one token is enough": (BATCH, torch.tensor([0.4, 0.4])),
    "as many rows as tokens": (torch.tensor([[0.6, 0.15, 0.25], [0.4, 0.5, 0.1], [0.2, 0.45, 0.35]]),
                               torch.tensor([0.5, 0.85, 0.98])),
    "a tie at the edge": (torch.tensor([[0.25, 0.25, 0.25, 0.25]]), torch.tensor([0.4])),
    "many ties": (torch.tensor([[3.0, 1.0] * 16]) / 64, torch.tensor([0.5])), "everything": (BATCH, torch.ones(2)),
    "double precision": (BATCH.double(), torch.tensor([0.6, 0.9]).double())},
    returns="(n, D)", forbidden=("coursekit.models.keep_nucleus", *LIBRARY), instead="a sort and running sums",
    hints={"shapes": "Sorted probabilities and their running sums are (n, D), like p; mass is (n,), and mass[:, None] "
                     "a column that fits them.",
           "ambiguous|converted to (Python )?[Ss]calar": WHOSE,
           "IndexError": "p is a table (n, D). Is it read here as if it were a single row (D,)?"},
    otherwise="Add up from the likeliest token downwards, row by row. With which token is the mass reached?",
    why="A loop takes token after token, as the definition does; without loops, a running sum less the token's own "
        "probability is what the likelier ones hold. `stable=True` keeps equal ones in the order of their ids.",
    promises={"`mass` $(n,)$ a number for each row, above 0 and at most 1":
              lambda p, mass: mass.shape == p.shape[:1] and ((mass > 0) & (mass <= 1)).all()})
ORDER = "row.argsort(descending=True, stable=True)"


def _down(p, mass):
    ranked, order = p.sort(dim=-1, descending=True, stable=True)
    inside = ranked.cumsum(0) - ranked < mass[:, None]
    kept = p * torch.zeros_like(inside).scatter(-1, order, inside)
    return kept / kept.sum(-1, keepdim=True)


keep_nucleus.mistakes(
    (LISTED.format("torch.tensor(…)"), f"{RESCALED} → ({RESCALED}).tolist()"),
    (LISTED.format("torch.stack(…)"), f"{RESCALED} → list({RESCALED})"),
    *(("The token with which the sum reaches the mass is missing. Without it the set does not hold enough, or is "
       "empty: ask what the *likelier* tokens hold already, without it.",
       "            mine[token] = row[token]\n → ", "break → break\n            mine[token] = row[token]",
       f"held >= enough → held {above} enough") for above in (">", ">=")),
    *RESCALING,
    ("As many tokens as should be, but others: the mask belongs to the *sorted* places. Entry r of it is about the "
     "token with rank r, so it has to go back to that token's place.",
     f"token in {ORDER} → rank, token in enumerate({ORDER})", "mine[token] = row[token] → mine[rank] = row[rank]"),
    ("The tokens were added up in the order of their ids. The likeliest come first.", f"{ORDER} → range(len(row))"),
    ("The least likely were added up first. The likeliest come first.", "descending=True, → "),
    ("There is a token too many. As soon as the sum has reached the mass exactly, the set is large enough: “at least” "
     "is fulfilled.", "held >= enough → held > enough"),
    *(("mass is no bound for a single token. It is what the tokens of the nucleus hold *together*.",
       f"return → kept = p * (p >= {bound}[:, None])\n    return") for bound in ("mass", "(1 - mass)")),
    (WHOSE, "held >= enough → held >= mass"),
    *(("One mass was used for all rows. Each row has its own: mass[i] belongs to row i.",
       f"kept, mass) → kept, mass{one}.expand(len(p)))") for one in ("[:1]", "[-1:]", ".max()", ".mean()")),
    ("The running sum goes on from row to row. It begins anew, with 0, in each.",
     "held = 0 → held = 0 if mine.data_ptr() == kept.data_ptr() else held"),
    ("Only the first row was done. `return` inside the loop ends all of it, `break` only the row.",
     f"break → return {RESCALED}"),
    ("The running sums go down the columns. Axis −1 runs along a row.", lambda p, mass: _down(p, mass)),
    *(("One row decides for all. Each row has its own nucleus, of its own size.",
       f"return → kept = p * {chosen}\n    return") for chosen in (
           "(kept > 0).any(0)",
           "(p.argsort(dim=-1, descending=True, stable=True).argsort(-1) < (kept > 0).sum(-1).max())")),
    ("A token was looked for by its probability: `.index` always finds the first of those that are equally likely. "
     "Sort the ids, not the probabilities.",
     "mine[token] = row[token] → mine[row.tolist().index(row[token])] = row[token]"),
    ("All tokens that tie at the edge were kept. The nucleus is the *smallest* set: of equally likely tokens at its "
     "edge only as many as are needed, those with smaller ids.",
     "return → kept = p * (p >= p.where(kept > 0, 2).amin(-1, keepdim=True))\n    return"),
    ("Of equally likely tokens at the edge, those with smaller ids are in. A sort keeps them in this order if it is "
     "asked to: stable=True.", f"{ORDER} → row.argsort(stable=True).flip(0)"))


@keep_nucleus.suspect
def _(got, p, mass):
    right = solution.keep_nucleus(p, mass)
    yield from _left(got, right)
    if p.shape[1] > 16 and torch.equal(got.sort(-1).values, right.sort(-1).values):
        yield ("As many as should be, and equally likely ones: but of those the smaller ids are in. With more than "
               "sixteen tokens torch.sort puts equal ones in any order, unless it is asked not to: stable=True.")
    if got.shape == p.shape and (p.where(got > 0, 2).amin(-1) < p.where(got == 0, 0).amax(-1)).any():
        yield ("A token stayed that is less likely than one that went. If you work with sorted probabilities: what is "
               "found for rank r has to go back to the place of the token with rank r (scatter; gather does the "
               "opposite).")


# -- draw ------------------------------------------------------------------------------------------------------------

FIVE = torch.tensor([0.15, 0.3, 0.1, 0.25, 0.2])
DARTS = torch.tensor([0.3, 0.15, 0.05, 0.05, 0.05, 0.1, 0.15, 0.05, 0.1])    # 0.57 is another's for each mistake


draw = Question(solution.draw, (1, 1), {
    "a dart": (DARTS, 0.57), "the last stretch": (FIVE, 0.95), "the third": (FIVE, 0.5), "the second": (FIVE, 0.2),
    "where a stretch begins": (torch.tensor([0.25, 0.25, 0.5]), 0.25),
    "u = 0": (torch.tensor([0.0, 0.0, 0.5, 0.5]), 0.0), "just past a beginning": (torch.tensor([0.502, 0.498]), 0.5024),
    "a sum below 1": (torch.tensor([0.5, 0.49, 0.0]), 0.503),
    "u beyond the sum": (torch.tensor([0.7, 0.299, 0.0]), 0.9995)},
    forbidden=("torch.multinomial", "torch.distributions.Categorical", "random.Random.choices", "numpy.random.choice",
               *LIBRARY), instead="running sums and a comparison",
    hints={"nothing": "Nothing came back. Does the function end with `return …`? And where rounding left u past "
                      "the sum, no stretch holds it: then it is the last token that has any probability."},
    otherwise="Return a token's id, a whole number: that of the first token at whose end the running sum is "
              "larger than u.",
    why="A token without probability is never remembered, so the last one remembered is right in both cases: when a "
        "stretch holds u, and when rounding has left u beyond them all.",
    promises={r"$0 \leq u < 1$": lambda p, u: 0 <= u < 1,
              "a token with $p_i = 0$ has none and is never returned": lambda p, u: p.min() >= 0 and p.any()})
draw.mistakes(
    *(("That token has probability 0. Nothing that the rules have forbidden may ever be drawn, for no u: its stretch "
       "has no length.", f"return token → return token if {due}") for due in ("u < end else len(p) - 1", "u else 0")),
    *(("Rounding left u beyond the sum. Then it is the last token that has any probability.",
       f"return token → return token if u < end else {other}") for other in ("int(p.argmax())", "0")),
    ("A stretch includes its beginning, not its end. Is it < where ≤ stands?", "u < end → u <= end"),
    ("The stretches have the lengths p_i as they are. Was p divided by its sum? That moves their ends.",
     "p.tolist() → (p / p.sum()).tolist()"),
    ("Is u held against each probability alone? A stretch ends where those of all tokens up to it are summed.",
     "u < end → u < share"),
    ("The stretches lie in the order of the ids, not sorted by size.",
     "enumerate(p.tolist()) → sorted(enumerate(p.tolist()), key=lambda each: -each[1])"),
    ("That is a place in a *sorted* order, not a token's id. Nothing needs to be sorted here.",
     lambda p, u: solution.draw(p.sort(descending=True).values, u)),
    ("That is the likeliest token. Which token it becomes depends on u.", "return token → return int(p.argmax())"),
    *(("That is its neighbour. Does the sum include the token's own probability when u is compared?",
       f"return token → return {neighbour}") for neighbour in ("max(0, token - 1)", "token + 1")))


@draw.suspect
def _(got, p, u):
    if kind(got) == "a tensor" and got.numel() == 1 and got.shape:
        yield "Return a whole number: `.item()` takes it out of a tensor."
    got, shares = int(got), p.tolist()
    if not 0 <= got < len(shares):
        yield (f"There is no token {got}: the ids go from 0 to {len(shares) - 1}." +
               (" Rounding may leave the sum a little below 1, and u beyond it." if u >= sum(shares) else ""))
