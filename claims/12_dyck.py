"""What lecture 12 says, run again: other strings, other draws, and models trained from other seeds."""

from itertools import combinations

import numpy as np
import torch

from coursekit.evaluate import map_distance
from coursekit.models import causal_mask, training
from coursekit.worlds.dyck import VARIANTS, DyckModel, counting_model, loss, sample, stack_top
from tools.train_worlds import dyck_again

from . import claim

STRINGS = range(1, 11)                                  # seeds of other strings
SEEDS = range(3, 8)                                     # of other trainings; the page's own are 0, 1 and 2
ONE_LAYER, FULL = VARIANTS[:8], VARIANTS[8:]
AGAIN = "five other trainings each, seeds 3 to 7, in seconds (tools.train_worlds.dyck_again)"
FRESH = "other trainings of each variant, seeds 3 to 7 (tools.train_worlds.dyck_again)"


def each(names, runs):
    """The runs [name, run] of every name with every run."""
    return [[name, run] for name in names for run in runs]


def shipped(page, variants=VARIANTS):
    """The shipped models, three of each variant."""
    return [page.named(variant, seed) for variant in variants for seed in range(3)]


def even(ids):
    """Even attention (1 + T, 1 + T)."""
    return causal_mask(ids.shape[1]).softmax(-1)


def pointer(ids):
    """All attention on the stack's top (n, 1 + T, 1 + T)."""
    return torch.nn.functional.one_hot(stack_top(ids), ids.shape[1]).float()


def right_with(page, model, ids, A):
    """Accuracy with this attention in place of the model's own."""
    return page.right_share(page.given(model, ids, A), ids)


def of(page, variant, seed):
    """A shipped model, or one trained from another seed."""
    return page.named(variant, seed) if seed < 3 else dyck_again(variant, seed)


def described(page, variant, seed):
    """Accuracy, far, weight on the top, entropy, top is largest."""
    model = of(page, variant, seed)
    return page.described(model(page.TEST), model.attentions(page.TEST)[-1], page.TEST)


# Strings

@claim("12.1", "still it closes four brackets of five, in strings of any length.", between=(0.78, 0.84),
       over="other strings of 28, 50, 100, 400 and 1000 brackets", runs=each((28, 50, 100, 400, 1000), (1, 2)))
def rule_without_a_stack(page, run):
    return page.opened_last(sample(200, run[1], length=run[0]))


@claim("12.2", "At the far ones the rule is a coin toss", between=(0.46, 0.54),
       over="other strings of 28, 50, 100, 400 and 1000 brackets", runs=each((28, 50, 100, 400, 1000), (1, 2)))
def coin_at_the_far(page, run):
    return page.opened_last(sample(200, run[1], length=run[0]), far=True)


# One accuracy, many maps

@claim("12.3", "One accuracy, for the worst seed of each variant more than .99.", runs=STRINGS, between=(0.99, 1),
       over="the worst of the 33 models, ten other samples of 300 strings")
def one_accuracy(page, seed):
    ids = sample(300, seed)
    return min(page.right_share(model(ids), ids) for model in shipped(page))


@claim("12.4", "one *large* is at .96, all others are above .99.", between=(0.99, 1), at_least=45, trains=True,
       over="five other trainings of each variant of one layer, two of each full one (tools.train_worlds.dyck_again)",
       runs=[*each(ONE_LAYER, SEEDS), *each(FULL, (3, 4))])
def one_accuracy_again(page, run):
    return described(page, *run)[0]


@claim("12.5", "Weight on the stack's top: from .10 to 1.", over="the lowest and the highest mean weight of eleven "
       "variants, at most .12 and at least .98; ten other samples of 300 strings", runs=STRINGS)
def weight_from_to(page, seed):
    ids = sample(300, seed)
    weights = [page.on_top(model.attentions(ids)[-1], ids) for model in shipped(page)]
    return min(weights) < 0.12 and max(weights) > 0.98


@claim("12.6", "at nine closings of ten it is the **largest** of its row.", between=(0.85, 0.95), trains=True,
       over="*position*, " + AGAIN, runs=SEEDS, here=0)
def pale_and_points(page, seed):
    return described(page, "position", seed)[-1]


def between_seeds(page, variant, seeds):
    """Mean distance of the maps of different trainings."""
    rows = [page.asked_rows(of(page, variant, seed).attentions(page.TEST)[-1], page.TEST)[0] for seed in seeds]
    return np.mean([map_distance(one, other) for one, other in combinations(rows, 2)])


@claim("12.7", "holds for *large*, *full* and *full-linear*, by a sixth to three tenths of the weight.", trains=True,
       over="the mean distance of the maps of seeds 3, 4 and 5, or 3 and 4", between=(0.16, 0.3),
       runs=[["large", [3, 4, 5]], ["full", [3, 4]], ["full-linear", [3, 4]]])
def seeds_differ(page, run):
    return between_seeds(page, *run)


@claim("12.8", "It does **not** hold for *minimal*", runs=list(combinations(SEEDS, 2)), between=(0, 0.1), trains=True,
       over="the distance of the maps of two other trainings, seeds 3 to 7")
def minimal_alike(page, seeds):
    return between_seeds(page, "minimal", seeds)


# How a mean can be enough

@claim("12.9", "the right closing bracket gets the larger logit after every prefix of every string", runs=STRINGS,
       over="ten lengths from 10 to 1000, 20 strings of each: the share of right closings", between=(1, 1))
def counting_suffices(page, seed):
    ids = sample(20, seed, length=(10, 16, 28, 40, 64, 100, 200, 400, 700, 1000)[seed - 1])
    return page.right_share(counting_model()(ids), ids)


@claim("12.10", "no better than the rule “opened last”, which has no stack.", between=(-0.1, 0.02),
       over="by so much better, other strings: 1000 of 28, 300 of 100 or 30 of 1000 brackets",
       runs=each(((28, 1000), (100, 300), (1000, 30)), (1, 2, 3)))
def majority_vote(page, run):
    (length, n), seed = run
    ids = sample(n, seed, length=length)
    return page.right_share(page.changed(weight=lambda d: 1)(ids), ids) - page.opened_last(ids)


@claim("12.11", "At length 100: what closed pairs leave behind adds up.", runs=STRINGS, between=(0.02, 0.2),
       over="how much more is lost at 100 than at 28, ten other samples of 300 and 80 strings")
def what_is_left_behind(page, seed):
    model, short, long = page.changed(taken_back=0.9), sample(300, seed), sample(80, seed, length=100)
    return page.right_share(model(short), short) - page.right_share(model(long), long)


@claim("12.12", "So a map drawn at random closes every bracket, with a third to three quarters of its weight elsewhere "
       "than an even one has it.", runs=range(3, 23), here=0, between=(0.33, 0.75),
       over="the weight elsewhere, 20 other draws (0 if not every bracket is closed)")
def random_by_token(page, seed):
    distance, _, repaired, _ = page.drawn_at_random(seed, page.TEST)
    return distance if repaired == 1 else 0.0


@claim("12.13", "By place, no draw comes up to the rule, and this repair is not to be had.", runs=range(3, 23), here=0,
       over="accuracy with the counting model's values, 20 other draws (the rule: .81)", between=(0, 0.8))
def random_by_place(page, seed):
    return page.drawn_at_random(seed, page.TEST)[3]


# Is attention used?

@claim("12.14", "Even weights take *large* below the rule and *stack* to less than .6.", runs=SEEDS, trains=True,
       over="large below .8, " + FRESH)
def even_weights_cost(page, seed):
    large, stack = (right_with(page, of(page, v, seed), page.TEST, even(page.TEST)) for v in ("large", "stack"))
    return large < 0.8 and stack < 0.6


@claim("12.15", "of five other trainings of *large*, two close all brackets with the pointer, and three do not.",
       over="accuracy with the pointer, " + AGAIN, runs=SEEDS, here=0, between=(0.99, 1), at_least=2, trains=True)
def pointer_for_large(page, seed):
    return right_with(page, of(page, "large", seed), page.TEST, pointer(page.TEST))


@claim("12.16", "*minimal*, *linear-head* and *position* never saw such a map and close all brackets with it, from any "
       "seed.", over="the lowest accuracy of the three, " + FRESH, runs=SEEDS, here=0, between=(0.99, 1), trains=True)
def pointer_for_others(page, seed):
    return min(right_with(page, of(page, v, seed), page.TEST, pointer(page.TEST))
               for v in ("minimal", "linear-head", "position"))


@claim("12.33", "**But not for most models whose attention was frozen.**", runs=each(("uniform", "random"), SEEDS),
       over="accuracy with the pointer, " + AGAIN, between=(0, 0.9), at_least=6, trains=True)
def pointer_for_frozen(page, run):
    return right_with(page, of(page, *run), page.TEST, pointer(page.TEST))


# Where the stack is

def how_often_turned(page, models, ids):
    """Least for the top, most for one further down and for a closed pair."""
    pairs = page.turned_pairs(ids)
    top, below, closed = zip(*(page.turns(model, ids, *pairs) for model in models), strict=True)
    return min(top) >= 0.98 and max(below) <= 0.02 and max(closed) <= 0.02


@claim("12.17", "At .98 or more for the top, and at .02 or less for all others: in every one of the 33 models.",
       over="ten other samples of 25 strings", runs=STRINGS)
def top_alone(page, seed):
    return how_often_turned(page, shipped(page), sample(25, seed))


@claim("12.18", "At .98 or more for the top, and at .02 or less for all others", runs=each(ONE_LAYER, SEEDS),
       over="the page's strings; " + AGAIN, at_least=39, trains=True)
def top_alone_again(page, run):
    return how_often_turned(page, [of(page, *run)], page.TEST[:25])


@claim("12.19", "*Uniform*, by far. And in the untrained one the probe finds it nearly as well.", runs=range(7, 17),
       over="right about depth 1: uniform by .2 more often than oracle, an untrained one within .1 of it; ten other "
       "samples of strings, and starts")
def who_has_the_bottom(page, seed):
    torch.manual_seed(seed)
    models = page.named("uniform", 0), page.named("oracle", 0), DyckModel("uniform").eval()
    uniform, oracle, untrained = (page.probe(m, sample(200, seed), sample(100, seed + 100))[0] for m in models)
    return uniform > oracle + 0.2 and abs(untrained - uniform) < 0.1


@claim("12.20", "tells no more of the depths than somebody who knows only the top and else tosses a coin", trains=True,
       over="*oracle*: the largest difference over four depths, " + FRESH, runs=SEEDS, between=(-1, 0.05))
def oracle_knows_the_top(page, seed):
    fit_on, try_on = sample(200, seed=5), sample(100, seed=6)
    found = page.probe(of(page, "oracle", seed), fit_on, try_on)
    return max(np.subtract(found, page.only_top(try_on)))


@claim("12.21", "It was taught to point, and what the pointer does not need is lost.", between=(0.6, 0.8), trains=True,
       over="*stack*: right about depth 1 after training, " + FRESH, runs=SEEDS)
def stack_loses(page, seed):
    return page.probe(of(page, "stack", seed), sample(200, seed=5), sample(100, seed=6))[0]


# A hundred brackets

def at_100(page, model):
    return page.right_share(model(page.LONG), page.LONG)


@claim("12.22", "*oracle*, *linear-head*, *minimal*. *stack* is among the last.", runs=STRINGS,
       over="by the mean of three seeds: the first three of ten, one of the last three; ten other samples")
def who_lasts(page, seed):
    ids, variants = sample(80, seed, length=100), [v for v in VARIANTS if v != "full-learned"]
    mean = {v: np.mean([page.right_share(page.named(v, s)(ids), ids) for s in range(3)]) for v in variants}
    order = sorted(variants, key=mean.get, reverse=True)
    return set(order[:3]) == {"oracle", "linear-head", "minimal"} and "stack" in order[-3:]


@claim("12.23", "*linear-head*, nearly flat, stays above .98 with every seed.", between=(0.98, 1), trains=True,
       over=AGAIN, runs=SEEDS, here=0)
def linear_head_lasts(page, seed):
    return at_100(page, of(page, "linear-head", seed))


def order(page, first):
    """The one-layer variants by their mean accuracy at 100 over three seeds, the best first."""
    mean = {v: np.mean([at_100(page, of(page, v, s)) for s in range(first, first + 3)]) for v in ONE_LAYER}
    return sorted(ONE_LAYER, key=mean.get, reverse=True)


@claim("12.24", "*stack*, which was taught to point, is among the last", over="the last three of the eight one-layer "
       "variants, by the mean of three other seeds: 3 to 5, 6 to 8", runs=[3, 6], trains=True)
def stack_is_among_the_last(page, first):
    return "stack" in order(page, first)[-3:]


@claim("12.32", "*oracle* and *linear-head* are the first two with other seeds as well.", over="of the eight one-layer "
       "variants, by the mean of three other seeds: 3 to 5, 6 to 8", runs=[3, 6], trains=True)
def first_two(page, first):
    return set(order(page, first)[:2]) == {"oracle", "linear-head"}


@claim("12.25", "in long strings it no longer points so well", runs=SEEDS, here=0, between=(0.1, 0.5), trains=True,
       over="*stack*'s weight on the top at 28 less that at 100, " + AGAIN)
def points_less(page, seed):
    model = of(page, "stack", seed)
    return np.subtract(*(page.on_top(model.attentions(ids)[-1], ids) for ids in (page.TEST, page.LONG)))


@claim("12.26", "*uniform* closes all brackets again if nothing is diluted, *random* nearly all", trains=True,
       over="the lower accuracy of the two, undiluted, " + FRESH, runs=SEEDS, between=(0.98, 1))
def cured(page, seed):
    return min(page.right_share(page.undiluted(of(page, v, seed), page.LONG), page.LONG) for v in ("uniform", "random"))


@claim("12.27", "In *large*, *position* and *stack* the same cure brings a twentieth at most, or harms.", trains=True,
       over="the most that one of the three gains, " + FRESH, runs=SEEDS, between=(-1, 0.05))
def not_cured(page, seed):
    models = [of(page, v, seed) for v in ("large", "position", "stack")]
    return max(page.right_share(page.undiluted(m, page.LONG), page.LONG) - at_100(page, m) for m in models)


# Three explanations

TRIOS = range(3, 18, 3)                                 # of trainings: seeds 3 to 5, 6 to 8, and so on
FIFTEEN = "rank correlation with accuracy at 400 to 500, over 15 models from three other seeds; five times other seeds"
BEST = "Measured in strings of 100 it goes best with both lengths, here and in four of five other sets of fifteen"


def correlations(page, first):
    """Rank correlations of balance violation, weight on the top and dilution, at 100, with accuracy at 100 and far."""
    models = [of(page, variant, seed) for variant in VARIANTS[:5] for seed in range(first, first + 3)]
    found = page.explanations(models)
    lasts = [[page.lasts(model, strings) for model in models] for strings in ([page.LONG], page.VERY_LONG)]
    return np.array([[page.rank_correlation(found[name], y) for y in lasts]
                     for name in ("balance violation", "weight on the top, at 100", "dilution, at 100")])


@claim("12.28", "how far they are from it goes with neither length.", over="balance violation: " + FIFTEEN, runs=TRIOS,
       here=0, between=(-0.5, 0.5), trains=True)
def balance_and_lasting(page, first):
    return correlations(page, first)[0, 1]


@claim("12.29", "it tells the kinds that learned their attention from the two that never did.", runs=TRIOS, here=0,
       over="weight on the top: " + FIFTEEN, between=(0.3, 1), trains=True)
def map_and_lasting(page, first):
    return correlations(page, first)[1, 1]


@claim("12.30", BEST, over="dilution: " + FIFTEEN, runs=TRIOS, here=0,
       between=(-1, -0.5), trains=True)
def dilution_and_lasting(page, first):
    return correlations(page, first)[2, 1]


@claim("12.31", BEST, runs=TRIOS, here=0, between=(0, 1), at_least=4,
       over="how much stronger the rank correlation of dilution is than the other two, at the length where it is less; "
       "five times 15 other models", trains=True)
def dilution_goes_best(page, first):
    *others, best = np.abs(correlations(page, first))
    return (best - np.max(others, 0)).min()


# The contrastive penalty

SMALL = "accuracy at 400 to 500 less that of plain training, uniform and minimal, five seeds each"


def behind_others(variant, seed, penalty, long):
    """A model trained as ours, beside strings of 2 to 28 brackets in front of each batch: `long`, it learns to go on
    from these, too; penalty: times the mean square by which they move the logits of what stands behind."""
    torch.manual_seed(seed)
    model, dice = DyckModel(variant), np.random.default_rng(seed)
    fronts = iter([sample(64, 1000 + 350 * seed + i, int(2 * dice.integers(1, 15))) for i in range(350)])

    def cost(model, ids):
        front = next(fronts)
        behind = torch.cat([ids[:, :1], front[:, 1:], ids[:, 1:]], 1)
        moved = model(ids)[:, 1:] - model(behind)[:, front.shape[1]:] if penalty else torch.zeros(1)
        return loss(model, behind if long else ids) + penalty * (moved**2).mean()

    ids = sample(350 * 64, seed).split(64)
    training.train(model, cost, lambda _: ids, epochs=1, lr=1e-2, seed=seed, progress=False)
    return model.eval()


@claim("12.34", "Tried small, both kinds last better with it", over=SMALL, runs=each(("uniform", "minimal"), SEEDS),
       between=(0, 1), trains=True)
def penalty_helps(page, run):
    return page.lasts(behind_others(*run, 0.1, False), page.VERY_LONG) - page.lasts(dyck_again(*run), page.VERY_LONG)


@claim("12.35", "the longer strings alone, without the penalty, help as well", over=SMALL, trains=True,
       runs=each(("uniform", "minimal"), SEEDS), between=(0, 1))
def longer_strings_help(page, run):
    return page.lasts(behind_others(*run, 0, True), page.VERY_LONG) - page.lasts(dyck_again(*run), page.VERY_LONG)
