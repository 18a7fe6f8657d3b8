"""What lecture 02 says, run again: other draws of weights, other sentences, translators trained from other starts."""

import random
from functools import lru_cache
from math import inf

import numpy as np
import torch

from coursekit.explain import attention_mean, gradient_x_input, leave_one_out
from coursekit.models import load_weights
from coursekit.worlds import handwritten_reviews, reviews

from . import claim

SEEDS = range(20, 40)                           # the page draws with 0 to 19
STARTS = range(4, 24)                           # of translators; the page trains 0 to 3
TWENTY = "twenty other trainings of the translator"

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
LONGER = ["the {} was not {} at all .", "my {} is , sadly , not {} .", "what a pity that the {} is not {} .",
          "i think that this {} seems not {} to most of us .", "the second {} of his is certainly not {} this time ."]
FRAMES = [[frame, i] for frame in LONGER for i in range(3)]


@claim("02.1", "At GPT-2's width of 768 the largest weight is mostly three to five times the smallest.",
       over="20 other draws of words and weights", runs=SEEDS, here=0, between=(3, 5), at_least=15)
def largest_by_smallest(page, seed):
    A = page.initial_attention(0.02, 768, seed=seed)
    return A.max() / A.min()


@claim("02.2", "With $\\sigma = 1/\\sqrt{d_e}$, another common choice, here 0.125, in some row one token mostly gets "
       ".40 or more, by chance.", over="20 other draws of words and weights", runs=SEEDS, here=0, between=(0.395, 1),
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


@claim("02.5", "Most looks above .8 are needed, but not all", over=TWENTY, runs=STARTS, here=0, between=(0.01, 0.35))
def strong_looks_not_needed(page, seed):
    strong, _, _ = run_of(page, seed)[1]
    return (strong < 0.5).double().mean()


@claim("02.6", "No look below .2 is needed, in any run.", over=TWENTY, runs=STARTS, here=0, between=(0, 0))
def weak_looks_needed(page, seed):
    _, weak, _ = run_of(page, seed)[1]
    return (weak > 0.5).sum()


@claim("02.7", "In most runs one of the two articles does without its noun", over=TWENTY, runs=STARTS, here=0,
       at_least=15)
def an_article_without_its_noun(page, seed):
    _, _, own = run_of(page, seed)[1]
    return (own["le"] < 0.1) != (own["la"] < 0.1)


@claim("02.8", "in most runs each verb needs its English verb", over=TWENTY, runs=STARTS, here=1, at_least=12)
def each_verb_needs_its_verb(page, seed):
    _, _, own = run_of(page, seed)[1]
    return min(own[verb] for verb in page.VERBS.values()) > 0.1


@claim("02.9", "in hardly any other run does a look at a *the* decide a verb.", runs=STARTS, here=0, between=(0.5, 1),
       at_least=18, over="the share of a verb that is still right without the first “the” or without the second, "
       "that of the verb which suffers most, " + TWENTY)
def right_without_a_the(page, seed):
    model, the = run_of(page, seed)[0], (page.Z_test == page.english.index("the"))[:, None]
    first = the & (torch.arange(8) == 0)
    written = [page.read(model, seen)[2] == page.X_test for seen in (~first, ~the | first)]
    return min(right[page.X_test == page.french.index(verb)].double().mean()
               for verb in page.VERBS.values() for right in written)


KINDS = [[kind, i] for kind in ("praise", "blame") for i in range(5)]


def changes(page, model, kind, i):
    """What “not” changes in 24 sentences of other words."""
    before, after = page.without_and_with_not(
        model, page.sentences((PRAISE if kind == "praise" else BLAME)[i], NOUNS[i]))
    return after - before


@claim("02.10", "With one layer, *not* takes nearly the same from every sentence of a kind.",
       over=f"the largest change less the smallest, as a part of their mean, {WORDS}, praise and blame",
       between=(0, 0.5), runs=KINDS)
def spread_with_one_layer(page, run):
    change = changes(page, page.model, *run)
    return (change.max() - change.min()) / abs(change.mean())


@claim("02.11", "With six layers, *not* costs some sentences of praise a lot and others nothing.",
       over=f"a change below −1 and one above −.05, {WORDS}", runs=range(5))
def a_lot_and_nothing(page, i):
    change = changes(page, page.deep, "praise", i)
    return change.min() < -1 and change.max() > -0.05


@claim("02.12", "Sentences of blame change less on average", runs=range(5), between=(0.01, inf),
       over=f"by how much less, {WORDS}, six layers")
def blame_changes_less(page, i):
    return changes(page, page.deep, "blame", i).mean() - changes(page, page.deep, "praise", i).mean()


def left(page, run, allowed):
    """The share of the change by “not”, at place n, that is left where s may look at t only if allowed(s, t, n)."""
    frame, i = run
    n, total = frame.split().index("not") + 1, np.zeros(2)                      # [CLS] stands in front
    for words in [frame.format(noun, word).split() for word in PRAISE[i] for noun in NOUNS[i]]:
        without = page.with_mask([*words[:n - 1], *words[n:]], lambda s, t: True)
        total += [page.with_mask(words, lambda s, t: allowed(s, t, n)) - without,
                  page.with_mask(words, lambda s, t: True) - without]
    return total[0] / total[1]


LEFT = "the share of the change that is left, five longer sentences with three sets of other words each"


@claim("02.13", "*Good* **can** find *not*, and it hardly matters whether it does.", over=LEFT, runs=FRAMES,
       between=(0.9, 1.1))
def left_without_the_word_of_praise(page, run):
    return left(page, run, lambda s, t, n: (s, t) != (n + 1, n))


@claim("02.14", "If [CLS] alone may look, more than half is left, as in most others: [CLS] reads *not* by itself.",
       over=LEFT, runs=FRAMES, between=(0.5, 1.1), at_least=11)
def left_with_cls_alone(page, run):
    return left(page, run, lambda s, t, n: t != n or s in (0, n))


@claim("02.15", "If the word of praise alone may look at *not*, nearly nothing of the change is left here, and less "
       "than half in longer sentences.", over=LEFT, runs=FRAMES, between=(-0.5, 0.5))
def left_with_the_word_of_praise_alone(page, run):
    return left(page, run, lambda s, t, n: t != n or s in (n, n + 1))


def words_of(page, i):
    return page.model.tokenizer.tokenize(handwritten_reviews()[i].text)


@claim("02.16", "`imdb-tame` spreads it thinly over everything: no word gets a tenth of a head.",
       over="63 other reviews: the largest weight of a word", runs=range(1, 64), here=0, between=(0, 0.1))
def largest_in_tame(page, i):
    return page.largest_weight(page.model, words_of(page, i))


@claim("02.17", "In `imdb-peaky` the strongest word takes about half of a head, in the median of our reviews.",
       over="63 other reviews: the largest weight of a word", runs=range(1, 64), here=0, median=(0.4, 0.6))
def largest_in_peaky(page, i):
    return page.largest_weight(load_weights("imdb-peaky"), words_of(page, i))


@claim("02.18", "In a short text most of the attention goes there; the longer the text, the less.",
       over="the attention of `imdb-tame` on padding: more than half at 40 and at 80 words, less than half at 160, "
       "less than a quarter at 240, and less each time; ten texts, each of many reviews", runs=range(10))
def less_on_padding(page, seed):
    order = random.Random(seed).sample(range(64), 64)
    text = [word for i in order for word in words_of(page, i)]
    shares = [page.where_and_what(page.model, text[:n])[0][:, n + 1:].sum(1).mean() for n in (40, 80, 160, 240)]
    return shares[0] > shares[1] > 0.5 > shares[2] and 0.25 > shares[3]


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
       "attention and gradient × input, 128 generated reviews", between=(-0.15, 0.15),
       runs=[[name, way] for name in ("imdb-tame", "imdb-peaky", "imdb-6layer") for way in ("attention", "G×I")])
def right_less_wrong(page, run):
    model, way = load_weights(run[0]), run[1]
    found = reviews(128, seed=5)
    words = [model.tokenizer.tokenize(review.text) for review in found]
    right = (model.predict(words) > 0) == [review.label for review in found]
    score = np.array([agreement(model, document, way) for document in words])
    return np.median(score[right]) - np.median(score[~right])


@claim("02.20", "With $\\sigma = 0.3$ one token takes nearly all in about half of the rows",
       over="20 other draws of words and weights: the rows with a weight above .9", runs=SEEDS, here=0,
       median=(0.4, 0.65))
def rows_with_one_token(page, seed):
    return (page.initial_attention(0.3, 64, seed=seed).max(1).values > 0.9).double().mean()


@claim("02.21", "*Good* is positive, *bad* is negative, and *not* lowers the score of *good*. But it lowers the score "
       "of *bad* as well.",
       over=f"in how many of 24 sentences, {WORDS}, praise and blame", runs=KINDS, between=(24, 24))
def lowers_both(page, run):
    return (changes(page, page.model, *run) < 0).sum()


@claim("02.22", "In nearly all heads *good* gives *not* about an even share.", runs=FRAMES, between=(30, 36),
       over="in how many of 36 heads it is between half and twice an even share: another word of praise in five longer "
       "sentences")
def about_an_even_share(page, run):
    words, n = run[0].format(NOUNS[run[1]][0], PRAISE[run[1]][0]).split(), run[0].split().index("not") + 1
    share = page.deep.attentions(words)[:, :, n + 1, n] * len(page.deep.tokens(words))
    return ((share > 0.5) & (share < 2)).sum()
