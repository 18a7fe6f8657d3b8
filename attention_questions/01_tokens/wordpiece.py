"""Checks of assignment 01 on WordPiece: the longest piece each time, and a word that shows what that costs."""

from attention_questions.prelude import Question, kind

from . import solution

# -- cut -------------------------------------------------------------------------------------------------------------

PIECES = {"un", "ed", "afford", "able", "##afford", "##able", "##ord", "bor", "##ed", "##e", "##d", "lo", "##lo", "##r"}

cut = Question(solution.cut, (1, 1), {
    "one piece": ("able", PIECES), "the longest, not the first": ("bored", PIECES),
    "three pieces": ("unaffordable", PIECES), "the same letters twice": ("lolo", PIECES),
    "a piece of one letter": ("lor", PIECES), "a word of one letter": ("a", {"a"}), "nothing fits": ("unfair", PIECES),
    "a beginning inside a word": ("ableun", PIECES), "greedy does not go back": ("abling", {"abl", "ab", "##ling"})},
    forbidden=("coursekit.text.WordPieceTokenizer",), instead="two loops, over the start and the end of a piece",
    hints={"endless": "What happens to `start` when no end fits?"},
    otherwise="At each place: is the longest piece taken that is in the vocabulary, and does the next one begin where "
              "it ends?",
    why="The two places are what the loops run over, so the triple costs nothing. The `else:` of a `for` runs when no "
        "end has fitted.")


def _going_back(word, vocab, start=0):
    """The first cut that covers all letters, with longer pieces tried first: not what WordPiece does."""
    if start == len(word):
        return []
    for end in range(len(word), start, -1):
        piece = "##" * (start > 0) + word[start:end]
        rest = _going_back(word, vocab, end) if piece in vocab else None
        if rest is not None and (rest or end == len(word)):
            return [(piece, start, end), *rest]
    return None if start else [("[UNK]", 0, len(word))]


ENDS, MARK, UNKNOWN = "range(len(word), start, -1)", '("##" if start else "")', '[("[UNK]", 0, len(word))]'
MARKED = "A piece that continues a word is written, and looked up, with ## before it; the first is not."
cut.mistakes(
    ("These are the pieces alone. Asked for are triples: (piece, start, end) with word[start:end] its letters.",
     "(piece, start, end) → piece", '("[UNK]", 0, len(word)) → "[UNK]"'),
    ("The pieces are right. The third entry is the place where a piece ends, not its length.",
     "(piece, start, end) → (piece, start, end - start)"),
    ("The pieces are right. `end` is the place behind the last letter, so that word[start:end] works.",
     "(piece, start, end) → (piece, start, end - 1)"),
    ("The pieces are right, their places are not. Is the ## counted, which is not in the word?",
     "(piece, start, end) → (piece, at := sum(len(before) for before, *_ in pieces), at + len(piece))"),
    ("The pieces are right. Their places are not where `find` finds the letters first: the same piece may come again.",
     "(piece, start, end) → (piece, at := word.find(word[start:end]), at + end - start)"),
    (MARKED, "(piece, start, end) → (word[start:end], start, end)"),
    ("Pieces of one letter are never tried: the last end of the loop is start + 1, and `range` leaves its own end out.",
     f"{ENDS} → range(len(word), start + 1, -1)"),
    ("The ## are no letters: a piece that begins with them ends two places before start + len(piece).",
     "start = end → start += len(piece)"),
    ("[UNK] comes too early here: it is due when *every* end, down to start + 1, was tried in vain, not at the first "
     "that does not fit. (An `else:` of the `if` runs at each of those, one of the `for` behind the last.)",
     f"{ENDS} → [len(word)]"),
    ("The vocabulary has the whole word, and it was not found. Is an end of len(word) tried, too, and does what was "
     "found get returned?", f"{ENDS} → range(len(word) - 1, start, -1)"),
    ("Greedy does not go back: once the longest piece is taken it stays, and if then nothing fits, the word is "
     "unknown.", _going_back),
    ("Take the longest piece that fits: try the ends from the last letter downwards, not upwards.",
     f"{ENDS} → range(start + 1, len(word) + 1)"),
    ("Inside a word only pieces with ## may be used, and a beginning is none of them.",
     "if piece in vocab → if piece in vocab or word[start:end] in vocab"),
    *((MARKED, f"{MARK} → {mark}") for mark in ('""', '"##"')),
    *(("If at some place no piece fits, the whole word is unknown: one [UNK], and no other pieces.", done) for done in (
        f'return {UNKNOWN} → pieces.append(("[UNK]", start, start + 1))\n            start += 1',
        f'{UNKNOWN} → [*pieces, ("[UNK]", start, len(word))]')),
    ("The pieces are right. An unknown word is one piece that covers it: from 0 to len(word).",
     f'{UNKNOWN} → [("[UNK]", 0, 0)]'))


@cut.suspect
def _(got, word, vocab):
    due = solution.cut(word, vocab)
    if [piece for piece, *_ in got] == [piece for piece, *_ in due]:
        yield ("The pieces are right, their places are not. Places are counted in the whole word: where a piece ends, "
               "the next one starts, and word[start:end] are its letters.")
    if due[0][0] != "[UNK]" and "".join(piece.removeprefix("##") for piece, *_ in got) != word:
        yield ("The pieces, without ##, are no longer the word: letters were left out, or taken twice. Where does the "
               "next piece start, and does the loop run to the end of the word?")


# -- greedy_loses ----------------------------------------------------------------------------------------------------

def _fewest(word, vocab):
    """The least number of pieces that cover a word; None if none do. Dynamic programming over the ends."""
    best = [0] + [None] * len(word)
    for end in range(1, len(word) + 1):
        counts = [best[start] + 1 for start in range(end) if best[start] is not None
                  and "##" * (start > 0) + word[start:end] in vocab]
        best[end] = min(counts, default=None)
    return best[-1]


greedy_loses = Question(solution.greedy_loses, (1, 0), {"your own word": ()},
    why="*re* and *##reading* would do; the bait *rer* takes one letter more, and what is left comes in crumbs.")


@greedy_loses.judge
def _(got):
    if type(got) not in (list, tuple) or len(got) != 2 or type(got[0]) is not str:
        yield "Return two things: the word, a text, and the vocabulary, a set of pieces."
    word, vocab = got
    if kind(vocab) not in ("a set", "a list", "a tuple") or not all(type(piece) is str for piece in vocab):
        yield "The vocabulary is a set of texts, such as {\"un\", \"##able\"}."
    vocab = set(vocab)
    if len(vocab) > 6 or len(word) > 12:
        yield f"{len(vocab)} pieces and {len(word)} letters; at most 6 and 12 are allowed."
    pieces, fewest = solution.cut(word, vocab), _fewest(word, vocab)
    if not word or pieces[0][0] == "[UNK]":
        yield "Greedy must get through to the end of the word: here it finds no piece at some place."
    if len(pieces) - fewest < 2:
        yield (f"Greedy takes {len(pieces)} pieces, and {fewest} would do. Wanted is a word for which it takes 2 more "
               "than needed.", "What makes greedy lose? A first piece that is one letter longer than it should be, so "
               "that a long piece behind it does not fit any more.")
    print(f"  greedy takes {len(pieces)} pieces where {fewest} would do: {len(pieces) - fewest} too many")
