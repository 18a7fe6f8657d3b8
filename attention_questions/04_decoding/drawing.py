"""Check of assignment 04 on the draw: which token a number between 0 and 1 stands for."""

import torch

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["LIBRARY", "draw"]

LIBRARY = ("coursekit.models.apply_rules", "coursekit.models.next_token_distribution", "coursekit.models.sample")

FIVE = torch.tensor([0.15, 0.3, 0.1, 0.25, 0.2])
NINE = torch.tensor([0.3, 0.15, 0.05, 0.05, 0.05, 0.1, 0.15, 0.05, 0.1])    # 0.57 is another's for each mistake


@question((1, 2), {"a dart": (NINE, 0.57),
                   "the last stretch": (FIVE, 0.95), "the third": (FIVE, 0.5), "the second": (FIVE, 0.2),
                   "where a stretch begins": (torch.tensor([0.25, 0.25, 0.5]), 0.25),
                   "u = 0": (torch.tensor([0.0, 0.0, 0.5, 0.5]), 0.0),
                   "just past a beginning": (torch.tensor([0.502, 0.498]), 0.5024),
                   "a sum below 1": (torch.tensor([0.5, 0.49, 0.0]), 0.503),
                   "u beyond the sum": (torch.tensor([0.7, 0.299, 0.0]), 0.9995)},
          forbidden=("torch.multinomial", "torch.distributions.Categorical", "random.Random.choices",
                     "numpy.random.choice", *LIBRARY),
          instead="running sums and a comparison",
          hints={"nothing": "Nothing came back. Does the function end with `return …`? And where rounding left u past "
                            "the sum, no stretch holds it: then it is the last token that has any probability."},
          otherwise="A token's id is due, a whole number: that of the first token at whose end the running sum is "
                    "larger than u.",
          promises={r"$0 \leq u < 1$": lambda p, u: 0 <= u < 1,
                    "a token with $p_i = 0$ has none and is never returned": lambda p, u: p.min() >= 0 and p.any()})
def draw(p, u, *, inside=lambda u, end, share: u < end):
    """draw(p, u): the token in whose stretch of the line from 0 to 1 the number u lies; never one with p = 0."""
    end, token = 0.0, None
    for i, share in enumerate(p.tolist()):
        if share > 0:
            end, token = end + share, i
            if inside(u, end, share):
                break
    return token


NEIGHBOUR = "That is its neighbour. Does the sum include the token's own probability when u is compared?"

BEYOND = "Rounding left u beyond the sum. Then it is the last token that has any probability."
NEVER = ("That token has probability 0. Nothing that the rules have forbidden may ever be drawn, for no u: its stretch "
         "has no length.")

draw.mistakes(
    (NEVER, lambda p, u: draw.reference(p, u) if u < p.sum() else len(p) - 1),
    (NEVER, lambda p, u: draw.reference(p, u) if u else 0),
    (BEYOND, lambda p, u: draw.reference(p, u) if u < p.sum() else int(p.argmax())),
    ("A stretch includes its beginning, not its end. Is it < where ≤ stands?",
     dict(inside=lambda u, end, share: u <= end)),
    ("The stretches have the lengths p_i as they are. Was p divided by its sum? That moves their ends.",
     lambda p, u: draw.reference(p / p.sum(), u)),
    ("Is u held against each probability alone? A stretch ends where those of all tokens up to it are summed.",
     dict(inside=lambda u, end, share: u < share)),
    ("The stretches lie in the order of the ids, not sorted by size.",
     lambda p, u: int(p.argsort(descending=True, stable=True)[draw.reference(p.sort(descending=True).values, u)])),
    ("That is the likeliest token. Which token it becomes depends on u.", lambda p, u: int(p.argmax())),
    (NEIGHBOUR, lambda p, u: max(0, draw.reference(p, u) - 1)), (NEIGHBOUR, lambda p, u: draw.reference(p, u) + 1))


@draw.suspect
def _(got, p, u):
    if kind(got) == "a tensor" and got.numel() == 1 and got.shape:
        return "Return a whole number: `.item()` takes it out of a tensor."
    got, shares = int(got), p.tolist()
    if not 0 <= got < len(shares):
        return (f"There is no token {got}: the ids go from 0 to {len(shares) - 1}." +
                (" Rounding may leave the sum a little below 1, and u beyond it." if u >= sum(shares) else ""))
    return None
