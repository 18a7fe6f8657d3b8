"""A guess: what somebody thinks will come out, typed before it is looked at. Nobody marks it.

In a notebook it is a cell with a literal, `share = None`, in which a number, a word or a list of them takes the place
of None. The cell below ends with what came out, and the guess beside it:

    check.guess("the share of the first word", share, found, show.table(rows), within=0.1)

Without a guess, what is shown stays folded behind one line: a notebook runs from top to bottom, and tells nothing that
is still to be guessed. `check.score()` counts guesses. Those of a class are read off its notebooks, and nothing is run
(marking/beliefs.py).
"""

import html
import numbers

from coursegrade.kit.same import kind

_made = {}          # what is guessed → is it right? None: no guess yet. The latest run counts


class Beside:
    """What came out, below a line on the guess; folded, where there is none."""

    def __init__(self, line, shown, folded):
        self.line, self.shown, self.folded = line, shown, folded

    def _repr_html_(self):
        parts = "".join(one._repr_html_() if hasattr(one, "_repr_html_") else f"<pre>{html.escape(str(one))}</pre>"
                        for one in self.shown)
        line = html.escape(self.line)
        return f"<details><summary>{line}</summary>{parts}</details>" if self.folded else f"<p>{line}</p>{parts}"

    def __repr__(self):
        return "\n".join([self.line, *([] if self.folded else map(str, self.shown))])


def guess(what, guessed, found, *shown, within=0.0):
    """What came out, to be a cell's last line: `shown`, tables, pictures and texts, below a line on the guess.

    what: is guessed, in words. guessed: None, or the guess. found: what came out, a number, a word, or a list of them.
    within: how far a number may be off. Words are compared without regard to case, lists in their order.
    Raises ValueError, in one line, for a guess of another kind than what came out.

    >>> guess("heads that look back", 3, 4, "heads 0, 2, 5 and 7", within=1)
    Heads that look back: you guessed 3, and it is 4. ✓ (within 1)
    heads 0, 2, 5 and 7
    >>> guess("the loudest word", None, "awful", "dull .2, awful .7")
    The loudest word: no guess yet. Put it in the place of None, run both cells, and open this.
    """
    found, guessed = _plain(found), _plain(guessed)
    right = None if guessed is None else _right(guessed, found, within)
    _made[what] = right
    title, near = what[0].upper() + what[1:], f" (within {within:g})" * (within > 0)
    return Beside(f"{title}: " + (
        "no guess yet. Put it in the place of None, run both cells, and open this." if guessed is None else
        f"you guessed {_said(guessed)}, and it is {_said(found)}. {'✓' if right else 'Not so'}{near}"), shown,
        guessed is None)


def counted():
    """(guesses made, right ones, how many there are to make) of the cells that have run."""
    return sum(right is not None for right in _made.values()), sum(map(bool, _made.values())), len(_made)


def forget():
    """Forget all guesses."""
    _made.clear()


def _plain(value):
    """Numbers of NumPy and torch as Python's, lists and tuples as lists."""
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _right(guessed, found, within):
    if isinstance(found, list) and isinstance(guessed, list):
        return len(guessed) == len(found) and all(_right(*pair, within) for pair in zip(guessed, found, strict=True))
    if isinstance(found, str) and isinstance(guessed, str):
        return guessed.strip().casefold() == found.strip().casefold()
    if isinstance(found, numbers.Real) and isinstance(guessed, numbers.Real):
        return abs(guessed - found) <= within + 1e-12
    due = {str: "a word in quotes", list: "a list"}.get(type(found), "a number")
    raise ValueError(f"your guess is {kind(guessed)}, and what comes out is {due}: guess that, or write None again")


def _said(value):
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)
