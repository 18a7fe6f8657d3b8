"""What hidden inputs are drawn from, and which hidden tests of a hand-in have been answered once and for all.

Two sandboxes on one machine share the kernel's caches, memory and clocks, so one can tell another what it was asked,
whatever is closed. What was heard is therefore made worthless: the inputs depend on the teacher's seed, the student and
all that the student's code is made of. In anybody else's hand-in, and in the next one, they are others. And the same
hand-in is asked nothing twice: a verdict once given stands, until what asks is changed.
"""

import functools
import json
import os
from pathlib import Path

from coursekit.grade.marking.course import digest

KIT = Path(__file__).resolve().parent.parent                            # coursekit/grade


def drawn_from(seed, student, notebook, locked, files):
    """The seed of a hand-in's hidden inputs, a text: of the teacher's seed, the student, the sources of all code cells
    that are the student's, in their order, and the files that came along. Outputs, ids, counts and texts do not count,
    nor what the teacher locked: when a check is mended, the inputs stay.

    files: {relative path: bytes}, or pairs of these.
    """
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"
               and cell.metadata.get("nbgrader", {}).get("grade_id") not in locked]
    return digest("hidden inputs", seed, student, len(sources), *sources,
                  *(part for pair in sorted(dict(files).items()) for part in pair))


def asked_by(locked, assignment):
    """A digest of what asks: the assignment's locked cells and its checks, and the kit that they stand on."""
    return digest(*(f"{name}\n{cell.source}" for name, cell in sorted(locked.items())), *_sources(assignment))


@functools.cache
def _sources(assignment):
    folders = [KIT / "kit", KIT / "checks" / assignment]
    return [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.py"))]


class Verdicts:
    """What hidden tests have said of a student's answers, in the file of all that this student has handed in.

    key: a text that stands for the answers, and for what asks. A file that cannot be read counts as none: then the
    tests are asked again.
    """

    def __init__(self, path, key):
        self.path, self.key = path, key

    def known(self):
        """{grade_id: {"passed": …, "said": what the student reads, "why": for the teacher}}"""
        return self._read().get(self.key, {})

    def keep(self, verdicts):
        """Add verdicts; either the old or the new file is there, whatever happens."""
        if not verdicts:
            return
        known = self._read()
        known[self.key] = verdicts | known.get(self.key, {})            # the first one stands
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp")
        with open(temporary, "w") as file:
            json.dump(known, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.path)

    def _read(self):
        try:
            known = json.loads(self.path.read_text())
            return known if type(known) is dict and all(type(each) is dict for each in known.values()) else {}
        except (OSError, ValueError):
            return {}
