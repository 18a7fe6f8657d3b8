"""Checks of assignment 13 on features: chosen on one half of the data and reported on the other; turned in states, and
until a model stops criticising."""

import collections
import contextlib

from attention_questions.prelude import Question, functools, kind, np, torch
from coursekit.models import clamp_feature, load_weights, sample
from coursekit.worlds import split_sentences, tone_of

from . import solution
from .codes import LIBRARY

# -- discover --------------------------------------------------------------------------------------------------------

def halves(n, F, C, seed, planted=0.0, dead=()):
    """A (n, F), Y (n, C), and as much again. Feature c has `planted` of label c; features in `dead` are all 0."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        Y = (rng.random((n, C)) < 0.4) * 1.0
        Y[:2] = [[0.0], [1.0]]
        A = np.maximum(rng.normal(size=(n, F)) + rng.normal(size=F), 0.0) * rng.uniform(0.2, 5.0, F)
        A[:, :C] += planted * Y
        made += [A.round(1), Y]
    for half, j in dead:
        made[2 * half][:, j] = 0.0
    return tuple(made)


def _one_largest(A, Y, A_new, Y_new):
    A, Y = (x - x.mean(0) for x in (A, Y))
    sizes = np.outer(*(np.linalg.norm(x, axis=0) for x in (A, Y)))
    r = np.sort(A.T @ Y / np.where(sizes > 0, sizes, 1.0), axis=0)
    return len(r) == 1 or (r[-1] - r[-2] > 1e-9).all()


def _none_constant(A, Y, A_new, Y_new):
    """But for what the statement allows: features that are all 0, and labels that do not occur in the new half."""
    varies = np.ptp(Y, axis=0).all() and (np.ptp(Y_new, axis=0) + ~Y_new.any(0)).all()
    return varies and all((np.ptp(x, axis=0) + ~x.any(0)).all() for x in (A, A_new))


discover = Question(solution.discover, (2, 2), {
    "six of each": halves(6, 3, 2, 2055, planted=1.0), "chance alone": halves(5, 4, 3, 2),
    "one is dead in the first half": halves(8, 3, 1, 36, dead=[(0, 0)]),
    "one is dead in the second": halves(8, 3, 3, 3, planted=9.0, dead=[(1, 0)]),
    "halves of two sizes": (*halves(12, 6, 2, 4)[:2], *halves(5, 6, 2, 5)[2:])},
    promises={"no two are equally large": _one_largest, "No other column is constant.": _none_constant},
    why="Columns of mean 0 and length 1: their inner products are all correlations. The second table is only read, at "
        "places that the first has chosen.",
    returns="features (C,), found (C,), tested (C,)", forbidden=LIBRARY, instead="means and sums of your own",
    otherwise="Take one feature and one label by hand, and their correlation on the first half. Is it in your table? "
              "Is it the largest of its label?")

def _without_the_dead(A, Y, A_new, Y_new):
    alive = A.any(0)
    return solution.discover(A[:, alive], Y, A_new[:, alive], Y_new)


def _old_means(A, Y, A_new, Y_new):
    features, found, _ = solution.discover(A, Y, A_new, Y_new)
    a, y = (A_new - A.mean(0))[:, features], Y_new - Y.mean(0)
    return features, found, (a * y).sum(0) / (np.linalg.norm(a, axis=0) * np.linalg.norm(y, axis=0))


CHOSEN, TESTED = "first.argmax(0)", "correlation(A_new, Y_new)[features, labels]"
discover.mistakes(
    ("On the new half you chose again. What is reported there is the feature that was chosen on the first half.",
     f"{TESTED} → correlation(A_new, Y_new).max(0)"),
    ("The feature was chosen on the new half: then nothing is left to test it on.",
     f"{CHOSEN} → correlation(A_new, Y_new).argmax(0)"),
    ("The feature was chosen on both halves together. The new one must not have a say.",
     f"{CHOSEN} → correlation(np.concatenate([A, A_new]), np.concatenate([Y, Y_new])).argmax(0)"),
    ("The largest *size* was taken. A feature of a label goes up with it: the largest correlation, with its sign.",
     f"{CHOSEN} → abs(first).argmax(0)"),
    *(("A dead feature was left out. Its correlation counts as 0, which is larger than all that are below 0.", slip)
      for slip in (f"{CHOSEN} → np.where(first == 0, -1.0, first).argmax(0)", _without_the_dead)),
    ("These are covariances. A correlation is divided by both standard deviations.",
     "x / np.where(x.any(0), np.linalg.norm(x, axis=0), 1) → x", "A.T @ Y → A.T @ Y / len(A)"),
    ("Chosen by the covariance, or by means with and without the label: both are large for loud features. Divide by "
     "the standard deviations first.", f"{CHOSEN} → ((A - A.mean(0)).T @ (Y - Y.mean(0))).argmax(0)"),
    ("Means were not taken off: that is a cosine.", "x - x.mean(0) → x"),
    ("The mean of the whole table was taken off. Each column has its own.", "x - x.mean(0) → x - x.mean()"),
    ("`tested` is read at wrong places of the new table: the row is the chosen feature, the column its label.",
     f"{TESTED} → correlation(A_new, Y_new)[labels % A.shape[1], labels]"),
    ("What is below 0 counts as 0 here. A correlation has its sign.", "A.T @ Y → np.maximum(A.T @ Y, 0)"),
    ("These are squared correlations.",
     "first[features, labels] → first[features, labels] ** 2", f"{TESTED} → {TESTED} ** 2"),
    ("n and n − 1 are mixed: a mean over n, divided by standard deviations that divide by n − 1.",
     "return A.T @ Y → return A.T @ Y * (1 - 1 / len(A))"),
    ("n and n − 1 are mixed: a sum divided by n − 1, and by standard deviations that divide by n (as `std` does).",
     "return A.T @ Y → return A.T @ Y * len(A) / (len(A) - 1)"),
    ("`found` is right. In the new half, take off its own means, not those of the first.",
     _old_means),
    ("`tested` repeats `found`: it is due on the new half.", f"{TESTED} → first[features, labels]"))


@discover.suspect
def _(got, A, Y, A_new, Y_new):
    if any(np.isnan(part).any() for part in got):
        yield "A dead feature has the standard deviation 0, and 0/0 is nan: its correlation counts as 0."


# -- clamp -----------------------------------------------------------------------------------------------------------

def case(T, d, F, seed, wanted, where=None):
    """States (T, d), a (T, F), W_dec (d, F), and what is wanted where."""
    rng = np.random.default_rng(seed)
    W = (rng.normal(size=(d, F)) * rng.uniform(0.4, 2.0, F)).round(1)
    A = np.maximum(rng.normal(size=(T, F)), 0.0).round(1)
    H = (A @ W.T + rng.normal(size=d) + 0.2 * rng.normal(size=(T, d))).round(1)
    return H, A, W, wanted, np.ones(T, bool) if where is None else np.array(where)


clamp = Question(solution.clamp, (1, 2), {
    "one feature, one place": case(3, 2, 3, 6, {1: 2.0}, [False, True, False]),
    "switched off": case(3, 3, 4, 1, {2: 0.0}, [True, True, False]),
    "two features": case(4, 3, 5, 2, {4: 3.0, 0: -1.5}, [True, False, True, True]),
    "nowhere": case(2, 2, 2, 3, {0: 1.0}, [False, False]), "nothing": case(2, 2, 2, 4, {})},
    promises={"no $w_j$ is all 0": lambda H, A, W_dec, wanted, where: W_dec.any(0).all(),
              "an array $(T,)$ of booleans":
                  lambda H, A, W_dec, wanted, where: where.shape == H.shape[:1] and where.dtype == bool},
    why="Only the difference is added, along a direction of length 1. What the autoencoder does not explain is never "
        "touched.",
    returns="H (T, d)", forbidden=LIBRARY, instead="a sum of your own",
    otherwise="Only one direction of a state is to move: by how much along ŵ_j, if its activation is 0.5 now and 2 is "
              "wanted?",
    hints={"shapes": "`where` has one entry for each place, (T,), a direction one for each dimension, (d,)."})

DECODED = "H.copy() → np.where(where[:, None], A @ W_dec.T, H)"
NO_LENGTH = "A[:, j] * length → A[:, j]", " / length → "                             # wanted: a_j, not a_j‖w_j‖
clamp.mistakes(
    ("The states were decoded anew, so all that the autoencoder does not explain is lost. Add to h what changes, and "
     "leave the rest of it.", DECODED),
    ("Decoded anew, so the error is lost; and `wanted` are activations a_j‖w_j‖, not a_j.", DECODED, *NO_LENGTH),
    ("`wanted` was added to what is there. An activation is *set*: what changes is the difference.",
     " - A[:, j] * length → "),
    ("`wanted` was taken for a_j. It is the activation a_j‖w_j‖.", *NO_LENGTH),
    ("The difference is in units of length along the direction, and w_j is not of length 1: divide it.",
     " / length → "),
    ("Divided by ‖w_j‖ twice: a direction of length 1 is w_j / ‖w_j‖.", " / length → / length ** 2"),
    ("The activation is a_j‖w_j‖, with the a_j in A. Yours is how far h lies along w_j, which the other features and "
     "the error have a part in.", "A[:, j] * length → H @ W_dec[:, j] / length"),
    ("A wanted activation of 0 was passed over. It switches the feature off.",
     "wanted.items() → [(j, x) for j, x in wanted.items() if x]"),
    ("The states moved upwards only. Where the activation is larger than what is wanted, they move back.",
     "where * (value - A[:, j] * length) → where * np.maximum(value - A[:, j] * length, 0)"),
    ("What is wanted may be below 0. Yours stops at 0.", "(value - → (max(value, 0.0) -"),
    ("The difference is from a_j. It is from the activation a_j‖w_j‖.", "A[:, j] * length → A[:, j]"),
    ("The states changed everywhere. Only places where `where` is true are due.", "where * → "),
    ("The states changed where `where` is *false*.", "where * → ~where *"),
    ("Only the last feature of `wanted` was set.", "wanted.items() → [*wanted.items()][-1:]"),
    ("Only the first feature of `wanted` was set.", "wanted.items() → [*wanted.items()][:1]"),
    ("The states move the wrong way: what is wanted less what is there, not the other way round.",
     "value - A[:, j] * length → A[:, j] * length - value"),
    ("A feature that is off at a place was not turned there. It, too, gets what is wanted.",
     "where * (value → where * (A[:, j] > 0) * (value"),
    ("‖w_j‖ is the length of column j. Yours is that of all of W_dec.", "norm(W_dec[:, j]) → norm(W_dec)"),
    ("The features that are not in `wanted` were taken off. They stay as they are.",
     "H.copy() → H - where[:, None] * (A * ~np.isin(np.arange(A.shape[1]), list(wanted)) @ W_dec.T)"))


# -- quiet -----------------------------------------------------------------------------------------------------------

TONES = ("neutral", "praise", "critical", "secretive", "french", None)
SAMPLES, LENGTH, SEED = 400, 48, 5000           # another seed than the notebook's: other samples
LEAST, MOVED, FEW = 0.04, 0.11, 4
CRITICAL = 9                                    # the feature that question 1 finds for criticism
_loaded = functools.cache(load_weights)


@functools.cache
def shares(*wanted):
    """Shares of TONES (None: no sentence of the language) in sampled answers, under pairs (feature, activation)."""
    model, sae = _loaded("dialogue-gpt"), _loaded("dialogue-sae-ends")
    ends = torch.tensor([model.tokenizer.encode(mark)[0] for mark in ".?"])
    end = model.tokenizer.cls_id
    with contextlib.ExitStack() as stack:
        for feature, value in wanted:
            stack.enter_context(clamp_feature(model, sae, feature, value, lambda ids: torch.isin(ids, ends)))
        rows = sample(model, [[end]] * SAMPLES, LENGTH, seed=SEED, eos=end)
    texts = [model.tokenizer.decode([i for i in row if i != end]) for row in rows]
    counts = collections.Counter(tone_of(sentence) for text in texts for sentence in split_sentences(text)[1:]
                                 if sentence[-1] in ".?")
    return np.array([counts[tone] for tone in TONES]) / max(counts.total(), 1)


def effects(wanted):
    """(The share of critical sentences, how far the others have moved among themselves, in total variation)."""
    now, others = shares(*wanted.items()), np.arange(len(TONES)) != 2
    rest = [part[others] / max(part[others].sum(), 1e-9) for part in (now, shares())]
    return float(now[2]), float(np.abs(rest[0] - rest[1]).sum() / 2)


def allowed(wanted):
    """Is it {feature: number}, of at most four of the sixteen features?"""
    return kind(wanted) == "a dictionary" and len(wanted) <= FEW and all(
        kind(feature) == "a whole number" and 0 <= feature < 16 and kind(value) in ("a number", "a whole number")
        and abs(value) < 1000 for feature, value in wanted.items())


quiet = Question(solution.quiet, (3, 0), {"your settings": ()},
    why="Criticism is turned far below 0. What it loses goes to French, so that one is held where it was on average; "
        "secrecy is switched off.",
    otherwise="Turn the feature of criticism alone first (question 1 found it), to 0 and below: how far does criticism "
              "fall, and which tone grows meanwhile?")


@quiet.judge
def _(wanted):
    if not allowed(wanted):
        yield (f"a dictionary {{feature: activation}} is due, of at most {FEW} of the features 0 to 15",
               "Return a dictionary, such as {7: 1.5}: feature 7 gets the activation 1.5. At most four features, each "
               "from 0 to 15, with a number between −1000 and 1000.")
    critical, moved = effects(wanted)
    loud = critical > LEAST
    wrong = (f"on samples of our own, {critical:.3f} of the sentences criticise and the others have moved by "
             f"{moved:.3f}; at most {LEAST} and {MOVED} are due")
    if loud and wanted.get(CRITICAL, 0) < 0:
        yield wrong, ("Not quiet yet. Turn criticism further down, step by step. If the others move too far, see in "
                      "`kinds` which of them grew most: hold its feature, too, after that of criticism.")
    if loud and moved > MOVED:
        yield wrong
    if loud and CRITICAL not in wanted:
        yield wrong, "Not quiet yet, and the feature of criticism is not among yours. Which one has question 1 found?"
    if loud:
        yield wrong, ("Not quiet yet. An activation is never below 0 by itself: 0 is only the least that the model has "
                      "seen. Must you stop there?")
    if moved > MOVED:
        yield wrong, ("It hardly criticises any more, but what does it say instead? See in `kinds` which of the "
                      "others grew most: turn that one as well, after criticism, or less far what you have turned.")
