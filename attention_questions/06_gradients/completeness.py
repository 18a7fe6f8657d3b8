"""Check of assignment 06: integrated gradients along a path that is walked until the sum comes out."""

import torch

from coursegrade.kit import services
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.question import question
from coursegrade.kit.same import kind, same

from .paths import E2, E3, HEAD, OWN, THREE, function, slopes_of

__all__ = ["complete"]

KINK = "1 - torch.relu(1 - 3 * e.sum())"


def _case(f, e, start, tolerance, most):
    """Arguments of `complete` on the check's side: with the change of f from start to e."""
    return f, float(function(f)(e.double()) - function(f)(start.double())), e, start, tolerance, most


def _given(f, change, e, start, tolerance, most):
    return slopes_of(f, e), change, e, start, tolerance, most


def _no_point_twice(answer, arguments):
    slopes, *rest = _given(*arguments)
    n = services.run(answer, (slopes, *rest))[1]
    known = []
    for point in slopes.asked:
        known += [point] * (not known or (torch.stack(known) - point).abs().amax((1, 2)).min().item() > 1e-6)
    due = f"With {n} {'step' if n == 1 else 'steps'} there are {n + 1} points, and slopes was asked "
    if len(known) > n + 1:
        raise CheckFailed(due + f"about {len(known)} different ones. Each is a pass through the model. Does the "
                          "sum come out before the last of them are needed? Look at the remainder first, and ask for "
                          "new points only if there is another round.")
    if len(slopes.asked) > n + 1:
        raise CheckFailed(due + f"{len(slopes.asked)} times. Each time is a pass through the model. The points of "
                          "n steps are among those of 2n: what you know of them can be used again, and only the "
                          "points between them are new.")


def _trapezoids(n):
    return [(i / n, (0.5 if i in (0, n) else 1) / n) for i in range(n + 1)]


@question((1, 0), {**{name: _case(f, E2, torch.tensor([[-1.0, 1.0], [1.0, 1.0]]).double(), 0.2, 20)
                      for name, f in (("downwards", "-e.exp().sum()"), ("upwards", "e.exp().sum()"))},
                   "a straight line": _case("2 * e[0, 0] - e[0, 1]", torch.tensor([[3.0, 1.0]]).double(),
                                            torch.tensor([[1.0, 1.0]]).double(), 0.0, 64),
                   "errors that cancel": _case("e[0, 0] ** 3 - e[1, 0] ** 3", torch.ones(2, 1).double(),
                                               torch.zeros(2, 1).double(), 1e-6, 64),
                   **{f"a kink, at most {most} steps": _case(KINK, torch.ones(1, 1).double(),
                                                             torch.zeros(1, 1).double(), 1e-6, most)
                      for most in (6, 8)},
                   "an attention head": _case(HEAD, E3, THREE[1], 0.001, 128),
                   "the baseline is the input": _case(HEAD, E3, E3, 0.0, 64),
                   "one step is all there is": _case("(e ** 4).sum()", E3, THREE[0], 1e-12, 1)},
          returns="scores (T,), n, remainder", forbidden=OWN, instead="`slopes` and a mean", also=_no_point_twice,
          given=_given,
          otherwise="Two steps by hand: the slopes at 0, ½ and 1, with the weights ¼, ½, ¼, times e − e⁰. When you "
                    "reuse what you know, does an old point get half the weight that it had?",
          hints={"endless": "The number of steps doubles each time: does it stop when twice as many are more than "
                            "`most`?"})
def complete(slopes, change, e, start, tolerance, most, *, rule=_trapezoids, first=1, enough=lambda r, t: abs(r) <= t,
             last=lambda n, most: 2 * n > most, factor=lambda e, s: e - s, signed=lambda r: r):
    """complete(slopes, change, e, start, tolerance, most): (scores (T,), n, remainder), with n = 1, 2, 4, … steps."""
    known, n = {}, first                                                # a → the slopes there, (T, d_e)
    while True:
        new = [a for a, _ in rule(n) if a not in known]
        points = start + torch.tensor(new, dtype=e.dtype)[:, None, None] * (e - start)
        known.update(zip(new, slopes(points) if new else [], strict=True))
        mean = sum(weight * known[a] for a, weight in rule(n))
        scores = (factor(e, start) * mean).sum(1)
        remainder = change - ((e - start) * mean).sum().item()
        if enough(remainder, tolerance) or last(n, most):
            return scores, n, signed(remainder)
        n *= 2


complete.mistakes(
    ("These are midpoints. Asked for are the points 0, 1/n, …, 1, both ends included, the ends with half the weight.",
     dict(rule=lambda n: [((i + 0.5) / n, 1 / n) for i in range(n)])),
    ("All n + 1 points have the same weight here. The two ends count half, and the sum is divided by n.",
     dict(rule=lambda n: [(i / n, 1 / (n + 1)) for i in range(n + 1)])),
    ("The two ends of the path count half; here they count in full.",
     dict(rule=lambda n: [(i / n, 1 / n) for i in range(n + 1)])),
    ("The remainder keeps its sign: negative if the scores add up to more than `change`.", dict(signed=abs)),
    ("The remainder has the wrong sign. It is `change` less the sum of the scores, negative if they add up to more.",
     dict(signed=lambda r: -r)),
    ("The mean slopes were multiplied by e. It is the step, e − e⁰.", dict(factor=lambda e, s: e)),
    ("The mean slopes are still to be multiplied by the step, e − e⁰.", dict(factor=lambda e, s: torch.ones_like(e))),
    ("The sign is turned round: the step leads *from* the baseline *to* e, e − e⁰.", dict(factor=lambda e, s: s - e)),
    ("Not yet within the tolerance: a remainder below 0 counts by its size, abs(…).", dict(enough=lambda r, t: r <= t)),
    ("It was enough already: |remainder| ≤ tolerance. (“At most” includes equal.)",
     dict(enough=lambda r, t: abs(r) < t)))


@complete.suspect
def _(got, f, change, e, start, tolerance, most):
    scores, n, remainder = got
    if kind(n) == "a number" or kind(remainder) == "a tensor" and remainder.dim():
        return ("n is a whole number, 8 and not 8.0: / and math.log2 give floats, // and 2 * n do not. The remainder "
                "is a plain number: .item() makes one.")
    given = _given(f, change, e, start, tolerance, most)
    due = complete.reference(*given)[1]
    for steps in (2 ** i for i in range(10)):
        if same(scores, complete.reference(*given, first=steps, last=lambda *_: True)[0]) and not steps == n == due:
            return (f"Those are the scores of {steps} steps; {due} are due, and n is {n}. Stop as soon as |remainder| "
                    "is at most `tolerance`, or if 2n would be more than `most`; n and the scores change together.")
    return None
