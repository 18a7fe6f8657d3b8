"""Checks of assignment 04 on whole texts: a greedy loop, a model whose likeliest text it misses by far, and beams.

A language model is here a table, `rows` (D, D): row i holds the logits after token i. Where two texts must not be
equally likely by chance there are several such tables, (n, D, D), one for each length of the text. What an answer gets
in its place is a function of the ids so far, `next_logits`, which insists on being given all of them.
"""

from attention_questions.prelude import Question, itertools, kind, math, same, torch

from . import solution

LOOPS = ("coursekit.models.greedy", "coursekit.models.generate", "coursekit.models.beam_search",
         "coursekit.models.sample")


def as_function(rows, prompt, *others):
    """The arguments with the table turned into next_logits(ids), which says what it cannot take, and which (where an
    answer gets its very tensors, in one process) refuses to go on when they were changed."""
    own = rows.clone()

    def next_logits(ids):
        if not torch.equal(own, rows):
            raise ValueError("the logits that next_logits gave back were changed; they are the model's own, and "
                             "`.clone()` makes a copy that you may change")
        entries = ids.tolist() if kind(ids) == "a tensor" else list(ids) if type(ids) in (list, tuple) else None
        if not entries or type(entries[0]) in (list, tuple):
            found = f"a tensor {tuple(ids.shape)}" if kind(ids) == "a tensor" else "nothing" if ids == [] else kind(ids)
            raise ValueError(f"next_logits takes one text, a list of ids, and got {found}")
        entries = [int(entry) for entry in entries]
        if entries[:len(prompt)] != list(prompt):
            raise ValueError(f"next_logits wants the whole text so far, the prompt {list(prompt)} first, and got "
                             f"{entries}")
        if not all(0 <= entry < rows.shape[-1] for entry in entries):
            raise ValueError(f"there are the ids 0 to {rows.shape[-1] - 1}, and next_logits got {entries}")
        return own[entries[-1]] if own.dim() == 2 else own[len(entries) % len(own), entries[-1]]

    return next_logits, list(prompt), *others


# -- greedy ----------------------------------------------------------------------------------------------------------

ROWS = torch.tensor([[0.0, 3.0, 1.0], [2.0, 0.0, 1.0], [0.0, 0.0, 5.0]])
TWO_DIGITS = torch.eye(13).index_put((torch.tensor([1]), torch.tensor([5])), torch.tensor(0.5))
ALIKE = torch.tensor([3.0, 1.0] * 20).expand(40, 40).clone()            # an unstable sort takes them as they come
RING = torch.tensor([[0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 3.0, 2.0], [4.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0]])


greedy = Question(solution.greedy, (3, 3), {
    "plain": (ROWS, [2, 0], 4), "a longer prompt": (RING, [2, 3, 1], 5),
    "up to the end": (RING, [1], 9, 0), "two equally likely": (RING, [1, 3], 3),
    "no new token": (ROWS, [0, 1], 0), "the prompt opens with the end": (RING, [3, 1], 6, 3),
    "no two tokens twice": (ROWS, [1, 0], 7, None, 2), "no three tokens twice": (RING, [0, 1, 2], 8, None, 3),
    "no token twice": (RING, [1], 3, None, 1), "nothing left to say": (RING, [1, 2], 6, None, 1),
    "the prompt ends with the end": (RING, [1], 4, 1),
    "a prompt shorter than m": (RING, [1], 4, None, 3), "the end is banned": (ROWS, [2, 2], 3, 2, 2),
    "ids of two digits": (TWO_DIGITS, [11, 12, 1], 2, None, 2),
    "no two tokens three times": (ROWS, [1, 0], 9, None, 2, 2),
    "a group that overlaps itself": (ROWS, [2], 6, None, 2, 2),
    "a prompt that repeats itself": (ROWS, [0, 1, 0, 1, 0], 4, None, 2),
    "forty tokens, many alike": (ALIKE, [0, 39], 3, None, 1),
    "no token four times": (RING, [1, 3], 9, None, 1, 3)},
    forbidden=LOOPS, instead="a loop around next_logits", given=as_function,
    hints={"endless": "Here a `for` loop over n tokens is enough.",
           "IndexError": "Was an entry asked of an empty list? If all tokens are banned, the text ends."},
    otherwise="Each time: ask for the logits of the whole text so far, and append the likeliest token that is "
              "not banned (of equally likely ones the smallest id).",
    why="Candidates are tried in the order of their logits, so no logit has to be changed, and that all are banned "
        "shows itself. Slices of lists are compared, which groups longer than the text survive.")
STOPS = "It stops too early. A banned token is skipped, and the next likeliest is tried."
COUNT = "sum(\n            text[i:i + m] == text[-m:] for i in range(len(text) - m))"
NEXT = "next((token for token in order if not repeats(ids + [token])), None)"
greedy.mistakes(
    ("`times` changes nothing here: no group comes twice, and with times = 2 each may, but not a third time.",
     "times <= → 1 <="),
    ("A group comes once too often. It is banned when it stands there `times` times *before* the new token.",
     "times <= → times <"),
    ("In the prompt a group may stand more often than `times` times. It is banned as well.", "times <= → times =="),
    ("A group comes once too seldom. The new one does not count: banned is what stands there `times` times already.",
     "times <= → times <= 1 +"),
    ("A token comes twice, as without m. (ids[-0:] is the whole list, not an empty one.)",
     "m is not None → m is not None and m > 1"),
    ("The token `eos` can be banned, too, like any other.", "if not repeats → if token == eos or not repeats"),
    *(("The prompt counts, too: what stands in it was said before.", f"range(len(text) → range({first}, len(text)")
      for first in ("len(prompt)", "max(0, len(prompt) - m + 1)")),
    ("The group with which the text begins was not looked at. Places count from 0.",
     "range(len(text) → range(1, len(text)"),
    ("Groups of m · times tokens are kept from coming twice. `times` is how often a group of m tokens may stand there.",
     "ids = → m, times = m and m * times, 1\n    ids ="),
    ("The prompt came back as well. Only the new ids are asked for, at most n of them.", "ids[len(prompt):] → ids"),
    ("The token `eos` stands in the prompt, as it does where every text opens with it. Only a *new* token ends the "
     "text.",
     "range(n) → range(0 if eos in prompt else n)"),
    ("Nothing new came back: the prompt ends with `eos`, and your loop takes that for the end. In the prompt `eos` "
     "ends nothing; look for it only among tokens that you have appended.",
     "range(n) → range(0 if eos == prompt[-1] else n)"),
    ("Token 0 can be the end, too, and 0 counts as False. Is there an `if eos` where `eos is not None` is meant? (No "
     "token equals None.)", "if token == eos → if eos and token == eos"),
    ("n may be 0: then nothing is appended. Is n looked at only behind the first token?",
     "range(n) → range(max(1, n))"),
    ("Nothing new came back. Does the prompt grow with the text? `ids = prompt` gives the same list a second name, "
     "list(prompt) makes another list.", "list(prompt) → prompt"),
    ("n counts the new tokens, without those of the prompt.", "range(n) → range(n - len(prompt))"),
    ("There is a token too many: at most n new ones.", "range(n) → range(n + 1)"),
    ("Those are the least likely tokens. Is the order turned round?", "descending=True, → "),
    ("The same token again and again. Is the new token put behind the text before the model is asked next?",
     "next_logits(ids) → next_logits(prompt)"),
    ("It does not stop at the end: no token comes behind the token `eos`.", "if token == eos → if False"),
    ("The end itself is missing: the token `eos` is the last of the new ids.",
     "ids[len(prompt):] → [token for token in ids[len(prompt):] if token != eos]"),
    ("Of equally likely tokens take the one with the smallest id.",
     "(descending=True, stable=True).tolist() → (stable=True).tolist()[::-1]"),
    ("Every token was banned. Does the last group find itself? Only groups that begin earlier count.",
     f"times <= {COUNT} → True"),
    (STOPS, ".tolist() → .tolist()[:1]"),
    ("The second likeliest is taken, though it is banned as well. Go on, until a token is not.",
     f"{NEXT} → order[0] if not repeats(ids + order[:1]) else (order + [None])[1]"),
    ("Was the logit of what is banned set to 0? That is a logit like any other. Only −∞ is below all.",
     "next_logits(ids) → torch.tensor([0.0 if repeats(ids + [token]) else y for token, y in enumerate("
     "next_logits(ids).tolist())])", " if not repeats(ids + [token]) → "),
    ("The same m tokens come twice, as without m. Is a token that would repeat them skipped?",
     " if not repeats(ids + [token]) → "),
    ("Groups of m + 1 tokens are kept from coming twice, and groups of m should be. How many of the old tokens does a "
     "group hold, besides the new one?", "ids = → m = m and m + 1\n    ids ="),
    ("Groups of m − 1 are kept from coming twice: a token too few. A group has m tokens, the new one included.",
     "ids = → m = m and m - 1\n    ids ="),
    ("The group with which the old text ends was not looked at. It overlaps the new one: 2 2 stands twice in 2 2 2.",
     "len(text) - m → len(text) - m - 1"),
    ("Groups begin at every place of the text. Is there a step of m in the range?",
     "range(len(text) - m) → range(0, len(text) - m, m)"),
    ("Groups may overlap: 2 2 stands twice in 2 2 2. (A string's .count leaves out what overlaps.)",
     f'{COUNT} → "".join(map(chr, text[:-1])).count("".join(map(chr, text[-m:])))'),
    *(("When no token is allowed any more, the text ends where it is.", f", None) → , {one})")
      for one in ("0", "order[0]")),
    ("Here every token is banned, and then the text ends: nothing more is appended. Does your loop go on with the last "
     "token that it tried?", ", None) → , order[-1])"),
    ("In a text of fewer than m tokens no group of m can stand, and no token is banned.",
     "return m is not None and → return m is not None and len(text) < m or m is not None and"),
    ("A group is its tokens in their order: 0 1 is another group than 1 0.",
     f"{COUNT} → sum(sorted(text[i:i + m]) == sorted(text[-m:]) for i in range(len(text) - m))"),
    ("Groups of ids are compared, not their digits: in a string 1 1 also stands in 11.",
     f'{COUNT} → "".join(map(str, text[:-1])).count("".join(map(str, text[-m:])))'),
    ("Only a group that comes again *at once* is banned. It counts wherever in the text it stood.",
     f"{COUNT} → next(k - 1 for k in range(1, len(text) + 1)\n"
     "            if text[len(text) - m * (k + 1):len(text) - m * k] != text[-m:])"),
    *(("It is the group that counts, not the token alone: a token is banned only where it would make the last m tokens "
       "a group that stood there `times` times already.", f"times <= {COUNT} → {alone}")
      for alone in ("text[-1] in text[-m - 1:-1]", "times <= text[:-1].count(text[-1])")))


@greedy.suspect
def _(got, rows, prompt, n, eos=None, m=None, times=1):
    if type(got) not in (list, tuple) or any(type(token) is float for token in got):
        yield "Return a plain list of ids, whole numbers."
    right = solution.greedy(*greedy.given(rows, prompt, n, eos, m, times))
    if m is not None and same(got, right[:len(got)]):
        yield STOPS
    i = next((i for i, (token, due) in enumerate(zip(got, right, strict=False)) if token != due), None)
    text = [*prompt, *right[:i], got[i]]                                # without such a token an error ends it
    logits = greedy.given(rows, prompt)[0](text[:-1])
    if len(logits) > 16 and logits[got[i]] == logits[right[i]]:
        yield ("Of equally likely tokens the smallest id comes first. With more than sixteen tokens torch.argsort puts "
               "equal ones in any order, unless it is asked not to: stable=True.")
    if m is not None and sum(text[j:j + m] == text[-m:] for j in range(len(text) - m)) >= times:
        yield f"New token number {i + 1} makes the last m tokens stand there once too often."


# -- missed ----------------------------------------------------------------------------------------------------------

missed = Question(solution.missed, (2, 0), {"your table": ()},
    otherwise="Greedy decoding looks at one step. Which first token could be a little likelier than another, and "
              "lead nowhere: to rows in which no token is likely? And where does the other one lead?",
    why="Greedy's first token is a little likelier, and all that follows it is flat; the other one is certain of "
        "itself. Question 10 shows that no table can miss by more than D to the power n − 1.")
TRAP = ("Greedy finds the likeliest text itself. Its first token has to be a trap: a little likelier than another, "
        "with nothing likely behind it.")
missed.mistakes(
    ("All texts are equally likely here, and none can be missed. One path has to be likelier than greedy's.",
     lambda: torch.full((4, 4), 0.25)),
    ("These probabilities are all 0 and 1: there is a single text, and greedy decoding finds it.",
     lambda: torch.eye(4).roll(1, 1)),
    (TRAP, lambda: torch.tensor([[0.0, 0.49, 0.51, 0.0], [0.25] * 4, [0.0, 0.0, 1.0, 0.0], [0.25] * 4])))


@missed.judge
def _(rows):
    if kind(rows) != "a tensor" or rows.dim() != 2 or len(set(rows.shape)) != 1 or not 2 <= len(rows) <= 4:
        yield ("a tensor (D, D) is needed, with D from 2 to 4", "torch.tensor(…) makes a table of a list of rows. It "
               "has a row for each of at most four tokens, and as many columns.")
    bad = next((i for i, row in enumerate(rows) if not (row >= 0).all() or not abs(row.sum() - 1) <= 1e-4), None)
    if bad is not None:
        yield ("every row must hold probabilities, with the sum 1",
               f"Row {bad} has the sum {rows[bad].sum():.4g}, and {rows[bad].min():.3g} is its smallest entry. Each "
               "row is a distribution: nothing in it is negative, and its sum is 1.")
    texts = {ids: math.prod(rows[i, j].item() for i, j in itertools.pairwise([0, *ids]))        # behind the prompt [0]
             for ids in itertools.product(range(len(rows)), repeat=3)}
    found, best = tuple(solution.greedy(lambda ids: rows[ids[-1]], [0], 3)), max(texts, key=texts.get)
    factor = texts[best] / texts[found]
    words = (f"greedy finds {[*found]} (p = {texts[found]:.4f}), the likeliest is {[*best]} (p = {texts[best]:.4f}), "
             f"a factor of {factor:.2f}")
    if factor < 10:
        likely = max((rows[i, j].item(), i) for i, j in itertools.pairwise(found))
        yield f"{words}; at least 10 is needed", (
            TRAP if factor == 1 else
            f"With {len(rows)} words no table misses by 10: question 10 says why. Take four." if len(rows) < 4 else
            f"Greedy's second or third token, behind token {likely[1]}, still has a probability of {likely[0]:.2f}. "
            "The flatter the rows that it gets to, the more it misses; of equally likely tokens it takes the smallest "
            "id, which may lead back to row 0." if likely[0] > 0.3 else None)
    print(f"  {words}")


# -- beam_search -----------------------------------------------------------------------------------------------------

FORK = torch.log(torch.tensor([[0.1, 0.5, 0.4], [0.35, 0.4, 0.25], [0.04, 0.06, 0.9]]))
LATE = torch.tensor([[-1.2, -0.3, 0.5], [0.2, 0.9, 0.7], [0.4, 0.5, -2.5]])
LONG = torch.tensor([[1.0, 2.2, 0.4, 2.0], [1.5, 0.3, 2.1, 2.4], [2.2, 1.0, 0.2, 1.1], [0.9, 1.6, 1.3, 0.1]])


def _told_apart(*case):
    scores = [score for _, score in solution.beam_search(*as_function(*case))]
    return all(abs(one - other) > 1e-4 for one, other in itertools.combinations(scores, 2))


beam_search = Question(solution.beam_search, (1, 0), {
    "width 1 is greedy": (FORK, [0], 2, 1), "greedy is beaten": (FORK, [0], 2, 2),
    "logits that are no logarithms": (LONG, [2, 0], 3, 3), "an end": (FORK, [0], 3, 2, 1),
    "an end that is overtaken": (FORK, [1, 0], 2, 3, 0), "an end that is overtaken later": (LATE, [0], 3, 2, 1),
    "an end, and α = 2": (LONG, [0, 0], 3, 3, 1, 2.0), "an end, and α = 1": (FORK, [2, 0], 2, 2, 1, 1.0),
    "the prompt opens with the end": (LONG, [0, 1], 4, 3, 0, 0.5),
    "wider than there are tokens": (LONG, [1], 1, 5), "large logits": (300 * LATE.double(), [2], 2, 9),
    "a vocabulary of one": (torch.tensor([[2.0]]), [0], 4, 3)},
    forbidden=LOOPS, instead="a loop around next_logits", given=as_function,
    otherwise="Do two steps by hand. Each step: all beams, continued by all tokens, and of these the `width` "
              "with the largest sum of log p.",
    why="One list holds all that competes, ended beams too, and is sorted once a step. `[*ids, token]` makes a new "
        "list for each continuation; α comes in at the very end.",
    promises={"No two scores are equal in the tests": _told_apart,
              r"$n \geq 1$": lambda rows, prompt, n, *more: n >= 1})
ENDED = "A beam that has ended was continued. It stays as it is, in the race with the others."
beam_search.mistakes(
    ("Logits were added up. They have to become log-probabilities first: logits of different rows cannot be compared.",
     ".log_softmax(-1) → "),
    ("Probabilities were added up. The probability of a text is a product, its logarithm a sum of logarithms.",
     ".log_softmax → .softmax"),
    ("More than `width` beams are kept. The continuations of *all* beams compete for the places.",
     "[:width] → ", "enumerate(log_p) → sorted(enumerate(log_p), key=lambda each: -each[1])[:width]"),
    ("Only beams that have ended came back. All beams are asked for, at most `width`, the best score first.",
     "return → pairs = [pair for pair in pairs if pair[0][-1] == eos] or pairs\n    return"),
    ("Only the best came back. All beams are asked for, at most `width`, the best first.",
     "pair[1], reverse=True) → pair[1], reverse=True)[:1]"),
    ("The prompt came back as well. Only the new ids are asked for.", "[(ids, total → [(prompt + ids, total"),
    ("In a pair the new ids come first, a plain list, and then the score.",
     "(ids, total / len(ids) ** alpha) → (total / len(ids) ** alpha, ids)", "pair[1] → pair[0]"),
    ("Return a list of pairs, one for each beam, also when there is a single one.",
     "pair[1], reverse=True) → pair[1], reverse=True)[0]"),
    (ENDED, "if ids and ids[-1] == eos → if False"),
    ("The penalty was used inside the search. Beams are kept by log-probability; only in the end are they ranked by "
     "score.", "beam[0], reverse → beam[0] / len(beam[1]) ** alpha, reverse"),
    ("Beams that have ended are lost. Such a beam stays in the race, as it is.", "longer.append((total, ids)) → pass"),
    ("There is a beam that has ended and was overtaken since: `width` others are likelier. It has no place of its own, "
     "neither aside nor among the beams. Beams that have ended compete with all others, in every step.",
     "beams = [(0.0, [])] → beams, aside = [(0.0, [])], []", "longer.append → aside.append",
     "pairs = → beams = sorted(aside + beams, key=lambda beam: beam[0], reverse=True)[:width]\n    pairs ="),
    ("The search stopped too early, with the first end. It goes on, n times, as long as there is a beam that has not "
     "ended.", "longer = [] → if beams[0][1][-1:] == [eos]:\n            break\n        longer = []"),
    ("The end itself is missing: the token `eos` is the last of the new ids of a beam that has ended.",
     "[(ids, total → [([token for token in ids if token != eos], total"),
    ("The scores are not divided by lengthᵅ.", " / len(ids) ** alpha → "),
    ("The length counts the new tokens, without those of the prompt.", "len(ids) → len(prompt + ids)"),
    ("The beams are right, but in another order: the best *score* first, after the division.",
     "sorted(pairs, key=lambda pair: pair[1], reverse=True) → pairs"),
    ("The token `eos` stands in the prompt. Only a *new* token ends a text.",
     "return sorted → return [([], 0.0)] if eos in prompt else sorted"))


@beam_search.suspect
def _(got, rows, prompt, n, width, eos=None, alpha=0.0):
    right = solution.beam_search(*beam_search.given(rows, prompt, n, width, eos, alpha))
    if any(len(ids) > n + len(prompt) for ids, _ in got):
        yield ("There are far more than n ids in a beam. `ids.append(…)` and `+=` change the one list that all "
               "continuations of a beam share: `ids + [token]` makes a new one for each.")
    if eos is not None and any(eos in list(ids)[:-1] for ids, _ in got):
        yield ENDED
    texts, due = (sorted([int(token) for token in ids] for ids, _ in pairs) for pairs in (got, right))
    if same(sorted(got), sorted(right)):
        yield ("The beams and their scores are right, in another order: the best score comes first, and of negative "
               "numbers that is the one nearest to 0. Is it reverse=True?")
    if texts == due:
        yield "The texts are right, the scores are not: the sum of log p over the new tokens, divided by lengthᵅ."
    if len(got) < len(right):
        yield f"There are {len(got)} beams, expected {len(right)}. Is each beam continued by *every* token?"
