"""Checks of assignment 01: byte pairs (in byte_pairs.py), WordPiece, positions, padding."""

import torch

from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same
from coursekit.grade.kit.score import announce
from coursekit.models import sinusoidal_positions
from coursekit.text import WordPieceTokenizer

from .byte_pairs import count_pairs, learn_merges, merge, tokenize

__all__ = ["count_pairs", "merge", "learn_merges", "tokenize", "cut", "waves", "pad_batch"]


# -- cut -------------------------------------------------------------------------------------------------------------

PIECES = {"un", "afford", "able", "##afford", "##able", "##ord", "bor", "##ed", "##e", "##dom"}


@question((2, 2), {"three pieces": ("unaffordable", PIECES), "one piece": ("able", PIECES),
                   "the longest, not the first": ("bored", PIECES), "nothing fits": ("unfair", PIECES),
                   "a beginning inside a word": ("ableun", PIECES)},
          forbidden=("coursekit.text.WordPieceTokenizer",), instead="two loops, over the start and the end of a piece",
          hints={"endless": "What happens to `start` when no end fits?"})
def cut(word, vocab):
    """cut(word, vocab): WordPiece's pieces of a word, each with the places (start, end) of its letters."""
    specials = WordPieceTokenizer.SPECIALS
    pieces = WordPieceTokenizer(specials + sorted(set(vocab) - set(specials))).tokenize(word)
    if pieces == ["[UNK]"]:
        return [("[UNK]", 0, len(word))]
    found, start = [], 0
    for piece in pieces:
        end = start + len(piece.removeprefix("##"))
        found.append((piece, start, end))
        start = end
    return found


@cut.suspect
def _(got, word, vocab):
    if type(got) not in (list, tuple):
        return "The result is a list of triples (piece, start, end)."
    if all(type(entry) is str for entry in got) and got:
        return ("These are the pieces alone. Asked for are triples: (piece, start, end) with word[start:end] its "
                "letters.")
    if not all(type(entry) in (list, tuple) and len(entry) == 3 for entry in got):
        return "Every entry is a triple (piece, start, end)."
    right, names = cut.__wrapped__(word, vocab), [entry[0] for entry in got]
    if names == [piece for piece, _, _ in right]:
        if right[0][0] == "[UNK]":
            return "The pieces are right. An unknown word is one piece that covers it: from 0 to len(word)."
        if all(same(entry[2], end - start) for entry, (_, start, end) in zip(got, right)):
            return "The pieces are right. The third entry is the place where a piece ends, not its length."
        if all(type(entry[2]) is int and entry[2] == end - 1 for entry, (_, _, end) in zip(got, right)):
            return "The pieces are right. `end` is the place behind the last letter, so that word[start:end] works."
        return "The pieces are right, their places are not. Is the ## counted, which is not in the word?"
    if [str(name).removeprefix("##") for name in names] == [piece.removeprefix("##") for piece, _, _ in right]:
        return "A piece that continues a word is written, and looked up, with ## before it; the first is not."
    if right[0][0] == "[UNK]":
        if any(str(name).startswith("##") or name in vocab for name in names) and "[UNK]" in names:
            return "If at some place no piece fits, the whole word is unknown: one [UNK], and no other pieces."
        if names and all(str(name).removeprefix("##") in vocab or name in vocab for name in names):
            return ("This cuts a word that cannot be cut: inside a word only pieces with ## may be used, and every "
                    "letter must be covered.")
        return "If at some place no piece fits, the whole word is one [UNK]."
    if same(got, _shortest_first(word, vocab)):
        return "Take the longest piece that fits: try the ends from the last letter downwards, not upwards."
    if names == ["[UNK]"]:
        return ("This word can be cut. Do pieces inside a word get their ## before they are looked up, and is the "
                "whole rest of the word tried as well (an end of len(word))?")
    return ("At each place: is the longest piece taken that is in the vocabulary, and does the next one begin where "
            "it ends?")


def _shortest_first(word, vocab):
    pieces, start = [], 0
    while start < len(word):
        fitting = [end for end in range(start + 1, len(word) + 1) if "##" * (start > 0) + word[start:end] in vocab]
        if not fitting:
            return [("[UNK]", 0, len(word))]
        pieces.append(("##" * (start > 0) + word[start:fitting[0]], start, fitting[0]))
        start = fitting[0]
    return pieces


# -- waves -----------------------------------------------------------------------------------------------------------

@question((2, 2), {"base 10,000": (torch.tensor([0, 1, 2, 3]), 6, 10_000), "base 64": (torch.tensor([1, 2, 64]), 4, 64),
                   "places in any order": (torch.tensor([7, 0, 7]), 2, 100)},
          forbidden=("coursekit.models.sinusoidal_positions",), instead="torch.sin and torch.cos",
          tolerance=(1e-3, 1e-4),
          hints={"shapes": "Do the positions stand in a column, (T, 1), where they meet the d/2 speeds?"})
def waves(t, d, base):
    """waves(t, d, base): vectors (T, d) of the positions t (T,), sine and cosine of a frequency side by side."""
    return sinusoidal_positions(int(t.max()) + 1, d, base)[t]


def _one_wave(t, d, base, swap=False, divide=2.0, halves=False, first=0):
    """The formula with one thing wrong in it."""
    frequency = float(base) ** (-divide * (torch.arange(d // 2) + first).double() / d)
    angle = t.double()[:, None] * frequency
    pair = (angle.cos(), angle.sin()) if swap else (angle.sin(), angle.cos())
    return (torch.cat(pair, 1) if halves else torch.stack(pair, -1).flatten(1)).float()


@waves.suspect
def _(got, t, d, base):
    if kind(got) != "a tensor":
        return None
    right = waves.__wrapped__(t, d, base)
    if same(got, right.double(), (1e-3, 1e-4)) or same(got, right.half()):
        return "The values are right. Positions have single precision: end with .float()."
    if tuple(got.shape) == (d, len(t)) and d != len(t):
        return "Rows and columns have changed places: a row for each position."
    if tuple(got.shape) == (int(t.max()) + 1, d) and len(t) <= t.max():
        return ("This has a row for every position up to the largest. Asked for are those in t, a row for each, in "
                "their order.")
    if got.dim() == 2 and len(got) != len(t):
        return "A row for each entry of t, len(t) in all, whatever the numbers in it are."
    if not got.is_floating_point() or same(got, right.trunc()):
        return "The waves were cut to whole numbers: is the tensor that you fill one of floats?"

    def like(wrong):
        return tuple(got.shape) == tuple(wrong.shape) and same(got, wrong, (1e-2, 1e-2))

    if like(_one_wave(t, d, base, halves=True)):
        return ("All sines first, then all cosines. Here the two of a frequency stand side by side: columns 2i and 2i "
                "+ 1.")
    if like(_one_wave(t, d, base, swap=True)):
        return "Sine and cosine have changed places: the even columns, counted from 0, are sines."
    if like(_one_wave(t, d, base, divide=1.0)):
        return "The exponent is 2i/d with i = 0 … d/2 − 1: the 2 is missing."
    if base != 10_000 and like(_one_wave(t, d, 10_000)):
        return "The base is an argument of the function. Is 10,000 written in somewhere?"
    if like(_one_wave(t + 1, d, base)) or like(_one_wave(t - 1, d, base)):
        return "The positions are off by one. They are in t already: nothing is added to them or taken away."
    if like(_one_wave(torch.arange(len(t)), d, base)) or like(_one_wave(torch.arange(len(t)) + 1, d, base)):
        return "These are the first positions. Asked for are the positions in t, whatever they are."
    if like(_one_wave(t, d, base, divide=-2.0)):
        return "The clocks get faster from left to right. They get slower: t is divided by base^(2i/d)."
    if like(_one_wave(t, d, base, divide=2.0 * d)):
        return "The exponent is 2i/d: the division by d is missing."
    if like(_one_wave(t, d, base, first=1)):
        return "The counting starts too late: i is 0 in the first pair of columns, which turns fastest."
    if d > 2 and like(_one_wave(t, d, base, divide=0.0)):
        return "All pairs of columns turn equally fast. Is 2i/d a fraction, with `/` and not with `//`?"
    if same(got[:, 0::2], got[:, 1::2]):
        return "Two neighbouring columns are equal. One is a sine, the other a cosine."
    if like(torch.stack([w(t.double() / float(base) ** (j / d)) for j in range(d)
                         for w in [torch.sin if j % 2 == 0 else torch.cos]], 1).float()):
        return "The sine and the cosine of a pair have one frequency. The exponent counts pairs (2i), not columns."
    return None


# -- pad_batch -------------------------------------------------------------------------------------------------------

@question((1, 2), {"three lengths": ([[5, 0, 3], [7], [4, 4, 1, 9, 2]], 4, 8), "the padding's number is a token too":
                   ([[0, 5, 0], [6, 0]], 4, 0), "an empty document": ([[], [1, 2]], 2, 3)})
def pad_batch(documents, length, pad_id):
    """pad_batch(documents, length, pad_id): ids (n, length), whole numbers, and mask (n, length), True for tokens."""
    ids = torch.full((len(documents), length), pad_id)
    mask = torch.zeros(len(documents), length, dtype=torch.bool)
    for i, document in enumerate(documents):
        kept = document[:length]
        ids[i, :len(kept)] = torch.tensor(kept, dtype=torch.long)
        mask[i, :len(kept)] = True
    return ids, mask


@pad_batch.suspect
def _(got, documents, length, pad_id):
    if type(got) not in (list, tuple) or len(got) != 2:
        return "Return both: ids, mask."
    (ids, mask), (right_ids, right_mask) = got, pad_batch.__wrapped__(documents, length, pad_id)
    if kind(ids) != "a tensor" or kind(mask) != "a tensor":
        return "Both results are tensors: torch.tensor(…) makes one of lists that are equally long."
    if same(mask, right_ids) and same(ids, right_mask):
        return "The two have changed places: first ids, then mask."
    if same(ids, right_ids.float()):
        return "Token numbers are names, and whole: dtype=torch.long, or a table cannot be asked for them."
    if mask.dtype != torch.bool:
        return "The mask is made of True and False: dtype=torch.bool, or mask == 1."
    if tuple(ids.shape) != tuple(right_ids.shape):
        longest = max(map(len, documents), default=0)
        if tuple(ids.shape) == (len(documents), longest):
            return "This pads to the longest document. Pad to `length`, and cut what is longer."
        return "One row for each document, `length` columns."
    if same(ids, right_ids):
        if same(mask, ~right_mask):
            return "The mask says the opposite: True where a token stands, False on padding."
        if same(mask, right_ids != pad_id):
            return ("The mask was read off the numbers (ids != pad_id). But a token may have the padding's number, as "
                    "[UNK] does in lecture 01. The length of the document knows better.")
        return None
    left = torch.full_like(right_ids, pad_id)
    for row, document in zip(left, documents):
        kept = document[:length]
        row[length - len(kept):] = torch.tensor(kept, dtype=torch.long)
    if same(ids, left):
        return "The padding stands before the tokens. It goes behind them."
    tail = pad_batch.__wrapped__([document[-length:] for document in documents], length, pad_id)
    if same(ids, tail[0]):
        return "What is too long loses its beginning here. Keep the first `length` tokens."
    if pad_id and same(ids, pad_batch.__wrapped__(documents, length, 0)[0]):
        return "The padding is pad_id, an argument, not always 0."
    return None


announce("tokens", [count_pairs, merge, learn_merges, tokenize, cut, waves, pad_batch], {"who gets the credit": 6})
