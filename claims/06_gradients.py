"""What lecture 06 says, run again: other reviews, words, rotations, widths and depths, other models and trainings."""

from copy import deepcopy
from functools import lru_cache
from math import inf

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from coursekit.explain import attention_mean, gradient, integrated_gradients, leave_one_out
from coursekit.explain.gradients import gauss_legendre
from coursekit.models import TransformerClassifier, load_weights
from coursekit.models.training import minibatches, train
from coursekit.text import WordTokenizer
from coursekit.worlds import handwritten_reviews, reviews

from . import claim

ONE_LAYER = ["tame", "peaky"]
MODELS = [*ONE_LAYER, "6 layers"]
SEEDS = range(1, 6)                             # of generated reviews


def each(names, runs):
    """The runs [name, run] of every name with every run."""
    return [[name, run] for name in names for run in runs]


def made(page, i):
    """The words of a generated review: of other films, and of restaurants."""
    return page.tame.tokenizer.tokenize(reviews(i + 1, seed=6)[i].text)


def many(page, seed, n):
    """The words of n generated reviews."""
    return [page.tame.tokenizer.tokenize(review.text) for review in reviews(n, seed)]


# Slopes, and what is made of them

@claim("06.1", "At every token but [CLS] the formula agrees with autograd.", runs=each(ONE_LAYER, range(10)),
       over="10 generated reviews, two models: equal to 1e-10, and at [CLS] off by a hundredth or more")
def formula_but_at_cls(page, run):
    model = deepcopy(page.models[run[0]]).double()
    e = model.embed(made(page, run[1]))
    gap = (page.slopes(model.from_embeddings, e) - page.slopes_by_hand(model, e)).norm(dim=1)
    return (gap[1:].max() < 1e-10 and gap[0] > 0.01).item()


@claim("06.2", "finite differences have a best step, in single precision a larger one.", runs=each(ONE_LAYER, range(5)),
       over="the strongest word of 5 generated reviews, two models, steps of .1, .001, … 1e-7")
def best_step(page, run):
    model, words, best = page.models[run[0]], made(page, run[1]), []
    t, exact = 1 + gradient(model, words, reduce="l2").scores.argmax(), deepcopy(model).double()
    auto = page.slopes(exact.from_embeddings, exact.embed(words))[t]
    for m in (model, exact):
        errors = [(page.finite_differences(m.from_embeddings, m.embed(words), t, h) - auto).norm()
                  for h in (1e-1, 1e-3, 1e-5, 1e-7)]
        best.append(np.argmin(errors))
    return bool(best[0] < best[1] < 3)


@claim("06.3", "Three models that give every review the same score, to rounding; three explanations, the last the "
       "exact opposite of the second.", over="correlation of G-avg with attention in the two turned bases, its sign "
       "turned in the last, the lower; 10 generated reviews, two models", runs=each(ONE_LAYER, range(10)),
       between=(0.999, 1))
def turned_both_ways(page, run):
    model, words, r = page.models[run[0]], made(page, run[1]), []
    for sign in (1, -1):
        other = page.in_basis(model, sign * page.attention_direction(model))
        assert abs(other.predict([words]) - model.predict([words])).max() < 1e-4
        r.append(sign * page.correlation(gradient(other, words, reduce="mean").scores,
                                         attention_mean(model, words).scores))
    return min(r)


@claim("06.4", "With eight dimensions no seed gives such a basis, with sixteen and more every seed does.",
       over="20 other seeds, 8, 10, 16, 32 and 128 dimensions", runs=range(5, 25))
def such_a_basis(page, seed):
    return all((page.own_and_found(d_e, seed)[1] > 0.999) == (d_e >= 12) for d_e in (8, 10, 16, 32, 128))


@claim("06.5", "in the models' own bases the seed decides, before any training, whether G-avg goes with attention or "
       "against it.", over="the share of 20 other seeds in which it goes with attention, at three widths",
       runs=[[d_e, first] for d_e in (8, 16, 128) for first in (5, 25)], between=(0.2, 0.8))
def the_seed_decides(page, run):
    d_e, first = run
    return np.mean([page.own_and_found(d_e, seed)[0] > 0 for seed in range(first, first + 20)])


@claim("06.6", "G-avg is 0 for every token of every document.", over="the largest G-avg by the largest G-L2, in 10 "
       "generated reviews, and in untrained transformers of 1 to 12 layers", between=(0, 1e-6),
       runs=[*each(["6 layers"], range(10)), *([depth, seed] for depth in (1, 2, 4, 12) for seed in SEEDS)])
def nothing_along_one(page, run):
    model = page.models.get(run[0])
    if model is None:
        torch.manual_seed(run[1])
        model = TransformerClassifier(page.tame.tokenizer, L=run[0]).requires_grad_(False)
    G = page.slopes(model.from_embeddings, model.embed(made(page, run[1])))
    return G.mean(1).abs().max() / G.norm(dim=1).max()


FORTY = "5 times 40 generated reviews, two models"


@lru_cache(16)
def followed(page, name, seed):
    """Correlations of two attentions with three gradients in 40 generated reviews (40, 2, 3)."""
    return np.array([page.followed(page.models[name], words) for words in many(page, seed, 40)])


@claim("06.7", "G-L1 *and* G-L2 follow α-avg, and α-max as well", runs=each(ONE_LAYER, SEEDS), between=(0.8, 1),
       over=f"the lowest of the four mean correlations, {FORTY}")
def lengths_follow(page, run):
    return followed(page, *run).mean(0)[:, 1:].min()


@claim("06.8", "**G-avg does not**: its correlations go from strongly negative to strongly positive",
       over=f"below −.4 and above .4; {FORTY}", runs=each(ONE_LAYER, SEEDS))
def mean_does_not_follow(page, run):
    r = followed(page, *run)[:, 0, 0]
    return r.min() < -0.4 and r.max() > 0.4


# Slope times what?

@claim("06.9", "In `imdb-6layer` the two parts *cancel*: next to nothing is left of them.", over="63 other reviews: "
       "what is left, by the parts of the words", runs=range(1, 64), here=0, between=(0, 0.2))
def words_and_places_cancel(page, i):
    word, place = page.word_and_place(page.deep, page.all_reviews[i])
    return (word + place).abs().sum() / word.abs().sum()


@claim("06.10", "In `imdb-peaky` about half of what G×I gives to a strong word, such as *mess*, belongs to the place "
       "where it stands.", over="the strongest word of 63 other reviews", runs=range(1, 64), here=0, median=(0.4, 0.65))
def part_of_the_place(page, i):
    word, place = page.word_and_place(page.peaky, page.all_reviews[i])
    t = (word + place).abs().argmax()
    return place[t] / (word + place)[t]


@lru_cache(32)
def agreement(page, name, seed):
    """{method: [Spearman, signs]} of a model on 12 generated reviews."""
    return page.agreement(name, many(page, seed, 12))


DOZEN = "5 times 12 generated reviews"


@claim("06.11", "$\\times(e - e^0)$ knows which way the *model* goes: in all three models it ranks the words of long "
       "reviews as the experiment does, signs included",
       over=f"the lower of the mean rank correlation and the share of equal signs, {DOZEN} for each model",
       runs=each(MODELS, SEEDS), between=(0.95, 1))
def difference_ranks(page, run):
    return min(agreement(page, *run)["× (e − e⁰)"])


@claim("06.12", "G×I does well where the model has no layer norm, and is of little use where it has.", runs=SEEDS,
       over=f"mean rank correlation with leave-one-out above .7 and below .4, {DOZEN}")
def with_and_without_norm(page, seed):
    tame, peaky, deep = (agreement(page, name, seed)["G×I"][0] for name in MODELS)
    return min(tame, peaky) > 0.7 and deep < 0.4


@claim("06.13", "G-avg does quite well in the coordinates in which the two one-layer models happened to be trained, "
       "and not at all in the turned ones", runs=each(ONE_LAYER, SEEDS),
       over=f"mean rank correlation above .6, and within .3 of 0; {DOZEN}, two models")
def as_trained_and_turned(page, run):
    found = agreement(page, *run)
    return found["G-avg"][0] > 0.6 and abs(found["G-avg, turned"][0]) < 0.3


@claim("06.14", "What follows is about how the models read, and how they read came out alike on the reviews that they "
       "get right and on those that they get wrong.",
       over="rank correlations with leave-one-out of G-L2, G×I and × (e − e⁰): the largest difference of medians, on "
       "the 64 hand-written and 2 times 64 generated reviews for each model", runs=each(MODELS, [None, 1, 2]),
       between=(0, 0.15))
def right_and_wrong(page, run):
    name, seed = run
    model, found = page.models[name], []
    texts = handwritten_reviews() if seed is None else reviews(64, seed)
    documents = [page.tame.tokenizer.tokenize(review.text) for review in texts]
    right = (model.predict(documents) > 0) == [review.label == 1 for review in texts]
    for words in documents:
        removal, ways = leave_one_out(model, words, by="replace"), list(page.METHODS.values())[1:]
        found.append([page.against(removal, way(model, words))[0] for way in ways])
    return abs(np.median(np.array(found)[right], 0) - np.median(np.array(found)[~right], 0)).max()


@lru_cache(16)
def moved(page, name, i):
    """By how much six explanations of a generated review move in other coordinates, {name: four numbers}."""
    model, words = deepcopy(page.models[name]).double(), made(page, i)
    changes = page.other_coordinates(model.W_e.shape[1], seed=i + 1)
    return page.moved(model.from_embeddings, model.embed(words), model.baseline(words), changes)


OTHERWISE = "5 generated reviews, each in other coordinates, three models"


@claim("06.15", "A rotation moves G-avg and G-L1, and leaves the other four as they are.", runs=each(MODELS, range(5)),
       over=OTHERWISE)
def rotated(page, run):
    rotation = [gaps[0] for gaps in moved(page, *run).values()]
    return min(rotation[:2]) > 0.01 and max(rotation[2:]) < 1e-8


@claim("06.16", "The last column bends space, and there *nothing* survives exactly, not even integrated gradients",
       over=f"the least move of the six, {OTHERWISE}", runs=each(MODELS, range(5)), between=(1e-4, inf))
def bent(page, run):
    return min(gaps[3] for gaps in moved(page, *run).values())


# Plateaus

@claim("06.17", "The log-odds of `imdb-6layer` have a ceiling, since the last layer norm bounds what the final layer "
       "reads.", over="the largest in 5 times 64 generated reviews, and in 5 times 64 draws of 1 to 100 words",
       runs=[*each(["reviews"], SEEDS), *each(["words"], SEEDS)], between=(3, 4.1))
def ceiling(page, run):
    rng, tokens = np.random.default_rng(run[1]), page.tame.tokenizer.tokens[3:]
    texts = many(page, run[1], 64) if run[0] == "reviews" else [
        [str(word) for word in rng.choice(tokens, rng.integers(1, 101))] for _ in range(64)]
    return abs(page.deep.predict(texts)).max()


PARTS = [4, 5, 7, 8, 10, 11, 13, 14, 16, 17]    # every 15th word from there; the page has every third, from 3


@claim("06.18", "In the one-layer models the forecasts go too far, mostly to twice or three times the change, and no "
       "word that moves the score by half a point or more has the wrong sign", runs=each(ONE_LAYER, PARTS),
       over="the other two thirds of the vocabulary, in ten parts, two models: the median from 2 to 3, no wrong sign")
def wrong_in_one_layer(page, run):
    name, first = run
    wrong, ratio = page.wrong_and_ratio(*page.one_word_reviews(page.models[name], first, 15), 0.5)
    return wrong == 0 and 2 <= ratio <= 3


@claim("06.19", "In `imdb-6layer` the cloud bends back at both ends: of the words that count *most*, those that change "
       "the score by 4 or more, more than half get the wrong sign", runs=PARTS, between=(0.5, 0.75), at_least=9,
       over="the share of wrong signs, the other two thirds of the vocabulary, in ten parts")
def wrong_in_six_layers(page, first):
    return page.wrong_and_ratio(*page.one_word_reviews(page.deep, first, 15), 4)[0]


@claim("06.20", "of the words that count *most*, those that change the score by 4 or more, more than half get the "
       "wrong sign, and the typical forecast is next to zero.", runs=PARTS, between=(-0.1, 0.1),
       over="median of forecast by change in `imdb-6layer`, the other two thirds of the vocabulary in ten parts")
def forecast_in_six_layers(page, first):
    return page.wrong_and_ratio(*page.one_word_reviews(page.deep, first, 15), 4)[1]


def small_transformer(page, seed):
    """A transformer of two layers, trained on 2,000 generated reviews with three words of ten replaced by [UNK]."""
    documents = many(page, seed + 100, 2000)
    praise = torch.tensor([float(review.label) for review in reviews(2000, seed + 100)])
    words = sorted({word for document in documents for word in document})
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    model = TransformerClassifier(WordTokenizer(["[PAD]", "[UNK]", "[CLS]", *words]), T_max=128, K=4, L=2)

    def loss(model, batch):
        some = [[word if rng.random() > 0.3 else "[UNK]" for word in documents[i]] for i in batch.tolist()]
        return binary_cross_entropy_with_logits(model.score(some), praise[batch])

    train(model, loss, lambda generator: minibatches(2000, 32, generator), epochs=8, seed=seed, progress=False)
    model.W_e.data[0] = model.W_e.data[1]                                       # padding, which is masked, as [UNK]
    return model.requires_grad_(False)


@claim("06.21", "the log-odds of transformers have plateaus, too.", over="five trainings of a transformer of two "
       "layers on generated reviews: median of forecast by change, the 40 words that change the score most",
       runs=range(3, 8), between=(-0.1, 0.1), trains=True)
def plateaus_of_others(page, seed):
    model = small_transformer(page, seed)
    change, forecast = page.one_word_reviews(model, 3, 1)
    most = np.argsort(-abs(change))[:40]
    return np.median((forecast / change)[most])


# Integrated gradients

@claim("06.22", "The library's `integrated_gradients` takes as many points as it needs.",
       over="the sum is off by 1e-4 or less, 4 generated reviews and 4 words alone, three models",
       runs=[[name, i] for name in MODELS for i in (0, 1, 2, 3, "wonderful", "awful", "film", "perfect")])
def library_is_complete(page, run):
    name, i = run
    words = [i] if isinstance(i, str) else made(page, i)
    return abs(integrated_gradients(page.models[name], words, baseline="unk").about["remainder"]) <= 1e-4


@claim("06.23", "With right ends, four times the points leave about a quarter of the error", between=(3, 5),
       over="the error of 16 by that of 64, 10 other reviews, two models", runs=each(ONE_LAYER, range(1, 11)),
       here=["tame", 0], at_least=18)
def a_quarter_of_the_error(page, run):
    model, words = page.models[run[0]], page.all_reviews[run[1]]
    return page.missed(model, words, page.right_ends, 16) / page.missed(model, words, page.right_ends, 64)


@claim("06.24", "In the smooth `imdb-tame` four points miss about a millionth or less.", over="20 other reviews",
       runs=range(1, 21), between=(0, 1.5e-6))
def four_points(page, i):
    return page.missed(page.tame, page.all_reviews[i], gauss_legendre, 4)


@claim("06.25", "In `imdb-6layer` 64 points are off by a hundred times as much or more", over="10 other reviews",
       runs=range(1, 11), here=0, between=(1e-4, inf))
def kinks(page, i):
    return page.missed(page.deep, page.all_reviews[i], gauss_legendre, 64)


@claim("06.26", "Without kinks the advantage of Gauss–Legendre is back.", over="how far 64 points are off with GELUs "
       "in place of ReLUs, 10 other reviews", runs=range(1, 11), here=0, between=(0, 1e-9))
def no_kinks(page, i):
    return page.missed(page.smooth, page.all_reviews[i], gauss_legendre, 64)


@claim("06.27", "Against *brilliant brilliant …* nearly every word speaks against the film", between=(0.9, 1),
       over="the share of the words that do, 8 other reviews in three models", at_least=22,
       runs=each(MODELS, range(1, 64, 8)), here=["tame", 0])
def against_brilliant(page, run):
    model, words = page.models[run[0]], page.all_reviews[run[1]]
    return (page.compared(model, words, page.baselines(model, words)["brilliant …"])[1] < 0).double().mean()


@claim("06.28", "*the the the …* is a rave review to `imdb-6layer`", over="its score, six other lengths", here=37,
       runs=[5, 10, 20, 50, 100, 200], between=(2.9, inf))
def the_the_the(page, n):
    return page.deep.predict([["the"] * n])[0]


@claim("06.29", "Here [UNK] is the natural choice: the models know it, and for a review of more than a few words its "
       "score is close to 0.", over="[UNK] 10 to 160 times, three "
       "models", runs=each(MODELS, [10, 20, 40, 80, 160]), between=(-0.2, 0.2))
def unknown_words(page, run):
    return page.models[run[0]].predict([["[UNK]"] * run[1]])[0]


@claim("06.30", "What the zero vector says depends on how many places it fills.", between=(0.25, inf),
       over="its highest less its lowest score, in three models, over 10 to 40, 60 or 120 places",
       runs=[[name, most] for name in MODELS for most in (40, 60, 120)])
def the_zero_vector(page, run):
    model, most = page.models[run[0]], run[1]
    scores = [model.from_embeddings(model.baseline(["film"] * n, "zero")).item() for n in range(10, most + 1, 10)]
    return max(scores) - min(scores)


# Rules, words, deletions

@claim("06.31", "*the* becomes the first word of α-avg, here and in most reviews that have it, and no score moves.",
       over="20 generated reviews", runs=range(20), at_least=14)
def an_idle_head(page, i):
    idle, words = page.with_idle_head(page.tame, "the"), [words for words in many(page, 6, 60) if "the" in words][i]
    same = abs(idle.predict([words]) - page.tame.predict([words])).max() < 1e-4
    return bool(same and attention_mean(idle, words).top(1)[0][0] == "the")


STRONG = ["terrible", "awful", "superb", "wonderful", "boring", "perfect", "mess", "great", "worst", "excellent"]


@claim("06.32", "Half-way stand words that to us say nothing about a film, and even they are far, nearly as far as a "
       "strong word is from its own nearest word", over="how far the nearest word half-way is, by how far the word's "
       "own nearest is: ten other words, two models", runs=each(ONE_LAYER, STRONG), here=["tame", "brilliant"],
       between=(0.65, 0.95))
def far_half_way(page, run):
    model = page.models[run[0]]
    W, target = model.W_e, model.W_e[model.tokenizer.vocab[run[1]]]
    half = (W - (W[model.tokenizer.pad_id] + target) / 2).norm(dim=1).min()
    return half / (W - target).norm(dim=1).sort().values[1]


@lru_cache(64)
def promised(page, name, i):
    return page.promised(page.models[name], made(page, i))


SWAPS = "the strongest word of 10 generated reviews: mean forecast by mean truth"


@claim("06.33", "In the one-layer models the forecast promises too much", over=f"{SWAPS}, two models",
       runs=each(ONE_LAYER, range(10)), between=(1, 4))
def too_much(page, run):
    return promised(page, *run)[0]


@claim("06.34", "In the one-layer models the forecast promises too much, in `imdb-peaky` mostly twice what happens or "
       "more", over=SWAPS, runs=range(10), median=(1.9, 3))
def twice_or_more(page, i):
    return promised(page, "peaky", i)[0]


@claim("06.35", "In `imdb-6layer` the forecast promises too little, less than half of what happens.", over=SWAPS,
       runs=range(10), between=(0, 0.5))
def too_little(page, i):
    return promised(page, "6 layers", i)[0]


@claim("06.36", "Which of the 300 words help is forecast only loosely.", over="the correlation of forecast and truth "
       "at the strongest word of 10 generated reviews, three models", runs=each(MODELS, range(10)),
       median=(0.2, 0.8))
def loosely(page, run):
    return promised(page, *run)[1]


@claim("06.37", "a strong word draws more attention than those that come in", over="how many times as much as they do "
       "on average, the strongest word of 10 generated reviews, two models", runs=each(ONE_LAYER, range(10)),
       between=(1, inf))
def more_attention(page, run):
    model, words = page.models[run[0]], made(page, run[1])
    i = abs(leave_one_out(model, words).scores).argmax()
    swapped = [[*words[:i], model.tokenizer.tokens[v], *words[i + 1:]] for v in page.others[:50]]
    now, *then = (attention_mean(model, document).scores[i] for document in (words, *swapped))
    return now / np.mean(then)


@lru_cache(16)
def deleted(page, name, seed):
    """{method: (area, words until the verdict turns, share that falls below −1)} of 30 generated reviews."""
    return {way: page.summary(curves) for way, curves in page.deletions(name, many(page, seed, 30), seed).items()}


THIRTY = "3 times 30 generated reviews, two models"
DELETED = each(ONE_LAYER, SEEDS[:3])


@claim("06.38", "$\\times(e-e^0)$ and integrated gradients turn most verdicts over within three words.",
       over=f"the larger median number of words, {THIRTY}", runs=DELETED, between=(0, 3))
def within_three_words(page, run):
    return max(deleted(page, *run)[way][1] for way in ("× (e − e⁰)", "integrated"))


@claim("06.39", "attention and G-L2 bring the score near zero and leave it there **on average**", runs=DELETED,
       over=f"the mean area of the two, {THIRTY}", between=(-0.3, 0.3))
def unsigned_end_at_zero(page, run):
    return np.mean([deleted(page, *run)[way][0] for way in ("α-avg", "G-L2")])


@claim("06.40", "By an unsigned order some single reviews fall below −1 on the way, less than half of them.",
       over=f"the larger share of the two, {THIRTY}", runs=DELETED, between=(0.05, 0.5))
def some_fall(page, run):
    return max(deleted(page, *run)[way][2] for way in ("α-avg", "G-L2"))


@claim("06.41", "Take the sign away from $\\times(e - e^0)$ and it falls back into this group: most of the gap is the "
       "sign.", over=f"the part of its lead over chance that goes with the sign, {THIRTY}", runs=DELETED,
       between=(0.5, 1))
def most_is_the_sign(page, run):
    signed, size, chance = (deleted(page, *run)[way][0] for way in ("× (e − e⁰)", "× (e − e⁰), by size", "random"))
    return (size - signed) / (chance - signed)


@claim("06.42", "After a turn of the coordinates that we chose for it, the area of G-avg is nearer to chance than to "
       "what it was", runs=DELETED, over=THIRTY)
def nearer_to_chance(page, run):
    trained, turned, chance = (deleted(page, *run)[way][0] for way in ("G-avg", "G-avg, turned", "random"))
    return abs(turned - chance) < abs(turned - trained)


# A model of another make

SHORT = """the boat is lovely , but the captain is rude . | a cheap trick and a great joke . | i wanted to leave ,
and then the music began . | the actors try hard and the script is lazy . | too many jokes , and most of them are
funny . | the first hour is slow and the last is superb . | an ugly poster for a charming film . | she is excellent
, he is not . | loud , silly , and my kids loved every minute . | the idea is great , the film is not . | a fine
cast is wasted on a stupid plot . | it is short , and it still felt long . | not a masterpiece , but it made me
laugh . | a beautiful mess with a terrible end . | the dialogue is awful but the fights are fun . | i hated the book
and i love this film . | a sad story , told with humour . | the villain is dull and the hero is worse . | old jokes
, new faces , no surprises . | it could have been great , had they tried . | the best scene comes too late . | weak
, but never boring . | the songs are bad and i still hum them . | good looking , badly written . | my wife fell
asleep and i cried ."""
SHORT = [sentence.strip() for sentence in SHORT.replace("\n", " ").split("|")]


@lru_cache(8)
def beside(page, first):
    """{way: (Spearman, signs) on average} of the pretrained model, five of the 25 short sentences."""
    found = page.beside(load_weights("minilm-sentiment"), SHORT[first:first + 5])
    return {way: numbers[:2].mean(1) for way, numbers in found.items()}


FIVE = "5 times 5 other short sentences, the pretrained model"


@claim("06.43", "$\\times(e - e^0)$, which in `imdb-6layer` is of some use, has the signs of a coin.",
       over=f"how often it has the sign of leave-one-out, {FIVE}", runs=range(0, 25, 5), median=(0.35, 0.65))
def signs_of_a_coin(page, first):
    return beside(page, first)["× (e − e⁰)"][1]


@claim("06.44", "Of the ways with a sign, integrated gradients come closest to the experiment.", runs=range(0, 25, 5),
       over=f"their rank correlation with leave-one-out less that of the best other, {FIVE}", between=(0, 2))
def closest(page, first):
    found = beside(page, first)
    return found["integrated, 16 points"][0] - max(found[way][0] for way in ("G×I", "× (e − e⁰)"))


def on_imdb(page, right):
    """The table of section 5 on reviews of IMDB that each model gets right: (title, rows, columns).

    right(model, n, longest): n documents, lists of at most `longest` words, that the model gets right.
    """
    rows = []
    for name, model in page.models.items():
        for method, (r, same) in page.agreement(name, right(model, 40, 120)).items():
            rows.append([name, method, f"{r:+.2f}", "–" if same is None else f"{same:.0%}"])
    title = "Agreement with leave-one-out, 40 test reviews of IMDB of at most 120 words that the model gets right"
    return title, rows, ["model", "method", "Spearman", "signs"]
