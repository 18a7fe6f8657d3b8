"""Byte-pair encoding: the tokenizer of GPT-2.

Start from single bytes; join the most frequent pair of neighbours into a new token; repeat. Gage (1994) shrank files
this way ("A New Algorithm for Data Compression", C Users Journal 12(2)), Sennrich, Haddow & Birch (2016,
arXiv:1508.07909) cut words with it, and Radford et al. (2019) started from bytes, so that no text is unknown.

Three steps, in the order of this file:

1. a text is cut into words by GPT-2's pattern, and merges never cross the border of a word;
2. the merges are learned: `merge_steps` as one would by hand, `learn_merges` fast, with the same result;
3. `BytePairTokenizer` replays the merges, in the order in which they were learned, on any text.
"""

import heapq
import json
import operator
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path

import regex

from coursekit.inputs import as_text, as_texts, as_tokens
from coursekit.text.base import Tokenizer, as_vocab

__all__ = ["BytePairTokenizer", "merge_steps"]

# GPT-2's words: an English ending ('s, 'll), or letters, or digits, or other signs, each with the blank before it;
# else white space, whose last blank is left to the word that follows.
WORD = regex.compile(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")

# Tokens must be legible, and many bytes are not. GPT-2 writes a byte as the Latin-1 character of that number if it
# has ink, and the others, in order, as the characters from number 256 on: the blank is "Ġ", the line end "Ċ".
INK = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
BYTES = INK + [byte for byte in range(256) if byte not in INK]  # token id → byte
CHARS = [chr(byte) for byte in INK] + [chr(256 + i) for i in range(256 - len(INK))]  # token id → its character
CHAR_OF = dict(zip(BYTES, CHARS, strict=True))
BYTE_OF = dict(zip(CHARS, BYTES, strict=True))
BYTE_IDS = bytes(map(BYTES.index, range(256)))  # byte → token id, as a table for bytes.translate

EOS = "<|endoftext|>"


def merge(parts, pair):
    """Join every occurrence of the pair, from left to right.

    >>> merge(["b", "a", "n", "a", "n", "a"], ("a", "n"))
    ['b', 'an', 'an', 'a']
    """
    a, b = pair
    merged = []
    for part in parts:
        if part == b and merged and merged[-1] == a:
            merged[-1] = a + b
        else:
            merged.append(part)
    return merged


def merge_steps(words: Sequence) -> Iterator[tuple[list, Counter, tuple]]:
    """Byte-pair merging as on paper: yields (words, counts, pair) before every merge, until nothing is left to join.

    words: list of strings, one per occurrence. Yielded are the words as lists of tokens, the count of every pair of
    neighbours (a Counter), and the pair to be joined next: the most frequent one; among equals, the one whose tokens
    are oldest (letters by their code points, then in the order in which they were made).

    >>> for words, counts, pair in merge_steps(["low", "login"]):
    ...     print(words, pair, counts[pair])
    ...     if counts[pair] == 1: break
    [['l', 'o', 'w'], ['l', 'o', 'g', 'i', 'n']] ('l', 'o') 2
    [['lo', 'w'], ['lo', 'g', 'i', 'n']] ('g', 'i') 1
    """
    words = [list(as_text(word)) for word in words]
    age = as_vocab(sorted({letter for word in words for letter in word}))
    while counts := Counter(pair for word in words for pair in pairwise(word)):
        pair = min(counts, key=lambda pair: (-counts[pair], age[pair[0]], age[pair[1]]))
        yield words, counts, pair
        words = [merge(word, pair) for word in words]
        age[pair[0] + pair[1]] = len(age)


def learn_merges(words, n_merges, first_id):
    """The first `n_merges` pairs that byte-pair merging joins (fewer if nothing is left to join), as pairs of ids.

    words: dictionary, word → how often it occurs. Here a word is a string in which the token i is the character
    chr(i), so that joining a pair is replacing two characters by a new one, as in Gage's program. The pair that is
    joined k-th becomes the token `first_id + k`. Among equally frequent pairs the smallest (id, id) wins, as in
    Hugging Face's `tokenizers`.

    Counting all pairs anew before every merge is slow, since one merge changes few of them. So each pair remembers in
    which words it stands, and a merge visits those only: there its neighbours become part of other pairs. The largest
    count is found by a heap. Counts in it are too large once other merges have taken pairs away; such an entry goes
    back with the true count when it comes up. Rare pairs wait outside the heap until it is empty, most of them for
    ever: it holds the pairs that occur more than `floor` times, and then `floor` is halved.

    >>> learn_merges({"abac": 2, "ab": 1}, 2, first_id=ord("d"))
    [(97, 98), (97, 99)]
    """
    times, words = list(words.values()), list(words)
    where = defaultdict(list)  # pair → numbers of the words it stands in, once per place; it may be gone since
    for i, word in enumerate(words):
        for pair in map(operator.add, word, word[1:]):
            where[pair].append(i)
    counts = {pair: sum(map(times.__getitem__, places)) for pair, places in where.items()}
    floor, heap, merges = max(counts.values(), default=0), [], []

    def add(pair, places):
        where[pair] = places
        counts[pair] = count = sum(map(times.__getitem__, places))
        if count > floor:
            heapq.heappush(heap, (-count, pair))
        return count

    while len(merges) < n_merges and (heap or floor):
        if not heap:
            floor //= 2
            heap += [(-count, pair) for pair, count in counts.items() if count > floor]
            heapq.heapify(heap)
            continue
        count, pair = heapq.heappop(heap)
        if -count != counts[pair]:
            if counts[pair] > floor:
                heapq.heappush(heap, (-counts[pair], pair))
            continue
        a, b = pair
        new = chr(first_id + len(merges))
        merges.append((ord(a), ord(b)))
        before, behind = defaultdict(list), defaultdict(list)  # neighbour of `new` → words, once per place
        for i in set(where.pop(pair)):
            done, joined, rest = words[i].partition(pair)
            while joined:
                if done:  # its last token is `new` itself where the pair comes twice in a row
                    before[done[-1]].append(i)
                part, joined, rest = rest.partition(pair)
                if part:
                    behind[part[0]].append(i)
                done += new + part
            words[i] = done
        for x, places in before.items():  # x a b has become x new, so a pair x a is gone (b a, where x is `new`)
            counts[(b if x == new else x) + a] -= add(x + new, places)
        for x, places in behind.items():  # a b x has become new x, so a pair b x is gone
            counts[b + x] -= add(new + x, places)
        counts[pair] = 0
    return merges


class BytePairTokenizer(Tokenizer):
    """Byte-level byte-pair encoding as in GPT-2: no text is unknown, and `decode(encode(text)) == text` always.

    merges: list of pairs of tokens, in the order in which they are to be joined. A token is a string in which every
    byte is one character (see `CHAR_OF`): " the" is "Ġthe", "é" (two bytes) is "Ã©".
    tokens: list, id → token; None numbers them as training does: the 256 bytes, then one token per merge, then
    "<|endoftext|>".

    Special tokens: "<|endoftext|>" only, `eos_id`. It ends a text, and as GPT-2 has no other, `pad_id` is the same id.
    There is no `unk_id`, as nothing is unknown.

    The pieces of every word met are remembered, so a text with familiar words is encoded by look-ups alone.

    >>> bpe = BytePairTokenizer([("l", "o"), ("lo", "w")])
    >>> bpe.tokenize("low login")
    ['low', 'Ġ', 'lo', 'g', 'i', 'n']
    >>> bpe.decode(bpe.encode("low login"))
    'low login'
    """

    def __init__(self, merges, tokens=None):
        self.merges = [tuple(pair) for pair in merges]
        super().__init__(tokens or [*CHARS, *(a + b for a, b in self.merges), EOS])
        needed = chain([*CHARS, EOS], *self.merges, (a + b for a, b in self.merges))
        if missing := [token for token in needed if token not in self.vocab]:
            raise ValueError(f"{len(missing)} tokens are missing from the vocabulary, the first is {missing[0]!r}: "
                             f"it needs all 256 bytes, both halves and the whole of every merge, and {EOS!r}")
        if strange := sorted(set("".join(self.tokens)) - BYTE_OF.keys()):
            raise ValueError(f"the character {strange[0]!r} stands for no byte: tokens are written in the 256 "
                             "characters of GPT-2's vocabulary, in which a blank is 'Ġ'")
        self.eos_id = self.pad_id = self.vocab[EOS]
        self._rank = {pair: rank for rank, pair in enumerate(self.merges)}
        self._ids_of_word = {}

    def __repr__(self):
        return f"{super().__repr__()[:-1]}, {len(self.merges)} merges)"

    @classmethod
    def train(cls, texts, vocab_size):
        """Learn the merges from texts (a list of strings); D = vocab_size unless the texts run out of pairs earlier.

        GPT-2's vocabulary has 50257 = 256 bytes + 50000 merges + "<|endoftext|>"; so `vocab_size` is at least 257.

        >>> BytePairTokenizer.train(["low login"], vocab_size=258).merges
        [('l', 'o')]
        """
        texts = as_texts(texts)
        if vocab_size < len(CHARS) + 1:
            raise ValueError(f"vocab_size must be at least 257 (256 bytes and {EOS!r}), got {vocab_size}")
        words = Counter(chain.from_iterable(map(WORD.findall, texts)))
        words = {_to_bytes(word).translate(BYTE_IDS).decode("latin-1"): times for word, times in words.items()}
        tokens, merges = list(CHARS), []
        for a, b in learn_merges(words, vocab_size - len(CHARS) - 1, first_id=len(CHARS)):
            merges.append((tokens[a], tokens[b]))
            tokens.append(tokens[a] + tokens[b])
        return cls(merges)

    @classmethod
    def from_gpt2(cls, encoder_json, vocab_bpe):
        """The tokenizer in two files of GPT-2's format (paths): token → id in JSON; a first line with the version,
        then one merge a line, its halves with a blank between."""
        try:
            vocab = json.loads(Path(encoder_json).read_text(encoding="utf-8"))
            tokens = sorted(vocab, key=vocab.get)
        except (ValueError, TypeError, AttributeError):
            raise ValueError(f"{encoder_json} is not a vocabulary: expected one JSON object, token → id") from None
        if [vocab[token] for token in tokens] != list(range(len(tokens))):
            raise ValueError(f"the ids in {encoder_json} are not 0 to {len(tokens) - 1}, each once")
        lines = Path(vocab_bpe).read_text(encoding="utf-8").split("\n")
        merges = [tuple(line.split(" ")) for line in lines[lines[0].startswith("#version"):] if line]
        if wrong := [" ".join(pair) for pair in merges if len(pair) != 2]:
            raise ValueError(f"{vocab_bpe} has the line {wrong[0]!r}: expected two tokens with one blank between them")
        if not merges and len(tokens) > len(CHARS) + 1:
            raise ValueError(f"{vocab_bpe} has no merges, and {encoder_json} has {len(tokens)} tokens: get both anew")
        return cls(merges, tokens)

    def _encode_word(self, word):
        """The ids of one word: join the pair that was learned first, as long as there is one (GPT-2's procedure)."""
        parts, none = [CHAR_OF[byte] for byte in _to_bytes(word)], len(self.merges)
        while len(parts) > 1:
            first = min([self._rank.get(pair, none) for pair in pairwise(parts)])
            if first == none:
                break
            parts = merge(parts, self.merges[first])
        return [self.vocab[part] for part in parts]

    def encode(self, text):
        """Text → list of ids. "<|endoftext|>" in the text is text like any other; append `eos_id` for the token."""
        ids, ids_of = [], self._ids_of_word
        for word in WORD.findall(as_text(text)):
            if word not in ids_of:
                ids_of[word] = self._encode_word(word)
            ids += ids_of[word]
        return ids

    def tokenize(self, text):
        """Text → list of tokens (strings in which "Ġ" is the blank)."""
        return [self.tokens[i] for i in self.encode(text)]

    def convert_tokens_to_ids(self, tokens):
        """List of tokens → list of ids. ValueError for a string that is no token: bytes leave nothing unknown."""
        tokens = as_tokens(tokens)
        if unknown := [token for token in tokens if token not in self.vocab]:
            raise ValueError(f"{unknown[0]!r} is no token of this vocabulary: tokenize(text) gives tokens")
        return [self.vocab[token] for token in tokens]

    def decode(self, ids):
        """List of ids → text. Bytes that are not UTF-8 (a character cut in two) become U+FFFD."""
        raw = bytes(BYTE_OF[char] for token in self._pick(ids) for char in token)
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return raw.decode("utf-8", "replace")


def _to_bytes(text):
    """UTF-8, also for the half characters (lone surrogates) that a Python string may hold and UTF-8 proper has not."""
    return text.encode("utf-8", "surrogatepass")
