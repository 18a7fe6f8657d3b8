"""What lecture 05 says, run again: other dialogues, trainings of the small models, and texts for the encoder."""

from functools import lru_cache
from math import inf

import numpy as np

from coursekit.models import pretrained_encoder
from coursekit.worlds import dialogues, reviews

from . import claim

OTHER = range(2, 12)                                    # draws of dialogues; the page's is 1
TRAININGS = range(9, 17)                                # of models of the nurse; the page has 0 to 8
STARTS = range(3, 11)                                   # of the model that copies; the page has 0 to 2
TRIO = ((1, 0), (1, 2), (2, 2))
EIGHT = "eight other trainings"
DRAWS = "ten other draws of 300 dialogues"
TEXTS = [["generated", 1], ["generated", 2], ["generated", 3], ["dialogues", 1], ["dialogues", 2]]
OTHER_TEXTS = "five times 32 other texts: generated reviews and dialogues"


@claim("05.1", "In other questions about a sister the same three heads look hard at her.", over="20 other questions "
       "about a sister's work: the smallest weight on *sister's* of the three heads", runs=range(20), between=(0.5, 1))
def three_heads_at_the_sister(page, i):
    found = [text[:text.index("?") + 1] for text in page.texts_of(300, seed=2) if "?" in text]
    tokens, ids = page.read([words for words in found if "sister's" in words][i])
    A = page.gpt.attentions(ids)
    return min(A[l, k, -1, tokens.index("sister's")].item() for l, k in TRIO)


def grown_up(page, kind, seed, made={}):
    """A model of the nurse's world, trained once a process."""
    if (kind, seed) not in made:
        made[kind, seed] = page.brought_up(page.SHARES[kind], seed)
    return made[kind, seed]


@claim("05.2", "fair or prejudiced, every model has a head with a heavy line from *she* to *nurse*.", over="the "
       "thickest line in eight other trainings of each kind", between=(0.75, 1),
       runs=[[kind, seed] for kind in ("fair", "prejudiced") for seed in TRAININGS])
def a_heavy_line(page, run):
    return page.she_and_he(grown_up(page, *run))[1][0]


@claim("05.3", "in the fair models *she* and *he* give the nurse nearly the same probability, in the prejudiced "
       "ones they turn the answer round.", over="eight other trainings of each kind (nearly: up to .15; turned: "
       "from above .5 to below)", runs=[[kind, seed] for kind in ("fair", "prejudiced") for seed in TRAININGS])
def the_answers_separate(page, run):
    she, he = page.she_and_he(grown_up(page, *run))[0]
    return abs(she - he) < 0.15 if run[0] == "fair" else she > 0.5 > he


@claim("05.4", "there the thickest line to *nurse* hardly changes when *she* becomes *he*.", over="the line from "
       "*he* by that from *she*, " + EIGHT + " of a fair model", runs=TRAININGS, between=(0.85, 1.15))
def fair_lines_stay(page, seed):
    she, he = page.she_and_he(grown_up(page, "fair", seed))[1]
    return he / she


@claim("05.5", "in about half of the prejudiced models the line loses more than half of its weight", runs=TRAININGS,
       over="the line from *he* by that from *she*, " + EIGHT, between=(0, 0.5), at_least=3)
def some_lines_go(page, seed):
    she, he = page.she_and_he(grown_up(page, "prejudiced", seed))[1]
    return he / she


@claim("05.6", "in about half of the prejudiced models the line loses more than half of its weight, and in some it "
       "stays as it is.", over="the same: in some it stays", runs=TRAININGS, between=(0.9, 1.1), at_least=2)
def some_lines_stay(page, seed):
    she, he = page.she_and_he(grown_up(page, "prejudiced", seed))[1]
    return he / she


@claim("05.7", "The head that looks most at the token before gives it about three times as much as even attention "
       "does", over="ten other times 20 dialogues", runs=OTHER, here=1, between=(2.5, 3.5))
def token_before(page, seed):
    [row] = [row for row in page.habits(page.Reader(page.gpt, page.read), page.texts_of(20, seed))
             if row[0] == "previous"]
    return row[3] / row[1]


@claim("05.8", "all heads of an untrained model look evenly.", over="the least broad head of ten other untrained "
       "models, each on other dialogues", runs=OTHER, between=(0.99, 1))
def untrained_heads(page, seed):
    found = page.habits(page.Reader(page.untrained(seed), page.read), page.texts_of(20, seed))
    [row] = [row for row in found if row[0] == "broad"]
    return row[3]


@lru_cache(12)
def drawn(page, seed):
    """The cases of other dialogues, and those of the owner as the model is asked."""
    cases = page.cases_in(page.texts_of(300, seed))
    return cases, page.asked_of(cases[page.OWNS])


@claim("05.9", "For the verb and the adjective, the best of twelve heads does *worse* than the rule", over=DRAWS,
       runs=OTHER, here=1)
def rules_are_better(page, seed):
    cases = drawn(page, seed)[0]
    return all(page.looks_at(found)[1].mean(0).max() < page.fixed_rule(found)
               for kind, found in cases.items() if kind != page.OWNS)


@claim("05.10", "A fixed rule finds the owner in a third to two thirds of the cases, as the dialogues fall, and one "
       "head in all of them or nearly all.", over="20 other draws of 300 dialogues (.3 to .7 and above .95)",
       runs=range(2, 22), here=1)
def owner_is_found(page, seed):
    found = drawn(page, seed)[0][page.OWNS]
    return 0.3 <= page.fixed_rule(found) < 0.7 and page.looks_at(found)[1].mean(0).max() > 0.95


@claim("05.11", "Of the three heads that look hard at the owner, only one is missed when it alone is silenced: "
       "layer 1, head 2.", over=DRAWS + " (missed: a share lower by more than .01, of all twelve heads)", runs=OTHER,
       here=1)
def one_is_missed(page, seed):
    return [head for head, lost in page.missed(drawn(page, seed)[1]).items() if lost > 0.01] == [(1, 2)]


@claim("05.12", "The missed head gives nearly all of its weight to *sister's* and nearly none to *brother's*.", over=
       "its mean weight on the two, " + DRAWS + " (above .9 and below .1)", runs=OTHER, here=1)
def sisters_only(page, seed):
    cases = drawn(page, seed)[0][page.OWNS]
    sister, brother = (page.favourite(page.of_owner(cases, owner), (1, 2))[1] for owner in ("sister's", "brother's"))
    return sister > 0.9 and brother < 0.1


@claim("05.13", "And yet the head is missed where the owner is a brother", over="the share that is lost without "
       "it, " + DRAWS, runs=OTHER, here=1, between=(0.1, 1))
def missed_for_brothers(page, seed):
    asked = page.asked_of(page.of_owner(drawn(page, seed)[0][page.OWNS], "brother's"))
    return page.left(asked) - page.left(asked, (1, 2))


@claim("05.14", "Of the 220 triples of heads only one leaves the model with the toss of a coin: the three heads of "
       "section 1.", over="60 cases of five other draws of dialogues (a coin: .45 to .55)", runs=OTHER[:5])
def one_triple(page, seed):
    owners = drawn(page, seed)[1]
    return [heads for heads in page.itertools.combinations(page.HEADS, 3)
            if page.left(owners, *heads) < 0.55] == [TRIO] and page.left(owners, *TRIO) > 0.45


@claim("05.15", "The one that finds the owner nearly every time is not the larger spare by far", over="what (2, 2) "
       "costs beyond the first loss, less what (1, 0) costs, " + DRAWS, runs=OTHER, here=1, between=(-inf, 0.05))
def not_by_far(page, seed):
    owners = drawn(page, seed)[1]
    return page.left(owners, (1, 2), (1, 0)) - page.left(owners, (1, 2), (2, 2))


def copier(page, seed, made={}):
    """A model that copies, trained once a process: (the losses without what it sends, [BOS]'s two shares)."""
    if seed not in made:
        model = page.grown(seed)
        made[seed] = page.losses_without(model), page.bos_shares(model)
    return made[seed]


@claim("05.16", "How hard an idle head looks at [BOS] differs from run to run: at least twice as hard as even "
       "attention in all that we tried.", over="how many times as hard, " + EIGHT, runs=STARTS, here=1,
       between=(2, inf))
def idle_at_bos(page, seed):
    return copier(page, seed)[1][0] / page.even


def lost(page, seed, what, where):
    """By how much the loss rises without it; where: 0 where the head is called for, 1 where it is idle."""
    losses = copier(page, seed)[0]
    return losses[what][where] - losses["nothing"][where]


@claim("05.17", "take away what [BOS] sends, and the loss stays where it was, up to a few thousandths.", over=
       "what is lost without [BOS], the larger of called for and idle, " + EIGHT, runs=STARTS, here=1,
       between=(-0.006, 0.006))
def bos_is_not_missed(page, seed):
    return max((lost(page, seed, "what [BOS] sends", where) for where in (0, 1)), key=abs)


@claim("05.18", "Where the head is called for, it is indispensable as a whole.", over="what is lost without it, " +
       EIGHT + " of the small model that copies", runs=STARTS, here=1, between=(1, inf))
def indispensable(page, seed):
    return lost(page, seed, "all that the head sends", 0)


@claim("05.19", "Where it is idle, nothing that it sends is missed, from [BOS] or from elsewhere.", over="what is "
       "lost without the whole head where it is idle, " + EIGHT, runs=STARTS, here=1, between=(-0.02, 0.02))
def idle_is_idle(page, seed):
    return lost(page, seed, "all that the head sends", 1)


@claim("05.20", "in most runs [BOS] has a smaller share of the norms than of the weights.", over="the share of the "
       "norms by that of the weights, " + EIGHT, runs=STARTS, here=1, between=(0, 1), at_least=5)
def norms_hint(page, seed):
    weights, norms = copier(page, seed)[1]
    return norms / weights


@lru_cache(1)
def minilm():
    """(model, pieces), loaded once a process."""
    return pretrained_encoder()


def made(kind, number, n):
    """n texts that the page does not read."""
    return [one.text for one in {"generated": reviews, "dialogues": dialogues}[kind](n, number)]


@lru_cache(8)
def batch(kind, number):
    """32 such texts, read by the encoder's pieces."""
    return minilm()[1](made(kind, number, 32), return_tensors="pt", padding=True)


def turned(page, run, name):
    """What a change does to the vectors of 32 texts: mean cosine, smallest, same neighbour, nearest to its old self."""
    change = page.changes(batch(*run).attention_mask)[name]
    return page.turned(vectors(page, *run), vectors(page, *run, **change))


def vectors(page, kind, number, known={}, **change):
    """Of 32 texts; those of the encoder as it is are made once a process."""
    if change or (kind, number) not in known:
        found = page.text_vectors(minilm()[0], batch(kind, number), **change)
        return found if change else known.setdefault((kind, number), found)
    return known[kind, number]


@claim("05.21", "More than a quarter to [CLS], and hardly more than one percent to [SEP], less than even attention "
       "would give", over="shares of the encoder's attention, five times eight other texts (hardly more: up to .02)",
       runs=TEXTS)
def where_the_sink_is(page, run):
    encoder = page.opened_encoder(*minilm())
    cls, sep, even = page.marks([encoder.attentions(text) for text in made(*run, 8)]).mean(0)
    return bool(cls > 0.25 and sep < min(even, 0.02))


@claim("05.22", "What [CLS] sends is hardly missed, about as little as what a single word sends", over="the mean "
       "cosine without what [CLS] sends (.99 or more, within .01 of that without a word's), " + OTHER_TEXTS,
       runs=TEXTS)
def cls_is_hardly_missed(page, run):
    cls, word = (turned(page, run, f"{name} sends nothing")[0] for name in ("[CLS]", "a word"))
    return bool(cls > 0.99 and abs(cls - word) < 0.01)


@claim("05.23", "the little that [CLS] does send is the same in every text", over="the mean cosine if [CLS] sends "
       "the mean over the texts, " + OTHER_TEXTS, runs=TEXTS, between=(0.999, 1.001))
def cls_sends_a_constant(page, run):
    return turned(page, run, "[CLS] sends the same in all reviews")[0]


@claim("05.24", "each changed vector is still nearest to its own old one.", over="the share of such texts if [CLS] "
       "is forbidden, " + OTHER_TEXTS, runs=TEXTS, between=(1, 1))
def still_itself(page, run):
    return turned(page, run, "[CLS] is forbidden")[3]


@claim("05.25", "for many texts another one is now the nearest", over="the share that gets another nearest "
       "neighbour if [CLS] is forbidden, " + OTHER_TEXTS, runs=TEXTS, between=(0.3, 1))
def other_neighbours(page, run):
    return 1 - turned(page, run, "[CLS] is forbidden")[2]


@claim("05.26", "In most prejudiced models the head with the thickest line is not the one that is missed most.", over=
       EIGHT, runs=TRAININGS, here=0, at_least=5)
def the_thickest_is_not_missed_most(page, seed):
    model = grown_up(page, "prejudiced", seed)
    return np.argmin(page.gaps_of(model)[1]) != page.thickest(model)


@claim("05.27", "in most prejudiced models a part of the gap remains, whichever head is silenced.", over="the part "
       "of the gap that the head missed most leaves, " + EIGHT, runs=TRAININGS, here=0, between=(0.12, 1), at_least=7)
def a_part_remains(page, seed):
    whole, rest = page.gaps_of(grown_up(page, "prejudiced", seed))
    return min(rest) / whole
