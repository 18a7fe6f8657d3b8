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
    "a pair that overlaps itself": ({("b", "a"): 3, ("a", "a", "a"): 1},)},
    forbidden=BYTE_PAIRS, instead="a loop over the words and `zip(word, word[1:])`",
    hints={"IndexError": "A place was asked for that the word does not have. Its last token has no neighbour on the "
                         "right: how many pairs has a word of n tokens?"},
    otherwise="The result is a dictionary: the pair, a tuple of two neighbours, is the key, and its count in the whole "
              "corpus the value.",
    why="`zip(word, word[1:])` sets every token beside its neighbour, and stops where there is none; `.get(pair, 0)` "
        "lets a pair begin at 0.")
PAIRS = "zip(word, word[1:])"
STRANGE = ("A token stands here that is in no word of this corpus. Is the dictionary made anew in each call, inside "
           "the function? (And no mark is added to a word.)")
count_pairs.mistakes(
    ("Every word was counted once. Does each of its pairs count as often as the word occurs?", "+ times → + 1"),
    ("Keep the two tokens of a pair apart: the key is the tuple ('l', 'o'), not the text 'lo'.",
     f'{PAIRS} → map("".join, {PAIRS})'),
    ("The words were taken apart into letters. Their tokens, such as 'lo', are to stay whole.",
     f'{PAIRS} → zip("".join(word), "".join(word)[1:])'),
    ("Two words share a pair here, and the last one's number has overwritten the other's. What is already in the "
     "dictionary is added to.", f"counts.get(pair, 0) + times → times * [*{PAIRS}].count(pair)"),
    ("`counts[pair] = …` overwrites what the places before have counted, in this word and in others. What is already "
     "in the dictionary is added to.", "counts.get(pair, 0) + times → times"),
    ("A pair that is in the dictionary already goes up by the number of times that this word occurs, not by 1.",
     "counts.get(pair, 0) + times → counts[pair] + 1 if pair in counts else times"),
    ("A pair that is met for the first time gets the number of times that its word occurs, not 1.",
     "counts.get(pair, 0) + times → counts[pair] + times if pair in counts else 1"),
    ("A pair that is met for the first time starts from 0: .get(pair, 0).", "get(pair, 0) → get(pair, 1)"),
    *((f"The {which} pair of every word is missing: a word of n tokens has n - 1 pairs.", f"{PAIRS} → {pairs}")
      for which, pairs in (("last", "zip(word[:-1], word[1:-1])"), ("first", "zip(word[1:], word[2:])"))),
    ("A word ends with its last token: that has no neighbour on the right, not the first token either. (word[-1] is "
     "the last.)", f"{PAIRS} → zip(word, word[1:] + word[:1])"),
    ("A key is no pair but a single token: at the last place of a word, word[i:i + 2] holds one. How many pairs has a "
     "word of n tokens?", f"{PAIRS} → (word[i:i + 2] for i in range(len(word)))"),
    *(("Not everything was counted: does `return` stand inside a loop? It ends the function at once.",
       f"+ times\n    return → + times\n{' ' * deep}return") for deep in (8, 12)),
    ("Every pair of the word was counted several times where it stands several times: each place counts once.",
     f"+ times → + times * [*{PAIRS}].count(pair)"),
    ("In a a a the pair (a, a) stands at two places that overlap. For counting, both count.",   # as often as it merges
     f"in {PAIRS} → in set({PAIRS})", "+ times → + times * (len(word) - len(merge(word, pair)))"),
    ("A pair that stands twice in one word was counted once there. Every place counts.", f"{PAIRS} → set({PAIRS})"),
    ("Every second place was left out. After the pair at places 0 and 1 comes the one at 1 and 2.",
     f"{PAIRS} → zip(word[::2], word[1::2])"),
    *(("A pair has an order: the left token, then the right one. (a, b) is not (b, a).", f"{PAIRS} → {pairs}")
      for pairs in (f"map(tuple, map(sorted, {PAIRS}))", "zip(word[1:], word)")),
    ("Tokens were paired that are not neighbours.",
     f"{PAIRS} → ((a, b) for i, a in enumerate(word) for b in word[i + 1:])"),
    (STRANGE, 'for pair in → word += ("</w>",)\n        for pair in'),
    ("There are pairs here that stand next to each other in no word: were words strung together?",
     lambda words: solution.count_pairs({sum((word * times for word, times in words.items()), ()): 1})))


@count_pairs.suspect
def _(got, words):
    known = {token for word in words for token in word}
    if isinstance(got, dict) and any(type(pair) is tuple and not known.issuperset(pair) for pair in got):
        yield STRANGE


# -- merge -----------------------------------------------------------------------------------------------------------

def _is_tuple(answer, arguments):
    """Is the word a tuple again, as later questions need it?"""
    if kind(services.back(answer, arguments, [])[0]) != "a tuple":
        raise CheckFailed("The right tokens, but in a list: return tuple(…). A list slice never equals a tuple, and a "
                          "list cannot be a key in question 3.")


merge = Question(solution.merge, (1, 1), {
    "twice in a word": (("b", "a", "n", "a", "n", "a"), ("a", "n")), "equal letters": (("a", "a", "a"), ("a", "a")),
    "letters that meet across tokens": (("h", "el", "l", "o"), ("l", "l")),
    "the same letters, cut elsewhere": (("h", "el", "p"), ("he", "l")),
    "the pair in reverse": (("n", "a", "p", "a", "n", "s"), ("a", "n")),
    "the pair at the end": (("l", "o", "w", "e", "r"), ("e", "r"))},
    forbidden=BYTE_PAIRS, instead="a walk through the word, one token at a time", also=_is_tuple,
    hints={"IndexError": "A place was asked for that the word does not have. Behind its last token stands none: is "
                         "that asked before `i + 1` is looked up? (A slice just ends there.)"},
    otherwise="Go through the word by hand. At each place: are the token there and its right neighbour the pair? Then "
              "they are written as one text; if not, the one token is, as it was.",
    why="A slice of two tokens is compared at once, and at the last place it is shorter: no border needs a case of its "
        "own. The step says how many tokens are written as one.")


def _first_only(word, pair):
    i = next((i for i in range(len(word)) if word[i:i + 2] == pair), 0)
    return solution.merge(word[:i + 2], pair) + word[i + 2:]


def _by_letters(word, pair):
    marked = "".join(word).replace("".join(pair), "\0")
    return tuple("".join(pair) if letter == "\0" else letter for letter in marked)


def _by_spaces(word, pair):
    return tuple(" ".join(word).replace(" ".join(pair), "".join(pair)).split())


def _ends_meet(word, pair):
    out = []
    for token in word:
        if out and out[-1].endswith(pair[0]) and token.startswith(pair[1]):
            out[-1] += token
        else:
            out.append(token)
    return tuple(out)


def _used_twice(word, pair):
    return tuple("".join(word[i:i + 2]) if word[i:i + 2] == pair else word[i] for i in range(len(word))
                 if word[i:i + 2] == pair or i == 0 or word[i - 1:i + 1] != pair)


def _in_twos(word, pair):
    return sum((solution.merge(word[i:i + 2], pair) for i in range(0, len(word), 2)), ())


def _first_left(word, pair):
    i = word.index(pair[0]) if pair[0] in word else 0
    return word[:i] + solution.merge(word[i:], pair) if word[i:i + 2] == pair else word


def _in_text(text, pair):
    return text.replace("".join(pair), f" {''.join(pair)} ")


TOKENS = ("Compare tokens, not letters: 'el' followed by 'l' is not the pair ('l', 'l'), nor is 'h' followed by 'el' "
          "the pair ('he', 'l'). One text, with spaces or without (join, replace, split), cannot tell.")
merge.mistakes(
    ("The pair was not joined at all. Are two tuples compared? A list never equals a tuple, nor does a text. (Or did "
     "it fall apart again? tuple('an') is two letters, and ('an',) one token.)", "== pair → == list(pair)"),
    ("After a pair that was joined, its second token is written once more. Go on two places further. (In a `for` loop "
     "over a range `i += 1` does nothing: the next round has its own i.)", "i += step → i += 1"),
    ("In a a a the token in the middle was used twice. What was joined is not used again, for no other pair either.",
     _used_twice),
    ("The last token is missing where it is not joined with the one before.", "i < len(word) → i < len(word) - 1"),
    ("The last token is written once more after it was joined with the one before.",
     "i < len(word) → i < len(word) - 1", "tuple(joined) → tuple(joined) + word[-1:]"),
    ("The pair at the end of the word was not joined: the last place where one can begin is len(word) - 2.",
     "== pair → == pair and i + 2 < len(word)"),
    ("Only every second place was looked at. After a token that is not joined, go on by one place, not two.",
     _in_twos),
    ("Only the first place of the left token was looked at: .index finds no other. The pair may stand further on.",
     _first_left),
    ("Only the left token was compared. The right one must fit, too.", "word[i:i + 2] == pair → word[i] == pair[0]"),
    ("A pair has an order: (a, b) is joined, (b, a) is not.",
     "word[i:i + 2] == pair → sorted(word[i:i + 2]) == sorted(pair)"),
    ("A token of several letters has fallen apart: `+=` and `.extend` take a text letter by letter. Use .append(…).",
     'append("".join(word[i:i + step])) → extend(["".join(pair)] if step == 2 else word[i])'),
    ("Between the two halves of a joined token stands nothing, no space either.", '"".join(word → " ".join(word'),
    ("This is what one round gives: does `return` stand inside the loop? It ends the function at once.",
     "i += step\n    return → i += step\n        return"),
    ("Only the first occurrence was joined. The pair may stand in several places.", _first_only),
    ("The pair (a, b) was joined where b stands before a.", "== pair → == pair[::-1]"),
    ("From the left: in a a a it is the first two that are joined, and the third is left over.",
     "[], 0 → [], len(word)", "i < len(word) → i > 0", "word[i:i + 2] → word[max(i - 2, 0):i]",
     'append("".join(word[i:i + step])) → insert(0, "".join(word[i - step:i]))', "i += → i -="),
    *((TOKENS, done) for done in (
        _by_letters, _ends_meet, 'word[i:i + 2] == pair → "".join(word[i:i + 2]) == "".join(pair)', _by_spaces,
        lambda word, pair: tuple(_in_text("".join(word), pair).split()))))


@merge.suspect
def _(got, word, pair):
    if type(got) is str:
        yield "The word came back as one text. It stays a tuple of tokens: ('lo', 'w'), not 'low'."
    if type(got) in (list, tuple) and any(type(token) in (list, tuple) for token in got):
        yield "The pair becomes one token, a text: left + right, and not a tuple inside the tuple."
    if "".join(got) != "".join(word):
        yield ("The letters of the word are no longer the same. Joining changes where a word is cut, never what it "
               "says. Are the ends of the word still there, and is the pair written once, not twice?")


# -- learn_merges ----------------------------------------------------------------------------------------------------

TIES = {tuple("low"): 1, tuple("login"): 1, tuple("wing"): 1}


def _tuples(answer, arguments):
    """Are the pairs tuples, as merge wants them?"""
    if any(type(pair) is list for pair in services.back(answer, arguments, [])[0]):
        raise CheckFailed("The right merges, but each in a list: a pair is a tuple, tuple(…). A slice of a word never "
                          "equals a list, so merge would join nothing in question 4.")


learn_merges = Question(solution.learn_merges, (2, 3), {
    "four merges": ({tuple("banana"): 3, tuple("bandana"): 2, tuple("ananas"): 1}, 4), "ties": (TIES, 1),
    "two cuts of one word": ({("l", "o", "w"): 2, ("lo", "w"): 2, ("l", "o", "g"): 3}, 2),
    "ties of longer tokens": ({("a", "z"): 2, ("a", "y"): 2, ("ab", "b"): 2, ("b", "a"): 2, ("c", "c"): 2}, 1),
    "more merges than there are pairs": (TIES, 9),
    "a pair that occurs once": ({("a", "b"): 3}, 5), "no merges": (TIES, 0)},
    forbidden=BYTE_PAIRS, instead="your own count_pairs and merge", lend=("count_pairs", "merge"), also=_tuples,
    hints={"arg.* empty": "`min` and `max` want at least one entry, and here no pair is left: ask `if not counts` "
                          "first."},
    why="Minus the count and then the pair, as a key of `min`: the most frequent, and among equals the first in the "
        "alphabet. The joined words go into a new dictionary, in which equal ones add up.")


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
    (ALPHABET, "[pair], pair) → [pair], -[*counts].index(pair))"),
    ("Where the left tokens of two pairs are equal, too, the right ones decide: compare whole pairs.",
     "[pair], pair) → [pair], pair[0])"),
    ("Of equally frequent pairs the left tokens are compared first, and the right ones where these are equal.",
     "[pair], pair) → [pair], pair[::-1])"),
    ("Pairs are compared as tuples, token by token, and not as the text that they make together: ('a', 'z') comes "
     "before ('ab', 'a').", '[pair], pair) → [pair], "".join(pair))'),
    ("A pair that occurs once is no better than any other that does: stop when no pair occurs twice.", "< 2 → < 1"),
    ("A pair that occurs twice is still joined: stop when the largest count is below 2, not at 2.", "< 2 → <= 2"),
    ("The last pair occurs only once: ask whether to stop before a pair is written down.",
     "if not counts or max(counts.values()) < 2:\n            break → if not counts:\n            break",
     "append(best) → append(best)\n        if counts[best] < 2:\n            break"),
    ("Each round begins with the words that the round before has left, with all joins so far, not with the first ones.",
     "merges = [] → merges, first = [], words", "in words.items() → in first.items()"),
    ("Does every word count as often as it occurs?", "merges = [] → merges, words = [], dict.fromkeys(words, 1)"),
    ("When a merge makes two words equal, their numbers add up. Did one of the two overwrite the other?",
     "joined.get(shorter, 0) + times → times"),
    ("This pair is the rarest. With min(…), the most frequent is the one whose *negative* count is smallest.",
     "-counts[pair] → counts[pair]"),
    ("One merge too many: how often does the loop run?", "range(n_merges) → range(n_merges + 1)"),
    ("Only one merge: does `return` stand inside the loop? It ends the function at once.",
     "append(best)\n    return → append(best)\n        return"),
    ("The loop runs until no pair is left. It also ends after n_merges merges.", "range(n_merges) → range(10_000)"),
    ("One merge, and none was asked for: with n_merges = 0 the list is empty.",
     "range(n_merges) → range(max(n_merges, 1))"),
    ("No mark is added to the end of a word: a pair is two of the tokens that are given.",
     'merges = [] → merges, words = [], {(*word, "</w>"): times for word, times in words.items()}'),
    ("Merges are missing at the end: go on until n_merges, or until no pair occurs twice.",
     "range(n_merges) → range(n_merges - 1)"))


# -- tokenize --------------------------------------------------------------------------------------------------------

ORDER = [("i", "n"), ("h", "e"), ("in", "g"), ("t", "he"), ("t", "h"), ("th", "in")]
MANY = [*ORDER, *((a, b) for a in "xyzq" for b in "xyzq"), ("s", "t")]       # more merges than letters

tokenize = Question(solution.tokenize, (1, 2), {
    "a word that was not trained on": ("nothing", ORDER), "nothing to join": ("soup", ORDER),
    "a long piece loses to an early one": ("hers", [("e", "r"), ("h", "e"), ("he", "r")]),
    "short pairs, learned last": ("other", [("t", "h"), ("th", "e"), ("e", "r")]), "a capital letter": ("The", ORDER),
    "a pair that occurs twice": ("thethe", ORDER), "a short word, many merges": ("hest", MANY)},
    forbidden=BYTE_PAIRS, instead="your own merge", lend=("merge",),
    otherwise="In which order were the merges tried? It must be the order of the list, each on the whole word.",
    why="One merge after the other, each by `merge` on the whole word: it need not know which of them fit. Only the "
        "result becomes a list.",
    promises={"Of the two halves of a merge, each is a letter or was made by an earlier merge":
                  lambda word, merges: all(len(half) == 1 or half in {a + b for a, b in merges[:i]}
                                           for i, halves in enumerate(merges) for half in halves)})


def _first_in_word(word, merges):
    """The leftmost pair that is a merge, whichever, as long as there is one."""
    pieces = list(word)
    while (i := next((i for i in range(len(pieces) - 1) if tuple(pieces[i:i + 2]) in merges), None)) is not None:
        pieces[i:i + 2] = ["".join(pieces[i:i + 2])]
    return pieces


def _letter_by_letter(word, merges):
    """Each letter is joined with what stands before it, as long as that is a merge."""
    pieces = []
    for letter in word:
        pieces.append(letter)
        while tuple(pieces[-2:]) in merges:
            pieces[-2:] = ["".join(pieces[-2:])]
    return pieces


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
    ("Each merge begins with the letters again. What one merge gives is the word for the next.",
     "merge(pieces, pair) → merge(tuple(word), pair)"),
    ("Only the first merge of the list was tried: does `return` stand inside the loop?", "in merges → in merges[:1]"),
    ("A merge that does not fit ends nothing: go on with the next of the list.",
     "pieces = merge(pieces, pair) → shorter = merge(pieces, pair)\n        if shorter == pieces:\n            break\n"
     "        pieces = shorter"),
    *(("Which pair is joined next was decided by its place in the word. What counts is its place in the list: the "
       "merge that was learned first, everywhere in the word, then the second, …", done)
      for done in (_first_in_word, _letter_by_letter)),
    ("A capital letter is another one than the small letter: the pieces spell the word as it is given.",
     "tuple(word) → tuple(word.lower())"),
    *(("The merges were sorted. They apply in the order of the list, in which they were learned, not by the alphabet "
       "and not by length.", f"in merges → in sorted(merges{key})")
      for key in ("", *(f', key=lambda pair: {sign}len("".join(pair))' for sign in ("", "-")))),
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
