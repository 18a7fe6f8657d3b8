"""How long a lecture takes, by one rule for all: `python -m tools.pace` prints it for each, `python -m tools.pace 05`
for the sections of one, as docs/notes/ wants them.

    minutes = words / 180 + lines of code / 12 + 1 a figure + 2 a prediction + 3 a control + 4 the quiz at its end,
              rounded up to 5

An estimate until a class has taken the lecture, but the same for all of them. Of an assignment, `python -m tools.pace
assignments`, what is no bonus takes

    minutes = words / 150 + 5 a point ● of difficulty + 25 a text + 15 an experiment of one's own, rounded up to 5

fitted to what one reader reckoned for eight assignments: five minutes off at most for six of them, ten and twenty for
the others; how many lines are to be written told nothing beside this.
"""

import math
import re
import sys
from types import SimpleNamespace

import nbformat

from . import notebooks
from .address import TAG

CONTROL = re.compile(r"\binteract(ive|ive_output|_manual)?\s*\(|@\s*(\w+\.)*interact\b")
QUIZ = re.compile(r"^quiz\(", re.M)
BOX = re.compile(r"^> ([●○]{4})(?: ◆)? · (bonus|project)?", re.M)       # of a question
HINT = re.compile(r"<details>.*?</details>", re.S)
SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.S)
GUESS = re.compile(r"\w+ = None\b")                     # a cell in which a guess is due
MOST = 110                                              # minutes of one lecture; beyond, it is two


def counted(cells):
    """What the rule counts (words of text, lines of code that are not blank, figures, …), and the minutes."""
    code = [cell for cell in cells if cell.cell_type == "code" and TAG not in cell.metadata.get("tags", [])]
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    figures = sum("<img" in str(output.get("data", {}).get("text/html", "")) or "image/png" in output.get("data", {})
                  for cell in code for output in cell.outputs)
    found = SimpleNamespace(
        words=len(text.split()),
        lines=sum(bool(line.strip()) for cell in code for line in cell.source.splitlines()),
        figures=figures,
        predictions=len(re.findall(r"^\W*Predict first", text, re.M)),
        controls=sum(len(CONTROL.findall(cell.source)) for cell in code),
        quizzes=sum(len(QUIZ.findall(cell.source)) for cell in code))
    found.exact = (found.words / 180 + found.lines / 12 + found.figures
                   + 2 * found.predictions + 3 * found.controls + 4 * found.quizzes)
    found.minutes = 5 * math.ceil(found.exact / 5)
    return found


def sections(notebook):
    """[(heading, minutes), …] of a lecture's parts, each with the heading `## …` that it begins with; whole minutes."""
    parts = [("before the first section", [])]
    for cell in notebook.cells:
        pieces = re.split(r"^## (.+)$", cell.source, flags=re.M) if cell.cell_type == "markdown" else [None]
        for i, piece in enumerate(pieces):
            if i % 2:
                parts.append((piece.strip(), []))
            elif piece is None:
                parts[-1][1].append(cell)
            else:
                parts[-1][1].append(SimpleNamespace(cell_type="markdown", source=piece))
    return [(heading, max(1, round(counted(cells).exact))) for heading, cells in parts]


def of_assignment(notebook):
    """What the rule counts in an assignment with its solutions: words of statements and of hints, points of difficulty,
    texts, experiments, all without its bonus and project, and the minutes; lines to be written, and given to be run;
    guesses."""
    found = SimpleNamespace(words=0, hints=0, points=0, written=0, given=0, texts=0, experiments=0, guesses=0)
    core = True
    for cell in notebook.cells:
        about, source = cell.metadata.get("nbgrader", {}), cell.source
        found.guesses += cell.cell_type == "code" and bool(GUESS.match(source))
        if cell.cell_type == "markdown" and (boxes := BOX.findall(source)):
            core = not any(extra for _, extra in boxes)
            found.points += core * sum(dots.count("●") for dots, _ in boxes)
        if not core:
            continue
        if cell.cell_type == "markdown" and about.get("solution"):
            found.texts += 1
        elif cell.cell_type == "markdown":
            hints = "\n".join(HINT.findall(source))
            found.hints += len(hints.split())
            found.words += len(source.split()) - len(hints.split())
        elif about.get("solution"):
            found.written += sum(_counts(line) for part in SOLUTION.findall(source) for line in part.splitlines())
            found.experiments += about["grade_id"].endswith("experiment")
        elif not about.get("grade") and about.get("grade_id") not in ("imports", "score") and not GUESS.match(source):
            found.given += sum(map(_counts, source.splitlines()))
    found.exact = (found.words + found.hints) / 150 + 5 * found.points + 25 * found.texts + 15 * found.experiments
    found.minutes = 5 * math.ceil(found.exact / 5)
    return found


def _counts(line):
    return bool(line.strip()) and not line.strip().startswith("#")


def stated(notebook):
    """The minutes that the first cell says it takes."""
    return int(re.search(r"\*\*Takes\*\*\s+(?:about\s+)?(\d+)\s+minutes", notebook.cells[0].source)[1])


def main(only=""):
    if only == "assignments":
        print(f"{'assignment':<22}{'words':>6}{'hints':>6}{'points':>7}{'written':>8}{'given':>6}{'texts':>6}{'guesses':>8}"
              f"{'minutes':>8}{'stated':>7}")
        for path in sorted((notebooks.ROOT / "solutions").glob("*/*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            n = of_assignment(notebook)
            print(f"{path.stem:<22}{n.words:>6}{n.hints:>6}{n.points:>7}{n.written:>8}{n.given:>6}{n.texts:>6}{n.guesses:>8}"
                  f"{n.minutes:>8}{stated(notebook):>7}")
        return
    if only:
        for path in notebooks.find(only):
            for heading, minutes in sections(nbformat.read(path, as_version=4)):
                print(f"| {heading} | {minutes} |")
        return
    print(f"{'lecture':<24}{'words':>6}{'lines':>6}{'figures':>8}{'predict':>8}{'controls':>9}{'minutes':>8}{'stated':>7}")
    for path in notebooks.find():
        notebook = nbformat.read(path, as_version=4)
        n = counted(notebook.cells)
        print(f"{path.stem:<24}{n.words:>6}{n.lines:>6}{n.figures:>8}{n.predictions:>8}{n.controls:>9}{n.minutes:>8}"
              f"{stated(notebook):>7}")


if __name__ == "__main__":
    main(*sys.argv[1:])
