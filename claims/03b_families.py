"""What lecture 03b says, run again: other dialogues and docstrings, models of other starts, and trained for longer."""

from functools import cache
from math import inf, log

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from coursekit.models import GPT2, EncoderDecoder, EncoderOnly, GPT2Config, minibatches, train
from coursekit.worlds import dialogues
from tools.train_dialogues import SIZES, encoded, grouped

from . import claim

TESTS = range(201, 211)                         # of 200 dialogues; the page's own are 77
DRAWS = range(20, 30)                           # of 1,000 labelled dialogues; the page's own are 11
FIVE = range(1, 6)                              # other shuffles of the docstrings and other starts; the page's own is 0
STARTS = range(3, 23)                           # of the three families; the page trains 0, 1 and 2
TWENTY = "20 other trainings"
UNIFORM = log(500)


# The loss, and company

ASKED = [["my", "your", "story", "lovely", "bright"], ["my brother's", "his", "song", "weak", "dull"],
         ["my sister's", "her", "plan", "brilliant", "original"], ["my", "your", "recipe", "elegant", "brilliant"],
         ["my brother's", "his", "poem", "dull", "weak"], ["my sister's", "her", "picture", "lovely", "elegant"],
         ["my", "your", "essay", "weak", "boring"], ["my brother's", "his", "program", "elegant", "lovely"]]


@claim("03b.1", "What has to come (*you*, *?*, the second *poem*, the full stop) costs nearly nothing; what is open "
       "(whose poem? what about it?) is paid for.", runs=ASKED, here=["my sister's", "her", "poem", "brilliant",
       "elegant"], over="8 other things, owners and praise or blame: .05 nats at most, and .5 or more")
def open_or_not(page, run):
    whose, its, thing, one, other = run
    ids = page.read(f"do you like {whose} {thing} ? {its} {thing} is {one} and {other} .")
    cost = -page.model(ids[None, :-1])[0].log_softmax(-1)[range(len(ids) - 1), ids[1:]]
    n = len(page.tokenizer.encode(whose))                                       # do you like WHOSE thing ? its thing is
    due, free = cost[[1, 4 + n, 6 + n, -1]], cost[[3, 8 + n, -2]]
    return (due.max() < 0.05 and free.min() > 0.5).item()


@cache
def split(page, seed):
    """(ids to train on, windows held out (n, 33)) of the docstrings, in another order."""
    _, held_out, training = page.cut_up(seed)
    return training, held_out[:len(held_out) // 33 * 33].view(-1, 33)


def same_token(model, ids):
    """The loss without the shift."""
    return cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, :-1].flatten())


@claim("03b.2", "A model that is *trained* without it learns nothing but to repeat its input.", runs=FIVE,
       over="five tiny GPTs (section 4), trained without the shift to a loss below .05: the loss with the shift, in "
       "nats, where all tokens equally likely give 6.21", between=(UNIFORM, inf), trains=True)
def without_the_shift(page, seed):
    training, test = split(page, seed)
    model, _ = page.tiny_gpt(training, seed, loss=same_token)
    with torch.no_grad():
        return model.loss(test) if same_token(model, test) < 0.05 else -inf


@cache
def nats(page, seed):
    return page.company(dialogues(200, seed))


@claim("03b.3", "`dialogue-gpt` is hardly worse than the generator itself", runs=TESTS, here=77, between=(0, 0.03),
       over="by how many nats per token, ten times 200 other dialogues")
def worse_than_the_generator(page, seed):
    return nats(page, seed)["dialogue-gpt"] - nats(page, seed)["the generator"]


@claim("03b.4", "And without the norm after the last block, which one source leaves out (lecture 03), the same weights "
       "do clearly worse.", runs=TESTS, here=77, between=(0.2, inf),
       over="by how many nats per token, ten times 200 other dialogues")
def worse_without_the_norm(page, seed):
    return nats(page, seed)["dialogue-gpt, no last norm"] - nats(page, seed)["dialogue-gpt"]


@claim("03b.5", "Adam divides each gradient by its usual size, so that steep and flat directions advance alike.",
       over="ten bowls of 20 directions, the steepest up to 10,000 times as steep as the flattest, from other starts: "
       "the longest way by the shortest, 10 steps", runs=range(10), between=(1, 1.1))
def steep_and_flat(page, seed):
    rng = torch.Generator().manual_seed(seed)
    c, start = 10 ** (4 * torch.rand(20, generator=rng) - 2), torch.empty(20).uniform_(0.7, 2, generator=rng)
    theta, m1, m2 = start, torch.zeros(20), torch.zeros(20)
    for r in range(1, 11):
        theta, m1, m2 = page.adam_step(theta, c * theta, m1, m2, r, lr=0.05)
    return (start - theta).max() / (start - theta).min()


# A tiny GPT and a table

@cache
@torch.no_grad()
def tiny(page, seed, epochs=20):
    """A tiny GPT beside tables: its loss by epoch; held-out losses; what a past of another text costs at the end."""
    training, test = split(page, seed)
    with torch.enable_grad():
        model, curve = page.tiny_gpt(training, seed, epochs)
    found = {"curve": np.array(curve), "GPT": model.loss(test).item()}
    for name, part in (("table", 1), ("quarter", 4)):
        pairs, single = page.pairs_table(training[:len(training) // part])
        found[name] = -pairs[test[:, :-1], test[:, 1:]].mean().item()
        found.setdefault("frequencies", -single[test[:, 1:]].mean().item())
    mixed = torch.cat([test.roll(1, 0)[:, :31], test[:, 31:]], 1)               # the last token is its own
    other, own = (cross_entropy(model(ids[:, :-1])[:, -1], test[:, -1]).item() for ids in (mixed, test))
    return found | {"past": other - own}


OTHER = "five other held-out tenths and starts"


@claim("03b.6", "after 240 steps a table of counted pairs was better than our tiny GPT", runs=FIVE, here=0,
       over=f"240 steps, {OTHER}: by how many nats the table is better", between=(0.1, inf), trains=True)
def table_is_better(page, seed):
    return tiny(page, seed)["GPT"] - tiny(page, seed)["table"]


@claim("03b.7", "It falls to the level of *frequencies*, slows down there, and then sinks towards the *table of "
       "pairs*.", over=f"{OTHER}: how far from the level, in nats, the slowest of the first ten dozens of steps is",
       runs=FIVE, here=0, between=(0, 0.2), trains=True)
def slows_down_at_frequencies(page, seed):
    curve, level = tiny(page, seed)["curve"], tiny(page, seed)["frequencies"]
    slowest = (curve[:10] - curve[1:11]).argmin()
    return abs(curve[slowest:slowest + 2].mean() - level) if curve[-1] < level - 1 else inf


@claim("03b.8", "It is counted at once, and a quarter of the text would be enough for it.", runs=FIVE, here=0,
       over=f"a table of a quarter of the text, {OTHER}: by how many nats it is better", between=(0, inf), trains=True)
def a_quarter_is_enough(page, seed):
    return tiny(page, seed)["GPT"] - tiny(page, seed)["quarter"]


@claim("03b.9", "After 240 steps the transformer is hardly more than a table of pairs itself: exchange all tokens but "
       "the last one for those of another text, and its loss stays nearly the same.", runs=FIVE, here=0, trains=True,
       over=f"240 steps, {OTHER}: how many nats a past of another text costs", between=(-0.1, 0.15))
def hardly_more_than_a_table(page, seed):
    return tiny(page, seed)["past"]


@claim("03b.10", "After 2,400 steps it reads what stands before, and leaves the table far behind.", runs=FIVE,
       over=f"2,400 steps, {OTHER}: how many nats a past of another text costs, or by how many the GPT is better, "
       "the smaller", between=(0.4, inf), trains=True)
def leaves_the_table_behind(page, seed):
    found = tiny(page, seed, 200)
    return min(found["past"], found["table"] - found["GPT"])


# What a probe finds

ALWAYS = "the commonest tone"
TRAINED = [("trained", l) for l in range(4)]


@cache
def shares(page, seed):
    """The shares that probes get right in other labelled dialogues, of the trained and of an untrained model."""
    return page.probed(dialogues(1000, seed), {"trained": page.model, "untrained": page.untrained(seed)})


TEN = "ten other draws of 1,000 labelled dialogues"


@claim("03b.11", "Yet after two blocks it can be read, from 25 examples.", runs=DRAWS, here=11, between=(0.85, 1),
       over=f"two blocks, 25 examples, {TEN}: the share right")
def read_from_25(page, seed):
    return shares(page, seed)["trained", 2][0][0]


@claim("03b.12", "In $f^{(0)}$ there is nothing: that row is the embedding of a full stop.", runs=DRAWS, here=11,
       over=f"{TEN}, the better of 25 and 500 examples: the share right less that of the commonest tone",
       between=(-1, 0.02))
def nothing_in_the_embedding(page, seed):
    return max(shares(page, seed)["trained", 0][0]) - shares(page, seed)[ALWAYS][0][0]


@claim("03b.13", "The first, the language model, by far.", runs=DRAWS, here=11, between=(0.2, 1),
       over=f"{TEN}, 500 examples: $f^{{(2)}}$'s share less that of the bag of words")
def the_model_by_far(page, seed):
    return shares(page, seed)["trained", 2][0][1] - shares(page, seed)["bag of words"][0][1]


@claim("03b.25", "The words of the last sentence tell the tone as well, from 500 examples, if one knows where that "
       "sentence begins.", over=f"{TEN}: the share right of a bag of the last sentence", runs=DRAWS, here=11,
       between=(0.95, 1))
def last_sentence_alone(page, seed):
    return shares(page, seed)["bag of the last sentence"][0][1]


@claim("03b.14", "On the second question the bag of words wins clearly, though the stream holds more of the answer "
       "than its last sentence tells.", runs=DRAWS, here=11, between=(0.1, 1),
       over=f"{TEN}, 500 examples, best row: behind the bag of words, ahead of the bag of the last sentence, the less")
def bag_wins_clearly(page, seed):
    found = {name: share[1][1] for name, share in shares(page, seed).items()}
    best = max(found[row] for row in TRAINED)
    return min(found["bag of words"] - best, best - found["bag of the last sentence"])


@claim("03b.15", "And in the untrained model hardly more can be read than the commonest tone", runs=DRAWS, here=11,
       over="ten other untrained models and draws, 500 examples: the most that a row gets beyond the commonest tone",
       between=(-1, 0.15))
def hardly_more_untrained(page, seed):
    found = shares(page, seed)
    return max(found["untrained", l][q][1] - found[ALWAYS][q][1] for l in range(4) for q in range(2))


def language_model(page, seed):
    """Another `dialogue-gpt`: other dialogues, another start, a sixth of the training."""
    rows = encoded(page.tokenizer, [d.text for d in dialogues(10_000, seed + 1000)])
    groups = grouped(rows)

    def batches(generator):
        found = [ids[index] for ids in groups for index in minibatches(len(ids), 32, generator)]
        return [found[i] for i in torch.randperm(len(found), generator=generator)]

    torch.manual_seed(seed)
    model = GPT2(GPT2Config(vocab_size=256, **SIZES))
    train(model, GPT2.loss, batches, epochs=2, lr=6e-3, seed=seed, progress=False)
    return model


@claim("03b.16", "So the features hold what helps to answer the question that was asked in training: *what comes "
       "next?*", over="five other language models, trained on other dialogues: the lead of two blocks over the bag of "
       "words for the last sentence, or of the bag over the best row for the whole answer, the smaller",
       runs=FIVE, between=(0.1, 1), trains=True)
def other_language_models(page, seed):
    found = page.probed(dialogues(1000, seed + 500), {"trained": language_model(page, seed)})
    bag, best = found["bag of words"], max(found[row][1][1] for row in TRAINED)
    return min(found["trained", 2][0][1] - bag[0][1], bag[1][1] - best)


# Who may see what

@claim("03b.17", "In BERT's kind every output has seen everything. In GPT's kind the forecast after a token has seen "
       "that token and the past.", over="ten other untrained models each, texts of 2 to 11 tokens; and of the "
       "encoder–decoder all of the source, and what was written before", runs=range(2, 12))
def seen(page, n):
    torch.manual_seed(n)
    x, size = torch.randint(0, 7, (1, n)), dict(T_max=n, d_e=48, K=4)
    both, decoder = EncoderDecoder(10, 10, **size), GPT2(GPT2Config(vocab_size=10, L=2, **size))
    pair = page.who_sees_what(lambda z: both(z[:, :n], z[:, n:]), torch.cat([x, x.flip(1)], 1))
    past = torch.ones(n, n).tril().bool()
    return (page.who_sees_what(EncoderOnly(10, 10, **size), x).all() and pair[:, :n].all() and
            (page.who_sees_what(decoder, x) == past).all() and (pair[:, n:] == past.tril(-1)).all()).item()


def next_token(model, ids):
    """The loss of an encoder's forecasts of the next token, which it sees."""
    return cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


@claim("03b.18", "If a model sees everything, it cannot be trained to guess the next word: it would see the answer.",
       over="five encoders, 720 steps on docstrings to a loss below .05: their loss, in nats, where the next token is "
       "not there yet, and all tokens equally likely give 6.21", runs=FIVE, between=(UNIFORM, inf), trains=True)
def an_encoder_looks_it_up(page, seed):
    training, test = split(page, seed)
    windows = training.unfold(0, 33, 1)
    torch.manual_seed(seed)
    model = EncoderOnly(500, 500, T_max=33, d_e=64, K=4, L=2)
    train(model, next_token, lambda generator: windows[torch.randint(len(windows), (12, 16), generator=generator)],
          epochs=60, lr=5e-3, warmup=0.5, seed=seed, progress=False)
    with torch.no_grad():
        missing = cross_entropy(model(test[:, :-1])[:, -1], test[:, -1])
        return missing if next_token(model, test) < 0.05 else -inf


# One question for all three

RESTS = ["rouge", "vide", "rouge vide"]         # adjectives that show no gender


@cache
def families(page, seed, epochs=3):
    """{family: what its model of this start does}: genders right, pairs that agree, what an article costs."""
    known, new, found = page.phrases[:2000], page.phrases[2000:], {}
    for name, member in page.family(seed, epochs).items():
        ways = [name, f"{name}, asked twice"] if name == "encoder-only" else [name]
        found[name] = {
            "right": page.gender_right(name, member),
            "largest": page.forecast(name, member, [phrase[1:] for phrase in new]).max().item(),
            "known": page.article_loss(name, member, known), "new": page.article_loss(name, member, new),
            **{(way, rest): page.agreement(way, member, rest.split()) for way in ways for rest in RESTS}}
    return found


def agree(page, run, ways, *epochs):
    """The share of pairs that agree, in that of these ways of asking in which it is least."""
    return min(families(page, run[0], *epochs)[way.partition(",")[0]][way, run[1]] for way in ways)


@claim("03b.19", "All three families find the gender, even the decoder-only model.", runs=STARTS, here=0,
       over=f"{TWENTY}: the share of genders right in the family that has the fewest", between=(0.98, 1), trains=True)
def find_the_gender(page, seed):
    return min(found["right"] for found in families(page, seed).values())


PAIRS = [[seed, rest] for seed in STARTS for rest in RESTS]
PAGE = [0, "rouge"]
BEFORE = f"{TWENTY}, three ends without a gender: the share of pairs that agree"


@claim("03b.20", "Half, or a little more: each place is filled well on its own, and neither knows what was drawn at "
       "the other.", over=BEFORE, runs=PAIRS, here=PAGE, between=(0.45, 0.7), trains=True)
def at_once(page, run):
    return agree(page, run, ["encoder-only"])


@claim("03b.21", "The other two write the article first and read it when they write the noun: nearly all, in most "
       "trainings.", over=BEFORE + ", in the family where it is smaller", runs=PAIRS, here=PAGE, between=(0.9, 1),
       at_least=45, trains=True)
def in_turn(page, run):
    return agree(page, run, ["encoder–decoder", "decoder-only"])


@claim("03b.22", "The encoder can be helped: fill in its first word and ask again.", over=BEFORE, runs=PAIRS,
       here=PAGE, between=(0.95, 1), trains=True)
def asked_twice(page, run):
    return agree(page, run, ["encoder-only, asked twice"])


LONG = 30                                       # epochs, ten times the page's


@claim("03b.23", "In half or a little more, however long it is trained.",
       runs=[[seed, rest] for seed in FIVE for rest in RESTS],
       over="five encoders, trained ten times as long, three ends without a gender: the share of pairs that agree",
       between=(0.45, 0.7), trains=True)
def at_once_after_long(page, run):
    return agree(page, run, ["encoder-only"], LONG)


@claim("03b.24", "none of them knows the word: *la*, *une*, *cette*, *ma*, *ta* and *chaque* all fit, and share the "
       "probability.", over=f"{TWENTY}, three families, all new phrases: the largest probability of an article",
       runs=STARTS, here=0, between=(1 / 6, 0.5), trains=True)
def none_knows_the_word(page, seed):
    return max(found["largest"] for found in families(page, seed).values())


@claim("03b.26", "on new phrases its loss cannot go below that uncertainty.", runs=STARTS, here=0, trains=True,
       over=f"{TWENTY}, three families: the smallest loss of an article of new phrases less log 6", between=(0, 0.2))
def not_below_log_6(page, seed):
    return min(found["new"] for found in families(page, seed).values()) - log(6)
