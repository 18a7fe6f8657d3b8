"""What lecture 00 says, run again: generated reviews, other sentences, the 63 reviews of which it does not speak."""

from functools import cache, partial
from itertools import pairwise
from math import inf

import numpy as np

from coursekit.worlds import handwritten_reviews, reviews

from . import claim

SEEDS = range(1, 6)                                     # of generated reviews
SOME = range(20)                                        # generated reviews
OTHERS = range(1, 64)                                   # hand-written reviews; the page's own is 0
BOTH = [[name, i] for name in ("imdb-tame", "imdb-peaky") for i in range(10)]
FRAMES = ["I found the film {}.", "What we saw was {}.", "The music is {}, and that is all.", "The jokes are {}.",
          "My sister called the dialogue {}.", "Everything about the second half seemed {} to me.", "A {} film.",
          "On the whole, the direction is {}.", "Her performance is {} from the first scene to the last.", "So {}!"]
ADJECTIVES = ["superb", "beautiful", "moving", "charming", "decent", "fresh", "strange", "slow", "predictable",
              "stupid", "horrible", "poor"]


def by_hand(page, i):
    """The words of a hand-written review."""
    return page.tame.tokenizer.tokenize(handwritten_reviews()[i].text)


def made(page, i, seed=0):
    """The words of a generated review."""
    return page.tame.tokenizer.tokenize(reviews(i + 1, seed)[i].text)


def many(page, seed, n=64):
    """Words of n generated reviews, and which of them praise; of the hand-written ones where seed is None."""
    found = handwritten_reviews() if seed is None else reviews(n, seed)
    return [page.tame.tokenizer.tokenize(review.text) for review in found], np.array([r.label == 1 for r in found])


@claim("00.1", "In *tame*, *not* takes a little off the score, whatever adjective comes after it.",
       over="12 other adjectives in each of 10 other sentences", runs=FRAMES, between=(-0.5, 0))
def not_takes_off(page, frame):
    plain, negated = page.with_not([frame], ADJECTIVES)
    change = (negated - plain)[0]
    return change[abs(change + 0.25).argmax()]          # the nearest to one of the bounds, or beyond


@claim("00.2", "Either way the verdict changes only where the score was less than half a point from zero, here in four "
       "sentences.", over="12 other adjectives in each of 10 other sentences, in both models", runs=FRAMES,
       between=(0, 0.5))
def verdict_changes_near_zero(page, frame):
    plain, negated = page.with_not([frame], ADJECTIVES)
    return abs(plain[(plain > 0) != (negated > 0)]).max(initial=0)


def put_in(page, words, word):
    """The scores in tame with the word put at each place of the words."""
    return page.tame.predict([[*words[:i], word, *words[i:]] for i in range(len(words) + 1)])


@claim("00.3", "Put into a whole review, *not* lowers the score of *tame* at most places.",
       over="the share of the places in which it does, in each of 20 generated reviews", runs=SOME, between=(0.5, 1),
       at_least=16)
def not_anywhere(page, i):
    words = made(page, i)
    return (put_in(page, words, "not") < page.tame.predict([words])[0]).mean()


@claim("00.4", "it always makes the score lower than *film* at the same place would.",
       over="all places of each of 20 generated reviews", runs=SOME, between=(-inf, 0))
def not_beside_film(page, i):
    words = made(page, i)
    return (put_in(page, words, "not") - put_in(page, words, "film")).max()


@cache
def firsts(page, seed):
    """The first word of each of the six in both models, for 40 generated reviews: two lists of lists of six words."""
    return [[[explain(model, words).top(1)[0][0] for explain in page.SIX.values()] for words in many(page, seed, 40)[0]]
            for model in page.models.values()]


@claim("00.5", "In *tame* the six agree on the first word of about half of the reviews, here of 36",
       over="5 times 40 generated reviews", runs=SEEDS, between=(0.4, 0.6))
def six_agree(page, seed):
    return np.mean([len(set(words)) == 1 for words in firsts(page, seed)[0]])


@claim("00.6", "In *peaky* they differ more often.", over="how many different first words more than in tame, on "
       "average, in 5 times 40 generated reviews", runs=SEEDS, between=(0.05, 6))
def peaky_differs(page, seed):
    tame, peaky = ([len(set(words)) for words in of] for of in firsts(page, seed))
    return np.mean(peaky) - np.mean(tame)


@claim("00.7", "the two models agree on the verdict more often than on the first word of any row",
       over="how much more often, in 5 times 40 generated reviews", runs=SEEDS, between=(1, 40))
def verdict_before_words(page, seed):
    documents, (a, b) = many(page, seed, 40)[0], np.array(firsts(page, seed))
    tame, peaky = (model.predict(documents) > 0 for model in page.models.values())
    return (tame == peaky).sum() - (a == b).sum(0).max()


@claim("00.8", "at 180° every one of its numbers has changed its sign", over="20 other reviews: how much is left of a "
       "number and its opposite", runs=OTHERS[:20], between=(0, 1e-6))
def half_a_turn(page, i):
    before, after = page.g_avg(by_hand(page, i), [page.torch.eye(128), page.half_turn])
    return abs(after + before).max()


@claim("00.9", "In about half of the coordinate systems *mess* is a word of praise to G-avg, and so is any other word.",
       over="200 other turns for each of 20 other reviews, and that word of each which is furthest from half",
       runs=OTHERS[20:40], here=0, between=(0.35, 0.65))
def praised_in_half(page, i):
    praised = (np.array(page.g_avg(by_hand(page, i), page.random_turns(200, seed=i))) > 0).mean(0)
    return praised[abs(praised - 0.5).argmax()]


@claim("00.10", "Its first word changes, too, while nothing changes that the model says.",
       over="20 other reviews: in how many of 200 turns the commonest first word is first", runs=OTHERS[20:40], here=0,
       between=(0, 190))
def first_word_changes(page, i):
    tops = abs(np.array(page.g_avg(by_hand(page, i), page.random_turns(200, seed=i)))).argmax(1)
    return np.bincount(tops).max()


@claim("00.11", "On plainer reviews, written by a grammar, *tame* is right far more often where it is sure than where "
       "it is not.", over="5 times 200 such reviews: the share of right verdicts surer than 95 %, less that of those "
       "below 70 %", runs=SEEDS, between=(0.2, 1))
def sure_and_right(page, seed):
    documents, praise = many(page, seed, 200)
    score = page.tame.predict(documents)
    right, sure = (score > 0) == praise, 1 / (1 + np.exp(-abs(score)))
    return right[sure > 0.95].mean() - right[sure < 0.7].mean()


@claim("00.12", "it came out alike on the reviews that they get right and on those that they get wrong.",
       over="rank correlations of four explainers with LIME or |LIME| (section 5), in 3 times 64 generated reviews for "
       "each model: the largest difference of medians", between=(0, 0.1), here=["imdb-tame", None],
       runs=[*(["imdb-tame", seed] for seed in SEEDS[:3]), *(["imdb-peaky", seed] for seed in SEEDS[:3])])
def right_and_wrong(page, run):
    (name, seed), found = run, []
    documents, praise = many(page, seed)
    right = (page.models[name].predict(documents) > 0) == praise
    for words in documents:
        lime = page.SEVEN["LIME"](page.models[name], words).scores
        found.append([page.spearman(page.SEVEN[way](page.models[name], words).scores, of) for way, of in
                      (("α-avg", abs(lime)), ("G-L2", abs(lime)), ("G-avg", lime), ("G×I", lime))])
    return abs(np.median(np.array(found)[right], 0) - np.median(np.array(found)[~right], 0)).max()


def weights(page, words):
    """The attention of tame's six heads on the words (K, T − 1)."""
    return page.tame.cls_attention(words)[:, 1:1 + len(words)].numpy()


@claim("00.13", "In every head the words get more than their share of the places, but less than twice as much",
       over="how many times their share, in the head nearest to a bound; 20 texts of 20 to 180 words", between=(1, 2),
       runs=[[seed, length] for seed in range(4) for length in (20, 40, 80, 120, 180)])
def share_of_places(page, run):
    seed, length = run
    words = [word for document in many(page, seed, 16)[0] for word in document][:length]
    times = weights(page, words).sum(1) / (length / 256)
    return times[abs(times - 1.5).argmax()]


@claim("00.14", "The heads pick out much the same words", over="the lowest rank correlation of two heads, in 20 other "
       "reviews", runs=OTHERS[:20], here=0, between=(0.75, 1))
def heads_alike(page, i):
    of = weights(page, by_hand(page, i))
    return min(page.spearman(a, b) for a in of for b in of)


@claim("00.15", "two of them more sharply than the others", over="the largest weight of the second sharpest head "
       "by that of the third, in 20 other reviews", runs=OTHERS[:20], here=0, between=(1.25, inf))
def two_sharp_heads(page, i):
    third, second, _ = np.sort(weights(page, by_hand(page, i)).max(1))[-3:]
    return second / third


def camps(page, run):
    """Rank correlations with LIME, and with |LIME|, of G-avg and G×I, and of the four without signs."""
    name, i = run
    words, model = by_hand(page, 0) if i is None else made(page, i), page.models[name]
    lime = page.SEVEN["LIME"](model, words).scores
    for of in (lime, abs(lime)):
        found = {way: page.spearman(page.SEVEN[way](model, words).scores, of) for way in list(page.SEVEN)[:6]}
        yield [found.pop("G-avg"), found.pop("G×I")], list(found.values())


@claim("00.16", "G-avg and G×I order the words much as LIME does; attention and the lengths do not.", runs=BOTH,
       over="the lower rank correlation with LIME of the two, less the highest of the four; 10 generated reviews in "
       "both models", here=["imdb-tame", None], between=(0.1, 2))
def two_camps(page, run):
    signed, unsigned = next(camps(page, run))
    return min(signed) - max(unsigned)


@claim("00.17", "Without the signs of LIME the unsigned four agree with it, and the other two no longer do.", runs=BOTH,
       over="the lowest rank correlation with |LIME| of the four, less the higher of the two; 10 generated reviews in "
       "both models", here=["imdb-tame", None], between=(0.1, 2), at_least=18)
def other_way_round(page, run):
    _, (signed, unsigned) = camps(page, run)
    return min(unsigned) - max(signed)


@claim("00.18", "the phrase is no more than the two together", over="any two neighbours in place of *not good*, in 10 "
       "generated reviews: the largest difference", runs=SOME[:10], between=(0, 0.03))
def two_together(page, i):
    words = made(page, i)
    return max(abs(page.change(words, pair) - sum(page.change(words, [word]) for word in set(pair)))
               for pair in pairwise(words))


@claim("00.19", "*Not* counts a little against the film and *good* for it", over="each review with one of the "
       "two, in 5 times 64 generated ones: the effect nearest to a bound", runs=SEEDS, between=(0, 0.5))
def not_against_good_for(page, seed):
    effects = [way * page.change(words, [word]) for words in many(page, seed)[0]
               for word, way in (("not", 1), ("good", -1)) if word in words]
    return max(effects, key=lambda effect: abs(effect - 0.25))


@claim("00.20", "LIME's four words move the score further than any of the hundred, here and in other reviews",
       over="further than how many of a hundred, in 10 other and in 10 generated reviews",
       runs=[*(["by hand", i] for i in OTHERS[:10]), *(["made", i] for i in SOME[:10])], here=["by hand", 0],
       between=(100, 100))
def four_words(page, run):
    words = (by_hand if run[0] == "by hand" else made)(page, run[1])
    draw, different, verdict = page.random.Random(1), list(dict.fromkeys(words)), page.tame.predict([words])[0]
    moved = page.change(words, page.lime_words(words))
    return sum(verdict * (moved - page.change(words, draw.sample(different, 4))) < 0 for _ in range(100))


def five_by_exact(page, run, place):
    """Five runs of LIME with 100 copies by the exact number, for the word at this place in LIME's order."""
    name, i = run
    words, model = by_hand(page, 0) if i is None else made(page, i), page.models[name]
    exact = page.exact_lime(model, words).scores
    t = np.argsort(-abs(exact))[place]
    return np.array([page.lime(model, words, 100, seed=seed).scores[t] for seed in range(5)]) / exact[t]


@claim("00.21", "With 100 copies *all* five runs are too near to zero", over="the strongest word of 10 generated "
       "reviews in both models: the largest of the five, as a part of the exact number", runs=BOTH,
       here=["imdb-tame", None], between=(0, 1))
def too_near_to_zero(page, run):
    return five_by_exact(page, run, 0).max()


@claim("00.22", "LIME's fit pulls small samples there", over="the fourth strongest word of 10 generated reviews in "
       "both models: the mean of five runs, as a part of the exact number", runs=BOTH, here=["imdb-tame", None],
       between=(0, 1), at_least=18)
def pulled_to_zero(page, run):
    return five_by_exact(page, run, 3).mean()


def box(page, documents):
    """Naive Bayes as a black box."""
    return [page.naive_bayes(document) for document in documents]


@claim("00.23", "leave-one-out returns the log-odds, and LIME comes nearer with more copies.",
       over="10 generated reviews", runs=SOME[:10])
def naive_bayes_is_found(page, i):
    words = made(page, i)
    truth = np.array([page.log_odds.get(word, 0.0) for word in words])
    model = partial(box, page)
    ways = [page.leave_one_out(model, words), *(page.lime(model, words, n) for n in (100, 1000, 10_000))]
    alone, few, more, most = (abs(way.scores - truth).max() for way in ways)
    return alone < 1e-3 and few > more > most
