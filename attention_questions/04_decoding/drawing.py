"""Check of assignment 04 on the draw: which token a number between 0 and 1 stands for."""

from attention_questions.prelude import Question, kind, torch

from . import solution

LIBRARY = ("coursekit.models.apply_rules", "coursekit.models.next_token_distribution", "coursekit.models.sample")

FIVE = torch.tensor([0.15, 0.3, 0.1, 0.25, 0.2])
NINE = torch.tensor([0.3, 0.15, 0.05, 0.05, 0.05, 0.1, 0.15, 0.05, 0.1])    # 0.57 is another's for each mistake


draw = Question(solution.draw, (1, 2), {
    "a dart": (NINE, 0.57),
    "the last stretch": (FIVE, 0.95), "the third": (FIVE, 0.5), "the second": (FIVE, 0.2),
    "where a stretch begins": (torch.tensor([0.25, 0.25, 0.5]), 0.25),
    "u = 0": (torch.tensor([0.0, 0.0, 0.5, 0.5]), 0.0),
    "just past a beginning": (torch.tensor([0.502, 0.498]), 0.5024),
    "a sum below 1": (torch.tensor([0.5, 0.49, 0.0]), 0.503),
    "u beyond the sum": (torch.tensor([0.7, 0.299, 0.0]), 0.9995)},
    forbidden=("torch.multinomial", "torch.distributions.Categorical", "random.Random.choices", "numpy.random.choice",
               *LIBRARY), instead="running sums and a comparison",
    hints={"nothing": "Nothing came back. Does the function end with `return …`? And where rounding left u past "
                      "the sum, no stretch holds it: then it is the last token that has any probability."},
    otherwise="A token's id is due, a whole number: that of the first token at whose end the running sum is "
              "larger than u.",
    promises={r"$0 \leq u < 1$": lambda p, u: 0 <= u < 1,
              "a token with $p_i = 0$ has none and is never returned": lambda p, u: p.min() >= 0 and p.any()})
draw.mistakes(
    *(("That token has probability 0. Nothing that the rules have forbidden may ever be drawn, for no u: its stretch "
       "has no length.", f"return token → return token if {due}") for due in ("u < end else len(p) - 1", "u else 0")),
    ("Rounding left u beyond the sum. Then it is the last token that has any probability.",
     "return token → return token if u < end else int(p.argmax())"),
    ("A stretch includes its beginning, not its end. Is it < where ≤ stands?", "u < end → u <= end"),
    ("The stretches have the lengths p_i as they are. Was p divided by its sum? That moves their ends.",
     "p.tolist() → (p / p.sum()).tolist()"),
    ("Is u held against each probability alone? A stretch ends where those of all tokens up to it are summed.",
     "u < end → u < share"),
    ("The stretches lie in the order of the ids, not sorted by size.",
     "enumerate(p.tolist()) → sorted(enumerate(p.tolist()), key=lambda each: -each[1])"),
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
