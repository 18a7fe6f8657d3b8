"""The check of assignment 04 on a model whose likeliest text greedy decoding misses by far."""

from attention_questions.prelude import Question, itertools, kind, math, torch

from . import solution

D_MAX, N, FACTOR = 4, 3, 10


missed = Question(solution.missed, (2, 0), {
    "your table": ()},
    otherwise="Greedy decoding looks at one step. Which first token could be a little likelier than another, and "
              "lead nowhere: to rows in which no token is likely? And where does the other one lead?")
missed.mistakes(
    ("All texts are equally likely here, and none can be missed. One path has to be likelier than greedy's.",
     lambda: torch.full((4, 4), 0.25)),
    ("These probabilities are all 0 and 1: there is a single text, and greedy decoding finds it.",
     lambda: torch.eye(4).roll(1, 1)))


@missed.judge
def _(rows):
    if kind(rows) != "a tensor" or rows.dim() != 2 or len(set(rows.shape)) != 1 or not 2 <= len(rows) <= D_MAX:
        yield f"a tensor (D, D) is due, with D from 2 to {D_MAX}"
    if not rows.isfinite().all() or (rows < 0).any() or (rows.sum(1) - 1).abs().max() > 1e-4:
        yield "every row is due to hold probabilities, with the sum 1"
    texts = {ids: math.prod(rows[i, j].item() for i, j in itertools.pairwise([0, *ids]))        # behind the prompt [0]
             for ids in itertools.product(range(len(rows)), repeat=N)}
    found, best = tuple(solution.greedy(lambda ids: rows[ids[-1]], [0], N)), max(texts, key=texts.get)
    factor = texts[best] / texts[found]
    words = (f"greedy finds {[*found]} (p = {texts[found]:.4f}), the likeliest is {[*best]} (p = {texts[best]:.4f}), "
             f"a factor of {factor:.2f}")
    if factor < FACTOR:
        yield f"{words}; {FACTOR} is due"
    print(f"  {words}")
