"""Check of assignment 06: integrated gradients from several baselines, in portions."""

import torch

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

from .paths import E2, E3, HEAD, OWN, THREE, slopes_of

__all__ = ["integrated"]

AT_ONCE = 16        # points that `slopes` takes at a time
ONE, TWO = torch.zeros(1, 2, 2).double(), torch.tensor([[[0.0, 0], [0, 0]], [[0, 1], [4, 1]]]).double()


def _mean(found):
    """The mean over all points of [(k, T, d_e), …]."""
    return torch.cat(found).mean(0)


@question((2, 3), {"one baseline": ("(e ** 3).sum()", E2, ONE, 3), "two baselines": ("(e ** 3).sum()", E2, TWO, 1),
                   "three baselines, an attention head": (HEAD, E3, THREE, 5),
                   "sixteen points": ("(e ** 3).sum()", E2, ONE, 16),
                   **{f"one token, {n} points": ("(e ** 4).sum()", torch.tensor([[2.0, 1.0]]), torch.zeros(1, 1, 2), n)
                      for n in (40, 300)},
                   "a baseline that is the input": (HEAD, E2, torch.stack([E2, TWO[1]]), 3)},
          returns="(T,)", forbidden=OWN, instead="`slopes` and a mean",
          given=lambda f, e, starts, n: (slopes_of(f, e, AT_ONCE), e, starts, n),
          otherwise="The first midpoint of a path is e⁰ + a(e − e⁰) with a = ½/n. For each baseline: the mean of the "
                    "slopes over the n midpoints of its path, times e − e⁰, added up for each token. At the end the "
                    "mean over the baselines.",
          hints={"at a time": "Ask in portions: points.split(16) cuts a tensor into pieces of at most 16 rows. (chunk "
                              "makes 16 pieces.)"})
def integrated(slopes, e, starts, n, *, nodes=lambda n: (torch.arange(n).double() + 0.5) / n, mean=_mean,
               point=lambda s, a, e: s + a * (e - s), factor=lambda e, s: e - s, added=lambda products: products.sum(1),
               over=lambda scores: scores.mean(0)):
    """integrated(slopes, e, starts, n): (T,), integrated gradients with n midpoints, averaged over the baselines."""
    a = nodes(n).to(e.dtype)[:, None, None]                             # (n, 1, 1)
    found = [mean([slopes(points) for points in point(start, a, e).split(AT_ONCE)]) for start in starts]
    return over(torch.stack([added(factor(e, s) * slope) for s, slope in zip(starts, found, strict=True)]))


integrated.mistakes(
    ("These are the right ends of the steps, 1/n, 2/n, …, 1. Asked for are the midpoints.",
     dict(nodes=lambda n: torch.arange(1, n + 1) / n)),
    ("These are the left ends of the steps, 0, 1/n, …: asked for are the midpoints.",
     dict(nodes=lambda n: torch.arange(n) / n)),
    ("Here a runs from 0 to 1, both ends included. The midpoints stay away from the ends.",
     dict(nodes=lambda n: torch.linspace(0, 1, n))),
    ("Here a runs from 0 to 1, both ends included, n + 1 points in all. There are n midpoints.",
     dict(nodes=lambda n: torch.linspace(0, 1, n + 1))),
    ("The products were added up over the tokens. A token's products are added up over its d_e coordinates.",
     dict(added=lambda products: products.sum(0))),
    ("The slopes were added up along the path. An integral over a from 0 to 1 is their *mean*.",
     dict(mean=lambda found: torch.cat(found).sum(0))),
    ("The sign is turned round: the step leads *from* the baseline *to* e, e − e⁰.", dict(factor=lambda e, s: s - e)),
    ("The slopes were averaged along the path, but not multiplied by the step e − e⁰.", dict(factor=lambda e, s: 1)),
    ("The baselines' scores were added up. Asked for is their mean.", dict(over=lambda scores: scores.sum(0))),
    ("The baselines were averaged first, and one path walked from their mean. Each baseline has a path of its own.",
     lambda slopes, e, starts, n: integrated.reference(slopes, e, starts.mean(0, keepdim=True), n)),
    ("Only one of the baselines came in.", dict(over=lambda scores: scores[0])),
    ("The mean slopes were multiplied by e. It is the step, e − e⁰.", dict(factor=lambda e, s: e)),
    ("The path starts at zero here, whatever the baseline: a·e. It leads from e⁰ to e.",
     dict(point=lambda s, a, e: a * e)),
    ("The points of the path are a·(e − e⁰): the baseline itself is missing.", dict(point=lambda s, a, e: a * (e - s))),
    ("There are n points, however large n is: 16 are the most in one call of `slopes`, not on a path.",
     lambda slopes, e, starts, n: integrated.reference(slopes, e, starts, min(n, AT_ONCE))),
    ("The mean of the portions' means: the last portion is shorter, and its points count too much. Each of the n "
     "points counts the same.", dict(mean=lambda found: sum(part.mean(0) for part in found) / len(found))),
    ("The last, shorter portion did not come in. Each of the n points counts the same.",
     dict(mean=lambda found: _mean([part for part in found if len(part) == len(found[0])]))),
    ("Only the last portion of the points came in. All of them do, and each of the n points counts the same.",
     dict(mean=lambda found: found[-1].mean(0))))


@integrated.suspect
def _(got, f, e, starts, n):
    if kind(got) == "a tensor" and got.isnan().any():
        return ("Something is not a number. Was a mean taken of an empty portion? 16 points are one portion, and no "
                "second one.")
    return None
