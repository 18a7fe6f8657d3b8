"""What lecture 08 says, run again: other reviews and draws, generated reviews, two further trainings of both models."""

from functools import cache
from math import inf

import numpy as np

from coursekit.explain import exact_lime, exact_shapley
from coursekit.worlds import reviews
from tools.train_imdb import trained_again

from . import claim

OTHERS = range(1, 64)                           # hand-written reviews; the page's own is 0
DRAWS = range(5, 25)                            # of models that are made up; the page has 0 to 4
DOZENS = range(5)                               # of generated reviews
SEEDS = [1, 2]                                  # of further trainings
AGAIN = "two further trainings (python -m tools.train_imdb NAME --seed 1, --seed 2)"


def each(names, runs):
    """The runs [name, run] of every name with every run."""
    return [[name, run] for name in names for run in runs]


BOTH = ["tame", "peaky"]
TRAININGS = each(BOTH, SEEDS)


def shipped(page, name):
    """The model of the page."""
    return {"tame": page.tame, "peaky": page.peaky}[name]


@cache
def again(name, seed):
    """A further training of it."""
    return trained_again(f"imdb-{name}", seed)


@cache
def made(page, k, n=12):
    """The words of the k-th n generated reviews."""
    return [page.tame.tokenizer.tokenize(review.text) for review in reviews(n, seed=20 + k)]


# The models

def largest(page, model, words):
    """The largest weight that a word has in a head."""
    return page.first_row(model, words).max()


@claim("08.1", "In `imdb-tame` no word takes a tenth of a head", over="the largest weight of a word, 63 other reviews",
       runs=OTHERS, here=0, between=(0, 0.1))
def no_loud_word(page, i):
    return largest(page, page.tame, page.texts[i])


@claim("08.2", "in `imdb-peaky` a single word takes nearly half of one here, and more than a quarter in most reviews.",
       over="the largest weight of a word, 63 other reviews", runs=OTHERS, here=0, between=(0.25, 1), at_least=32)
def one_loud_word(page, i):
    return largest(page, page.peaky, page.texts[i])


@claim("08.3", "two further trainings of each differ in the same way.", over=f"{AGAIN} of both, the 64 reviews: tame, "
       "the largest weight of a word below .1; peaky, the median of a review's largest above .25",
       runs=SEEDS, trains=True)
def as_different(page, seed):
    tame, peaky = ([largest(page, again(name, seed), words) for words in page.texts] for name in BOTH)
    return max(tame) < 0.1 and np.median(peaky) > 0.25


def readers(page, model, words):
    """How many heads have more than a fifth of their weight on the first 14 words."""
    return (page.first_row(model, words[:14]).sum(1) > 0.2).sum()


@claim("08.4", "In the beginnings of other reviews it is mostly two heads as well", runs=OTHERS, here=0, between=(2, 2),
       over="heads of imdb-peaky with more than a fifth of their weight on the first 14 words, 63 other reviews",
       at_least=45)
def two_heads(page, i):
    return readers(page, page.peaky, page.texts[i])


@claim("08.5", "In the beginnings of other reviews it is mostly two heads as well, in two other trainings, too.",
       runs=SEEDS, between=(0.7, 1), trains=True, over=f"the share of the 64 reviews, {AGAIN} of imdb-peaky")
def two_heads_again(page, seed):
    return np.mean([readers(page, again("peaky", seed), words) == 2 for words in page.texts])


# The theorems as printed

@claim("08.6", "Theorem 4.1 is right, for every token but [CLS]", runs=each(BOTH, range(10)),
       over="10 generated reviews, two models: words agree to 1e-12 of the gradient, [CLS] is off by 1e-3 or more")
def theorem_4_1(page, run):
    printed, free = page.gradient_gaps(shipped(page, run[0]), made(page, 0)[run[1]])
    return bool(printed[0] > 1e-3 and max(printed[1:].max(), free.max()) < 1e-12)


def drawn(seed, d=8):
    """g and y (2, T, K) of 1 to 3 heads with a [CLS], d words and up to 9 places of padding."""
    rng = np.random.default_rng(seed)
    T, K = d + 1 + int(rng.integers(0, 10)), int(rng.integers(1, 4))
    g, y = np.exp(rng.normal(0, 1, (2, T, K))), rng.normal(0.5, 1, (2, T, K))
    for part in (g, y):
        part[1, 0], part[1, d + 1:] = part[0, 0], part[0, d + 1:]               # what no mask touches
    return g, y, d


@claim("08.7", "on a model that is linear in the mask, LIME returns $\\lambda_j$ and the formula $\\frac32\\lambda_j$.",
       over="the largest distance of the two from that, 20 deaf models drawn by lot, with and without a kernel",
       runs=DRAWS, between=(0, 1e-9))
def deaf(page, seed):
    g, y, d = drawn(seed)
    g = np.ones_like(g)
    weights = (y[0] - y[1])[1:d + 1].mean(-1) / g.shape[1]
    beta = [page.limit(g, y, d, nu) for nu in (np.inf, 0.25)]
    return max(abs(b - weights).max() for b in (*beta, page.printed(g, y, d) / 1.5))


@claim("08.8", "of a constant model LIME says 0 and the formula does not.", runs=DRAWS,
       over="20 constant models drawn by lot: LIME below 1e-9, the formula above .01, at the largest")
def constant(page, seed):
    g, y, d = drawn(seed)
    y = np.ones_like(y)
    return bool(abs(page.limit(g, y, d)).max() < 1e-9 and abs(page.printed(g, y, d)).max() > 0.01)


@claim("08.9", "A handy form that passes both tests", runs=DRAWS, between=(0, 1e-9),
       over="its largest distance from LIME, 20 deaf and 20 constant models drawn by lot")
def handy_passes(page, seed):
    g, y, d = drawn(seed)
    models = (np.ones_like(g), y), (g, np.ones_like(y))
    return max(abs(page.handy(*model, d) - page.limit(*model, d)).max() for model in models)


@claim("08.10", "a loud word that says nothing still counts, because it silences others.", between=(-inf, -0.005),
       over="LIME's coefficient of a silent word among six that praise, 1.5 to 20 times as loud as they",
       runs=[1.5, 2, 3, 4, 7, 10, 20], here=5)
def silence_counts(page, loud):
    return page.limit(*page.silent_and_unchanged(loud), 8)[6]


@claim("08.11", "So (iii) and (iv) do not hold.", over="six loudnesses of the silent word, and six messages of the one "
       "whose α y is unchanged: LIME below −.002 where the printed formula says 0 to 1e-9",
       runs=[[loud, says] for loud in (2, 3, 8) for says in (0.05, 0.15)], here=[5, 0.1])
def comments_fall(page, run):
    g, y = page.silent_and_unchanged(*run)
    return bool(page.limit(g, y, 8)[6:].max() < -0.002 and abs(page.printed(g, y, 8)[6:]).max() < 1e-9)


@claim("08.12", "the quoted form makes the coefficients sum to zero for every model.", between=(0, 1e-9), runs=DRAWS,
       over="20 functions of eight bits drawn by lot: the sum, and how far the form with the offset is from LIME")
def quoted_sum(page, seed):
    z, f = page.every_mask(8), np.random.default_rng(seed).normal(size=256)
    quoted, right = page.equation_17(f, 8)
    return max(abs(quoted.sum()), abs(right - page.weighted_ridge(z, f, page.law(z), ridge=0)[0]).max())


# One curve for each word

def company(page, model, words):
    """Of the five strongest words: worth among replaced words by worth in the whole text, (5,)."""
    few, many = page.worth(model, words, [0.02, 0.98])
    strong = np.argsort(-abs(few) - abs(many))[:5]
    return few[strong] / many[strong]


@claim("08.13", "On the tame model the curves are gentle: a word is worth about the same in any company.", runs=OTHERS,
       here=0, between=(0.75, 1.33), over="the five strongest words of 63 other reviews: worth among replaced words by "
       "worth in the whole text, the furthest from 1")
def gentle(page, i):
    ratios = company(page, page.tame, page.texts[i])
    return max(ratios, key=lambda ratio: abs(np.log(abs(ratio))))


@claim("08.14", "in about three reviews of four a typical strong word is worth more than twice as much among replaced "
       "words as in the whole text.", over="the median of the five strongest words of 63 other reviews on imdb-peaky",
       runs=OTHERS, here=0, between=(2, inf), at_least=44)
def twice_as_much(page, i):
    return np.median(abs(company(page, page.peaky, page.texts[i])))


@claim("08.15", "There, LIME at any kernel width, Shapley values and leave-one-out must agree nearly",
       between=(0, 0.15), runs=OTHERS[::3], here=0, over="21 other reviews on imdb-tame: the largest distance of "
       "Shapley values, LIME without kernel and leave-one-out from LIME, by the length of LIME's vector")
def agree_nearly(page, i):
    words, model = page.texts[i], page.tame
    lime = exact_lime(model, words).scores
    others = [exact_shapley(model, words).scores, exact_lime(model, words, kernel_width=inf).scores,
              exact_shapley(model, words, semivalue=([1 - 1e-9], [1.0])).scores]
    return max(np.linalg.norm(other - lime) for other in others) / np.linalg.norm(lime)


@claim("08.16", "In other reviews and trainings, too, it is off by less than two percent.",
       runs=each(BOTH, OTHERS[::3]), between=(0, 0.02),
       over="the one weight for all with LIME's kernel, 21 other reviews, two models")
def one_weight(page, run):
    return page.against_curve(shipped(page, run[0]), page.texts[run[1]])["LIME, ν = 0.25"][1]


@claim("08.17", "In other reviews and trainings, too, it is off by less than two percent.", runs=TRAININGS,
       between=(0, 0.02), trains=True, over=f"the largest of 16 reviews, {AGAIN} of both models")
def one_weight_again(page, run):
    return max(page.against_curve(again(*run), words)["LIME, ν = 0.25"][1] for words in page.texts[::4])


# Longer documents

@claim("08.18", "The printed form stays where it is, at a quarter or more.", between=(0.25, 1), runs=DRAWS,
       over="its error at 128 words, the lowest of the three cases, 20 other draws")
def printed_stays(page, seed):
    return min(page.made_up_errors(case, 128, seed, ["paper"])[0] for case in page.CASES)


# On trained models

TWO = ["paper", "corrected"]
MIDDLE = ["paper", "corrected", "centred", "integral", "mean-field"]


@cache
def five_dozens(page):
    """The words of 60 generated reviews."""
    return [words for k in DOZENS for words in made(page, k)]


@claim("08.19", "It is within one or two percent of LIME in every review, for the price of a few sums.", runs=SEEDS,
       over=f"the handy form's largest error in the 64 and in 60 generated reviews, {AGAIN} of imdb-tame",
       between=(0, 0.02), trains=True)
def handy_is_good(page, seed):
    texts = [*page.texts, *five_dozens(page)]
    return max(page.errors(again("tame", seed), words, ["centred"])[0] for words in texts)


@claim("08.20", "Here the reviews decide by themselves.", runs=range(60), between=(1, inf),
       over="the printed form's error by that with the factor 1, 60 generated reviews, imdb-tame")
def reviews_decide(page, i):
    printed, right = page.errors(page.tame, five_dozens(page)[i], TWO)
    return printed / right


@claim("08.21", "The medians of all forms up to mean-field lie between 15 and 35 percent, in two other trainings "
       "between 20 and 50", runs=SEEDS, trains=True,
       over=f"the lowest and the highest median over the 64 reviews, {AGAIN} of imdb-peaky")
def peaky_is_hard(page, seed):
    medians = np.median([page.errors(again("peaky", seed), words, MIDDLE) for words in page.texts], 0)
    return bool(0.2 <= medians.min() and medians.max() <= 0.5)


def closer(page, model, texts):
    """The share of texts in which the printed form is closer to LIME without a kernel than the factor 1."""
    found = [page.errors(model, words, TWO, kernel_width=inf) for words in texts]
    return np.mean([printed < right for printed, right in found])


@claim("08.22", "without kernel the printed form is closer in more than half of the reviews", runs=range(5),
       over="the share in 5 times 32 generated reviews, imdb-peaky", between=(0.5, 1))
def wrong_factor_closer(page, k):
    return closer(page, page.peaky, made(page, 10 + k, 32))


@claim("08.23", "without kernel the printed form is closer in more than half of the reviews", runs=SEEDS, trains=True,
       over=f"the share of the 64 reviews, {AGAIN} of imdb-peaky", between=(0.5, 1))
def wrong_factor_closer_again(page, seed):
    return closer(page, again("peaky", seed), page.texts)


def deleted(page, model, texts):
    """Median best factor, and the share of texts in which 3/2 is closer, where LIME deletes."""
    found = np.array([page.beside(model, words, "delete") for words in texts])
    return np.median(found[:, 4]), np.mean(found[:, 2] < found[:, 3])


@claim("08.24", "for deletion, too, the factor 1 is the better one", runs=range(60), between=(1, inf), at_least=54,
       over="the error with 3/2 by that with 1, 60 generated reviews, imdb-tame")
def factor_of_deletion(page, i):
    found = page.beside(page.tame, five_dozens(page)[i], "delete")
    return found[2] / found[3]


@claim("08.25", "for deletion, too, the factor 1 is the better one", runs=SEEDS, trains=True,
       over=f"{AGAIN} of imdb-tame, the 64 reviews: 3/2 is closer in at most one of eight, and the median best factor "
       "is nearer to 1 than to 1.5")
def factor_of_deletion_again(page, seed):
    factor, share = deleted(page, again("tame", seed), page.texts)
    return bool(factor < 1.25 and share <= 1 / 8)


@claim("08.26", "in a quarter to a half of them the corrected form beats the centred one.", between=(0.25, 0.5),
       over=f"the share of the 64 reviews at peakiness 4, {AGAIN} of imdb-tame", runs=SEEDS, trains=True)
def ladder_shakes(page, seed):
    found = [page.turned_up(again("tame", seed), words, 4, ["corrected", "centred"]) for words in page.texts]
    return np.mean([corrected < centred for corrected, centred in found])


@claim("08.27", "Eq. 19 itself is off by .4 already at", runs=DRAWS, between=(0.3, 0.5), over="20 other draws, m = 1")
def printed_of_repeated(page, seed):
    return page.repeated(1, seed)[0]


@claim("08.28", "The handy form and the integral get worse, slowly at first", runs=DRAWS, at_least=18,
       over="20 other draws: both are worse with m = 30 than with 6, and with 6 than with 1, but below .05 there")
def repeated_words(page, seed):
    one, six, thirty = (page.repeated(m, seed)[2:4] for m in (1, 6, 30))
    return bool((one < six).all() and (six < thirty).all() and six.max() < 0.05)


# Readings, and larger models

@cache
def followed(page, name, k):
    """Correlations with attention (n, 2), with signs and in absolute values, of a dozen reviews."""
    model = page.deep if name == "six layers" else shipped(page, name)
    texts = page.texts[12 + 12 * k:24 + 12 * k] if k < 2 else made(page, k)
    return np.array([page.followed(model, words) for words in texts])


ALL_THREE = [*BOTH, "six layers"]


@claim("08.29", "With signs the correlation goes both ways, by review, in all three models", at_least=11,
       over="the lowest below −.3 and the highest above .1 in two other and two generated dozens of reviews",
       runs=each(ALL_THREE, range(4)))
def both_ways(page, run):
    r = followed(page, *run)[:, 0]
    return bool(r.min() < -0.3 and r.max() > 0.1)


@claim("08.33", "it is as high with six layers, where no theory does", runs=range(5), between=(-0.1, 0.1),
       over="mean correlation of |LIME| with attention, six layers less the mean of the two models of one layer, two "
       "other and three generated dozens of reviews")
def as_high(page, k):
    tame, peaky, six = (followed(page, name, k)[:, 1].mean() for name in ALL_THREE)
    return six - (tame + peaky) / 2


@claim("08.34", "In absolute values it is high with one layer", runs=TRAININGS, between=(0.75, 1), trains=True,
       over=f"the mean correlation over 32 reviews, {AGAIN} of both models")
def high_with_one_layer(page, run):
    return np.mean([page.followed(again(*run), words)[1] for words in page.texts[12:44]])


@claim("08.30", "**D.4** and **D.5** count how likely given words are to stay", runs=range(10), between=(0, 1e-8),
       over="the largest gap of D.2 to D.5 to enumeration and quadrature, ten draws of 5 to 9 words")
def lemmas(page, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 10))
    (a, b), z, worst, x = rng.random((2, n)), page.every_mask(n), [], (np.arange(1e5) + 0.5) / 1e5
    for s in range(1, n):
        size = z[(~z).sum(1) == s]
        some, off = size[size[:, 2]], (a - b)[2] - (a - b).mean()               # word 2 is kept
        H = some @ a + ~some @ b
        mean = ((n - 1 - s) * a.sum() + s * b.sum() + s * (a - b)[2]) / (n - 1)
        var = n * s * (n - s - 1) / ((n - 1) * (n - 2)) * ((a - b).var() - off ** 2 / (n - 1))
        worst += [H.mean() - mean, H.var() - var, some[:, 0].mean() - (n - 1 - s) / (n - 1),
                  size[:, :3].all(1).mean() - page.comb(n - 3, s) / page.comb(n, s)]
    c = rng.uniform(-0.5, 4)
    return max(map(abs, [*worst, np.mean(x / (1 + c * x)) - (c - np.log(1 + c)) / c ** 2]))


def power(page, T, loud, right):
    """The power with which B.1's error falls when T doubles; half of the words have g = loud, the others 1."""
    def error(T):
        half, s = T // 2, range(1, T)
        law = np.array([2 * (T - k) / (T * (T - 1)) if right else 1 / T for k in s])
        true = np.array([2 * (T - k) / (T * (T - 1)) for k in s])
        truth = np.array([sum(page.comb(half - 1, k) * page.comb(half, T - 1 - gone - k) / page.comb(T - 1, gone)
                              / (T - 1 + loud + (loud - 1) * k) for k in range(min(half, T - gone))) for gone in s])
        x = np.array(s) / (T - 1)
        return abs(law @ (1 / ((1 - x) * (1 + loud) / 2 * T + x * T)) - true @ truth)
    return np.log2(error(2 * T) / error(T))


@claim("08.31", "with the printed weights the error falls no faster than the term itself", runs=[2, 2.5, 3, 4, 5],
       over="the power of T by which it falls from 128 to 256 words, half of them 2 to 5 times as loud as [UNK]",
       between=(-1.15, 0))
def printed_weights(page, loud):
    return power(page, 128, loud, right=False)


@claim("08.32", "with the right ones about like $T_{max}^{-2}$, faster than was promised.", runs=[2, 2.5, 3, 4, 5],
       over="the power of T by which it falls from 128 to 256 words, half of them 2 to 5 times as loud as [UNK]",
       between=(-2.3, -1.7))
def right_weights(page, loud):
    return power(page, 128, loud, right=True)


def on_imdb(page, right):
    """The table of section 8 on reviews of IMDB that each model gets right: (title, rows, columns)."""
    rows = []
    for name, model in (("tame", page.tame), ("peaky", page.peaky)):
        texts = right(model, 64, 100)
        rows += [page.key_row(name, nu, np.array([page.errors(model, words, kernel_width=width) for words in texts]))
                 for nu, width in page.WIDTHS.items()]
    rows = [[f"{cell:.2g}" if isinstance(cell, float) else cell for cell in row] for row in rows]
    return "Medians over 64 test reviews of IMDB, of at most 100 words, that the model gets right", rows, page.KEY
