"""Checks of assignment 11 on what a mix aI + b11ᵀ holds: reading the count off it, and three mixes that are one; and on
what lies between two minima of a loss."""

from attention_questions.prelude import Question, kind, np
from coursekit.worlds.histogram import LETTERS, T

from . import solution
from .maps import softmax

# -- decode ----------------------------------------------------------------------------------------------------------

def _case(ids, ratio, noise, seed=0):
    """Mixes (n·T, D) of words ids (n, T) over five letters, a of the own letter and b of each, with noise · b; a; b."""
    E, b = np.eye(5)[ids], 1 / (len(ids[0]) + ratio)
    U = ratio * b * E + b * E.sum(1, keepdims=True) + noise * b * np.random.default_rng(seed).normal(size=E.shape)
    return U.reshape(-1, 5), ratio * b, b


decode = Question(solution.decode, (2, 2), {
    "a word, no noise": _case([[2, 0, 4, 0, 1, 0]], 5.5, 0.0),
    "the own letter is not the loudest": _case([[2, 0, 0, 0, 0, 0], [1, 1, 3, 3, 3, 3]], 1.5, 0.1),
    "some noise": _case([[2, 0, 4, 0, 1, 0], [3, 3, 3, 1, 3, 3]], 6.25, 0.2, 1),
    "a small ratio, and noise": _case([[0, 0, 1, 2, 2, 3], [4, 4, 4, 4, 2, 1]], 0.3, 0.25, 1)},
    why="For a given own letter each count is chosen on its own, by rounding. So D tries are enough, and which try was "
        "right is told by all D numbers together.",
    returns="letters (n,), counts (n,)",
    otherwise="Take the first mix, less a at letter k, divided by b: for which k are all five numbers whole?",
    hints={"broadcast|shapes": "One letter k after the other will do: then all arrays have the shape (n, D)."})

FAR, WHOLE = "((V - C) ** 2).sum(-1)", "np.maximum(np.round(V), I)"
decode.mistakes(
    ("The letter that is loudest in the mix need not be the own one: another that occurs often may be louder. For "
     "which letter do *all* numbers become whole?", f"{FAR}.argmin(1) → U.argmax(1)"),
    ("Only the own letter's number was looked at. All of them have to be near whole numbers.",
     f"{FAR} → (np.einsum('nkk->nk', V - C) ** 2)"),
    ("Only the own letter's number was looked at. All of them have to be near whole numbers.",
     f"{FAR} → (np.einsum('nkk->nk', V - np.round(V)) ** 2)"),
    ("The count still has a in it: take a away at the own letter, then divide by b.",
     "C[np.arange(len(U)), letters, letters] → np.round(U[np.arange(len(U)), letters] / b)"),
    ("The nearest whole number is due, and these are rounded down.", "np.round → np.floor"),
    ("The own letter occurs: once at least. Here some have the count 0.", f"{WHOLE} → np.maximum(np.round(V), 0)"),
    ("The own letter occurs, so its count is not negative, and not 0: the nearest whole number from 1 on is due.",
     f"{WHOLE} → np.round(V)"),
    ("a/b belongs to the mix *over b*: from the mix itself take a away, then divide by b.", "a * I) → a / b * I)"),
    *(("At the second letter, a was missing at the first one as well: each letter begins with the mix as it was given. "
       "`V = U` is no copy; make one inside of the loop: `V = U.copy()`.",
       "a * I) → a * np.tril(np.ones_like(I)))", *more)
      for more in ([], [f"{WHOLE} → np.where(I, np.maximum(np.round(V), 1), np.round(V))"],
                   [f"{WHOLE} → np.maximum(np.round(V), 0)"])),
    ("One letter for all mixes: the distance was summed over all of them. Each mix has its own.",
     f"{FAR}.argmin(1) → np.full(len(U), ((V - C) ** 2).sum((0, 2)).argmin())"),
    ("The nearest whole number is due, and these are rounded up.", "np.round → np.ceil"),
    ("The mix was not divided by b, or its counts would be near whole numbers.", " / b → "),
    ("b is a factor of the counts alone: take a away first, and divide by b afterwards.",
     "(U[:, None] - a * I) / b → U[:, None] / b - a * I"),
    ("a is still in it: for each letter that is tried, take a away at that letter.", " - a * I → + 0 * I"),
    ("a was taken away at all letters. The own letter alone has it.", "a * I → a"),
    ("That letter is the *farthest*: the smallest distance is due.", "argmin → argmax"),
    ("What is too much and what is too little make up for each other here. Square each difference before the sum.",
     f"{FAR} → (V - C).sum(-1)"),
    ("The distance is squared: how far each number is off, squared, then summed.", f"{FAR} → abs(V - C).sum(-1)"),
    ("All letters are in the distance, not the one alone that is farthest off.", f"{FAR} → abs(V - C).max(-1)"))


@decode.suspect
def _(got, U, a, b):
    letters, counts = solution.decode(U, a, b)
    if np.array_equal(got[0], letters + 1):
        yield "A letter is the number of its column, and columns are numbered from 0."
    if np.array_equal(got[0], letters) and not np.array_equal(got[1], counts):
        yield "The letters are right and the counts are not: a count is the own letter's whole number."


# -- triplets --------------------------------------------------------------------------------------------------------

triplets = Question(solution.triplets, (2, 0), {"your words": ()},
    why="The sum of the three numbers is 12: ten letters, and 2. Of three different ones, each at least 3, only 3, 4 "
        "and 5 add up to that; the rest is spelling.",
    otherwise="Write the mixes as lists of numbers, in units of b: each letter's count, and 2 more for the own one. "
              "The list is to stay; the 2 moves. What is the count of the letter that it moves to?")


@triplets.judge
def _(got):
    if not (type(got) in (tuple, list) and len(got) == 4 and kind(got[3]) == "a whole number" and 0 <= got[3] < T
            and all(type(word) in (str, np.str_) and len(word) == T and {*word} <= {*LETTERS} for word in got[:3])):
        yield (f"three words of {T} letters out of {LETTERS} and a place from 0 to {T - 1} are due",
               f"Return three strings of {T} letters out of {LETTERS}, and a whole number from 0 to {T - 1}.")
    *words, place = got
    ids = np.array([[LETTERS.index(letter) for letter in word] for word in words])
    E, own = np.eye(len(LETTERS))[ids], ids[:, place]                   # (3, T, D), (3,)
    mixes = 2 * E[:, place] + E.sum(1)                                  # a = 2b, in units of b
    apart = max(float(np.linalg.norm(mixes[i] - mixes[i - 1])) for i in range(3))
    counts = (ids == own[:, None]).sum(1).tolist()
    advice = ("With the same own letter the numbers of the mix are the counts, and 2 more on one of them: one mix, "
              "one count. All three own letters have to differ.") if len({*own}) < 3 else None
    if apart > 1e-9:
        yield f"the mixes are up to {apart:.2f} b apart (counts {counts}); they are to be the same", advice
    if len({*counts}) < 3:
        yield f"the mixes are the same, and the counts are {counts}; all three are to differ", advice or (
            "One mix: that is it. The due counts are the mix's numbers at the three own letters, less 2: these three "
            "numbers have to differ, and all numbers together have a sum that you know.")


# -- barrier ---------------------------------------------------------------------------------------------------------

def _students(n, d, seed, turned, lam=0.05, t=(0.0, 0.25, 0.5, 0.75, 1.0)):
    """Two students on one side of 0 or on opposite ones, sequences x (n, 2, d), targets (n, 2, d) of some teacher."""
    Q0, Q1 = np.random.default_rng(seed).normal(size=(2, d))
    Q1 = Q1 * np.sign(Q0 @ Q1) * (-1 if turned else 1)
    random = np.random.default_rng(seed)
    x, teacher = random.normal(size=(n, 2, d)), random.normal(size=d)
    g = x @ teacher / np.sqrt(d)                                        # (n, 2)
    return Q0, Q1, x, softmax(g[:, :, None] * g[:, None]) @ x, lam, np.array(t)


barrier = Question(solution.barrier, (1, 0), {
    "one side": _students(6, 4, 0, False), "opposite sides": _students(8, 5, 1, True),
    "no penalty, and uneven steps": _students(7, 3, 11, True, lam=0.0, t=(0.0, 0.1, 0.3, 0.8, 1.0)),
    "only the ends": _students(5, 4, 3, False, t=(0.0, 1.0))},
    promises={"that begins with 0 and ends with 1": lambda Q0, Q1, x, y, lam, t: t[0] == 0 and t[-1] == 1},
    why="The loss at one Q is a function of its own, so that it can be tried on the example. Without turning Q₁ round, "
        "two equal students would have a barrier between them.",
    returns="losses (m,), height", tolerance=(1e-6, 1e-9),
    forbidden=("coursekit.worlds.teacher.minimise",), instead="the formula",
    otherwise="Take the first t, 0: then Q is Q₀. Compute the four numbers of the first sequence's attention, its two "
              "outputs, and the sum of squares of what is left, one after the other.",
    hints={"matmul|shapes|dimension": "x is (n, 2, d) and Q (d,): x @ Q is (n, 2), one number g for each token. The "
                                      "scores are (n, 2, 2), and the weights times x (n, 2, d)."})
barrier.mistakes(
    ("Q and −Q give the same outputs, and their midpoint is 0. Turn Q₁ round where Q₀·Q₁ is negative, or the path "
     "leads past 0.", "-Q1 if Q0 @ Q1 < 0 else Q1 → Q1"),
    ("The penalty λ/2 ‖Q‖² is missing.", " + lam / 2 * Q @ Q → "),
    ("The penalty is λ/2 ‖Q‖²: the half is missing.", "lam / 2 → lam"),
    ("Each g is x·Q over √d. It was divided by d.", "np.sqrt(d) → d"),
    ("A score is a product of two g, and each g is x·Q over √d: these scores are too large.", " / np.sqrt(d) → "),
    ("A score is a product of two g, and each has a √d: the scores were divided by √d only once.",
     " / np.sqrt(d) → ", "g[:, None]) → g[:, None] / np.sqrt(d))"),
    ("The squares are divided by d and not by 2d.", "(2 * d) → d"),
    ("That is a mean over the sequences. In the formula they are added up.",
     "(off ** 2).sum() → (off ** 2).sum() / len(x)"),
    ("That is the loss itself. It is asked for per d: divided by d once more.", "Q @ Q) / d → Q @ Q)"),
    ("The softmax runs over the wrong axis: the weights of *each token* add up to 1, row by row.",
     "e.sum(-1 → e.sum(1"),
    ("The height is that of the middle. The largest loss may lie anywhere on the way.",
     "float(losses.max() - max(losses[0], losses[-1])) → "
     "max(float(losses[len(losses) // 2] - max(losses[0], losses[-1])), 0.0)"),
    ("The height is measured from the lower end. A barrier is what rises above both.",
     "max(losses[0], losses[-1]) → min(losses[0], losses[-1])"),
    ("The height is measured from the mean of the ends. A barrier is what rises above both.",
     "max(losses[0], losses[-1]) → (losses[0] + losses[-1]) / 2"))
