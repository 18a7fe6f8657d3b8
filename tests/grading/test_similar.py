"""Pairs to read: what hides no copy, what is never evidence, and that right answers written apart are not reported."""

import ast
import csv
import re
import shutil
from pathlib import Path

import nbformat
import pytest

from coursegrade.marking import fingerprints, similar
from tests.grading import classroom
from tests.grading.classroom import NAME, ROOT, answers, command, hand_in

LONG = '''def double(values):
    """Twice each."""
    total, seen = [], {}
    for place, value in enumerate(values):
        if value in seen:  # looked up
            total.append(total[seen[value]])
            continue
        seen[value] = place
        total.append(sum([value for _ in range(2)]))
    assert len(total) == len(values), "some were lost"
    return list(total)


def halve(values):
    """The other way."""
    kept = [value / 2 if isinstance(value, (int, float)) else None for value in values]
    while None in kept:
        kept.remove(None)
    return sorted(kept, key=abs, reverse=False)
'''
OTHER = '''def double(values):
    import operator
    made = map(operator.add, values, values)
    result = tuple(made)
    if not result:
        raise ValueError(f"nothing in {values!r}")
    return [*result][:len(result)]
'''
CASES = sorted(path.stem for path in (ROOT / "tests" / "grading" / "bank").glob("[0-9]*.py"))


def renamed(source):
    """The same with other names and another layout, other texts and comments, and its functions the other way round."""
    for old, new in {"values": "xs", "total": "out", "seen": "cache", "place": "i", "value": "v", "kept": "rest",
                     "halve": "mine", "some were lost": "no!"}.items():
        source = re.sub(rf"\b{old}\b", new, source)
    source = re.sub("  # .*", "", re.sub('    """.*"""\n', "    # my own idea\n\n", source))
    first, second = source.split("\n\n\n")
    return second.replace("    ", "  ").replace(" = ", "=") + "\n" + first + "  # of everything\n"


def listed(explained=(), **students):
    """The pairs to read of a class with one question."""
    works, _ = similar.own_work({name: {"double": source} for name, source in students.items()}, set(explained))
    return similar.pairs(works)[0]


def test_other_names_comments_and_another_order_hide_no_copy():
    assert renamed(LONG) != LONG and ast.parse(renamed(LONG))
    old, new = (fingerprints.prints(source).keys() for source in (LONG, renamed(LONG)))
    assert old == new and len(old) > 90
    [pair] = listed(ada=LONG, bob=renamed(LONG), cyd=OTHER)
    assert pair.names == ("ada", "bob") and pair.size() == len(old)


def test_what_the_course_gives_is_no_evidence():
    assert listed(fingerprints.prints(renamed(LONG) + LONG), ada=LONG, bob=LONG) == []


def test_what_a_quarter_of_the_class_has_is_an_idiom_but_five_at_least():
    few = {f"s{number}": LONG for number in range(4)}
    assert len(listed(**few, other=OTHER)) == 6
    assert listed(**few, s4=renamed(LONG), other=OTHER) == []
    many = {f"t{number}": f"def double(values):\n    return {number}" for number in range(20)}
    assert len(listed(**few, s4=LONG, **many)) == 10 and listed(**few, s4=LONG, s5=LONG, s6=LONG, **many) == []


def test_others_with_the_same_are_named():
    assert listed(ada=LONG, bob=LONG, cyd=LONG)[0].also == [("cyd", listed(ada=LONG, bob=LONG)[0].size())]


def test_one_line_is_never_evidence_however_long():
    line = "def double(values):\n    return sorted({}, key=lambda value: (value, -value))".format(
        "[" + ", ".join(f"values[{number}].real * {number}" for number in range(40)) + "]")
    assert len(fingerprints.prints(line)) > similar.LEAST
    assert listed(ada=line, bob=line) == []
    assert listed(ada=line.replace(", ", ",\n"), bob=line.replace("(", "(\n")) == []


@pytest.mark.parametrize("broken", [
    "an error = that is no Python\n", "%%time\n", "!ls 'it\n", "text = '''never closed\n", "x = [1, (2,\n",
    "?\x0c$\\\n", "    deep = 1\n  less = 2\n", "é = “curly”\n", "\\"])
def test_a_cell_that_is_no_python_is_compared_as_far_as_it_can_be_read(broken):
    assert len(fingerprints.prints(LONG + broken).keys() & fingerprints.prints(LONG).keys()) > 80
    fingerprints.prints(broken + LONG)


@pytest.mark.parametrize("name", CASES)
def test_right_answers_that_were_written_apart_are_no_pairs(name):
    """Not even without what the lectures and the bank explain: from the bank, the first right answers to all questions
    are one student, the second another one, and so on."""
    classes, text = {}, (ROOT / "tests" / "grading" / "bank" / f"{name}.py").read_text()
    lines = text.split("\n")
    for node in ast.parse(text).body:
        for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(mark, ast.Call) and mark.func.id == "right":
                classes.setdefault(mark.args[0].value, []).append("\n".join(lines[node.lineno - 1:node.end_lineno]))
    students = {str(number): {question: found[number] for question, found in classes.items() if number < len(found)}
                for number in range(max(map(len, classes.values())))}
    solutions = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4)
    works, _ = similar.own_work(students, set().union(*(fingerprints.prints(cell.source) for cell in solutions.cells
                                                        if cell.cell_type == "code")))
    assert len(students) > 1 and sum(work.size() for work in works.values()) > 100
    assert [pair.names for pair in similar.pairs(works)[0]] == []


@pytest.fixture(scope="module")
def compared(template, tmp_path_factory):
    """(folder, what was said) of a class of which some wrote together, and others odd things."""
    folder = shutil.copytree(template, tmp_path_factory.mktemp("similar") / "course")
    released = nbformat.read(folder / "grading" / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    ran = f"open({str(folder / 'ran')!r}, 'w')\n"
    marked = LONG + "word = '</pre><script>alert(1)</script>'\n"
    work = {"ada": ran + marked, "bob": renamed(LONG), "cyd": OTHER, "twice": ran + marked,
            "huge": "x = [1]\n" * 10_000, "slashes": "\\\n" * 10_000, "broken": "def double(:\n  '''",
            "right": classroom.DOUBLE, "right_too": classroom.DOUBLE}
    for student, double in work.items():
        hand_in(folder, student, answers(released, double=double))
    hand_in(folder, "bob", answers(released, double=renamed(LONG) + "draft = 1"), "draft.ipynb")
    hand_in(folder, "untouched", released)
    hand_in(folder, "cut_off", b"{")
    hand_in(folder, "=cmd", answers(released, double=LONG))
    hand_in(folder, "no_cells", nbformat.v4.new_notebook())
    (folder / "grading" / "roster.csv").write_text(
        "id,first_name,last_name\nada,Ada,=1+1\nbob,Bob,<b>Bold</b>\ncyd,Cyd,C\n")
    return folder, command(folder, "similar", "01")


def test_the_command_writes_a_table_of_pairs(compared):
    folder, said = compared
    with open(folder / "grading" / f"{NAME}-similar.csv", newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    names = [(row["student_a"], row["student_b"]) for row in rows]
    assert names == [("ada", "twice"), ("ada", "bob"), ("bob", "twice")], "those who have most in common first"
    assert rows[0]["percent_of_a"] == "100" and rows[0]["also"].startswith("bob (")
    assert all(row["questions"] == "double" and row["what_it_is"] == "to be read, no verdict" for row in rows)
    assert "3 of 45 pairs to read, no verdict" in said
    assert not (folder / "ran").exists(), "nothing that was handed in is run"


def test_the_page_says_what_it_is_not_and_shows_both_sides(compared):
    page = (compared[0] / "grading" / f"{NAME}-similar.html").read_text()
    assert page.index("Alike is not copied.") < page.index("<table>")
    pairs = page.split("<h2>")[-3:]
    assert pairs[0].startswith("1. ada (Ada =1+1) and twice (not on the roster)</h2>")
    assert "the same to the letter" in pairs[0] and "the same to the letter" not in pairs[1]
    assert "<mark>        seen[value] = place</mark>" in pairs[1] and "<mark>        cache[v] = i</mark>" in pairs[1]
    assert "no other pair shares as many, of 45." in " ".join(pairs[0].split())
    assert "cut_off: there is no notebook that can be read" in page and "draft" not in page
    assert not re.search(r"<(script|link|iframe|object|embed|svg|base|form|b)\b|url\(|@import|javascript:", page, re.I)
    assert "&lt;/pre&gt;&lt;script&gt;" in page and "default-src 'none'" in page


def test_the_same_class_gives_the_same_bytes(compared):
    paths = [Path(compared[0], "grading", f"{NAME}-similar{end}") for end in (".html", ".csv")]
    before = [path.read_bytes() for path in paths]
    command(compared[0], "similar", "01")
    assert [path.read_bytes() for path in paths] == before


def test_every_pair_is_counted_once():
    works, _ = similar.own_work({str(number): {"double": LONG if number < 3 else OTHER} for number in range(7)}, set())
    _, counts = similar.pairs(works)
    assert counts.total() == 21 == sum(times for _, times in similar.bins(counts))
