"""Looks at what was handed in before any of it runs: which files, whether there is a notebook, and of which assignment.

    checked = look("grading/submitted/ada/02_sorting", "02_sorting", released)      raises Rejected
    checked.notebook       as the teacher made it, with the student's answers and other cells in it (repair.py)
    checked.files          {relative path: bytes} of what may come along
    checked.notes          what was mended or left out, in words

Nothing of the student's notebook is kept but the cells' types, texts, ids and pictures: it is made anew. Files are read
only if they are plain ones; links are refused.
"""

import dataclasses
import datetime
import json
import stat
from pathlib import Path

import dateutil.parser
import nbformat

from coursegrade.marking.files import shown, walk
from coursegrade.marking.repair import Cell, kinship, repair
from coursegrade.sandbox.protocol import clean

MAX_NOTEBOOK = 50 << 20                                                 # bytes of a notebook, its outputs included
MAX_OBJECTS = 10 ** 6                                                   # brackets in its JSON: each costs memory
MAX_CELLS, MAX_TEXT = 2000, 2 << 20                                     # cells that are not empty; characters in them
MAX_FILES, MAX_BYTES = 50, 20 << 20                                     # of all other files together
MAX_PICTURES = 5 << 20                                                  # characters of a cell's pasted pictures
ALLOWED = {".py", ".csv", ".tsv", ".txt", ".md", ".json", ".png", ".jpg", ".jpeg", ".npy", ".npz"}
TIMESTAMP = "timestamp.txt"                                             # nbgrader's: when it was handed in
LEFT_OUT = b"\0left out: "                                             # then why: what the inbox could not copy
IN_DOUBT = b"\0in doubt: "                                             # then why: in the place of a notebook
OTHER_KIND = LEFT_OUT + b"was left out: files of this kind are not used"
BEGINNINGS = {b"%PDF": "a PDF", b"PK": "a zip file (or a Word document)", b"<": "a web page", b"\x89PNG": "a picture",
              b"\x1f\x8b": "a compressed file"}


class Rejected(Exception):
    """The submission cannot be graded; the message says why, for the student."""


@dataclasses.dataclass
class Checked:
    """A submission that can run; see the module."""

    notebook: nbformat.NotebookNode
    files: dict
    notes: list
    timestamp: str = ""


def look(folder, assignment, released, others=()):
    """The `Checked` submission in a folder. released: the assignment as students get it, a notebook; others: {name:
    notebook} of other assignments, for the hint that one was mistaken for another. Raises `Rejected`."""
    notes, notebooks, files, pdfs, timestamp = [], {}, {}, [], ""
    for name, data in plain_files(Path(folder), notes):
        if data.startswith(IN_DOUBT):
            raise Rejected(data.removeprefix(IN_DOUBT).decode("utf-8", "replace"))
        pdfs += [name] if name.lower().endswith(".pdf") else []
        if data.startswith(LEFT_OUT) and not name.lower().endswith(".ipynb"):
            notes.append(f"{name} {data.removeprefix(LEFT_OUT).decode('utf-8', 'replace')}")
        elif name.lower().endswith(".ipynb"):
            notebooks[name] = data
        elif name == TIMESTAMP:
            timestamp = when(data, notes)
        elif Path(name).suffix.lower() in ALLOWED:
            files[name] = data
        else:
            notes.append(f"{name} {OTHER_KIND.removeprefix(LEFT_OUT).decode()}")
    if pdfs and len(notes) == len(pdfs) and not notebooks and not files:
        raise Rejected(f"only a PDF came ({', '.join(pdfs)}). Hand in the notebook itself, {assignment}.ipynb")
    name, cells = choose(notebooks, assignment, released, dict(others), notes)
    size = 0
    for path in sorted(files):
        size += len(files[path])
        if size > MAX_BYTES:
            notes.append(f"{path} was left out: together the files have more than {MAX_BYTES >> 20} MB")
            del files[path]
    notebook, mended = repair(cells, released)
    return Checked(notebook, files, notes + mended, timestamp)


def plain_files(folder, notes):
    """(relative path, bytes) of the plain files in a folder, at most MAX_FILES; what is left out is noted."""
    if folder.is_symlink() or not folder.is_dir():
        raise Rejected("what was handed in is a link or no folder")
    found = 0
    for here, folders, names in walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", "__MACOSX")
                            and not name.startswith("."))
        for name in sorted(names, key=lambda name: (not name.lower().endswith(".ipynb"), name)):
            path = Path(here, name)
            label = shown(path.relative_to(folder))
            about = path.lstat()
            if name.startswith("."):
                continue
            if label != str(path.relative_to(folder)):
                notes.append(f"{label} was left out: its name has signs that no name needs, or too many")
            elif not stat.S_ISREG(about.st_mode):
                notes.append(f"{label} was left out: it is a link or no plain file")
            elif about.st_size > MAX_NOTEBOOK:
                notes.append(f"{label} was left out: it has {about.st_size >> 20} MB, of at most {MAX_NOTEBOOK >> 20}. "
                             "(A notebook without its outputs is small: Edit → Clear Outputs of All Cells)")
            elif found >= MAX_FILES:
                notes.append(f"from {label} on, files were left out: there are more than {MAX_FILES}")
                return
            else:
                found += 1
                yield str(path.relative_to(folder)), path.read_bytes()


def choose(notebooks, assignment, released, others, notes):
    """The (name, cells) of the notebook that counts, among {name: bytes}: of this assignment, worked on, well named."""
    readable, why = {}, {}
    for name, data in sorted(notebooks.items()):
        try:
            readable[name] = read_cells(data)
        except Rejected as error:
            why[name] = f"{name} {error}"
    ours = {name: cells for name, (cells, _) in readable.items() if kinship(cells, released)}
    if not ours:
        if readable:
            name, (cells, _) = next(iter(readable.items()))
            like = max(others, key=lambda other: kinship(cells, others[other]), default=None)
            hint = f"; it looks like {like}" if like and kinship(cells, others[like]) else ""
            what = "the notebook" if name == f"{assignment}.ipynb" else name     # which the inbox gave to what came
            raise Rejected(f"{what} is not {assignment}, as it has none of its questions{hint}")
        left_out = "; ".join([*why.values(), *notes])
        raise Rejected("there is no notebook" + (f" that can be read: {left_out}" if left_out else ""))
    given = {cell.source for cell in released.cells}

    def rank(name):
        worked_on = any(cell.source not in given for cell in ours[name])
        return worked_on, Path(name).name == f"{assignment}.ipynb", kinship(ours[name], released)

    best = max(sorted(ours), key=rank)
    notes += [*why.values(), *readable[best][1]]
    notes += [f"{name} was left out: {best} counts" for name in readable if name != best]
    return best, ours[best]


def read_cells(data):
    """([Cell], notes) of a notebook's bytes, whatever its version, encoding and line endings. Raises `Rejected`."""
    notes = []
    if not data.strip():
        raise Rejected("is empty")
    if data.startswith(LEFT_OUT):
        raise Rejected(clean(data.removeprefix(LEFT_OUT).decode("utf-8", "replace"), 200, lines=False))
    for beginning, what in BEGINNINGS.items():
        if data.lstrip().startswith(beginning):
            raise Rejected(f"is {what}, not a notebook")
    if data.count(b"{") + data.count(b"[") > MAX_OBJECTS:
        raise Rejected(f"has more than {MAX_OBJECTS:,} brackets: clear its outputs (Edit → Clear Outputs of All Cells)")
    try:
        try:
            text = data.decode(json.detect_encoding(data), "surrogatepass")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
            notes.append("it was not in UTF-8, and was read as an old Windows encoding")
        raw = json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise Rejected("is not a notebook: it is nested too deeply") from None
    except ValueError as error:
        raise Rejected(f"cannot be read, as it is not valid JSON ({clean(str(error), 100, lines=False)}): "
                       "was it cut off?") from None
    if type(raw) is dict and "worksheets" in raw:
        try:
            raw = nbformat.reads(text.removeprefix("\ufeff"), as_version=4)
        except Exception:                                               # nbformat trusts the file
            raise Rejected("is in an old notebook format that cannot be converted") from None
        notes.append("it was in an old notebook format, and was converted")
    if not isinstance(raw, dict) or not isinstance(raw.get("cells"), list):
        raise Rejected("is not a notebook: it has no list of cells")
    cells = [made for cell in raw["cells"] if (made := one_cell(cell))]
    if len(cells) > MAX_CELLS:
        cells = [cell for cell in cells if cell.source.strip() or cell.grade_id]
        notes.append("its empty cells were left out")
    if len(cells) > MAX_CELLS:
        raise Rejected(f"has {len(cells):,} cells; the most is {MAX_CELLS:,}")
    if sum(len(cell.source) for cell in cells) > MAX_TEXT:
        raise Rejected(f"has more than {MAX_TEXT:,} characters in its cells")
    return cells, notes


def one_cell(raw):
    """A `Cell` from what a notebook file has as a cell, or None if it is none."""
    if not isinstance(raw, dict) or raw.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    source = raw.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    source = source.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()
    metadata = raw.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = about.get("grade_id") if isinstance(about, dict) else None
    grade_id = grade_id if isinstance(grade_id, str) else ""
    return Cell(raw["cell_type"], source, grade_id, pictures(raw.get("attachments")))


def pictures(attachments):
    """The PNG and JPEG pictures that were pasted into a text cell, as the format has them; {} where there are none."""
    found, room = {}, MAX_PICTURES
    for name, kinds in attachments.items() if isinstance(attachments, dict) else ():
        for kind, text in kinds.items() if isinstance(kinds, dict) else ():
            if kind in ("image/png", "image/jpeg") and isinstance(text, str) and len(text) <= room:
                room -= len(text)
                text = "".join(sign for sign in text if sign.isascii() and (sign.isalnum() or sign in "+/="))
                found[clean(name, 100, lines=False)] = {kind: text}
    return found


def when(data, notes):
    """The time in a timestamp.txt as nbgrader writes it, in UTC; "" if it is no time."""
    try:
        time = dateutil.parser.parse(data.decode().strip())
        return f"{time.astimezone(datetime.UTC) if time.tzinfo else time:%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, AttributeError, TypeError):
        notes.append(f"{TIMESTAMP} holds no date and time, so it counts as handed in on time")
        return ""
