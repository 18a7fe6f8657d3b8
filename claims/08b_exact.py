"""What lecture 08b says, run again: other reviews and seeds, generated ones, further trainings, other scores."""

from functools import cache
from math import inf

import numpy as np

from coursekit.explain import (
    evaluate_masks,
    exact_interactions,
    exact_lime,
    exact_shapley,
    gp_shapley,
    lime,
    lime_limit,
)
from coursekit.explain.exact import size_law
from coursekit.explain.surrogate import weighted_ridge
from coursekit.worlds import reviews
from tools.train_imdb import trained_again

from . import claim

OTHERS = [i for i in range(64) if i != 6]       # hand-written reviews; the page's own is 6
BOTH = ["tame", "peaky"]
SEEDS = [1, 2]                                  # of further trainings
SIXTEENS = range(1, 6)                          # of reviews: three of the hand-written ones, two generated
QUARTETS = range(1, 6)
AGAIN = "two further trainings (python -m tools.train_imdb NAME --seed 1, --seed 2)"
OTHER_16 = "three other and two generated times 16 reviews"


def each(names, runs):
    """The runs [name, run] of every name with every run."""
    return [[name, run] for name in names for run in runs]


def shipped(page, name):
    """The model of the page."""
    return {"tame": page.tame, "peaky": page.peaky}[name]


@cache
def again(name, seed):
    """A further training of it."""
    return trained_again(f"imdb-{name}", seed)


KEPT = {}                                       # what several claims ask for: each of them has a page of its own


def once(key, make):
    """make(), called the first time that the key is asked for."""
    if key not in KEPT:
        KEPT[key] = make()
    return KEPT[key]


@cache
def documents(page):
    """The words of the hand-written reviews and of 64 generated ones."""
    return [*page.texts, *(page.tame.tokenizer.tokenize(review.text) for review in reviews(64, seed=8))]


def sixteen(page, k, n=16):
    """The k-th n of them."""
    return documents(page)[n * k:n * k + n]


# Two seeds

@claim("08b.1", "The strong words are found by both; the fifth is sometimes a matter of luck", here=6,
       runs=OTHERS[::2], over="words that the top five of two other seeds share, 32 other reviews, imdb-peaky",
       between=(4, 5), at_least=29)
def top_five(page, i):
    return page.two_runs(page.peaky, page.texts[i], (2, 3))[0]


@claim("08b.2", "many small ones have one sign here and another there: in most reviews more than one known word in ten",
       over="the share of known words whose sign differs under two other seeds, 32 other reviews, imdb-peaky",
       runs=OTHERS[::2], here=6, between=(0.1, 1), at_least=17)
def signs_differ(page, i):
    return page.two_runs(page.peaky, page.texts[i], (2, 3))[1]


@claim("08b.3", "in most reviews more than one known word in ten, in two other trainings of this model even more.",
       over=f"the mean share over 32 reviews, {AGAIN} of imdb-peaky", runs=SEEDS, between=(0.17, 0.4), trains=True)
def signs_differ_again(page, seed):
    return np.mean([page.two_runs(again("peaky", seed), words)[1] for words in page.texts[::2]])


@claim("08b.4", "in nearly every other review it is so again.", runs=OTHERS[1::2], here=6, at_least=27,
       over="two other seeds, imdb-peaky, 31 other reviews: both have wrong signs, and not the same ones")
def neither_is_right(page, i):
    words, truth = page.texts[i], exact_lime(page.peaky, page.texts[i]).scores
    a, b = (page.wrong_signs(lime(page.peaky, words, 1000, seed, bow=False).scores, truth, words) for seed in (2, 3))
    return bool(a.any() and b.any() and (a != b).any())


# Exact

@claim("08b.5", "Each halving doubles the number of digits.", runs=[[1, 2], [1, 10], [3, 300], [50, 500], [1, 20_000]],
       over="digits of steps ½ by those of steps 1, five other ranges of D", between=(1.7, 2.6))
def digits_double(page, run):
    one, half = (page.trapezoid(step, np.geomspace(*run, 200)) for step in (1, 0.5))
    return np.log10(half) / np.log10(one)


def ten_words(page, name, i):
    """(model, ten words of another review, all masks, their scores)."""
    model, words, z = shipped(page, name), page.texts[i][5:15], (np.arange(1024)[:, None] >> np.arange(10) & 1) > 0
    return model, words, z, evaluate_masks(model, words, z, by="replace")


@claim("08b.6", "the Shapley values of the score, words being replaced in place, are exact but for rounding.",
       over="ten words of 10 other reviews against all 1024 masks, relative: imdb-tame by the lecture's lines, "
       "imdb-peaky by the library",
       runs=each(BOTH, range(10, 20)), between=(0, 1e-10))
def shapley_is_exact(page, run):
    model, words, _, _ = ten_words(page, *run)
    found = page.shapley_by_hand(model, words) if run[0] == "tame" else exact_shapley(model, words).scores
    return page.off(found, page.shapley_values(model, words).scores)


@claim("08b.7", "Nothing was sampled, and the samples run towards it.", between=(0, 1e-8),
       runs=each(BOTH, range(10, 20)), over="ten words of 10 other reviews, two models: the lecture's "
       "limit against least squares over 1024 masks")
def lime_is_exact(page, run):
    model, words, z, f = ten_words(page, *run)
    kept = z.sum(1)
    weights = size_law(10)[0][kept] / np.bincount(kept)[kept]
    return page.off(page.lime_by_hand(model, words), weighted_ridge(z, f, weights, ridge=0)[0])


@claim("08b.8", "the values add up to the change of the score.", runs=each(BOTH, OTHERS[::3]), between=(0, 1e-10),
       over="the gap in 21 other reviews, two models")
def efficient(page, run):
    phi = exact_shapley(shipped(page, run[0]), page.texts[run[1]])
    return abs(phi.scores.sum() - (phi.about["score"] - phi.about["baseline"]))


# How far are n samples?

def quartet(page, k):
    """Four other reviews."""
    return page.texts[4 * k:4 * k + 4]


@claim("08b.9", "Chance has the slope −½ for all.", runs=each(["lime", "permutations"], QUARTETS), between=(-0.7, -0.4),
       over="the slope of LIME and of permutations on imdb-peaky from 300 to 3000 questions, 5 times 4 other reviews, "
       "two seeds")
def slope_of_chance(page, run):
    sampler, exact, how = {"lime": (lime, exact_lime, {"bow": False}),
                           "permutations": (page.permutations, exact_shapley, {})}[run[0]]
    budgets = (300, 1000, 3000)
    e = page.measure(page.peaky, sampler, exact, quartet(page, run[1]), (3, 4), budgets, **how)
    return page.slope(budgets, e)


@claim("08b.10", "LIME's line on the tame model is steeper, and chance is not the reason", runs=QUARTETS,
       over="its slope from 300 to 3000 samples, 5 times 4 other reviews", between=(-1.3, -0.75))
def steeper(page, k):
    budgets = (300, 1000, 3000)
    return page.slope(budgets, page.measure(page.tame, lime, exact_lime, quartet(page, k), (3, 4), budgets, bow=False))


@claim("08b.11", "without it the same samples are six times as close.", runs=QUARTETS, between=(4, 9),
       over="errors of LIME with by those without its ridge, 300 samples, imdb-tame, 5 times 4 other reviews")
def six_times_as_close(page, k):
    parts = page.parts_of_error(page.tame, quartet(page, k), (3, 4), (300,))
    return parts["ridge 1"][0] / parts["no ridge"][0]


@claim("08b.12", "On the peaky model chance is larger than the bias.", runs=QUARTETS, between=(1.5, inf),
       over="errors without ridge by the bias that it makes, 300 samples, 5 times 4 other reviews")
def chance_is_larger(page, k):
    parts = page.parts_of_error(page.peaky, quartet(page, k), (3, 4), (300,))
    return parts["no ridge"][0] / parts["bias of the ridge"][0]


@claim("08b.13", "On the tame model most of the error at 300 samples is the ridge's", runs=SEEDS, between=(0.5, 1),
       trains=True, over=f"the bias by the error, 8 reviews, {AGAIN} of imdb-tame")
def mostly_the_ridge(page, seed):
    parts = page.parts_of_error(again("tame", seed), page.texts[:8], range(3), (300,))
    return parts["bias of the ridge"][0] / parts["ridge 1"][0]


@claim("08b.14", "the centred formula, which asks none, is off by 0.24 %", runs=OTHERS[::3], median=(0.0012, 0.0048),
       over="21 other reviews, imdb-tame")
def centred_is_off(page, i):
    return page.off(lime_limit(page.tame, page.texts[i], "centred").scores, exact_lime(page.tame, page.texts[i]).scores)


# Which words are noise?

def noise(page, name, k):
    """Wrong signs and so on of 1000 samples, the k-th 16 reviews."""
    return once(("noise", name, k), lambda: page.noise(shipped(page, name), 1000, sixteen(page, k)))


def passed(page, name, k):
    """What is beyond two spreads of five other seeds, the k-th 16 reviews."""
    return once(("passed", name, k), lambda: page.passed(shipped(page, name), sixteen(page, k), range(5, 10)))


def small_ones(page, k):
    """What is within two spreads of a word that cannot matter, eight other reviews, ten other seeds."""
    return once(("small", k), lambda: page.small_ones(page.peaky, sixteen(page, 2 * k, 8), range(10, 20)))


@claim("08b.15", "The ten words that are shown have the right signs nearly always, on both models",
       runs=each(BOTH, SIXTEENS), over=f"the share of wrong ones, 1000 samples, {OTHER_16}", between=(0, 0.015))
def ten_shown(page, run):
    return noise(page, *run)[1]


@claim("08b.16", "15 % with 1000, in other reviews and trainings 10 to 25 %.", runs=SIXTEENS, between=(0.1, 0.25),
       over=f"wrong signs of all words, imdb-peaky, {OTHER_16}")
def all_words(page, k):
    return noise(page, "peaky", k)[0]


@claim("08b.17", "15 % with 1000, in other reviews and trainings 10 to 25 %.", runs=SEEDS, between=(0.1, 0.25),
       over=f"wrong signs of all words, 32 reviews, {AGAIN} of imdb-peaky", trains=True)
def all_words_again(page, seed):
    return page.noise(again("peaky", seed), 1000, page.texts[::2])[0]


@claim("08b.18", "Of the words that pass, at most one in a hundred has the wrong sign, in other reviews and "
       "trainings, too.", runs=each(BOTH, SIXTEENS), between=(0, 0.01),
       over=f"the share, five other seeds, {OTHER_16}, two models")
def words_that_pass(page, run):
    return passed(page, *run)[1]


@claim("08b.19", "Of the words that pass, at most one in a hundred has the wrong sign, in other reviews and "
       "trainings, too.", runs=each(BOTH, SEEDS), between=(0, 0.01), trains=True,
       over=f"the share, 32 reviews, {AGAIN}")
def words_that_pass_again(page, run):
    return page.passed(again(*run), page.texts[::2])[1]


@claim("08b.20", "of the words that do not pass on `imdb-peaky`, one in seven has the wrong sign, elsewhere up to "
       "three in ten.", runs=SIXTEENS, over=f"the share, five other seeds, {OTHER_16}", between=(0.1, 0.3))
def words_that_do_not(page, k):
    return passed(page, "peaky", k)[2]


@claim("08b.21", "a fifth to a third of such signs are wrong", runs=SIXTEENS, between=(0.2, 0.34),
       over="five times eight other reviews, ten other seeds, imdb-peaky")
def small_and_wrong(page, k):
    return small_ones(page, k)[4]


@claim("08b.22", "On the peaky model half of what single runs say is", runs=SIXTEENS, between=(0.4, 0.6),
       over="the share within two spreads of the added word, five times eight other reviews, ten other seeds")
def half_is_small(page, k):
    return small_ones(page, k)[3]


# What decisions move

@claim("08b.23", "**Deleting** in place of replacing is the largest change on both models",
       runs=each(BOTH, range(1, 4)), over="by how much the next is smaller, three times ten other reviews",
       between=(1.2, inf))
def deletion_moves_most(page, run):
    found = page.moves(shipped(page, run[0]), documents(page)[10 * run[1]:10 * run[1] + 10])
    return found["delete"] / max(found[change] for change in page.CHANGES if change != "delete")


@claim("08b.24", "On the peaky model deletion and the kernel move it by several seeds, but the other word by about one",
       over=f"deletion and no kernel by 3 or more, the other word by .5 to 2, 20 reviews, {AGAIN} of imdb-peaky",
       runs=SEEDS, trains=True)
def moved_by_seeds(page, seed):
    found = page.moves(again("peaky", seed), page.texts[10:30])
    word, kernel, gone = (found[change] / found["another seed, n = 5000"]
                          for change in ("“the” for [UNK]", "no kernel", "delete"))
    return bool(min(kernel, gone) > 3 and 0.5 < word < 2)


@claim("08b.25", "in most other reviews the word that differs most gets less as one feature than its places do in sum.",
       over="the 40 other reviews with repeated words among the first 41, imdb-peaky", at_least=21,
       runs=[i for i in range(41) if i != 26], here=26)
def less_as_one(page, i):
    words = page.texts[i]
    together, places = exact_lime(page.peaky, words, features="words"), exact_lime(page.peaky, words)
    summed = np.array([sum(s for w, s in places if w == word) for word in together.tokens])
    j = abs(together.scores - summed).argmax()
    return bool(abs(together.scores[j]) < abs(summed[j]))


def weakened(model, words):
    """Share of pairs of one sign, both beyond .03, that weaken each other; interactions by values, in sum."""
    I, phi = exact_interactions(model, words), exact_shapley(model, words).scores
    clear = (abs(phi) > 0.03) & (abs(phi) > 0.03)[:, None] & (np.outer(phi, phi) > 0) & ~np.eye(len(phi), dtype=bool)
    return ((I * phi)[clear] < 0).mean(), abs(I).sum() / 2 / abs(phi).sum()


@claim("08b.26", "Two words of one sign weaken each other, in nine of ten pairs of clear words or more",
       runs=each(BOTH, SIXTEENS), over=f"the share of pairs, {OTHER_16}, two models", between=(0.9, 1))
def pairs_weaken(page, run):
    return np.mean([weakened(shipped(page, run[0]), words)[0] for words in sixteen(page, run[1])])


@claim("08b.27", "on the peaky model they are in sum half as large as the values or more", runs=SIXTEENS,
       over=f"the mean, {OTHER_16}", between=(0.5, 1.2))
def half_as_large(page, k):
    return np.mean([weakened(page.peaky, words)[1] for words in sixteen(page, k)])


# Six layers

@claim("08b.28", "those of any even function are 0.", runs=range(5), over="five functions drawn by lot, and five even "
       "parts added to others: the largest change of a Shapley value", between=(0, 1e-9))
def odd_part_counts(page, seed):
    half, f = np.random.default_rng(seed).normal(size=(2, 4096))
    even = (half + half[::-1]) / 2
    return max(abs(page.shapley_of(even)).max(), abs(page.shapley_of(f + even) - page.shapley_of(f)).max())


OTHER_TEXTS = [30, 31, 33, 35, 40, 42, 44, 50, 55, 60]      # twelve words of each


def twelve(page, i):
    """(twelve words of another review, the scores of all masks)."""
    words = page.texts[i][10:22]
    return words, once(("table", i), lambda: page.table_of(words))


@claim("08b.29", "The formula roughly tells which texts gain, and in other texts how much.",
       runs=OTHER_TEXTS, between=(0.4, 2.5), over="measured by predicted, ten other texts")
def formula_of_pairs(page, i):
    f = twelve(page, i)[1]
    singly, paired = (page.costs_of(method, f, range(10, 16)) for method in (page.singly, page.in_pairs))
    return np.exp(np.log((singly / paired) ** 2).mean()) / page.worth_of_a_pair(f)[2]


@claim("08b.30", "after 128 questions its error is in most texts smaller than that of the line in pairs after 1024.",
       over="the process' error by the line's, ten other texts", runs=OTHER_TEXTS, between=(0, 1),
       at_least=6)
def process_against_line(page, i):
    words, f = twelve(page, i)
    line, t = page.costs_of(page.in_pairs, f, range(5))[-1], page.shapley_of(f)
    return np.mean([page.off(gp_shapley(page.box(f), words, 128, seed=s).scores, t) for s in range(5)]) / line


@claim("08b.31", "there the process is off by less than 5 %", runs=OTHER_TEXTS, between=(0, 0.05),
       over="the process' error after 64 questions, ten other texts, mean of five seeds")
def below_five_percent(page, i):
    words, f = twelve(page, i)
    t = page.shapley_of(f)
    return np.mean([page.off(gp_shapley(page.box(f), words, 64, seed=s).scores, t) for s in range(5)])


@claim("08b.32", "both are right about each, in ten other texts about all but one", runs=OTHER_TEXTS, between=(0, 1),
       over="wrong signs that are called clear after 32 and 64 questions, ten other texts, five seeds")
def clear_signs(page, i):
    words, f = twelve(page, i)
    runs = [page.judged(words, f, n, seed) for n in (32, 64) for seed in range(5, 10)]
    return sum((clear & wrong).sum() for _, clear, wrong in runs)


@claim("08b.33", "On these texts, where the score is no step, the bars hold what they promise.", runs=OTHER_TEXTS,
       over="the share of bars of 90 % that hold after 64 questions, ten other texts, five seeds", between=(0.75, 1))
def bars_hold(page, i):
    words, f = twelve(page, i)
    return np.mean([page.judged(words, f, 64, seed)[0].mean() for seed in range(5, 10)])


@claim("08b.34", "Scores by lot are always caught, a **majority not always**", runs=range(20, 25),
       over="five times ten other seeds: by lot every run warns, with a majority some do")
def caught(page, k):
    step = (page.M.sum(1) > 6) * 1.0
    lots = [page.of_bars(np.random.default_rng(seed).normal(size=4096), seed)[3] for seed in range(10 * k, 10 * k + 10)]
    steps = [page.of_bars(step, seed)[3] for seed in range(10 * k, 10 * k + 10)]
    return all(lots) and 0 < np.mean(steps) < 1


@claim("08b.35", "it may seem well predicted, and most bars are too short.", runs=range(20, 25), between=(0, 0.5),
       over="the share of bars of 90 % that hold on a majority, five times ten other seeds")
def short_bars(page, k):
    step = (page.M.sum(1) > 6) * 1.0
    return np.mean([page.of_bars(step, seed)[1] for seed in range(10 * k, 10 * k + 10)])
