"""Puts a submitted notebook's cells back into the teacher's frame: each cell of the teacher's once, and in its form.

Students copy, delete and convert cells, and tools strip the metadata that says which cell is which. The cells are
recognised by their id, else by their text, by the names that they define, or by the question that they come after.
"""

import ast
import copy
import dataclasses
import functools
import re

from nbformat import v4

MAX_DEFINING = 100_000                                                  # characters of a cell that defines something
MAGIC = re.compile(r"^(\s*(?:\w+\s*=\s*)?)(?:[!%?].*|[\w.]+\?+\s*)$")
STUB = "# This cell was deleted, and nothing in the notebook looks like it."


@dataclasses.dataclass
class Cell:
    """What is taken of a submitted cell. pictures: attachments, as in the notebook format."""

    kind: str
    source: str
    grade_id: str = ""
    pictures: dict = dataclasses.field(default_factory=dict)


def kinship(cells, released):
    """How many of the assignment's questions and tests are among some cells, by id or by text."""
    ours = [cell for cell in teachers(released) if not is_plain(cell)]
    there = {cell.grade_id for cell in cells}
    names = set().union(*(defines(cell.source) for cell in cells if cell.kind == "code"))
    texts = {squeezed(cell.source) for cell in cells}
    return sum(grade_id(cell) in there or cell.cell_type == "code" and (
        bool(defines(cell.source) & names) if is_answer(cell) else squeezed(cell.source) in texts) for cell in ours)


def repair(cells, released):
    """(notebook, notes): a new notebook with the cells [Cell], and the teacher's among them in the teacher's form.

    released: the assignment as students get it. Of copies one counts, and the others become ordinary cells; what is
    missing is put back where it belongs; locked cells get their text back.
    """
    places, notes = find(cells, released)
    cell_of = {place: cell for cell in teachers(released) if (place := places[grade_id(cell)]) is not None}
    made = [in_form(cell, cell_of[place], notes) if place in cell_of else
            new_cell(cell.kind, cell.source, cell.pictures) for place, cell in enumerate(cells)]
    before = -1
    for cell in teachers(released):
        name = grade_id(cell)
        if (place := places[name]) is not None:
            before = next(i for i, other in enumerate(made)
                          if other.metadata.get("nbgrader", {}).get("grade_id") == name)
            continue
        notes.append(f"{name}: the cell was missing, and was put back")
        missing = copy.deepcopy(cell)
        if is_answer(cell) and cell.cell_type == "code":
            missing.source = STUB                                       # an empty one could hide an answer elsewhere
        made.insert(before + 1, missing)
        before += 1
    for number, cell in enumerate(made):
        cell["id"] = f"cell-{number}"
    metadata = {key: released.metadata[key] for key in ("kernelspec", "language_info") if key in released.metadata}
    return v4.new_notebook(cells=made, metadata=metadata), notes


def find(cells, released):
    """({grade_id: place in cells, or None}, notes) for each cell of the teacher's."""
    places, notes, lost, taken = {}, [], [], set()
    for cell in teachers(released):
        same = [i for i, other in enumerate(cells) if other.grade_id == grade_id(cell)]
        places[grade_id(cell)] = place = best(same, cells, cell)
        taken.add(place)
        if len(same) > 1:
            notes.append(f"{grade_id(cell)}: the cell is there {len(same)} times; one of them counts")
    known = set(places)
    for cell in teachers(released):
        name = grade_id(cell)
        if places[name] is None:
            free = [i for i, other in enumerate(cells) if i not in taken and other.grade_id not in known]
            places[name] = place = recognise(cell, free, cells, released)
            taken.add(place)
            if place is not None:
                lost.append(name)
    if len(lost) > 1 and not any(cell.grade_id in known for cell in cells):
        notes.append(f"all marks of cells were lost, as on Colab; {len(lost)} cells were recognised by their text")
    else:
        notes += [f"{name}: its mark was lost, and it was recognised by its text" for name in lost]
    return places, notes


def best(same, cells, cell):
    """Of the places of cells with one id, the one that counts: of an answer the last that is not empty; else the last
    that was not changed."""
    unchanged = [i for i in same if squeezed(cells[i].source) == squeezed(cell.source)]
    good = [i for i in same if i not in unchanged] if is_answer(cell) else unchanged
    return (good or same or [None])[-1]


def recognise(cell, free, cells, released):
    """The place, among the free ones, of a teacher's cell that has lost its metadata; None if nothing looks like it."""
    if not is_answer(cell):
        return best([i for i in free if squeezed(cells[i].source) == squeezed(cell.source)], cells, cell)
    if cell.cell_type == "code":
        names = defines(cell.source)
        return best([i for i in free if cells[i].kind == "code" and names & defines(cells[i].source)], cells, cell)
    given = {squeezed(other.source) for other in released.cells if not is_answer(other)}
    question = squeezed(released.cells[released.cells.index(cell) - 1].source)
    start = next((i for i, other in enumerate(cells) if squeezed(other.source) == question), None)
    if start is None:
        return None
    answers = []
    for i in range(start + 1, len(cells)):
        if squeezed(cells[i].source) in given:
            break                                                       # the next question
        answers += [i] if i in free and cells[i].kind != "code" else []
    return max(answers, key=lambda i: len(cells[i].source), default=None)


def in_form(cell, teachers_cell, notes):
    """The submitted cell in the form of the teacher's: its type and metadata and, where it is locked, its text."""
    name, source = grade_id(teachers_cell), cell.source
    if not is_answer(teachers_cell):
        if squeezed(source) != squeezed(teachers_cell.source):
            notes.append(f"{name}: the cell had been changed; the original counts")
        source = teachers_cell.source
    if cell.kind != teachers_cell.cell_type:
        notes.append(f"{name}: the cell had become {cell.kind}; it counts as {teachers_cell.cell_type}")
    made = new_cell(teachers_cell.cell_type, source, cell.pictures)
    made.metadata = copy.deepcopy(teachers_cell.metadata)
    return made


def new_cell(kind, source, attached):
    """A cell of the current format without metadata. A raw one becomes a text."""
    if kind == "code":
        return v4.new_code_cell(source)
    made = v4.new_markdown_cell(fenced(source) if kind == "raw" else source)
    if attached and kind == "markdown":
        made["attachments"] = attached
    return made


def fenced(source):
    """Markdown that shows a raw cell's source as it is: nbgrader's pages would take it for HTML, with ids and classes
    that their own scripts look for.

    >>> fenced("<b>")
    '```\\n<b>\\n```'
    """
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", source)), default=0))
    return f"{fence}\n{source}\n{fence}"


def teachers(released):
    """The cells of an assignment that nbgrader knows, in order."""
    return [cell for cell in released.cells if "grade_id" in cell.metadata.get("nbgrader", {})]


def grade_id(cell):
    """The id of one of the teacher's cells."""
    return cell.metadata["nbgrader"]["grade_id"]


def is_answer(cell):
    """Is it a cell that the student writes in?"""
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def is_plain(cell):
    """Is it locked, without being a test?"""
    return not is_answer(cell) and not cell.metadata["nbgrader"].get("grade")


def squeezed(text):
    """A text without what editors change unasked: space at the ends of lines, empty lines around it."""
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


@functools.lru_cache(2048)
def defines(source):
    """The names of the functions and classes that a cell defines, and of the variables that it sets, at its top level.

    Magics are left out; a cell with more than MAX_DEFINING characters is not looked at.

    >>> sorted(defines("%time\\ndef f(x):\\n    y = x\\nz = f(1)"))
    ['f', 'z']
    """
    if len(source) > MAX_DEFINING:
        return frozenset()
    try:
        try:
            statements = ast.parse(source).body
        except SyntaxError:
            statements = ast.parse("\n".join(MAGIC.sub(r"\1...", line) for line in source.split("\n"))).body
    except (SyntaxError, ValueError, RuntimeError, MemoryError):
        return frozenset()
    found = {node.name for node in statements if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for node in statements:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            found |= {target.id} if isinstance(target, ast.Name) else set()
    return frozenset(found)
