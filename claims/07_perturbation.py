"""What lecture 07 says, run again: sentences of ten words, other reviews, other games, texts with other words twice."""

from functools import cache
from math import inf

import numpy as np

from coursekit.evaluate import rank_agreement
from coursekit.explain import (
                        away,
                        evaluate_masks,
                        gradient_x_input,
                        integrated_gradients,
                        kernel_shap,
                        leave_one_out,
                        lime,
                        shapley_values,
)
from coursekit.explain.surrogate import proximity, sample_masks
from coursekit.models import load_weights
from coursekit.worlds import handwritten_reviews, reviews

from . import claim

TEN = ["the plot is dull and the jokes are dull too", "i was bored by this long and silly film .",
       "i loved the first hour and hated the second one", "this is the worst film of the whole long year",
       "the best thing about this film is its end .", "i can not recommend this to anybody i like .",
       "what a mess , what a waste of good actors", "it wants to be clever and it is only loud",
       "a warm and funny film , and very well played", "it was terrible , and the second part was terrible",
       "bad script , bad acting , and far too long", "a great cast , a poor script and no end",
       "strange , slow and beautiful , i loved it .", "not good , not funny , not worth a cent",
       "stupid , boring , and far too loud and long", "a perfect film , perfect music and a perfect end",
       "nobody in this film can act , not even once", "my mother laughed , my father slept , i cried",
       "lovely music , wonderful pictures and a wonderful end .", "the acting is weak but the music is good ."]
BLAME = [i for i in range(20) if i not in (2, 4, 8, 12, 15, 17, 18)]       # those that the six layers take for blame
OVER = "20 other sentences of ten words"
TWICE = [[frame, word] for frame in ("not a {0} film , not {0} at all .", "a {0} plot and a {0} film , i think .",
                                     "the {0} plot and the {0} jokes were too long")
         for word in ("terrible", "dull", "poor", "weak", "stupid", "horrible", "silly", "boring", "awful", "worst")]
PRAISE = ["it is a warm and funny film .", "a wonderful story with a perfect cast .", "i loved every minute of it .",
          "she plays her part very well .", "the best film that i saw this year .", "what a beautiful , moving end !",
          "the jokes are great and the music is fine .", "my children enjoyed it and so did i .",
          "an excellent script , brilliantly acted .", "everybody should see it ."]
PLAIN = ["The plot is dull, the end is dull", "A sweet, clever and lovely little film",
         "It starts well and ends in tears",
         "Nobody laughed at this sad, empty comedy", "The music is great, the rest is not",
         "I hated the ending of this story", "What a strange and beautiful film this is",
         "My children were scared by this film", "An honest, moving portrait of my city",
         "The jokes are old, the actors tired", "It is not a good film, sadly", "She is brilliant in a stupid role"]
OTHERS, EVERY_FOURTH = range(1, 64), range(1, 64, 4)                       # hand-written reviews; the page's own is 0
SEEDS = range(1, 21)


@cache
def by_hand(i):
    """The words of a hand-written review."""
    return load_weights("imdb-tame").tokenizer.tokenize(handwritten_reviews()[i].text)


@cache
def scores_of(page, i):
    """The six layers' scores of all masks of a sentence of ten words (1024,)."""
    return evaluate_masks(page.deep, TEN[i].split(), page.every, by="replace")


def shares(page, i):
    """Its Shapley values (10,)."""
    return page.shapley_by_hand(scores_of(page, i), page.every)


def alike(one, other):
    """Spearman's correlation, by size alone where one has no sign."""
    return rank_agreement(one, other).spearman


@claim("07.1", "For the six layers one word of blame mostly does as much as two.", runs=TWICE, between=(0, 0.1),
       at_least=25, over="ten other words twice in each of three sentences: what one of them moves, as a part of what "
       "both move")
def one_does_as_much_as_two(page, run):
    words = run[0].format(run[1]).split()
    places = {t for t, word in enumerate(words) if word == run[1]}
    gone = page.deep.predict([words] + [page.without(words, {t}) for t in places] + [page.without(words, places)])
    return abs(gone[1:3] - gone[0]).max() / abs(gone[3] - gone[0])


@claim("07.2", "A word that was kept makes it likely that few went", runs=[5, 8, 12, 16, 20, 25, 30, 40, 60],
       between=(1.8, 2.2), here=10,
       over="texts of 5 to 60 words: how many times oftener than among all does just one word lack")
def few_went(page, d):
    masks = sample_masks(d, 40_000, seed=d)[1:]
    return d * np.mean((~masks[masks[:, 1]]).sum(1) == 1)


def together(page, words, word):
    """LIME's coefficients of a word that stands twice: its places, summed, and as one feature."""
    features = list(dict.fromkeys(words))
    column, masks = np.array([features.index(one) for one in words]), sample_masks(len(features), 5000)
    answers = evaluate_masks(page.deep, words, masks, by="replace", groups=column)
    places = lime(page.deep, words, n_samples=5000, bow=False).scores
    return places[column == features.index(word)].sum(), page.fit(masks, answers, page.weigh(masks))[0][
        features.index(word)]


@claim("07.3", "Where two words of blame always go together, neither can stand in for the other, and their common "
       "coefficient is larger than the two of the places together.", runs=TWICE, between=(0.15, inf),
       over="by how much more blame: ten other words twice in each of three sentences")
def more_together(page, run):
    apart, common = together(page, run[0].format(run[1]).split(), run[1])
    return apart - common


@claim("07.4", "In nearly all of our reviews most of the ten shown words move to the side of the others", runs=OTHERS,
       here=0, between=(6, 10), at_least=58, over="how many of the ten, in 63 other reviews")
def ten_refitted(page, i):
    all_words, ten, refitted = page.ten_words(by_hand(i))
    others = all_words.sum() - all_words[ten].sum()
    return (np.sign(refitted - all_words[ten]) == np.sign(others)).sum()


@claim("07.5", "In log-odds, LIME returns the weights of naive Bayes to $10^{-9}$, whatever the review.",
       runs=[*range(1, 8), *range(9, 22)], here=8, between=(0, 1e-9),
       over="the largest difference in each of 20 other reviews")
def weights_of_naive_bayes(page, i):
    found = lime(page.naive_bayes, by_hand(i), n_samples=2000, bow=True, ridge=0)
    return abs(found.scores - [page.log_odds.get(word, 0) * by_hand(i).count(word) for word in found.tokens]).max()


@claim("07.6", "four times as many samples halve it.", runs=range(20), between=(0.4, 0.62),
       over=f"LIME's spread over seeds with 3200 samples as a part of that with 800, {OVER}")
def four_times_as_many(page, i):
    few, many = (page.over_seeds(n, F=scores_of(page, i)).std(0, ddof=1).mean() for n in (800, 3200))
    return many / few


@claim("07.7", "in most sentences LIME's ridge takes about a fifth off the largest coefficient.", runs=range(20),
       between=(0.74, 0.87), at_least=16, over=f"what is left of it with 50 samples, the mean of 20 seeds, {OVER}")
def a_fifth_off(page, i):
    limit = page.limit_of(scores_of(page, i))
    largest = abs(limit).argmax()
    return page.over_seeds(50, F=scores_of(page, i)).mean(0)[largest] / limit[largest]


@claim("07.8", "So for ten words LIME's limit is *one* weighted fit over all masks.", runs=range(20),
       between=(0, 0.04), over="the largest difference between this fit and the mean of twenty runs with 3200 samples, "
       "as a part of the largest coefficient, " + OVER)
def one_fit(page, i):
    limit = page.limit_of(scores_of(page, i))
    runs = page.over_seeds(3200, ridge=0, F=scores_of(page, i))
    return abs(runs.mean(0) - limit).max() / abs(limit).max()


@claim("07.9", "$\\beta = \\lambda$: for every kernel, for every way of sampling, and already for finitely many "
       "samples",
       runs=SEEDS, between=(0, 1e-9), over="LIME on 20 models that add up 12 random weights, from 60 masks of coins of "
       "which each has its own chance, kernels of any width: the largest difference")
def weights_returned(page, seed):
    rng = np.random.default_rng(seed)
    weights, masks = rng.normal(size=12), rng.random((60, 12)) < rng.uniform(0.4, 0.9, 12)
    beta, _ = page.fit(masks, 0.3 + masks @ weights, page.weigh(masks, rng.uniform(0.2, 5)), ridge=0)
    return abs(beta - weights).max()


@claim("07.10", "At $\\nu = 0.02$ only the document and the copies that lack a single word have any weight, and LIME "
       "is leave-one-out", runs=range(20), between=(0, 0.001), over=f"the largest difference, {OVER}")
def narrow_is_leave_one_out(page, i):
    gone = leave_one_out(page.deep, TEN[i].split(), by="replace")
    return abs(page.at_width(0.02, scores_of(page, i)) - gone.scores).max()


@claim("07.11", "Then the mean over seeds is wrong by more than three times their spread.", runs=EVERY_FOURTH,
       between=(3, inf), over="a narrow kernel, ν = 0.005, and a ridge of 1: the largest coefficient in every fourth "
       "other review, five seeds of 5000 samples, against a ridge near 0")
def small_spread_large_error(page, i):
    found = [np.array([lime(page.tame, by_hand(i), n_samples=5000, seed=seed, kernel_width=0.5, ridge=ridge).scores
                       for seed in range(5)]) for ridge in (1.0, 1e-6)]
    t = abs(found[1].mean(0)).argmax()
    return abs(found[0][:, t].mean() - found[1][:, t].mean()) / found[0][:, t].std(ddof=1)


@claim("07.12", "in nearly equal parts, as to most words of blame that a sentence says twice.", runs=TWICE,
       between=(0.9, 1), at_least=25, over="the smaller of the two Shapley values as a part of the larger: ten other "
       "words twice in each of three sentences")
def nearly_equal_parts(page, run):
    words = run[0].format(run[1]).split()
    both = sorted(abs(x) for word, x in zip(words, shapley_values(page.deep, words, by="replace").scores, strict=True)
                  if word == run[1])
    return both[0] / both[1]


@claim("07.13", "They lie close to LIME without a kernel, here and in other sentences.", runs=range(20),
       between=(0.99, 1), over=f"the correlation of Shapley values with it, {OVER}")
def close_to_lime_without_a_kernel(page, i):
    return np.corrcoef(page.at_width(1e9, scores_of(page, i)), shares(page, i))[0, 1]


@claim("07.14", "But neither leave-one-out nor LIME is efficient, and LIME gives something to dummies",
       runs=SEEDS, here=0, over="the largest of 200 pairs of random games, 20 other draws: more than .1, and all else "
       "less than 1e-9")
def who_misses_which_demand(page, seed):
    found = np.array(list(page.largest_violations(seed).values()))         # (three methods, four demands)
    missed = np.zeros((3, 4), bool)
    missed[0, 0] = missed[1, 0] = missed[1, 2] = True
    return (found[missed] > 0.1).all() and (found[~missed] < 1e-9).all()


@cache
def in_orders(i):
    """The errors of Shapley values of imdb-peaky from 10 and from 160 orders, and what the standard errors say."""
    model = load_weights("imdb-peaky")
    true = shapley_values(model, by_hand(i), n_permutations=4000, seed=1, by="replace").scores
    found = [shapley_values(model, by_hand(i), n_permutations=n, seed=0, by="replace") for n in (10, 160)]
    return [[np.linalg.norm(a.scores - true), np.linalg.norm(a.about["standard_errors"])] for a in found]


@claim("07.15", "Here, too, four times as many orders about halve the error.", runs=EVERY_FOURTH, here=0,
       between=(0.1, 0.5), at_least=15, over="Shapley values of `imdb-peaky` from 160 orders against 10, which should "
       "have four times the error, in every fourth other review")
def more_orders(page, i):
    (few, _), (many, _) = in_orders(i)
    return many / few


@claim("07.16", "in other reviews, too, they are off by less than a factor of three", runs=EVERY_FOURTH, here=0,
       between=(1 / 3, 3), over="the error of Shapley values from 160 orders by the standard errors' forecast, "
       "`imdb-peaky`, every fourth other review")
def standard_errors(page, i):
    error, forecast = in_orders(i)[1]
    return error / forecast


@claim("07.17", "Against *good good good …* most words of a sentence of blame count as blame", runs=BLAME,
       between=(6, 10), over=f"how many of ten, those {len(BLAME)} of 20 other sentences that the six layers blame")
def against_good(page, i):
    return (shapley_values(away(page.deep, by="replace", token="good"), TEN[i].split()).scores < 0).sum()


@claim("07.18", "Then $\\varphi$ are the Shapley values.", runs=range(20), between=(0, 0.001),
       over=f"KernelSHAP's fit and the library's, against enumeration: the largest difference, {OVER}")
def kernel_shap_is_shapley(page, i):
    fits = [page.constrained_fit(page.pi_S, scores_of(page, i)),
            kernel_shap(page.deep, TEN[i].split(), n_samples=1024, by="replace").scores]
    return abs(np.array(fits) - shares(page, i)).max()


@claim("07.19", "With LIME's weights, or without the constraint, the fit gives something else.", runs=range(20),
       between=(0.001, inf), over=f"the largest change of a value, the smaller of the two cases, {OVER}")
def something_else(page, i):
    F = scores_of(page, i)
    as_lime = page.constrained_fit(np.where(page.left > 0, page.P * page.weigh(page.every), 0.0), F)
    return min(abs(fit - shares(page, i)).max() for fit in (as_lime, page.unconstrained(F)))


@claim("07.20", "Most of LIME's samples have more holes than any of our reviews.", runs=OTHERS, here=0,
       between=(0.75, 1), over="the share of them, in 63 other reviews")
def more_holes(page, i):
    most = max(np.mean([word not in page.tame.tokenizer.vocab for word in by_hand(j)]) for j in range(64))
    return np.mean(1 - sample_masks(len(by_hand(i)), 1000)[1:].mean(1) > most)


@claim("07.21", "To the six layers *the the the …* is high praise, however long, as is *and* or *is* repeated",
       runs=[[word, n] for word in ("the", "and", "is") for n in (5, 7, 15, 40, 100)], between=(3, 5),
       over="the score of 5 to 100 times each")
def nonsense(page, run):
    return page.deep.predict([[run[0]] * run[1]])[0]


def under_subtitles(i):
    return f"the subtitles are tiny , but {PRAISE[i]}".split()


@claim("07.22", "It is the same in other texts that would be praise without the bias.", runs=range(len(PRAISE)),
       over="ten other texts: LIME of the two-faced model has *subtitles* first, as praise, and an R² above .9, and "
       "its line at the document is praise")
def fooled(page, i):
    found = lime(page.two_faced, under_subtitles(i), n_samples=1000)
    return (found.top(1)[0][0] == "subtitles" and found.top(1)[0][1] > 0 and found.about["r2"] > 0.9
            and found.about["intercept"] + found.scores.sum() > 0)


@claim("07.23", "And deleting instead of replacing finds the blame.", runs=range(len(PRAISE)), between=(-inf, -1),
       over="the coefficient of *subtitles* in ten other texts of the two-faced model")
def deleting_finds_it(page, i):
    found = lime(page.two_faced, under_subtitles(i), n_samples=1000, bow=True)
    return found.scores[found.tokens.index("subtitles")]


@cache
def nine(page, i):
    """What the nine explainers say of a review of `imdb-tame`."""
    return {name: explainer(page.tame, by_hand(i)) for name, explainer in page.NINE.items()}


@claim("07.24", "`imdb-tame` is so nearly additive that LIME's line has an $R^2$ above .999 on each of our reviews",
       runs=OTHERS, here=0, between=(0.999, 1), over="63 other reviews")
def r2_of_tame(page, i):
    return nine(page, i)["LIME"].about["r2"]


@claim("07.25", "LIME, Shapley values and integrated gradients put the words in the same order, up to tiny "
       "differences.",
       runs=OTHERS, here=0, between=(0.98, 1), over="the lowest rank correlation of two of them, in 63 other reviews")
def same_order(page, i):
    found = nine(page, i)
    return min(alike(found[a], found[b]) for a, b in (("LIME", "SHAP"), ("LIME", "IG"), ("SHAP", "IG")))


@claim("07.26", "The two attentions agree almost perfectly.", runs=OTHERS, here=0, between=(0.95, 1),
       over="the rank correlation of α-avg and α-max of `imdb-tame`, in 63 other reviews")
def two_attentions(page, i):
    return alike(nine(page, i)["α-avg"], nine(page, i)["α-max"])


@claim("07.27", "The gradients lie between: those with a sign (G-avg, G×I) nearer to LIME, the two without (G-L1, "
       "G-L2) mostly nearer to attention.", runs=OTHERS, here=0, at_least=52, over="63 other reviews of `imdb-tame`")
def gradients_between(page, i):
    found = nine(page, i)
    nearer = {name: alike(found[name], found["LIME"]) > alike(found[name], found["α-avg"])
              for name in ("G-avg", "G×I", "G-L1", "G-L2")}
    return list(nearer.values()) == [True, True, False, False]


@claim("07.28", "LIME, Shapley values and integrated gradients still agree in order, here and in other sentences",
       runs=range(20), between=(0.6, 1), over=f"the lowest rank correlation of two of them in the six layers, {OVER}")
def still_agree(page, i):
    words = TEN[i].split()
    found = {name: page.NINE[name](page.deep, words) for name in ("LIME", "SHAP", "IG")}
    return min(alike(found[a], found[b]) for a, b in (("LIME", "SHAP"), ("LIME", "IG"), ("SHAP", "IG")))


def slope_and_step(page, words):
    """Rank correlation of gradient × Δ and leave-one-out in the six layers."""
    return alike(gradient_x_input(page.deep, words, "unk"), leave_one_out(page.deep, words, by="replace"))


@claim("07.29", "In most other sentences × Δ and leave-one-out agree to .8 or more", runs=range(20), between=(0.8, 1),
       at_least=15, over=f"their rank correlation, {OVER}")
def slope_and_step_agree(page, i):
    return slope_and_step(page, TEN[i].split())


@claim("07.30", "On nearly every other review, too, the six agree on one word.", runs=OTHERS, here=0, between=(0.95, 1),
       at_least=60, over="six explainers of the model that does not read, 63 other reviews: their lowest rank "
       "correlation with attention, 0 where their first words differ or any other explainer says a word")
def six_agree(page, i):
    found = [explainer(page.flat, by_hand(i)) for explainer in page.NINE.values()]
    said = [one for one in found if abs(one.scores).max() > 1e-6]
    alone = len(said) == 6 and len({one.top(1)[0][0] for one in said}) == 1
    return min(alike(one, found[0]) for one in said) if alone else 0.0


@cache
def pairs_of(page, name, i):
    """{pair: rank correlation} of the last table, for a sentence of seven to nine words."""
    model = load_weights(name)
    found = page.explained(model, load_weights("minilm-sentiment").tokenizer.tokenize(PLAIN[i]))
    return {pair: alike(found[pair[0]], found[pair[1]]) for pair in page.pairs}


@claim("07.31", "in the toys integrated gradients and Shapley values were nearly one method.", between=(0.85, 1),
       runs=[[name, i] for name in ("imdb-tame", "imdb-6layer") for i in range(12)],
       over="their rank correlation in two models, a dozen other plain sentences")
def one_method(page, run):
    return pairs_of(page, *run)["IG", "SHAP"]


@claim("07.32", "LIME keeps to Shapley values, a little less closely.", runs=range(12), median=(0.8, 0.97),
       over="their rank correlation in the pretrained encoder, a dozen other plain sentences")
def lime_in_the_encoder(page, i):
    return pairs_of(page, "minilm-sentiment", i)["LIME", "SHAP"]


@claim("07.33", "In the encoder × Δ has next to no order in common with Shapley values", runs=range(8),
       median=(-0.4, 0.4), over="their rank correlation, eight other plain sentences")
def slopes_in_the_encoder(page, i):
    return pairs_of(page, "minilm-sentiment", i)["× Δ", "SHAP"]


@claim("07.34", "Attention keeps to Shapley values worse than in the six layers; so does the norm of the gradient in "
       "most other sentences, though not in these six.", runs=[[way, i] for way in ("α-avg", "G-L2") for i in range(8)],
       between=(-2, 0), at_least=12, over="the rank correlation with Shapley values in the pretrained encoder less "
       "that in the six layers: attention and the norm in eight other plain sentences")
def worse_in_the_encoder(page, run):
    encoder, layers = (pairs_of(page, name, run[1])[run[0], "SHAP"] for name in ("minilm-sentiment", "imdb-6layer"))
    return encoder - layers


@claim("07.35", "the formula above, exactly, for every $f$.", runs=SEEDS, between=(0, 1e-9),
       over="20 random games of ten words: its largest difference from the fit over all masks, and the sum of the "
       "quoted form, which is 0")
def wide_limit(page, seed):
    found = page.wide_limits(np.random.default_rng(seed).normal(size=1024))
    return max(abs(found["corrected"] - found["regression"]).max(), abs(found["as quoted"].sum()))


@claim("07.36", "0, about 0.15, about 0.35, and 1.", runs=[[a, b] for a, b in
       ((0, 9), (1, 2), (3, 7), (4, 5), (8, 6), (9, 1), (2, 8))], between=(0, 0.035),
       over="the blame on the first of two *bad* by leave-one-out, LIME of width .1, of .25, and with both as one "
       "feature; seven pairs of places and draws of 5000 samples: the largest difference from these four")
def either_is_enough(page, places):
    masks = sample_masks(10, 5000, seed=places[0])
    says = -(masks[:, places].any(1)).astype(float)
    at = [-page.fit(masks, says, proximity(masks, 100 * nu), ridge=1e-9)[0][places[0]] for nu in (0.1, 0.25)]
    as_one = np.delete(masks, places[1], axis=1)                           # the first place stands for both
    both = -page.fit(as_one, -as_one[:, places[0] - (places[1] < places[0])].astype(float),
                     page.weigh(as_one), ridge=1e-9)[0][places[0] - (places[1] < places[0])]
    return abs(np.array([0.15, 0.35, 1]) - [*at, both]).max()


@claim("07.37", "how they read came out alike on the reviews that they get right and on those that they get wrong.",
       runs=[[name, way] for name in ("imdb-tame", "imdb-peaky", "imdb-6layer") for way in ("α-avg", "G×I")],
       between=(-0.15, 0.15), over="the median rank correlation with leave-one-out on the right ones less that on the "
       "wrong ones: attention and gradient × input in three models, 96 generated reviews")
def right_less_wrong(page, run):
    model, explainer = load_weights(run[0]), page.NINE[run[1]]
    found = reviews(96, seed=7)
    words = [model.tokenizer.tokenize(review.text) for review in found]
    right = (model.predict(words) > 0) == [review.label for review in found]
    score = np.array([alike(explainer(model, one), leave_one_out(model, one, by="replace")) for one in words])
    return np.median(score[right]) - np.median(score[~right])


def on_imdb(page, right):
    """The table of pairs of section 11, on real reviews."""
    def explained(model, words):
        found = {name: page.NINE[name](model, words) for name in ("α-avg", "α-max", "G-L1", "G-L2", "LIME")}
        return found | {"SHAP": shapley_values(model, words, n_permutations=40, by="replace"),
                        "IG": integrated_gradients(model, words, baseline="unk", n_nodes=32),
                        "× Δ": gradient_x_input(model, words, "unk"), "LOO": leave_one_out(model, words, by="replace")}

    columns = []
    for name in ("imdb-tame", "imdb-6layer", "minilm-sentiment"):
        each = [explained(load_weights(name), words) for words in right(load_weights(name), 8, 50)]
        columns.append([[alike(a[x], a[y]) for a in each] for x, y in page.pairs])
    rows = [[" – ".join(pair), *(f"{np.mean(of):+.2f} ({min(of):+.2f})" for of in each)]
            for pair, *each in zip(page.pairs, *columns, strict=True)]
    return ("Eight reviews of IMDB that the model gets right", rows,
            ["mean of eight (least)", "1 layer", "6 layers", "MiniLM"])
