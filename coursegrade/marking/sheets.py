"""The papers of an examination (coursegrade/exam.py) as pages to be printed: the sheet, and the solution."""

import mistune
from latex2mathml.converter import convert
from markupsafe import Markup

from coursegrade import exam
from coursegrade.marking import CourseError, files, pages


def mathml(tex, display="inline"):
    """A formula in TeX as MathML, which browsers set and print by themselves."""
    return convert(tex.replace("−", "-").replace("·", r"\cdot "), display=display)     # else these get no space


MARKDOWN = mistune.create_markdown(escape=True, plugins=["table", "math"])
MARKDOWN.renderer.register("inline_math", lambda _, text: mathml(text))                     # $…$
MARKDOWN.renderer.register("block_math", lambda _, text: mathml(text, "block"))             # lines between two of $$
pages.PAGES.filters["markdown"] = lambda text: Markup(MARKDOWN(text))


def write(course, name, version, folder):
    """Write NAME_VERSION.html and NAME_VERSION_solution.html to a folder, with the numbers of the course's seed; return
    the paths. The same seed gives the same bytes. CourseError for a paper that there is not."""
    papers = exam.load()
    if name not in papers:
        raise CourseError(f"There is no paper {name!r}; there are {', '.join(papers) or 'none'}.")
    exercises, paths = papers[name].draw(course.seed(), version), []
    for solved in (False, True):
        paths.append(folder / f"{name}_{version}{'_solution' * solved}.html")
        with files.whole(paths[-1], encoding="utf-8") as file:
            file.write(pages.PAGES.get_template("exam.html").render(
                paper=papers[name], version=version, exercises=exercises, solved=solved, assignment=papers[name].title,
                total=sum(exercise.points for exercise in exercises)))
    return paths
