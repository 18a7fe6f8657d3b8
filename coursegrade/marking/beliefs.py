"""What a class believed before it looked: the guesses of its hand-ins (kit/guesses.py), read off their source. Nothing
is run, and nobody is named; a text that one student alone has typed is counted, and not shown.
"""

import ast
import collections
import contextlib
import statistics

from coursegrade.marking.cells import plain_python
from coursegrade.sandbox.protocol import clean

LONGEST, LARGEST = 1000, 1e12           # letters of a cell that may be a guess; a number


def asked(notebook):
    """{name in the notebook: what is guessed} of calls `check.guess("what", name, …)`, in their order."""
    found = {}
    for source in _code(notebook):
        if "check.guess(" in source:
            for node in ast.walk(ast.parse(plain_python(source))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "check.guess":
                    what, guessed, *_ = node.args
                    found[guessed.id] = what.value
    return found


def guessed(notebook, names):
    """{name: guess} of the cells of a hand-in that say `name = literal`, the last one each; None is no guess.

    >>> from nbformat.v4 import new_code_cell, new_notebook
    >>> cells = ["share = .5   # of all", "share = None", "word = input()", "word = 'awful'"]
    >>> guessed(new_notebook(cells=[new_code_cell(source) for source in cells]), ["share", "word"])
    {'word': 'awful'}
    """
    found = {}
    for source in _code(notebook):
        with contextlib.suppress(SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            for statement in ast.parse(source).body if len(source) <= LONGEST else ():
                match statement:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
                        found[name] = ast.literal_eval(value)
    return {name: value for name, value in found.items() if value is not None}


def told(released, notebooks, most=3):
    """Lines of text: for each guess how many made one, and what they were: median and middle half of numbers, else what
    was guessed most often, by two students at least."""
    wanted = asked(released)
    found = [guessed(notebook, wanted) for notebook in notebooks]
    if wanted and found:
        yield ""
        yield "guessed before looking"
    for name, what in wanted.items() if found else ():
        values = [guess[name] for guess in found if name in guess]
        yield f"    {len(values):>3} of {len(found)}  {what}{': ' * bool(values)}{summary(values, most)}"


def summary(values, most=3):
    """What they are, in a few words.

    >>> summary([.1, .2, .2, .4]), summary(["Awful", "awful", "dull", "my name is Jo"])
    ('median 0.2, half of them 0.175 to 0.25', '2 × awful, 2 others')
    """
    if len(values) > 1 and all(type(value) in (int, float) and abs(value) < LARGEST for value in values):
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        return f"median {statistics.median(values):.3g}, half of them {low:.3g} to {high:.3g}"
    counts = collections.Counter(clean(str(value), 60, lines=False).strip().casefold() for value in values)
    shown = [(value, count) for value, count in counts.most_common(most) if count > 1]
    others = len(values) - sum(count for _, count in shown)
    return ", ".join([f"{count} × {value}" for value, count in shown] + [
        f"{others} other{'s' * (others > 1)}"] * bool(others))


def _code(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]
