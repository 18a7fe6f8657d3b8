"""Decks as they are written: what each has, that it shows the lecture's own numbers, and what is said of a wrong one.
How they look is tests/browser/test_slides.py."""

import json
import re

import pytest

from tools import decks, notebooks, pace, slides

EXERCISES = {path.name[:3].rstrip("_"): path.name for path in (decks.ROOT / "exercises").iterdir()}
GOOD = {"title": "A title", "notes": "1 minute. Say it."}
CODE = {"cell_type": "code", "id": "c0de", "source": "print(1)", "outputs": []}
TEXT = {"cell_type": "markdown", "id": "7e87", "source": "Words alone."}
TABLE = {"cell_type": "code", "id": "7ab1", "source": "1", "outputs": [{"output_type": "display_data", "data": {
    "text/html": "<table><tr><th>way</th><th>p</th><th>q &lt; 1</th></tr><tr><th>one</th><td>1</td><td>2</td></tr>"
                 "<tr><th>two</th><td>3</td><td>4</td></tr></table>"}, "metadata": {}}]}
DEFINED = TABLE | {"id": "def5", "source": """import functools
a = b = 1                   # two names

@functools.cache
def twice(x):
    '''Two of x.'''
    # x is a number
    inner = 2 * x

    return inner            # 2x

one, (two, _) = {
    "of": 1}, (2, 3)
table = {}
table[a] = twice(b)
class Pair: pass
long = "%s"
""" % ("a" * 100)}
LONG = {"cell_type": "code", "id": "1096", "source": "x = 1\n" * 13, "outputs": []}


def test_every_lecture_has_a_deck():
    assert decks.names() == sorted(notebooks.number(path) for path in notebooks.find())


@pytest.mark.parametrize("name", decks.names())
def test_a_deck_fits_its_lecture(name):
    deck, notebook = decks.deck(name), decks.lecture(name)
    fair = pace.stated(notebook) / 90                   # 20 to 25 slides for 90 minutes, the title page with them
    assert round(20 * fair) - 1 <= len(deck) + 1 <= round(25 * fair) + 1
    assert deck[-1]["title"].startswith("Take-away")
    assert name not in EXERCISES or any(EXERCISES[name] in slide.get("text", "") for slide in deck)
    assert len({slide["title"] for slide in deck}) == len(deck)
    sections, n = {}, 0                                 # of each cell: how many headings stand before it
    for cell in notebook.cells:
        sections[cell.id] = n
        n += "\n## " in f"\n{cell.source}"
    order = [sections[slide["cell"]] for slide in deck if "cell" in slide]
    assert order == sorted(order)                       # the lecture's
    assert sum("predict" in slide for slide in deck) >= 3
    assert sum(decks.minutes(deck)) >= 45


@pytest.mark.parametrize("name", decks.names())
def test_a_deck_has_figures_slack_and_a_title_page_in_one_breath(name):
    assert not decks.unfinished(name)


@pytest.mark.parametrize("name", decks.names())
def test_no_number_that_the_lecture_does_not_have(name):
    told = plain(json.dumps([[cell.source, cell.get("outputs")] for cell in decks.lecture(name).cells],
                            ensure_ascii=False))
    for slide in [{"title": "the title page", "text": decks.opening(name)[1]}, *decks.deck(name)]:
        for field in ("text", "predict", "answer"):
            for number in re.findall(r"\d[\d.]*\d", plain(slide.get(field, ""))):
                assert number in told, f"{name}, {slide['title']}: {number}"
        for letter, choice in zip("ABCD", slide.get("choices", []), strict=False):      # a wrong one is nobody's number
            if letter == slide["right"]:
                assert all(number in told for number in re.findall(r"\d[\d.]*\d", plain(choice))), f"{name}: {choice}"


def plain(text):
    """Text with one kind of minus, and no signs that group digits."""
    return re.sub(r"(?<=\d)(,|\{,\}|\\,|\u202f)(?=\d{3})", "", text.replace("−", "-"))


@pytest.mark.parametrize(("slide", "words"), [
    ({"title": "A title"}, "notes is missing"), ({"notes": "Say it."}, "title is missing"),
    (GOOD | {"title": "a" * 61}, "61 letters, at most 60"), (GOOD | {"figure": "x"}, "no such field, .*: figure"),
    (GOOD | {"code": 1}, "not of this kind: code"), (GOOD | {"text": "- a\n" * 6}, "more than 5 bullets"),
    (GOOD | {"choices": ["a", "b"], "right": "A"}, "beside predict"),
    (GOOD | {"predict": "?", "choices": ["a"], "right": "A"}, "two to four texts"),
    (GOOD | {"predict": "?", "choices": ["a", "b"]}, "right is the letter of one of the choices, A to B"),
    (GOOD | {"predict": "?", "choices": ["a", "b", "c"], "right": "D"}, "A to C"),
    (GOOD | {"answer": "42"}, "an answer without predict"), (GOOD | {"code": True}, "and no cell"),
    (GOOD | {"notes": "Say it."}, "the notes begin with"), (GOOD | {"rows": "a"}, "and no cell"),
    (GOOD | {"cell": "7ab1", "rows": "three"}, "no row 'three'"),
    (GOOD | {"cell": "7ab1", "picture": True}, "shows none"), (GOOD | {"draw": "bars"}, "and no cell"),
    (GOOD | {"cell": "7ab1", "draw": "pie"}, "draw is one of bars, dots"),
    (GOOD | {"cell": "7ab1", "axis": [0, 1]}, "axis goes with draw"),
    (GOOD | {"cell": "7ab1", "draw": "bars", "axis": [1, 0]}, "low, high"),
    (GOOD | {"cell": "7ab1", "draw": "bars", "axis": [0, 1]}, "1 to 4 is not on the axis"),
    (GOOD | {"cell": "beef"}, "the lecture has no cell beef"), (GOOD | {"cell": "c0de"}, "cell c0de has no output"),
    (GOOD | {"cell": "7e87"}, "cell 7e87 has no box"), (GOOD | {"cell": "7e87", "code": True}, "is text"),
    (GOOD | {"cell": "1096", "code": True}, "13 lines of up to 5 letters, and 12 of 96 fit"),
    (GOOD | {"cell": "def5", "code": "inner"}, "cell def5 defines no inner at its top level"),
    (GOOD | {"cell": "def5", "code": "long"}, "long in cell def5 has 1 lines of up to 109 letters"),
    (GOOD | {"cell": "7e87", "code": "Words"}, "is text"), (GOOD | {"code": "twice"}, "and no cell"),
    (GOOD | {"cell": "def5", "code": "twice", "draw": "bars"}, "no rows, columns, picture or draw")])
def test_a_wrong_slide_is_told_in_one_line(slide, words, tmp_path, monkeypatch):
    cells = [decks.nbformat.from_dict(cell) for cell in (CODE, TEXT, LONG, TABLE, DEFINED)]
    monkeypatch.setattr(decks, "DECKS", tmp_path)
    monkeypatch.setattr(decks, "lecture", lambda name: decks.nbformat.from_dict({"cells": cells}))
    lines = ["[[slide]]", *(f"{field} = {json.dumps(value)}" for field, value in slide.items())]
    (tmp_path / "99.toml").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(decks.DeckError, match=rf"\Adocs/slides/99.toml, slide 2 \(.*\): .*{words}[^\n]*\Z"):
        decks.deck("99")


def test_a_box_is_chosen_by_its_name_and_formulas_stand_in_where_there_is_none():
    two = "Words.\n\n> **Theorem.** One.\n>\n> Why.\n\nMore.\n\n> **Pitfall.** Two.\n\n$$\nx\n$$\n"
    assert decks.boxes(two) == "> **Theorem.** One.\n>\n> Why.\n\n> **Pitfall.** Two."
    assert decks.boxes(two, "Pitfall") == "> **Pitfall.** Two."
    assert decks.boxes(two, "Erratum") == decks.boxes("Words with $x$.") == ""
    assert decks.boxes("Words.\n\n$$\nx\n$$\n\nMore.") == "$$\nx\n$$"


def test_of_a_table_some_rows_and_columns_are_shown():
    table = decks.shown(decks.nbformat.from_dict(TABLE))
    assert decks.chosen(table) == table
    assert decks.chosen(table, "^two", "q < 1") == (
        "<div><table><tr><th>way</th><th>q &lt; 1</th></tr><tr><th>two</th><td>4</td></tr></table></div>")
    with pytest.raises(decks.DeckError, match="no column 'r'"):
        decks.chosen(table, columns="r")
    with pytest.raises(decks.DeckError, match="no table"):
        decks.chosen("<pre>1</pre>", "1")


@pytest.mark.parametrize(("name", "first", "last"), [
    ("a", 2, 2), ("b", 2, 2), ("twice", 4, 10), ("one", 12, 13), ("two", 12, 13), ("table", 14, 14), ("Pair", 16, 16)])
def test_code_that_a_slide_names_is_the_lines_of_its_definition_without_output(name, first, last):
    cell = decks.nbformat.from_dict(DEFINED)
    slide = GOOD | {"cell": "def5", "code": name}
    assert decks.code(slide, cell) == "\n".join(DEFINED["source"].splitlines()[first - 1:last])
    assert decks.output(slide, cell) == "" != decks.output(slide | {"code": True}, cell)
    assert decks.code(slide | {"code": True}, cell) == DEFINED["source"] and decks.code(GOOD, cell) == ""


@pytest.mark.parametrize(("letters", "wide"), [(78, False), (79, True)])
def test_code_with_long_lines_has_smaller_letters(letters, wide):
    cell = decks.nbformat.from_dict(CODE | {"source": f"x = 1\n{'a' * letters}"})
    page = slides.page("07", GOOD | {"cell": "c0de", "code": True}, {"c0de": cell}, None, slides.Writer())
    assert ('<pre class="code wide">' in page) == wide


def test_minutes_of_a_deck_with_the_optional_ones_apart():
    notes = ("4 minutes. a", "Optional, 3 minutes at the board", "1 minute")
    assert decks.minutes([{"notes": text} for text in notes]) == (5, 3)


@pytest.mark.parametrize(("shows", "looks"), [
    ('<img alt="a" src="data:">', True), ("<svg></svg>", True),
    ('<span style="background:rgba(0,114,178,.5)">a</span>', True),
    ("<table><tr><td>1</td></tr></table>", False), ("<pre>1</pre>", False), ("", False)])
def test_what_is_a_figure(shows, looks):
    assert decks.figure(shows) == looks


def test_a_deck_says_what_it_still_needs(tmp_path, monkeypatch):
    first = {"cell_type": "markdown", "id": "f125", "source": "# 99 · Title\n\nA question.\n\n**You will** see."}
    cells = [decks.nbformat.from_dict(cell) for cell in (first, TABLE)]
    monkeypatch.setattr(decks, "DECKS", tmp_path)
    monkeypatch.setattr(decks, "lecture", lambda name: decks.nbformat.from_dict({"cells": cells}))

    def unfinished(*lines):
        (tmp_path / "99.toml").write_text("\n".join(lines), encoding="utf-8")
        return " ".join(decks.unfinished("99"))

    slide = ['[[slide]]', 'title = "A title"', 'cell = "7ab1"', 'notes = "75 minutes."']
    assert unfinished(*slide) == "0 of 1 slides have a figure, half of them should"
    assert unfinished(*slide, 'draw = "bars"') == ""
    assert "76 minutes" in unfinished(*slide[:-1], 'notes = "76 minutes."', 'draw = "heat"')
    assert decks.opening("99") == ("99 · Title", "A question.\n")
    cells[0].source = f"# 99 · Title\n\n{'word ' * 50}\n\n**You will** see."
    assert "the title page has 53 words" in unfinished(*slide, 'draw = "bars"')
    assert unfinished('promise = "One breath."', *slide, 'draw = "bars"') == ""
    with pytest.raises(decks.DeckError, match="promise, at most 30 words"):
        unfinished(f'promise = "{"word " * 31}"', *slide)


@pytest.mark.parametrize(("box", "hits"), [
    ("as in the formula above", ["above"]), ("(section 7)", ["section 7"]), ("the previous one", ["previous"]),
    ("in this section and below", ["this section", "below"]), ("bounded from below", []), ("above 0.5, below −1", []),
    ("lecture 05, section 5", [])])
def test_a_box_that_points_at_what_is_not_on_the_slide(box, hits):
    assert decks.POINTS.findall(box) == hits


@pytest.mark.parametrize("name", decks.names())
def test_a_foot_names_the_section_leads_to_the_cell_and_has_its_code(name):
    [path] = decks.ROOT.glob(f"lectures/{name}_*.ipynb")
    heading, told = "", {}
    for cell in decks.lecture(name).cells:
        if cell.cell_type == "markdown":
            heading = (re.findall(r"^## (.+)$", cell.source, re.M) or [heading])[-1]
        told[cell.id] = heading, cell.source * (cell.cell_type == "code")
    for slide in decks.deck(name):
        if "cell" in slide:
            found, source = decks.section(name, slide["cell"])
            assert (found, source) == told[slide["cell"]] or (found, "") == told[slide["cell"]]
            assert source and (found, source) in told.values()
            foot = slides.foot(name, slide, "https://owner.github.io/", slides.Writer())
            assert f'href="https://owner.github.io/lectures/{path.stem}.html#cell-{name}-{slide["cell"]}"' in foot
            assert ("behind" in foot) == (slide.get("code") is not True)
            assert "href" not in slides.foot(name, slide, None, slides.Writer())


def test_a_cell_of_text_has_the_next_code_of_its_section(monkeypatch):
    cells = [TEXT, CODE | {"id": "a"}, TEXT | {"id": "b", "source": "## 1 · One"}, TEXT | {"id": "c"},
             CODE | {"id": "d", "source": "two"}, TEXT | {"id": "e", "source": "And.\n\n## 2 · Two"},
             TEXT | {"id": "f"}]
    monkeypatch.setattr(decks, "lecture", lambda name: decks.nbformat.from_dict({"cells": cells}))
    assert [decks.section("07", of) for of in (TEXT["id"], "a", "b", "c", "d", "e", "f")] == [
        ("", "print(1)"), ("", "print(1)"), ("1 · One", "two"), ("1 · One", "two"), ("1 · One", "two"),
        ("2 · Two", ""), ("2 · Two", "")]


def test_a_vote_has_letters_and_marks_the_right_one_with_the_answer():
    slide = GOOD | {"predict": "Which?", "choices": ["*one*", "two"], "right": "B", "answer": "Two."}
    page = slides.page("07", slide, {}, None, slides.Writer())
    assert "<li><b>A</b> <em>one</em></li>" in page
    assert '<li class="right fragment custom" data-fragment-index="0"><b>B</b> two</li>' in page
    assert '<section data-minutes="1">' in page
    assert '<section data-minutes="2" data-optional>' in slides.page(
        "07", slide | {"notes": "Optional, 2 minutes."}, {}, None, slides.Writer())


def test_a_formula_that_cannot_be_read_is_named():
    write = slides.Writer()
    with pytest.raises(decks.DeckError, match="x_.* cannot be read"):
        write.drawn(write("$x_$"))
