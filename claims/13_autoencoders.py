"""What lecture 13 says, run again: other dialogues, other draws of texts and directions, other trainings."""

from functools import cache
from math import inf

import numpy as np
import torch

from coursekit.models import correlations
from coursekit.models.sparse.features import everywhere
from coursekit.worlds import superposition

from . import claim

DRAWS = range(10, 15)                                   # seeds of sampled texts; the page's own are 0, 1 and 2
OTHERS = range(11, 16)                                  # of dialogues; the page's own are 2 and 3
SEEDS = range(3, 8)                                     # of trainings; the page's own are 0, 1 and 2
TEXTS = "five other draws of 80 texts"
FRESH = "five times 2,000 other dialogues"
THOUSAND = "five times 1,000 other dialogues"
AGAIN = "autoencoders trained from five other seeds"
TOYS = "toy models trained from five other seeds"
TONES = ("neutral", "praise", "critical", "secretive", "french")
KNOBS = {"praise": 12, "secretive": 3, "french": 15}    # the shipped features


# Do states add?

@cache
def other(page, seed, n=2000):
    """States, MLP neurons, what was said: of other dialogues."""
    batches, said = page.labelled(n, seed)
    return *page.at_ends(batches), said


@claim("13.1", "A sum of one vector a tone and one a topic gives back .97 or .98 of the variance of the means",
       over=FRESH, runs=OTHERS, here=2, between=(0.965, 0.985))
def states_add(page, seed):
    H, _, said = other(page, seed)
    return page.added_up(page.means_of(H, said))[1]


@claim("13.2", "tone alone has .91 to .93 of it already", over=FRESH, runs=OTHERS, here=2, between=(0.905, 0.935))
def tone_alone(page, seed):
    H, _, said = other(page, seed)
    return page.added_up(page.means_of(H, said))[0]


@claim("13.3", "Between a third and a half, more than twice as many as by guessing.", over=FRESH, runs=OTHERS, here=2,
       between=(1 / 3, 1 / 2))
def analogies_right(page, seed):
    H, _, said = other(page, seed)
    return np.mean(page.analogies(page.means_of(H, said)))


# Directions that are known

@cache
def toy(there, seed):
    """Directions that a toy model learned (16, 64)."""
    return superposition.train(there, seed=seed, steps=350 if there == 0.3 else 200, progress=False).W


@claim("13.4", "At 30 % it keeps half, two in a dimension, one up and one down", runs=SEEDS, here=0, between=(26, 38),
       over=f"directions with a squared length above ½; {TOYS}", trains=True)
def half_is_kept(page, seed):
    return int((toy(0.3, seed).square().sum(0) > 0.5).sum())


@claim("13.5", "At 2 % all have a direction of their own", runs=SEEDS, here=0, between=(64, 64), trains=True,
       over=f"directions with a squared length above ½; {TOYS}")
def all_are_kept(page, seed):
    return int((toy(0.02, seed).square().sum(0) > 0.5).sum())


@cache
def cosines(page, kind, seed):
    """Of each true direction the largest cosine with one that was found."""
    W = toy(0.02, seed) if kind == "trained" else superposition.random_directions(seed)
    return page.found(W, 1.0 if kind == "trained" else 2.0, seed)[1]


TEN = "five other trainings and five other draws"
RUNS = [[kind, seed] for kind in ("trained", "random") for seed in SEEDS]


@claim("13.6", "with other seeds at least .96, whether $W$ was trained or drawn at random.", runs=RUNS,
       between=(0.955, 1), over=f"the mean largest cosine; {TEN}", trains=True)
def directions_found(page, run):
    return cosines(page, *run).mean().item()


@claim("13.7", "in nearly every run some true direction is found badly", runs=RUNS, between=(0, 0.8), at_least=8,
       over=f"the worst of 64 cosines; {TEN}", trains=True)
def one_is_not(page, run):
    return cosines(page, *run).min().item()


# Tones

@cache
def dictionary(page, seed):
    """An autoencoder of sixteen features, trained anew."""
    return page.sixteen(seed)


@claim("13.8", "With all three seeds there is one feature for praise, one for secrecy and one for French", runs=SEEDS,
       over=f"the lowest of the three correlations; {AGAIN}", between=(0.95, 1), trains=True)
def one_feature_each(page, seed):
    sae = dictionary(page, seed)
    return page.chosen(sae.activations(page.H), sae.activations(page.H_test))[1][[1, 3, 4]].min().item()


@claim("13.9", "the MLP of block 2 has, for each tone, a neuron that is about as good as the feature", runs=OTHERS,
       over=f"the lowest correlation of five; {THOUSAND}", between=(0.9, 1))
def neurons_know(page, seed):
    _, N, said = other(page, seed, 1000)
    best = correlations(page.N, page.Y).argmax(0)
    return correlations(N, page.tones_of(said))[best, range(5)].min().item()


@claim("13.10", "for neutral the best of 256 random features has more than the best of the 256 trained ones, with "
       "four of five other seeds as well.", runs=SEEDS, over="by how much more; five other draws of random features",
       between=(0, inf), at_least=4)
def random_neutral(page, seed):
    sae = page.untrained(256, seed)
    r = [page.chosen(one.activations(page.H), one.activations(page.H_test))[1][0].item() for one in (sae, page.wide)]
    return r[0] - r[1]


def named(page, seed):
    """Correlations with each rule, of its feature, of the best coordinate and of the best MLP neuron (3, names)."""
    H, N, said = other(page, seed, 1000)
    rules, new = page.ruled(page.train_said), page.ruled(said)
    own = [j for j, _ in page.NAMES.values()]
    pairs = ((torch.cat([page.H, -page.H], 1), torch.cat([H, -H], 1)), (page.N, N))
    best = [correlations(A, new)[correlations(known, rules).argmax(0), range(len(own))] for known, A in pairs]
    return torch.stack([correlations(page.shipped.activations(H), new)[own, range(len(own))], *best])


@claim("13.11", "there the features do have more to say than neurons of either kind", runs=OTHERS, between=(0, inf),
       over=f"how far the six names of owners are ahead of the best neuron, the least; {THOUSAND}")
def owners_are_ahead(page, seed):
    r = named(page, seed)[:, 7:]
    return (r[0] - r[1:].amax(0)).min().item()


@claim("13.30", "“Late” and “a request” reach .62 and .56: no better than a neuron.", runs=OTHERS,
       between=(-inf, 0), over=f"how far the better of the two is ahead of the best neuron; {THOUSAND}")
def two_names_are_not(page, seed):
    r = named(page, seed)[:, 5:7]
    return (r[0] - r[1:].amax(0)).max().item()


# The knob

def share(page, tone, times, seed, what=None, **how):
    """The share of a tone, or of `what`, with its feature at so many times its largest."""
    return page.clamped(KNOBS[tone], times, seed=seed, **how)[what or tone]


@claim("13.12", "At sentence ends 5× brings praise from a fifth to nine tenths", runs=DRAWS, here=0,
       over=f"the share of praise; {TEXTS}", between=(0.87, 0.96))
def knob_works(page, seed):
    return share(page, "praise", 5, seed)


@claim("13.13", "and with autoencoders trained from other seeds", runs=SEEDS, between=(0.8, 1), trains=True,
       over="the lower share, praise and secretive at 3× and 5×; five of them")
def knob_works_again(page, seed):
    sae = dictionary(page, seed)
    best = page.chosen(sae.activations(page.H), sae.activations(page.H_test))[0]
    how = dict(sae=sae, largest=sae.activations(page.H).amax(0))
    return min(page.clamped(best[TONES.index(tone)].item(), times, seed=seed, **how)[tone]
               for tone in ("praise", "secretive") for times in (3, 5))


@claim("13.14", "and no valid sentence is left", runs=DRAWS, between=(0, 0.01), here=0,
       over=f"the highest share of valid sentences with 5× everywhere, three tones; {TEXTS}")
def everywhere_breaks(page, seed):
    made = [page.clamped(j, 5, everywhere, seed) for j in KNOBS.values()]
    return max(sum(shares[tone] for tone in TONES) for shares in made)


@claim("13.15", "and three or four sentences in ten are invalid.", runs=DRAWS, here=0, between=(0.25, 0.45),
       over=f"French at 5×; {TEXTS}")
def french_is_too_much(page, seed):
    return share(page, "french", 5, seed, "invalid")


@claim("13.16", "Of the praise about three quarters are still there.", runs=DRAWS, here=0, between=(0.65, 0.85),
       over="the share with the feature at 0 by the share as it is; five other draws of 240 texts")
def most_stays(page, seed):
    return share(page, "praise", 0, seed, n=240) / page.shares(240, seed=seed)["praise"]


# What acts

@cache
def pushes(page, seed):
    """Thirty other random pushes, each on texts of its own: the directions, and the shares."""
    drawn = page.directions(30, seed)
    return drawn, [page.pushed(page.PUSH[12] * one, seed=100 * seed + i) for i, one in enumerate(drawn)]


@claim("13.17", "What no random push does, here or in five other sets of thirty", runs=range(1, 6), between=(0, 0.8),
       over="the largest share of praise, secretive or French by a push with at most a tenth invalid")
def no_random_push(page, seed):
    return max(shares[tone] for shares in pushes(page, seed)[1] if shares["invalid"] <= 0.1 for tone in KNOBS)


@claim("13.19", "those that go along with praise make more of it.", runs=range(1, 6), between=(0.25, 1),
       over="correlation over thirty random pushes; five other sets")
def pushes_on_a_line(page, seed):
    drawn, made = pushes(page, seed)
    r = correlations(page.H_test @ drawn.T, page.Y_test)[:, 1]
    return np.corrcoef(r, [shares["praise"] for shares in made])[0, 1]


@claim("13.20", "and for secrecy nearly *useless*", runs=DRAWS, here=0, between=(-0.1, 0.12),
       over=f"how much more secretive the MLP neuron's direction makes; {TEXTS}")
def neuron_is_useless(page, seed):
    moved = page.pushed(page.PUSH[3] * page.best_neuron("secretive")[1], seed=seed)
    return moved["secretive"] - page.shares(seed=seed)["secretive"]


@claim("13.21", "For praise a hundred labels and one subtraction do nearly what the autoencoder does.",
       runs=DRAWS, here=0, over="praise by two means less by the feature; five other hundreds", between=(-0.2, 0.1))
def two_means_suffice(page, seed):
    means = page.pushed(page.PUSH[12] * page.two_means("praise", 100, seed), seed=seed)
    return means["praise"] - share(page, "praise", 3, seed)


# What goes along

@claim("13.22", "Five or more of the 247 others make at least half of the sentences praise.", runs=range(247),
       over="each of the 247, 20 texts", between=(0.5, 1), at_least=5)
def all_the_others(page, i):
    return page.clamped(page.lot(247, 0)[i], 5, seed=9, n=20, sae=page.wide, largest=page.largest)["praise"]


@claim("13.23", "make three quarters and more, as much as 178 or more.", runs=DRAWS, here=0,
       over=f"by how much more praise the better of 72 and 93 makes than 178; {TEXTS}", between=(-0.05, 0.3))
def found_by_trying(page, seed):
    how = dict(seed=seed, sae=page.wide, largest=page.largest)
    return max(page.clamped(j, 5, **how)["praise"] for j in (72, 93)) - page.clamped(178, 5, **how)["praise"]


@claim("13.24", "none makes half of them praise", runs=DRAWS, here=0, between=(0, 0.5),
       over="the largest share of the eight; five other draws of 40 texts")
def none_of_eight(page, seed):
    return max(page.clamped(j, 5, seed=seed, n=40, sae=page.wide, largest=page.largest)["praise"] for j in page.eight)


@claim("13.25", "Feature 204 correlates with praise at .62 and adds about a tenth of it", runs=DRAWS, here=0,
       median=(0.05, 0.15), over=f"how much more praise there is; {TEXTS}")
def adds_a_tenth(page, seed):
    moved = page.clamped(204, 5, seed=seed, sae=page.wide, largest=page.largest)
    return moved["praise"] - page.shares(seed=seed)["praise"]


@claim("13.26", "0 and 11 correlate *negatively* with French and make about three times as much of it as there is",
       runs=DRAWS, here=0, between=(2, 5), over="mean share of the two by the share as it is; five draws of 120")
def make_french(page, seed):
    return np.mean([page.clamped(j, 3, seed=seed, n=120)["french"] for j in (0, 11)]) / page.shares(
        120, seed=seed)["french"]


# What is used

TWO = "five times 300 other texts"


@cache
def off(page, seed):
    """How often a tone follows itself in other draws with its feature at 0."""
    return {tone: page.without(page.shipped, j, [seed, seed + 1])[tone, True][0] for tone, j in KNOBS.items()}


@claim("13.28", "on average they fell about half of the way to that.", runs=range(10, 20, 2), between=(0.4, 0.65),
       over=f"the mean of the three tones; {TWO}")
def part_of_the_way(page, seed):
    before, drawn = page.kept([seed, seed + 1]), {"praise": 0.2, "secretive": 0.1, "french": 0.15}
    return np.mean([(before[tone, True][0] - off(page, seed)[tone]) / (before[tone, True][0] - drawn[tone])
                    for tone in KNOBS])


@claim("13.29", "As much taken off along a random direction takes less", runs=range(10, 20, 2), between=(0, inf),
       over="by how much less, the mean of the three tones; one other direction and 150 texts each")
def random_takes_less(page, seed):
    [direction] = page.directions(1, seed)
    left = [page.as_much(j, direction, [seed])[tone, True][0] for tone, j in KNOBS.items()]
    return np.mean(left) - np.mean(list(off(page, seed).values()))
