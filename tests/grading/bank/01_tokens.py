"""Assignment 01: answers that people give, and what a check must say to them.

Functions that other questions build on (count_pairs, merge) are put into this module by the test: the reference's.
"""

import functools
import itertools
import math
import re
from collections import Counter, defaultdict

import torch

from coursekit import text as library
from coursekit.models import sinusoidal_positions as library_waves
from coursekit.text.bpe import merge as borrowed_merge
from tests.grading.bank.entries import right, wrong

count_pairs = merge = None          # the reference's, at test time


# -- count_pairs -----------------------------------------------------------------------------------------------------

@wrong("count_pairs", "counted once")
def _(words):
    counts = {}
    for word in words:
        for pair in zip(word, word[1:]):
            counts[pair] = counts.get(pair, 0) + 1
    return counts


@wrong("count_pairs", "Keep the two tokens of a pair apart")
def _(words):
    counts = Counter()
    for word, times in words.items():
        for a, b in zip(word, word[1:]):
            counts[a + b] += times
    return counts


@wrong("count_pairs", "taken apart into letters")
def _(words):
    counts = Counter()
    for word, times in words.items():
        letters = "".join(word)
        for pair in zip(letters, letters[1:]):
            counts[pair] += times
    return counts


@wrong("count_pairs", "Every place counts")
def _(words):
    counts = Counter()
    for word, times in words.items():
        for pair in set(zip(word, word[1:])):
            counts[pair] += times
    return counts


@wrong("count_pairs", "Every second place was left out")
def _(words):
    counts = Counter()
    for word, times in words.items():
        for i in range(0, len(word) - 1, 2):
            counts[word[i], word[i + 1]] += times
    return counts


@wrong("count_pairs", "were words strung together, or tokens paired that are not neighbours?")
def _(words):
    counts = Counter()
    for word, times in words.items():
        for pair in itertools.combinations(word, 2):
            counts[pair] += times
    return counts


@wrong("count_pairs", "Does it end with `return …`?")
def _(words):
    counts = Counter()
    for word, times in words.items():
        for pair in zip(word, word[1:]):
            counts[pair] += times
    print(counts)


@wrong("count_pairs", "IndexError")
def _(words):
    counts = {}
    for word, times in words.items():
        for i in range(len(word)):
            pair = (word[i], word[i + 1])
            counts[pair] = counts.get(pair, 0) + times
    return counts


@wrong("count_pairs", "The result is a dictionary")
def _(words):
    return [(pair, times) for word, times in words.items() for pair in zip(word, word[1:])]


@wrong("count_pairs", "calls coursekit.text.merge_steps")
def _(words):
    steps = library.merge_steps(["".join(word) for word, times in words.items() for _ in range(times)])
    return next(steps)[1]


@wrong("count_pairs", "`counts.get(key, 0)` is 0 for it")
def _(words):
    counts = {}
    for word, times in words.items():
        for pair in zip(word, word[1:]):
            counts[pair] += times
    return counts


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


@wrong("count_pairs", "A pair has an order")
def _(words):
    counts = Counter()
    for word, times in words.items():
        for pair in zip(word, word[1:]):
            counts[tuple(sorted(pair))] += times
    return counts


@wrong("count_pairs", "it changes what it is given: `words`. Whoever calls it still needs `words`")
def _(words):
    counts = Counter()
    while words:
        word, times = words.popitem()
        for pair in zip(word, word[1:]):
            counts[pair] += times
    return counts


@right("count_pairs", "a default dictionary and places")
def _(words):
    counts = defaultdict(int)
    for word in words:
        for i in range(1, len(word)):
            counts[word[i - 1], word[i]] += words[word]
    return counts


@right("count_pairs", "one expression, pairs by the standard library")
def _(words):
    return sum((Counter(itertools.chain.from_iterable([itertools.pairwise(word)] * 1)) for word, times in words.items()
                for _ in range(times)), Counter())


@right("count_pairs", "warnings and prints do not matter")
def _(words):
    import warnings
    warnings.warn("slow")
    print("counting", len(words))
    pairs = [(pair, times) for word, times in words.items() for pair in zip(word[:-1], word[1:])]
    return {pair: sum(times for other, times in pairs if other == pair) for pair, _ in pairs}


# -- merge -----------------------------------------------------------------------------------------------------------

@wrong("merge", "Only the first occurrence")
def _(word, pair):
    for i in range(len(word) - 1):
        if word[i:i + 2] == pair:
            return word[:i] + (pair[0] + pair[1],) + word[i + 2:]
    return word


@wrong("merge", "came back as one text")
def _(word, pair):
    return " ".join(word).replace(" ".join(pair), "".join(pair))


@wrong("merge", "Compare tokens, not letters")
def _(word, pair):
    marked = "".join(word).replace("".join(pair), "\0")
    return tuple("".join(pair) if letter == "\0" else letter for letter in marked)


@wrong("merge", "Compare tokens, not letters")
def _(word, pair):
    parts, i = list(word), 0
    while i < len(parts) - 1:
        if parts[i] + parts[i + 1] == pair[0] + pair[1]:
            parts[i:i + 2] = [pair[0] + pair[1]]
        i += 1
    return tuple(parts)


@wrong("merge", "A list never equals a tuple")
def _(word, pair):
    joined, word, i = [], list(word), 0
    while i < len(word):
        step = 2 if word[i:i + 2] == pair else 1
        joined.append("".join(word[i:i + step]))
        i += step
    return tuple(joined)


@wrong("merge", "A tuple cannot be changed")
def _(word, pair):
    for i in range(len(word) - 1):
        if word[i:i + 2] == pair:
            word[i] = pair[0] + pair[1]
            del word[i + 1]
    return word


@wrong("merge", "From the left")
def _(word, pair):
    parts = list(word)
    for i in range(len(parts) - 2, -1, -1):
        if tuple(parts[i:i + 2]) == pair:
            parts[i:i + 2] = [pair[0] + pair[1]]
    return tuple(parts)


@wrong("merge", "The letters of the word are no longer the same")
def _(word, pair):
    joined, i = [], 0
    while i < len(word) - 1:
        if word[i:i + 2] == pair:
            joined.append(pair[0] + pair[1])
            i += 2
        else:
            joined.append(word[i])
            i += 1
    return tuple(joined)


@wrong("merge", "is the pair written once, not twice?")
def _(word, pair):
    joined = []
    for a, b in zip(word, word[1:] + ("",)):
        joined.append(a + b if (a, b) == pair else a)
    return tuple(joined)


@wrong("merge", "was not joined at all")
def _(word, pair):
    for i in range(len(word) - 1):
        if word[i] + word[i + 1] == pair:
            word = word[:i] + (pair[0] + pair[1],) + word[i + 2:]
    return word


@wrong("merge", "IndexError")
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


@wrong("merge", "calls coursekit.text.bpe.merge")
def _(word, pair):
    return tuple(borrowed_merge(list(word), pair))


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


@right("merge", "by recursion")
def again(word, pair):
    if len(word) < 2:
        return tuple(word)
    if (word[0], word[1]) == pair:
        return ("".join(pair), *again(word[2:], pair))
    return (word[0], *again(word[1:], pair))


# -- learn_merges ----------------------------------------------------------------------------------------------------

def _learn(words, n_merges, best, join=None, twice=2, recount=True):
    """Training with one thing done in another way."""
    merges, counts = [], count_pairs(words)
    for _ in range(n_merges):
        counts = count_pairs(words) if recount else counts
        if not counts or max(counts.values()) < twice:
            break
        pair = best(counts)
        merges.append(pair)
        words = (join or _add_up)(words, pair)
    return merges


def _add_up(words, pair):
    joined = Counter()
    for word, times in words.items():
        joined[merge(word, pair)] += times
    return joined


def _alphabetical(counts):
    return min(counts, key=lambda pair: (-counts[pair], pair))


@wrong("learn_merges", "comes first in the alphabet")
def _(words, n_merges):
    return _learn(words, n_merges, lambda counts: max(counts, key=counts.get))


@wrong("learn_merges", "comes first in the alphabet")
def _(words, n_merges):
    return _learn(words, n_merges, lambda counts: max(counts, key=lambda pair: (counts[pair], pair)))


@wrong("learn_merges", "and not as the text that they make together")
def _(words, n_merges):
    return _learn(words, n_merges, lambda counts: min(counts, key=lambda pair: (-counts[pair], "".join(pair), pair)))


@wrong("learn_merges", "stop when no pair occurs twice")
def _(words, n_merges):
    return _learn(words, n_merges, _alphabetical, twice=1)


@wrong("learn_merges", "All pairs come from one count")
def _(words, n_merges):
    counts = count_pairs(words)
    frequent = [pair for pair in counts if counts[pair] > 1]
    return sorted(frequent, key=lambda pair: (-counts[pair], pair))[:n_merges]


@wrong("learn_merges", "every word changed after the merge before")
def _(words, n_merges):
    return _learn(words, n_merges, _alphabetical, join=lambda words, pair: words)


@wrong("learn_merges", "Did one of the two overwrite the other?")
def _(words, n_merges):
    return _learn(words, n_merges, _alphabetical,
                  join=lambda words, pair: {merge(word, pair): times for word, times in words.items()})


@wrong("learn_merges", "Does every word count as often as it occurs?")
def _(words, n_merges):
    return _learn({word: 1 for word in words}, n_merges, _alphabetical)


@wrong("learn_merges", "This pair is the rarest")
def _(words, n_merges):
    return _learn(words, n_merges, lambda counts: min(counts, key=lambda pair: (counts[pair], pair)))


@wrong("learn_merges", "it changes what it is given: `words`")
def _(words, n_merges):
    def in_place(words, pair):
        for word in list(words):
            times = words.pop(word)
            words[merge(word, pair)] = words.get(merge(word, pair), 0) + times
        return words

    return _learn(words, n_merges, _alphabetical, join=in_place)


@wrong("learn_merges", "must not change meanwhile")
def _(words, n_merges):
    def in_place(words, pair):
        for word in words:
            words[merge(word, pair)] = words.pop(word)
        return words

    return _learn(words, n_merges, _alphabetical, join=in_place)


@wrong("learn_merges", "stops with ValueError", at_once=False)
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
    return ["".join(pair) for pair in _learn(words, n_merges, _alphabetical)]


@wrong("learn_merges", "One merge too many")
def _(words, n_merges):
    return _learn(words, n_merges + 1, _alphabetical)


@wrong("learn_merges", "Merges are missing at the end")
def _(words, n_merges):
    return _learn(words, n_merges - 1, _alphabetical)


@wrong("learn_merges", "stops with an error")
def _(words, n_merges):
    merges = []
    for _ in range(n_merges):
        counts = count_pairs(words)
        pair = min(counts, key=lambda pair: (-counts[pair], pair))
        if counts[pair] < 2:
            break
        merges.append(pair)
        words = _add_up(words, pair)
    return merges[0:1] + merges[1:] if merges else merges[0]


@wrong("learn_merges", "coursekit.text.BytePairTokenizer")
def _(words, n_merges):
    text = " ".join("".join(word) for word, times in words.items() for _ in range(times))
    return library.BytePairTokenizer.train([text or "a"], 257 + n_merges).merges


@right("learn_merges", "sorting, and words kept in two lists")
def _(words, n_merges):
    cuts, times, merges = [list(word) for word in words], list(words.values()), []
    while len(merges) < n_merges:
        counts = Counter()
        for cut, n in zip(cuts, times):
            for pair in zip(cut, cut[1:]):
                counts[pair] += n
        ranked = sorted(counts.items(), key=lambda item: item[0])
        ranked.sort(key=lambda item: item[1], reverse=True)
        if not ranked or ranked[0][1] == 1:
            break
        merges.append(ranked[0][0])
        cuts = [list(merge(tuple(cut), ranked[0][0])) for cut in cuts]
    return merges


@right("learn_merges", "by recursion, and pairs as lists")
def _(words, n_merges):
    def learn(words, left):
        counts = count_pairs(words)
        largest = max(counts.values(), default=0)
        if left == 0 or largest < 2:
            return []
        pair = min(pair for pair, count in counts.items() if count == largest)
        return [list(pair), *learn(_add_up(words, pair), left - 1)]

    return learn(words, min(n_merges, 100))


# -- tokenize --------------------------------------------------------------------------------------------------------

@wrong("tokenize", "takes the longest piece each time")
def _(word, merges):
    vocabulary, pieces = {*word, *("".join(pair) for pair in merges)}, []
    while word:
        end = max(n for n in range(1, len(word) + 1) if word[:n] in vocabulary)
        pieces.append(word[:end])
        word = word[end:]
    return pieces


@wrong("tokenize", "from the last to the first")
def _(word, merges):
    pieces = tuple(word)
    for pair in merges[::-1]:
        pieces = merge(pieces, pair)
    return list(pieces)


@wrong("tokenize", "Nothing was joined")
def _(word, merges):
    pieces = tuple(word)
    for pair in merges:
        merge(pieces, pair)
    return list(pieces)


@wrong("tokenize", "The first merge was not applied. Or is the word a list or a string")
def _(word, merges):
    pieces = list(word)
    for pair in merges:
        pieces = merge(pieces, pair)
    return list(pieces)


@wrong("tokenize", "or is it dropped? Or is the word a list or a string")
def _(word, merges):
    pieces = list(word)
    for pair in merges:
        pieces = list(merge(pieces, pair))
    return pieces


@wrong("tokenize", "Go through all of them. Or is the word a list or a string")
def _(word, merges):
    pieces = tuple(word)
    for pair in merges:
        pieces = list(merge(pieces, pair))
    return pieces


@wrong("tokenize", "the others were not tried")
def _(word, merges):
    for pair in merges:
        pieces = merge(tuple(word), pair)
        if len(pieces) < len(word):
            return list(pieces)
    return list(word)


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


@wrong("tokenize", "Replacing in a text looks at letters")
def _(word, merges):
    text = " ".join(word)
    for a, b in merges:
        text = text.replace(f"{a} {b}", a + b)
    return text.split()


@wrong("tokenize", "Replacing in a text looks at letters")
def _(word, merges):
    for a, b in merges:
        word = word.replace(a + b, f" {a + b} ")
    return word.split()


@wrong("tokenize", "it changes what it is given: `merges`")
def _(word, merges):
    pieces = tuple(word)
    while merges:
        pieces = merge(pieces, merges.pop(0))
    return list(pieces)


@wrong("tokenize", "is every occurrence joined")
def _(word, merges):
    pieces = list(word)
    for a, b in merges:
        for i in range(len(pieces) - 1):
            if (pieces[i], pieces[i + 1]) == (a, b):
                pieces[i:i + 2] = [a + b]
                break
    return pieces


@wrong("tokenize", "calls coursekit.text.BytePairTokenizer")
def _(word, merges):
    return library.BytePairTokenizer(merges).tokenize(word)


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

def _cut(word, vocab, ends=None, mark="##"):
    pieces, start = [], 0
    while start < len(word):
        for end in (ends or (lambda word, start: range(len(word), start, -1)))(word, start):
            piece = (mark if start else "") + word[start:end]
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


@wrong("cut", "These are the pieces alone")
def _(word, vocab):
    return [piece for piece, _, _ in _cut(word, vocab)]


@wrong("cut", "Take the longest piece that fits")
def _(word, vocab):
    return _cut(word, vocab, ends=lambda word, start: range(start + 1, len(word) + 1))


@wrong("cut", "This word can be cut")
def _(word, vocab):
    return _cut(word, {piece for piece in vocab if not piece.startswith("##")}, mark="##")


@wrong("cut", "with ## before it")
def _(word, vocab):
    return [(piece.removeprefix("##"), start, end) for piece, start, end in _cut(word, vocab)]


@wrong("cut", "the place behind the last letter")
def _(word, vocab):
    pieces = _cut(word, vocab)
    return [(piece, start, end - 1) if piece != "[UNK]" else (piece, start, end) for piece, start, end in pieces]


@wrong("cut", "Is the ## counted")
def _(word, vocab):
    pieces, start = [], 0
    for piece, _, _ in _cut(word, vocab):
        pieces.append((piece, start, start + len(piece)) if piece != "[UNK]" else (piece, 0, len(word)))
        start += len(piece)
    return pieces


@wrong("cut", "the whole word is unknown")
def _(word, vocab):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = "##" * (start > 0) + word[start:end]
            if piece in vocab:
                break
        else:
            piece, end = "[UNK]", start + 1
        pieces.append((piece, start, end))
        start = end
    return pieces


@wrong("cut", "one piece that covers it")
def _(word, vocab):
    pieces = _cut(word, vocab)
    return [("[UNK]", 0, 0)] if pieces[:1] and pieces[0][0] == "[UNK]" else pieces


@wrong("cut", "inside a word only pieces with ## may be used")
def _(word, vocab):
    return _cut(word, {*vocab, *("##" + piece for piece in vocab)})


@wrong("cut", "not its length")
def _(word, vocab):
    return [(piece, start, end - start) for piece, start, end in _cut(word, vocab)]


@wrong("cut", "an end of len(word)")
def _(word, vocab):
    return _cut(word, vocab, ends=lambda word, start: range(len(word) - 1, start, -1))


@wrong("cut", "it changes what it is given: `vocab`")
def _(word, vocab):
    vocab |= {"[UNK]"}
    return _cut(word, vocab)


@wrong("cut", "right on the inputs that you see, not on another one (an empty word)", at_once=False)
def _(word, vocab):
    return _cut(word, vocab) or [("[UNK]", 0, 0)]


@wrong("cut", "calls coursekit.text.WordPieceTokenizer")
def _(word, vocab):
    tokenizer = library.WordPieceTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(vocab)])
    pieces, start = [], 0
    for piece in tokenizer.tokenize(word):
        end = start + len(piece.removeprefix("##")) if piece != "[UNK]" else len(word)
        pieces.append((piece, start, end))
        start = end
    return pieces


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


# -- waves -----------------------------------------------------------------------------------------------------------

@wrong("waves", "All sines first, then all cosines")
def _(t, d, base):
    angles = t[:, None] / base ** (torch.arange(0, d, 2) / d)
    return torch.cat([angles.sin(), angles.cos()], 1)


@wrong("waves", "Sine and cosine have changed places")
def _(t, d, base):
    angles = t[:, None] / base ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.cos(), angles.sin()], -1).flatten(1)


@wrong("waves", "the 2 is missing")
def _(t, d, base):
    angles = t[:, None] / base ** (torch.arange(d // 2) / d)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@wrong("waves", "Is 10,000 written in somewhere?")
def _(t, d, base):
    angles = t[:, None] / 10_000 ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@wrong("waves", "These are the first positions")
def _(t, d, base):
    angles = torch.arange(len(t))[:, None] / base ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@wrong("waves", "t is divided by base^(2i/d)")
def _(t, d, base):
    angles = t[:, None] * base ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@wrong("waves", "The exponent counts pairs (2i), not columns")
def _(t, d, base):
    P = torch.zeros(len(t), d)
    for j in range(d):
        P[:, j] = (torch.sin if j % 2 == 0 else torch.cos)(t / base ** (j / d))
    return P


@wrong("waves", "Rows and columns have changed places")
def _(t, d, base):
    angles = t[:, None] / base ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).T


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


def _waves(t, d, base, exponents=None):
    angles = t[:, None] / base ** (torch.arange(0, d, 2) / d if exponents is None else exponents)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()


@wrong("waves", "The positions are off by one")
def _(t, d, base):
    return _waves(t + 1, d, base)


@wrong("waves", "The positions are off by one")
def _(t, d, base):
    return _waves(t - 1, d, base)


@wrong("waves", "the division by d is missing")
def _(t, d, base):
    return _waves(t, d, base, torch.arange(0, d, 2))


@wrong("waves", "The counting starts too late")
def _(t, d, base):
    return _waves(t, d, base, 2 * torch.arange(1, d // 2 + 1) / d)


@wrong("waves", "with `/` and not with `//`")
def _(t, d, base):
    return _waves(t, d, base, torch.arange(0, d, 2) // d)


@wrong("waves", "Two neighbouring columns are equal")
def _(t, d, base):
    return _waves(t, d, base)[:, 0::2].repeat_interleave(2, 1)


@wrong("waves", "a row for every position up to the largest")
def _(t, d, base):
    return _waves(torch.arange(int(t.max()) + 1), d, base)


@wrong("waves", "Do the positions stand in a column")
def _(t, d, base):
    angles = t / base ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@wrong("waves", "The functions of math take a single number")
def _(t, d, base):
    P = torch.zeros(len(t), d)
    P[:, 0::2] = math.sin(t[:, None] / base ** (torch.arange(0, d, 2) / d))
    return P


@wrong("waves", "it changes what it is given: `t`")
def _(t, d, base):
    t *= 1
    t[0] += 1
    return _waves(t - (torch.arange(len(t)) == 0).long(), d, base)


@wrong("waves", "wrap it in torch.tensor(...)")
def _(t, d, base):
    return [[(math.sin if j % 2 == 0 else math.cos)(int(s) / base ** (j // 2 * 2 / d)) for j in range(d)] for s in t]


@wrong("waves", "calls coursekit.models.sinusoidal_positions")
def _(t, d, base):
    return library_waves(int(max(t)) + 1, d, base)[t]


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


@right("waves", "cosines as shifted sines, by einsum")
def _(t, d, base):
    angles = torch.einsum("t,f->tf", t.double(), base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d))
    return torch.sin(angles.repeat_interleave(2, 1) + torch.tensor([0, math.pi / 2]).repeat(d // 2)).float()


# -- pad_batch -------------------------------------------------------------------------------------------------------

def _padded(documents, length, pad_id, before=False, tail=False):
    rows, mask = [], []
    for document in documents:
        kept = document[-length:] if tail else document[:length]
        gap = length - len(kept)
        rows.append([pad_id] * gap + kept if before else kept + [pad_id] * gap)
        mask.append([False] * gap + [True] * len(kept) if before else [True] * len(kept) + [False] * gap)
    return torch.tensor(rows), torch.tensor(mask)


@wrong("pad_batch", "The length of the document knows better")
def _(documents, length, pad_id):
    ids, _ = _padded(documents, length, pad_id)
    return ids, ids != pad_id


@wrong("pad_batch", "It goes behind them")
def _(documents, length, pad_id):
    return _padded(documents, length, pad_id, before=True)


@wrong("pad_batch", "The mask says the opposite")
def _(documents, length, pad_id):
    ids, mask = _padded(documents, length, pad_id)
    return ids, ~mask


@wrong("pad_batch", "dtype=torch.bool")
def _(documents, length, pad_id):
    ids, mask = _padded(documents, length, pad_id)
    return ids, mask.float()


@wrong("pad_batch", "This pads to the longest document")
def _(documents, length, pad_id):
    return _padded(documents, max(map(len, documents)), pad_id)


@wrong("pad_batch", "The padding is pad_id")
def _(documents, length, pad_id):
    return _padded(documents, length, 0)


@wrong("pad_batch", "loses its beginning")
def _(documents, length, pad_id):
    return _padded(documents, length, pad_id, tail=True)


@wrong("pad_batch", "rows that are equally long")
def _(documents, length, pad_id):
    rows = [document + [pad_id] * (length - len(document)) for document in documents]
    return torch.tensor(rows), torch.arange(length) < torch.tensor([len(document) for document in documents])[:, None]


@wrong("pad_batch", "it changes what it is given: `documents`")
def _(documents, length, pad_id):
    mask = torch.arange(length) < torch.tensor([len(document) for document in documents])[:, None]
    for i, document in enumerate(documents):
        documents[i] = (document + [pad_id] * length)[:length]
    return torch.tensor(documents), mask


@wrong("pad_batch", "it changes what it is given: `documents`")
def _(documents, length, pad_id):
    mask = torch.arange(length) < torch.tensor([len(document) for document in documents])[:, None]
    for document in documents:
        document += [pad_id] * (length - len(document))
    return torch.tensor([document[:length] for document in documents]), mask


@wrong("pad_batch", "Return both: ids, mask")
def _(documents, length, pad_id):
    return _padded(documents, length, pad_id)[0]


@wrong("pad_batch", "Token numbers are names, and whole")
def _(documents, length, pad_id):
    ids = torch.full((len(documents), length), float(pad_id))
    mask = torch.zeros(len(documents), length, dtype=torch.bool)
    for i, document in enumerate(documents):
        n = min(len(document), length)
        ids[i, :n], mask[i, :n] = torch.tensor(document[:n]), True
    return ids, mask


@wrong("pad_batch", "stops with an error")
def _(documents, length, pad_id):
    ids, mask = torch.full((len(documents), length), pad_id), torch.zeros(len(documents), length, dtype=torch.bool)
    for i, document in enumerate(documents):
        ids[i, :len(document)] = torch.tensor(document)
        mask[i, :len(document)] = True
    return ids, mask


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


@right("pad_batch", "zip_longest")
def _(documents, length, pad_id):
    nothing = object()
    columns = list(itertools.zip_longest(*(d[:length] for d in documents), range(length), fillvalue=nothing))
    rows = [[column[i] for column in columns] for i in range(len(documents))]
    return (torch.tensor([[pad_id if x is nothing else x for x in row] for row in rows]),
            torch.tensor([[x is not nothing for x in row] for row in rows]))
