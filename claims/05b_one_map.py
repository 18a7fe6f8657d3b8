"""What lecture 05b says, run again: other reviews, reviews and sentences of a grammar, other draws and trainings."""

import re
from functools import cache, partial
from math import inf

import numpy as np
import torch

from coursekit import explain
from coursekit.models import load_weights
from coursekit.worlds import reviews

from . import claim

OTHERS = range(1, 64)                                   # hand-written reviews; the page's own is 0
DRAWS = range(1, 21)                                    # of untrained layers, weights, maps; the page's own is 0
DOZENS = range(5)                                       # of generated reviews or sentences
NOUNS = ["film", "acting", "story", "script", "ending", "music", "cast", "plot", "dialogue", "direction"]
SHORT = ["a {} {} .", "the {1} is {0} .", "what a {0} {1} !"]
ADJECTIVES = ["brilliant", "wonderful", "excellent", "perfect", "awful", "terrible", "boring", "dull", "bad", "great",
              "beautiful", "poor"]


@cache
def made(page, seed, n=60):
    """The words of n generated reviews."""
    return [page.deep.tokenizer.tokenize(review.text) for review in reviews(n, seed)]


def short(page, least=0, most=32):
    """The words of generated reviews of so many words."""
    return [words for words in made(page, 7, 1200) if least <= len(words) <= most]


@cache
def sentences():
    """Generated sentences with a but or a yet: they speak for both sides."""
    found = [text.strip() + " ." for review in reviews(330, 11) for text in re.split("[.!?]", review.text)]
    return [text for text in found if re.search(r"\b(but|yet)\b", text) and 8 < len(text.split()) < 17]


def largest_by_smallest(page, i, layer):
    row = page.deep.attentions(page.reviews[i])[layer, :, 0, 1:].mean(0)
    return row.max() / row.min()


@claim("05b.1", "all weights of layer 3 are nearly even, in this review as in the others", runs=OTHERS, here=0,
       over="the largest by the smallest weight of a word in the 63 other reviews", between=(1, 1.25))
def layer_3_even(page, i):
    return largest_by_smallest(page, i, 3)


@claim("05b.2", "The first layer is far from even, in every review.", runs=OTHERS, here=0,
       over="the largest by the smallest weight of a word in the 63 other reviews", between=(5, inf))
def layer_0_not_even(page, i):
    return largest_by_smallest(page, i, 0)


def drawn(page, seed):
    """Maps (K, n, n) of an untrained layer among 6 to 16 pieces, and a cut of the pieces into words."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 17))
    ends = np.sort(rng.choice(np.arange(1, n), size=int(rng.integers(1, n - 2)), replace=False))
    return page.untrained(seed, n), [list(group) for group in np.split(np.arange(n), ends)]


def sums_of_rows(page, seed, turned):
    A, groups = drawn(page, seed)
    maps = [page.word_map(one.T if turned else one, groups) for one in A]
    return torch.stack([one.T if turned else one for one in maps]).sum(-1)


@claim("05b.3", "Rows keep summing to one", over="how far from one, 20 untrained layers and cuts, drawn by lot",
       runs=DRAWS, between=(0, 1e-5))
def rows_sum_to_one(page, seed):
    return abs(sums_of_rows(page, seed, turned=False) - 1).max()


@claim("05b.4", "Its rows sum to anything.", over="how far the furthest is from one in 20 untrained layers and cuts, "
       "drawn by lot", runs=DRAWS, between=(0.25, inf))
def the_wrong_way(page, seed):
    return abs(sums_of_rows(page, seed, turned=True) - 1).max()


@claim("05b.5", "Weight every word by its number of pieces, and the mean of that column has not changed.",
       over="any column of a word that is not cut, 20 untrained layers and cuts: the largest change", runs=DRAWS,
       between=(0, 1e-5))
def columns_stay(page, seed):
    A, groups = drawn(page, seed)
    sizes, whole = torch.tensor([float(len(group)) for group in groups]), [g for g in groups if len(g) == 1]
    maps = torch.stack([page.word_map(one, groups) for one in A])
    before = A[:, :, [place for place, in whole]].mean(1)
    after = (maps[:, :, [groups.index(group) for group in whole]] * sizes[:, None]).sum(1) / sizes.sum()
    return abs(before - after).max() if whole else 0.0


@claim("05b.6", "on average it gets about what even attention would give", over="20 other untrained layers: the mean "
       "weight on “unwatchable” of four heads, by six elevenths", runs=DRAWS, here=0, between=(0.75, 1.25))
def about_even(page, seed):
    return page.untrained(seed)[:, :, 2:8].sum(-1).mean() / (6 / 11)


@claim("05b.7", "whichever review chooses, on other reviews more than half of its winner's lead over the mean of all "
       "maps is gone, and mostly all of it.", over="five short generated reviews that choose: the lead "
       "in area on ten others, by that on their own", runs=range(5), between=(-inf, 0.5))
def the_best_of_56_elsewhere(page, i):
    chooses, others = short(page)[i], short(page)[8:18]
    areas = page.all_ways(chooses)
    best = min(areas, key=areas.get)
    lead = [page.deletion_curve(page.deep, text, page.one_map(text=text)).area
            - page.deletion_curve(page.deep, text, page.one_map(*best, text)).area for text in others]
    return np.mean(lead) / (areas["mean", "all"] - areas[best])


@claim("05b.8", "on most reviews the best of ten random orders is about as good as the mean of all 36 maps, or better.",
       over="the area of the best of ten random orders less that of the mean, 20 other reviews (about: .3)", here=0,
       runs=OTHERS[:20], between=(-inf, 0.3), at_least=11)
def best_of_ten(page, i):
    text, rng = page.reviews[i], np.random.default_rng(i)
    lots = [page.Attribution(text, rng.random(len(text)), "", signed=False) for _ in range(10)]
    areas = [page.deletion_curve(page.deep, text, order).area for order in (*lots, page.one_map(text=text))]
    return min(areas[:-1]) - areas[-1]


@claim("05b.9", "Any other word gives the same picture.", over="ten other words in both models: the largest difference "
       "of a weight", runs=[[name, word] for name in ("imdb-tame", "imdb-peaky") for word in ADJECTIVES[:10]],
       between=(0, 1e-5))
def same_picture(page, run):
    model = load_weights(run[0])
    return abs(page.by_place(model, run[1]) - page.by_place(model)).max()


@claim("05b.10", "In most reviews some two heads of `imdb-peaky` order the words in opposite ways.", runs=range(20),
       over="20 generated reviews: the lowest rank correlation of two heads", between=(-1, 0), at_least=13)
def opposite_heads(page, i):
    return page.three_agreements(load_weights("imdb-peaky"), made(page, 3)[i])[0]


@claim("05b.11", "the two usual maps agree with each other", over="the rank correlation of mean and maximum in "
       "`imdb-peaky`, 20 generated reviews", runs=range(20), between=(0.92, 1))
def mean_and_maximum(page, i):
    return page.three_agreements(load_weights("imdb-peaky"), made(page, 3)[i])[2]


@claim("05b.12", "with the places divided out, the heads agree, too.", over="20 generated reviews: the lowest rank "
       "correlation of two heads of `imdb-peaky`", runs=range(20), between=(0.6, 1))
def places_divided_out(page, i):
    return page.three_agreements(load_weights("imdb-peaky"), made(page, 3)[i])[1]


@claim("05b.13", "Rollout is exact for a network that only mixes.", over="20 networks of 2 to 7 layers and 4 to 12 "
       "tokens, drawn by lot: the largest gap to the derivative", runs=DRAWS, between=(0, 1e-5))
def exact_for_mixing(page, seed):
    generator = torch.manual_seed(seed)
    L, T = 2 + seed % 6, 4 + seed % 9
    maps = (3 * torch.randn(L, T, T, generator=generator)).softmax(-1)
    J = torch.autograd.functional.jacobian(partial(page.through, maps), torch.randn(T, generator=generator))
    return abs(J - page.roll(maps)).max()


@claim("05b.14", "In this model the bound is met *everywhere*, in this text and in others", over="ten generated "
       "sentences: the largest gap between flow and its upper bound", runs=range(10), between=(0, 1e-3))
def bound_is_met(page, i):
    _, flow, ends = page.flow_and_bounds(page.deep.tokenizer.tokenize(sentences()[i]))
    return abs(flow - ends).max()


def for_the_verdict(page, words):
    """Leave-one-out, above 0 for what speaks for the verdict."""
    return np.sign(page.deep.predict([words])[0]) * page.once(page.deep, tuple(words)).scores


@claim("05b.15", "What is left speaks *for* the verdict.", over="the share of the colour on words that are so by "
       "leave-one-out, 20 other reviews", runs=OTHERS[:20], here=0, between=(0.85, 1), at_least=18)
def left_speaks_for(page, i):
    scores = page.guided_rollout(page.deep, page.reviews[i]).scores
    return scores[for_the_verdict(page, page.reviews[i]) > 0].sum() / scores.sum()


@claim("05b.16", "the top words of that map speak against the verdict.", over="of the first three words, by "
       "leave-one-out, in 20 other reviews", runs=OTHERS[:20], here=0, between=(2, 3))
def other_side_speaks_against(page, i):
    top = np.argsort(-page.guided_rollout(page.deep, page.reviews[i], side=-1).scores)[:3]
    return (for_the_verdict(page, page.reviews[i])[top] < 0).sum()


@claim("05b.17", "Under other random layers, and in other reviews, the top word changes sides in a quarter to a "
       "little over half.", over="20 other random output layers in each of ten other reviews", runs=OTHERS[:10], here=0,
       between=(0.2, 0.6))
def random_output_layers(page, i):
    scrambled, words, found = page.copy.deepcopy(page.deep), page.reviews[i], []
    for seed in range(4, 24):
        scrambled.head.weight.normal_(generator=torch.manual_seed(seed))
        found.append(explain.gradient_attention(scrambled, words).scores.argmax())
    return (for_the_verdict(page, words)[found] < 0).mean()


BLIND = ["attention, mean", "attention, max", "norms", "rollout"]


@cache
def dozen(page, k):
    """{order: place between leave-one-out, 0, and random orders, 1} on a dozen generated reviews."""
    methods = {name: way for name, way in page.ALL.items() if name != "first layer"}
    page.rng.bit_generator.state = np.random.default_rng(k).bit_generator.state         # random orders of this dozen
    return {name: scale for name, scale, *_ in page.judge(short(page)[12 * k:12 * k + 12], methods)}


A_DOZEN = "five dozens of generated reviews"


@claim("05b.18", "Means, maxima, norms and rollout are well below the random orders", between=(0, 0.85), runs=DOZENS,
       over="the highest of the four")
def well_below_random(page, k):
    return max(dozen(page, k)[name] for name in BLIND)


@claim("05b.19", "The last layer alone is hardly better than chance", over="its place from leave-one-out, 0, to random "
       "orders, 1: " + A_DOZEN, runs=DOZENS, between=(0.7, inf))
def last_layer(page, k):
    return dozen(page, k)["last layer"]


@claim("05b.20", "These maps do about as well as leave-one-out *without its signs*.", over="mean, maximum, norms and "
       "rollout on a scale from leave-one-out, 0, to random orders, 1: the largest difference, " + A_DOZEN, runs=DOZENS,
       between=(0, 0.15))
def sizes_not_sides(page, k):
    return max(abs(dozen(page, k)[name] - dozen(page, k)["leave-one-out, no signs"]) for name in BLIND)


@claim("05b.21", "the mean area is about two thirds of the way from leave-one-out to a random order.",
       over="the mean of all maps, " + A_DOZEN, runs=DOZENS, median=(0.57, 0.77))
def two_thirds_of_the_way(page, k):
    return dozen(page, k)["attention, mean"]


@claim("05b.22", "**Those that use the gradient know the side**, and come close to leave-one-out", runs=DOZENS,
       over="the further of the two from leave-one-out, 0, where random orders are 1: " + A_DOZEN, between=(-0.2, 0.2))
def gradients_know_the_side(page, k):
    return max(dozen(page, k)[name] for name in ("gradient", "relevance"))


@claim("05b.23", "*norms* and *rollout* are hardly better than the plain mean", over="by how much the better one, "
       "on a scale from leave-one-out, 0, to random orders, 1: " + A_DOZEN, runs=DOZENS, between=(-0.1, 0.1))
def hardly_better_than_the_mean(page, k):
    return dozen(page, k)["attention, mean"] - min(dozen(page, k)[name] for name in ("norms", "rollout"))


@cache
def three_areas(page, k, least=33, most=40):
    """(3, 12): areas of the two-sided map, the gradient's and leave-one-out on a dozen generated reviews."""
    texts = short(page, least, most)[12 * k:12 * k + 12]
    return np.array([page.areas_of(page.curves(way, texts))
                     for way in (page.two_sided, explain.gradient_attention, page.METHODS["leave-one-out"])])


@claim("05b.24", "in other dozens of reviews on nine or more.", over=A_DOZEN + ", of 33 to 40 words", runs=DOZENS,
       between=(9, 12))
def below_the_gradient(page, k):
    two, gradient, _ = three_areas(page, k)
    return (two < gradient).sum()


def behind(areas):
    """How far the median of the two-sided map is behind that of leave-one-out, by how far the gradient's is."""
    two, gradient, left = np.median(areas, 1)
    return (two - left) / (gradient - left)


@claim("05b.25", "On fresh reviews the areas of the two-sided map are about those of leave-one-out",
       over="how far its median is behind, by how far the gradient's is: " + A_DOZEN + ", of 33 to 40 words",
       runs=DOZENS, between=(-0.5, 0.5))
def as_leave_one_out(page, k):
    return behind(three_areas(page, k))


@claim("05b.42", "On dozens of shorter ones it now and then falls behind", runs=DOZENS, between=(0.5, inf), at_least=1,
       over="the same in " + A_DOZEN + ", of 32 words or fewer")
def behind_on_short_ones(page, k):
    return behind(three_areas(page, k, 0, 32))


@cache
def real():
    return load_weights("minilm-sentiment")


def some(k):
    """A dozen sentences."""
    return sentences()[12 * k:12 * k + 12]


SENTENCES = "five dozens of generated sentences that speak for both sides"


@claim("05b.26", "In the middle layers the row of [CLS] hardly looks at words.", over="the least share that it keeps "
       "for itself in the layers 1 to 4 of the real model, " + SENTENCES, runs=DOZENS, between=(0.75, 1))
def keeps_for_itself(page, k):
    kept = [real().attentions(words)[:, :, 0, 0].mean(1) for words in page.read(real(), some(k))]
    return torch.stack(kept).mean(0)[1:5].min()


@cache
def follow(page, name, k):
    """{map: mean rank correlation with leave-one-out without signs} on a dozen sentences."""
    model = real() if name == "minilm-sentiment" else page.deep
    ways = {name: page.METHODS[name] for name in ("attention, mean", "first layer", "last layer", "rollout")}
    ways |= {"without [CLS]": page.without_sink, "without [SEP]": partial(page.without_sink, place=-1)}
    return {name: page.follows(model, way, some(k)).mean() for name, way in ways.items()}


@claim("05b.27", "In the small model the first layer is the best map, or nearly, and the last the worst.", runs=DOZENS,
       over="nearly: within .03 of the best, " + SENTENCES)
def first_and_last_layer(page, k):
    found = follow(page, "imdb-6layer", k)
    four = [found[name] for name in ("attention, mean", "first layer", "last layer", "rollout")]
    return found["first layer"] > max(four) - 0.03 and found["last layer"] == min(four)


@claim("05b.28", "In the real one the first is worse than chance, and the last better than the mean.", over=SENTENCES,
       runs=DOZENS)
def other_way_in_the_real_model(page, k):
    found = follow(page, "minilm-sentiment", k)
    return found["first layer"] < 0 and found["last layer"] > found["attention, mean"]


@claim("05b.29", "Rollout does well in the small model, and in the real one little better than chance.", runs=DOZENS,
       over="mean rank correlation with the sizes of leave-one-out above .55 and below .3, " + SENTENCES)
def rollout_in_both(page, k):
    return follow(page, "imdb-6layer", k)["rollout"] > 0.55 and follow(page, "minilm-sentiment", k)["rollout"] < 0.3


@claim("05b.30", "The full stop, every time; in other dozens of sentences nearly every time.", runs=DOZENS,
       over="of twelve sentences, in " + SENTENCES, between=(10, 12))
def full_stop_on_top(page, k):
    return sum(explain.rollout(real(), words).top(1)[0][0] == "." for words in page.read(real(), some(k)))


@claim("05b.31", "In the real model rollout without [CLS] is the best of these maps; without [SEP] nothing is gained.",
       over="nothing: at most .05, " + SENTENCES, runs=DOZENS)
def without_the_sink(page, k):
    found = follow(page, "minilm-sentiment", k)
    return found["without [CLS]"] == max(found.values()) and found["without [SEP]"] < found["rollout"] + 0.05


@cache
def signs(page, name, k):
    """Leave-one-out and the two-sided map of all words of a dozen sentences, above 0 for the verdict."""
    model = real() if name == "minilm-sentiment" else page.deep
    return np.concatenate([page.sides(model, words) for words in page.read(model, some(k))], 1)


@claim("05b.32", "a gradient knows the side.", over="of words that move the real model by more than 1: right in the "
       "two-sided map less right with one side for all, " + SENTENCES, runs=DOZENS, between=(2, inf))
def knows_the_side(page, k):
    _, right, yardstick = page.counted(*signs(page, "minilm-sentiment", k), 1)
    return right - yardstick


@claim("05b.33", "In other dozens of sentences it is a little more.", over="of all words above 0.1 in the real model: "
       "right in the two-sided map less right with one side for all, as a share, " + SENTENCES, runs=DOZENS,
       between=(0.01, 0.25))
def a_little_more(page, k):
    n, right, yardstick = page.counted(*signs(page, "minilm-sentiment", k), 0.1)
    return (right - yardstick) / n


@claim("05b.34", "Of all words above 0.1 the map is right about nine in ten or more in the small model, and about "
       "seven or eight in ten in the real one", over=SENTENCES, runs=DOZENS)
def how_far_down_the_list(page, k):
    shares = [right / n for n, right, _ in
              (page.counted(*signs(page, name, k), 0.1) for name in ("imdb-6layer", "minilm-sentiment"))]
    return shares[0] > 0.86 > shares[1] > 0.65


@claim("05b.35", "Short sentences of one clause, of which the small model is sure, mostly fail.", runs=NOUNS,
       over="each of ten nouns in 36 short sentences: of those beyond ±3.5, the share with fewer than half of the "
       "words right", between=(0.5, 1))
def short_and_sure(page, noun):
    texts = [frame.format(adjective, noun).split() for frame in SHORT for adjective in ADJECTIVES]
    return np.mean([2 * right < n for _, n, right, _ in page.sure(texts) if n])


@claim("05b.36", "Long reviews of which it is as sure do not.", over="the share of right words in the surest of five "
       "times 30 generated reviews of more than 40 words", runs=range(5), between=(0.97, 1))
def long_and_sure(page, seed):
    texts = [words for words in made(page, seed) if len(words) > 40][:30]
    rows = page.sure(texts)
    return sum(row[2] for row in rows) / sum(row[1] for row in rows)


@claim("05b.37", "every word that moves the score by more than 0.1 has the right sign, and in others nearly every one.",
       over="the share of right words in 20 other reviews", runs=OTHERS[:20], here=0, between=(0.95, 1))
def right_sign(page, i):
    n, right, _ = page.counted(*page.sides(page.deep, page.reviews[i]), 0.1)
    return right / n if n else 1.0


@claim("05b.38", "So the relevances of the inputs, [CLS] and positions included, sum to the score.", runs=OTHERS[:20],
       over="the gap in the six layers without biases, 20 other reviews", here=0, between=(0, 0.01))
def relevance_is_conserved(page, i):
    score, conserved, _ = page.sums(page.no_biases, page.reviews[i])
    return abs(conserved - score)


@claim("05b.39", "So all players are alike, and every Shapley value is $1/T$.", runs=DRAWS,
       over="20 draws of scores for two to five tokens: the largest difference", between=(0, 1e-6))
def attention_divides_evenly(page, seed):
    n = 2 + seed % 4
    scores = 2 * torch.randn(n, generator=torch.manual_seed(seed))
    return abs(page.shapley(partial(page.attended, scores), n) - 1 / n).max()


@claim("05b.40", "one token at a time, divide nothing: they sum to more than the team earns.", runs=range(10),
       over="the sum of all flows, where the team earns 1, ten generated sentences", between=(1.5, inf))
def flows_sum_to_more(page, i):
    return page.flow_and_bounds(page.deep.tokenizer.tokenize(sentences()[i]))[1].sum()


@claim("05b.41", "Relevance is a little better than the mean of the heads, and about as good as occlusion",
       over="five other trainings: relevance at least as often right as the mean, and at most 4 points less often than "
       "occlusion", runs=range(3, 8), here=0, trains=True)
def relevance_finds_the_letter(page, seed):
    mean, relevance, occluded = page.right_letters(page.writer(seed)).mean(1)
    return bool(relevance >= mean and relevance > occluded - 0.04)


IMDB = 40                       # reviews, each of at most 100 words


def on_imdb(page, right):
    """The table of section 7 on IMDB's test reviews that the six layers judge rightly: (title, rows, columns)."""
    rows = page.judge(right(page.deep, IMDB, 100))
    return f"Section 7's table on {IMDB} test reviews of IMDB that the model gets right", rows, page.JUDGED
