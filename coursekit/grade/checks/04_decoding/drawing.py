"""Check of assignment 04 on the draw: which token a number between 0 and 1 stands for."""

import math

import torch

from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind

__all__ = ["LIBRARY", "draw"]

LIBRARY = ("coursekit.models.apply_rules", "coursekit.models.next_token_distribution", "coursekit.models.sample")

FIVE = torch.tensor([0.15, 0.3, 0.1, 0.25, 0.2])
NINE = torch.tensor([0.3, 0.15, 0.05, 0.05, 0.05, 0.1, 0.15, 0.05, 0.1])    # 0.57 is another's for each mistake


@question((1, 2), {"a dart": (NINE, 0.57),
                   "the last stretch": (FIVE, 0.95), "the third": (FIVE, 0.5), "the second": (FIVE, 0.2),
                   "where a stretch begins": (torch.tensor([0.25, 0.25, 0.5]), 0.25),
                   "u = 0": (torch.tensor([0.0, 0.0, 0.5, 0.5]), 0.0),
                   "a sum below 1": (torch.tensor([0.5, 0.49, 0.0]), 0.503),
                   "u beyond the sum": (torch.tensor([0.7, 0.299, 0.0]), 0.9995)},
          forbidden=("torch.multinomial", "torch.distributions.Categorical", "random.Random.choices",
                     "numpy.random.choice", *LIBRARY),
          instead="running sums and a comparison",
          hints={"shapes": "p is one distribution (D,), and u a single number.",
                 "nothing": "Nothing came back. Does the function end with `return …`? And where rounding left u past "
                            "the sum, no stretch holds it: then it is the last token that has any probability."})
def draw(p, u):
    """draw(p, u): the token in whose stretch of the line from 0 to 1 the number u lies; never one with p = 0."""
    return _drawn(p.tolist(), u)


def _drawn(shares, u):
    end, token = 0.0, None
    for i, share in enumerate(shares):
        if share > 0:
            end, token = end + share, i
            if u < end:
                break
    return token


@draw.suspect
def _(got, p, u):
    if kind(got) == "a tensor" and tuple(got.shape) == ():
        got = got.item()
    if kind(got) == "a tensor" and got.numel() == 1:
        return "Return a whole number: `.item()` takes it out of a tensor."
    if kind(got) == "a number" and got == int(got):
        return "Return a whole number, the token's id."
    if kind(got) != "a whole number":
        return "Return a token's id, a whole number."
    got, shares, right = int(got), p.tolist(), draw.__wrapped__(p, u)
    if not 0 <= got < len(shares):
        return (f"There is no token {got}: the ids go from 0 to {len(shares) - 1}." +
                (" Rounding may leave the sum a little below 1, and u beyond it." if u >= sum(shares) else ""))
    if shares[got] == 0:
        return ("That token has probability 0. Nothing that the rules have forbidden may ever be drawn, for no u: its "
                "stretch has no length.")
    if got == right - 1 and math.isclose(sum(shares[:right]), u):
        return "A stretch includes its beginning, not its end. Is it < where ≤ stands?"
    if u >= sum(shares):
        return "Rounding left u beyond the sum. Then it is the last token that has any probability."
    if sum(shares) < 0.999 and got == _drawn([share / sum(shares) for share in shares], u):
        return "The stretches have the lengths p_i as they are. Was p divided by its sum? That moves their ends."
    if got == next((i for i, share in enumerate(shares) if u < share), len(shares) - 1):
        return "Is u held against each probability alone? A stretch ends where those of all tokens up to it are summed."
    by_size = sorted(range(len(shares)), key=lambda i: -shares[i])
    if got == by_size[_drawn([shares[i] for i in by_size], u)] or got == _drawn(sorted(shares, reverse=True), u):
        return "The stretches lie in the order of the ids, not sorted by size. (Is the result a rank, not an id?)"
    if got == shares.index(max(shares)):
        return "That is the likeliest token. Which token it becomes depends on u."
    if got in (_drawn(shares[::-1], u), len(shares) - 1 - _drawn(shares[::-1], u)):
        return "The stretches lie in the order of the ids, from 0 upwards."
    if got in (right - 1, right + 1):
        return "That is its neighbour. Does the sum include the token's own probability when u is compared?"
    return "Add up the probabilities from token 0 on. Which is the first token at whose end the sum is larger than u?"
