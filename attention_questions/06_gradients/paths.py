"""Checks of assignment 06 on paths of slopes; and functions of a table with their slopes, as an answer is given them.

A function f of a table e (T, d_e) stands in a case as its formula, a text, so that a message can show it.
"""

from attention_questions.prelude import CheckFailed, Question, kind, same, services, torch

from . import solution

OWN = ("coursekit.explain.integrated_gradients", "coursekit.explain.gradients.path_integral")
HEAD = "torch.softmax(e[:, 0], 0) @ e[:, 1]"
E2, E3 = torch.tensor([[1.0, 2.0], [0.0, 3.0]]).double(), torch.tensor([[2.0, 1.0], [-1.0, 3.0], [0.0, -2.0]]).double()
THREE = torch.stack([torch.zeros(3, 2), torch.tensor([[1.0, 0], [0, 1], [1, 1]]), -torch.ones(3, 2)]).double()

TAKES = "slopes takes points of shape (k, T, d_e), here (k, {}, {}), with floating-point numbers, got {}"
ONE_POINT = "; a single point p is p[None]"


def function(f):
    """The function of a table e (T, d_e) that a formula stands for; a function stays what it is."""
    return eval(f"lambda e: {f}", {"torch": torch}) if type(f) is str else f


def described(value):
    """What a value is, in words; of a tensor its shape and dtype, too."""
    return f"a tensor {tuple(value.shape)}, {value.dtype}" if kind(value) == "a tensor" else kind(value)


def slopes_of(f, e, most=None):
    """slopes(points (k, T, d_e)) → (k, T, d_e) of f. It says what it cannot take, and lists in `.asked` each point."""

    def slopes(points):
        if kind(points) != "a tensor" or not points.is_floating_point() or points.shape[1:] != e.shape:
            found = described(points)
            single = ONE_POINT * found.startswith(f"a tensor {tuple(e.shape)}")
            raise ValueError(TAKES.format(*e.shape, found + single))
        if most and len(points) > most:
            raise ValueError(f"slopes takes at most {most} points at a time, got {len(points)}")
        slopes.asked += points.detach().double().clone()
        return _slopes_at(f, points).to(points.dtype)

    slopes.asked = []
    return slopes


def _slopes_at(f, points):
    """Slopes (k, T, d_e) of f at points (k, T, d_e), in double precision."""
    if not len(points):
        return points.detach().double()
    leaf, f = points.detach().double().requires_grad_(), function(f)
    with torch.enable_grad():
        return torch.autograd.grad(sum(f(point) for point in leaf), leaf)[0]


# -- integrated ------------------------------------------------------------------------------------------------------

ONE, TWO = torch.zeros(1, 2, 2).double(), torch.tensor([[[0.0, 0], [0, 0]], [[0, 1], [4, 1]]]).double()


integrated = Question(solution.integrated, (2, 3), {
    "one baseline": ("(e ** 3).sum()", E2, ONE, 3), "two baselines": ("(e ** 3).sum()", E2, TWO, 1),
    "three baselines, an attention head": (HEAD, E3, THREE, 5), "sixteen points": ("(e ** 3).sum()", E2, ONE, 16),
    **{f"one token, {n} points": ("(e ** 4).sum()", torch.tensor([[2.0, 1.0]]), torch.zeros(1, 1, 2), n)
       for n in (40, 300)},
    "a baseline that is the input": (HEAD, E2, torch.stack([E2, TWO[1]]), 3)},
    returns="(T,)", forbidden=OWN, instead="`slopes` and a mean",
    given=lambda f, e, starts, n: (slopes_of(f, e, most=16), e, starts, n),
    why="Each baseline has its own path, and its own step to multiply by: only the scores are averaged. The "
        "portions are joined before the mean, so that a short last one counts no more than it has points.",
    promises={"holds $m$ baselines": lambda f, e, starts, n: starts.shape[1:] == e.shape and len(starts) > 0 < n},
    otherwise="The first midpoint of a path is e⁰ + a(e − e⁰) with a = ½/n. For each baseline: the mean of the slopes "
              "over the n midpoints of its path, times e − e⁰, added up for each token. At the end the mean over the "
              "baselines.",
    hints={"shapes": "The midpoints need two axes more than a: a[:, None, None] is (n, 1, 1), "
                     "and times a step (T, d_e) it makes (n, T, d_e).",
           "at a time": "Ask in portions: points.split(16) cuts a tensor into pieces of at most 16 rows. (chunk makes "
                        "16 pieces.)"})

NODES = "(torch.arange(n, dtype=e.dtype) + 0.5) / n"
integrated.mistakes(
    ("These are the right ends of the steps, 1/n, 2/n, …, 1. Asked for are the midpoints.", "+ 0.5 → + 1"),
    ("These are the left ends of the steps, 0, 1/n, …: asked for are the midpoints.", " + 0.5 → "),
    ("Here a runs from 0 to 1, both ends included. The midpoints stay away from the ends.",
     f"{NODES} → torch.linspace(0, 1, n)"),
    ("Here a runs from 0 to 1, both ends included, n + 1 points in all. There are n midpoints.",
     f"{NODES} → torch.linspace(0, 1, n + 1)"),
    ("The products were added up over the tokens. A token's products are added up over its d_e coordinates.",
     "sum(1) → sum(0)"),
    ("The products were averaged over a token's d_e coordinates. They are added up: without that no sum comes out.",
     "sum(1) → mean(1)"),
    ("The slopes at e alone were taken. Asked for is their mean over the midpoints of the way to e.",
     "found.mean(0) → slopes(e[None])[0]"),
    ("The slopes were added up along the path. An integral over a from 0 to 1 is their *mean*.",
     "found.mean(0) → found.sum(0)"),
    ("The sign is turned round: the step leads *from* the baseline *to* e, e − e⁰.",
     "(e - start) * found → (start - e) * found"),
    ("The slopes were averaged along the path, but not multiplied by the step e − e⁰.", "(e - start) * found → found"),
    ("The baselines' scores were added up. Asked for is their mean.", "(scores).mean → (scores).sum"),
    ("The baselines were averaged first, and one path walked from their mean. Each baseline has a path of its own.",
     "in starts → in starts.mean(0, keepdim=True)"),
    ("Only the first of the baselines came in. (Does `return` stand inside the loop?)",
     "torch.stack(scores).mean(0) → scores[0]"),
    ("Only the last of the baselines came in. Asked for is the mean over all of them.",
     "torch.stack(scores).mean(0) → scores[-1]"),
    ("The steps were averaged, and the slopes were averaged, and then they were multiplied. Each baseline multiplies "
     "its own step by its own mean slopes; the mean over the baselines comes last.",
     "((e - start) * found.mean(0)).sum(1) → found.mean(0)",
     "torch.stack(scores).mean(0) → ((e - starts.mean(0)) * torch.stack(scores).mean(0)).sum(1)"),
    ("The step is turned round, on the path as well: it leads *from* the baseline *to* e, e − e⁰.",
     "start + a * (e - start) → start + a * (start - e)", "((e - start) * found → ((start - e) * found"),
    ("The points are e⁰ + a·e. The path goes by parts of the *step*, e⁰ + a·(e − e⁰), and ends at e.",
     "start + a * (e - start) → start + a * e"),
    ("These are the points (i + ½)/n with i = 1, 2, …, n, one too far. From i = 1 on it is (i − ½)/n.",
     "torch.arange(n, dtype=e.dtype) → torch.arange(1, n + 1, dtype=e.dtype)"),
    ("The mean slopes were multiplied by e. It is the step, e − e⁰.", "(e - start) * found → e * found"),
    ("The path starts at zero here, whatever the baseline: a·e. It leads from e⁰ to e.",
     "start + a * (e - start) → a * e"),
    ("The points of the path are a·(e − e⁰): the baseline itself is missing.", "start + a → a"),
    ("There are n points, however large n is: 16 are the most in one call of `slopes`, not on a path.",
     "a = → n = min(n, 16)\n    a ="),
    ("Only the first 16 points came in. All n of them do, in portions of 16.", "split(16) → split(16)[:1]"),
    ("The mean of the portions' means: the last portion is shorter, and its points count too much. Each of the n "
     "points counts the same.", "torch.cat([slopes(points) → torch.stack([slopes(points).mean(0)"),
    ("The last, shorter portion did not come in. Each of the n points counts the same.",
     "split(16) → split(16) if len(points) == min(n, 16)"),
    ("Only the last portion of the points came in. All of them do, and each of the n points counts the same.",
     "split(16) → split(16)[-1:]"))


@integrated.suspect
def _(got, f, e, starts, n):
    if kind(got) == "a list":
        yield ("A list came back. torch.stack(…) makes one tensor of a list of tensors, and .mean(0) is then their "
               "mean; torch.tensor(…) makes one of a list of numbers.")
    if kind(got) == "a tensor" and got.isnan().any():
        yield ("Something is not a number. Was a mean taken of an empty portion? 16 points are one portion, and no "
               "second one.")


# -- complete --------------------------------------------------------------------------------------------------------

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
    why="Twice the steps: the old mean and the mean at the new midpoints have half of the weight each. So "
        "nothing is remembered but one table, and no point is asked about twice.",
    otherwise="Two steps by hand: the slopes at 0, ½ and 1, with the weights ¼, ½, ¼, times e − e⁰. When you reuse "
              "what you know, does an old point get half the weight that it had?",
    hints={"endless": "Does n double in the loop? And does it stop when twice as many are more than `most`?"})


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
