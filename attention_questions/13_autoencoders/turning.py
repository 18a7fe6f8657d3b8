"""Checks of assignment 13 on turning features: an edit of states, and settings that make a model stop criticising."""

import collections
import contextlib

from attention_questions.prelude import Question, functools, kind, np, torch
from coursekit.models import clamp_feature, load_weights, sample
from coursekit.worlds import split_sentences, tone_of

from . import solution
from .directions import LIBRARY

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
    ("The activation is a_j‖w_j‖, with the a_j in A. Yours is how far h lies along w_j, which the other features and "
     "the error have a part in.", "A[:, j] * length → H @ W_dec[:, j] / length"),
    ("What is wanted may be below 0. Yours stops at 0.", "(value - → (max(value, 0.0) -"),
    ("The difference is from a_j. It is from the activation a_j‖w_j‖.", "A[:, j] * length → A[:, j]"),
    ("The states changed everywhere. Only places where `where` is true are due.", "where * → "),
    ("The states changed where `where` is *false*.", "where * → ~where *"),
    ("Only the last feature of `wanted` was set.", "wanted.items() → [*wanted.items()][-1:]"),
    ("Only the first feature of `wanted` was set.", "wanted.items() → [*wanted.items()][:1]"))


# -- quiet -----------------------------------------------------------------------------------------------------------

TONES = ("neutral", "praise", "critical", "secretive", "french", None)
SAMPLES, LENGTH, SEED = 400, 48, 5000           # another seed than the notebook's: other samples
LEAST, MOVED, FEW = 0.04, 0.11, 4
CRITICAL = 9                                    # the feature that question 4 finds for criticism


@functools.cache
def _models():
    return load_weights("dialogue-gpt"), load_weights("dialogue-sae-ends")


@functools.cache
def shares(*wanted):
    """Shares of TONES (None: no sentence of the language) in sampled answers, under pairs (feature, activation)."""
    model, sae = _models()
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


quiet = Question(solution.quiet, (2, 0), {"your settings": ()},
                 otherwise="Ask `turned` for the feature of criticism alone (question 4 found it), at 0 and below: how "
                           "far does criticism fall, and which tone grows meanwhile?")


@quiet.judge
def _(wanted):
    if not allowed(wanted):
        yield f"a dictionary {{feature: activation}} is due, of at most {FEW} of the features 0 to 15"
    critical, moved = effects(wanted)
    if critical > LEAST or moved > MOVED:
        yield (f"on samples of our own, {critical:.3f} of the sentences criticise and the others have moved by "
               f"{moved:.3f}; at most {LEAST} and {MOVED} are due")


@quiet.suspect
def _(wanted):
    if not allowed(wanted):
        yield ("Return a dictionary, such as {7: 1.5}: feature 7 gets the activation 1.5. At most four features, each "
               "from 0 to 15, with a number between −1000 and 1000.")
    critical, moved = effects(wanted)
    if critical > LEAST and moved > MOVED:
        return
    if critical > LEAST and CRITICAL not in wanted:
        yield "Not quiet yet, and the feature of criticism is not among yours. Which one has question 4 found?"
    if critical > LEAST and wanted[CRITICAL] >= 0:
        yield ("Not quiet yet. An activation is never below 0 by itself: 0 is only the least that the model has "
               "seen. Must you stop there?")
    if critical > LEAST:
        yield "Not quiet yet, and nearer. How far does each step further down take the share of criticism?"
    yield ("It hardly criticises any more, but what does it say instead? See in `turned` which of the others grew "
           "most: turn that one as well, or less far what you have turned.")
