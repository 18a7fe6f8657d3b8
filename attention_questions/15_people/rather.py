"""The check of assignment 15 on contrastive attribution: why this word rather than that one?"""

import numpy as np

from coursegrade.kit.question import question

__all__ = ["contrast"]


def language_model(T, d, D, seed):
    """logits(E) (D,) of a small made-up model that reads embeddings (T, d), with a cubic bend."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(T * d, 4)), rng.normal(size=(4, D))

    def logits(E):
        E = np.asarray(E, float)
        if E.shape != (T, d):
            raise ValueError(f"the model reads embeddings {(T, d)}, and got the shape {E.shape}")
        u = E.ravel() @ A / T                                                                       # (4,)
        return (u + 0.4 * u ** 2 - 0.2 * u ** 3) @ B

    logits.__doc__ = f"a made-up model: embeddings {(T, d)} → {D} logits"
    return logits


def _central(f, E, h, back=1):
    """∂f/∂E (T, d), by steps of h to both sides; back = 0: forward alone."""
    g = np.zeros(E.shape)
    for at in np.ndindex(*E.shape):
        step = np.zeros(E.shape)
        step[at] = h
        g[at] = (f(E + step) - f(E - back * step)) / ((1 + back) * h)
    return g


def _softmax(u):
    return np.exp(u - u.max()) / np.exp(u - u.max()).sum()


def _runner_up(u, target):
    return int(max((j for j in range(len(u)) if j != target), key=lambda j: u[j]))


def _no_tie(u, target):
    most, next_one = np.sort(np.delete(u, target))[::-1][:2]
    return most - next_one > 1e-9


def case(T, d, D, seed, target, foil, h):
    """The arguments of a case."""
    E = np.round(np.random.default_rng(seed + 1).normal(size=(T, d)), 2)
    return language_model(T, d, D, seed), E, target, foil, h


@question((1, 2), {"a foil": case(3, 2, 5, 1, 2, 0, 0.5), "the runner-up": case(2, 3, 6, 3, 1, None, 0.1),
                   "the target is likeliest": case(2, 2, 4, 5, 1, None, 0.2)},
          promises={"the likeliest word other than the target": lambda logits, E, target, foil, h: (
                        foil not in (target, -1) and _no_tie(logits(E), target)), "a number above 0":
                        lambda logits, E, target, foil, h: h > 0},
          returns="foil, norms (T,), signed (T,)", forbidden=("coursekit.people.contrastive_gradient",
                                                              "coursekit.people.generated_attributions"),
          instead="differences of `logits`",
          otherwise="Take a model with logits (E[0, 0], 2 · E[0, 0]), target 1 and foil 0, at E = [[3]]: the "
                    "difference grows by 1 for each 1 of E. So norms = [1], signed = [3].",
          hints={"and got the shape": "`logits` takes all of E, (T, d), with one number changed.",
                 "NoneType|array element|scalar": "Where `foil` is None, choose it first: the likeliest word but the "
                                                  "target."})
def contrast(logits, E, target, foil, h, *, choose=_runner_up, words=lambda u, t, f: u[t] - u[f], slopes=_central,
             norm=lambda g: np.abs(g).sum(1), sign=lambda g, E: (g * E).sum(1)):
    """contrast(logits, E, target, foil, h): the foil, by default the likeliest other word; for each position the L1
    norm (T,) of the slopes of logit(target) − logit(foil), by central differences; and slopes times embedding (T,)."""
    if foil is None:
        foil = choose(logits(E), target)
    g = slopes(lambda X: words(logits(X), target, foil), E, h)
    return foil, norm(g), sign(g, E)


contrast.mistakes(
    ("This explains the target alone. Take the foil's logit away, at both steps.",
     dict(words=lambda u, t, f: u[t])),
    ("The difference is the wrong way round: target less foil.", dict(words=lambda u, t, f: u[f] - u[t])),
    ("These are slopes of probabilities. What all words share cancels in the difference of *logits*.",
     dict(words=lambda u, t, f: _softmax(u)[t] - _softmax(u)[f])),
    ("Without a foil, the target was compared with itself. The likeliest *other* word is due.",
     dict(choose=lambda u, target: int(u.argmax()))),
    ("The foil 0 was taken for none. 0 is a word, and `not foil` is true of it: ask `foil is None`.",
     lambda logits, E, target, foil, h: contrast.reference(logits, E, target, foil or None, h)),
    ("Without a foil, the second word of the order was taken. If the target is not the first, the first is the foil.",
     dict(choose=lambda u, target: int(np.argsort(-u)[1]))),
    ("All slopes are 0: `up = E` is no copy, so that one step takes back the other. `E.copy()` makes one.",
     dict(slopes=lambda f, E, h: np.zeros(E.shape))),
    ("Steps go to one side. To both sides, what is bent cancels: (D(E + h) − D(E − h))/(2h).",
     dict(slopes=lambda f, E, h: _central(f, E, h, 0))),
    ("A difference over two steps of h was divided by one.", dict(slopes=lambda f, E, h: 2 * _central(f, E, h))),
    ("Steps go to one side. To both sides, what is bent cancels: (D(E + h) − D(E − h))/(2h).",
     dict(slopes=lambda f, E, h: _central(f, E, -h, 0))),
    ("`/ 2 * h` multiplies by h. Put brackets around 2h.", dict(slopes=lambda f, E, h: _central(f, E, h) * h * h)),
    ("The step is another one than h.", dict(slopes=lambda f, E, h: _central(f, E, 1e-4))),
    ("These are means over the coordinates. L1: the sum of the sizes.", dict(norm=lambda g: np.abs(g).mean(1))),
    ("`signed` keeps its signs: slopes and embeddings of both signs cancel.",
     dict(sign=lambda g, E: np.abs(g * E).sum(1))),
    ("These are L2 norms. L1: the sum of the sizes.", dict(norm=lambda g: np.sqrt((g * g).sum(1)))),
    ("Slopes of both signs cancel in `norms`. Take their sizes first.", dict(norm=lambda g: np.abs(g.sum(1)))),
    ("`signed` is each slope times its embedding.", dict(sign=lambda g, E: g.sum(1))))
