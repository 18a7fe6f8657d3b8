"""What students get back: one HTML file each, with their answers, their marks, and what the checks said.

Of the teacher's texts it has the headings alone, as students have the assignment; what they wrote is all there.
Everything in the file is text or a PNG picture that lies in it; nothing is loaded, and no script runs. Where a test
cell has parts that students do not see, the version that they were given is shown.
"""

import base64
import html
import re
import shutil

import nbformat
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from tqdm import tqdm

from coursegrade.marking import files, pages, records, roster
from coursegrade.marking.heard import question
from coursegrade.marking.markdown import LONGEST, markdown
from coursegrade.marking.outputs import UNSEEN
from coursegrade.marking.repair import grade_id, is_answer, is_plain, squeezed, teachers
from coursegrade.marking.reports import questions
from coursegrade.sandbox.protocol import clean

EXCHANGE = ("timestamp.txt", "submission_secret.txt")   # what nbgrader's `release_feedback` wants beside a page
CODE = HtmlFormatter(nowrap=True, classprefix="c-")
WORDS = {
    "graded": "Everything is marked.",
    "needs manual grading": "A person has not read all of it yet, so points may be added.",
    "timed out": "Your notebook took longer than it may, so the rest was not tried.",
    "crashed": "Your notebook brought its process down, again and again, so the rest was not tried.",
    "rejected": "It could not be marked",
}


def write(course, assignment):
    """Write grading/feedback/STUDENT/A/A.html for all who handed something in; return how many. The same marks give the
    same bytes."""
    released, people, count = course.released(assignment), course.roster(), 0
    found, handed_in = records.read_all(course, assignment), course.submitted(assignment)
    with course.gradebook() as gradebook:
        for student, record in tqdm(found.items(), f"{assignment}, pages", unit="page", disable=None, leave=False):
            if record.state not in WORDS or not roster.STUDENT.fullmatch(student):
                continue
            text = page(course, gradebook, assignment, record, released, people.get(student, {}))
            gradebook.db.expunge_all()                                  # what was read of one is not kept for the next
            path = course.grading / "feedback" / student / assignment / f"{assignment}.html"
            with files.whole(path, encoding="utf-8") as file:
                file.write(text)
            for name in EXCHANGE:
                if (file := handed_in[student] / name).is_file() and not file.is_symlink():
                    shutil.copyfile(file, path.parent / name)
            count += 1
    return count


def page(course, gradebook, assignment, record, released, person):
    """The HTML of one student. person: what the roster says, for the name."""
    path = course.grading / "autograded" / record.student / assignment / f"{assignment}.ipynb"
    marks, cells, late = questions(gradebook, assignment, record.student) if record.receipt else {}, [], 0
    if record.receipt and path.exists():
        submitted = gradebook.find_submission_notebook(assignment, assignment, record.student)
        comments = {comment.name: comment.comment for comment in submitted.comments}
        cells, late = shown(nbformat.read(path, as_version=4), released, marks, comments), \
            submitted.late_submission_penalty or 0
    rows = []
    for name, found in marks.items():
        points, most = [mark.points for mark in found if mark.points is not None], sum(mark.most for mark in found)
        rows.append((name, sum(points) if points else None, most, len(points) < len(found), sign(sum(points), most)))
    for number, name in enumerate(marks):                               # where the table's links lead
        if start := next((cell for cell in cells if cell.get("question") == name), None):
            start["anchor"] = number
    name = " ".join(filter(None, [person.get("first_name"), person.get("last_name")])) or record.student
    return pages.PAGES.get_template("feedback.html").render(
        assignment=assignment, record=record, name=clean(name, 200, lines=False), words=WORDS[record.state], rows=rows,
        anchors={cell["question"]: cell["anchor"] for cell in cells if "anchor" in cell},
        cells=cells, late=late, total=max(0, sum(row[1] or 0 for row in rows) - late), most=sum(row[2] for row in rows),
        code_style=CODE.get_style_defs())


def shown(notebook, released, marks, comments):
    """What the page's template needs of each cell that it shows. marks: {question: [Mark]}. comments: {grade_id: text}.

    The teacher's texts come down to their headings; of cells that students cannot change, tests alone are shown.
    """
    given = {grade_id(cell): cell for cell in teachers(released)}
    texts = {squeezed(cell.source) for cell in released.cells if cell.cell_type == "markdown" and not is_answer(cell)}
    empty = {question(about["grade_id"]) for cell in notebook.cells if (about := cell.metadata.get("nbgrader"))
             and any(" is still empty" in output.get("evalue", "") for output in cell.get("outputs", []))}
    found = []
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if cell.cell_type == "markdown" and not is_answer(cell) and squeezed(cell.source) in texts:
            if lines := headings(cell.source):
                found.append({"markdown": lower(markdown(lines)), "heading": True})
        elif name not in given or not is_plain(given[name]):
            made = shown_cell(cell, given.get(name), name, marks, comments)
            if question(name) in empty:                                 # that it is empty has been said already
                made["outputs"] = [(kind, text) for kind, text in made["outputs"] if text.strip() != UNSEEN]
            found.append(made)
    while found and found[-1].get("heading"):                           # with nothing below it
        found.pop()
    return found


def lower(shown):
    """Markdown shown as HTML, with its headings below the page's own."""
    return Markup(re.sub(r"<(/?)h([1-5])>", lambda tag: f"<{tag[1]}h{int(tag[2]) + 1}>", shown))


def sign(points, most):
    """✓ for all points, ✗ if some were lost."""
    return "✓" if points >= most else "✗"


def told(name):
    """What students call a test cell: the name in the gradebook means nothing to them.

    >>> told("check_softmax"), told("more_softmax"), told("reading")
    ('softmax, the tests you see', 'softmax, the tests you do not see', 'reading')
    """
    kinds = {"check": ", the tests you see", "more": ", the tests you do not see", "best": ", near the best known"}
    return question(name) + kinds.get(name.partition("_")[0], "")


def headings(text):
    r"""The lines of a Markdown text that are headings.

    >>> headings("## One\nwords\n```\n# a comment\n```\n### Two")
    '## One\n\n### Two'
    """
    return "\n\n".join(re.findall("^#{1,6} .*$", re.sub("^```.*?^```", "", text, flags=re.M | re.S), re.M))


def shown_cell(cell, theirs, name, marks, comments):
    """What the page's template needs of a cell. theirs: the teacher's of that name, or None."""
    source = cell.source if theirs is None or is_answer(theirs) else theirs.source
    mark = next((mark for mark in marks.get(question(name), ()) if mark.name == name), None) if name else None
    outputs = cell.get("outputs", []) if mark or theirs is None or is_answer(theirs) else []
    words = markdown(source, cell.get("attachments")) if cell.cell_type == "markdown" else None
    return {"markdown": words and lower(words), "code": code(source), "comment": comments.get(name), "mark": mark,
            "told": mark and told(name), "sign": mark and mark.points is not None and sign(mark.points, mark.most),
            "question": question(name) if question(name) in marks else None,
            "outputs": [part for output in outputs for part in outputs_of(output)]}


def outputs_of(output):
    """("text" | "error" | "picture", text) of an output of a cell; other kinds are left out."""
    if output.output_type == "stream":
        yield "text", clean(output.text, LONGEST)
    elif output.output_type == "error":
        yield "error", clean("\n".join(output.traceback) or output.evalue, LONGEST)
    elif picture := output.get("data", {}).get("image/png"):
        raw = base64.b64decode("".join(picture.split()))
        yield "picture", base64.b64encode(raw).decode()
    elif text := output.get("data", {}).get("text/plain"):
        yield "text", clean(text, LONGEST)


def code(text):
    """Python source as HTML, coloured unless it is very long, or has so many empty lines that this would take minutes.
    What could make it look like other code is replaced."""
    text = clean(text, LONGEST)
    if len(text) > LONGEST or re.search(r"\s{200}", text):
        return Markup(html.escape(text))
    return Markup(highlight(text, PythonLexer(stripnl=False), CODE))
