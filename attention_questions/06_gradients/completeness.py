"""Check of assignment 06: integrated gradients along a path that is walked until the sum comes out."""

from attention_questions.prelude import CheckFailed, Question, kind, same, services, torch

from . import solution
from .paths import E2, E3, HEAD, OWN, THREE, function, slopes_of


def _case(f, e, start, tolerance, most):
    """Arguments of `complete` on the check's side: with the change of f from start to e."""
    e, start = torch.as_tensor(e).double(), torch.as_tensor(start).double()
    return f, float(function(f)(e) - function(f)(start)), e, start, tolerance, most


def _given(f, change, e, *others):
    return slopes_of(f, e), change, e, *others


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


complete = Question(solution.complete, (1, 0), {
    "downwards": _case("-e.exp().sum()", E2, [[-1.0, 1], [1, 1]], 0.2, 20),
    "upwards": _case("e.exp().sum()", E2, [[-1.0, 1], [1, 1]], 0.2, 20),
    "a straight line": _case("2 * e[0, 0] - e[0, 1]", [[3.0, 1]], [[1.0, 1]], 0.0, 64),
    "errors that cancel": _case("e[0, 0] ** 3 - e[1, 0] ** 3", [[1.0], [1]], [[0.0], [0]], 1e-6, 64),
    **{f"a kink, at most {most} steps": _case("1 - torch.relu(1 - 3 * e.sum())", [[1.0]], [[0.0]], 1e-6, most)
       for most in (6, 8)},
    "an attention head": _case(HEAD, E3, THREE[1], 0.001, 128),
    "the baseline is the input": _case(HEAD, E3, E3, 0.0, 64),
    "one step is all there is": _case("(e ** 4).sum()", E3, THREE[0], 1e-12, 1)},
    returns="scores (T,), n, remainder", forbidden=OWN, instead="`slopes` and a mean", also=_no_point_twice,
    given=_given,
    otherwise="Two steps by hand: the slopes at 0, ½ and 1, with the weights ¼, ½, ¼, times e − e⁰. When you reuse "
              "what you know, does an old point get half the weight that it had?",
    hints={"endless": "The number of steps doubles each time: does it stop when twice as many are more than `most`?"})


def _anew(a, mean):
    """In each round the mean slopes are made anew, of all points a, in another way than by trapezoids."""
    return ("scores = (step → "
            f"a = {a}\n        mean = slopes(start + a[:, None, None] * step){mean}\n        scores = (step")


ENDS = "torch.linspace(0, 1, n + 1, dtype=e.dtype)"
complete.mistakes(
    ("These are midpoints. Asked for are the points 0, 1/n, …, 1, both ends included, the ends with half the weight.",
     _anew("(torch.arange(n, dtype=e.dtype) + 0.5) / n", ".mean(0)")),
    ("All n + 1 points have the same weight here. The two ends count half, and the sum is divided by n.",
     _anew(ENDS, ".mean(0)")),
    ("The two ends of the path count half; here they count in full.", _anew(ENDS, ".sum(0) / n")),
    ("The remainder keeps its sign: negative if the scores add up to more than `change`.",
     "return scores, n, remainder → return scores, n, abs(remainder)"),
    ("The remainder has the wrong sign. It is `change` less the sum of the scores, negative if they add up to more.",
     "return scores, n, remainder → return scores, n, -remainder"),
    ("The mean slopes were multiplied by e. It is the step, e − e⁰.", "return scores → return (e * mean).sum(1)"),
    ("The mean slopes are still to be multiplied by the step, e − e⁰.", "return scores → return mean.sum(1)"),
    ("The sign is turned round: the step leads *from* the baseline *to* e, e − e⁰.", "return scores → return -scores"),
    ("Not yet within the tolerance: a remainder below 0 counts by its size, abs(…).", "abs(remainder) → remainder"),
    ("It was enough already: |remainder| ≤ tolerance. (“At most” includes equal.)", "<= tolerance → < tolerance"))


@complete.suspect
def _(got, f, change, e, start, tolerance, most):
    scores, n, remainder = got
    if kind(n) == "a number" or kind(remainder) == "a tensor" and remainder.dim():
        yield ("n is a whole number, 8 and not 8.0: / and math.log2 give floats, // and 2 * n do not. The remainder "
               "is a plain number: .item() makes one.")
    slopes, due = slopes_of(f, e), solution.complete(*_given(f, change, e, start, tolerance, most))[1]
    for steps in (2 ** i for i in range(10)):
        if same(scores, solution.complete(slopes, change, e, start, -1, steps)[0]) and not steps == n == due:
            yield (f"Those are the scores of {steps} steps; {due} are due, and n is {n}. Stop as soon as |remainder| "
                   "is at most `tolerance`, or if 2n would be more than `most`; n and the scores change together.")
