"""What can be read off the cells of a notebook without running them. Nothing here executes anything."""

import ast
import dataclasses
import re

from IPython.core.inputtransformer2 import TransformerManager

BEGIN, END = re.compile(r"^\s*#+ BEGIN HIDDEN TESTS"), re.compile(r"^\s*#+ END HIDDEN TESTS")


@dataclasses.dataclass(frozen=True)
class LockedCell:
    """A code cell that students cannot edit: its source, and whether it is a test that gives points."""

    source: str
    graded: bool


def locked_in(notebook):
    """{grade_id: LockedCell} of a teacher's notebook."""
    found = {}
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and not about.get("solution") and (about.get("locked") or about.get("grade")):
            found[about["grade_id"]] = LockedCell(cell.source, bool(about.get("grade")))
    return found


def plain_python(source):
    """A cell's source with IPython's magics as the function calls that they stand for; line numbers stay."""
    return TransformerManager().transform_cell(source)


def hidden_lines(source):
    """The numbers of the lines, from 1, between `### BEGIN HIDDEN TESTS` and `### END HIDDEN TESTS`.

    >>> hidden_lines("seen\\n### BEGIN HIDDEN TESTS\\nunseen\\n### END HIDDEN TESTS")
    {2, 3}
    """
    found, inside = set(), False
    for number, line in enumerate(source.splitlines(), 1):
        inside = (inside or bool(BEGIN.match(line))) and not END.match(line)
        if inside:
            found.add(number)
    return found


def imports(source):
    """The import statements at the top level of a cell, hidden tests apart, as a source text.

    >>> imports("import torch\\nx = 1\\nfrom math import pi")
    'import torch\\nfrom math import pi'
    """
    hidden = hidden_lines(source)
    found = [node for node in _statements(source)
             if isinstance(node, (ast.Import, ast.ImportFrom)) and node.lineno not in hidden]
    return "\n".join(ast.unparse(node) for node in found)


def definition(name, sources):
    """The statements that define `name` in the cells `sources`, and those that define the names which they use.

    The latest definition counts. A helper function in another cell is part of the answer, and so is the import that
    gave something another name. "" if nothing at the top level of a cell defines the name.

    >>> definition("f", ["from math import exp as e", "x = 2", "def f(a):\\n    return e(a)"])
    'from math import exp as e\\n\\ndef f(a):\\n    return e(a)'
    """
    where = {}                                                          # name → (its place, statement)
    for place, source in enumerate(sources):
        for node in _statements(source):
            for bound in _binds(node):
                where[bound] = (place, node.lineno), node
    wanted, found = [name], {}
    while wanted:
        if (bound := wanted.pop()) in where and where[bound][0] not in found:
            place, node = where[bound]
            found[place] = node
            wanted += [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    found |= {place: node for name, (place, node) in where.items() if found and name.endswith("*")}
    return "\n\n".join(ast.unparse(found[place]) for place in sorted(found))


def _statements(source):
    try:
        return ast.parse(plain_python(source)).body
    except (SyntaxError, ValueError, RuntimeError, MemoryError):
        return []


def _binds(statement):
    """The names that a statement at the top level gives a value to."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    found = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found += [f"{node.module}.*" if alias.name == "*" else alias.asname or alias.name.split(".")[0]
                      for alias in node.names]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.append(node.name)
    return found
