"""Check of assignment 06: integrated gradients from several baselines, in portions."""

from attention_questions.prelude import Question, kind, torch

from . import solution
from .paths import E2, E3, HEAD, OWN, THREE, slopes_of

ONE, TWO = torch.zeros(1, 2, 2).double(), torch.tensor([[[0.0, 0], [0, 0]], [[0, 1], [4, 1]]]).double()


integrated = Question(solution.integrated, (2, 3), {
    "one baseline": ("(e ** 3).sum()", E2, ONE, 3), "two baselines": ("(e ** 3).sum()", E2, TWO, 1),
    "three baselines, an attention head": (HEAD, E3, THREE, 5), "sixteen points": ("(e ** 3).sum()", E2, ONE, 16),
    **{f"one token, {n} points": ("(e ** 4).sum()", torch.tensor([[2.0, 1.0]]), torch.zeros(1, 1, 2), n)
       for n in (40, 300)},
    "a baseline that is the input": (HEAD, E2, torch.stack([E2, TWO[1]]), 3)},
    returns="(T,)", forbidden=OWN, instead="`slopes` and a mean",
    given=lambda f, e, starts, n: (slopes_of(f, e, most=16), e, starts, n),
    otherwise="The first midpoint of a path is e⁰ + a(e − e⁰) with a = ½/n. For each baseline: the mean of the slopes "
              "over the n midpoints of its path, times e − e⁰, added up for each token. At the end the mean over the "
              "baselines.",
    hints={"at a time": "Ask in portions: points.split(16) cuts a tensor into pieces of at most 16 rows. (chunk makes "
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
    ("The slopes were added up along the path. An integral over a from 0 to 1 is their *mean*.",
     "found.mean(0) → found.sum(0)"),
    ("The sign is turned round: the step leads *from* the baseline *to* e, e − e⁰.",
     "(e - start) * found → (start - e) * found"),
    ("The slopes were averaged along the path, but not multiplied by the step e − e⁰.", "(e - start) * found → found"),
    ("The baselines' scores were added up. Asked for is their mean.", "(scores).mean → (scores).sum"),
    ("The baselines were averaged first, and one path walked from their mean. Each baseline has a path of its own.",
     "in starts → in starts.mean(0, keepdim=True)"),
    ("Only one of the baselines came in.", "torch.stack(scores).mean(0) → scores[0]"),
    ("The mean slopes were multiplied by e. It is the step, e − e⁰.", "(e - start) * found → e * found"),
    ("The path starts at zero here, whatever the baseline: a·e. It leads from e⁰ to e.",
     "start + a * (e - start) → a * e"),
    ("The points of the path are a·(e − e⁰): the baseline itself is missing.", "start + a → a"),
    ("There are n points, however large n is: 16 are the most in one call of `slopes`, not on a path.",
     "a = → n = min(n, 16)\n    a ="),
    ("The mean of the portions' means: the last portion is shorter, and its points count too much. Each of the n "
     "points counts the same.", "torch.cat([slopes(points) → torch.stack([slopes(points).mean(0)"),
    ("The last, shorter portion did not come in. Each of the n points counts the same.",
     "split(16) → split(16) if len(points) == min(n, 16)"),
    ("Only the last portion of the points came in. All of them do, and each of the n points counts the same.",
     "split(16) → split(16)[-1:]"))


@integrated.suspect
def _(got, f, e, starts, n):
    if kind(got) == "a tensor" and got.isnan().any():
        yield ("Something is not a number. Was a mean taken of an empty portion? 16 points are one portion, and no "
               "second one.")
