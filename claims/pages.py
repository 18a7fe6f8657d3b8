"""A lecture as a claim sees it, and what a claim is made of: the digest that its result carries."""

import ast
import builtins
import contextlib
import functools
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import nbformat

from coursekit.models import weights
from tools import notebooks

TAG = "claim-setup"
BUILT_IN = set(dir(builtins))
PAGE = "page"                   # what a claim's function calls its first argument


class Page:
    """What cells of a lecture define: `page.name`; and `loaded`, the files of weights that they loaded.

    The cells are run once, in the order of the lecture; what they print is dropped.
    """

    def __init__(self, lecture: str, cells: tuple[str, ...]):
        self._lecture, self._names = lecture, {"__name__": f"lecture_{lecture}"}
        with contextlib.redirect_stdout(io.StringIO()), weights_loaded() as self.loaded:
            for cell in cells:
                exec(compile(cell, f"lecture {lecture}", "exec"), self._names)

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._names:
            raise AttributeError(f"lecture {self._lecture} defines no {name!r} in a cell tagged {TAG}: tag that cell, "
                                 f"and ask for it as {PAGE}.{name}")
        return self._names[name]


@functools.lru_cache(8)
def page_of(lecture: str, cells: tuple[str, ...]) -> Page:
    """The page of these cells, made once a process."""
    return Page(lecture, cells)


def parts(function, lecture: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(the statements of its own file that a function needs, the cells of the lecture that they need), as sources."""
    file = function.__code__.co_filename
    own = reached(statements(Path(file).read_text(encoding="utf8")), {function.__name__})
    asked = {node.attr for source in own for node in ast.walk(ast.parse(source))
             if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == PAGE}
    return own, reached(setup_cells(lecture), asked)


def digest(claim) -> str:
    """Sixteen digits that change with the claim's code and sentence, and with the cells of the page that it runs."""
    own, cells = parts(claim.function, claim.lecture)
    return hashlib.sha256("\n\0".join([*own, *cells]).encode()).hexdigest()[:16]


def setup_cells(lecture):
    """The sources of the lecture's cells that are tagged claim-setup; one that only imports is taken apart."""
    [path] = notebooks.find(lecture)
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if TAG in cell.metadata.get("tags", [])]
    only_imports = [all(map(imports, ast.parse(cell).body)) for cell in cells]
    return [part for cell, apart in zip(cells, only_imports, strict=True)
            for part in (statements(cell) if apart else [cell])]


def statements(text):
    """The sources of a module's statements, with decorators; an import of several names is one for each of them."""
    lines, found = text.split("\n"), []
    for node in ast.parse(text).body:
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
        found += ([ast.unparse(one) for one in apart(node)] if imports(node) else
                  ["\n".join(lines[first - 1:node.end_lineno])])
    return found


def imports(node):
    """Is a statement an import?"""
    return isinstance(node, (ast.Import, ast.ImportFrom))


def apart(node):
    """An import as imports of one name each."""
    return [ast.ImportFrom(node.module, [name], node.level) if isinstance(node, ast.ImportFrom) else ast.Import([name])
            for name in node.names]


def reached(sources, names) -> tuple[str, ...]:
    """Those of the sources, in their order, that define one of the names, or what such a source uses, and so on."""
    trees = {source: ast.parse(source) for source in sources}
    imported = {name for tree in trees.values() for node in filter(imports, tree.body) for name in defined(node)}
    own = {source: {name for name in defined(tree) if name not in imported | BUILT_IN or any(map(imports, tree.body))}
           for source, tree in trees.items()}
    found, asked = set(), set(names)
    while new := {source for source in trees if own[source] & asked} - found:
        found |= new
        asked |= {node.id for source in new for node in ast.walk(trees[source]) if isinstance(node, ast.Name)
                  and isinstance(node.ctx, ast.Load)}
    return tuple(source for source in sources if source in found)


def defined(tree) -> Iterator[str]:
    """The names that a source defines where it stands, or changes, as in NAMES.append("x"), KINDS["praise"] = []; not
    those inside of its functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Expr) or isinstance(getattr(node, "ctx", None), ast.Store):
            yield from (one.id for one in ast.walk(node) if isinstance(one, ast.Name))
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            yield from defined(node)


@contextlib.contextmanager
def weights_loaded():
    """Inside, a set of the files of weights that are loaded: {"imdb-tame.safetensors", …}."""
    names, checked = set(), weights.checked_path

    def noted(name, folder):
        names.add(name)
        return checked(name, folder)

    weights.checked_path = noted
    try:
        yield names
    finally:
        weights.checked_path = checked
