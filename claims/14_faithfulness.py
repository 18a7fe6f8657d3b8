"""What lecture 14 says, run again: other dozens of reviews, other worlds, two further trainings of both models."""

from functools import cache
from math import inf

import numpy as np

from coursekit.evaluate import infidelity, non_sensitivity, rank_agreement
from coursekit.evaluate.agreement import kendall
from coursekit.explain import exact_lime, exact_shapley, lime
from coursekit.models import train_bag_of_words
from coursekit.worlds import reviews
from tools.train_imdb import trained_again
from tools.train_readers import trained_again as reader_again

from . import claim

BOTH = ["tame", "peaky"]
DOZENS = [*range(1, 5), 10]                     # of reviews: hand-written (the page's is 0), from 10 on generated
OTHERS = "four other dozens of hand-written reviews and one of generated ones"
SEEDS = [1, 2]                                  # of further trainings
AGAIN = "two further trainings (python -m tools.train_imdb NAME --seed 1, --seed 2), five hand-written dozens"
WORLDS = range(2, 12)                           # of generated reviews; the page's are 1, and 1 to 3 in section 7


def each(names, runs):
    """The runs [name, run] of every name with every run."""
    return [[name, run] for name in names for run in runs]


def dozen(page, k):
    """The words of twelve reviews."""
    if k < 10:
        return page.everything[12 * k:12 * k + 12]
    return [list(review.tokens) for review in reviews(12, seed=20 + k)]


@cache
def model_of(page, name, seed=0):
    """A model of the page, or a further training of it."""
    return trained_again(f"imdb-{name}", seed) if seed else page.models[name]


@cache
def explained(page, name, k, seed=0):
    """What the explainers say of a dozen."""
    return page.explained(model_of(page, name, seed), dozen(page, k))


@cache
def exact(page, name, k, seed=0):
    """The exact Shapley values of a dozen."""
    return [exact_shapley(model_of(page, name, seed), words) for words in dozen(page, k)]


@cache
def judged(page, metric, name, k, seed=0):
    """What a metric says of a dozen, (n_explainers, 12)."""
    return page.judged(page.METRICS[metric], model_of(page, name, seed), dozen(page, k), explained(page, name, k, seed))


@cache
def far(page, name, k, seed=0):
    """The mean distances of the explainers from the exact values, (n_explainers,)."""
    given = explained(page, name, k, seed)
    return page.distance(model_of(page, name, seed), dozen(page, k), given, exact(page, name, k, seed)).mean(1)


def mean(page, metric, name, k, seed=0):
    """(n_explainers,): a metric's means over a dozen."""
    return np.nanmean(judged(page, metric, name, k, seed), 1)


REFEREES = ["deletion", "insertion", "comprehensiveness", "sufficiency"]


# The race

def needed(page, k, seed=0):
    """How many winners eleven metrics take, ties shared."""
    return page.needed([page.winners(judged(page, metric, "peaky", k, seed)) for metric in page.METRICS])


FOUR = "on other reviews and trainings it is three to five."


@claim("14.1", FOUR, over="winners that it takes for each of eleven metrics to have one of its own; imdb-peaky, "
       f"{OTHERS}", runs=DOZENS, here=0, between=(3, 5))
def winners(page, k):
    return needed(page, k)


@claim("14.2", FOUR, over=f"winners that it takes for each of eleven metrics; {AGAIN} of imdb-peaky", trains=True,
       runs=[[seed, k] for seed in SEEDS for k in range(5)], between=(3, 5))
def winners_again(page, run):
    return needed(page, run[1], run[0])


def named(page, metric, k):
    return page.winners(judged(page, metric, "peaky", k))


@claim("14.3", "deletion has integrated gradients among its winners", runs=DOZENS, here=0,
       over=f"imdb-peaky, {OTHERS}")
def deletion_names(page, k):
    return "integrated gradients" in named(page, "deletion", k)


@claim("14.4", "attention and the length of the gradient come behind all that have a sign, in every dozen.",
       runs=DOZENS, here=0, over=f"attention and the gradient's length, by each of four referees; imdb-peaky, {OTHERS}")
def signs_ahead(page, k):
    means = [mean(page, metric, "peaky", k) for metric in REFEREES]
    return all(max(x[:2]) < min(x[2:7]) for x in means)


@claim("14.5", "all explainers of section 1 are better than chance, by all four referees.", runs=each(BOTH, DOZENS),
       over=f"two models, {OTHERS}")
def better_than_chance(page, run):
    return all(x[:7].min() > x[7] for x in (mean(page, metric, *run) for metric in REFEREES))


# Recall

@cache
def gold(page, seed):
    """(ten-word model, its words, forty texts of three reviews, the reviews that it was fitted to)."""
    docs, labels = page.drawn_reviews(seed)
    words, ten = page.ten_words(docs[:700], labels[:700])
    return ten, words, page.in_threes(docs, words), (docs[:700], labels[:700])


@claim("14.6", "the 90 % are exceeded (in nine of ten other worlds, too)", over="recall of LIME with 100 samples, ten "
       "other worlds of a thousand reviews", runs=WORLDS, here=1, between=(0.9, 1), at_least=9)
def recall_of_lime(page, seed):
    ten, words, texts, _ = gold(page, seed)
    return np.mean([page.find(lime(ten, d, 100, bow=False), words) for d in texts])


@claim("14.7", "misses gold words that stand there twice, and no others", runs=WORLDS[:5], here=1,
       over="all texts of five other worlds: recall is below 1 just where a gold word stands twice")
def blind_spot(page, seed):
    ten, words, texts, _ = gold(page, seed)
    return all((page.find(page.EXPLAINERS["leave-one-out"](ten, d), words) < 1) == any(d.count(w) > 1 for w in words)
               for d in texts)


@claim("14.8", "A gold word of weight zero costs an honest explanation most of its recall.", runs=WORLDS[:5], here=1,
       over="recall of LIME with 100 samples where a full stop is gold, too; five other worlds", between=(0, 0.25))
def full_stop(page, seed):
    _, words, texts, fitted = gold(page, seed)
    loose = train_bag_of_words(*fitted, [*words, "."])
    return np.mean([page.find(lime(loose, d, 100, bow=False), loose.weights) for d in texts])


# Curves

@cache
def searched(page, name, k, seed=0):
    """(comprehensiveness, deletion, tau with the exact values) of the greedy order, less those of the exact values."""
    model, truth = model_of(page, name, seed), exact(page, name, k, seed)
    given = [page.greedy(model, words) for words in dozen(page, k)]
    ahead = [np.mean(np.subtract(*page.judged(page.METRICS[metric], model, dozen(page, k), {0: given, 1: truth})))
             for metric in ("comprehensiveness", "deletion")]
    return *ahead, np.mean([rank_agreement(a, t).kendall for a, t in zip(given, truth, strict=True)])


GREEDY = "the greedy order wins by both measures, and it is not the exact values' order."


@claim("14.9", GREEDY, over=f"ahead by both, and tau below .9; imdb-peaky, {OTHERS}", runs=DOZENS, here=0)
def greedy_wins(page, k):
    comprehensive, deletion, tau = searched(page, "peaky", k)
    return bool(comprehensive > 0 and deletion > 0 and tau < 0.9)


@claim("14.10", GREEDY, over=f"ahead by both, and tau below .9; {AGAIN} of imdb-peaky", trains=True,
       runs=[[seed, k] for seed in SEEDS for k in range(5)])
def greedy_wins_again(page, run):
    comprehensive, deletion, tau = searched(page, "peaky", run[1], run[0])
    return bool(comprehensive > 0 and deletion > 0 and tau < 0.9)


@claim("14.11", "Yet on the second one chance looks excellent and the exact values poor, in other dozens as well.",
       runs=DOZENS, here=0, between=(0.2, 1), over="comprehensiveness of chance less that of the exact values, "
       f"*suspicious*, {OTHERS}")
def knows_the_exam(page, k):
    clean = [page.readable(words) for words in dozen(page, k)]
    values = [[page.comprehensiveness(page.suspicious, d, ask(page.tame, d), scores="log-odds") for d in clean]
              for ask in (page.chance, exact_shapley)]
    return np.subtract(*np.mean(values, 1))


# Zeros, monotonicity, complexity

@claim("14.12", "Non-sensitivity tells two explainers from the six others, and chance is among the six",
       runs=each(BOTH, DOZENS), over=f"two models, {OTHERS}: idle words of integrated gradients and leave-one-out are "
       "fewer than those of the six, of which none has more than two fewer than chance")
def zeros(page, run):
    idle = np.array([sum(len(non_sensitivity(model_of(page, run[0]), d, a).about["unjust"])
                         for d, a in zip(dozen(page, run[1]), some, strict=True))
                     for some in explained(page, *run).values()])
    return bool(max(idle[3:5]) < min(idle[[0, 1, 2, 5, 6]]) and min(idle[[0, 1, 2, 5, 6]]) >= idle[7] - 2)


@claim("14.13", "the metric *is* leave-one-out, sent through a curve that only rises", over="the lowest rho of "
       f"leave-one-out, with the sign; imdb-tame, {OTHERS}", runs=DOZENS, here=0, between=(0.995, 1.001))
def plays_at_home(page, k):
    given = explained(page, "tame", k)["leave-one-out"]
    return min(page.with_sign(page.tame, d, a) for d, a in zip(dozen(page, k), given, strict=True))


FIVES = range(5, 60, 9)
IG = "integrated gradients"


@claim("14.14", "with squares about the model's own score the metric wants $|\\varphi|$, which then gets 1.00",
       runs=FIVES, here=0, between=(0.99, 1.001), over="squared loss; seven other fives of reviews")
def squares(page, first):
    return np.mean(page.rhos(IG, "(i) squared loss", lambda m, d, a: a, first))


@claim("14.15", "Removal and law take off up to .17 here, .15 to .35 in other fives of reviews.", runs=FIVES, here=0,
       between=(0.15, 0.35), over="what the lowest of four removals and laws takes off 1; seven other fives of reviews")
def laws(page, first):
    four = ["(iii) deleted", "(iii) “the”", "(iv) any word of reviews", "(iv) a word that may follow"]
    return 1 - min(np.mean(page.rhos(IG, decision, page.toward, first)) for decision in four)


@claim("14.16", "With one draw, chance moves the number by .22 in this text, and by .1 to .6 in others",
       over="highest less lowest of five draws, every second of the reviews 12 to 63", runs=range(13, 64, 2),
       here=0, between=(0.1, 0.6))
def one_draw(page, i):
    return np.ptp(page.five_draws(page.everything[i], 1))


@claim("14.17", "In other dozens it is one to two and a half words on average, and by chance more than ten.",
       runs=DOZENS, here=0, over="integrated gradients, attention, the gradient's length and LIME with 100 samples; "
       f"imdb-peaky, {OTHERS}, those of which it is sure")
def how_many_words(page, k):
    sure = [abs(page.peaky.predict([words])[0]) > 1 for words in dozen(page, k)]
    words = -np.nanmean(judged(page, "effective complexity", "peaky", k)[:, sure], 1)
    return bool(all(1 <= words[[0, 1, 3, 5]]) and all(words[[0, 1, 3, 5]] <= 2.5) and words[7] > 10)


# Remove and retrain: see the page's worlds 1 to 3

OTHER_WORLDS = "ten other worlds"
NEW = range(4, 14)


@cache
def half_gone(page, seed):
    """{order: (retrained, not retrained)} with all words, and with half of them gone: (2, 2) each."""
    return page.curves_of(seed, (0, 50))


@claim("14.18", "comes back to .68, as much as with all words.", runs=NEW, between=(-0.03, 0.03), over="for the "
       f"verdict first, retrained: accuracy without half of the words less that with all; {OTHER_WORLDS}")
def as_good_as_new(page, seed):
    return np.subtract(*half_gone(page, seed)["for the verdict first"][::-1, 0])


@claim("14.19", "By chance less is left, by size least", runs=range(4, 19, 3), here=1, over="retrained without half of "
       "the words, *for the verdict first* ahead of chance ahead of size; means of five times three other worlds")
def leaks(page, first):
    size, verdict, luck = (np.mean([half_gone(page, seed)[name][1, 0] for seed in range(first, first + 3)])
                           for name in ("size |w|", "for the verdict first", "chance"))
    return bool(verdict > luck > size)


@claim("14.20", "The cousin, not retrained, falls to far below one half for the same reason.", runs=NEW,
       over=f"accuracy without half of the words, {OTHER_WORLDS}", between=(0, 0.4))
def cousin(page, seed):
    return half_gone(page, seed)["for the verdict first"][1, 1]


@claim("14.21", "All of it, if the ridge is small", runs=NEW[:6], between=(-0.05, 0.05), over="every word replaced by "
       "its mean, ridge .01: accuracy less that with all words; six other worlds")
def nothing_is_removed(page, seed):
    whole, means = page.all_means(seed, 0.01)
    return means - whole


# Infidelity, and shuffled weights

@claim("14.22", "LIME with 1000 samples is ahead of the exact Shapley values, by both columns, in other dozens as well",
       runs=DOZENS, here=0, over=f"LIME with 1000 samples; imdb-peaky, {OTHERS}")
def at_home(page, k):
    given = {"LIME": explained(page, "peaky", k)["LIME, 1000"], "exact": exact(page, "peaky", k)}
    return all(np.subtract(*page.judged(lambda m, d, a, best=best: infidelity(m, d, a, normalize=best), page.peaky,
                                        dozen(page, k), given).mean(1)) < 0 for best in (False, True))


FOURS = range(1, 16, 3)
STAY = "the mean is .35 to .6 with the values shuffled and .1 to .5 down to the queries."


def stay(page, i, seed=0):
    """Do the means of five shuffles lie there, for the exact values of the i-th four reviews?"""
    found = page.shuffled(exact_shapley, model_of(page, "tame", seed), page.everything[4 * i:4 * i + 4])
    return bool(0.35 <= found["W_v"][0] <= 0.6 and 0.1 <= found["W_q"][0] <= 0.5)


@claim("14.23", STAY, over="the exact values, five shuffles of imdb-tame, five other fours of reviews", runs=FOURS,
       here=0)
def shuffled(page, i):
    return stay(page, i)


@claim("14.24", STAY, over="the exact values, five shuffles; two further trainings of imdb-tame, four fours of reviews",
       runs=[[seed, i] for seed in SEEDS for i in (0, 4, 8, 12)], trains=True)
def shuffled_again(page, run):
    return stay(page, run[1], run[0])


# The judges are judged

@claim("14.25", "Within its kind the gradient's length is the nearer one on both models, in other dozens as well.",
       over=f"two models, {OTHERS}: distance of the gradient's length by that of attention", runs=each(BOTH, DOZENS),
       between=(0, 0.8))
def length_is_nearer(page, run):
    attention, length = far(page, *run)[:2]
    return length / attention


def tau(page, metric, name, k, seed=0, first=0, dist=None):
    """Kendall's tau of a metric's order and the truth's, of all explainers or (first=2) of those with signs."""
    dist = far(page, name, k, seed) if dist is None else dist
    return kendall(mean(page, metric, name, k, seed)[first:], -dist[first:])


NEARLY = "in other dozens and trainings with a τ of .75 or more."


@claim("14.26", NEARLY, over=f"the lower tau of the two, {OTHERS}", runs=DOZENS, here=0, between=(0.75, 1))
def tame_is_easy(page, k):
    return min(tau(page, metric, "tame", k) for metric in ("deletion", "comprehensiveness"))


@claim("14.27", NEARLY, over=f"the lower tau of the two, {AGAIN} of imdb-tame", between=(0.75, 1), trains=True,
       runs=[[seed, k] for seed in SEEDS for k in range(5)])
def tame_is_easy_again(page, run):
    return min(tau(page, metric, "tame", run[1], run[0]) for metric in ("deletion", "comprehensiveness"))


GOOD = ["deletion", "comprehensiveness", "infidelity, best factor"]


@claim("14.28", "Much of that is signs", runs=DOZENS, here=0, over="the least by which the tau of deletion, "
       f"comprehensiveness and rescaled infidelity is larger among the six with signs; imdb-peaky, {OTHERS}",
       between=(0, inf))
def much_is_signs(page, k):
    return min(tau(page, metric, "peaky", k, first=2) - tau(page, metric, "peaky", k) for metric in GOOD)


@claim("14.29", "With LIME's limit for the truth no judge is ahead of rescaled infidelity, here and in most other "
       "dozens", runs=DOZENS, here=0, over="its tau less the largest of the others, the six with signs, by LIME's "
       f"limit; imdb-peaky, {OTHERS}", between=(0, inf), at_least=4)
def another_truth(page, k):
    limit = [exact_lime(page.peaky, words) for words in dozen(page, k)]
    dist = page.distance(page.peaky, dozen(page, k), explained(page, "peaky", k), limit).mean(1)
    taus = {metric: tau(page, metric, "peaky", k, first=2, dist=dist) for metric in page.METRICS}
    return taus.pop("infidelity, best factor") - np.nanmax(list(taus.values()))


@cache
def reader(page, kind, seed):
    """{judge: mean tau over three generated dozens} of a further training of a reader, the six with signs."""
    model, taus = reader_again(kind, seed), []
    for texts in (dozen(page, k) for k in (10, 11, 12)):
        given = page.explained(model, texts)
        dist = page.distance(model, texts, given, [exact_shapley(model, words) for words in texts]).mean(1)[2:]
        taus.append([kendall(page.judged(page.METRICS[judge], model, texts, given).mean(1)[2:].round(6),
                             -dist.round(4)) for judge in JUDGES])
    return dict(zip(JUDGES, np.mean(taus, 0), strict=True))


RESCALED = "infidelity, best factor"
JUDGES = [*REFEREES, RESCALED]
FRESH = "tau, the six with signs, mean of three generated dozens; five further trainings of such readers, seeds 3 to 7"


@claim("14.30", "On **sums** all four curves are", over=f"the lowest of the four curves' {FRESH}", runs=range(3, 8),
       between=(0.9, 1), trains=True)
def sums(page, seed):
    return min(reader(page, "even", seed)[judge] for judge in REFEREES)


@claim("14.31", "on sharp readers only rescaled infidelity is near the truth, with .97 (ahead of all curves in four of "
       "five further trainings)", at_least=4, runs=range(3, 8), between=(0, 2), trains=True, over="how far it is "
       f"ahead of the best of four curves: {FRESH}")
def sharp(page, seed):
    found = reader(page, "sharp", seed)
    return found[RESCALED] - max(found[judge] for judge in REFEREES)


@claim("14.32", "On readers no judge is ahead of comprehensiveness and rescaled infidelity", runs=range(3, 8),
       between=(0, 2), trains=True, over="how far the lower of the two is ahead of the best of three other curves: "
       f"{FRESH}")
def readers(page, seed):
    found = reader(page, "plain", seed)
    ahead = [found.pop(judge) for judge in ("comprehensiveness", RESCALED)]
    return min(ahead) - max(found.values())
