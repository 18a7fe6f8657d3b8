"""What lecture 13b says, run again: other dialogues and reviews, other seeds."""

from functools import cache

import numpy as np
import torch

from coursekit.models import GPT2

from . import claim

SEEDS = range(3, 8)                                     # of trainings, each on dialogues of its own; not 0, 1, 2
REVIEWS = range(2, 7)                                   # of other sets of 240 reviews; the page's is 1
AGAIN = "autoencoders of five other seeds, each on 1,200 dialogues of its own"
PAIRS = "pairs of these: 3 and 4, 4 and 5, and so on"


@cache
def states(page, seed):
    """States at sentence ends of 1,200 other dialogues."""
    return page.states_of(page.batches_of(1200, 2 + 10 * seed))


@cache
def sae(page, name, seed):
    """An autoencoder of one kind, of another seed."""
    return page.trained(name, states(page, seed), seed)


@cache
def measured(page, name, seed):
    """L0, loss recovered, variance, dead, factor."""
    return page.measured(sae(page, name, seed))


# Three ways to be sparse

@claim("13b.1", "TopK and JumpReLU recover more of the model at the same sparsity", runs=SEEDS, between=(0.02, 1),
       over=f"the lower of the two at two features a state less ReLU; {AGAIN}", trains=True)
def cliffs_recover_more(page, seed):
    two, four, relu = (measured(page, name, seed)[1] for name in ("TopK, k = 2", "JumpReLU, λ = 4", "ReLU, λ = 4"))
    return min(two, four) - relu


@claim("13b.2", "even TopK with *one* feature loses less than that", runs=SEEDS, between=(0, 1), trains=True,
       over=f"loss recovered, TopK with one less ReLU with two; {AGAIN}")
def one_feature(page, seed):
    return measured(page, "TopK, k = 1", seed)[1] - measured(page, "ReLU, λ = 4", seed)[1]


@claim("13b.3", "about 1.75 for ReLU, more the higher its price.", runs=SEEDS, trains=True,
       over=f"the stretch of ReLU at three prices; {AGAIN}")
def stretch_by_price(page, seed):
    low, middle, high = (measured(page, f"ReLU, λ = {lam}", seed)[4] for lam in ("0.5", "2", "4"))
    return 1.02 < low < middle < high


@claim("13b.4", "is 1.00 for the two with cliffs", runs=SEEDS, trains=True, between=(0.97, 1.03),
       over=f"the stretch farthest from 1 of five settings; {AGAIN}")
def no_stretch(page, seed):
    found = [measured(page, name, seed)[4] for name in page.SETTINGS if not name.startswith("ReLU")]
    return max(found, key=lambda factor: abs(factor - 1))


@claim("13b.5", "this is a third to two thirds of the loss", runs=SEEDS, trains=True, between=(1 / 3, 2 / 3),
       over=f"of what ReLU with λ = 4 loses, the share that comes back when it is stretched; {AGAIN}")
def half_is_shrinkage(page, seed):
    before = measured(page, "ReLU, λ = 4", seed)[1]
    longer = page.stretched(sae(page, "ReLU, λ = 4", seed))
    return (page.measured(longer)[1] - before) / (1 - before)


@claim("13b.6", "At two features a state every kind leaves many of its 64 unused", runs=SEEDS, trains=True,
       between=(20, 64), over=f"the fewest dead of three kinds; {AGAIN}")
def many_dead(page, seed):
    return min(measured(page, name, seed)[3] for name in ("TopK, k = 2", "JumpReLU, λ = 4", "ReLU, λ = 4"))


# Agreement

@cache
def agreement(page, name, seed):
    """Agreement with the next seed, both ways, mean."""
    one, other = (page.alive(sae(page, name, s), states(page, s)) for s in (seed, seed + 1))
    return (page.agreement(one, other) + page.agreement(other, one)) / 2


NEXT = range(3, 8)


@claim("13b.7", "ReLU with its two higher prices and TopK with one feature agree most with themselves", runs=NEXT,
       over=f"before five other settings; {PAIRS}", trains=True)
def sparse_agree_most(page, seed):
    order = sorted(page.SETTINGS, key=lambda name: -agreement(page, name, seed))
    return set(order[:3]) == {"ReLU, λ = 2", "ReLU, λ = 4", "TopK, k = 1"}


@claim("13b.8", "JumpReLU agrees least of all", runs=NEXT, trains=True,
       over=f"both prices below all other settings; {PAIRS}")
def jumprelu_agrees_least(page, seed):
    order = sorted(page.SETTINGS, key=lambda name: agreement(page, name, seed))
    return set(order[:2]) == {"JumpReLU, λ = 0.5", "JumpReLU, λ = 4"}


@claim("13b.9", "Two seeds find most of the same directions, far above chance", runs=NEXT, trains=True,
       between=(0.25, 1), over=f"the least agreement of eight settings less that with random directions; {PAIRS}")
def above_chance(page, seed):
    torch.manual_seed(seed)
    least = min(page.SETTINGS, key=lambda name: agreement(page, name, seed))
    other = page.alive(sae(page, least, seed + 1), states(page, seed + 1))
    return agreement(page, least, seed) - page.agreement(torch.randn_like(other), other)


def held(page, name, seed):
    """The nearest to praise, secrecy and French: the least near of the three."""
    return min(page.nearest(page.alive(sae(page, name, seed), states(page, seed))))


@claim("13b.10", "finds the same directions each time, and they are not the tones'.", runs=SEEDS,
       trains=True, between=(0, 0.75), over=f"the nearest of any to the three; {AGAIN}")
def relu_has_not(page, seed):
    return max(page.nearest(page.alive(sae(page, "ReLU, λ = 4", seed), states(page, seed))))


@claim("13b.11", "hold each of the three with .7 or more", runs=SEEDS, trains=True, between=(0.7, 1),
       over=f"TopK with two and four, JumpReLU with λ = 4, ReLU with λ = .5: the least near; {AGAIN}")
def others_hold(page, seed):
    return min(held(page, name, seed) for name in ("TopK, k = 2", "TopK, k = 4", "JumpReLU, λ = 4", "ReLU, λ = 0.5"))


# Dead features

@cache
def slower(page, seed):
    """TopK with two features, trained in four times as many steps."""
    return page.trained("TopK, k = 2", states(page, seed), seed, **page.PATIENT)


@claim("13b.12", "AuxK wakes none, or hardly any.", runs=SEEDS, trains=True, between=(-4, 15),
       over=f"dead with AuxK less dead without, TopK with two; {AGAIN}")
def auxk_wakes_none(page, seed):
    return page.measured(page.with_auxk(states(page, seed), 2, seed))[3] - measured(page, "TopK, k = 2", seed)[3]


@claim("13b.13", "Patience leaves fewer dead, and recovers a little more of the loss", runs=SEEDS, trains=True,
       over=f"both, TopK with two; {AGAIN}")
def patience_helps(page, seed):
    _, kept, _, dead, _ = page.measured(slower(page, seed))
    return dead < measured(page, "TopK, k = 2", seed)[3] and kept > measured(page, "TopK, k = 2", seed)[1]


@claim("13b.14", "praise, secrecy and French are held *less* well", runs=SEEDS, trains=True, between=(-1, 0),
       over=f"mean nearness with patience less without, TopK with two; {AGAIN}")
def held_less_well(page, seed):
    found = [np.mean(page.nearest(page.alive(one, states(page, seed))))
             for one in (slower(page, seed), sae(page, "TopK, k = 2", seed))]
    return found[0] - found[1]


# A real encoder

@cache
def encoded(page, seed):
    """States of 240 other reviews, MLP neurons, labels, owners."""
    ids, label, owner = page.read(240, seed)
    inner, mlp = [], page.mini.model.base_model.encoder.layer[3].intermediate
    hook = mlp.register_forward_hook(lambda *call: inner.append(call[2].detach().flatten(0, 1)))
    with torch.no_grad():
        found = torch.cat([page.layer(batch).flatten(0, 1) for batch in ids])
    hook.remove()
    neurons = torch.cat([page.largest(part, owner) for part in torch.cat(inner).split(256, dim=1)], 1)
    return found, neurons, label, owner


@cache
def correlation(page, seed):
    """With the label on the other half: a feature, the best coordinate, the best MLP neuron, 64 random."""
    H, neurons, label, owner = encoded(page, seed)
    at = page.largest(page.reader_of(H, owner, seed).activations(H), owner)
    torch.manual_seed(seed)
    drawn = page.largest(((H - H.mean(0)) @ torch.randn(384, 64)).relu(), owner)
    both = page.largest(torch.cat([H, -H], 1), owner)
    return [page.halves(A, label)[1] for A in (at, both, neurons, drawn)]


FIVE = "five other sets of 240 reviews, each with a training of its own"


@claim("13b.15", "In a real encoder one feature of 64 went along with the verdict of reviews", runs=REVIEWS,
       trains=True, between=(0.45, 1), over=f"correlation with the label on the other half; {FIVE}")
def goes_along(page, seed):
    return correlation(page, seed)[0]


@claim("13b.16", "with five other sets of reviews the feature is ahead of the best neuron as well.", runs=REVIEWS,
       trains=True, between=(0, 1), over=f"by how much, on the other half; {FIVE}")
def before_the_neuron(page, seed):
    feature, _, neuron, _ = correlation(page, seed)
    return feature - neuron


@claim("13b.18", "ahead of the best coordinate", runs=REVIEWS, trains=True, between=(0, 1),
       over=f"by how much, on the other half; {FIVE}")
def before_the_coordinate(page, seed):
    feature, coordinate, *_ = correlation(page, seed)
    return feature - coordinate


@claim("13b.19", "The name holds on reviews that did not suggest it", runs=REVIEWS, trains=True, between=(0.7, 1),
       over="the share of the 20 strongest of five other sets of 240 reviews that it fits; the page's seed 0")
def name_holds(page, seed):
    H, _, label, owner = encoded(page, 1)
    reader = page.reader_of(H, owner, 0)
    j, _ = page.halves(page.largest(reader.activations(H), owner), label)
    (ids, *_), (new, _, _, owner) = page.read(240, seed), encoded(page, seed)
    at, rows = reader.activations(new)[:, j], [row for batch in ids for row in batch.tolist()]
    best = page.largest(at[:, None], owner)[:, 0].topk(20).indices.tolist()
    return np.mean([page.fits(rows[r], at[owner == r].argmax().item()) for r in best])


# Any GPT-2

@claim("13b.17", "**A good reconstruction shows no understanding**", runs=SEEDS, trains=True, between=(0.6, 0.9),
       over="variance explained in five other models that nobody trained")
def nothing_understood(page, seed):
    torch.manual_seed(seed)
    batches = page.batches_of(1200, 2)[5:12]
    return page.dictionary(GPT2(page.model.config).eval(), 2, batches)[1].variance
