"""Checks of assignment 01, first half: byte pairs are counted, joined, learned and used."""

from collections import Counter

from coursekit.grade.kit.messages import CheckFailed
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same
from coursekit.grade.kit.services import back
from coursekit.text import BytePairTokenizer
from coursekit.text.bpe import merge as join

__all__ = ["count_pairs", "merge", "learn_merges", "tokenize"]

BYTE_PAIRS = ("coursekit.text.merge_steps", "coursekit.text.bpe.learn_merges", "coursekit.text.bpe.merge",
              "coursekit.text.BytePairTokenizer")


# -- count_pairs -----------------------------------------------------------------------------------------------------

@question((1, 1), {"two words": ({("l", "o", "w"): 5, ("lo", "w"): 2},),
                   "a pair that overlaps itself": ({("a", "a", "a"): 1, ("b", "a"): 3},)},
          forbidden=BYTE_PAIRS, instead="a loop over the words and `zip(word, word[1:])`")
def count_pairs(words):
    """count_pairs(words): how often each pair of neighbours occurs, for words {tuple of tokens: times}."""
    return dict(_counts(words))


def _counts(words):
    return Counter(pair for word, times in words.items() for pair in _pairs(word) * times)


def _pairs(word):
    return list(zip(word, word[1:]))


@count_pairs.suspect
def _(got, words):
    def counted(pairs_of):
        return Counter(pair for word, times in words.items() for pair in pairs_of(word) * times)

    if kind(got) != "a dictionary":
        return "The result is a dictionary: the pair is the key, its count the value."
    if any(type(key) is str for key in dict.keys(got)):
        return "Keep the two tokens of a pair apart: the key is the tuple ('l', 'o'), not the text 'lo'."
    if same(got, Counter(pair for word in words for pair in _pairs(word))):
        return "Every word was counted once. Does each of its pairs count as often as the word occurs?"
    if same(got, counted(lambda word: _pairs("".join(word)))):
        return "The words were taken apart into letters. Their tokens, such as 'lo', are to stay whole."
    if same(got, counted(lambda word: sorted(set(_pairs(word))))):
        return "A pair that stands twice in one word was counted once there. Every place counts."
    if same(got, counted(lambda word: [(word[i], word[i + 1]) for i in range(0, len(word) - 1, 2)])):
        return "Every second place was left out. After the pair at places 0 and 1 comes the one at 1 and 2."
    if same(got, counted(_apart)):
        return "In a a a the pair (a, a) stands at two places that overlap. For counting, both count."
    if same(got, counted(lambda word: [tuple(sorted(pair)) for pair in _pairs(word)])):
        return "A pair has an order: (a, b) is not (b, a)."
    if any(type(key) is not tuple or len(key) != 2 for key in dict.keys(got)):
        return "A key is a tuple of two tokens."
    inside = {pair for word in words for pair in _pairs(word)}
    if any(key not in inside for key in dict.keys(got)):
        return ("There are pairs that stand next to each other in no word: were words strung together, or tokens "
                "paired that are not neighbours?")
    return None


def _apart(word):
    """The pairs of a word, without those that overlap an equal pair counted before."""
    found, last = [], {}
    for i, pair in enumerate(_pairs(word)):
        if last.get(pair) != i - 1:
            found.append(pair)
            last[pair] = i
    return found


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
          forbidden=BYTE_PAIRS, instead="a walk through the word, one token at a time", also=_is_tuple)
def merge(word, pair):
    """merge(word, pair): the word, a tuple of tokens, with every occurrence of the pair joined, from the left."""
    return tuple(join(list(word), pair))


@merge.suspect
def _(got, word, pair):
    if type(got) is str:
        return "The word came back as one text. It stays a tuple of tokens: ('lo', 'w'), not 'low'."
    if type(got) not in (list, tuple):
        return None
    if all(type(token) is str for token in got) and "".join(got) != "".join(word):
        return ("The letters of the word are no longer the same. Joining changes where a word is cut, never what it "
                "says. Are the ends of the word still there, and is the pair written once, not twice?")
    if same(got, word):
        return "The pair was not joined at all. Are two tuples compared? A list never equals a tuple, nor does a text."
    if same(got, join(list(word), pair[::-1])) and pair[0] != pair[1]:
        return "The pair (a, b) was joined where b stands before a."
    if same(got, _first_only(word, pair)):
        return "Only the first occurrence was joined. The pair may stand in several places."
    if same(got, join(list(word)[::-1], pair[::-1])[::-1]) or same(got, _from_the_right(word, pair)):
        return "From the left: in a a a it is the first two that are joined, and the third is left over."
    return ("Compare tokens, not letters: 'el' followed by 'l' is not the pair ('l', 'l'), nor is 'h' followed by "
            "'el' the pair ('he', 'l')." if any(len(token) > 1 for token in word) else None)


def _first_only(word, pair):
    places = [i for i, found in enumerate(_pairs(word)) if found == pair]
    return word[:places[0]] + (pair[0] + pair[1],) + word[places[0] + 2:] if places else word


def _from_the_right(word, pair):
    mirrored = [token[::-1] for token in reversed(word)]
    return [token[::-1] for token in reversed(join(mirrored, (pair[1][::-1], pair[0][::-1])))]


# -- learn_merges ----------------------------------------------------------------------------------------------------

FRUIT = {tuple("banana"): 3, tuple("bandana"): 2, tuple("ananas"): 1}
TIES = {tuple("low"): 1, tuple("login"): 1, tuple("wing"): 1}


@question((2, 3), {"four merges": (FRUIT, 4), "ties": (TIES, 1),
                   "two cuts of one word": ({("l", "o", "w"): 2, ("lo", "w"): 2, ("l", "o", "g"): 3}, 2),
                   "ties of longer tokens": ({("ab", "a"): 2, ("a", "z"): 2}, 1),
                   "more merges than there are pairs": (TIES, 9),
                   "no merges": (TIES, 0)},
          forbidden=BYTE_PAIRS, instead="your own count_pairs and merge")
def learn_merges(words, n_merges):
    """learn_merges(words, n_merges): the pairs that are joined first, second, …, as a list; see `_next_pair`."""


def _next_pair(words):
    """The pair to be joined next, how often it occurs, and all counts; (None, 0, {}) if no pair occurs twice."""
    counts = _counts(words)
    pair = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
    return (pair, counts[pair], counts) if counts[pair] > 1 else (None, 0, counts)


def _merged(words, pair):
    joined = Counter()
    for word, times in words.items():
        joined[tuple(join(list(word), pair))] += times
    return joined


@learn_merges.judge
def _(got, words, n_merges):
    """Replay the merges: each must be the one that is due when its turn comes."""
    if type(got) not in (list, tuple):
        return f"got {kind(got)}, expected a list of pairs"
    for k, pair in enumerate(got, 1):
        if type(pair) not in (list, tuple) or len(pair) != 2 or not all(type(token) is str for token in pair):
            return f"entry {k} is no pair: expected a tuple of two tokens"
        due, times, counts = _next_pair(words)
        if k > n_merges:
            return f"{len(got)} merges, asked for {n_merges}"
        if due is None:
            return f"merge {k} should not be there: when its turn comes, no pair occurs twice any more"
        if tuple(pair) != due:
            here = counts[tuple(pair)]
            return (f"merge {k} is {tuple(pair)}, which occurs {here} times then; {due} occurs {times} times"
                    + (" too, and comes first in the alphabet" if here == times else ""))
        words = _merged(words, due)
    if len(got) < n_merges and _next_pair(words)[0]:
        return f"{len(got)} merges, asked for {n_merges}, and there are still pairs that occur twice or more"
    return None


@learn_merges.suspect
def _(got, words, n_merges):
    if type(got) not in (list, tuple) or not all(type(pair) in (list, tuple) and len(pair) == 2 for pair in got):
        return "The result is a list of pairs, [('a', 'n'), …], in the order in which they were joined."
    got, due, once = [tuple(pair) for pair in got], [], _counts(words)
    unweighted, lossy = {word: 1 for word in words}, words
    if len(got) > 1 and same(got, sorted(once, key=lambda pair: (-once[pair], pair))[:n_merges]):
        return "All pairs come from one count, made at the start. Join the best pair in every word, then count again."
    if len(got) > n_merges:
        return "One merge too many: how often does the loop run?"
    while len(due) < len(got):
        pair, times, counts = _next_pair(words)
        if pair is None:
            return "A pair that occurs once is no better than any other that does: stop when no pair occurs twice."
        if got[len(due)] != pair:
            if counts[got[len(due)]] == times and "".join(got[len(due)]) < "".join(pair):
                return ("Pairs are compared as tuples, token by token, and not as the text that they make together: "
                        "('a', 'z') comes before ('ab', 'a').")
            if counts[got[len(due)]] == times:
                return ("Several pairs are equally frequent. Take the one that comes first in the alphabet: min(…) of "
                        "them.")
            if got[len(due)] == _next_pair(unweighted)[0]:
                return "Does every word count as often as it occurs?"
            if got[len(due)] == _next_pair(lossy)[0]:
                return ("When a merge makes two words equal, their numbers add up. Did one of the two overwrite the "
                        "other?")
            if counts[got[len(due)]] == min(counts.values()) < times:
                return ("This pair is the rarest. With min(…), the most frequent is the one whose *negative* count is "
                        "smallest.")
            if not due:
                return "The first merge is not the most frequent pair of the corpus. By what is the maximum taken?"
            return "Was every word changed after the merge before, and every pair counted anew?"
        due.append(pair)
        words, unweighted = _merged(words, pair), _merged(unweighted, pair)
        lossy = {tuple(join(list(word), pair)): times for word, times in lossy.items()}
    return "Merges are missing at the end: go on until n_merges, or until no pair occurs twice."


# -- tokenize --------------------------------------------------------------------------------------------------------

NO_TUPLE = "Or is the word a list or a string where `merge` compares it with a tuple?"
ORDER = [("i", "n"), ("h", "e"), ("in", "g"), ("t", "he"), ("t", "h"), ("th", "in")]


@question((2, 2), {"a word that was not trained on": ("nothing", ORDER), "nothing to join": ("soup", ORDER),
                   "a long piece loses to an early one": ("hers", [("e", "r"), ("h", "e"), ("he", "r")]),
                   "a pair that occurs twice": ("thethe", ORDER)},
          forbidden=BYTE_PAIRS, instead="your own merge")
def tokenize(word, merges):
    """tokenize(word, merges): the word, a text, cut into pieces by merges in the order in which they were learned."""
    return BytePairTokenizer(merges).tokenize(word)


@tokenize.suspect
def _(got, word, merges):
    if type(got) is str:
        return "The result is a list of pieces, ['th', 'ing'], not one text."
    if type(got) not in (list, tuple) or not all(type(piece) is str for piece in got):
        return None
    if "".join(got) != word:
        return "The pieces, written one after another, are no longer the word. Start from its letters: list(word)."
    if same(got, list(word)):
        return f"Nothing was joined. Does the result of merge(…) get a name, or is it dropped? {NO_TUPLE}"
    if same(got, _once(word, merges)):
        return f"After the first merge that fits, the others were not tried. Go through all of them. {NO_TUPLE}"
    if any(same(got, pieces) for pieces in _in_text(word, merges)):
        return ("Replacing in a text looks at letters, and joins where only the end of a token meets the start of "
                "another: 'ot h' holds 't h'. Compare whole tokens: merge does.")
    if same(got, _reversed(word, merges[:0:-1])):
        return f"The first merge was not applied. {NO_TUPLE}"
    if same(got, _reversed(word, merges)):
        return "The merges were tried from the last to the first. They apply in the order in which they were learned."
    vocabulary = {*word, *(a + b for a, b in merges)}
    if same(got, _longest(word, vocabulary)):
        return ("This takes the longest piece each time, as WordPiece does. Byte pairs know no longest: they repeat "
                "the merges in the order in which they were learned.")
    if same(got, _first_only_each(word, merges)):
        return "Of a pair that occurs twice in the word only the first was joined: is every occurrence joined?"
    return "In which order were the merges tried? It must be the order of the list, each on the whole word."


def _first_only_each(word, merges):
    parts = tuple(word)
    for pair in merges:
        parts = _first_only(parts, tuple(pair))
    return parts


def _in_text(word, merges):
    """Pieces by str.replace: of letters with spaces between them, and of the word, with spaces put round each merge."""
    spaced, whole = " ".join(word), word
    for a, b in merges:
        spaced, whole = spaced.replace(f"{a} {b}", a + b), whole.replace(a + b, f" {a + b} ")
    return spaced.split(), whole.split()


def _once(word, merges):
    for pair in merges:
        if (joined := join(list(word), pair)) != list(word):
            return joined
    return list(word)


def _reversed(word, merges):
    parts = list(word)
    for pair in reversed(merges):
        parts = join(parts, pair)
    return parts


def _longest(word, vocabulary):
    pieces = []
    while word:
        pieces.append(max((word[:end] for end in range(1, len(word) + 1) if word[:end] in vocabulary), key=len))
        word = word[len(pieces[-1]):]
    return pieces
