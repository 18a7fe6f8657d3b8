"""What lecture 03 says, run again: other dialogues and questions, other draws of weights, other trainings."""

from functools import cache
from math import inf

import numpy as np
import torch
from torch.nn import functional as F

from coursekit.models import GPT2, GPT2Config, load_weights
from coursekit.models.training import minibatches, train
from coursekit.worlds import dialogues
from tools.train_dialogues import BATCH, RECIPE, SIZES, encoded, grouped

from . import claim

OWNERS = [("my sister's", "her"), ("my brother's", "his"), ("my", "your"), ("this", "this")]
THINGS = ["poem", "story", "program", "essay", "recipe", "song", "plan", "picture"]
ASKED = ["do you like {} {} ? {}", "how good is {} {} ? {}", "is {} {} ready ? {}", "what do you think of {} {} ? {}"]
HERE = "do you like my sister's poem ? her"
QUESTIONS = [asked.format(owner, thing, whose) for i, (owner, whose) in enumerate(OWNERS)
             for j, thing in enumerate(THINGS) for k, asked in enumerate(ASKED) if (i + j + k) % 4 == 1]
ABOUT = "32 other questions: four for each of eight things, eight for each of four owners"
SEEDS = range(23, 33)                           # of untrained networks; the page has 0 to 4
HUNDREDS = range(1, 11)                         # of a hundred dialogues each; the page has 77


def said(page, i):
    """The ids of a dialogue that nobody was trained on."""
    return page.read(dialogues(i + 1, seed=6)[i].text)


def thing_of(page, ids):
    """The id of the thing in a question."""
    return next(i for i in ids.tolist() if page.tokenizer.tokens[i] in THINGS)


# What a GPT is made of

@claim("03.1", "No forecast sees what comes later", over="the largest change of the forecasts before a word that is "
       "replaced, each word of 20 other dialogues in turn", runs=range(20), between=(0, 1e-5))
def sees_nothing_later(page, i):
    ids = said(page, i)
    other = ids.repeat(len(ids), 1).fill_diagonal_(page.tokenizer.vocab["needs"])
    moved = (page.model(other).softmax(-1) - page.model(ids[None]).softmax(-1)).abs().amax(-1)      # (place, forecast)
    return moved.tril(-1).max()


@claim("03.2", "More parameters sit in the MLPs than anywhere else.", over="their share less the largest other, in "
       "GPT-3's eight sizes", runs=[[12, 768], [24, 1024], [24, 1536], [24, 2048], [32, 2560], [32, 4096], [40, 5120],
                                    [96, 12288]], between=(0.01, 1))
def most_in_the_mlps(page, size):
    pieces = page.count(*size, T_max=2048)
    mlps = pieces.pop("MLPs")
    return (mlps - max(pieces.values())) / (mlps + sum(pieces.values()))


@claim("03.3", "The stream grows from block to block, and a plain norm undoes that.", over="20 other dialogues",
       runs=range(20))
def grows(page, i):
    stream = page.model.stream(said(page, i)[None])[:, 0]
    sizes, normed = ([page.size(rows).item() for rows in streams] for streams in (stream, F.layer_norm(stream, (64,))))
    return bool((np.diff(sizes) > 0).all() and np.allclose(normed, 1, atol=0.01))


@claim("03.4", "For every $a > 0$ and every $b$, $\\operatorname{LN}(a x + b\\mathbf 1) = \\operatorname{LN}(x)$.",
       over="the largest difference, 20 draws of rows of 2 to 800 numbers, a and b", runs=range(20), between=(0, 1e-8))
def forgets_scale_and_mean(page, seed):
    rng = np.random.default_rng(seed)
    d, a, b = int(rng.integers(2, 801)), np.exp(rng.normal()), 5 * rng.normal()
    x, one, zero = torch.tensor(rng.normal(size=(9, d))), torch.ones(d), torch.zeros(d)
    return (page.layer_norm(a * x + b, one, zero, eps=0) - page.layer_norm(x, one, zero, eps=0)).abs().max()


@claim("03.5", "in other dialogues and in every block a tenth to a fifth of the values are above.", at_least=28,
       over="ten other dialogues, three blocks", runs=[[l, i] for l in range(3) for i in range(10)],
       between=(0.09, 0.21))
def hidden_above(page, run):
    l, i = run
    block, rows = page.model.blocks[l], page.model.stream(said(page, i)[None])[l]
    rows = rows + block.attention(block.norm_attention(rows))[0]
    return (page.gelu(block.mlp[0](block.norm_mlp(rows))) > 0.1).double().mean()


# Skips and norms

@cache
def stacks(page, seed):
    """{(start, network): (gradients, differences, size of the stream)} of 24 untrained blocks."""
    return {(start, name): page.stack(*case, page.untrained(sigma, seed=seed)) for start, sigma in page.STARTS.items()
            for name, case in page.CASES.items()}


@claim("03.6", "With neither, at GPT-2's start, the gradient is gone, at the last block as at the first",
       over="the largest gradient of the 24 blocks, ten other seeds", runs=SEEDS, here=0, between=(0, 1e-50))
def gone(page, seed):
    return max(stacks(page, seed)["GPT-2's", "neither"][0])


@claim("03.7", "In no other row does it vanish.", over="the least gradient of 24 blocks in the seven other networks, "
       "ten other seeds", runs=SEEDS, here=0, between=(0.01, inf))
def nowhere_else(page, seed):
    return min(min(found[0]) for which, found in stacks(page, seed).items() if which != ("GPT-2's", "neither"))


@claim("03.8", "At the larger start, with skips alone, stream and gradient are larger than with norms by many powers "
       "of ten.", over="by how many at least, the gradient at the first block; ten other seeds", runs=SEEDS, here=0,
       between=(5, inf))
def by_powers_of_ten(page, seed):
    alone, both = (stacks(page, seed)["1/√d_e", name] for name in ("skips only", "skips and norms"))
    return np.log10(min(alone[0][0] / both[0][0], alone[2] / both[2]))


@claim("03.9", "after 24 blocks the difference is less than a thousandth, with norms or without.", runs=SEEDS,
       over="the largest of the four networks without skips, ten other seeds", here=0, between=(0, 1e-3))
def alike_without_skips(page, seed):
    return max(difference[-1] for (_, name), (_, difference, _) in stacks(page, seed).items() if "skips" not in name)


@claim("03.10", "at the larger start skips alone mostly keep a few hundredths of the difference; with norms beside "
       "them about half or more is left.", over="ten other seeds: .005 to .12, and .45 or more", runs=SEEDS, here=0,
       at_least=8)
def skips_alone(page, seed):
    alone, both = (stacks(page, seed)["1/√d_e", name][1][-1] for name in ("skips only", "skips and norms"))
    return 0.005 < alone < 0.12 and both > 0.45


BOUNDS = {"GPT-2's start": (0.9, 1.1), "Glorot and Bengio's": (0.15, 0.35), "1/√d_e": (0, 0.001)}


@claim("03.11", "nearly all arrives at GPT-2's small start, about a quarter or next to nothing at the others.",
       over="three starts, ten other seeds: .9 to 1.1, .15 to .35, below .001",
       runs=[[start, seed] for start in BOUNDS for seed in SEEDS])
def left_after_post_norm(page, run):
    low, high = BOUNDS[run[0]]
    return low < page.left_of_the_embeddings(page.untrained(page.starts[run[0]], L=12, seed=run[1])) < high


@claim("03.12", "The last line shows that the comparison would notice a GELU that is wrong in the fourth decimal.",
       runs=range(1, 7), here=0, over="six other random models: ours is off by less than 1e-4, another GELU more")
def would_notice(page, seed):
    import transformers
    gaps = page.compare(transformers, seed)
    return gaps["our page"] < 1e-4 < gaps["with the exact GELU"]


# The lens

@claim("03.13", "In other dialogues the lens repeats about nine words in ten.", over="the share of the words, "
       "20 other dialogues", runs=range(20), median=(0.87, 0.97))
def repeats(page, i):
    ids = said(page, i)
    return (page.lens(0, ids).argmax(-1) == ids).double().mean()


@claim("03.14", "after two blocks the lens names the word that the model will say at about two places in three",
       over="the share of the places, 20 other dialogues", runs=range(20), median=(0.57, 0.76))
def own_word(page, i):
    ids = said(page, i)
    return (page.lens(2, ids).argmax(-1) == page.lens(3, ids).argmax(-1)).double().mean()


@claim("03.15", "In other questions the first half is there after two blocks at the latest, and the second only after "
       "the third.", over=f"all eight things .9 or more and the thing itself below .5 after two blocks, {ABOUT}",
       runs=QUESTIONS, here=HERE)
def two_halves(page, text):
    ids = page.read(text)
    p = page.lens(2, ids)[-1]
    thing = thing_of(page, ids)
    return bool(p[page.THINGS].sum() > 0.9 and p[thing] < 0.5 < page.lens(3, ids)[-1, thing])


# Words and parts

@claim("03.16", "In other questions it is one, two or three of them.", over=f"how many heads of the last block look "
       f"most at the thing, {ABOUT}", runs=QUESTIONS, here=HERE, between=(1, 3))
def heads_that_look(page, text):
    ids = page.read(text)
    return (page.model.attentions(ids)[2, :, -1].argmax(-1) == ids.tolist().index(thing_of(page, ids))).sum()


def stays(page, text):
    """{place: share of the 255 other words with which the thing stays the likeliest}, and the place of the thing."""
    ids = page.read(text)
    thing = thing_of(page, ids)
    return [len(page.survivors(t, ids, thing)) / 255 for t in range(len(ids))], ids.tolist().index(thing)


@claim("03.17", "A change of any other word hardly ever matters.", over=f"how often the thing stays the likeliest, at "
       f"the place where it does least often, {ABOUT}", runs=QUESTIONS, here=HERE, between=(0.85, 1))
def other_words(page, text):
    shares, place = stays(page, text)
    return min(share for t, share in enumerate(shares[:-1]) if t != place)


@claim("03.18", "In other questions it is the same two words, the thing and the last, unless the thing is plan",
       over="how often the thing stays the likeliest, the larger of the two places, 28 other questions on seven things",
       runs=[text for text in QUESTIONS if "plan" not in text], here=HERE, between=(0, 0.35))
def two_words(page, text):
    shares, place = stays(page, text)
    return max(shares[place], shares[-1])


@cache
def without(page, *parts):
    return page.without(*parts)


def chance(page, text, *parts):
    """p of the thing as the next word, without some parts."""
    ids = page.read(text)
    return without(page, *parts)(ids[None])[0, -1].softmax(-1)[thing_of(page, ids)].item()


@claim("03.19", "“Head 2.1 brings the thing” is true of six things in eight, in this sentence and in other questions.",
       over=f"without the head plan and picture keep a half or more, the others do not, {ABOUT}", runs=QUESTIONS,
       here=HERE)
def six_in_eight(page, text):
    return (chance(page, text, "head 2.1") > 0.5) == ("plan" in text or "picture" in text)


@claim("03.20", "without this head the model mostly says plan or picture", over=ABOUT, runs=QUESTIONS, here=HERE,
       at_least=26)
def plan_or_picture(page, text):
    p = without(page, "head 2.1")(page.read(text)[None])[0, -1]
    return page.tokenizer.tokens[p.argmax()] in ("plan", "picture")


@cache
def scored(page, seed, *parts):
    """Share right of things said again, and mean −log p, of a hundred dialogues without some parts."""
    return page.scores(without(page, *parts), *page.fresh(seed))[2:]


A_HUNDRED = "ten other hundreds of dialogues"


@claim("03.21", "Where a thing comes again, head 2.1 is needed most of the time", over="the share that is right "
       f"without it, {A_HUNDRED}", runs=HUNDREDS, here=77, between=(0, 0.5))
def head_is_needed(page, seed):
    return scored(page, seed, "head 2.1")[0]


@claim("03.22", "any other head can be missed, 2.0 and 2.3 among them, as long as the rest are there.", here=77,
       over="the share of things said again that is right without the one that is missed most, five other hundreds of "
       "dialogues", runs=HUNDREDS[:5], between=(0.98, 1))
def others_can_be_missed(page, seed):
    return min(scored(page, seed, head)[0] for head in page.HEADS if head != "head 2.1")


@claim("03.23", "without its whole attention a quarter of them is lost, in other dialogues about a fifth.",
       over=f"the share, {A_HUNDRED}", runs=HUNDREDS, here=77, between=(0.15, 0.27))
def whole_attention(page, seed):
    return 1 - scored(page, seed, "attention 1")[0]


@claim("03.24", "over all words $-\\log p$ rises by 0.51, and by about as much in other dialogues.",
       over=f"without the last norm, {A_HUNDRED}", runs=HUNDREDS, here=77, between=(0.45, 0.57))
def last_norm(page, seed):
    return scored(page, seed, "last norm")[1] - scored(page, seed)[1]


@claim("03.25", "It alone is right at about three places in four where a thing comes again", runs=HUNDREDS, here=77,
       over=f"the share of things said again that is right without the other heads, {A_HUNDRED}", between=(0.68, 0.82))
def head_alone(page, seed):
    return scored(page, seed, *page.OTHERS)[0]


@claim("03.26", "over all words, no other part costs as much.", over="what is lost without MLP 0, by the largest loss "
       "without another, five other hundreds of dialogues", runs=HUNDREDS[:5], here=77, between=(1, inf))
def mlp_0_costs_most(page, seed):
    costs = {part: scored(page, seed, part)[1] - scored(page, seed)[1] for part in page.PARTS}
    return costs.pop("MLP 0") / max(costs.values())


# Other trainings

TRAININGS = [[1, 10_000, 3], [2, 10_000, 3], [3, 10_000, 3], [4, 10_000, 3], [5, 10_000, 3], [1, 30_000, 4]]
SIX = "six other trainings, five of them on a third of the dialogues"


@cache
def trained(seed, n, epochs):
    """The model of the lecture, trained as it was, but from another start: (seed, dialogues, epochs)."""
    tokenizer = load_weights("dialogue-gpt").tokenizer
    groups = grouped(encoded(tokenizer, [dialogue.text for dialogue in dialogues(n, seed=0)]))

    def batches(generator):
        found = [ids[index] for ids in groups for index in minibatches(len(ids), BATCH, generator)]
        return [found[i] for i in torch.randperm(len(found), generator=generator)]

    torch.manual_seed(seed)
    model = GPT2(GPT2Config(vocab_size=len(tokenizer.tokens), **SIZES))
    train(model, GPT2.loss, batches, epochs, RECIPE["lr"], seed=seed, progress=False)
    return model.requires_grad_(False)


@cache
def tested(page, *run):
    """{part: (share right of things said again, mean −log p)} of such a model without each part, and without none."""
    model = trained(*run)
    return {part: page.scores(page.without(*[part][:part != "none"], of=model))[2:] for part in ("none", *page.PARTS)}


def most_missed(page, run):
    """The head without which the fewest things said again are right, and the share."""
    return min((tested(page, *run)[head][0], head) for head in page.HEADS)


@claim("03.27", "In each of them MLP 0 costs most over all words", over="what is lost without it, by the largest loss "
       f"without another part: {SIX}", runs=TRAININGS, between=(1, inf), trains=True)
def mlp_0_in_others(page, run):
    costs = {part: loss - tested(page, *run)["none"][1] for part, (_, loss) in tested(page, *run).items()}
    return costs.pop("MLP 0") / max(costs.values())


@claim("03.28", "and all get most things said again right without head 2.1.", runs=TRAININGS,
       over=f"the share that is right without it: {SIX}", between=(0.8, 1), trains=True)
def not_head_2_1(page, run):
    return tested(page, *run)["head 2.1"][0]


@claim("03.29", "In four of six one other head is needed where a thing comes again", runs=TRAININGS, between=(0, 0.6),
       over=f"the share that is right without the head missed most: {SIX}", at_least=4, trains=True)
def another_head(page, run):
    right, head = most_missed(page, run)
    return 1 if head == "head 2.1" else right


@claim("03.30", "three of these four stand in the first block, the other in the last.", runs=TRAININGS, at_least=3,
       over=f"with .6 right at most without the head missed most, and this one in block 0: {SIX}", trains=True)
def in_the_first_block(page, run):
    right, head = most_missed(page, run)
    return right < 0.6 and head.startswith("head 0")


@claim("03.31", "in most of them the thing is there after one block.", over="p(the thing) that the lens shows after "
       f"one block, mean of 32 questions: {SIX}", runs=TRAININGS, between=(0.5, 1), at_least=4, trains=True)
def after_one_block(page, run):
    model, found = trained(*run), []
    for ids in map(page.read, QUESTIONS):
        p = model.logits(model.stream(ids[None])[1, 0, -1]).softmax(-1)
        found.append(p[thing_of(page, ids)].item())
    return np.mean(found)
