"""Checks of assignment 01 on byte pairs: counted, joined, learned, used."""

from attention_questions.prelude import CheckFailed, Question, difference, functools, kind, services

from . import solution

BYTE_PAIRS = ("coursekit.text.merge_steps", "coursekit.text.bpe.learn_merges", "coursekit.text.bpe.merge",
              "coursekit.text.BytePairTokenizer")

# -- count_pairs -----------------------------------------------------------------------------------------------------

count_pairs = Question(solution.count_pairs, (1, 1), {
    "two words": ({("l", "o", "w"): 5, ("lo", "w"): 2},),
    "two words that share a pair": ({("l", "o", "w"): 5, ("l", "o"): 2},),
    "a pair twice in a word": ({("a", "n", "a", "n"): 2},),
    "a pair that overlaps itself": ({("a", "a", "a"): 1, ("b", "a"): 3},)},
    forbidden=BYTE_PAIRS, instead="a loop over the words and `zip(word, word[1:])`",
    hints={"IndexError": "A place was asked for that the word does not have. Its last token has no neighbour on the "
                         "right: how many pairs has a word of n tokens?"},
    otherwise="The result is a dictionary: the pair, a tuple of two neighbours, is the key, and its count in the whole "
              "corpus the value.")
PAIRS = "zip(word, word[1:])"
count_pairs.mistakes(
    ("Every word was counted once. Does each of its pairs count as often as the word occurs?", "+ times → + 1"),
    ("Keep the two tokens of a pair apart: the key is the tuple ('l', 'o'), not the text 'lo'.",
     f'{PAIRS} → map("".join, {PAIRS})'),
    ("The words were taken apart into letters. Their tokens, such as 'lo', are to stay whole.",
     f'{PAIRS} → zip("".join(word), "".join(word)[1:])'),
    ("Two words share a pair here, and the last one's number has overwritten the other's. What is already in the "
     "dictionary is added to.", f"counts.get(pair, 0) + times → times * [*{PAIRS}].count(pair)"),
    ("In a a a the pair (a, a) stands at two places that overlap. For counting, both count.",   # as often as it merges
     f"in {PAIRS} → in set({PAIRS})", "+ times → + times * (len(word) - len(merge(word, pair)))"),
    ("A pair that stands twice in one word was counted once there. Every place counts.", f"{PAIRS} → set({PAIRS})"),
    ("Every second place was left out. After the pair at places 0 and 1 comes the one at 1 and 2.",
     f"{PAIRS} → zip(word[::2], word[1::2])"),
    ("A pair has an order: (a, b) is not (b, a).", f"{PAIRS} → map(tuple, map(sorted, {PAIRS}))"),
    ("Tokens were paired that are not neighbours.",
     f"{PAIRS} → ((a, b) for i, a in enumerate(word) for b in word[i + 1:])"),
    ("There are pairs here that stand next to each other in no word: were words strung together?",
     lambda words: solution.count_pairs({sum((word * times for word, times in words.items()), ()): 1})))


# -- merge -----------------------------------------------------------------------------------------------------------

def _is_tuple(answer, arguments):
    """Is the word a tuple again, as later questions need it?"""
    if kind(services.back(answer, arguments, [])[0]) != "a tuple":
        raise CheckFailed("The right tokens, but in a list: return tuple(…). A list slice never equals a tuple, and a "
                          "list cannot be a key in question 3.")


merge = Question(solution.merge, (1, 1), {
    "twice in a word": (("b", "a", "n", "a", "n", "a"), ("a", "n")), "equal letters": (("a", "a", "a"), ("a", "a")),
    "letters that meet across tokens": (("h", "el", "l", "o"), ("l", "l")),
    "the same letters, cut elsewhere": (("h", "el", "p"), ("he", "l"))},
    forbidden=BYTE_PAIRS, instead="a walk through the word, one token at a time", also=_is_tuple,
    hints={"IndexError": "A place was asked for that the word does not have. Behind its last token stands none: is "
                         "that asked before `i + 1` is looked up? (A slice just ends there.)"})


def _first_only(word, pair):
    i = next((i for i in range(len(word)) if word[i:i + 2] == pair), 0)
    return solution.merge(word[:i + 2], pair) + word[i + 2:]


def _by_letters(word, pair):
    marked = "".join(word).replace("".join(pair), "\0")
    return tuple("".join(pair) if letter == "\0" else letter for letter in marked)


def _by_spaces(word, pair):
    return tuple(" ".join(word).replace(" ".join(pair), "".join(pair)).split())


def _in_text(text, pair):
    return text.replace("".join(pair), f" {''.join(pair)} ")


TOKENS = ("Compare tokens, not letters: 'el' followed by 'l' is not the pair ('l', 'l'), nor is 'h' followed by 'el' "
          "the pair ('he', 'l'). One text, with spaces or without (join, replace, split), cannot tell.")
merge.mistakes(
    ("The pair was not joined at all. Are two tuples compared? A list never equals a tuple, nor does a text.",
     "== pair → == list(pair)"),
    ("Only the first occurrence was joined. The pair may stand in several places.", _first_only),
    ("The pair (a, b) was joined where b stands before a.", "== pair → == pair[::-1]"),
    ("From the left: in a a a it is the first two that are joined, and the third is left over.",
     "[], 0 → [], len(word)", "i < len(word) → i > 0", "word[i:i + 2] → word[max(i - 2, 0):i]",
     'append("".join(word[i:i + step])) → insert(0, "".join(word[i - step:i]))', "i += → i -="),
    *((TOKENS, done) for done in (
        _by_letters, 'word[i:i + 2] == pair → "".join(word[i:i + 2]) == "".join(pair)', _by_spaces,
        lambda word, pair: tuple(_in_text("".join(word), pair).split()))))


@merge.suspect
def _(got, word, pair):
    if type(got) is str:
        yield "The word came back as one text. It stays a tuple of tokens: ('lo', 'w'), not 'low'."
    if "".join(got) != "".join(word):
        yield ("The letters of the word are no longer the same. Joining changes where a word is cut, never what it "
               "says. Are the ends of the word still there, and is the pair written once, not twice?")


# -- learn_merges ----------------------------------------------------------------------------------------------------

TIES = {tuple("low"): 1, tuple("login"): 1, tuple("wing"): 1}

learn_merges = Question(solution.learn_merges, (2, 3), {
    "four merges": ({tuple("banana"): 3, tuple("bandana"): 2, tuple("ananas"): 1}, 4), "ties": (TIES, 1),
    "two cuts of one word": ({("l", "o", "w"): 2, ("lo", "w"): 2, ("l", "o", "g"): 3}, 2),
    "ties of longer tokens": ({("a", "z"): 2, ("ab", "a"): 2}, 1), "more merges than there are pairs": (TIES, 9),
    "a pair that occurs once": ({("a", "b"): 3}, 5), "no merges": (TIES, 0)},
    forbidden=BYTE_PAIRS, instead="your own count_pairs and merge", lend=("count_pairs", "merge"),
    hints={"arg.* empty": "`min` and `max` want at least one entry, and here no pair is left: ask `if not counts` "
                          "first."})


@learn_merges.judge
def _(got, words, n_merges):
    """Replay the merges: each must be the one that is due when its turn comes."""
    right = solution.learn_merges(words, n_merges)
    form = "The result is a list of pairs, [('a', 'n'), …], in the order in which they were joined."
    if type(got) not in (list, tuple):
        yield difference(got, right), form
    for k, pair in enumerate(got, 1):
        if type(pair) not in (list, tuple) or len(pair) != 2 or not all(type(token) is str for token in pair):
            yield f"entry {k} is no pair: expected a tuple of two tokens", form
        if k > n_merges:
            yield f"{len(got)} merges, asked for {n_merges}"
        if k > len(right):
            yield f"merge {k} should not be there: when its turn comes, no pair occurs twice any more"
        if tuple(pair) != right[k - 1]:
            here, due = (_times(one, words, right[:k - 1]) for one in (tuple(pair), right[k - 1]))
            yield (f"merge {k} is {tuple(pair)}, which occurs {here} times then; {right[k - 1]} occurs {due} times"
                   + (" too, and comes first in the alphabet" if here == due else ""))
    if len(got) < len(right):
        yield f"{len(got)} merges, asked for {n_merges}, and there are still pairs that occur twice or more"


def _times(pair, words, merges):
    """How often a pair occurs in the words after these merges."""
    return sum(solution.count_pairs({functools.reduce(solution.merge, merges, word): times}).get(pair, 0)
               for word, times in words.items())


ALPHABET = "Several pairs are equally frequent. Take the one that comes first in the alphabet: min(…) of them."
learn_merges.mistakes(
    ("Was every word changed after the merge before, and every pair counted anew?", "words = joined → "),
    ("All pairs come from one count, made at the start. Join the best pair in every word, then count again.",
     "counts = count_pairs(words)\n        if → if", "merges = [] → merges, counts = [], count_pairs(words)",
     "append(best) → append(best)\n        del counts[best]"),
    (ALPHABET, "(-counts[pair], pair) → -counts[pair]"),
    (ALPHABET, "min(counts, → max(counts,", "-counts[pair] → counts[pair]"),
    ("Pairs are compared as tuples, token by token, and not as the text that they make together: ('a', 'z') comes "
     "before ('ab', 'a').", '[pair], pair) → [pair], "".join(pair))'),
    ("A pair that occurs once is no better than any other that does: stop when no pair occurs twice.", "< 2 → < 1"),
    ("Does every word count as often as it occurs?", "merges = [] → merges, words = [], dict.fromkeys(words, 1)"),
    ("When a merge makes two words equal, their numbers add up. Did one of the two overwrite the other?",
     "joined.get(shorter, 0) + times → times"),
    ("This pair is the rarest. With min(…), the most frequent is the one whose *negative* count is smallest.",
     "-counts[pair] → counts[pair]"),
    ("One merge too many: how often does the loop run?", "range(n_merges) → range(n_merges + 1)"),
    ("Merges are missing at the end: go on until n_merges, or until no pair occurs twice.",
     "range(n_merges) → range(n_merges - 1)"))


# -- tokenize --------------------------------------------------------------------------------------------------------

ORDER = [("i", "n"), ("h", "e"), ("in", "g"), ("t", "he"), ("t", "h"), ("th", "in")]
MANY = [*ORDER, *((a, b) for a in "xyzq" for b in "xyzq"), ("s", "t")]       # more merges than letters

tokenize = Question(solution.tokenize, (1, 2), {
    "a word that was not trained on": ("nothing", ORDER), "nothing to join": ("soup", ORDER),
    "a long piece loses to an early one": ("hers", [("e", "r"), ("h", "e"), ("he", "r")]),
    "a pair that occurs twice": ("thethe", ORDER), "a short word, many merges": ("hest", MANY)},
    forbidden=BYTE_PAIRS, instead="your own merge", lend=("merge",),
    otherwise="In which order were the merges tried? It must be the order of the list, each on the whole word.",
    promises={"Of the two halves of a merge, each is a letter or was made by an earlier merge":
                  lambda word, merges: all(len(half) == 1 or half in {a + b for a, b in merges[:i]}
                                           for i, halves in enumerate(merges) for half in halves)})


def _longest(word, merges):
    """WordPiece's way, with all that the merges make as its vocabulary."""
    vocab = {mark + piece for piece in [*word, *map("".join, merges)] for mark in ("", "##")}
    return [word[start:end] for _, start, end in solution.cut(word, vocab)]


TUPLE = "Or is the word a list or a string where `merge` compares it with a tuple? Start from tuple(word)."
tokenize.mistakes(
    (f"Nothing was joined. Does the result of merge(…) get a name, or is it dropped? {TUPLE}",
     "pieces = merge → merge"),
    ("Not all merges were tried. Their number has nothing to do with the length of the word.",
     "in merges → in merges[:len(word)]"),
    ("After the first merge that fits, the others were not tried. Go through all of them.",
     "merge(pieces, pair) → merge(pieces, pair)\n        if len(pieces) < len(word):\n            break"),
    *((TOKENS, done) for done in (
        lambda word, merges: list(functools.reduce(_by_spaces, merges, tuple(word))),
        lambda word, merges: functools.reduce(_in_text, merges, word).split())),
    (f"The first merge was not applied. {TUPLE}", "in merges → in merges[1:]"),
    ("The merges were tried from the last to the first. They apply in the order in which they were learned.",
     "in merges → in merges[::-1]"),
    ("This takes the longest piece each time, as WordPiece does. Byte pairs know no longest: they repeat the merges in "
     "the order in which they were learned.", _longest),
    ("Of a pair that occurs twice in the word only the first was joined: is every occurrence joined?",
     lambda word, merges: list(functools.reduce(_first_only, merges, tuple(word)))))


@tokenize.suspect
def _(got, word, merges):
    if type(got) is str:
        yield "The result is a list of pieces, ['th', 'ing'], not one text."
    if "".join(got) != word:
        yield "The pieces, written one after another, are no longer the word. Start from its letters: tuple(word)."
