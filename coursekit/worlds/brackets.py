"""Brackets that match, no deeper than D: the language Dyck_{k,D} (Schützenberger, 1963), its automaton, its samples.

A sequence begins with START, which is also the bottom of the stack: ids (n, 1 + T), START = 4, then "(" = 0, ")" = 1,
"[" = 2, "]" = 3.
"""

from typing import NamedTuple

import numpy as np
import torch

from coursekit.inputs import as_text, as_whole

BRACKETS, START, K, D, T = "()[]", 4, 2, 4, 28             # K kinds of brackets, depth at most D, T brackets


class Run(NamedTuple):
    """What a push-down automaton did: accepted or not, and its stack after each symbol that it read.

    >>> Run(True, ["(", ""]).accepted
    True
    """

    accepted: bool
    stacks: list


def pushdown(text, depth=D):
    """Run the push-down automaton that accepts what S → ( S ) S | [ S ] S | ε generates, no deeper than
    `depth` (None: any depth).

    It pushes an opening bracket, pops the matching one, stops where it cannot, and accepts on an empty stack.

    >>> pushdown("[()]")
    Run(accepted=True, stacks=['[', '[(', '[', ''])
    >>> pushdown("[()])").accepted, pushdown("[(])").stacks
    (False, ['[', '[('])
    """
    stack, stacks = "", []
    for symbol in as_text(text):
        if symbol not in BRACKETS:
            raise ValueError(f"expected a text of {BRACKETS}, got {symbol!r} in it")
        if BRACKETS.index(symbol) % 2 == 0 and (depth is None or len(stack) < depth):
            stack += symbol
        elif BRACKETS.index(symbol) % 2 and stack[-1:] == BRACKETS[BRACKETS.index(symbol) - 1]:
            stack = stack[:-1]
        else:
            return Run(False, stacks)
        stacks.append(stack)
    return Run(not stack, stacks)


def sample(n, seed=0, length=T):
    """Ids (n, 1 + length) of n sequences: uniform over balanced paths no deeper than D, then over kinds.

    At each step, it opens with the share of those continuations that begin so: they are counted from behind.

    >>> texts = [decode(ids) for ids in sample(2)]
    >>> texts[0], all(pushdown(text).accepted for text in texts)
    ('([]([])([]))[[]([]()())[[]]]', True)
    """
    n, length = as_whole(n, "n", 1), as_whole(length, "length", 2)
    random = np.random.default_rng(as_whole(seed, "seed"))
    if length % 2:
        raise ValueError(f"balanced sequences have an even length, got {length}")
    ways = np.zeros((length + 1, D + 3))                                   # [steps left, 1 + depth]: paths to depth 0
    ways[0, 1] = 1.0
    for left in range(1, length + 1):
        ways[left, 1:D + 2] = ways[left - 1, :D + 1] + ways[left - 1, 2:]
        ways[left] /= ways[left].sum()                                     # only ratios count; these stay in range
    depth, kinds = np.zeros(n, int), np.zeros((n, D + 1), int)             # kinds: what is open at each depth
    columns = [np.full(n, START)]
    for left in range(length, 0, -1):
        opening, closing = ways[left - 1, depth + 2], ways[left - 1, depth]
        opens = random.random(n) * (opening + closing) < opening
        depth = depth + opens
        kinds[opens, depth[opens]] = random.integers(K, size=opens.sum())
        columns.append(2 * kinds[np.arange(n), depth] + ~opens)
        depth = depth - ~opens
    return torch.from_numpy(np.stack(columns, 1))


def decode(ids):
    """The text of ids (1 + T,).

    >>> decode(encode("([])"))
    '([])'
    """
    return "".join(BRACKETS[i] for i in ids.tolist() if i != START)


def encode(text):
    """Ids (1 + T,) of a text of brackets, START before it.

    >>> encode("([])").tolist()
    [4, 0, 2, 3, 1]
    """
    return torch.tensor([START, *(BRACKETS.index(symbol) for symbol in as_text(text))])


def depths(ids):
    """Depth (n, 1 + T) of each bracket, that of the pair it belongs to: 1 … D; START has 0.

    >>> depths(encode("([])[]")[None]).tolist()
    [[0, 1, 2, 2, 1, 1, 1]]
    """
    opens, closes = (ids % 2 == 0) & (ids != START), ids % 2 == 1
    return (opens.long() - closes.long()).cumsum(1) + closes.long()


def stack_top(ids):
    """Place (n, 1 + T) of the last unmatched opening bracket after each token; START's, 0, where none is open.

    >>> stack_top(encode("([])[]")[None]).tolist()
    [[0, 1, 2, 1, 0, 5, 0]]
    """
    stack, tops = torch.zeros(len(ids), 2 + ids.shape[1], dtype=torch.long), []       # places of what is open
    height, rows = torch.zeros(len(ids), dtype=torch.long), torch.arange(len(ids))
    for t, token in enumerate(ids.T):
        opened = (token % 2 == 0) & (token != START)
        height = height + opened.long() - token % 2
        stack[rows[opened], height[opened]] = t
        tops.append(stack[rows, height])
    return torch.stack(tops, 1)


def closings(ids, far=False):
    """Mask (n, T) of the places before a closing bracket; `far`: only where its partner is not the token just read.

    >>> closings(encode("([])")[None]).tolist(), closings(encode("([])")[None], far=True).tolist()
    ([[False, False, True, True]], [[False, False, False, True]])
    """
    closes = ids[:, 1:] % 2 == 1
    return closes & (ids[:, :-1] % 2 == 1) if far else closes
