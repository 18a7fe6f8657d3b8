"""From the pieces that a model reads back to words: which pieces belong together, and the word that they spell."""

import re
from collections.abc import Sequence

from coursekit.inputs import as_tokens
from coursekit.text.bpe import BYTE_OF

__all__ = ["word_groups"]

_BYTE = re.compile("<0x[0-9A-F]{2}>")


def word_groups(tokens: Sequence[str], begins: bool | None = None) -> list[tuple[str, list[int]]]:
    """[(word, [places of its pieces]), …], in order: every token belongs to exactly one word.

    WordPiece marks what continues a word (##), byte pairs and unigrams what begins one (Ġ, ▁). Where such marks of a
    beginning occur, a piece without one continues the word before it if both are letters or digits where they meet (or
    an apostrophe): "film" and "," stay apart; a mark that is a token of its own begins the word after it. Without any
    marks tokens are words already, unless `begins` says that their tokenizer marks beginnings: a text of one word has
    none. [CLS], <s> and the like stay alone. Bytes, as GPT-2's stand-ins (not beside ▁) or as <0xE9>, are read back as
    the letters that they spell; a letter may lie in several pieces.

    >>> word_groups(["[CLS]", "un", "##watch", "##able", ".", "[SEP]"])
    [('[CLS]', [0]), ('unwatchable', [1, 2, 3]), ('.', [4]), ('[SEP]', [5])]
    >>> word_groups(["Un", "watch", "able", "Ġfilm", ","])
    [('Unwatchable', [0, 1, 2]), ('film', [3]), (',', [4])]
    >>> word_groups(["Un", "watch", "able"], begins=True)
    [('Unwatchable', [0, 1, 2])]
    >>> word_groups(["▁caf", "é", "▁caf", "<0xC3>", "<0xA9>"]) == [("café", [0, 1]), ("café", [2, 3, 4])]
    True
    """
    tokens = as_tokens(tokens)
    begins = any(token[:1] in ("Ġ", "▁") for token in tokens) if begins is None else begins
    stand_ins = begins and not any("▁" in token for token in tokens)
    spelled = [_bytes(token, stand_ins) for token in tokens]
    ends = _ends(spelled) if begins else [("", "")] * len(tokens)
    groups = []
    for place, token in enumerate(tokens):
        if groups and _continues(tokens[place - 1], token, begins, ends[place - 1][1], ends[place][0]):
            groups[-1].append(place)
        else:
            groups.append([place])
    return [(_spelled([spelled[place] for place in group]), group) for group in groups]


def _bytes(token, stand_ins):
    """The bytes that a token spells."""
    if _BYTE.fullmatch(token):
        return bytes.fromhex(token[3:5])
    if stand_ins and all(letter in BYTE_OF for letter in token):
        return bytes(BYTE_OF[letter] for letter in token)
    return token.encode("utf-8", "surrogatepass")


def _ends(pieces):
    """For each token's bytes the letters in which they begin and end: (first, last); first is "" where the token before
    began that letter."""
    letters = b"".join(pieces).decode("utf-8", "surrogateescape")
    owner = [i for i, letter in enumerate(letters) for _ in letter.encode("utf-8", "surrogateescape")]    # of each byte
    ends, at = [], 0
    for piece in pieces:
        inside = [owner[at + i] for i in range(len(piece))]
        begun = at > 0 and inside and owner[at - 1] == inside[0]
        first = letters[inside[0]] if inside and not begun else ""
        ends.append((first, letters[inside[-1]] if inside else ""))
        at += len(piece)
    return ends


def _continues(before, token, begins, last, first):
    if _special(before) or _special(token):
        return False
    if token.startswith("##") and len(token) > 2:
        return True
    if not begins or token[0] in "Ġ▁Ċ":
        return False
    return not first or before in ("Ġ", "▁") or (last.isalnum() and (first.isalnum() or first in "'’"))


def _special(token):
    return not token or (len(token) > 2 and token[0] + token[-1] in ("[]", "<>") and not _BYTE.fullmatch(token))


def _spelled(pieces):
    word = (pieces[0] + b"".join(piece.removeprefix(b"##") for piece in pieces[1:])).decode("utf-8", "replace")
    return word.removeprefix("▁").strip(" ") or word
