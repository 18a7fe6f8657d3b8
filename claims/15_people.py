"""What lecture 15 says, run again: other reviews, programs, classes, blind readers, dialogues, further trainings."""

from functools import cache

import numpy as np

from coursekit.evaluate import distance_to_exact
from coursekit.explain import Attribution, exact_shapley
from coursekit.people import WordRemovalStudy, compactness
from coursekit.worlds import handwritten_reviews
from tools.train_imdb import trained_again

from . import claim

OTHERS = range(20, 64)                          # hand-written reviews; the page has the first 20
SETTINGS = range(3, 13)                         # of reviews and programs; the page has 0, 1 and 2
FIVE = range(3, 8)                              # of them, where many programs are trained
CLASSES = range(1000, 1200, 20)                 # first seeds of other classes; the page has 640
DIALOGUES = range(8, 13)
AGAIN = "two further trainings (python -m tools.train_imdb NAME --seed 1, --seed 2) of both, the 20 reviews"


# Short, and true

@cache
def told(page, of, who, i, seed=0):
    """The explanation of a review, and its distance to the exact values."""
    model = trained_again(f"imdb-{of}", seed) if seed else page.models[of]
    words = page.tokenize(handwritten_reviews()[i].text)
    exact = exact_shapley(model, words)
    found = exact if who == "exact" else page.EXPLAINERS[who](model, words)
    return found, distance_to_exact(model, words, found, exact), int(np.abs(exact.scores).argmax())


def share(page, who, i):
    """k.9 on imdb-tame, as a share of the words."""
    return compactness(told(page, "tame", who, i)[0]).share


@claim("15.1", "LIME and the exact values need half of the words for nine tenths of what they say.", runs=OTHERS,
       over="the mean of both shares, 44 other reviews", median=(0.45, 0.55))
def half_of_the_words(page, i):
    return np.mean([share(page, who, i) for who in ("LIME", "exact")])


@claim("15.2", "Attention is longer still, nearly as long as the same number for all words", runs=OTHERS,
       over="α-avg's share less that of the same number for all, 44 other reviews", between=(-0.1, 0))
def attention_is_long(page, i):
    return share(page, "α-avg", i) - share(page, "all alike", i)


def far(page, of, who, reviews, seed=0):
    """Mean distance to the exact values."""
    return np.mean([told(page, of, who, i, seed)[1] for i in reviews])


@claim("15.3", "the longest word is as short as an explanation can be, and hardly nearer to the truth than chance.",
       over="by how much it is nearer, the mean of eight other reviews", runs=range(20, 60, 8), between=(-0.3, 0.3))
def longest_word(page, first):
    reviews = range(first, first + 8)
    return far(page, "tame", "chance", reviews) - far(page, "tame", "longest word", reviews)


# The two programs

KEPT = {}                                       # settings and studies, of all claims: what makes them is the same


def setting(page, seed):
    """The parts of another setting, 500 reviews each, and its two programs."""
    if seed not in KEPT:
        train, held, clean = page.setting(seed, 500)
        KEPT[seed] = train, held, clean, page.two(train)
    return KEPT[seed]


@claim("15.4", "With all three seeds the raw program wins held out, and loses elsewhere", runs=SETTINGS,
       over="ten other settings: by five points and more")
def cheat_wins_and_loses(page, seed):
    _, held, clean, pair = setting(page, seed)
    (raw, raw_clean), (cleaned, cleaned_clean) = ([page.right(model, part) for part in (held, clean)]
                                                  for model in pair.values())
    return raw > cleaned + 0.05 and raw_clean < cleaned_clean - 0.05


@claim("15.5", "The first on 55 %, hardly more than a coin", over="the raw program elsewhere, ten other settings",
       runs=SETTINGS, between=(0.5, 0.6))
def hardly_a_coin(page, seed):
    _, _, clean, pair = setting(page, seed)
    return page.right(pair["raw"], clean)


@claim("15.6", "The cheat's explanations are *shorter* by $k_{\\text{eff}}$, here and in each of ten other settings",
       over="words fewer, the means of twelve reviews", runs=SETTINGS, between=(0.5, 20))
def cheat_is_shorter(page, seed):
    _, held, _, pair = setting(page, seed)
    (_, raw, *_), (_, cleaned, *_) = page.looks(pair, held[:12])[0]
    return cleaned - raw


@claim("15.7", "on eight to twelve of twelve in the other settings.", over="on how many reviews, ten other settings",
       runs=SETTINGS, between=(8, 12))
def cheat_is_larger(page, seed):
    _, held, _, pair = setting(page, seed)
    sums = [[np.abs(page.by_lime(m, list(r.tokens)).scores).sum() for m in pair.values()] for r in held[:12]]
    return sum(raw > cleaned for raw, cleaned in sums)


# Classes

@claim("15.8", "That is a coin, as the rule says.", over="share of right answers on shuffled pages, ten other classes",
       runs=CLASSES, here=640, between=(0.36, 0.64))
def shuffled_is_a_coin(page, first):
    yes, n = page.lines(page.school(first))[0][1:3]
    return yes / n


@claim("15.9", "half of all such classes have a smaller $p$ in the last line, or the same.", runs=range(11, 21), here=3,
       over="the share that has, of 1000 classes of other seeds: the page's own has 15 of 18", between=(0.45, 0.6))
def from_the_middle(page, seed):
    p = page.p_values(*page.classes(np.random.default_rng(seed), 1000))
    return (p <= page.p_values([15], [18])[0] + 1e-9).mean()


@claim("15.10", "of 100 classes that follow the same rule a fifth do not come below .05", runs=range(11, 21), here=3,
       over="their share of 1000 classes of other seeds", between=(0.15, 0.25))
def a_fifth_sees_nothing(page, seed):
    return (page.p_values(*page.classes(np.random.default_rng(seed), 1000)) > 0.05).mean()


@claim("15.11", "The last line is not taken in", runs=SETTINGS, between=(0.05, 1), at_least=9,
       over="p of “better than shuffled” for programs that take the side with smaller scores, ten other settings")
def placebo_is_not_taken_in(page, seed):
    _, held, _, pair = setting(page, seed)
    return page.lines(page.school(100 * seed, of=None, models=pair, pages=held[:12]))[3][3]


def marks(page):
    """Made up: 3 for the six words, 1 for the others if the program is the cheat, 0 and 1 if not."""
    def explain(model, words):
        loud = 3.0 * any(word in model.weights for word in page.SIX)
        return Attribution(words, [loud if word in page.SIX else 1.0 for word in words], "made up")
    return explain


@claim("15.12", "An explanation that is made up and marks the six words would have passed both studies with honours",
       over="the first study: share of right answers on pages as they are, ten other classes", runs=CLASSES,
       between=(0.6, 1))
def made_up_passes(page, first):
    yes, n = page.lines(page.school(first, explainer=marks(page)))[1][1:3]
    return yes / n


@claim("15.13", "31 by answers, 4 by people.", over="both within 1 of 100, 20,000 classes of other seeds",
       runs=range(1, 11), here=0)
def alarms(page, seed):
    by_answers, by_people = page.false_alarms(seed)
    return abs(by_answers - 0.31) < 0.015 and abs(by_people - 0.04) < 0.01


@claim("15.14", "In 15 of 100, though each single test is wrong in at most 5", over="p ≤ .05 at some look, 4000 "
       "classes of other seeds", runs=range(2, 12), here=1, between=(0.13, 0.17))
def peeking(page, seed):
    return page.looked(seed)[1]


@claim("15.15", "With pages as we have them, 84 of 100 readers who are not level do better with explanations",
       over="their share of 100,000 readers of other seeds", runs=range(11, 16), here=2, between=(0.83, 0.85))
def readers(page, seed):
    yes, n = page.classes(np.random.default_rng(seed), 1, 100_000)
    return yes[0] / n[0]


# Words that go

def removal(page, seed):
    """A study of 200 reviews of another setting."""
    train, held, clean, _ = setting(page, seed)
    if f"study {seed}" not in KEPT:
        KEPT[f"study {seed}"] = WordRemovalStudy(train[:200], held, clean, "no.csv", seed=0)
    return KEPT[f"study {seed}"]


def changes(page, study, reader):
    """(ticks a round, change held out, change elsewhere) of a reader of the page."""
    removed, ticks = [], []
    for _ in range(3):
        ticked = page.READERS[reader](study.weighs_most(removed))
        removed, ticks = removed + ticked, [*ticks, len(ticked)]
    before, after = (study.trained_without(frozenset(words))[1:] for words in ([], removed))
    return ticks, after[0] - before[0], after[1] - before[1]


@claim("15.16", "Taking the six words out gains 15 points elsewhere, against the number on the screen.", runs=SETTINGS,
       over="points gained elsewhere (0 if the number on the screen does not fall), ten other settings of 200 reviews",
       between=(3, 20))
def six_go(page, seed):
    _, held, clean = changes(page, removal(page, seed), "the six")
    return 100 * clean * (held < 0)


@claim("15.17", "above four words by lot is, in every setting that we tried, the one who did not look.", runs=FIVE,
       over="everything ticked less the median of five who tick four by lot, five other settings of 200 reviews",
       between=(0.001, 1))
def not_looking_passes(page, seed):
    study = removal(page, seed)
    return changes(page, study, "everything")[2] - np.median(study.blind((4, 4, 4), 5))


@claim("15.18", "the number on the screen stays, and elsewhere hardly anything changes", runs=SETTINGS,
       over="little words: the larger change of both, ten other settings of 200 reviews", between=(0, 0.03))
def little_words(page, seed):
    return np.abs(changes(page, removal(page, seed), "little words")[1:]).max()


@claim("15.19", "in four of five other settings both gain more than the median.", runs=FIVE, at_least=4,
       over="of five who tick as many by lot; five other settings of 200 reviews")
def better_than_blind(page, seed):
    study = removal(page, seed)
    found = [changes(page, study, reader) for reader in ("the six", "one of the six")]
    return all(gain > np.median(study.blind(ticks, 5)) for ticks, _, gain in found)


@claim("15.20", "the person is above the median of the nine with probability ½, however much they tick",
       over="share of 500 times ten readers drawn of 40 blind ones, who tick so many words in a round; 200 reviews",
       runs=[1, 2, 4, 8, 12], between=(0.43, 0.57))
def blind_person(page, ticks):
    gains, rng = removal(page, 3).blind((ticks,), 40, seed=1), np.random.default_rng(ticks)
    tens = [rng.permutation(gains)[:10] for _ in range(500)]
    return np.mean([page.above(own, others, seed) > 0 for seed, (own, *others) in enumerate(tens)])


# Why this word

def cases(page, seed):
    """100 other dialogues."""
    if f"cases {seed}" not in KEPT:
        KEPT[f"cases {seed}"] = list(page.cases_of(seed))[:100]
    return KEPT[f"cases {seed}"]


@claim("15.21", "With a foil the lengths find the owner nearly always.", runs=DIALOGUES, here=7, between=(0.9, 1),
       over="the lesser share of L1 and L2, five times 100 other dialogues")
def foil_finds(page, seed):
    return min(page.finds(cases(page, seed), reduce, True) for reduce in ("l1", "l2"))


@claim("15.22", "multiplied by the input the same gradient finds it no more often than without a foil.",
       over="by how much more often, five times 100 other dialogues", runs=DIALOGUES, here=7, between=(-1, 0))
def times_input_does_not(page, seed):
    return np.subtract(*(page.finds(cases(page, seed), "input", foil) for foil in (True, False)))


@cache
def turned(page, seed):
    return page.turned(cases(page, seed))


@claim("15.23", "Swapping the owner turns the answer in all 100: it is the cause.", runs=DIALOGUES, here=7,
       over="five times 100 other dialogues", between=(0.99, 1))
def swap_turns(page, seed):
    return turned(page, seed)[0]


@claim("15.24", "as often as with the owner itself hidden", over="how much more often, five times 100 other dialogues",
       runs=DIALOGUES, here=7, between=(-0.1, 0.1))
def top_is_the_owner(page, seed):
    return turned(page, seed)[2] - turned(page, seed)[1]


@claim("15.25", "For this question the foil found what the answer hangs on.", over="its top word turns more answers, "
       "by a tenth and more, than that of “why she?”, and this one more than a word by lot; five times 100 other ones",
       runs=DIALOGUES, here=7)
def foil_before_none(page, seed):
    _, _, foil, none, lot = turned(page, seed)
    return foil > none + 0.1 and none > lot


@claim("15.26", "A poor foil is a poor question, politely answered.", over="the favourite without the question finds "
       "the owner in half of the cases or fewer, the other pronoun in 95 of 100 or more; five times 100 other ones",
       runs=DIALOGUES, here=7)
def poor_foil(page, seed):
    favourite, pronoun = page.owner_is_cue(cases(page, seed))
    return favourite <= 0.5 and pronoun >= 0.95


# Attention, explained

@claim("15.27", "α-avg is nearer to the truth on both models than the same number for all words", runs=OTHERS,
       over="by how much on the model where it is less, 44 other reviews", between=(0, 1))
def attention_says_something(page, i):
    return min(far(page, of, "all alike", [i]) - far(page, of, "α-avg", [i]) for of in ("tame", "peaky"))


@claim("15.28", "Attention is nearer on the peaky model", over="α-avg, 44 other reviews", runs=OTHERS, at_least=40)
def nearer_on_peaky(page, i):
    return far(page, "peaky", "α-avg", [i]) < far(page, "tame", "α-avg", [i])


@claim("15.29", "LIME again, .01 away. Attention is nearer on the peaky model", runs=OTHERS, at_least=42,
       over="LIME is the nearest on imdb-peaky, 44 other reviews")
def lime_is_nearest(page, i):
    return min(page.EXPLAINERS, key=lambda who: far(page, "peaky", who, [i])) == "LIME"


def first(page, of, who, reviews):
    """How often the largest score is at the true first word."""
    return np.mean([np.abs(a.scores).argmax() == top for a, _, top in (told(page, of, who, i) for i in reviews)])


@claim("15.30", "The plain length of the gradient does better by all four numbers", over="G-L1 than α-avg: nearer, and "
       "the true first word at least as often, on both models; five times eight other reviews", runs=range(20, 60, 8))
def length_does_better(page, start):
    reviews = range(start, start + 8)
    return all(far(page, of, "G-L1", reviews) < far(page, of, "α-avg", reviews)
               and first(page, of, "G-L1", reviews) >= first(page, of, "α-avg", reviews) for of in ("tame", "peaky"))


@claim("15.31", "So it does say something.", over="in the mean α-avg is nearer than the same number for all "
       "on both, nearer on peaky, and LIME the nearest; " + AGAIN, runs=[1, 2], trains=True)
def other_trainings(page, seed):
    mean = {(of, who): far(page, of, who, range(20), seed) for of in ("tame", "peaky") for who in page.EXPLAINERS}
    return (all(mean[of, "α-avg"] < mean[of, "all alike"] for of in ("tame", "peaky"))
            and mean["peaky", "α-avg"] < mean["tame", "α-avg"]
            and all(min(page.EXPLAINERS, key=lambda who: mean[of, who]) == "LIME" for of in ("tame", "peaky")))
