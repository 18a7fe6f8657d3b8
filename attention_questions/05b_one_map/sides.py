"""Checks of assignment 05b on sides: weights of which some get a minus; an experiment of the student's own."""

from attention_questions.prelude import Question, kind, numbers, same
from coursegrade.kit.experiment import experiment

from . import solution

WEIGHTS, PRO, CONTRA = numbers("0.25 0.5 0.125 0.375 0.0625 0.4375  0 2 0 3 5.5 3.5  3 3 0 1 7 6", 3, 6)
TIED = numbers("2 1 2 1 2 1 2 1  0 0 0 0 0 0 1 0  1 1 1 1 1 1 1 1", 3, 8).repeat(1, 3) / 8

with_sides = Question(solution.with_sides, (1, 2), {
    "six words, at most two": (WEIGHTS, PRO, CONTRA, 2), "fewer than may": (WEIGHTS, PRO, CONTRA, 5),
    "24 words with ties": (*TIED, 4), "more ties, double precision": (*TIED.double(), 2),
    "none": (WEIGHTS, PRO, CONTRA, 0), "no word against": (WEIGHTS, PRO + CONTRA, PRO, 3)},
    returns="weights (n,)",
    otherwise="By hand: cross out the words that have no more in contra than in pro. Of the others, which have the "
              "largest weights, and how many of these may get a minus?",
    hints={r"(fewer than may|no word against)[\s\S]*IndexError|selected index k out of range":
               "`most` may be larger than the number of words that qualify: a slice, `order[:most]`, takes them all."},
    promises={"none of their entries is negative": lambda weights, pro, contra, most: (
                  min(weights.min(), pro.min(), contra.min()) >= 0),
              "whole number, 0 or more": lambda weights, pro, contra, most: type(most) is int and most >= 0},
    why="The words are sorted before they are chosen, so that `[:most]` does the rest, whatever `most` is. All sizes "
        "stay as they were, so only the sides can make a difference.")
TIES = ("Of equal weights the earlier word comes first. `argsort` promises that only with stable=True, `topk` and "
        "NumPy's argsort do not; and a list that is sorted upwards and turned round begins with the *later* one.")
UNFIT = "There is a minus before a word that has no more in contra than in pro."
MANY = "Too many words have a minus: only those with more in contra than in pro, and at most `most` of them."
FEW = "Too few words have a minus: `most` of those with more in contra than in pro, or all of them if they are fewer."
SIZES = "Sizes have changed. Every weight stays as large as it was; only its sign may be another one."
CHOSEN = "[j for j in order if contra[j] > pro[j]][:most]"
with_sides.mistakes(
    (TIES, "weights.argsort(descending=True, stable=True) → weights.argsort(stable=True).flip(0)"),
    ("The largest weights were taken first, and then those of them that qualify. Choose among the words that have more "
     "in contra than in pro.", f"{CHOSEN} → [j for j in order[:most] if contra[j] > pro[j]]"),
    ("The question *more contra than pro?* was asked in the order of the text, and used on the sorted list. Ask the "
     "words in the order of the list: `(contra > pro)[order]`.",
     f"{CHOSEN} → [j for j, against in zip(order, contra > pro) if against][:most]"),
    ("Those are places among the words that qualify, not places in the text. `(contra > pro).nonzero()` says where "
     "the words that qualify stand in the text.",
     f"{CHOSEN} → weights[contra > pro].argsort(descending=True, stable=True)[:most]"),
    ("If more words qualify than may, the largest weights were taken first, and then those of them that qualify. "
     "Choose among the words that have more in contra than in pro.",
     f"{CHOSEN} → [j for j in (order[:most] if (contra > pro).sum() > most else order) if contra[j] > pro[j]]"),
    ("All words with more contra than pro have a minus. At most `most` of them get one.", "[:most] → "),
    ("The smallest weights were taken first.", "descending=True → descending=False"),
    ("The words were taken as they stand in the text. Those with the largest weights come first.",
     "in order → in range(len(weights))"),
    ("The words with the most contra were taken first. It is the weights that decide who is first.",
     "weights.argsort → contra.argsort"),
    ("The words with the largest contra − pro were taken first. It is the weights that decide who is first.",
     "weights.argsort → (contra - pro).argsort"),
    ("The minus stands before words that have more in pro. It belongs to those with more in contra.",
     "contra[j] > pro[j] → pro[j] > contra[j]"),
    ("A word that has as much in both maps gets no minus.", "contra[j] > pro[j] → contra[j] >= pro[j]"),
    ("It is `most` that says how many, and not a third of the words.", "[:most] → [:len(weights) // 3]"),
    ("Chosen words are 0 here. They keep their size and get a minus.", "= -1 → = 0"),
    ("These are the signs. They stand before the weights.", "weights * signs → signs"),
    ("These are the places of the words. Return the weights, with a minus at these places.",
     "weights * signs → torch.tensor(chosen)"),
    ("Only the chosen words came back. Return all n weights.", "weights * signs → -weights[chosen]"),
    ("The weights came back in another order. Each stays at its place.", "weights * signs → (weights * signs)[order]"),
    ("Every word got a minus but the chosen ones.", "weights * signs → -weights * signs"),
    ("`contra` counts here by its size alone. A word qualifies if it has more in contra than in *pro*.",
     "contra[j] > pro[j] → contra[j] > 0"),
    (MANY, "[:most] → [:most + 1]"), (FEW, "[:most] → [:max(most - 1, 0)]"),
    (SIZES, "weights * signs → weights * signs / weights.sum()"))


@with_sides.suspect
def _(got, weights, pro, contra, most):
    if kind(got) != "a tensor":
        yield (f"What came back is {kind(got)}, and a tensor is due. `torch.tensor(…, dtype=weights.dtype)` makes one "
               "of a list or an array.")
    right = solution.with_sides(weights, pro, contra, most)
    if got.shape == right.shape and got.dtype == right.dtype:
        if not same(got.abs(), weights):
            yield SIZES
        elif ((got < 0) & (contra <= pro)).any():
            yield UNFIT
        minus, due = weights[got < 0].sort()[0], weights[right < 0].sort()[0]
        if len(minus) != len(due):
            yield MANY if len(minus) > len(due) else FEW
        if same(minus, due):
            yield TIES


my_experiment = experiment(
    solution.my_experiment, (2, 0),
    why="The course gives the minuses to as many words drawn at random: sizes and number stay, only the side is lost. "
        "Yours may be another; what makes it good is that one thing changes, and that the prediction could fail.")
