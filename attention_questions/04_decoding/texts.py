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
RING = torch.tensor([[0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 3.0, 2.0], [4.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0]])


greedy = Question(solution.greedy, (3, 4), {
    "plain": (ROWS, [2, 0], 4), "a longer prompt": (RING, [2, 3, 1], 5),
    "up to the end": (RING, [1], 9, 0), "two equally likely": (RING, [1, 3], 3),
    "no new token": (ROWS, [0, 1], 0), "the prompt opens with the end": (RING, [3, 1], 6, 3),
    "no two tokens twice": (ROWS, [1, 0], 7, None, 2), "no three tokens twice": (RING, [0, 1, 2], 8, None, 3),
    "no token twice": (RING, [1], 3, None, 1), "nothing left to say": (RING, [1, 2], 6, None, 1),
    "the prompt ends with the end": (RING, [1], 4, 1),
    "a prompt shorter than m": (RING, [1], 4, None, 3), "the end is banned": (ROWS, [2, 2], 3, 2, 2),
    "ids of two digits": (TWO_DIGITS, [11, 12, 1], 2, None, 2)},
    forbidden=LOOPS, instead="a loop around next_logits", given=as_function,
    hints={"endless": "Here a `for` loop over n tokens is enough.",
           "IndexError": "Was an entry asked of an empty list? If all tokens are banned, the text ends."},
    otherwise="Each time: ask for the logits of the whole text so far, and append the likeliest token that is "
              "not banned.")
STOPS = "It stops too early. A banned token is skipped, and the next likeliest is tried."
REPEATED = "any(text[i:i + m] == text[-m:] for i in range(len(text) - m))"
greedy.mistakes(
    ("A token comes twice, as without m. (ids[-0:] is the whole list, not an empty one.)",
     "m is not None → m is not None and m > 1"),
    ("The token `eos` can be banned, too, like any other.", "if not repeats → if token == eos or not repeats"),
    ("The prompt counts, too: what stands in it was said before.", "range(len(text) → range(len(prompt), len(text)"),
    ("The prompt came back as well. Only the new ids are asked for, at most n of them.", "ids[len(prompt):] → ids"),
    ("The token `eos` stands in the prompt, as it does where every text opens with it. Only a *new* token ends the "
     "text.", "range(n) → range(0 if eos in prompt else n)"),
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
     f"{REPEATED} → True"),
    (STOPS, ".tolist() → .tolist()[:1]"),
    ("The same m tokens come twice, as without m. Is a token that would repeat them skipped?",
     " if not repeats(ids + [token]) → "),
    ("Groups of m + 1 tokens are kept from coming twice, and groups of m should be. How many of the old tokens does a "
     "group hold, besides the new one?", "ids = → m = m and m + 1\n    ids ="),
    ("Groups of m − 1 are kept from coming twice: a token too few. A group has m tokens, the new one included.",
     "ids = → m = m and m - 1\n    ids ="),
    ("The group with which the old text ends was not looked at. It overlaps the new one: 2 2 stands twice in 2 2 2.",
     "len(text) - m → len(text) - m - 1"),
    ("When no token is allowed any more, the text ends where it is.", ", None) → , 0)"),
    ("Groups of ids are compared, not their digits: in a string 1 1 also stands in 11.",
     f'{REPEATED} → "".join(map(str, text[-m:])) in "".join(map(str, text[:-1]))'))


@greedy.suspect
def _(got, rows, prompt, n, eos=None, m=None):
    if type(got) not in (list, tuple) or any(type(token) is float for token in got):
        yield "Return a plain list of ids, whole numbers."
    right = solution.greedy(*greedy.given(rows, prompt, n, eos, m))
    if m is not None and same(got, right[:len(got)]):
        yield STOPS
    i = next((i for i, (token, due) in enumerate(zip(got, right, strict=False)) if token != due), None)
    text = [*prompt, *right[:i], got[i]]            # without such a token, and without m, it ends here, with an error
    yield (f"New token number {i + 1} makes the last m tokens stand there for the second time."
           if any(text[j:j + m] == text[-m:] for j in range(len(text) - m)) else
           f"New token number {i + 1} is another than expected: that one is not forbidden, and it is likelier, or as "
           "likely with a smaller id.")


# -- missed ----------------------------------------------------------------------------------------------------------

missed = Question(solution.missed, (2, 0), {"your table": ()},
    otherwise="Greedy decoding looks at one step. Which first token could be a little likelier than another, and "
              "lead nowhere: to rows in which no token is likely? And where does the other one lead?")
missed.mistakes(
    ("All texts are equally likely here, and none can be missed. One path has to be likelier than greedy's.",
     lambda: torch.full((4, 4), 0.25)),
    ("These probabilities are all 0 and 1: there is a single text, and greedy decoding finds it.",
     lambda: torch.eye(4).roll(1, 1)))


@missed.judge
def _(rows):
    if kind(rows) != "a tensor" or rows.dim() != 2 or len(set(rows.shape)) != 1 or not 2 <= len(rows) <= 4:
        yield "a tensor (D, D) is due, with D from 2 to 4"
    if not rows.isfinite().all() or (rows < 0).any() or (rows.sum(1) - 1).abs().max() > 1e-4:
        yield "every row is due to hold probabilities, with the sum 1"
    texts = {ids: math.prod(rows[i, j].item() for i, j in itertools.pairwise([0, *ids]))        # behind the prompt [0]
             for ids in itertools.product(range(len(rows)), repeat=3)}
    found, best = tuple(solution.greedy(lambda ids: rows[ids[-1]], [0], 3)), max(texts, key=texts.get)
    factor = texts[best] / texts[found]
    words = (f"greedy finds {[*found]} (p = {texts[found]:.4f}), the likeliest is {[*best]} (p = {texts[best]:.4f}), "
             f"a factor of {factor:.2f}")
    if factor < 10:
        yield f"{words}; 10 is due"
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
    if texts == due:
        yield "The texts are right, the scores are not: the sum of log p over the new tokens, divided by lengthᵅ."
    if len(got) < len(right):
        yield f"There are {len(got)} beams, expected {len(right)}. Is each beam continued by *every* token?"
