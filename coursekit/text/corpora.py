"""English prose that every Python already carries: the docstrings of its own standard library.

The tokenizer lectures need some hundred kilobytes of real text, offline and free of licences to ask for.
The files are parsed with `ast`, never imported, so nothing runs (`import this` would print a poem).
"""

import ast
import re
import sysconfig
import warnings
from functools import cache
from pathlib import Path

_DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def stdlib_english(folder: str | Path | None = None) -> list[str]:
    """The docstrings of the running Python's standard library that read as English, one string each.

    folder: where the library's sources lie; None means the running Python's own. Read are the public modules that
    are one file (`abc.py` … `zipimport.py`), in the order of their names and lines. Kept are docstrings of at
    least eight words in which 19 characters of 20 are letters, spaces or plain punctuation, and which hold no
    doctest; a repeated one is dropped. About half a megabyte.

    **The text differs between Python versions**: compare numbers computed from it within one version only.

    Raises FileNotFoundError, in one line, where the sources are not on disk (a Python packed into a zip file).

    >>> all(isinstance(d, str) and len(d.split()) >= 8 for d in stdlib_english())
    True
    """
    return list(_docstrings(Path(folder or sysconfig.get_path("stdlib"))))


@cache
def _docstrings(folder):
    """The work behind `stdlib_english`, done once per folder."""
    files = sorted(file for file in folder.glob("*.py") if not file.name.startswith("_"))
    if not files:
        raise FileNotFoundError(f"no Python sources in {folder}: expected the standard library's .py files there; "
                                "use a Python that has them (python.org, conda, a system package) or pass folder=")
    texts = {}  # a dict keeps the order and drops repetitions
    for file in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parser warns about escapes such as "\d" in old sources
            tree = ast.parse(file.read_bytes())
        for node in [tree, *_documented(tree)]:
            text = ast.get_docstring(node)
            if text and _is_prose(text):
                texts[text] = None
    return tuple(texts)


def _documented(node):
    """The classes, methods and functions under a syntax node in the order of their lines; no function is entered."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _DOCUMENTED):
            yield child
        if isinstance(child, (ast.ClassDef, ast.If, ast.Try, ast.ExceptHandler)):
            yield from _documented(child)


def _is_prose(text):
    """Eight words or more, no doctest, at most one character in twenty that English text would not hold."""
    strange = re.sub(r"[A-Za-z\s.,;:'!?-]", "", text)
    return len(text.split()) >= 8 and ">>>" not in text and len(strange) <= 0.05 * len(text)
