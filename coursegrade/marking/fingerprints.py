"""What two pieces of code have in common, whatever their variables are called: runs of K tokens, the same in both.

Of the tokens of Python, comments, layout, triple-quoted texts and the words in other strings are dropped; every number
is 0, and every name that a person may choose is N. What Python and torch call their things stays: keywords, builtins,
and what follows a dot. So a run survives other names, other comments, another order of functions, and a cell that is
not quite Python. A determined person gets round it, with as much work as an answer of one's own.

These are the fingerprints of Schleimer, Wilkerson, Aiken, "Winnowing: Local Algorithms for Document Fingerprinting",
SIGMOD 2003, but all of them: winnowing keeps one in some, to save room in archives of millions of lines, and answers of
a hundred tokens would lose their evidence.

Why not copydetect, which winnows Pygments' tokens? Its latest release is 0.5.0 of March 2024. It chooses prints by
Python's `hash`, which differs from run to run, so two runs over one class do not agree; and as what is given is
winnowed too, 8 to 11 of the 150 prints of this course's solutions to assignment 02 were still held against students
after they had been declared as given. It knows no questions, and no idiom of a class. On 200 hand-ins it takes 4 s.
"""

import builtins
import collections
import io
import keyword
import tokenize

K = 16                                                                  # tokens: a line or two
KEPT = {*keyword.kwlist, *dir(builtins)}


def prints(source):
    """{print: {(line, statement)} where it stands}; both are counted from 1. No print goes beyond the next `def`.

    >>> prints("def f(a, b):\\n    return 2 * a.sum()  # twice") == prints("def g(x, y):\\n    return 3 * x.sum()")
    True
    """
    found, parts = collections.defaultdict(set), [[]]
    for token in tokens(source):
        parts += [[]] if token[0] in ("def", "class") else []
        parts[-1].append(token)
    for part in parts:
        symbols, places = [symbol for symbol, *_ in part], [(line, statement) for _, line, statement in part]
        for start in range(len(part) - K + 1):
            found[tuple(symbols[start:start + K])].update(places[start:start + K])
    return dict(found)


def tokens(source):
    """(symbol, line, statement) of what counts in a piece of code.

    >>> [symbol for symbol, line, statement in tokens('total = x.sum(1)  # of rows')]
    ['N', '=', 'N', '.', 'sum', '(', '0', ')']
    """
    statement, before = 1, ""
    for token, line in raw(source):
        kind, text = tokenize.tok_name[token.type], token.string
        statement += kind == "NEWLINE" or text == ";"
        if not text.strip() or kind in ("COMMENT", "FSTRING_MIDDLE", "FSTRING_END"):
            continue
        if kind == "STRING" and text.endswith(('"""', "'''")):          # a docstring, or code that was put aside
            continue
        if kind == "NAME":
            before = text if text in KEPT or before == "." else "N"
        else:
            before = {"NUMBER": "0", "STRING": "S", "FSTRING_START": "S"}.get(kind, text)
        yield before, line, statement


def raw(source):
    """(token, line) of a text, Python or not: where it cannot be read, it goes on with the next line."""
    lines, start = source.split("\n"), 0
    while start < len(lines):
        last = 1
        try:
            for token in tokenize.generate_tokens(io.StringIO("\n".join(lines[start:])).readline):
                last = max(token.start[0], 1)
                yield token, start + last
            return
        except (tokenize.TokenError, SyntaxError) as error:
            line = error.lineno if isinstance(error, SyntaxError) else error.args[1][0]
            start += max(last, (line or 1) - 1)
