"""The book: `make book` puts the executed lectures and all other pages into build/book/, a folder for any web server.

Nothing is executed: the pages are copied to build/book-source/, laid out as they are here, so that their links hold; a
first page with the playground, a table of contents and pages of the library's docstrings are added; Sphinx does the
rest (docs/site/conf.py).
"""

import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from coursekit.models import load_weights
from coursekit.show.views import playground
from coursekit.worlds import handwritten_reviews
from tools import slides
from tools.npm import package

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["SYLLABUS.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/*.md", "docs/*.png", "docs/notes/*.md",
         "lectures/*.ipynb", "exercises/*/*.ipynb"]
VIEWS = ROOT / "coursekit" / "show" / "views"
ROOMS = ["text", "show", "models", "models.protocols", "explain", "evaluate", "worlds", "debate", "people", "compare",
         "own", "results"]
WEEK = re.compile(r"^\| (\d+) \| (\d\d[a-z]?) .*?\| (\d+) \|", re.M)     # a row of the syllabus: week, lecture, minutes


def main(out=ROOT / "build" / "book"):
    """Make the book in the folder `out`; the process ends with Sphinx's status, not 0 if there is any warning."""
    source = out.with_name(f"{out.name}-source")
    for old in (out, source):
        shutil.rmtree(old, ignore_errors=True)
    prepare(source)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto", "-b", "html",
               "-d", str(source / "_doctrees"), str(source), str(out)]
    sys.exit(subprocess.call(command, cwd=ROOT))


def prepare(source):
    """Write all that Sphinx reads into the folder `source`."""
    for page in [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]:
        copy(page, source / page.relative_to(ROOT))
    for part in ("conf.py", "_static"):
        copy(ROOT / "docs" / "site" / part, source / part)
    welcome, still = source / "lectures" / "00_welcome.ipynb", json.dumps(playground.still().html, ensure_ascii=False)
    write(welcome, welcome.read_text(encoding="utf-8").replace(still, json.dumps(live("../"))))
    copy(ROOT / "docs" / "print", source / "extra" / "docs" / "print")
    write(source / "extra" / "slides" / "02.html", slides.make("02", book="../"))
    for path in [*VIEWS.glob("explorer.[cj]s*"), *VIEWS.glob("playground*.[cj]s*"), VIEWS / "playground.png"]:
        copy(path, source / "_static" / path.name)
    copy(VIEWS / "playground.png", source / "coursekit" / "show" / "views" / "playground.png")     # as README has it
    models = {name: load_weights(name) for name in ("imdb-tame", "imdb-peaky")}
    by_hand = {name: right_by_hand(model) for name, model in models.items()}
    write(source / "_static" / "playground_models.js",
          f"{playground.packed(models)}PLAYGROUND.byHand = {json.dumps(by_hand)};\n")
    for part in ("tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions"):
        copy(package("mathjax") / "es5" / part, source / "_static" / "mathjax" / part)

    write(source / "LICENSE.md", f"# Licence\n\n```text\n{read('LICENSE')}\n```\n")
    write(source / "api" / "index.md", "# The library\n\n" + api_rooms() + toctree(ROOMS))
    for room in ROOMS:
        write(source / "api" / f"{room}.rst", api_page(f"coursekit.{room}"))
    exercises = [f"{path.name}/{path.name}" for path in sorted((ROOT / "exercises").iterdir())]
    write(source / "exercises" / "index.md", "# Assignments\n\n" + ABOUT_EXERCISES + toctree(exercises))
    notes = [f"notes/{path.stem}" for path in sorted((ROOT / "docs" / "notes").glob("*.md"))]
    write(source / "docs" / "teaching.md", read("docs/teaching.md") + toctree(notes, hidden=True))
    write(source / "README.md", "# Set-up, and what is where" + read("README.md").partition("\n")[2])
    write(source / "index.md", first_page() + contents())


ABOUT_EXERCISES = """\
One for most lectures. A page here shows a notebook whose answers are empty, and the arrow at its top downloads it.
To work on it, open it in JupyterLab inside the course's folder (`make lab`): its checks answer there.
"""


def first_page():
    """The playground, three doors, and the map of the lectures that README has."""
    minutes = [int(minutes) for *_, minutes in WEEK.findall(read("SYLLABUS.md"))]
    filled = {"PLAYGROUND": f"```{{raw}} html\n{live()}```",
              "LECTURES": str(len(minutes)), "HOURS": str(round(sum(minutes) / 60)),
              "MAP": re.search(r"## The map\n\n(.*?\n)\n", read("README.md"), re.S)[1]}
    return re.sub("|".join(filled), lambda found: filled[found.group()], read("docs/site/index.md"))


def live(root=""):
    """The playground as a part of a page; root: where the book begins, seen from there."""
    scripts = "".join(f'<script defer src="{root}_static/{name}.js"></script>\n'
                      for name in ("playground_exact", "playground_models", "playground"))
    page = re.sub(r'href="(?=\w)', f'href="{root}', playground.source("playground.html"))
    return f'<noscript><img src="{root}_static/playground.png" alt="{playground.ALT}"></noscript>\n{page}{scripts}'


def right_by_hand(model):
    """For how many of the film reviews that were written for the course a model is right: "21 of the 46"."""
    films = [review for review in handwritten_reviews() if review.topic == "film"]
    scores = model.predict([model.tokenizer.tokenize(review.text) for review in films])
    return f"{sum((scores > 0) == [review.label for review in films])} of the {len(films)}"


def contents():
    """The table of contents: where to begin, the lectures week by week, then everything else."""
    weeks = {"Begin": ["docs/alone"]}
    for week, number, _ in WEEK.findall(read("SYLLABUS.md")):
        [path] = (ROOT / "lectures").glob(f"{number}_*.ipynb")
        weeks.setdefault(f"Week {week}", []).append(f"lectures/{path.stem}")
    rest = {"Work": ["SYLLABUS", "exercises/index"],
            "Reference": ["docs/claims", "docs/notation", "docs/read", "docs/library", "docs/exact", "docs/reproduced",
                          "api/index"],
            "Teaching": ["docs/teaching", "docs/plan", "docs/january", "docs/ready", "docs/oral", "docs/jupyterhub",
                         "docs/security"],
            "The project": ["README", "CONTRIBUTING", "docs/upkeep", "SECURITY", "CHANGELOG", "LICENSE"]}
    return "".join(toctree(pages, caption, hidden=True) for caption, pages in (weeks | rest).items())


def toctree(pages, caption="", hidden=False):
    """MyST for a list of pages, shown where it stands or only in the margin."""
    options = f":caption: {caption}\n" * bool(caption) + ":hidden:\n" * hidden + ":maxdepth: 1\n"
    return "\n\n```{toctree}\n" + options + "\n" + "\n".join(pages) + "\n```\n"


def api_rooms():
    """What the library's own docstring says, as it stands there."""
    return f"```text\n{inspect.getdoc(importlib.import_module('coursekit'))}\n```\n"


def api_page(name):
    """The page of a room in reStructuredText: its docstring, then everything in its `__all__`."""
    room = importlib.import_module(name)
    lines = [name, "=" * len(name), "", f".. automodule:: {name}", "   :no-index:", ""]
    own = [offered for offered, thing in vars(room).items() if getattr(thing, "__module__", "") == name]
    for offered in getattr(room, "__all__", own):
        thing = getattr(room, offered)
        if inspect.ismodule(thing):
            inner = thing.__name__
            lines += ["", inner, "-" * len(inner), "", f".. automodule:: {inner}", "   :members:", ""]
        else:
            kind = "class" if inspect.isclass(thing) else "function" if callable(thing) else "data"
            lines += [f".. auto{kind}:: {name}.{offered}"]
            lines += ["   :members:"] * (kind == "class") + ["   :no-value:"] * (kind == "data") + [""]
    return "\n".join(lines)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def copy(path, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, to)
    else:
        shutil.copy2(path, to)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
