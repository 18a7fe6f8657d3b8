"""Reads the grammars of the generated texts: `*_grammar.txt`, a symbol a line, its alternatives indented below."""

from functools import cache
from importlib.resources import files


@cache
def grammar(name):
    """The grammar `name`_grammar.txt of the room text as {symbol: [alternative, …]}; lines with # in front are remarks.

    Each file says at its top how its alternatives are written.
    """
    symbols, symbol = {}, None
    for line in files("coursekit.worlds").joinpath(f"{name}_grammar.txt").read_text("utf-8").splitlines():
        if line.startswith(" "):
            symbols[symbol].append(line.strip())
        elif line and not line.startswith("#"):
            symbol = line
            symbols[symbol] = []
    return symbols
