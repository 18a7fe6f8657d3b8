"""What lecture 02 says, run again: other draws of weights, other sentences, translators trained from other starts."""

from functools import lru_cache
from math import inf

import numpy as np
import torch

from coursekit.explain import attention_mean, gradient_x_input, leave_one_out
from coursekit.models import load_weights
from coursekit.worlds import handwritten_reviews

from . import claim

SEEDS = range(20, 40)                           # the page draws with 0 to 19
STARTS = range(4, 14)                           # of translators; the page trains 0 to 3
TEN = "ten other trainings of the translator"

PRAISE = [["wonderful", "brilliant", "clever"], ["funny", "interesting", "lovely"], ["perfect", "nice", "fine"],
          ["moving", "strong", "fresh"], ["excellent", "fun", "superb"]]
BLAME = [["terrible", "dull", "poor"], ["weak", "stupid", "ugly"], ["horrible", "silly", "slow"],
         ["lame", "annoying", "predictable"], ["pathetic", "tedious", "worst"]]
NOUNS = [["script", "song", "scene", "idea", "role", "score", "style", "work"],
         ["dialogue", "camera", "humor", "end", "pace", "book", "show", "voice"],
         ["series", "action", "soundtrack", "direction", "effect", "title", "tone", "look"],
         ["hero", "girl", "man", "performance", "writing", "setting", "picture", "finale"],
         ["theme", "plot", "version", "world", "opening", "romance", "chemistry", "message"]]
WORDS = "five other dozens of sentences, each of three other adjectives and eight other nouns"
LONGER = ["this {} seems {} .", "the {} was {} at all .", "my {} is {} , sadly .", "their {} looked {} to most of us .",
          "her {} is {} this time ."]           # “not” comes in front of the adjective
FRAMES = [[frame, i] for frame in LONGER for i in range(3)]


@claim("02.1", "At GPT-2's width of 768 the largest weight is mostly three to five times the smallest.",
       over="20 other draws of words and weights", runs=SEEDS, here=0, between=(2.5, 5.5), at_least=18)
def largest_by_smallest(page, seed):
    A = page.initial_attention(0.02, 768, seed=seed)
    return A.max() / A.min()


@claim("02.2", "With $\\sigma = 1/\\sqrt{d_e}$, another common choice, here 0.125, one token mostly gets .40 of a row "
       "or more, by chance.", over="20 other draws of words and weights", runs=SEEDS, here=0, between=(0.395, 1),
       at_least=16)
def largest_of_a_row(page, seed):
    return page.initial_attention(0.125, 64, seed=seed).max()


@claim("02.3", "Without the division, the largest of ten weights comes close to one: a hard choice, made by chance "
       "before anything was learned.", over="ten other draws of 2,000 queries, of 1024 coordinates", runs=range(1, 11),
       here=0, between=(0.9, 1))
def hard_choice(page, seed):
    return page.random_scores(1024, seed=seed)[1]


@claim("02.4", "With the division, the largest weight is about the same for all sizes.",
       over="the largest by the smallest of 8 to 2048 coordinates, ten other draws", runs=range(1, 11), here=0,
       between=(1, 1.15))
def same_for_all_sizes(page, seed):
    largest = [page.random_scores(d, seed=seed)[2] for d in (8, 32, 128, 512, 2048)]
    return max(largest) / min(largest)


@lru_cache(16)
def run_of(page, seed):
    """A translator and what it looks at and needs, trained once a process."""
    model = page.trained(seed)
    return model, page.looks_at(model)


@claim("02.5", "Most looks above .8 are needed, but not all", over=TEN, runs=STARTS, here=0, between=(0.01, 0.35))
def strong_looks_not_needed(page, seed):
    strong, _, _ = run_of(page, seed)[1]
    return (strong < 0.5).double().mean()


@claim("02.6", "No look below .2 is needed, in any run.", over=TEN, runs=STARTS, here=0, between=(0, 0))
def weak_looks_needed(page, seed):
    _, weak, _ = run_of(page, seed)[1]
    return (weak > 0.5).sum()


@claim("02.7", "In most runs one of the two articles does without its noun", over=TEN, runs=STARTS, here=0, at_least=6)
def an_article_without_its_noun(page, seed):
    _, _, own = run_of(page, seed)[1]
    return (own["le"] < 0.1) != (own["la"] < 0.1)


@claim("02.8", "in most runs each verb needs its English verb", over=TEN, runs=STARTS, here=1, at_least=6)
def each_verb_needs_its_verb(page, seed):
    _, _, own = run_of(page, seed)[1]
    return min(own[verb] for verb in page.VERBS.values()) > 0.1


@claim("02.9", "in no other run that we tried does the place of a *the* decide a verb.",
       over="verbs of which a run without one “the” or the other writes less than a half, " + TEN, runs=STARTS, here=0,
       between=(0, 0))
def verbs_told_by_a_place(page, seed):
    model, (_, _, own) = run_of(page, seed)
    the = (page.Z_test == page.english.index("the"))[:, None]
    first, told = the & (torch.arange(8) == 0), 0
    for verb in [verb for verb in page.VERBS.values() if own[verb] < 0.1]:
        right = [(page.read(model, seen)[2] == page.X_test)[page.X_test == page.french.index(verb)].double().mean()
                 for seen in (~first, ~the | first)]                        # without the first, without the second
        told += min(right) < 0.5
    return told


@claim("02.10", "With one layer, *not* takes nearly the same from every sentence of a kind.",
       over=f"the largest change less the smallest, {WORDS}, praise and blame", between=(0, 0.1),
       runs=[[kind, i] for kind in ("praise", "blame") for i in range(5)])
def spread_with_one_layer(page, run):
    kind, i = run
    before, after = page.without_and_with_not(
        page.model, page.sentences((PRAISE if kind == "praise" else BLAME)[i], NOUNS[i]))
    return (after - before).max() - (after - before).min()


@claim("02.11", "With six layers, *not* costs some sentences of praise a lot and others nothing.",
       over=f"a change below −1 and one above −.05, {WORDS}", runs=range(5))
def a_lot_and_nothing(page, i):
    before, after = page.without_and_with_not(page.deep, page.sentences(PRAISE[i], NOUNS[i]))
    return (after - before).min() < -1 and (after - before).max() > -0.05


@claim("02.12", "Sentences of blame change less on average", runs=range(5), between=(0.01, inf),
       over=f"by how much less, {WORDS}, six layers")
def blame_changes_less(page, i):
    praise, blame = (page.without_and_with_not(page.deep, page.sentences(words[i], NOUNS[i]))
                     for words in (PRAISE, BLAME))
    return (blame[1] - blame[0]).mean() - (praise[1] - praise[0]).mean()


def left(page, run, allowed):
    """The share of the change by “not” that is left in sentences of a longer frame, if only `allowed` may look."""
    frame, i = run
    texts = [frame.format(noun, word).split() for word in PRAISE[i] for noun in NOUNS[i]]
    return page.mean_change(allowed, texts) / page.mean_change(lambda s, t: True, texts)


LEFT = "the share of the change that is left, five longer sentences with three sets of other words each"


@claim("02.13", "*Good* **can** find *not*, and it hardly matters whether it does.", over=LEFT, runs=FRAMES,
       between=(0.9, 1.1))
def left_without_the_word_of_praise(page, run):
    return left(page, run, lambda s, t: (s, t) != (5, 4))


@claim("02.14", "If [CLS] alone may look, more than half is left: [CLS] reads *not* by itself.", over=LEFT, runs=FRAMES,
       between=(0.5, 1.1))
def left_with_cls_alone(page, run):
    return left(page, run, lambda s, t: t != 4 or s in (0, 4))


@claim("02.15", "If the word of praise alone may look at *not*, nearly nothing of the change is left here, and less "
       "than half in longer sentences.", over=LEFT, runs=FRAMES, between=(-0.5, 0.5))
def left_with_the_word_of_praise_alone(page, run):
    return left(page, run, lambda s, t: t != 4 or s in (5, 4))


def words_of(page, i):
    return page.model.tokenizer.tokenize(handwritten_reviews()[i].text)


@claim("02.16", "`imdb-tame` spreads it thinly over everything: no word gets a tenth of a head.",
       over="63 other reviews: the largest weight of a word", runs=range(1, 64), here=0, between=(0, 0.1))
def largest_in_tame(page, i):
    return page.largest_weight(page.model, words_of(page, i))


@claim("02.17", "In `imdb-peaky` one word takes about half of a head, in some reviews more.",
       over="63 other reviews: the largest weight of a word", runs=range(1, 64), here=0, median=(0.4, 0.6))
def largest_in_peaky(page, i):
    return page.largest_weight(load_weights("imdb-peaky"), words_of(page, i))


@claim("02.18", "Most of the attention goes there, so the weights of the words do not sum to one.",
       over="the attention of `imdb-tame` on padding in the course's own 64 reviews", runs=range(64), between=(0.5, 1))
def on_padding(page, i):
    words = words_of(page, i)
    return page.where_and_what(page.model, words)[0][:, len(words) + 1:].sum(1).mean()


def ranks(x):
    return np.argsort(np.argsort(x))


def agreement(model, words, way):
    """Rank correlation with leave-one-out of attention (both without signs) or of gradient × input."""
    gone = leave_one_out(model, words).scores
    if way == "attention":
        return np.corrcoef(ranks(attention_mean(model, words).scores), ranks(abs(gone)))[0, 1]
    return np.corrcoef(ranks(gradient_x_input(model, words).scores), ranks(gone))[0, 1]


@claim("02.19", "how they read came out alike on the reviews that they get right and on those that they get wrong.",
       over="the median agreement with leave-one-out on the right ones less that on the wrong ones: three models, "
       "attention and gradient × input", between=(-0.1, 0.1),
       runs=[[name, way] for name in ("imdb-tame", "imdb-peaky", "imdb-6layer") for way in ("attention", "G×I")])
def right_less_wrong(page, run):
    model, way = load_weights(run[0]), run[1]
    words = [words_of(page, i) for i in range(64)]
    right = (model.predict(words) > 0) == [review.label for review in handwritten_reviews()]
    found = np.array([agreement(model, document, way) for document in words])
    return np.median(found[right]) - np.median(found[~right])
