"""Checks of assignment 06 on integrated gradients along a path that is walked until the sum comes out."""

import torch

from coursekit.grade.kit.messages import CheckFailed
from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same

from .integrals import (
    E2,
    E3,
    HEAD,
    OWN,
    THREE,
    asked,
    even,
    from_0_to_1,
    function,
    mean_slopes,
    nodes_of,
    points_asked,
    slopes_of,
)

__all__ = ["case", "complete"]


def case(f, e, start, tolerance, most):
    """Arguments of `complete` on the check's side: with the change of f from start to e."""
    return f, float(function(f)(e.double()) - function(f)(start.double())), e, start, tolerance, most


def _no_point_twice(answer, arguments):
    n, points = _complete(*arguments)[1], [point for call in asked for point in call.flatten(1)]
    known = []
    for point in points:
        known += [point] * (not known or (torch.stack(known) - point).abs().amax(1).min().item() > 1e-6)
    due = f"With {n} {'step' if n == 1 else 'steps'} there are {n + 1} points, and slopes was asked "
    if len(known) > n + 1:
        raise CheckFailed(due + f"about {len(known)} different ones. Each is a pass through the model. Does "
                          "the sum come out before the last of them are needed? Look at the remainder first, and ask "
                          "for new points only if there is another round.")
    if len(points) > n + 1:
        raise CheckFailed(due + f"{len(points)} times. Each time is a pass through the model. The points of n steps "
                          "are among those of 2n: what you know of them can be used again, and only the points between "
                          "them are new.")


@question((2, 3), {"cubes": case("(e ** 3).sum()", E2, torch.tensor([[-1.0, 1.0], [1.0, 1.0]]).double(), 0.2, 20),
                   "a straight line": case("2 * e[0, 0] - e[0, 1]", torch.tensor([[3.0, 1.0]]).double(),
                                           torch.tensor([[1.0, 1.0]]).double(), 0.0, 64),
                   "errors that cancel": case("e[0, 0] ** 3 - e[1, 0] ** 3", torch.ones(2, 1).double(),
                                              torch.zeros(2, 1).double(), 1e-6, 64),
                   **{f"a kink, at most {most} steps": case("1 - torch.relu(1 - 3 * e.sum())",
                                                            torch.ones(1, 1).double(), torch.zeros(1, 1).double(), 1e-6,
                                                            most) for most in (6, 8)},
                   "an attention head": case(HEAD, E3, THREE[1], 0.001, 128)},
          forbidden=OWN, instead="`slopes` and a mean", also=_no_point_twice,
          prepare=lambda f, change, e, start, tolerance, most: (slopes_of(f, e), change, e, start, tolerance, most),
          hints={"shapes": "slopes takes (k, T, d_e): the numbers a become (k, 1, 1) before they meet (T, d_e).",
                 "endless": "The number of steps doubles each time: does it stop when twice as many are more than "
                            "`most`?",
                 "empty": "Write it first, or ask slopes for the midpoints yourself."},
          parts=("scores", "n", "remainder"))
def complete(f, change, e, start, tolerance, most):
    """complete(slopes, change, e, start, tolerance, most): (scores (T,), n, remainder), with n = 1, 2, 4, … steps."""
    return _complete(f, change, e, start, tolerance, most)


def _complete(f, change, e, start, tolerance, most, first=1, rule=None, last=lambda n, most: 2 * n > most):
    """first: steps to begin with; rule(n) → (nodes, weights), trapezoids unless given; last: is this the last n?"""
    n = first
    while True:
        scores = ((e - start) * mean_slopes(f, e, start, *(rule or trapezoids)(n))).sum(1)
        remainder = change - scores.sum().item()
        if abs(remainder) <= tolerance or last(n, most):
            return scores, n, remainder
        n *= 2


def trapezoids(n):
    """Nodes and weights (n + 1,): the ends count half."""
    weights = torch.full((n + 1,), 1 / n, dtype=torch.float64)
    weights[[0, -1]] /= 2
    return from_0_to_1(n + 1), weights


RULES = [
    (lambda n: (nodes_of(n, 0.5), even(n)),
     "These are midpoints. Asked for are the points 0, 1/n, …, 1, both ends included, the ends with half the weight."),
    (lambda n: (nodes_of(n, 1), even(n)),
     "These are the right ends of the steps alone. The point 0 belongs to it, and both ends have half the weight."),
    (lambda n: (nodes_of(n, 0), even(n)),
     "These are the left ends of the steps alone. The point 1 belongs to it, and both ends have half the weight."),
    (lambda n: (from_0_to_1(n + 1), even(n + 1)),
     "All n + 1 points have the same weight here. The two ends count half, and the sum is divided by n."),
    (lambda n: (from_0_to_1(n + 1), even(n + 1) * (n + 1) / n),
     "The two ends of the path count half; here they count in full."),
]


@complete.suspect
def _(got, f, change, e, start, tolerance, most):
    if type(got) not in (list, tuple) or len(got) != 3:
        return "Return all three: the scores, the number of steps n, the remainder."
    (scores, n, remainder), arguments = got, (f, change, e, start, tolerance, most)
    n = n.item() if kind(n) == "a tensor" and n.dim() == 0 else n
    right, steps, left = _complete(*arguments)
    if kind(n) == "a number" and n == int(n):
        return f"n is a whole number, {n:.0f} and not {n:.1f}: / and math.log2 give floats, // and 2 * n do not."
    if kind(scores) != "a tensor" or kind(n) != "a whole number":
        return "Return the scores, a tensor (T,), then the whole number n, then the remainder, a number."
    if tuple(scores.shape) == tuple(e.shape):
        return "One number for each token: a token's products are still to be added up over its d_e coordinates."
    if tuple(scores.shape) != (len(e),):
        return "The scores are one number for each token, (T,)."
    if scores.dtype != e.dtype:
        return "The scores have the dtype of e."
    enough = f"n = {steps} was enough already: |remainder| ≤ tolerance. (“At most” includes equal.)"
    if same(scores, right):
        if same(n, steps) and same(remainder, -left):
            return ("The remainder has the wrong sign. It is `change` less the sum of the scores, negative if they add "
                    "up to more.")
        if same(n, steps):
            return "Scores and n are right. The remainder is one number, `change` less the sum of these scores."
        if steps == 1 and same(n, 2):
            return "One step is enough here: the first attempt is n = 1, with the two ends alone. (n counts the steps.)"
        if same(n, steps + 1):
            return "The scores are right. n counts the steps, not the points: there is one point more than steps."
        if steps < n <= most and same(scores, _scores(*arguments, n, trapezoids)):
            return enough
        return "The scores are right, n is not: it is the number of steps of *these* scores."
    if not 1 <= n <= 4096:
        return f"n is {int(n)}: the number of steps is 1, 2, 4, …"
    if same(scores, _scores(*arguments, n, trapezoids)):
        if n > most:
            return f"Those are the scores for n = {n}. More than `most`, {most}, are not allowed."
        if n > steps:
            return f"Those are the scores for n = {n}, and {enough}"
        return (f"Those are the scores for n = {n}: not yet within the tolerance (in size), and twice as many steps "
                "are allowed, 2n is not more than `most`.")
    for other in (2 * n, n // 2):
        if other and same(scores, _scores(*arguments, other, trapezoids)):
            return f"n is {n}, but the scores are those for n = {other}: do both change together?"
    for rule, words in RULES:
        if same(scores, _complete(*arguments, rule=rule)[0]) or same(scores, _scores(*arguments, n, rule)):
            return words
    mean = mean_slopes(f, e, start, *trapezoids(n))
    if words := first_match(scores, [((factor * mean).sum(1), words) for factor, words in (
            (start - e, "The sign is turned round: the step leads *from* the baseline *to* e, e − e⁰."),
            (e, "The mean slopes were multiplied by e. It is the step, e − e⁰."),
            (torch.ones_like(e), "The mean slopes are still to be multiplied by the step, e − e⁰."))]):
        return words
    if words := points_asked(start + from_0_to_1(n + 1)[:, None, None] * (e - start), f"points of {n} steps"):
        return words + " The points that are new with 2n steps lie in the middle of the n old steps."
    return ("Two steps by hand: the slopes at 0, ½ and 1, with the weights ¼, ½, ¼, times e − e⁰. When you reuse what "
            "you know, does an old point get half the weight that it had?")


def _scores(f, change, e, start, tolerance, most, n, rule):
    return _complete(f, change, e, start, tolerance, most, first=n, rule=rule, last=lambda *_: True)[0]
