"""The check of assignment 15 on contrastive attribution: why this word rather than that one?"""

from attention_questions.prelude import Question, np

from . import solution


def _language_model(T, d, D, seed):
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


def _no_tie(u, target):
    most, next_one = np.sort(np.delete(u, target))[::-1][:2]
    return most - next_one > 1e-9


def _case(T, d, D, seed, target, foil, h):
    """The arguments of a case."""
    E = np.round(np.random.default_rng(seed + 1).normal(size=(T, d)), 2)
    return _language_model(T, d, D, seed), E, target, foil, h


contrast = Question(solution.contrast, (1, 2), {
    "a foil": _case(3, 2, 5, 1, 2, 0, 0.5), "the runner-up": _case(2, 3, 6, 3, 1, None, 0.1),
    "the target is likeliest": _case(2, 2, 4, 5, 1, None, 0.2)},
    promises={"the likeliest word other than the target": lambda logits, E, target, foil, h: (
                  foil not in (target, -1) and _no_tie(logits(E), target)),
              "a number above 0": lambda logits, E, target, foil, h: h > 0},
    returns="foil, norms (T,), signed (T,)", instead="differences of `logits`",
    forbidden=("coursekit.people.contrastive_gradient", "coursekit.people.generated_attributions"),
    otherwise="Take a model with logits (E[0, 0], 2 · E[0, 0]), target 1 and foil 0, at E = [[3]]: the difference "
              "grows by 1 for each 1 of E. So norms = [1], signed = [3].",
    hints={"and got the shape": "`logits` takes all of E, (T, d), with one number changed.",
           "NoneType|array element|scalar": "Where `foil` is None, choose it first: the likeliest word but the "
                                            "target."})

CHANGE, NORMS, SIGNED = "logits(up) - logits(down)", "np.abs(g).sum(1)", "(g * E).sum(1)"
ONE_SIDE = "Steps go to one side. To both sides, what is bent cancels: (D(E + h) − D(E − h))/(2h)."
contrast.mistakes(
    ("This explains the target alone. Take the foil's logit away, at both steps.", " - change[foil] → "),
    ("The difference is the wrong way round: target less foil.",
     "change[target] - change[foil] → change[foil] - change[target]"),
    ("These are slopes of probabilities. What all words share cancels in the difference of *logits*.",
     f"{CHANGE} → softmax(logits(up)) - softmax(logits(down))",
     "g = np → def softmax(u):\n        return np.exp(u) / np.exp(u).sum()\n    g = np"),
    ("Without a foil, the target was compared with itself. The likeliest *other* word is due.", " if j != target → "),
    ("The foil 0 was taken for none. 0 is a word, and `not foil` is true of it: ask `foil is None`.",
     "if foil is None → if not foil"),
    ("Without a foil, the second word of the order was taken. If the target is not the first, the first is the foil.",
     "next(int(j) for j in np.argsort(-logits(E)) if j != target) → int(np.argsort(-logits(E))[1])"),
    ("All slopes are 0: `up = E` is no copy, so that one step takes back the other. `E.copy()` makes one.",
     "E.copy(), E.copy() → E, E"),
    (ONE_SIDE, "logits(down) → logits(E)", "(2 * h) → h"),
    ("A difference over two steps of h was divided by one.", "(2 * h) → h"),
    (ONE_SIDE, "logits(up) → logits(E)", "(2 * h) → h"),
    ("`/ 2 * h` multiplies by h. Put brackets around 2h.", "(2 * h) → 2 * h"),
    ("The step is another one than h.", "g = np → h = 1e-4\n    g = np"),
    ("These are means over the coordinates. L1: the sum of the sizes.", f"{NORMS} → np.abs(g).mean(1)"),
    ("`signed` keeps its signs: slopes and embeddings of both signs cancel.", f"{SIGNED} → np.abs(g * E).sum(1)"),
    ("These are L2 norms. L1: the sum of the sizes.", f"{NORMS} → np.sqrt((g * g).sum(1))"),
    ("Slopes of both signs cancel in `norms`. Take their sizes first.", f"{NORMS} → np.abs(g.sum(1))"),
    ("`signed` is each slope times its embedding.", f"{SIGNED} → g.sum(1)"))
