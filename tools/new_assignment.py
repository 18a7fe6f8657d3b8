"""Begin a new assignment: `python -m tools.new_assignment 16 means "Means of rows"`.

Writes what tools/skeleton/ holds, one worked question and one that a person reads, under the new names:

    solutions/16_means/16_means.ipynb              the notebook, with nbgrader's marks
    attention_questions/16_means/__init__.py        what is asked, and the advice
    attention_questions/16_means/solution.py        what is expected: the notebook's solutions
    exercises/16_means/16_means.ipynb               what students get
    tests/grading/bank/16_means.py                  answers that test the advice

and registers the topic, `check.means`, in attention_questions/__init__.py. Nothing that exists is written over.
CONTRIBUTING.md says how to go on from there.
"""

import argparse
import keyword
import re
import sys
from pathlib import Path

import jupytext
import nbformat

from coursegrade import check

from . import exercises
from .notebooks import ROOT

SKELETON = Path(__file__).parent / "skeleton"
REGISTER = Path("attention_questions/__init__.py")
TOPICS = re.compile(r"(?<=TOPICS = \{name\.partition\(\"_\"\)\[2\]: name for name in \()(.*?)(?=\)\})", re.S)

UNMARKED = {"schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False}


def begin(number, topic, title, root=ROOT):
    """Write a new assignment below `root`; return its paths. ValueError or FileExistsError, in one line, before
    anything is written, for a name that cannot be one or is taken."""
    texts = made(number, topic, title)
    register = (root / REGISTER).read_text(encoding="utf-8")
    taken = re.findall(r'"(\w+)"', TOPICS.search(register)[1])
    for name in taken:
        if name.partition("_")[0] == number or name.partition("_")[2] == topic:
            raise FileExistsError(f"There is {name} already: choose another number and another topic.")
    for path in texts:
        if (root / path).exists():
            raise FileExistsError(f"{path} exists already, and stays as it is.")
    names = "".join(f'\n    "{name}",' for name in sorted([*taken, f"{number}_{topic}"]))
    texts[REGISTER] = TOPICS.sub(f"{names}\n", register)
    write({root / path: text for path, text in texts.items()})
    return list(texts)


def made(number, topic, title):
    """{path: text} of a new assignment's three files; ValueError, in one line, for names that cannot be."""
    if not re.fullmatch(r"\d\d", number):
        raise ValueError(f"The number of an assignment has two digits, such as 08, got {number!r}.")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", topic) or keyword.iskeyword(topic) or topic in vars(check):
        raise ValueError("A topic is what its checks are called by, check.<topic>: small letters, and no name that "
                         f"Python or check has for something else, such as means, got {topic!r}.")
    if not title.strip() or re.search(r"[\n\[\]]", title):
        raise ValueError(f"A title is one line, without square brackets, such as Dyck languages, got {title!r}.")
    name = f"{number}_{topic}"

    def filled(template):
        text = (SKELETON / template).read_text(encoding="utf-8")
        return text.replace("NUMBER", number).replace("TOPIC", topic).replace("TITLE", title)

    begun = notebook(filled("notebook.py"))
    return {Path("solutions", name, f"{name}.ipynb"): nbformat.writes(begun) + "\n",
            Path("attention_questions", name, "__init__.py"): filled("checks.py"),
            Path("attention_questions", name, "solution.py"): exercises.solution(begun, name),
            Path("tests/grading/bank", f"{name}.py"): filled("bank.py")}


def write(texts):
    """Write {path: text}, all of them or none: to files beside them first."""
    beside = {path: path.with_name(path.name + ".tmp") for path in texts}
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            beside[path].write_text(text, encoding="utf-8")
    except OSError:
        for path in beside.values():
            if path.parent.is_dir():
                path.unlink(missing_ok=True)
        raise
    for path in texts:
        beside[path].replace(path)


def notebook(text):
    """A notebook from py:percent text; its cells' ids are nbgrader's, or their place."""
    found = jupytext.reads(text, "py:percent")
    for place, cell in enumerate(found.cells):
        cell.id = f"{'code' if cell.cell_type == 'code' else 'text'}-{place:02}"
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader = UNMARKED | cell.metadata.nbgrader
            cell.id = cell.metadata.nbgrader["grade_id"].replace("_", "-")
    found.metadata = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
                      "language_info": {"name": "python"}}
    found.nbformat, found.nbformat_minor = 4, 5
    return found


def main():
    parser = argparse.ArgumentParser(prog="python -m tools.new_assignment", description=__doc__.splitlines()[0])
    parser.add_argument("number", help="two digits, of the lecture before it: 16")
    parser.add_argument("topic", help="what checks are called by, check.<topic>: means")
    parser.add_argument("title", help="what stands above the notebook: Means of rows")
    asked = parser.parse_args()
    try:
        paths = begin(asked.number, asked.topic, asked.title)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    exercises.make([f"{asked.number}_{asked.topic}"], ROOT / "exercises")
    print(*paths, sep="\n")
    print("\nThe question in it is an example: put yours in its place. CONTRIBUTING.md, “A question”, says how.")


if __name__ == "__main__":
    main()
