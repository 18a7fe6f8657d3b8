"""What lecture 11 says, run again: other sequences, other trainings, other draws of the solvable model."""

from functools import cache
from itertools import combinations
from math import inf

import numpy as np
import torch

from coursekit.evaluate import map_distance
from coursekit.worlds import teacher
from coursekit.worlds.histogram import accuracy_by_count, counts, encode, nearest_ab, sample
from tools.train_worlds import histogram_again

from . import claim

SAMPLES = range(1, 11)                                  # seeds of other sequences: the page's are 99
SEEDS = range(3, 8)                                     # of other trainings; the page's own are 0, 1 and 2
OTHER = "ten other samples of 2000 sequences"
AGAIN = "five other trainings, seeds 3 to 7 (tools.train_worlds.histogram_again)"
PAGES = "; the page's sequences"


def both(page):
    """The page's uniform and balanced sequences."""
    return [sample(2000, kind, seed=99) for kind in ("uniform", "balanced")]


def swapped(page, model, ids):
    """With the map of the sequence before: shares that say the own count, the lender's."""
    said, n = model.predict(ids, model.attention(ids).roll(1, 0)), counts(ids)
    return [(said == truth).double().mean().item() for truth in (n, n.roll(1, 0))]


def shipped(page, kind):
    """Three models of a kind."""
    return [page.load(kind, seed) for seed in range(3)]


# One accuracy, two maps

@claim("11.1", "On balanced ones any constant answer is right for about a tenth.", between=(0.08, 0.12),
       over="each of the ten constants, two other samples of 2000 sequences",
       runs=[[count, seed] for count in range(1, 11) for seed in (1, 2)])
def constant(page, run):
    return (counts(sample(2000, "balanced", run[1])) == run[0]).double().mean()


@claim("11.2", "All six are right at 96 % or more of the tokens of every count", between=(0.96, 1), runs=SAMPLES,
       over="the worst count of the six models, " + OTHER)
def six_count(page, seed):
    ids = sample(2000, "balanced", seed)
    return min(accuracy_by_count(model, ids).min().item() for kind in page.KINDS for model in shipped(page, kind))


@claim("11.3", "On two thousand new sequences of random letters neither makes a mistake", between=(0.9999, 1),
       over="the lower accuracy of a positional and a semantic model, " + AGAIN + PAGES, runs=SEEDS, trains=True)
def neither_errs(page, seed):
    return min(page.right(histogram_again(kind, seed), both(page)[0]) for kind in page.KINDS)


@claim("11.4", "Attention: about .5, which is chance (positional), and 1 (semantic). Occlusion: 1 for both.",
       trains=True,
       over="attention .4 to .6, more than .99, occlusion more than .99; " + AGAIN, runs=SEEDS)
def needed_and_shown(page, seed):
    ids = both(page)[0][:60]
    (one, need), (other, other_need) = (page.shown(histogram_again(kind, seed), ids)[:2] for kind in page.KINDS)
    return 0.4 < one < 0.6 and min(other, need, other_need) > 0.99


@claim("11.5", "Three seeds of one kind are near each other, and the two kinds are far apart", trains=True,
       over="of one kind at most .1, of two at least .3; the pairs of five other trainings",
       runs=list(combinations(SEEDS, 2)))
def two_kinds(page, pair):
    ids = both(page)[1][:200]
    maps = [[histogram_again(kind, seed).attention(ids) for seed in pair] for kind in page.KINDS]
    across = min(map_distance(one, other) for one in maps[0] for other in maps[1])
    return max(map_distance(*of_a_kind) for of_a_kind in maps) <= 0.1 and across >= 0.3


# The swap test

@claim("11.6", "These three fall below .54", over="the best of three, " + OTHER, runs=SAMPLES, between=(0, 0.54))
def swapped_below(page, seed):
    return max(swapped(page, model, sample(2000, seed=seed))[0] for model in shipped(page, "semantic"))


@claim("11.7", "With other starts three of five do the same.", over="swapped, " + AGAIN + PAGES, runs=SEEDS,
       between=(0, 0.54), at_least=3, trains=True)
def swapped_below_again(page, seed):
    return swapped(page, histogram_again("semantic", seed), both(page)[0])[0]


@claim("11.8", "with a lent map they mostly say the *lender's* counts", over="the least of three, " + OTHER,
       runs=SAMPLES, between=(0.75, 1))
def says_the_lenders(page, seed):
    return min(swapped(page, model, sample(2000, seed=seed))[1] for model in shipped(page, "semantic"))


@claim("11.9", "no other start is right more often than at .57.", over="swapped, " + AGAIN + PAGES, runs=SEEDS,
       between=(0, 0.57), trains=True)
def swapped_fails(page, seed):
    return swapped(page, histogram_again("semantic", seed), both(page)[0])[0]


@claim("11.10", "The semantic map does not say *which* letters there are, only which places hold the same one.",
       over="right with the map of the same sequence in other letters, the least of three models; " + OTHER,
       runs=SAMPLES, between=(0.95, 1))
def other_letters(page, seed):
    ids = sample(2000, "balanced", seed)
    renamed = torch.from_numpy(np.random.default_rng(seed).permutation(15))[ids]
    return min(page.right(model, ids, model.attention(renamed)) for model in shipped(page, "semantic"))


# Why the positional map counts

@claim("11.11", "With the fit in place of the real map the models count nearly as well as before.", trains=True,
       over="by so much worse, " + AGAIN + PAGES, runs=SEEDS, between=(-0.01, 0.02))
def two_numbers(page, seed):
    model, ids = histogram_again("positional", seed), both(page)[1]
    a, b = nearest_ab(model.attention(ids[:1])[0])
    return page.right(model, ids) - page.right(model, ids, a * torch.eye(10) + b)


@claim("11.12", "They learned with $r \\approx 8.2$.", over="a/b, " + AGAIN, runs=SEEDS, between=(8, 8.5), trains=True)
def ratio(page, seed):
    a, b = nearest_ab(histogram_again("positional", seed).attention(encode("DATAIAIAIA"))[0])
    return a / b


@claim("11.13", "if and only if $r$ is not one of the whole numbers", over="lengths 4 to 14: every r from 0 to T in "
       "steps of a half, by trying all cases", runs=[T for T in range(4, 15) if T != 10], here=10)
def whole_numbers(page, T):
    return [r for r in np.arange(0, T, 0.5) if page.unclear(r, T)] == list(range(T - 2))


@claim("11.14", "From 6 down, and at 12; at 10 they are still above half.", over=AGAIN + PAGES, runs=SEEDS, trains=True)
def other_ratios(page, seed):
    model, ids = histogram_again("positional", seed), both(page)[1]
    right = {r: page.right(model, ids, (r * torch.eye(10) + 1) / (r + 10)) for r in (3, 6, 7, 9, 10, 12)}
    return max(right[r] for r in (3, 6, 12)) < 0.5 < min(right[r] for r in (7, 9, 10))


# Softness

@claim("11.15", "One $w$ per model describes its attention.", runs=SEEDS, between=(0, 0.03), trains=True,
       over="the largest difference of the mean weight on equal letters from the formula, " + AGAIN + PAGES)
def one_w(page, seed):
    ids = both(page)[1]
    own, w = page.own_mass(histogram_again("semantic", seed), ids)
    return max(abs(own[counts(ids) == c].mean().item() - c * w / (c * w + 10 - c)) for c in range(1, 10))


@claim("11.16", "most is lost, as the formula says", over="hardened semantic models, " + AGAIN + PAGES, runs=SEEDS,
       between=(0, 0.4), trains=True)
def softness_lost(page, seed):
    model, ids = histogram_again("semantic", seed), both(page)[1]
    return page.right(model, ids, page.hardened(model, ids))


@claim("11.17", "of five others four count like these", runs=SEEDS,
       over="the lower accuracy of uniform and balanced sequences, " + AGAIN, between=(0.9995, 1), at_least=4,
       trains=True)
def hard_ones_count(page, seed):
    return min(page.right(histogram_again("hard", seed), ids) for ids in both(page))


@claim("11.18", "Their own, always: the letters' half tells them nothing.", runs=SEEDS, between=(0.98, 1), trains=True,
       over="hard models: the own count with the letters' half lent, " + AGAIN + PAGES)
def hard_read_places(page, seed):
    return page.whose(histogram_again("hard", seed), both(page)[1])[0]


@claim("11.19", "*Positional* models say what the **letters'** half says, though their attention sees places only.",
       over="positional models: the lender's count with the letters' half lent, " + AGAIN + PAGES, runs=SEEDS,
       between=(0.98, 1), trains=True)
def positional_read_letters(page, seed):
    return page.whose(histogram_again("positional", seed), both(page)[1])[1]


@claim("11.20", "the *semantic* models of section 3 read **both** halves: neither alone decides", runs=SEEDS,
       between=(0.2, 0.9), trains=True,
       over="semantic models: the larger share that one half brings, " + AGAIN + PAGES)
def both_halves(page, seed):
    _, letters, _, places = page.whose(histogram_again("semantic", seed), both(page)[1])
    return max(letters, places)


@claim("11.21", "the letters' half weighs more in each of five other starts", runs=SEEDS, between=(0.2, 1), trains=True,
       over="semantic models: by so much more than the places' half, " + AGAIN + PAGES)
def letters_weigh_more(page, seed):
    _, letters, _, places = page.whose(histogram_again("semantic", seed), both(page)[1])
    return letters - places


@claim("11.22", "the hardened models of the last table are no better than a constant answer", runs=SEEDS, trains=True,
       over="letters alone, hardened, " + AGAIN + PAGES, between=(0, 0.12))
def hard_letters_fail(page, seed):
    model, ids = histogram_again("letters", seed), both(page)[1]
    return page.right(model, ids, page.hardened(model, ids))


# Minima?

@cache
def saddle(page, kind, seed):
    """The mean bend on fresh sequences: in the least direction of 4000 others, and in one drawn by chance."""
    model = page.load(kind, seed) if seed < 3 else histogram_again(kind, seed)
    u = page.least_bend(model, page.mixed(4000, 500), steps=50)[1]
    parts = [page.mixed(800, i) for i in range(700, 710)]
    return [page.bent(model, v, parts).mean() for v in (u, page.by_chance(model, seed))]


@claim("11.23", "the positional models stand at no minimum", over="the bend on fresh sequences, " + AGAIN, runs=SEEDS,
       between=(-inf, 0), trains=True)
def no_minimum(page, seed):
    return saddle(page, "positional", seed)[0]


@claim("11.24", "A direction drawn by chance bends *upwards*", over="positional models, " + AGAIN, runs=SEEDS,
       between=(0.3, inf), trains=True)
def uphill(page, seed):
    return saddle(page, "positional", seed)[1]


@claim("11.25", "The semantic models are at no minimum either once they may read places", trains=True, runs=range(8),
       over="the bend on fresh sequences, the three models of the page and five other trainings", between=(-inf, 0))
def semantic_no_minimum(page, seed):
    return saddle(page, "semantic", seed)[0]


# Two minima

DRAWS = range(3, 13)                                    # seeds of the solvable model: the page's are 0 to 8
ENDS = "ten other draws, d = 250"


@cache
def ends(ratio, seed, d=250):
    """What the two runs end at."""
    given = teacher.problem(ratio, d, seed)
    return given, [teacher.minimise(given, start) for start in ("positional", "semantic")]


@claim("11.26", "All twelve bends are positive: these are minima.", between=(0, inf),
       over="the least bend × 1000 of both "
       f"ends, N/d = .75 and 2; {ENDS}", runs=[[ratio, seed] for ratio in (0.75, 2) for seed in DRAWS])
def minima(page, run):
    given, found = ends(*run)
    return min(1e3 * page.bend(given, one.Q) for one in found)


@claim("11.27", "the one has $\\mathbf 1^\\top Q/d$ near .25 and little of $Q^*$", runs=DRAWS, between=(0, 0.2),
       over=f"N/d = 2: the larger of the two overlaps that should be small; {ENDS}")
def clean_at_two(page, seed):
    positional, semantic = ends(2, seed)[1]
    return max(positional.semantic, semantic.positional)


@claim("11.28", "With few data the *semantic* one can be a **mixture** of both", at_least=3, between=(0.05, 0.2),
       over=f"N/d = .75: its 1ᵀQ/d is .05 or more; {ENDS}", runs=DRAWS)
def mixture(page, seed):
    return ends(0.75, seed)[1][1].positional


@claim("11.29", "Positional with few, semantic with many",
       over="the sign of the difference at N/d = .75 and 2, ten other "
       "draws, d = 500", runs=range(9, 19))
def change_places(page, seed):
    few, many = (ends(ratio, seed, 500)[1] for ratio in (0.75, 2))
    return few[0].loss < few[1].loss and many[1].loss < many[0].loss


@claim("11.30", "At $N/d = 1$ the semantic minimum is the better one to have",
       over="test error at N/d = 1, semantic less "
       "positional, × 1000; ten other draws, d = 500", runs=range(9, 19), between=(-inf, 0), at_least=9)
def test_crosses_earlier(page, seed):
    positional, semantic = ends(1, seed, 500)[1]
    return 1e3 * (semantic.test - positional.test)


@claim("11.31", "On average it beats the positional minimum at every $N/d$ of the table.", between=(-inf, 0),
       over="test error of the linear baseline less that of the positional minimum, × 1000; four draws each, d = 500",
       runs=[[ratio, seed] for ratio in (0.75, 1, 2) for seed in range(9, 13)])
def linear_baseline(page, run):
    given, found = ends(*run, 500)
    return 1e3 * (teacher.linear(given) - found[0].test)


@claim("11.32", "The mean of nine seeds changes its sign where the theory has it", over="where the mean of nine others "
       "crosses; seeds 9 to 17, 18 to 26 and so on, d = 500", runs=[9, 18, 27], between=(1.15, 1.4), trains=True)
def where_they_cross(page, first):
    ratios = [1, 1.24, 1.36, 1.5]
    found = [[ends(ratio, seed, 500)[1] for seed in range(first, first + 9)] for ratio in ratios]
    gaps = [np.mean([semantic.loss - positional.loss for positional, semantic in row]) for row in found]
    return page.crossing(ratios, gaps)
