"""What the checks said to each hand-in of a student: which advice a class hears most, and what comes of it at the next
try. Of hand-ins that are gone grading/heard keeps what they heard.
"""

import collections
import json
import re

import nbformat

from coursegrade.marking import records
from coursegrade.marking.course import digest
from coursegrade.marking.files import whole
from coursegrade.marking.outputs import UNSEEN
from coursegrade.sandbox.protocol import clean

NUMBER = re.compile(r"[-−]?\d+([.,]\d+)*(e[-+]?\d+)?")


def question(name):
    """The question that a test belongs to: check_softmax and more_softmax to softmax, reading to itself.

    >>> question("check_softmax"), question("reading")
    ('softmax', 'reading')
    """
    return re.sub(r"^(check|more|best)_", "", name or "")


def marked(course, assignment, student):
    """The marked notebook of a student; None if there is none."""
    path = course.grading / "autograded" / student / assignment / f"{assignment}.ipynb"
    return nbformat.read(path, as_version=4) if path.exists() else None


def said(notebook):
    """{question: what its checks said, sorted} of a marked notebook; of those that were passed nothing, []."""
    found = collections.defaultdict(set)
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and about.get("grade"):
            found[question(about["grade_id"])] |= {
                summary(output, cell.source) for output in cell.outputs if output.output_type == "error"}
    return {name: sorted(messages - {UNSEEN} or messages) for name, messages in found.items()}   # of one mistake, both


def keep(course, assignment, student, notebook):
    """Note what the checks said to the hand-in that was just marked, beside what they said to the ones before it."""
    own = [cell.source for cell in notebook.cells if not cell.metadata.get("nbgrader", {}).get("locked")]
    answers, tries = digest(*own), kept(course, assignment, student)
    if tries and tries[-1][0] == answers:                               # the same, marked again: a check was mended
        tries.pop()
    with whole(records.path_of(course, assignment, student, "heard")) as file:
        file.write(json.dumps([*tries, [answers, said(notebook)]]) + "\n")


def kept(course, assignment, student):
    """[(digest of a hand-in, {question: what its checks said})], the oldest first."""
    try:
        return json.loads(records.path_of(course, assignment, student, "heard").read_text())
    except (OSError, ValueError):                                       # none yet; or damaged: it decides no mark
        return []


def by_class(course, assignment):
    """{question: Counter of what its checks say to students now}, and {(question, what was said, its numbers 0): [how
    often somebody handed in again, how often the question was right then]}."""
    now, then = collections.defaultdict(collections.Counter), collections.defaultdict(lambda: [0, 0])
    for student, record in records.read_all(course, assignment).items():
        notebook = marked(course, assignment, student) if record.receipt else None
        for name, messages in said(notebook).items() if notebook else ():
            now[name].update(messages)
        tries = [messages for _, messages in kept(course, assignment, student)]
        for before, after in zip(tries, tries[1:], strict=False):
            for name, messages in before.items():
                for message in messages:
                    counts = then[name, NUMBER.sub("0", message)]
                    counts[0], counts[1] = counts[0] + 1, counts[1] + (after.get(name) == [])
    return now, then


def summary(output, source):
    """What an error of a test cell comes down to. Words that the student may have written are not repeated."""
    ours = output.ename in ("CheckFailed", "Stopped", "Failed") or output.evalue == UNSEEN or \
        output.evalue and output.evalue in source                       # assert …, "these words"
    return gist(output.evalue) if ours else f"stops with {output.ename}"


def gist(message):
    """What a check's message comes down to: its advice, right under the headline (in older messages, at the end), else
    what was wrong, else its first line. Of an error only the kind is kept: its words may be the student's.

    >>> gist("✗ f is not right yet (a).\\n  Did you transpose?\\n\\n  wrong     shape")
    'Did you transpose?'
    >>> gist("✗ f is not right yet (a).\\n\\n  input     x = 3\\n  got       1\\n  wrong     it is 1, not 2")
    'wrong: it is 1, not 2'
    """
    parts = [part for part in message.split("\n\n") if part.strip()]
    if advice := re.match(r"[✗·].*((?:\n  \S.*)+)", parts[0] if parts else ""):
        return clean(" ".join(advice[1].split()), 200, lines=False)
    if len(parts) > 1 and re.match(r"(  )?(?!(input|wrong|error|got) )\S", parts[-1]):   # a value's lines stand deeper
        return clean(" ".join(parts[-1].split()), 200, lines=False)
    if row := re.search(r"^  error +(\w+)", message, re.M):
        return f"stops with {row[1]}"
    if row := re.search(r"^  wrong +(.*)$", message, re.M):
        return clean(f"wrong: {row[1]}", 200, lines=False)
    return clean(parts[0].split("\n")[0] if parts else message, 200, lines=False)
