"""What hidden inputs are drawn from, and which hidden tests of a hand-in have been answered once and for all.

Two sandboxes on one machine share the kernel's caches, memory and clocks, so one can tell another what it was asked,
whatever is closed. What was heard is therefore made worthless: the inputs depend on the teacher's seed, the student and
all that the student's code is made of. In anybody else's hand-in, and in the next one, they are others. And the same
hand-in is asked nothing twice: a verdict once given stands, until what asks is changed.
"""

import functools
import json
import sys
from pathlib import Path

from tqdm import tqdm

from coursegrade import courses
from coursegrade.marking.course import digest
from coursegrade.marking.files import whole

KIT = Path(__file__).resolve().parent.parent / "kit"


def drawn_from(seed, student, notebook, locked, files):
    """The seed of a hand-in's hidden inputs, a text: of the teacher's seed, the student, the sources of all code cells
    that are the student's, in their order, and the files that came along. Outputs, ids, counts and texts do not count,
    nor what the teacher locked: when a check is mended, the inputs stay.

    files: {relative path: bytes}.
    """
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"
               and cell.metadata.get("nbgrader", {}).get("grade_id") not in locked]
    return digest("hidden inputs", seed, student, len(sources), *sources,
                  *(part for pair in sorted(files.items()) for part in pair))


def asked_by(locked, assignment):
    """A digest of what asks: the assignment's locked cells and its checks, and the kit that they stand on."""
    return digest(*(f"{name}\n{cell.source}" for name, cell in sorted(locked.items())), *_sources(assignment))


@functools.cache
def _sources(assignment):
    asked = courses.folder()
    files = [*KIT.rglob("*.py"), *asked.glob("*.py"), *(asked / assignment).rglob("*.py")]
    return [path.read_bytes() for path in sorted(files)]


class Verdicts:
    """What hidden tests have said of a student's answers, in the file of all that this student has handed in.

    key: a text that stands for the answers, and for what asks. A file that cannot be read counts as none, and is named:
    then the tests are asked again.
    """

    def __init__(self, path, key):
        self.path, self.key, self._all = path, key, {}
        try:
            self._all = json.loads(path.read_text())
            if type(self._all) is not dict or not all(type(each) is dict for each in self._all.values()):
                raise ValueError("it holds something else")
        except FileNotFoundError:
            pass
        except (OSError, ValueError):
            self._all = {}
            tqdm.write(f"{path} cannot be read, so its hidden tests are asked again", file=sys.stderr)

    def known(self):
        """{grade_id: {"passed": …, "said": what the student reads, "why": for the teacher}}"""
        return self._all.get(self.key, {})

    def keep(self, verdicts):
        """Add verdicts, and write the file, if there are any."""
        if verdicts:
            self._all[self.key] = verdicts | self.known()               # the first one stands
            with whole(self.path) as file:
                json.dump(self._all, file, indent=1)
