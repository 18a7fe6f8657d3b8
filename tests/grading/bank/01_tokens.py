"""Assignment 01: answers that people give, and what a check must say to them.

Functions that other questions build on (count_pairs, merge, …) are put into this module by the test: the reference's.
"""

import functools
import itertools
import math
import random
import re
from collections import Counter, defaultdict

import torch

from coursekit import text as library
from coursekit.worlds import handwritten_reviews
from tests.grading.bank.entries import right, wrong

count_pairs = merge = learn_merges = tokenize = None         # the reference's, at test time


# -- count_pairs -----------------------------------------------------------------------------------------------------

@wrong("count_pairs", "Its last token has no neighbour on the right")
def _(words):
    counts = {}
    for word, times in words.items():
        for i in range(len(word)):
            pair = (word[i], word[i + 1])
            counts[pair] = counts.get(pair, 0) + times
    return counts


@wrong("count_pairs", "calls coursekit.text.merge_steps")
def _(words):
    steps = library.merge_steps(["".join(word) for word, times in words.items() for _ in range(times)])
    return next(steps)[1]


@wrong("count_pairs", "`.items()` gives keys and values")
def _(words):
    counts = Counter()
    for word, times in words:
        for pair in zip(word, word[1:]):
            counts[pair] += times
    return counts


@wrong("count_pairs", "A tuple can: tuple(…)")
def _(words):
    counts = Counter()
    for word, times in words.items():
        for i in range(len(word) - 1):
            counts[[word[i], word[i + 1]]] += times
    return counts


@wrong("count_pairs", "it changes what it is given: `words`. Whoever calls it still needs `words`")
def _(words):
    counts = Counter()
    while words:
        word, times = words.popitem()
        for pair in zip(word, word[1:]):
            counts[pair] += times
    return counts


@wrong("count_pairs", "The result is a dictionary")
def _(words):
    return [(pair, times) for word, times in words.items() for pair in zip(word, word[1:])]


@right("count_pairs", "a default dictionary and places")
def _(words):
    counts = defaultdict(int)
    for word in words:
        for i in range(1, len(word)):
            counts[word[i - 1], word[i]] += words[word]
    return counts


@right("count_pairs", "warnings and prints do not matter")
def _(words):
    import warnings
    warnings.warn("slow")
    print("counting", len(words))
    pairs = [(pair, times) for word, times in words.items() for pair in zip(word[:-1], word[1:])]
    return {pair: sum(times for other, times in pairs if other == pair) for pair, _ in pairs}


# -- merge -----------------------------------------------------------------------------------------------------------

@wrong("merge", "came back as one text")
def _(word, pair):
    return " ".join(word).replace(" ".join(pair), "".join(pair))


@wrong("merge", "got a generator (wrap it in tuple(...))")
def _(word, pair):
    i = 0
    while i < len(word):
        step = 2 if word[i:i + 2] == pair else 1
        yield "".join(word[i:i + step])
        i += step


@wrong("merge", "The letters of the word are no longer the same")
def _(word, pair):
    joined = []
    for i in range(len(word)):
        if word[i:i + 2] == pair:
            joined.append(pair[0] + pair[1])
        joined.append(word[i])                                          # also where a pair was joined
    return tuple(joined)


@wrong("merge", "The pair becomes one token, a text")
def _(word, pair):
    joined, i = [], 0
    while i < len(word):
        step = 2 if word[i:i + 2] == pair else 1
        joined.append(pair if step == 2 else word[i])
        i += step
    return tuple(joined)


@wrong("merge", "Behind its last token stands none")
def _(word, pair):
    joined, i = [], 0
    while i < len(word):
        if word[i] == pair[0] and word[i + 1] == pair[1]:
            joined.append(pair[0] + pair[1])
            i += 2
        else:
            joined.append(word[i])
            i += 1
    return tuple(joined)


@wrong("merge", "The right tokens, but in a list: return tuple(…). A list slice never equals a tuple")
def _(word, pair):
    joined, i = [], 0
    while i < len(word):
        step = 2 if word[i:i + 2] == pair else 1
        joined.append("".join(word[i:i + step]))
        i += step
    return joined


@right("merge", "the last token is replaced when its partner comes")
def _(word, pair):
    out, open_ = [], False                              # is the last token still free to be joined?
    for token in word:
        if open_ and (out[-1], token) == pair:
            out[-1], open_ = out[-1] + token, False
        else:
            out.append(token)
            open_ = True
    return tuple(out)


@right("merge", "a regular expression over marked borders")
def _(word, pair):
    marked = "".join(f"<{token}>" for token in word)
    joined = re.sub(re.escape(f"<{pair[0]}><{pair[1]}>"), f"<{pair[0]}{pair[1]}>", marked)
    return tuple(re.findall("<([^>]*)>", joined))


# -- learn_merges ----------------------------------------------------------------------------------------------------

def _learn(words, n_merges, join):
    merges = []
    for _ in range(n_merges):
        counts = count_pairs(words)
        if not counts or max(counts.values()) < 2:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        words = join(words, merges[-1])
    return merges


def _add_up(words, pair):
    joined = Counter()
    for word, times in words.items():
        joined[merge(word, pair)] += times
    return joined


@wrong("learn_merges", "must not change meanwhile")
def _(words, n_merges):
    def in_place(words, pair):
        for word in words:
            words[merge(word, pair)] = words.pop(word)
        return words

    return _learn(words, n_merges, in_place)


@wrong("learn_merges", "here no pair is left: ask `if not counts` first")
def _(words, n_merges):
    merges = []
    while len(merges) < n_merges:
        counts = count_pairs(words)
        largest = max(counts.values())                                  # there may be no pair
        if largest < 2:
            break
        merges.append(min(pair for pair in counts if counts[pair] == largest))
        words = _add_up(words, merges[-1])
    return merges


@wrong("learn_merges", "list of pairs")
def _(words, n_merges):
    return ["".join(pair) for pair in _learn(words, n_merges, _add_up)]


@wrong("learn_merges", "The right merges, but each in a list")
def _(words, n_merges):
    return [[*pair] for pair in _learn(words, n_merges, _add_up)]


@right("learn_merges", "sorting, and words kept in two lists")
def _(words, n_merges):
    cuts, times, merges = [list(word) for word in words], list(words.values()), []
    while len(merges) < n_merges:
        counts = Counter()
        for cut, n in zip(cuts, times, strict=True):
            for pair in itertools.pairwise(cut):
                counts[pair] += n
        ranked = sorted(counts.items(), key=lambda item: item[0])
        ranked.sort(key=lambda item: item[1], reverse=True)
        if not ranked or ranked[0][1] == 1:
            break
        merges.append(ranked[0][0])
        cuts = [list(merge(tuple(cut), ranked[0][0])) for cut in cuts]
    return merges


@right("learn_merges", "by recursion, and a tuple of pairs")
def _(words, n_merges):
    def learn(words, left):
        counts = count_pairs(words)
        largest = max(counts.values(), default=0)
        if left == 0 or largest < 2:
            return ()
        pair = min(pair for pair, count in counts.items() if count == largest)
        return (pair, *learn(_add_up(words, pair), left - 1))

    return learn(words, min(n_merges, 100))


# -- tokenize --------------------------------------------------------------------------------------------------------

@wrong("tokenize", "not one text")
def _(word, merges):
    pieces = tuple(word)
    for pair in merges:
        pieces = merge(pieces, pair)
    return " ".join(pieces)


@wrong("tokenize", "no longer the word")
def _(word, merges):
    vocabulary = {"".join(pair) for pair in merges}
    return [piece for piece in sorted(vocabulary, key=len, reverse=True) if piece in word]


@wrong("tokenize", "it changes what it is given: `merges`")
def _(word, merges):
    pieces = tuple(word)
    while merges:
        pieces = merge(pieces, merges.pop(0))
    return list(pieces)


@wrong("tokenize", "In which order were the merges tried?")
def _(word, merges):
    return list(functools.reduce(merge, merges[:(len(merges) + 1) // 2], tuple(word)))


@right("tokenize", "the pair that was learned first, as long as there is one")
def _(word, merges):
    rank, pieces = {tuple(pair): i for i, pair in enumerate(merges)}, list(word)
    while True:
        known = [(rank[pair], i) for i, pair in enumerate(zip(pieces, pieces[1:])) if pair in rank]
        if not known:
            return pieces
        _, i = min(known)
        pieces[i:i + 2] = [pieces[i] + pieces[i + 1]]


@right("tokenize", "a fold")
def _(word, merges):
    return functools.reduce(merge, merges, tuple(word))


# -- cut -------------------------------------------------------------------------------------------------------------

def _cut(word, vocab):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                pieces.append((piece, start, end))
                start = end
                break
        else:
            return [("[UNK]", 0, len(word))]
    return pieces


@wrong("cut", "A `while` loop may never get on. What happens to `start` when no end fits?")
def _(word, vocab):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = "##" * (start > 0) + word[start:end]
            if piece in vocab:
                pieces.append((piece, start, end))
                start = end
                break
    return pieces


@wrong("cut", "Places are counted in the whole word")
def _(word, vocab):
    return [(piece, 0, end - start) for piece, start, end in _cut(word, vocab)]


@wrong("cut", "does the loop run to the end of the word?")
def _(word, vocab):
    return _cut(word, vocab)[:1]


@wrong("cut", "it changes what it is given: `vocab`")
def _(word, vocab):
    vocab |= {"[UNK]"}
    return _cut(word, vocab)


@wrong("cut", "right on the inputs that you see, not on another one (an empty word)", at_once=False)
def _(word, vocab):
    return _cut(word, vocab) or [("[UNK]", 0, 0)]


@right("cut", "by recursion, from the longest beginning")
def pieces_from(word, vocab, start=0):
    if start >= len(word):
        return []
    for end in reversed(range(start + 1, len(word) + 1)):
        piece = word[start:end] if start == 0 else f"##{word[start:end]}"
        if piece in vocab:
            rest = pieces_from(word, vocab, end)
            if rest and rest[0][0] == "[UNK]":
                break
            return [(piece, start, end), *rest]
    return [("[UNK]", 0, len(word))]


@right("cut", "the longest piece of the vocabulary by max")
def _(word, vocab):
    found, start = [], 0
    while start < len(word):
        fitting = [piece for piece in vocab if piece.startswith("##") == (start > 0)
                   and word.startswith(piece.removeprefix("##") if start else piece, start) and piece != "##"]
        if not fitting:
            return [["[UNK]", 0, len(word)]]
        piece = max(fitting, key=len)
        end = start + len(piece) - 2 * (start > 0)
        found.append([piece, start, end])
        start = end
    return found


# -- greedy_loses ----------------------------------------------------------------------------------------------------

@wrong("greedy_loses", "What makes greedy lose?")
def _():
    return "unable", {"un", "una", "##able", "##ble"}


@wrong("greedy_loses", "it finds no piece at some place")
def _():
    return "unable", {"una", "un", "##able"}


@wrong("greedy_loses", "at most 6 and 12 are allowed")
def _():
    return "a" * 30, {"a", "##a"}


@wrong("greedy_loses", "The vocabulary is a set of texts")
def _():
    return "unable", {"un": 1, "##able": 2}


@wrong("greedy_loses", "Return two things: the word, a text, and the vocabulary, a set of pieces.")
def _():
    return "unable"


@right("greedy_loses", "a list of pieces")
def _():
    return "ababab", ["a", "ab", "##babab", "##a", "##b"]


@right("greedy_loses", "English")
def _():
    return "rereading", {"re", "rer", "##reading", "##e", "##ad", "##ing"}


# -- waves -----------------------------------------------------------------------------------------------------------

@wrong("waves", "end with .float()")
def _(t, d, base):
    angles = t.double()[:, None] / base ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@wrong("waves", "is the tensor that you fill one of floats?")
def _(t, d, base):
    P = torch.zeros((len(t), d), dtype=torch.long)
    angles = t[:, None] / base ** (torch.arange(0, d, 2) / d)
    P[:, 0::2], P[:, 1::2] = angles.sin(), angles.cos()
    return P


@wrong("waves", "a row for every position up to the largest")
def _(t, d, base):
    angles = torch.arange(int(t.max()) + 1)[:, None] / base ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@wrong("waves", "Do the positions stand in a column")
def _(t, d, base):
    angles = t / base ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@wrong("waves", "The functions of math take a single number")
def _(t, d, base):
    P = torch.zeros(len(t), d)
    P[:, 0::2] = math.sin(t[:, None] / base ** (torch.arange(0, d, 2) / d))
    return P


@wrong("waves", "One entry by hand")
def _(t, d, base):
    angles = t[:, None] / base ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.deg2rad().sin(), angles.deg2rad().cos()], -1).flatten(1)


@right("waves", "two loops and the math module")
def _(t, d, base):
    P = torch.empty(len(t), d)
    for r, place in enumerate(t.tolist()):
        for i in range(d // 2):
            angle = place / base ** (2 * i / d)
            P[r, 2 * i], P[r, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return P


@right("waves", "complex numbers")
def _(t, d, base):
    angles = torch.outer(t.double(), torch.exp(-math.log(base) * torch.arange(0, d, 2) / d))
    turned = torch.polar(torch.ones_like(angles), angles)
    return torch.stack([turned.imag, turned.real], dim=2).reshape(len(t), d).float()


# -- pad_batch -------------------------------------------------------------------------------------------------------

@wrong("pad_batch", "rows that are equally long")
def _(documents, length, pad_id):
    rows = [document + [pad_id] * (length - len(document)) for document in documents]
    return torch.tensor(rows), torch.arange(length) < torch.tensor([len(document) for document in documents])[:, None]


@wrong("pad_batch", "Another list of the same documents, [*documents], does not help")
def _(documents, length, pad_id):
    mask = torch.arange(length) < torch.tensor([len(document) for document in documents])[:, None]
    for document in (documents := [*documents]):
        document += [pad_id] * length
    return torch.tensor([document[:length] for document in documents]), mask


@wrong("pad_batch", "Return two things: ids (n, length), mask (n, length).")
def _(documents, length, pad_id):
    return torch.tensor([(document + [pad_id] * length)[:length] for document in documents])


@wrong("pad_batch", "torch.tensor(…) makes a tensor of rows of numbers")
def _(documents, length, pad_id):
    kept = [document[:length] for document in documents]
    return ([document + [pad_id] * (length - len(document)) for document in kept],
            [[i < len(document) for i in range(length)] for document in kept])


@wrong("pad_batch", "A row for each document: its first `length` tokens")
def _(documents, length, pad_id):
    ids = torch.tensor([([pad_id] + document + [pad_id] * length)[:length] for document in documents])
    return ids, ids != pad_id


@right("pad_batch", "one number at a time")
def _(documents, length, pad_id):
    ids, mask = torch.empty(len(documents), length, dtype=torch.int64), torch.empty(len(documents), length).bool()
    for i in range(len(documents)):
        for j in range(length):
            mask[i, j] = j < len(documents[i])
            ids[i, j] = documents[i][j] if j < len(documents[i]) else pad_id
    return ids, mask


@right("pad_batch", "torch's own padding of sequences, and a list of two")
def _(documents, length, pad_id):
    rows = [torch.tensor(document[:length], dtype=torch.long) for document in documents]
    rows.append(torch.zeros(length, dtype=torch.long))                  # makes the batch as wide as it has to be
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)[:-1]
    ones = torch.nn.utils.rnn.pad_sequence([torch.ones(len(row)) for row in rows], batch_first=True)[:-1]
    return [ids, ones > 0]


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _drawn(dice):
    """Two dozen reviews, as two corpora: to learn from, and to cut."""
    texts = dice.sample([review.text for review in handwritten_reviews()], 24)
    return [Counter(tuple(word) for text in part for word in re.findall("[a-z]+", text.lower()))
            for part in (texts[:12], texts[12:])]


def _pieces(words, merges):
    return sum(len(tokenize("".join(word), merges)) * n for word, n in words.items()) / sum(words.values())


@wrong("my_experiment", "two numbers are needed: (as it was, changed)")
def _(seed):
    learned, other = _drawn(random.Random(seed))
    return _pieces(other, learn_merges(learned, 10))


_dice = random.Random(0)


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    learned, other = _drawn(_dice)                                      # another one at each call
    return _pieces(other, learn_merges(learned, 5)), _pieces(other, learn_merges(learned, 10))


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    learned, other = _drawn(random.Random(seed))
    merges = learn_merges(learned, 10)
    sorted(merges)                                                      # and dropped
    return _pieces(other, merges), _pieces(other, merges)


@wrong("my_experiment", "want a corpus first: `corpus(texts)` makes one of texts")
def _(seed):
    texts = random.Random(seed).sample([review.text for review in handwritten_reviews()], 24)
    return len(learn_merges(texts[:12], 40)), len(learn_merges(texts, 40))


@wrong("my_experiment", "More texts were asked for than there are")
def _(seed):
    texts = random.Random(seed).sample([one.text for one in handwritten_reviews() if one.topic == "hotel"], 24)
    return len(texts[0]), len(texts[1])


@wrong("my_experiment", "a list stands among the two numbers")
def _(seed):
    learned, _ = _drawn(random.Random(seed))
    return learn_merges(learned, 5), learn_merges(learned, 10)


@right("my_experiment", "words spelled backwards where they are cut")
def _(seed):
    learned, other = _drawn(random.Random(seed))
    merges = learn_merges(learned, 10)
    return _pieces(other, merges), _pieces({word[::-1]: n for word, n in other.items()}, merges)


@right("my_experiment", "a list of whole numbers: merges, and different words")
def _(seed):
    (learned, _), few = _drawn(random.Random(seed)), Counter()
    for word in list(learned)[:50]:
        few[word] = learned[word]
    return [len(learn_merges(words, 30 + seed)) + len(words) for words in (few, learned)]
