"""Check of assignment 04 on a greedy loop, and the table that is a language model in it and in beams.py.

A language model is here a table, `rows` (D, D): row i holds the logits after token i. Where two texts must not be
equally likely by chance there are several such tables, (n, D, D), one for each length of the text. What an answer gets
in its place is a function of the ids so far, `next_logits`, which insists on being given all of them.
"""

from attention_questions.prelude import Question, kind, same, torch

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


ROWS = torch.tensor([[0.0, 3.0, 1.0], [2.0, 0.0, 1.0], [0.0, 0.0, 5.0]])
TWO_DIGITS = torch.eye(13).index_put((torch.tensor([1]), torch.tensor([5])), torch.tensor(0.5))
RING = torch.tensor([[0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 3.0, 2.0], [4.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0]])


greedy = Question(solution.greedy, (3, 4), {
    "plain": (ROWS, [2, 0], 4), "a longer prompt": (RING, [2, 3, 1], 5),
    "up to the end": (RING, [1], 9, 0),
    "two equally likely": (RING, [1, 3], 3),
    "no new token": (ROWS, [0, 1], 0),
    "the prompt opens with the end": (RING, [3, 1], 6, 3),
    "no two tokens twice": (ROWS, [1, 0], 7, None, 2), "no three tokens twice": (RING, [0, 1, 2], 8, None, 3),
    "no token twice": (RING, [1], 3, None, 1),
    "nothing left to say": (RING, [1, 2], 6, None, 1),
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
    if m is None or i is None:
        return
    text = [*prompt, *right[:i], got[i]]
    yield (f"New token number {i + 1} makes the last m tokens stand there for the second time."
           if any(text[j:j + m] == text[-m:] for j in range(len(text) - m)) else
           f"New token number {i + 1} is another than expected: that one is not forbidden, and it is likelier, or as "
           "likely with a smaller id.")
