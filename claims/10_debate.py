"""What lecture 10 says, run again: other reviews, words, draws and trainings."""

from functools import cache
from math import inf

import numpy as np

from coursekit import debate
from coursekit.models import load_weights
from coursekit.worlds import reviews
from tools.train_imdb import trained_again

from . import claim

ONE_LAYER = ["imdb-tame", "imdb-peaky"]
ALL = [*ONE_LAYER, "imdb-6layer"]
DOZENS = range(1, 6)                                    # of generated reviews
TRAINED = [1, 2]                                        # seeds of other trainings
AGAIN = "two further trainings, seeds 1 and 2 (python -m tools.train_imdb imdb-peaky --seed 1)"
BOTH_AGAIN = "two further trainings of each, seeds 1 and 2 (python -m tools.train_imdb imdb-peaky --seed 1)"


def each(names, runs):
    """The runs [name, run] of every name with every run."""
    return [[name, run] for name in names for run in runs]


def model_of(name, seed=0):
    """A shipped classifier, or one of its recipe from another seed."""
    return trained_again(name, seed) if seed else load_weights(name)


@cache
def made(page, seed, n=12):
    """The words of n generated reviews."""
    return [page.tame.tokenizer.tokenize(review.text) for review in reviews(n, seed)]


DOZEN = "five dozens of generated reviews"


# Agreement

def lowest_and_chance(page, model, documents):
    """The lowest τ of attention with another method, less that with a random order; and the highest τ."""
    *found, chance, _ = [one.mean for one in page.agreement(model, documents) if one != "–"]
    return min(found) - abs(chance), max(found)


@claim("10.1", "All are far above chance, and all below 1.", over=f"far: by .3; {DOZEN}, three models",
       runs=each(ALL, DOZENS))
def above_chance(page, run):
    low, high = lowest_and_chance(page, load_weights(run[0]), made(page, run[1]))
    return bool(low > 0.3 and high < 0.95)


@claim("10.2", "All are far above chance, and all below 1.", over=f"far: by .3; the page's reviews, {BOTH_AGAIN}",
       runs=each(ONE_LAYER, TRAINED), trains=True)
def above_chance_again(page, run):
    low, high = lowest_and_chance(page, trained_again(*run), page.texts[:12])
    return bool(low > 0.3 and high < 0.95)


def hardly_better(page, model, documents):
    _, with_left_out, *_, others = page.agreement(model, documents)
    return others.mean - with_left_out.mean


@claim("10.3", "The gradient and leave-one-out agree hardly better with each other", over="how much better, "
       f"in τ, than attention with leave-one-out, {DOZEN}, three models", runs=each(ALL, DOZENS), between=(-inf, 0.15))
def others_agree(page, run):
    return hardly_better(page, load_weights(run[0]), made(page, run[1]))


@claim("10.4", "The gradient and leave-one-out agree hardly better with each other", over="how much better, "
       f"in τ, than attention with leave-one-out, the page's reviews, {BOTH_AGAIN}", runs=each(ONE_LAYER, TRAINED),
       between=(-inf, 0.15), trains=True)
def others_agree_again(page, run):
    return hardly_better(page, trained_again(*run), page.texts[:12])


@cache
def near(page, name, seed, documents):
    """{method: [τ, share of five]} with exact values; documents: the seed of a dozen, None for the page's."""
    found = page.nearness(model_of(name, seed), page.texts[:12] if documents is None else made(page, documents))
    return {method: [one.mean for one in both] for method, both in found.items()}


def two_nearer(found):
    return all(found[name][i] > found["attention"][i] for name in ("integrated gradients", "leave-one-out")
               for i in (0, 1))


NEARER = ("Integrated gradients and leave-one-out are nearer to the truth than attention on both models, by both "
          "measures.")


@claim("10.5", NEARER, over=f"{DOZEN}, two models", runs=each(ONE_LAYER, DOZENS))
def nearer(page, run):
    return two_nearer(near(page, run[0], 0, run[1]))


@claim("10.6", NEARER, over=f"the page's reviews, {BOTH_AGAIN}", runs=each(ONE_LAYER, TRAINED), trains=True)
def nearer_again(page, run):
    return two_nearer(near(page, *run, None))


@claim("10.7", "with 100 its order on the peaky model is *worse* than that of the weights", runs=DOZENS,
       over=f"τ of the weights less that of LIME with 100 samples, {DOZEN}", between=(0, inf))
def few_samples(page, seed):
    found = near(page, "imdb-peaky", 0, seed)
    return found["attention"][0] - found["LIME, 100 samples"][0]


# Other weights

def turns(page, seed, documents):
    """The share of the shuffles that turn a verdict: tame, peaky."""
    return [np.mean([page.shuffled(model_of(name, seed), d)[1] for d in documents]) for name in ONE_LAYER]


@claim("10.8", "A shuffle turns more verdicts of the peaky model than of the tame one", runs=DOZENS, between=(1, inf),
       over=f"the peaky share by the tame one, {DOZEN}")
def shuffles_turn(page, seed):
    tame, peaky = turns(page, 0, made(page, seed))
    return peaky / tame


@claim("10.9", "on these reviews about three times as many.", over="the peaky share by the tame one, the page's "
       f"reviews, {BOTH_AGAIN}", runs=TRAINED, here=0, between=(2.5, 3.5), trains=True)
def shuffles_turn_again(page, seed):
    tame, peaky = turns(page, seed, page.texts)
    return peaky / tame


@claim("10.10", "none is farther than the best corner", over="20 other draws of what two heads say and of their "
       "weights: the farthest of all rows drawn, by the best corner", runs=range(1, 21), here=0, between=(0, 1))
def corners_are_farthest(page, seed):
    corner, other, _ = page.farthest_two(seed)
    return other / corner


@claim("10.11", "For all of them, on all three kinds of model", over=f"the smallest JS; {DOZEN} for the classifiers, "
       "five times 20 for the three readers", runs=each([*ONE_LAYER, "readers"], DOZENS), between=(0.5, inf))
def adversary_for_all(page, run):
    if run[0] != "readers":
        return min(page.adversary(load_weights(run[0]), d) for d in made(page, run[1]))
    texts = [list(review.tokens) for review in reviews(20, seed=run[1] + 1)]
    return min(page.adversary(reader, d) for reader in page.readers for d in texts)


@claim("10.12", "For all of them, on all three kinds of model", over=f"the smallest JS; the page's reviews, "
       f"{BOTH_AGAIN}", runs=each(ONE_LAYER, TRAINED), between=(0.5, inf), trains=True)
def adversary_for_all_again(page, run):
    return min(page.adversary(trained_again(*run), d) for d in page.texts)


@claim("10.13", "Of weights that were simply drawn, a few per cent keep the prediction within .01",
       over=f"{DOZEN}, two models, both ways to draw", runs=each(ONE_LAYER, DOZENS), between=(0.005, 0.1))
def drawn_keep(page, run):
    page.random.bit_generator.state = np.random.default_rng(run[1]).bit_generator.state
    model, documents = load_weights(run[0]), made(page, run[1])
    return np.mean([page.chance(model, d, share)[0] for d in documents for share in (0.1, 1)])


# Erasure

@cache
def erased(page, name, seed, documents):
    """{order: mean share of words until the verdict turns}; documents as in `near`."""
    texts = page.texts if documents is None else made(page, documents)
    found = [page.flips(model_of(name, seed), d) for d in texts]
    return {order: np.mean([one[order] for one in found]) for order in page.ORDERS}


BETWEEN = "On average attention is between chance and the gradient on all models"


def between(found):
    return bool(found["gradient"] < found["attention"] < found["chance"])


@claim("10.14", BETWEEN, over=f"{DOZEN}, two models", runs=each(ONE_LAYER, DOZENS))
def between_the_two(page, run):
    return between(erased(page, run[0], 0, run[1]))


@claim("10.15", BETWEEN, over=f"the page's reviews, {BOTH_AGAIN}", runs=each(ONE_LAYER, TRAINED), trains=True)
def between_the_two_again(page, run):
    return between(erased(page, *run, None))


@claim("10.16", "On generated reviews at least half of its lead over attention goes with the sign.", runs=DOZENS,
       over=f"the share of the lead that is left, in the tame model; {DOZEN}", between=(-inf, 0.5))
def without_the_sign(page, seed):
    found = erased(page, "imdb-tame", 0, seed)
    attention, lead = found["attention"], found["attention"] - found["gradient × attention"]
    return (attention - found["size of α y"]) / lead


@claim("10.17", "without its sign it needs about as many words as attention does", over="how many times as many, in "
       f"the tame model; the page's reviews, {AGAIN}", runs=TRAINED, between=(0.75, 1.33), trains=True)
def without_the_sign_again(page, seed):
    found = erased(page, "imdb-tame", seed, None)
    return found["size of α y"] / found["attention"]


@claim("10.18", "on generated reviews it is a third to a half.", runs=DOZENS, over=f"of the five largest weights of "
       f"the peaky model, the share against the verdict; {DOZEN}", between=(0.33, 0.5))
def against_the_verdict(page, seed):
    found = [needs.ravel()[np.argsort(-looks.ravel())[:5]] < 0 for looks, needs in map(page.needs_of, made(page, seed))]
    return np.mean(found)


# Heads

@claim("10.19", "In five groups of eight generated reviews it is none, one or two of the 36.", runs=DOZENS,
       over="five groups", between=(0, 2))
def heads_needed(page, seed):
    found = [debate.prune_heads(page.deep, d).flips for d in made(page, seed, 8)]
    return np.any(found, 0).sum()


WHICHEVER = "Whichever head goes, the tame model does *better* on these reviews"


@claim("10.20", WHICHEVER, over=f"the loss changes by so much, the worst of the heads; {AGAIN}", runs=TRAINED, here=0,
       between=(-inf, 0), trains=True)
def better_without(page, seed):
    adds = np.array([page.parts(model_of("imdb-tame", seed), d) for d in page.all_texts])
    return page.without_each(adds, page.side).mean(-1)[:, 0].max()


@claim("10.21", "in two further trainings to .02.", over=f"the largest gain of a head of the tame model beyond its "
       f"control; {AGAIN}", runs=TRAINED, here=0, between=(-0.02, 0.02), trains=True)
def shrunk_as_well(page, seed):
    adds = np.array([page.parts(model_of("imdb-tame", seed), d) for d in page.all_texts])
    found = page.without_each(adds, page.side).mean(-1)
    return min(found[:, 0] - found[:, 2])


# Patching

OTHER = {"frames": ["the music was {}", "what a {} ending .", "the plot is {} , and the cast too", "i found it {}"],
         "swaps": [("wonderful", "terrible"), ("brilliant", "boring"), ("excellent", "awful"), ("perfect", "poor"),
                   ("beautiful", "ugly")]}


def other_pairs(i):
    """Four pairs of sentences that the page does not have, of two other words."""
    return [[frame.format(word).split() for word in OTHER["swaps"][i]] for frame in OTHER["frames"]]


@cache
def halves(page, name, seed, i):
    """Mean share of the way by the other's weights, and by the other's values; i: of OTHER, None for the page's."""
    pairs = page.pairs if i is None else other_pairs(i)
    found = [debate.patch_attention(model_of(name, seed), a, b) for a, b in pairs]
    moved = np.mean([one.scores - one.score for one in found], 0)
    return moved / np.mean([one.donor - one.score for one in found])


WORDS = "five other pairs of words in four other sentences each"


@claim("10.22", "The values: two thirds of it or more.", over=f"the share of the way, {WORDS}, three models",
       runs=each(ALL, range(5)), between=(0.66, inf))
def values_carry(page, run):
    return halves(page, run[0], 0, run[1])[1]


@claim("10.23", "The values: two thirds of it or more.", over=f"the share of the way, {BOTH_AGAIN}",
       runs=each(ONE_LAYER, TRAINED), between=(0.66, inf), trains=True)
def values_carry_again(page, run):
    return halves(page, *run, None)[1]


@claim("10.24", "With other words in other sentences the weights mostly lead away, too", over=f"the share of the way, "
       f"{WORDS}", runs=each(ONE_LAYER, range(5)), between=(-inf, 0), at_least=6)
def weights_lead_away(page, run):
    return halves(page, run[0], 0, run[1])[0]


@claim("10.31", "they never bring more than a tenth of the way.", over=f"the share of the way, {WORDS}, three models",
       runs=each(ALL, range(5)), between=(-inf, 0.1))
def a_tenth_at_most(page, run):
    return halves(page, run[0], 0, run[1])[0]


@claim("10.25", "on the tame and the peaky model they lead *away* from the other score.", over="the share of "
       f"the way, {BOTH_AGAIN}", runs=each(ONE_LAYER, TRAINED), between=(-inf, 0), trains=True)
def weights_lead_away_again(page, run):
    return halves(page, *run, None)[0]


@claim("10.26", "of the difference is in [CLS] then, and the word's own state no longer matters.", runs=range(5),
       over=f"nine tenths or more; {WORDS}")
def after_one_layer(page, i):
    there = np.mean([page.differs(a, b)[0][:, 1] for a, b in other_pairs(i)], 0)
    return bool(there[1] > 0.9 and abs(there[0]) < 0.1)


@claim("10.27", "Only the first layer looks at the word more than even attention would", over="the weight by that of "
       f"even attention: above 1.5 in the first layer, within a fifth of 1 in the others; {WORDS}", runs=range(5))
def only_the_first_looks(page, i):
    looks = np.mean([page.differs(a, b)[1] * len(a) for a, b in other_pairs(i)], 0)
    return bool(looks[0] > 1.5 and abs(looks[1:] - 1).max() < 0.2)


@cache
def moves(page, seed):
    """{move: (how far it moves, the share that is surer)} on 24 generated reviews."""
    documents = made(page, seed + 10, 24)
    return {row[0]: row[1:] for row in page.three_moves(documents, list(zip(documents, documents[1:], strict=False)))}


@claim("10.28", "*Which* word they look at matters little.", over="the part of its size by which a score moves, all "
       "weight of each head on one word drawn by chance, five times 24 generated reviews", runs=DOZENS,
       between=(0, 0.06))
def which_word(page, seed):
    return moves(page, seed)["1 · all on one word"][0]


@claim("10.32", "*That* they look moves it by a fifth to two fifths of its size.", over="the part of its "
       "size by which a score moves, no weight on the words, five times 24 generated reviews", runs=DOZENS,
       between=(0.19, 0.41))
def that_they_look(page, seed):
    return moves(page, seed)["2 · none on the words"][0]


@claim("10.30", "Reversed weights move a review's score by a hundredth or two of its size.", runs=DOZENS,
       over="how far it moves, by its size; five times 24 generated reviews", between=(0.005, 0.025))
def reversed_weights(page, seed):
    return moves(page, seed)["1 · reversed"][0]


@claim("10.29", "most are even *surer* without the words.", over="the share that is surer; five times 24 generated "
       "reviews", runs=DOZENS, between=(0.5, 1))
def surer_without(page, seed):
    return moves(page, seed)["2 · none on the words"][1]


@claim("10.33", "The words of another text bring a score an eighth to a quarter of the way to that text's.",
       over="the share of the way, neighbours among five times 24 generated reviews", runs=DOZENS,
       between=(0.125, 0.25))
def words_of_another(page, seed):
    return moves(page, seed)["3 · another text's words: of the way"][0]


IMDB = 40                       # reviews, each of at most 200 words


def on_imdb(page, right):
    """The table of the three moves on IMDB's test reviews that the six layers judge rightly: (title, rows, columns)."""
    documents = right(page.deep, IMDB, 200)
    found = page.three_moves(documents, list(zip(documents, documents[1:], strict=False)))
    rows = [[move, *(x if x == "–" else f"{x:.2f}" for x in numbers)] for move, *numbers in found]
    return f"Section 9's table on {IMDB} test reviews of IMDB that the model gets right", rows, page.MOVED
