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


def locked_cells(gradebook, assignment, notebook):
    """{grade_id: LockedCell} of what the teacher locked, as the gradebook has it."""
    source = gradebook.find_notebook(notebook, assignment)
    graded = {cell.name for cell in source.grade_cells}
    return {cell.name: LockedCell(cell.source, cell.name in graded)
            for cell in source.source_cells if cell.locked and cell.cell_type == "code"}


def plain_python(source):
    """A cell's source with IPython's magics as the function calls that they stand for; line numbers stay."""
    return TransformerManager().transform_cell(source)


def hidden_lines(source):
    """The numbers of the lines, from 1, between `### BEGIN HIDDEN TESTS` and `### END HIDDEN TESTS`.

    >>> hidden_lines("seen\\n### BEGIN HIDDEN TESTS\\nunseen\\n### END HIDDEN TESTS")
    {2, 3}
    """
    found, inside = set(), False
    for number, line in enumerate(source.split("\n"), 1):
        inside = (inside or bool(BEGIN.match(line))) and not END.match(line)
        if inside:
            found.add(number)
    return found


def without_hidden(source):
    """A test's source without its hidden lines; the others keep their numbers."""
    hidden = hidden_lines(source)
    return "\n".join("" if number in hidden else line for number, line in enumerate(source.split("\n"), 1))


def imports(source):
    """The import statements at the top level of a cell, hidden tests apart, as a source text.

    >>> imports("import torch\\nx = 1\\nfrom math import pi")
    'import torch\\nfrom math import pi'
    """
    hidden = hidden_lines(source)
    found = [node for node in ast.parse(plain_python(source)).body
             if isinstance(node, (ast.Import, ast.ImportFrom)) and node.lineno not in hidden]
    return "\n".join(ast.unparse(node) for node in found)
