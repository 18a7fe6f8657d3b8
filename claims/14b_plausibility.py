"""What lecture 14b says, run again: other reviews, seeds and columns of noise, and further trainings of its models."""

from functools import cache
from math import inf

import numpy as np

from coursekit import compare, evaluate
from coursekit.explain import exact_shapley, lime
from coursekit.models import load_weights
from tools.train_imdb import trained_again
from tools.train_readers import trained_again as reader_again

from . import claim

BOTH = ["tame", "peaky"]
SIXES = range(1, 6)                             # of hand-written reviews; the page's own is 0
OTHERS = "five other sixes of hand-written reviews"
SEEDS = [1, 2]                                  # of further trainings
AGAIN = "two further trainings (python -m tools.train_imdb NAME --seed 1, --seed 2)"


def each(names, runs):
    """The runs [name, run] of every name with every run."""
    return [[name, run] for name in names for run in runs]


def six(page, i):
    """The words of six reviews."""
    return page.everything[6 * i:6 * i + 6]


def model_of(page, name, seed=0):
    """A model of the page, or a further training of it."""
    return trained_again(f"imdb-{name}", seed) if seed else page.models[name]


# Asked twice

@cache
def stable(page, name, i, seed=0):
    """(4, 3): spread, VSI and CSI of LIME with 60, 100, 300 and 1000 samples."""
    return np.array([page.asked_again(model_of(page, name, seed), six(page, i), page.ASKED[f"LIME, {n}"])
                     for n in (60, 100, 300, 1000)])


@claim("14b.1", "more samples, more consistent, on both models", runs=each(BOTH, SIXES),
       over=f"spread falls and VSI rises from 60 to 1000 samples; {OTHERS}, two models")
def more_samples(page, run):
    spread, vsi, _ = stable(page, *run).T
    return bool((np.diff(spread) < 0).all() and vsi[-1] > vsi[0])


@claim("14b.2", "by the spread the peaky one needs more", runs=SIXES, here=0, between=(1, inf), over="spread on "
       f"imdb-peaky by that on imdb-tame, the lowest of four numbers of samples; {OTHERS}")
def peaky_needs_more(page, i):
    return min(stable(page, "peaky", i)[:, 0] / stable(page, "tame", i)[:, 0])


@claim("14b.3", "from 100 samples on it changes by less than .1", runs=each(BOTH, SIXES), between=(0, 0.1),
       over=f"CSI, highest less lowest of 100, 300 and 1000 samples; {OTHERS}, two models")
def honest_bars(page, run):
    return np.ptp(stable(page, *run)[1:, 2])


# The same function

@claim("14b.4", "The idle head changes attention. All else stays, in other reviews, too.", runs=range(6, 16), here=0,
       over="changes above .001 are of the mean gradient by the rotation and of attention by the idle head; ten others")
def what_a_rewriting_changes(page, i):
    changed = {(who, pair) for who, ask in page.EXPLAINERS.items() for pair, models in page.PAIRS.items()
               if evaluate.implementation_invariance(models, page.everything[i], ask) > 1e-3}
    return changed == {("gradient, mean", "rotated"), ("attention", "an idle head")}


@claim("14b.5", "With another one the same function is explained differently", runs=range(6, 16), here=0,
       between=(0.01, inf), over="LIME with 300 samples, another seed: the change by its size; imdb-tame, ten others")
def another_seed(page, i):
    words = page.everything[i]
    return page.apart(lime(page.tame, words, 300, seed=1).scores, lime(page.tame, words, 300, seed=0).scores)


# Near

@claim("14b.6", "and of a hundred others six at most.", between=(0, 0.06), over="the share of a hundred words of the "
       f"vocabulary, {AGAIN} of both models", runs=each(BOTH, SEEDS), trains=True)
def lonely(page, run):
    return page.with_neighbours(model_of(page, *run), n=100)


# Moved, and made to order

@claim("14b.7", "Behind ten empty words everything changes, the exact values, too: by .3 to .6", runs=each(BOTH, SIXES),
       over=f"the change by their size, {OTHERS}, two models", between=(0.3, 0.6))
def moved(page, run):
    return np.mean([page.moved(page.models[run[0]], exact_shapley, words) for words in six(page, run[1])])


@claim("14b.8", "it multiplies by where the words lie, and that is what the shift changes.", runs=range(2, 12), here=1,
       over="ten other shifts, by half, once and twice the size: gradient × e changes by .05 or more, the three others "
       "by less than .001")
def the_shift(page, seed):
    other, words = page.shifted(page.tame, (0.5, 1, 2)[seed % 3], seed), page.everything[seed]
    change = {who: page.apart(ask(other, words).scores, ask(page.tame, words).scores) for who, ask in page.FOUR.items()}
    return bool(change.pop("gradient × e") > 0.05 and max(change.values()) < 1e-3)


@claim("14b.9", "The first fools gradient × (e − h), the second LIME and leave-one-out.", runs=SIXES, here=0,
       over=f"correlation with the words' length above .9, {OTHERS}")
def twins(page, i):
    liars = [page.like_letters(page.carries, page.INSIDE["gradient × (e − h)"], six(page, i)), *[
        page.like_letters(page.on_guard, page.OUTSIDE[who], six(page, i)) for who in ("LIME, 300", "leave-one-out")]]
    return min(liars) > 0.9


@claim("14b.10", "Integrated gradients see through the first", runs=SIXES, here=0, between=(-0.2, 0.2),
       over=f"correlation with the words' length, {OTHERS}")
def not_fooled(page, i):
    return page.like_letters(page.carries, page.INSIDE["integrated gradients"], six(page, i))


@claim("14b.11", "Sampled Shapley values follow it part of the way (.36).", runs=SIXES, here=0, between=(0.2, 0.6),
       over=f"correlation with the words' length, 20 orders, {OTHERS}")
def part_of_the_way(page, i):
    return page.like_letters(page.on_guard, page.OUTSIDE["Shapley, 20 orders"], six(page, i))


# What people would say

TEXTS = range(50, 55)                           # seeds of thirty reviews; the page's is 5
PLAUSIBLE = ("it is as plausible as the truth or more so, by .05 [.00, .09] here, with other reviews and trainings by "
             "−.01 to .13.")


@claim("14b.12", PLAUSIBLE, runs=TEXTS, here=5, between=(-0.01, 0.13), over="AUROC of the list less that of the exact "
       "values, the mean of three readers; five times thirty other reviews")
def list_is_plausible(page, seed):
    return np.mean([page.list_ahead(m, *page.with_marks(30, seed)) for m in page.readers])


@claim("14b.13", PLAUSIBLE, runs=range(3, 8), between=(-0.01, 0.13), trains=True, over="AUROC of the list less that of "
       "the exact values; five further trainings of the reader, seeds 3 to 7, the page's reviews")
def list_is_plausible_again(page, seed):
    return np.mean(page.list_ahead(reader_again("plain", seed), *page.with_marks(30, 5)))


@claim("14b.14", "in these reviews long words are enough.", runs=TEXTS, here=5, between=(0, 1),
       over="AUROC of the words' length less that of three readers' exact values; five times thirty other reviews")
def long_words(page, seed):
    documents, marked = page.with_marks(30, seed)
    exact = [[exact_shapley(m, d) for d in documents] for m in page.readers]
    length, *truth = (evaluate.human_agreement(given, marked).consensus
                      for given in ([page.word_length(None, d) for d in documents], *exact))
    return length - np.mean(truth)


# A winner where there is none

COLUMNS = range(1000, 1500, 100)                # the first of a hundred columns; the page has 0 to 399


@claim("14b.15", "In other hundreds of columns, too, it is more than half, and with eight documents no less.",
       runs=COLUMNS, here=0, over="of five times a hundred other columns, bootstrap: more than half with 24 documents, "
       "and with eight as many or more")
def winners_of_noise(page, first):
    many, few = (page.alarms(n, 100, first)[0] for n in (24, 8))
    return bool(0.5 < many <= few)


@claim("14b.16", "it stays at about 5 %.", runs=COLUMNS, here=0, between=(0, 0.1),
       over="the largest t with eight documents; five times a hundred other columns")
def the_largest_t(page, first):
    return page.alarms(8, 100, first)[3]


# One table

EIGHTS = range(70, 75)                          # seeds of eight reviews


@cache
def table(page, seed):
    """The report on imdb-peaky of eight other reviews, without the steadiness, which costs most."""
    documents, marked = page.with_marks(8, seed)
    return compare.report(page.peaky, documents, page.ROWS, marked, **page.few | dict(n_neighbours=2))


@claim("14b.17", "its comprehensiveness is far behind and told apart", runs=EIGHTS,
       over="attention on imdb-peaky, five times eight other reviews: less than two thirds of the best, p < .05")
def attention_is_behind(page, seed):
    found = table(page, seed)
    mean = {who: np.mean(found.values["comprehensiveness"][i]) for i, who in enumerate(found.names)}
    told = found.differences["attention"]["comprehensiveness"].p < 0.05
    return bool(told and mean["attention"] < max(mean.values()) * 2 / 3)


@claim("14b.18", "and none are sure: reviews differ too much (of five other eights one is sure).", runs=EIGHTS,
       at_least=4, over="AUROC of LIME with 100 samples not told from the best, imdb-peaky, five times eight other "
       "reviews")
def none_are_sure(page, seed):
    return bool(table(page, seed).differences["LIME, 100"]["AUROC"].p >= 0.05)


@claim("14b.21", "(in four of five other eights it is the best as well)", runs=EIGHTS, at_least=4,
       over="attention by AUROC, imdb-peaky, five times eight other reviews")
def attention_is_best(page, seed):
    return table(page, seed).best["AUROC"] == "attention"


@claim("14b.22", "Whoever chooses the column chooses the winner.", runs=EIGHTS, over="the best by AUROC is told from "
       "the best by comprehensiveness, p < .05; imdb-peaky, five times eight other reviews")
def column_chooses(page, seed):
    found = table(page, seed)
    return found.differences[found.best["AUROC"]]["comprehensiveness"].p < 0.05


@claim("14b.19", "Gradient × input is .013 away from the exact values on imdb-peaky, and each eight reviews are sure",
       over="p < .05, five times eight other reviews", runs=EIGHTS)
def sure_of_little(page, seed):
    return bool(table(page, seed).differences["gradient × input"]["distance"].p < 0.05)


# On a real model

@claim("14b.20", "Allowed as many as KernelSHAP, the process was nearer", runs=range(6, 36, 6), here=0,
       between=(15, 18), over="explanations of 18 in which it is nearer, imdb-6layer; five other sixes of reviews")
def the_process_is_nearer(page, first):
    far = page.against_all(load_weights("imdb-6layer"), first)
    return (far[:, 2] < far[:, 1]).sum()
