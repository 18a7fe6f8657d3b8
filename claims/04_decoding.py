"""What lecture 04 says, run again: other requests, other draws, the true answers of other dialogues."""

from functools import cache
from math import inf

import numpy as np
import torch

from coursekit.worlds import dialogues, tone_of

from . import claim

SEEDS = range(3, 11)                                    # of a hundred requests, of thirty and their answers, of ten
REQUESTS = sorted({dialogue.request for dialogue in dialogues(300, seed=9)} - {"How good is my sister's poem?"})
SOME, MORE = REQUESTS[::len(REQUESTS) // 20][:20], REQUESTS[::len(REQUESTS) // 40][:40]
THINGS = ["poem", "story", "program", "essay", "song", "plan", "picture"]
NEVER = ["simple", "ordinary"]                          # adjectives that it does not say twice


def chances(page, ids):
    """The model's distribution of the token after ids (D,)."""
    return page.next_logits(page.model, ids).double().softmax(-1)


@claim("04.1", "The first word comes as often as the model said, up to chance", over="the largest difference in 2000 "
       "first words, for 20 other requests", runs=SOME, here="How good is my sister's poem?", between=(0, 0.03))
def first_words(page, request):
    ids = page.ids_of(request)
    drawn = torch.tensor(page.sample(page.model, [ids] * 2000, 1, seed=len(request)))[:, 0]
    return (chances(page, ids) - drawn.bincount(minlength=256) / 2000).abs().max()


@claim("04.2", "In other answers a nucleus of 0.9 keeps a single word at a third to two thirds of the places, and "
       "fifteen or more at the widest.", over="the share of places with a single word, none where no place has "
       "fifteen, in the true answers to 20 other requests", runs=range(20), between=(1 / 3, 2 / 3))
def nucleus_adapts(page, i):
    dialogue = dialogues(i + 1, seed=5)[i]
    start, answer = page.ids_of(dialogue.request), page.tokenizer.encode(" ".join(dialogue.answer))
    size = [(page.keep_nucleus(chances(page, start + answer[:t]), 0.9) > 0).sum() for t in range(len(answer) + 1)]
    return np.mean(np.array(size) == 1) * (max(size) >= 15)


@claim("04.3", "A temperature above 1 flattens. Before the nucleus it lets more words in",
       over="how many more words, at the beginning of 20 other answers", runs=SOME,
       here="How good is my sister's poem?", between=(1, 256))
def hot_first(page, request):
    hot = page.next_token_distribution(page.model, page.ids_of(request), temperature=1.5, top_p=0.9)
    return (hot.top_p > 0).sum() - (page.keep_nucleus(hot.pure, 0.9) > 0).sum()


@cache
def best(page, request):
    """The likeliest sentence (ids), its log p, and how often the model was asked."""
    log_p, ids, asked = page.most_probable(page.model, page.ids_of(request), page.STOP)
    return ids, log_p, asked


def forks(page, request, ids):
    """How many of the ids had less than 0.7 of the probability."""
    return (page.log_probabilities(page.model, page.ids_of(request), ids).exp() < 0.7).sum().item()


@claim("04.4", "The exact search asks mostly 70 to 110 times for other requests.", over="40 other requests", runs=MORE,
       here="How good is my sister's poem?", between=(70, 110), at_least=36)
def asked_for_one(page, request):
    return best(page, request)[2]


@claim("04.5", "Greedy decoding (width 1) is far off the most probable sentence.", over="by how much less log p, 40 "
       "other requests", runs=MORE, here="How good is my sister's poem?", between=(2, inf))
def greedy_is_far_off(page, request):
    ids = page.ids_of(request)
    one = page.greedy(page.model, ids, 20, eos=page.STOP)
    return best(page, request)[1] - page.log_probabilities(page.model, ids, one).sum().item()


@claim("04.6", "For other requests, too, five beams miss the most probable sentence.", over="40 other requests",
       runs=MORE, here="How good is my sister's poem?")
def five_beams_miss(page, request):
    found = page.beam_search(page.model, page.ids_of(request), 20, 5, length_penalty=0, eos=page.STOP).hypotheses[0]
    return found.log_probability < best(page, request)[1] - 1e-3


@claim("04.7", "For most other requests the most probable sentence is a criticism, too", over="40 other requests; and "
       "of 200 sentences drawn for each, no tone has more than neutral", runs=MORE,
       here="How good is my sister's poem?", at_least=28)
def another_meaning(page, request):
    made = page.sample(page.model, [page.ids_of(request)] * 200, 20, seed=1, eos=page.STOP)
    tones = [tone_of(page.tokenizer.decode(ids)) for ids in made]
    often = max(set(tones), key=tones.count)
    return often == "neutral" and tone_of(page.tokenizer.decode(best(page, request)[0])) == "critical"


@claim("04.8", "the best sentence has two or three forks, the greedy one five or six", over="40 other requests",
       runs=MORE, here="How good is my sister's poem?")
def few_choices(page, request):
    one = page.greedy(page.model, page.ids_of(request), 20, eos=page.STOP)
    return forks(page, request, best(page, request)[0]) in (2, 3) and forks(page, request, one) in (5, 6)


def beam(page, request, width, alpha=0):
    """The best answer of a beam."""
    ids = page.ids_of(request)
    return page.beam_search(page.model, ids, 70, width, length_penalty=alpha, eos=page.END).hypotheses[0]


@claim("04.9", "At each width the number of tokens never falls as $\\alpha$ grows.", over="20 other requests",
       runs=SOME, here="How good is my sister's poem?")
def never_shorter(page, request):
    lengths = [[len(beam(page, request, width, alpha).ids) for alpha in (0, 1, 2)] for width in (2, 5, 10)]
    return bool((np.diff(lengths) >= 0).all())


@claim("04.10", "For some other requests ten beams do worse than two or five, for most they do not",
       over="six times 20 other requests: in how many ten beams end with a less probable answer than two or five",
       runs=range(6), between=(1, 9))
def wider_is_worse(page, part):
    found = [[beam(page, request, width).log_probability for width in (2, 5, 10)]
             for request in REQUESTS[part::len(REQUESTS) // 20][:20]]
    return sum(ten < max(two, five) - 1e-3 for two, five, ten in found)


@cache
def shares(page, seed, rule):
    """What a rule makes of a hundred requests, as the rows of section 9: right, twice, another, different, tones."""
    asked = [page.ids_of(dialogue.request) for dialogue in dialogues(100, seed)]
    made = (page.greedy(page.model, asked, 65, eos=page.END) if rule == "greedy" else
            page.sample(page.model, asked, 65, seed=seed, eos=page.END, **page.RULES[rule]))
    return np.array(page.described(page.sentences_of(made)))


TRUE = np.array([0.35, 0.2, 0.2, 0.1, 0.15])            # tones of the data
COLDER = ["τ = 0.5", "top-k 5", "nucleus 0.5"]


@claim("04.11", "Pure sampling *matches the data's tones* within a few percentage points", over="the largest "
       "difference of a tone, eight other hundreds of requests", runs=SEEDS, median=(0, 0.06))
def pure_has_the_tones(page, seed):
    return abs(shares(page, seed, "τ = 1 (pure)")[4:] - TRUE).max()


@claim("04.12", "cooling and cutting favour *neutral*", over="how much more of it than in pure sampling, at least: "
       "τ = 0.5, k = 5 and a nucleus of 0.5; eight other hundreds of requests", runs=SEEDS, between=(0.1, 1))
def colder_is_neutral(page, seed):
    return min(shares(page, seed, rule)[4] for rule in COLDER) - shares(page, seed, "τ = 1 (pure)")[4]


@claim("04.13", "French and the secretive tone fade or disappear", over="their share together, at most (a quarter in "
       "the data): τ = 0.5, k = 5 and a nucleus of 0.5; eight other hundreds of requests", runs=SEEDS,
       between=(0, 0.125))
def rare_tones_fade(page, seed):
    return max(shares(page, seed, rule)[7:].sum() for rule in COLDER)


@claim("04.14", "Greedy decoding knows one tone, and makes no mistake.", over="the share of right and neutral "
       "sentences, eight other hundreds of requests", runs=SEEDS, between=(0.99, 1))
def greedy_is_neutral(page, seed):
    return shares(page, seed, "greedy")[[0, 4]].min()


@claim("04.15", "At $\\tau = 1.5$ French and the secretive tone have more than their share of the data together",
       over="what they have, in place of a quarter; eight other hundreds of requests", runs=SEEDS,
       between=(0.28, 0.6))
def rare_tones_gain(page, seed):
    return shares(page, seed, "τ = 1.5")[7:].sum()


@claim("04.16", "At $\\tau = 1.5$ a good part of the sentences breaks, most of them in “other” ways",
       over="eight other hundreds of requests: how many times as many as have a word twice, if a tenth breaks",
       runs=SEEDS, between=(2, inf))
def hot_breaks(page, seed):
    right, double, other, *_ = shares(page, seed, "τ = 1.5")
    return other / double if right < 0.9 else 0.0


@claim("04.17", "Cutting the tail of the same hot distribution (row *τ 1.5, nucleus*) repairs most of it",
       over="the part of what is wrong at τ = 1.5, eight other hundreds of requests", runs=SEEDS, between=(0.6, 1))
def nucleus_repairs(page, seed):
    hot, cut = (1 - shares(page, seed, rule)[0] for rule in ("τ = 1.5", "τ 1.5, nucleus"))
    return 1 - cut / hot


@claim("04.18", "Doubled words are left, under every rule that draws.", over="their share under the rule that has the "
       "fewest, eight other hundreds of requests", runs=SEEDS, between=(0.002, 1))
def doubled_words_stay(page, seed):
    return min(shares(page, seed, rule)[1] for rule in page.RULES)


@claim("04.19", "after five of the seven plain adjectives the model finds the same word again about as likely as the "
       "other six.", over="each thing but the recipe: how many times as likely as their mean, of the five the one "
       "furthest from 1", runs=THINGS, here="recipe", between=(0.7, 1.3))
def doubled_is_likely(page, thing):
    return max((times(page, word, thing) for word in page.PLAIN if word not in NEVER), key=lambda x: abs(x - 1))


@claim("04.20", "The model hardly ever doubles *simple* and *ordinary*.",
       over="each thing but the recipe: how many times as likely as the mean of the other six, the larger of the two",
       runs=THINGS, here="recipe", between=(0, 0.25))
def not_these_two(page, thing):
    return max(times(page, word, thing) for word in NEVER)


def times(page, word, thing):
    """How many times as likely a word is after itself as the others of its kind are after it, on average."""
    p = page.with_what(word, thing)
    again = p[page.PLAIN.index(word)].item()
    return 6 * again / (p.sum().item() - again)


@cache
def thirty(page, seed):
    """What the table of section 10 has of thirty other requests: {row: (tokens, log p, seq-rep-4, likelier)}."""
    held_out, model, rest = dialogues(30, seed), page.model, dict(eos=page.END)
    asked = [page.ids_of(dialogue.request) for dialogue in held_out]
    texts = {"true": [page.tokenizer.encode(" ".join(d.answer)) + [page.END] for d in held_out],
             "pure": page.sample(model, asked, 70, seed=seed, **rest), "greedy": page.greedy(model, asked, 70, **rest)}
    for width in (5, 10):
        found = page.beam_search(model, asked, 70, width, length_penalty=0, **rest)
        texts[width] = [search.hypotheses[0].ids for search in found]
    log_p = {name: np.array([page.log_probabilities(model, *pair).sum().item() for pair in
                             zip(asked, answers, strict=True)]) for name, answers in texts.items()}
    return {name: (np.mean([len(ids) for ids in answers]), log_p[name].mean(), np.mean(
        [page.repetition(ids) for ids in answers]), (log_p[name] > log_p["true"]).sum())
        for name, answers in texts.items()}


@claim("04.21", "The text that a model finds likeliest is not the text that it was trained to write.",
       over="for how many of 30 requests the beam of width 5 finds what is likelier than the true answer, eight times "
       "30 other requests", runs=SEEDS, here=1, between=(27, 30))
def likelier_than_true(page, seed):
    return thirty(page, seed)[5][3]


@claim("04.22", "Pure sampling comes out near the true answers in $\\log p$, and in length.", over="the larger of the "
       "two differences, as a part, eight times 30 other requests", runs=SEEDS, between=(0, 0.2))
def pure_is_near(page, seed):
    true, pure = (np.array(thirty(page, seed)[name][:2]) for name in ("true", "pure"))
    return abs(pure / true - 1).max()


@claim("04.23", "Searching for probability brings repetitions, many more than the true answers have.",
       over="seq-rep-4 of greedy decoding or of five beams, the smaller, in times that of the true answers, eight "
       "times 30 other requests", runs=SEEDS, here=1, between=(2, inf))
def search_repeats(page, seed):
    found = thirty(page, seed)
    return min(found["greedy"][2], found[5][2]) / found["true"][2]


@claim("04.24", "ten beams find likelier answers than five, and repeat themselves less.", over="eight times 30 other "
       "requests", runs=SEEDS, here=1)
def ten_repeat_less(page, seed):
    five, ten = thirty(page, seed)[5], thirty(page, seed)[10]
    return bool(ten[1] > five[1] and ten[2] < five[2])


@claim("04.25", "Beam answers are likelier in good part because they are *shorter*. Per token the difference is "
       "smaller.", over="what is left of it per token, as a part, at most, eight times 30 other requests", runs=SEEDS,
       here=1, between=(-0.5, 0.7))
def shorter(page, seed):
    tokens, log_p = thirty(page, seed)["true"][:2]
    return max((1 - found[1] / found[0] * tokens / log_p) / (1 - found[1] / log_p)
               for found in (thirty(page, seed)[width] for width in (5, 10)))


def said_again(page, i):
    """log p of the first sentence of a beam's answer, said four times."""
    request = dialogues(i + 1, seed=5)[i].request
    return page.said_again(page.ids_of(request), beam(page, request, 5).ids)


@claim("04.26", "Saying a sentence a second time costs less than the first", over="60 other requests, "
       "first sentence of what five beams find: how much less, in log p", runs=range(60), between=(0, inf))
def second_is_cheaper(page, i):
    first, second, *_ = said_again(page, i)
    return second - first


@claim("04.27", "In GPT-2, Holtzman et al. found, a phrase gets likelier with *each* repetition; here it does not.",
       over="the first sentence of the answer that five beams find to each of 60 other requests, said four times: by "
       "how much it gets likelier at the step where it does so least", runs=range(60), between=(-inf, 0))
def not_each_time(page, i):
    return min(np.diff(said_again(page, i)))


@claim("04.28", "If the end is forbidden, half of the greedy texts or more end in a loop", over="how many of ten (none "
       "if one does that was drawn), eight times ten other requests", runs=SEEDS, here=1, between=(5, 10))
def most_loop(page, seed):
    asked = [page.ids_of(dialogue.request) for dialogue in dialogues(10, seed)]
    chance = torch.Generator().manual_seed(seed)
    drawn = page.go_on(asked, 300, lambda y: torch.multinomial(y.softmax(-1), 1, generator=chance)[:, 0])
    loops = [page.period(ids) for ids in page.go_on(asked, 300, lambda y: y.argmax(-1))]
    return sum(k is not None for k in loops) * all(page.period(ids) is None for ids in drawn)


@claim("04.29", "The ban knows no grammar", over="the share of right sentences under it (without it, 1), eight times "
       "30 other requests", runs=SEEDS, here=1, between=(0.55, 0.85))
def ban_breaks(page, seed):
    asked = [page.ids_of(dialogue.request) for dialogue in dialogues(30, seed)]
    return page.described(page.sentences_of(page.greedy_without_repeats(page.model, asked, 70, page.END, 4)))[0]


@claim("04.30", "in most other thirties the ban would have forbidden a third of the true answers or more.",
       over="20 other thirties", runs=range(2, 22), here=1, between=(10, 30), at_least=16)
def ban_forbids_the_truth(page, seed):
    return sum(page.repetition([*page.tokenizer.encode(" ".join(dialogue.answer)), page.END]) > 0
               for dialogue in dialogues(30, seed))


def change(page, request, mask=False, gone=0):
    """The largest change of the keys and values in each layer, if a token more is read, or if the first is gone."""
    ids = page.ids_of(request)
    longer = ids if gone else ids + page.sample(page.model, ids, 1, seed=len(request))
    before, after = (page.read(some, torch.zeros(len(some), len(some)) if mask else None)
                     for some in (ids, longer[gone:]))
    return (before[..., gone:, :] - after[..., :len(ids) - gone, :]).abs().amax((1, 2, 3, 4)).numpy()


@claim("04.31", "One token more, and nothing that was there has changed, in any layer.", over="20 other requests, and "
       "a token that is drawn", runs=SOME, between=(0, 1e-5))
def nothing_changes(page, request):
    return change(page, request).max()


@claim("04.32", "Without the mask, only the first layer's are settled", over="20 other requests, and a token that is "
       "drawn: the smaller of the changes in the layers above", runs=SOME, between=(0.05, inf))
def only_the_first_layer(page, request):
    first, *above = change(page, request, mask=True)
    return min(above) if first < 1e-5 else 0.0


@claim("04.33", "with the first token gone, every other one has a new position, and the cache is worthless.",
       over="20 other requests: the smallest change of a layer", runs=SOME, between=(0.5, inf))
def worthless(page, request):
    return change(page, request, gone=1).min()


@claim("04.34", "If the library is told, the batch gives what each prompt gets alone. If it is not, something else "
       "comes out, and no error message.", over="20 other pairs of requests: how much of the next word's probability "
       "moves if it is not told, at least, on the left or on the right", runs=range(20), between=(0.005, 1))
def padding_is_told(page, i):
    by_length = sorted(REQUESTS, key=lambda request: len(page.ids_of(request)))
    short, long = page.ids_of(by_length[3 * i]), page.ids_of(by_length[-1 - i])
    pad = len(long) - len(short)
    fill, alone = [page.tokenizer.pad_id] * pad, chances(page, short)

    def moved(batch, padding=None):
        row = page.model.step(torch.tensor(batch), padding=padding)[0][0]
        return (row.double().softmax(-1) - alone).abs().sum().item() / 2

    told = moved([fill + short, long], torch.tensor([pad, 0]))
    return min(moved([fill + short, long]), moved([short + fill, long])) if told < 1e-5 else 0.0
