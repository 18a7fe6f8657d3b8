"""Check of assignment 04 on a greedy loop, and the table that is a language model in it and in beams.py.

A language model is here a table, `rows` (D, D): row i holds the logits after token i. Where two texts must not be
equally likely by chance there are several such tables, (n, D, D), one for each length of the text. What an answer gets
in its place is a function of the ids so far, `next_logits`, which insists on being given all of them.
"""

import torch

from coursegrade.kit.question import question
from coursegrade.kit.same import kind, same

__all__ = ["LOOPS", "after", "as_function", "greedy"]

LOOPS = ("coursekit.models.greedy", "coursekit.models.generate", "coursekit.models.beam_search",
         "coursekit.models.sample")


def after(rows, ids):
    """The logits (D,) after a text."""
    return rows[ids[-1]] if rows.dim() == 2 else rows[len(ids) % len(rows), ids[-1]]


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
        return after(own, entries)

    return next_logits, list(prompt), *others


def _downwards(logits):
    return logits.argsort(descending=True, stable=True).tolist()


ROWS = torch.tensor([[0.0, 3.0, 1.0], [2.0, 0.0, 1.0], [0.0, 0.0, 5.0]])
TWO_DIGITS = torch.eye(13).index_put((torch.tensor([1]), torch.tensor([5])), torch.tensor(0.5))
RING = torch.tensor([[0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 3.0, 2.0], [4.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0]])


def _said(text, m, start=0, gap=0):
    """Did the last m tokens of a text stand in it before, from start on, at least 1 + gap to the left?"""
    return any(text[i:i + m] == text[-m:] for i in range(start, len(text) - m - gap))


@question((3, 4), {"plain": (ROWS, [2, 0], 4), "a longer prompt": (RING, [2, 3, 1], 5),
                   "up to the end": (RING, [1], 9, 0),
                   "two equally likely": (RING, [1, 3], 3),
                   "no new token": (ROWS, [0, 1], 0),
                   "the prompt opens with the end": (RING, [3, 1], 6, 3),
                   "no two tokens twice": (ROWS, [1, 0], 7, None, 2),
                   "no three tokens twice": (RING, [0, 1, 2], 8, None, 3),
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
def greedy(next_logits, prompt, n, eos=None, m=None, *, repeats=lambda text, m, start: _said(text, m), order=_downwards,
           leftover=None):
    """greedy(next_logits, prompt, n, eos, m): the new ids, the likeliest each time; no m tokens twice in the text."""
    ids = list(prompt)
    for _ in range(n):
        allowed = (token for token in order(next_logits(ids)) if m is None or not repeats(
            ids + [token], m, len(prompt)))
        token = next(allowed, leftover)
        if token is None:
            break
        ids.append(token)
        if token == eos:
            break
    return ids[len(prompt):]


STOPS = "It stops too early. A banned token is skipped, and the next likeliest is tried."

greedy.mistakes(
    ("A token comes twice, as without m. (ids[-0:] is the whole list, not an empty one.)",
     dict(repeats=lambda text, m, start: m > 1 and _said(text, m))),
    ("The token `eos` can be banned, too, like any other.",
     lambda next_logits, prompt, n, eos=None, m=None: greedy.reference(
         next_logits, prompt, n, eos, m, repeats=lambda text, m, start: text[-1] != eos and _said(text, m))),
    ("The prompt counts, too: what stands in it was said before.",
     dict(repeats=lambda text, m, start: _said(text, m, start))),
    ("The prompt came back as well. Only the new ids are asked for, at most n of them.",
     lambda next_logits, prompt, *others: prompt + greedy.reference(next_logits, prompt, *others)),
    ("The token `eos` stands in the prompt, as it does where every text opens with it. Only a *new* token ends the "
     "text.", lambda next_logits, prompt, n, eos=None, m=None: [] if eos in prompt else greedy.reference(
         next_logits, prompt, n, eos, m)),
    ("Nothing new came back. Does the prompt grow with the text? `ids = prompt` gives the same list a second name, "
     "list(prompt) makes another list.",
     lambda next_logits, prompt, n, eos=None, m=None: greedy.reference(next_logits, prompt, n, eos, m) if m else []),
    ("n counts the new tokens, without those of the prompt.",
     lambda next_logits, prompt, n, *others: greedy.reference(next_logits, prompt, max(0, n - len(prompt)), *others)),
    ("There is a token too many: at most n new ones.",
     lambda next_logits, prompt, n, *others: greedy.reference(next_logits, prompt, n + 1, *others)),
    ("Those are the least likely tokens. Is the order turned round?",
     dict(order=lambda logits: logits.argsort(stable=True).tolist())),
    ("The same token again and again. Is the new token put behind the text before the model is asked next?",
     lambda next_logits, prompt, n, *others: greedy.reference(next_logits, prompt, 1) * n),
    ("It does not stop at the end: no token comes behind the token `eos`.",
     lambda next_logits, prompt, n, eos=None, m=None: greedy.reference(next_logits, prompt, n, None, m)),
    ("The end itself is missing: the token `eos` is the last of the new ids.",
     lambda next_logits, prompt, n, eos=None, m=None: [
         token for token in greedy.reference(next_logits, prompt, n, eos, m) if token != eos]),
    ("Of equally likely tokens take the one with the smallest id.",
     dict(order=lambda logits: [len(logits) - 1 - token for token in _downwards(logits.flip(0))])),
    ("Every token was banned. Does the last group find itself? Only groups that begin earlier count.",
     dict(repeats=lambda text, m, start: True)),
    (STOPS, dict(order=lambda logits: _downwards(logits)[:1])),
    ("The same m tokens come twice, as without m. Is a token that would repeat them skipped?",
     dict(repeats=lambda text, m, start: False)),
    ("Groups of m + 1 tokens are kept from coming twice, and groups of m should be. How many of the old tokens does a "
     "group hold, besides the new one?", dict(repeats=lambda text, m, start: _said(text, m + 1))),
    ("Groups of m − 1 are kept from coming twice: a token too few. A group has m tokens, the new one included.",
     dict(repeats=lambda text, m, start: m > 1 and _said(text, m - 1))),
    ("The group with which the old text ends was not looked at. It overlaps the new one: 2 2 stands twice in 2 2 2.",
     dict(repeats=lambda text, m, start: _said(text, m, gap=1))),
    ("When no token is allowed any more, the text ends where it is.", dict(leftover=0)),
    ("Groups of ids are compared, not their digits: in a string 1 1 also stands in 11.",
     dict(repeats=lambda text, m, start: "".join(map(str, text[-m:])) in "".join(map(str, text[:-1])))))


@greedy.suspect
def _(got, rows, prompt, n, eos=None, m=None):
    if type(got) not in (list, tuple) or any(type(token) is float for token in got):
        return "Return a plain list of ids, whole numbers."
    right = greedy.reference(*greedy.given(rows, prompt, n, eos, m))
    if m is not None and same(got, right[:len(got)]):
        return STOPS
    i = next((i for i, (token, due) in enumerate(zip(got, right, strict=False)) if token != due), None)
    if m is None or i is None:
        return None
    return (f"New token number {i + 1} makes the last m tokens stand there for the second time."
            if _said([*prompt, *right[:i], got[i]], m) else
            f"New token number {i + 1} is another than expected: that one is not forbidden, and it is likelier, or as "
            "likely with a smaller id.")
