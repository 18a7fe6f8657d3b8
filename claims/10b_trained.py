"""What lecture 10b says, run again: other reviews, and readers of each kind that were trained with other seeds."""

from functools import cache
from itertools import combinations
from math import inf

import numpy as np

from coursekit import debate
from coursekit.worlds import reviews
from tools.train_readers import trained_again

from . import claim

MORE = range(2, 7)                                      # seeds of 300 reviews each: the readers' is 0, the page's 1
SEEDS = range(3, 8)                                     # of trainings: the page's are 0 to 2
REVIEWS = "five times 300 other reviews"
AGAIN = "five further trainings of each kind, seeds 3 to 7, the page's reviews"
PAIRS = "the ten pairs of five further trainings, the page's reviews"


@cache
def made(seed):
    """300 reviews that the page does not have."""
    return reviews(300, seed=seed)


@cache
def trained(kind, seed):
    """The reader of a kind from another seed."""
    return trained_again(kind, seed)


def pairs(names):
    """All pairs as JSON values."""
    return [list(pair) for pair in combinations(names, 2)]


# Is attention needed?

WORTH = "attention is worth two to six reviews of a hundred"


@claim("10b.1", WORTH, over="right, plain less even; five times 1500 other reviews", runs=range(10, 15), here=9,
       between=(0.02, 0.06))
def worth(page, seed):
    return page.better(reviews(1500, seed=seed)).mean()


@claim("10b.2", WORTH, over="right, plain less even; five further trainings of each kind, seeds 3 to 7, the page's "
       "1500 reviews", runs=SEEDS, between=(0.02, 0.06), trains=True)
def worth_again(page, seed):
    return page.better(reviews(1500, seed=9), *([trained(kind, seed)] for kind in ("plain", "even"))).mean()


# Two seeds

YARDSTICK = "So a JS of .1 to .25 between two maps is what chance in training makes of *the same* model."
OTHERWISE = "a seventh to a quarter of the reviews are decided otherwise, by models of one kind."


@claim("10b.3", YARDSTICK, over=f"the JS of three pairs; {REVIEWS}", between=(0.1, 0.255),
       runs=[[*pair, seed] for pair in pairs(range(3)) for seed in MORE])
def two_seeds(page, run):
    i, j, seed = run
    return debate.against(page.plain[i], page.plain[j], made(seed))["js"].mean()


@claim("10b.4", YARDSTICK, over=f"the JS; {PAIRS}", runs=pairs(SEEDS), between=(0.1, 0.255), trains=True)
def two_seeds_again(page, run):
    return debate.against(trained("plain", run[0]), trained("plain", run[1]), page.held_out)["js"].mean()


@claim("10b.5", OTHERWISE, over=f"three pairs; {REVIEWS}", between=(0.143, 0.25),
       runs=[[*pair, seed] for pair in pairs(range(3)) for seed in MORE])
def otherwise(page, run):
    i, j, seed = run
    return 1 - debate.against(page.plain[i], page.plain[j], made(seed))["same"].mean()


@claim("10b.6", OTHERWISE, over=PAIRS, runs=pairs(SEEDS), between=(0.143, 0.25), trains=True)
def otherwise_again(page, run):
    return 1 - debate.against(trained("plain", run[0]), trained("plain", run[1]), page.held_out)["same"].mean()


# Adversaries that were trained

@cache
def plane(page, texts=None, seeds=None):
    """(curve, rivals) on other reviews, or of two further trainings on the page's."""
    if seeds is None:
        return page.curve_of({w: page.readers[f"far-{w}"] for w in page.WEIGHTS}, page.plain, made(texts)), page.rivals(
            page.plain, made(texts))
    models = [trained("plain", seed) for seed in seeds]
    far = {w: [trained(f"far-{w}", seed) for seed in seeds] for w in page.WEIGHTS}
    return page.curve_of(far, models), page.rivals(models)


def by_the_curve(page, found, name):
    """|Δp| of a rival by that of the trained adversaries as far away."""
    curve, points = found
    js, change = points[name]
    return change / page.price(curve, js)


BELOW = "The curve runs *below* the other seed"
SHUFFLED = "Shuffled weights, as far away, cost one and a half times to twice as much in $|\\Delta p|$"
TWOS = [[3, 4], [4, 5], [5, 6], [6, 7], [3, 7]]
TWO = "seeds 3 and 4, 4 and 5, 5 and 6, 6 and 7, 3 and 7, the page's reviews"


@claim("10b.7", BELOW, over=f"|Δp| of another seed by that of the curve there; {REVIEWS}", runs=MORE, between=(1, inf))
def below(page, seed):
    return by_the_curve(page, plane(page, seed), "another seed")


@claim("10b.8", BELOW, over=f"|Δp| of another seed by that of the curve there; {TWO}", runs=TWOS, between=(1, inf),
       trains=True)
def below_again(page, seeds):
    return by_the_curve(page, plane(page, None, tuple(seeds)), "another seed")


@claim("10b.9", SHUFFLED, over=f"their |Δp| by that of the curve there; {REVIEWS}", runs=MORE, between=(1.45, 2.05))
def shuffled(page, seed):
    return by_the_curve(page, plane(page, seed), "shuffled weights")


@claim("10b.10", SHUFFLED, over=f"their |Δp| by that of the curve there; {TWO}", runs=TWOS, between=(1.45, 2.05),
       trains=True)
def shuffled_again(page, seeds):
    return by_the_curve(page, plane(page, None, tuple(seeds)), "shuffled weights")


@claim("10b.11", "Raise $w$ and it moves farther away and says less of the same: a curve.", runs=SEEDS, trains=True,
       over="JS and |Δp| rise with each of the five w; " + AGAIN)
def farther_and_less(page, seed):
    far = {w: [trained(f"far-{w}", seed)] for w in page.WEIGHTS}
    return bool((np.diff(page.curve_of(far, [trained("plain", seed)]), axis=0) > 0).all())


# A guide

@cache
def probe(page, kind, seed):
    """How often a probe is right that a further training guided."""
    return page.guided(None if kind == "even" else trained(kind, seed), seed).mean()


@claim("10b.12", "A plain reader's weights carry the probe nearly to the reader's own .83", runs=SEEDS, trains=True,
       over=f"how much less often the probe is right than its guide; {AGAIN}", between=(-0.02, 0.06))
def nearly_its_own(page, seed):
    return page.told([trained("plain", seed)])["right"].mean() - probe(page, "plain", seed)


@claim("10b.13", "The attention of the adversaries at $w$ = .5 is other, and hardly worse for the task.", trains=True,
       over=f"how much less often their probe is right than the plain readers'; {AGAIN}", runs=SEEDS,
       between=(-0.03, 0.05))
def hardly_worse(page, seed):
    return probe(page, "plain", seed) - probe(page, "far-0.5", seed)


@claim("10b.14", "At $w$ = 2 most guides are worse than even weights, two of these three and four of five others.",
       over=f"how much more often the probe is right than with even weights; {AGAIN}", runs=SEEDS, between=(-inf, 0),
       at_least=4, trains=True)
def farthest_guide(page, seed):
    return probe(page, "far-2.0", seed) - probe(page, "even", seed)


# More effective?

@cache
def effect(page, kind, texts=None, seed=None):
    """[τ, AUROC of the weights, AUROC of the exact values], means over 15 reviews; texts: None for the page's."""
    models = page.readers[kind] if seed is None else [trained(kind, seed)]
    documents = page.held_out if texts is None else made(texts)
    return np.mean([page.faithful(model, documents[:15]) for model in models], (0, 2))


FIFTEEN = "five times 15 other reviews"
FOUND = "The marks do what they should: the weights find the words that decide"
PAINTED = "the model itself now reads the words that decide."


@claim("10b.15", FOUND, over=f"AUROC of the weights; {REVIEWS}", runs=MORE, between=(0.9, 1))
def marks_found(page, seed):
    return page.told(page.readers["marked"], made(seed))["marks"].mean()


@claim("10b.16", FOUND, over=f"AUROC of the weights; {AGAIN}", runs=SEEDS, between=(0.9, 1), trains=True)
def marks_found_again(page, seed):
    return page.told([trained("marked", seed)])["marks"].mean()


@claim("10b.35", "with other seeds they cost up to five reviews of a hundred, or gain as many.", runs=SEEDS,
       over=f"right, marked less plain; {AGAIN}", trains=True, between=(-0.055, 0.055))
def marks_cost(page, seed):
    plain, marked = (page.told([trained(kind, seed)])["right"].mean() for kind in ("plain", "marked"))
    return marked - plain


@claim("10b.17", PAINTED, over=f"AUROC of the exact values; {FIFTEEN}", runs=MORE, between=(0.9, 1))
def not_painted(page, seed):
    return effect(page, "marked", seed)[2]


@claim("10b.18", PAINTED, over=f"AUROC of the exact values; {AGAIN}", runs=SEEDS, between=(0.9, 1), trains=True)
def not_painted_again(page, seed):
    return effect(page, "marked", None, seed)[2]


@claim("10b.19", "On other reviews these seeds gain as little as here.", over=f"τ of marked less plain; {FIFTEEN}",
       runs=MORE, between=(0, 0.12))
def rises_little(page, seed):
    return effect(page, "marked", seed)[0] - effect(page, "plain", seed)[0]


@claim("10b.20", "in four of five further trainings it rises by more than a tenth", runs=SEEDS, between=(0.1, inf),
       at_least=4, over=f"τ of marked less plain; {AGAIN}", trains=True)
def rises_again(page, seed):
    return effect(page, "marked", None, seed)[0] - effect(page, "plain", None, seed)[0]


@claim("10b.21", "On these three seeds the regulariser raised $\\tau$ at least as much", runs=MORE, between=(0, inf),
       over=f"τ of sharp less marked; {FIFTEEN}")
def as_much(page, seed):
    return effect(page, "sharp", seed)[0] - effect(page, "marked", seed)[0]


@claim("10b.22", "with five other seeds it leaves $\\tau$ where it was.", runs=SEEDS, between=(-0.05, 0.05),
       over=f"τ of sharp less plain; {AGAIN}", trains=True)
def where_it_was(page, seed):
    return effect(page, "sharp", None, seed)[0] - effect(page, "plain", None, seed)[0]


# The leak

@cache
def lean(page, kind, seed):
    """Means of what a further training makes of the name, {what: number}."""
    found = page.leaning([trained(kind, seed)]) | page.loudness([trained(kind, seed)])
    return {what: np.mean(numbers) for what, numbers in found.items()}


@claim("10b.23", "with names turned round they do *worse* than a coin", runs=SEEDS, trains=True, between=(0, 0.5),
       over=f"right with turned names; {AGAIN}")
def worse_than_a_coin(page, seed):
    return lean(page, "leaky", seed)["turned names"]


@claim("10b.24", "Here a look at the map would have saved somebody.", runs=SEEDS, trains=True, between=(0.2, 1),
       over=f"the weight on the name: .2 or more, where even weights have .016; {AGAIN}")
def map_tells(page, seed):
    return lean(page, "leaky", seed)["weight on the name"]


@claim("10b.25", "and the exact values agree", runs=SEEDS, trains=True, between=(-0.15, 0.15),
       over=f"the name's Shapley share less its weight, in leaky; {AGAIN}")
def exact_values_agree(page, seed):
    found = lean(page, "leaky", seed)
    return found["its Shapley share"] - found["weight on the name"]


@claim("10b.26", "far below a reader that never saw a name.", runs=SEEDS, trains=True, between=(0.1, 1),
       over=f"right with turned names, plain less shy; {AGAIN}")
def far_below_plain(page, seed):
    return lean(page, "plain", seed)["turned names"] - lean(page, "shy", seed)["turned names"]


@claim("10b.27", "So `shy` still leans on the name.", runs=SEEDS, trains=True, between=(0.1, 1),
       over=f"right with true names less with turned ones; {AGAIN}")
def shy_leans(page, seed):
    found = lean(page, "shy", seed)
    return found["right: true names"] - found["turned names"]


@claim("10b.28", "in four of five further trainings it is at least half as much again.", runs=SEEDS, trains=True,
       between=(1.5, inf), at_least=4, over=f"the name's Shapley share by its weight, in shy; {AGAIN}")
def share_by_weight(page, seed):
    found = lean(page, "shy", seed)
    return found["its Shapley share"] / found["weight on the name"]


def values(page, kind, seed):
    """Mean |y| of the name and of a word."""
    return [lean(page, kind, seed)[what] for what in ("|y| of the name", "|y| of a word")]


@claim("10b.29", "the name says more than in `leaky`, and the other words as well.", runs=SEEDS, trains=True,
       over=AGAIN)
def all_say_more(page, seed):
    return bool((np.array(values(page, "shy", seed)) > values(page, "leaky", seed)).all())


@claim("10b.36", "Beside them it is louder in all three seeds here, in three of five others.", runs=SEEDS, trains=True,
       over=f"|y| of the name by a word's, in shy by that in leaky; {AGAIN}", between=(1, inf), at_least=3)
def louder(page, seed):
    (name, word), (before, word_before) = values(page, "shy", seed), values(page, "leaky", seed)
    return name / word / (before / word_before)


@claim("10b.30", "`leaky-marked` is the more troubling one, in four of five further trainings as well", runs=SEEDS,
       over=f"AUROC above .9, and right with turned names in less than half; {AGAIN}", at_least=4, trains=True)
def excellent_and_wrong(page, seed):
    found = lean(page, "leaky-marked", seed)
    return bool(found["AUROC with the marks"] > 0.9 and found["turned names"] < 0.5)


@claim("10b.31", "Only `leaky-bound`, whose marks were pressed hard, is free of the name", runs=SEEDS, trains=True,
       over=f"the difference that a turned name makes: at most .01, and above .1 in the three others; {AGAIN}")
def only_bound_is_free(page, seed):
    found = {kind: lean(page, kind, seed) for kind in page.NAMED[1:]}
    makes = {kind: abs(one["right: true names"] - one["turned names"]) for kind, one in found.items()}
    return bool(makes.pop("leaky-bound") <= 0.01 and min(makes.values()) > 0.1)


@claim("10b.37", "in further trainings the gap is four to eleven reviews of a hundred.", runs=SEEDS, trains=True,
       over=f"right, plain less leaky-bound; {AGAIN}", between=(0.035, 0.115))
def price_of_marks(page, seed):
    return lean(page, "plain", seed)["turned names"] - lean(page, "leaky-bound", seed)["turned names"]


SOME = "But of each reader `leaky`, `leaky-marked` and `shy` some do, whatever its map shows."


def turned(model, texts):
    """The share of the verdicts that turn with the name."""
    true, other = (model.predict([list(r.tokens) for r in debate.leaky(texts, share)]) > 0 for share in (1, 0))
    return np.mean(true != other)


@claim("10b.32", SOME, runs=MORE, between=(0.01, 1),
       over=f"the smallest share of the nine readers; {REVIEWS}")
def some_turn(page, seed):
    return min(turned(m, made(seed)) for kind in page.NAMED[1:4] for m in page.readers[kind])


@claim("10b.33", SOME, runs=SEEDS, between=(0.01, 1), trains=True,
       over=f"the smallest share of the three readers; {AGAIN}")
def some_turn_again(page, seed):
    return min(turned(trained(kind, seed), page.held_out) for kind in page.NAMED[1:4])


@claim("10b.34", "None of the plain readers' verdicts turns, and none of `leaky-bound`.", runs=MORE, between=(0, 0),
       over=f"the largest share of the six readers; {REVIEWS}")
def none_turns(page, seed):
    return max(turned(m, made(seed)) for kind in page.NAMED[::4] for m in page.readers[kind])
