"""Checks of assignment 01 on byte pairs: counted, joined, learned, used."""

import functools
import itertools
from collections import Counter

from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.question import question
from coursegrade.kit.same import difference, kind
from coursegrade.kit.services import back
from coursekit.text.bpe import merge as join

__all__ = ["count_pairs", "merge", "learn_merges", "tokenize"]

BYTE_PAIRS = ("coursekit.text.merge_steps", "coursekit.text.bpe.learn_merges", "coursekit.text.bpe.merge",
              "coursekit.text.BytePairTokenizer")


def _pairs(word):
    return list(itertools.pairwise(word))


# -- count_pairs -----------------------------------------------------------------------------------------------------

@question((1, 1), {"two words": ({("l", "o", "w"): 5, ("lo", "w"): 2},),
                   "two words that share a pair": ({("l", "o", "w"): 5, ("l", "o"): 2},),
                   "a pair twice in a word": ({("a", "n", "a", "n"): 2},),
                   "a pair that overlaps itself": ({("a", "a", "a"): 1, ("b", "a"): 3},)},
          forbidden=BYTE_PAIRS, instead="a loop over the words and `zip(word, word[1:])`",
          hints={"IndexError": "A place was asked for that the word does not have. Its last token has no neighbour on "
                               "the right: how many pairs has a word of n tokens?"},
          otherwise="The result is a dictionary: the pair, a tuple of two neighbours, is the key, and its count in the "
                    "whole corpus the value.")
def count_pairs(words, *, pairs=_pairs, weighted=True):
    """count_pairs(words): how often each pair of neighbours occurs, for words {tuple of tokens: times}."""
    counts = Counter()
    for word, times in words.items():
        for pair in pairs(word):
            counts[pair] += times if weighted else 1
    return dict(counts)


def _apart(word):
    """The pairs of a word, without those that overlap an equal pair counted before."""
    found, last = [], {}
    for i, pair in enumerate(_pairs(word)):
        if last.get(pair) != i - 1:
            found.append(pair)
            last[pair] = i
    return found


def _strung_together(words):
    tokens = [token for word, times in words.items() for token in word * times]
    return dict(Counter(_pairs(tokens)))


count_pairs.mistakes(
    ("Every word was counted once. Does each of its pairs count as often as the word occurs?", dict(weighted=False)),
    ("Keep the two tokens of a pair apart: the key is the tuple ('l', 'o'), not the text 'lo'.",
     dict(pairs=lambda word: map("".join, _pairs(word)))),
    ("The words were taken apart into letters. Their tokens, such as 'lo', are to stay whole.",
     dict(pairs=lambda word: _pairs("".join(word)))),
    ("Two words share a pair here, and the last one's number has overwritten the other's. What is already in the "
     "dictionary is added to.",
     lambda words: {pair: times * _pairs(word).count(pair) for word, times in words.items() for pair in _pairs(word)}),
    ("In a a a the pair (a, a) stands at two places that overlap. For counting, both count.", dict(pairs=_apart)),
    ("A pair that stands twice in one word was counted once there. Every place counts.",
     dict(pairs=lambda word: sorted(set(_pairs(word))))),
    ("Every second place was left out. After the pair at places 0 and 1 comes the one at 1 and 2.",
     dict(pairs=lambda word: _pairs(word)[::2])),
    ("A pair has an order: (a, b) is not (b, a).",
     dict(pairs=lambda word: [tuple(sorted(pair)) for pair in _pairs(word)])),
    ("Tokens were paired that are not neighbours.", dict(pairs=lambda word: itertools.combinations(word, 2))),
    ("There are pairs here that stand next to each other in no word: were words strung together?", _strung_together))


# -- merge -----------------------------------------------------------------------------------------------------------

def _is_tuple(answer, arguments):
    """Is the word a tuple again, as later questions need it?"""
    if kind(back(answer, arguments, [])[0]) != "a tuple":
        raise CheckFailed("The right tokens, but in a list: return tuple(…). A list slice never equals a tuple, and a "
                          "list cannot be a key in question 3.")


@question((1, 1), {"twice in a word": (("b", "a", "n", "a", "n", "a"), ("a", "n")),
                   "equal letters": (("a", "a", "a"), ("a", "a")),
                   "letters that meet across tokens": (("h", "el", "l", "o"), ("l", "l")),
                   "the same letters, cut elsewhere": (("h", "el", "p"), ("he", "l"))},
          forbidden=BYTE_PAIRS, instead="a walk through the word, one token at a time", also=_is_tuple,
          hints={"IndexError": "A place was asked for that the word does not have. Behind its last token stands none: "
                               "is that asked before `i + 1` is looked up? (A slice just ends there.)"})
def merge(word, pair):
    """merge(word, pair): the word, a tuple of tokens, with every occurrence of the pair joined, from the left."""
    return tuple(join(list(word), pair))


def _first_only(word, pair):
    places = [i for i, found in enumerate(_pairs(word)) if found == pair]
    return word[:places[0]] + ("".join(pair),) + word[places[0] + 2:] if places else word


def _mirrored(word, pair):
    return tuple(token[::-1] for token in reversed(join([token[::-1] for token in reversed(word)],
                                                        (pair[1][::-1], pair[0][::-1]))))


def _by_letters(word, pair):
    marked = "".join(word).replace("".join(pair), "\0")
    return tuple("".join(pair) if letter == "\0" else letter for letter in marked)


def _by_spaces(word, pair):
    return tuple(" ".join(word).replace(" ".join(pair), "".join(pair)).split())


def _by_texts(word, pair):
    return tuple(join([*word], next((two for two in _pairs(word) if "".join(two) == "".join(pair)), pair)))


TOKENS = ("Compare tokens, not letters: 'el' followed by 'l' is not the pair ('l', 'l'), nor is 'h' followed by 'el' "
          "the pair ('he', 'l'). One text, with spaces or without (join, replace, split), cannot tell.")
merge.mistakes(
    ("The pair was not joined at all. Are two tuples compared? A list never equals a tuple, nor does a text.",
     lambda word, pair: word),
    ("Only the first occurrence was joined. The pair may stand in several places.", _first_only),
    ("The pair (a, b) was joined where b stands before a.",
     lambda word, pair: tuple(join(list(word), pair[::-1]))),
    ("From the left: in a a a it is the first two that are joined, and the third is left over.", _mirrored),
    *((TOKENS, done) for done in (_by_letters, _by_texts, _by_spaces)),
    (TOKENS, lambda word, pair: tuple("".join(word).replace("".join(pair), f" {''.join(pair)} ").split())))


@merge.suspect
def _(got, word, pair):
    if type(got) is str:
        return "The word came back as one text. It stays a tuple of tokens: ('lo', 'w'), not 'low'."
    if "".join(got) != "".join(word):
        return ("The letters of the word are no longer the same. Joining changes where a word is cut, never what it "
                "says. Are the ends of the word still there, and is the pair written once, not twice?")
    return None


# -- learn_merges ----------------------------------------------------------------------------------------------------

FRUIT = {tuple("banana"): 3, tuple("bandana"): 2, tuple("ananas"): 1}
TIES = {tuple("low"): 1, tuple("login"): 1, tuple("wing"): 1}


def _add_up(words, pair):
    joined = Counter()
    for word, times in words.items():
        joined[merge.reference(word, pair)] += times
    return joined


@question((2, 3), {"four merges": (FRUIT, 4), "ties": (TIES, 1),
                   "two cuts of one word": ({("l", "o", "w"): 2, ("lo", "w"): 2, ("l", "o", "g"): 3}, 2),
                   "ties of longer tokens": ({("a", "z"): 2, ("ab", "a"): 2}, 1),
                   "more merges than there are pairs": (TIES, 9), "a pair that occurs once": ({("a", "b"): 3}, 5),
                   "no merges": (TIES, 0)},
          forbidden=BYTE_PAIRS, instead="your own count_pairs and merge", lend=("count_pairs", "merge"),
          hints={"arg.* empty": "`min` and `max` want at least one entry, and here no pair is left: ask `if "
                                 "not counts` first."})
def learn_merges(words, n_merges, *, rank=lambda counts, pair: (-counts[pair], pair), join=_add_up, least=2):
    """learn_merges(words, n_merges): the pairs that are joined first, second, …, as a list."""
    merges = []
    for _ in range(n_merges):
        counts = count_pairs.reference(words)
        if not counts or max(counts.values()) < least:
            break
        merges.append(min(counts, key=lambda pair, counts=counts: rank(counts, pair)))
        words = join(words, merges[-1])
    return merges


@learn_merges.judge
def _(got, words, n_merges):
    """Replay the merges: each must be the one that is due when its turn comes."""
    right = learn_merges.reference(words, n_merges)
    if type(got) not in (list, tuple):
        return difference(got, right)
    for k, pair in enumerate(got, 1):
        if type(pair) not in (list, tuple) or len(pair) != 2 or not all(type(token) is str for token in pair):
            return f"entry {k} is no pair: expected a tuple of two tokens"
        if k > n_merges:
            return f"{len(got)} merges, asked for {n_merges}"
        if k > len(right):
            return f"merge {k} should not be there: when its turn comes, no pair occurs twice any more"
        if tuple(pair) != right[k - 1]:
            counts = count_pairs.reference(functools.reduce(_add_up, right[:k - 1], words))
            here, due = counts.get(tuple(pair), 0), counts[right[k - 1]]
            return (f"merge {k} is {tuple(pair)}, which occurs {here} times then; {right[k - 1]} occurs {due} times"
                    + (" too, and comes first in the alphabet" if here == due else ""))
    return (f"{len(got)} merges, asked for {n_merges}, and there are still pairs that occur twice or more"
            if len(got) < len(right) else None)


def _counted_once(words, n_merges):
    counts = count_pairs.reference(words)
    frequent = [pair for pair in counts if counts[pair] > 1]
    return sorted(frequent, key=lambda pair: (-counts[pair], pair))[:n_merges]


ALPHABET = "Several pairs are equally frequent. Take the one that comes first in the alphabet: min(…) of them."
learn_merges.mistakes(
    ("Was every word changed after the merge before, and every pair counted anew?",
     dict(join=lambda words, pair: words)),
    ("All pairs come from one count, made at the start. Join the best pair in every word, then count again.",
     _counted_once),
    (ALPHABET, dict(rank=lambda counts, pair: -counts[pair])),
    (ALPHABET, lambda words, n_merges: learn_merges.reference(words, n_merges, rank=lambda counts, pair: (
        -counts[pair], tuple([-ord(letter) for letter in token] for token in pair)))),
    ("Pairs are compared as tuples, token by token, and not as the text that they make together: ('a', 'z') comes "
     "before ('ab', 'a').", dict(rank=lambda counts, pair: (-counts[pair], "".join(pair), pair))),
    ("A pair that occurs once is no better than any other that does: stop when no pair occurs twice.", dict(least=1)),
    ("Does every word count as often as it occurs?",
     lambda words, n_merges: learn_merges.reference(dict.fromkeys(words, 1), n_merges)),
    ("When a merge makes two words equal, their numbers add up. Did one of the two overwrite the other?",
     dict(join=lambda words, pair: {merge.reference(word, pair): times for word, times in words.items()})),
    ("This pair is the rarest. With min(…), the most frequent is the one whose *negative* count is smallest.",
     dict(rank=lambda counts, pair: (counts[pair], pair))),
    ("One merge too many: how often does the loop run?",
     lambda words, n_merges: learn_merges.reference(words, n_merges + 1)),
    ("Merges are missing at the end: go on until n_merges, or until no pair occurs twice.",
     lambda words, n_merges: learn_merges.reference(words, n_merges - 1)))


@learn_merges.suspect
def _(got, words, n_merges):
    if not all(type(pair) in (list, tuple) and len(pair) == 2 for pair in got):
        return "The result is a list of pairs, [('a', 'n'), …], in the order in which they were joined."
    return None


# -- tokenize --------------------------------------------------------------------------------------------------------

ORDER = [("i", "n"), ("h", "e"), ("in", "g"), ("t", "he"), ("t", "h"), ("th", "in")]
MANY = [*ORDER, *((a, b) for a in "xyzq" for b in "xyzq"), ("s", "t")]       # more merges than letters


@question((1, 2), {"a word that was not trained on": ("nothing", ORDER), "nothing to join": ("soup", ORDER),
                   "a long piece loses to an early one": ("hers", [("e", "r"), ("h", "e"), ("he", "r")]),
                   "a pair that occurs twice": ("thethe", ORDER), "a short word, many merges": ("hest", MANY)},
          forbidden=BYTE_PAIRS, instead="your own merge", lend=("merge",),
          otherwise="In which order were the merges tried? It must be the order of the list, each on the whole word.",
          promises={"Of the two halves of a merge, each is a letter or was made by an earlier merge":
                        lambda word, merges: all(len(half) == 1 or half in {a + b for a, b in merges[:i]}
                                                 for i, halves in enumerate(merges) for half in halves)})
def tokenize(word, merges, *, join=lambda word, pair: merge.reference(word, pair), most=None):
    """tokenize(word, merges): the word, a text, cut into pieces by merges in the order in which they were learned."""
    return list(functools.reduce(join, merges[:most], tuple(word)))


def _one_merge(word, merges):
    fitting = [pair for pair in merges if pair in _pairs(tuple(word))]
    return list(merge.reference(tuple(word), fitting[0])) if fitting else list(word)


def _longest(word, merges):
    vocabulary, pieces = {*word, *map("".join, merges)}, []
    while word:
        pieces.append(max((word[:end] for end in range(1, len(word) + 1) if word[:end] in vocabulary), key=len))
        word = word[len(pieces[-1]):]
    return pieces


TUPLE = "Or is the word a list or a string where `merge` compares it with a tuple? Start from tuple(word)."
tokenize.mistakes(
    (f"Nothing was joined. Does the result of merge(…) get a name, or is it dropped? {TUPLE}",
     lambda word, merges: list(word)),
    ("Not all merges were tried. Their number has nothing to do with the length of the word.",
     lambda word, merges: tokenize.reference(word, merges, most=len(word))),
    ("After the first merge that fits, the others were not tried. Go through all of them.", _one_merge),
    (TOKENS, dict(join=_by_spaces)),
    (TOKENS, lambda word, merges: functools.reduce(
        lambda text, pair: text.replace("".join(pair), f" {''.join(pair)} "), merges, word).split()),
    (f"The first merge was not applied. {TUPLE}", lambda word, merges: tokenize.reference(word, merges[1:])),
    ("The merges were tried from the last to the first. They apply in the order in which they were learned.",
     lambda word, merges: tokenize.reference(word, merges[::-1])),
    ("This takes the longest piece each time, as WordPiece does. Byte pairs know no longest: they repeat the merges in "
     "the order in which they were learned.", _longest),
    ("Of a pair that occurs twice in the word only the first was joined: is every occurrence joined?",
     dict(join=_first_only)))


@tokenize.suspect
def _(got, word, merges):
    if type(got) is str:
        return "The result is a list of pieces, ['th', 'ing'], not one text."
    if "".join(got) != word:
        return "The pieces, written one after another, are no longer the word. Start from its letters: tuple(word)."
    return None
