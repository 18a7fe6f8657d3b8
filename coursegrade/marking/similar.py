"""Pairs of hand-ins whose code is alike beyond what the course explains, for a person to read. It is never a verdict.

Two answers to a question are compared by their prints (fingerprints.py), without those

- that the course gives: the assignment's own cells, all solutions, the lectures, its packages, the bank's answers;
- that many of the class have in that answer, a quarter and at least CROWD: an idiom, or what a teacher has shown.

They are alike if LEAST prints or more are left in both, on STATEMENTS statements or more of each. An answer of one line
is never enough, however long. Nothing of what was handed in is run.
"""

import collections
import dataclasses
import itertools

import nbformat

from coursegrade import courses
from coursegrade.marking import fingerprints, pages, tables
from coursegrade.marking.repair import grade_id, is_answer, teachers

LEAST, STATEMENTS = 15, 3                                               # 15 runs of 16 tokens: 30 in a row, or more
CROWD = 5                                                               # hand-ins; fewer are never an idiom
LONGEST = 20_000                                                        # characters of an answer that are looked at
OTHERS = 10                                                             # named with a pair
SHOWN = 50                                                              # pairs on the page; the table has all
BINS = (0, 1, 5, 15, 30, 60, 120, 240)                                  # prints in common, of the page's table


@dataclasses.dataclass
class Work:
    """What somebody handed in. answers: {question: source}. own: {question: {print: {(line, statement)}}} of what
    neither the course nor the class explains."""

    answers: dict
    own: dict

    def size(self):
        """How many prints are the student's own."""
        return sum(map(len, self.own.values()))


@dataclasses.dataclass
class Pair:
    """Two hand-ins. alike: {question: prints that both have}, of the answers that are alike. shared: how many both have
    in all answers. also: [(student, how many of those that are alike)] of the OTHERS who have most of them."""

    names: tuple
    alike: dict
    shared: int
    also: list = dataclasses.field(default_factory=list)

    def size(self):
        """How many prints are alike."""
        return sum(map(len, self.alike.values()))


def write(course, assignment, notebooks, left_out=()):
    """Write grading/A-similar.html and A-similar.csv about {student: notebook}, as intake repaired them. Returns their
    paths, the pairs to read and the number of all pairs. left_out: (student, why) of those that could not be read."""
    answers = {student: answers_in(notebook) for student, notebook in sorted(notebooks.items())}
    works, common = own_work(answers, given(course, assignment))
    found, counts = pairs(works)
    folder, people = course.grading, course.people()
    page, table = folder / f"{assignment}-similar.html", folder / f"{assignment}-similar.csv"
    called = {name: about_person(name, people) for name in works}
    page.write_text(pages.PAGES.get_template("similar.html").render(
        assignment=assignment, pairs=[on_page(pair, works, counts, called) for pair in found[:SHOWN]],
        found=len(found), all=counts.total(), bins=bins(counts), questions=by_question(works, found), least=LEAST,
        statements=STATEMENTS, common=common, crowd=crowd(works), works=len(works), left_out=list(left_out),
        K=fingerprints.K), encoding="utf-8")
    tables.write(table, [row(pair, works, counts, called) for pair in found], "utf-8-sig")
    return (page, table), found, counts.total()


def answers_in(notebook):
    """{question: source} of the code cells that a student writes in."""
    return {grade_id(cell): cell.source[:LONGEST] for cell in teachers(notebook)
            if is_answer(cell) and cell.cell_type == "code"}


def given(course, assignment):
    """The prints of all that everybody may have from the course."""
    notebooks = [*map(course.source, course.assignments()), *sorted((course.root / "lectures").glob("*.ipynb"))]
    sources = [cell.source for path in notebooks for cell in nbformat.read(path, as_version=4).cells
               if cell.cell_type == "code"]
    sources += [cell.source for cell in course.released(assignment).cells if cell.cell_type == "code"]
    packages = [*courses.here().PACKAGES, courses.here().__name__]
    modules = [*(path for name in packages for path in sorted(courses.folder(name).rglob("*.py"))),
               course.root / "tests" / "grading" / "bank" / f"{assignment}.py"]
    sources += [path.read_text(encoding="utf-8") for path in modules if path.exists()]
    return set().union(*map(fingerprints.prints, sources))


def own_work(answers, explained):
    """({student: Work}, how many prints are common) from {student: {question: source}}."""
    works, having, read = {}, collections.Counter(), {}
    for student, sources in answers.items():
        for source in sources.values():
            if source not in read:
                read[source] = {name: places for name, places in fingerprints.prints(source).items()
                                if name not in explained}
        works[student] = Work(sources, {question: read[source] for question, source in sources.items()})
        having.update((question, name) for question, own in works[student].own.items() for name in own)
    common = {name for name, count in having.items() if count >= crowd(works)}
    for work in works.values():
        work.own = {question: {name: places for name, places in own.items() if (question, name) not in common}
                    for question, own in work.own.items()}
    return works, len(common)


def crowd(works):
    """How many hand-ins make what they share an idiom."""
    return max(CROWD, -(-len(works) // 4))


def pairs(works):
    """([Pair] to read, those with most in common first; Counter of how many prints are shared, over all pairs)."""
    having = collections.defaultdict(list)
    for student, work in works.items():
        for question, own in work.own.items():
            for name in own:
                having[question, name].append(student)
    shared = collections.defaultdict(lambda: collections.defaultdict(set))
    for (question, name), students in having.items():
        for both in itertools.combinations(students, 2):
            shared[both][question].add(name)
    counts, found = collections.Counter(), []
    for both, questions in shared.items():
        alike = {question: questions[question] for question in works[both[0]].answers if question in questions
                 and all(enough(works[student].own[question], questions[question]) for student in both)}
        count = sum(map(len, questions.values()))
        counts[count] += 1
        if alike:
            found.append(Pair(both, alike, count))
    counts[0] = len(works) * (len(works) - 1) // 2 - len(shared)
    for pair in found:
        others = collections.Counter(student for question, names in pair.alike.items() for name in names
                                     for student in having[question, name] if student not in pair.names)
        pair.also = sorted(((student, count) for student, count in others.items() if count >= LEAST),
                           key=lambda item: (-item[1], item[0]))[:OTHERS]
    return sorted(found, key=lambda pair: (-pair.size(), pair.names)), counts


def enough(own, names):
    """Do these prints of an answer's own say something: at least LEAST of them, on STATEMENTS statements?"""
    return len(names) >= LEAST and len({statement for name in names for _, statement in own[name]}) >= STATEMENTS


# ── for the page and the table ────────────────────────────────────────────────────────────────────────────────────

def about_person(student, people):
    """The name of a student as a teacher knows it: id, and what the roster says."""
    if student not in people:
        return f"{student} (not on the roster)" if people else student
    name = " ".join(filter(None, [people[student].first_name, people[student].last_name]))
    return f"{student} ({name})" if name else student


def row(pair, works, counts, called):
    """The pair's line in the table."""
    a, b = pair.names
    common, own = pair.size(), [works[name].size() for name in pair.names]
    return {"student_a": a, "student_b": b, "name_a": called[a], "name_b": called[b], "in_common": common,
            "own_a": own[0], "percent_of_a": round(100 * common / own[0]),
            "own_b": own[1], "percent_of_b": round(100 * common / own[1]), "questions": ", ".join(pair.alike),
            "shared": pair.shared,
            "pairs_that_share_as_many": sum(times for count, times in counts.items() if count >= pair.shared),
            "also": ", ".join(f"{name} ({count})" for name, count in pair.also), "what_it_is": "to be read, no verdict"}


def on_page(pair, works, counts, called):
    """What the page's template needs of a pair."""
    sides = [works[name] for name in pair.names]
    return row(pair, works, counts, called) | {
        "same": sides[0].answers == sides[1].answers,
        "also": [(called[name], count) for name, count in pair.also],
        "answers": [(question, [marked(side, question, names) for side in sides])
                    for question, names in pair.alike.items()]}


def marked(work, question, names):
    """[(line of the answer, is it alike?)]."""
    lines = {line for name in names for line, _ in work.own[question][name]}
    return [(text, number in lines) for number, text in enumerate(work.answers[question].split("\n"), 1)]


def bins(counts):
    """[(words, how many pairs)]: the pairs by how many prints they share."""
    ends = [*BINS[1:], max([*counts, BINS[-1]]) + 1]
    return [(f"{start}" if end == start + 1 else f"{start} to {end - 1}" if end != ends[-1] else f"{start} or more",
             sum(times for count, times in counts.items() if start <= count < end))
            for start, end in zip(BINS, ends, strict=True)]


def by_question(works, found):
    """[(question, answers of which something can be said, answers that are too short, pairs that are alike in it)]."""
    questions = dict.fromkeys(question for work in works.values() for question in work.answers)
    able = {question: sum(enough(own, own) for work in works.values() for own in [work.own.get(question, {})])
            for question in questions}
    return [(question, able[question], len(works) - able[question], sum(question in pair.alike for pair in found))
            for question in questions]
