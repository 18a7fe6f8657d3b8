"""docs/claims.md, in the book "How sure are we?": what the lectures say, and how often it came out elsewhere."""

import re
import tomllib

from tools import notebooks

from .runner import kept, lectures

PAGE = notebooks.ROOT / "docs" / "claims.md"
HEAD = """\
# How sure are we?

A page shows one run: one text, one seed, one training. What it *says* should hold elsewhere, too. The sentences below
stand in the lectures (or in their decks, notes and quizzes) word for word. Each was tried again on texts, seeds or
trainings that its page does not use, by the functions that the page shows. The last column says in how many of these
replications it held, with the smallest, the largest and the median number, and what the page itself has (“here”). A
sentence that failed was not given up silently: it was rewritten until it said what is true.

{claims} sentences, {runs} replications, {minutes} CPU minutes. `make claims` runs them again (the folder `claims/`
says how each is tried), and a test refuses a sentence that is no longer the one that was tried.
"""


def page() -> str:
    """The page's Markdown, from what is kept."""
    found = {lecture: kept(lecture) for lecture in lectures()}
    records = [record for of in found.values() for record in of.values()]
    head = HEAD.format(claims=len(records), runs=f"{sum(len(record['runs']) for record in records):,}",
                       minutes=round(sum(record["seconds"] for record in records) / 60))
    return head + "".join(section(lecture, of) for lecture, of in found.items())


def section(lecture, records):
    """The table of one lecture."""
    [path] = notebooks.find(lecture)
    title = re.search(r"# \S+ · (.*)", notebooks_text(path))[1]
    rows = [[number, f"“{escaped(found['sentence'])}”{elsewhere(lecture, found['sentence'])}", escaped(found["over"]),
             found["requires"], found["line"]] for number, found in records.items()]
    lines = [["", "the page says", "tried on", "must hold in", "held in"], ["---"] * 5, *rows]
    table = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return f"\n## Lecture {lecture}\n\n[{title}](../lectures/{path.name})\n\n{table}\n"


def escaped(text):
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", r"\|")


def elsewhere(lecture, sentence):
    """ (quiz) behind a sentence that does not stand in the lecture itself."""
    places = [place for place, text in texts(lecture).items() if plain(sentence) in plain(text)]
    return "" if not places or "lecture" in places else f" ({places[0]})"


def texts(lecture) -> dict[str, str]:
    """{place: text} of all that a lecture says: itself, its deck, its notes, its quiz."""
    root, [path] = notebooks.ROOT, notebooks.find(lecture)
    places = {"deck": root / "docs" / "slides" / f"{lecture}.toml", "notes": root / "docs" / "notes" / f"{lecture}.md",
              "quiz": root / "attention_questions" / "quizzes" / f"{lecture}.toml"}
    said = {place: file.read_text(encoding="utf8") for place, file in places.items() if file.exists()}
    for place in said.keys() & {"deck", "quiz"}:
        said[place] = "\n\n".join(strings(tomllib.loads(said[place])))
    return {"lecture": notebooks_text(path), **said}


def strings(value):
    """All texts of a TOML file, but for the answers to a question that are wrong."""
    if isinstance(value, dict) and "why" in value and not value.get("right"):
        value = {key: one for key, one in value.items() if key != "text"}
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def notebooks_text(path):
    """The text cells of a notebook."""
    return "\n\n".join(cell.source for cell in notebooks.nbformat.read(path, 4).cells if cell.cell_type == "markdown")


def plain(text) -> str:
    """Text without Markdown's marks, and with one space where there is any."""
    return " ".join(re.sub(r"(?ms)<!--.*?-->|~~.*?~~|!\[[^]]*\]|[*_`$]|^\s*>", "", text).split())
