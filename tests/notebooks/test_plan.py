"""The plan by sessions: its numbers are those of decks, syllabus and assignments, and its order can be taught."""

import re

import pytest

from tools import notebooks
from tools.decks import MINUTES, deck
from tools.decks import minutes as of_deck

SESSION, CREDIT = 90, (25, 30)                          # minutes; hours of an ECTS credit
QUIZ_TWICE = 2                                          # a class answers it, and speaks about it as long
WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen"]
LATER = 2                                               # sessions between a lecture and the day its assignment is due

PLAN = (notebooks.ROOT / "docs" / "plan.md").read_text(encoding="utf-8")
SYLLABUS = (notebooks.ROOT / "SYLLABUS.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d) \| ((\d\d[a-z]?) [^|]*) \| (\d+) \| (\d+) \| ([^|]*) \| (class|home) \|", SYLLABUS, re.M)
WEEK = {number: int(week) for week, _, number, *_ in ROWS}
NAME = {number: name for _, name, number, *_ in ROWS}
NOTEBOOK = {number: int(took) for _, _, number, took, *_ in ROWS}
TASK = {path.stem.partition("_")[0]: path for path in sorted(notebooks.ROOT.glob("exercises/*/*.ipynb"))}
LECTURE = {notebooks.number(path): path.name for path in notebooks.find()}
SLIDES = {number: deck(number) for number in NAME}


def builds_on():
    """{lecture: those that it builds on}, from the syllabus's sentence."""
    told = re.search(r"What each lecture builds on: ([^.]*)\.", " ".join(SYLLABUS.split()))[1]
    found = {number: [] for number in NAME}
    for part in told.split("; "):
        new, old = (re.findall(r"\d\d[a-z]?", side) for side in part.split(" on "))
        for number in new:
            found[number] += old
    return found


def first_cell(number):
    text = TASK[number].read_text(encoding="utf-8")
    return text.replace('\\n",\n    "', " ").replace("\\n", " ")


BUILDS_ON = builds_on()
TOOK = {number: int(re.search(r"\*\*Takes\*\* about (\d+)\s+minutes", first_cell(number))[1]) for number in TASK}
CAPSTONE = int(re.search(r"\| (\d+) \| capstone[^|]*\|[^|]*\| project, (\d+) \|", first_cell("15"))[2])
OPENING = QUIZ_TWICE * int(re.search(r"^\| Check yourself \| (\d+) \|$",
                                     (notebooks.ROOT / "docs" / "notes" / "01.md").read_text("utf-8"), re.M)[1])


def link(number):
    return f"[{NAME[number]}](../lectures/{LECTURE[number]})"


def task(number):
    return f"[{number}](../exercises/{TASK[number].stem}/{TASK[number].name})"


def minutes(slides):
    return sum(int(MINUTES.match(slide["notes"])[2]) for slide in slides)


def core(number):
    return [slide for slide in SLIDES[number] if not MINUTES.match(slide["notes"])[1]]


def bold(text):
    return re.findall(r"\*\*(.+?)\*\*", text)


def part(heading, level="##"):
    """The text below a heading, up to the next of its level or above."""
    [text] = re.findall(rf"^{level} {re.escape(heading)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", PLAN, re.M | re.S)
    return text


def items(text):
    """{how a list's item begins in bold: all of the item in one line}."""
    lines = [" ".join(item.split()) for item in re.findall(r"^- (.*?)(?=^- |^$|\Z)", text, re.M | re.S)]
    return {re.match(r"\*\*([A-Za-z ]+)", line)[1].strip(): line for line in lines}


def table(text):
    """The rows of the first table of a text, without its head."""
    lines = re.search(r"(?:^\|.*\|\n)+", text, re.M)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


BLOCKS = [(number, items(text)) for number, text in re.findall(
    r"^### Session \d+ · \[(\d\d[a-z]?) [^\n]*\n(.*?)(?=^##|\Z)", PLAN, re.M | re.S)]
SESSIONS = {number: at for at, (number, _) in enumerate(BLOCKS, 1)}
HOME = {re.search(r"\[(\d\d[a-z]?) ", block["Read at home"])[1]: at
        for at, (_, block) in enumerate(BLOCKS, 1) if "Read at home" in block}
MARKED = [re.match(r"\[(\d\d[a-z]?)\]", row[0])[1] for row in table(part("What is handed in"))]


LONGEST = max(minutes(core(number)) for number in NAME) + OPENING


def open_tasks(at):
    return [number for number in MARKED if SESSIONS[number] + LATER == at]


def test_every_lecture_has_one_place_and_comes_after_what_it_builds_on():
    assert len(SESSIONS) == len(BLOCKS) and sorted([*SESSIONS, *HOME]) == sorted(NAME)
    for number in NAME:                                 # what is read at home is read between two sessions
        when = {**SESSIONS, **{home: at - 0.5 for home, at in HOME.items()}}
        assert all(when[old] < when[number] for old in BUILDS_ON[number]), number
        week = -(-SESSIONS.get(number, HOME.get(number, 1) - 1) // 2)
        assert week == WEEK[number], f"{number}: week {WEEK[number]} in the syllabus, {week} in the plan"


@pytest.mark.parametrize("at", range(1, len(BLOCKS) + 1))
def test_a_session_adds_up(at):
    """Every line with a number is written here again, of the titles that it names."""
    number, block = BLOCKS[at - 1]
    assert f"### Session {at} · {link(number)}\n" in PLAN
    slides = {slide["title"]: slide for slide in core(number)}
    titles = list(slides)
    never = bold(block["Never skip"])[1:]
    *cut, stop = bold(block["When late"])[1:]
    assert not {*never, *cut, stop} - {*titles}, f"not in the core of deck {number}"
    assert len({*never}) == 3 and not {*cut} & {*never, stop}
    marked = {title for title in titles if re.search(r"[Nn]ever leave|must stay", slides[title]["notes"])}
    assert marked <= {*never}, f"deck {number} says of these that they are never left out: {marked}"
    last = titles.index(stop)
    assert all(titles.index(title) <= last for title in [*never, *cut])
    home = [old for old, when in HOME.items() if when == at]
    before = home or [BLOCKS[at - 2][0]] * (at > 1)
    opening = OPENING if before else 0
    total = opening + minutes(core(number))
    late = opening + minutes(slides[title] for title in titles[:last + 1] if title not in cut)
    assert total <= SESSION and late < total

    def listed(names):
        return ", ".join(f"**{name}**" for name in names)

    expected = {
        "Deck": f"**Deck, {minutes(core(number))} core minutes**"
                + f"; with the opening {total}" * bool(before) + ".",
        "Never skip": f"**Never skip:** {listed(never)}.",
        "When late": f"**When late:** leave out {listed(cut)} ({minutes(slides[title] for title in cut)} minutes), "
                     f"and stop after **{stop}**, at minute {late}."}
    if before:
        expected["Opening"] = f"**Opening, {opening} minutes:** the quiz of {before[0]}."
    if home:
        expected["Read at home"] = f"**Read at home:** {link(home[0])}, {NOTEBOOK[home[0]]} minutes."
    if open_tasks(at):
        expected["Due today"] = f"**Due today:** assignment {', '.join(map(task, open_tasks(at)))}."
    assert {key: block[key] for key in expected} == expected
    assert {*block} == {*expected, "Opening", "On the board"}
    assert before or not re.search(r"\d", block["Opening"])
    assert {*re.findall(r"\d+b?", block["On the board"])} <= {*HOME}


def test_what_is_handed_in_is_taught_by_then():
    """An assignment is on its lecture, and on the second part of it that has none of its own."""
    rows = table(part("What is handed in"))
    for (name, took, on, due, _), number in zip(rows, MARKED, strict=True):
        parts = [number] + [f"{number}b"] * (f"{number}b" in NAME and f"{number}b" not in TASK)
        at = SESSIONS[number] + LATER
        told = f"session {at}" if at <= len(BLOCKS) else "a week after the last session"
        assert [name, took, on, due] == [task(number), str(TOOK[number]), ", ".join(parts), told]
        assert all(HOME.get(old, 0) <= at for old in parts)
    assert len({SESSIONS[number] for number in MARKED}) == len(MARKED)
    text = " ".join(part("What is handed in").split())
    others = [task(number) for number in TASK if number not in MARKED]
    assert f"The other assignments ({', '.join(others)}) are for the checks alone" in text
    assert f"question 7 of assignment {task('15')}: about {CAPSTONE} minutes" in text
    assert re.search(r"\| 7 \| capstone", first_cell("15"))


@pytest.mark.parametrize("lost", range(1, len(BLOCKS) + 1))
def test_a_lost_session_moves_the_next_as_the_plan_says(lost):
    """What goes home has nothing taught on it later, nothing comes before what it builds on, and no two are due on a
    day; the last two lectures need a session after the last, and no others do."""
    spare = re.search(r"All moves on by one, until ([^,]*), (\d\d) or (\d\d) comes", " ".join(PLAN.split())).groups()
    for old in spare:
        later = {old}
        while more := {new for new in NAME if later & {*BUILDS_ON[new]}} - later:
            later |= more
        assert later & {*SESSIONS} == {old}
    held = {number: at + (at >= lost) for number, at in SESSIONS.items()}
    home = next((number for number in spare if SESSIONS[number] >= lost), None)
    if home:
        held = {number: at + (lost <= at < SESSIONS[home]) for number, at in SESSIONS.items() if number != home}
    assert max(held.values()) == len(BLOCKS) + (home is None)
    assert (home is None) == (lost > SESSIONS["13"]) and [*SESSIONS][SESSIONS["13"]:] == ["14", "15"]
    when = {**held, **({home: SESSIONS[home] + 0.3} if home else {})}
    for old, at in HOME.items():                        # read before the session of the lecture that it was read before
        when[old] = held.get(BLOCKS[at - 1][0], at + 1) - 0.5
    assert all(when[old] < when[new] for new in NAME for old in BUILDS_ON[new])
    due = [held.get(number, SESSIONS[number]) + LATER for number in MARKED]
    assert len({*due}) == len(due)


def test_what_is_to_be_printed_is_there_and_for_a_lecture_in_class():
    told = items(part("Before you write dates"))["Print"]
    pages = dict(re.findall(r"for (\d\d) [a-z ]*\(`(print/\w+\.html)`\)", told))
    notes = {number: (notebooks.ROOT / "docs" / "notes" / f"{number}.md").read_text("utf-8") for number in SESSIONS}
    linked = {number: re.findall(r"print/\w+\.html", text) for number, text in notes.items()}
    assert {number: [page] for number, page in pages.items()} == {number: own for number, own in linked.items() if own}
    assert "print/cards.html" in told and all((notebooks.ROOT / "docs" / page).exists() for page in pages.values())


def test_the_numbers_in_words():
    text = " ".join(PLAN.split())
    class_, home, marked = WORDS[len(SESSIONS)], WORDS[len(HOME)], WORDS[len(MARKED)]
    weeks, first = WORDS[-(-len(BLOCKS) // 2)], class_.capitalize()
    assert f"{first} sessions of {SESSION} minutes: two a week for {weeks} weeks" in text
    assert f"{first} lectures are taught with their decks, {home} are read at home, and {marked} assignments" in text
    assert f"Why these {marked}:" in text and f"## The {class_} sessions" in PLAN
    assert f"A class needs {OPENING // QUIZ_TWICE} minutes to answer them" in text
    quizzes = [path.read_text("utf-8") for path in (notebooks.ROOT / "attention_questions/quizzes").glob("[0-9]*.toml")]
    [asked] = {len(re.findall(r"^\[\[question\]\]", quiz, re.M)) for quiz in quizzes}
    assert f"The {WORDS[asked]} questions that end the lecture" in text
    assert LONGEST <= SESSION and f"with the opening at most {LONGEST} of the {SESSION} minutes" in text
    assert f"One ECTS credit is {CREDIT[0]} to {CREDIT[1]} hours." in text
    assert f"In class a session counts {SESSION} minutes" in text


# The shorter courses and the longer one.


def course(heading):
    """(lectures in order, those of a session, {read at home: before which}, assignments, {bridge: before which})."""
    text = part(heading, "###")
    cells = [cell for row in table(text) for cell in row[1:]]
    order, taught, home = [], [], {}
    for cell in cells:
        number, old = re.fullmatch(r"(\d\d[a-z]?)(?:, after (\d\d[a-z]?) at home)?", cell).groups()
        if old:
            home[old] = number
        order += [old, number] if old else [number]
        taught.append(number)
    tasks = re.search(r"\*\*Assignments:\*\* ([^.]*?)( and the\s+capstone)?[.;]", text)
    bridges = re.findall(r"^- \*\*Bridge for (\d\d[a-z]?), before (\d\d[a-z]?)\.\*\* (.*?)(?=^- |^$)", text,
                         re.M | re.S)
    assert len({old for old, _, _ in bridges}) == len(bridges)
    for _, new, said in bridges:
        assert 1 <= len(re.findall(r"\.(?:\s|$)", said)) <= 2, "a bridge is one or two sentences"
        assert {*re.findall(r"\d+[a-z]?", said)} <= {new}
    return order, taught, home, re.findall(r"\d\d[a-z]?", tasks[1]), {old: new for old, new, _ in bridges}


SHORTER = ["Ten weeks", "Five weeks", "Three weeks", "A day"]


def missing(order):
    """{what a lecture builds on and has not been there: the first lecture that would need it}."""
    done, lacking = set(), {}
    for number in order:
        for old in BUILDS_ON[number]:
            if old not in done:
                lacking.setdefault(old, number)
        done.add(number)
    return lacking


@pytest.mark.parametrize("heading", SHORTER)
def test_a_course_has_what_its_lectures_build_on_or_a_bridge(heading):
    order, taught, _, tasks, bridges = course(heading)
    assert all(minutes(core(number)) <= SESSION for number in taught)
    assert len({*order}) == len(order) and missing(order) == bridges
    rows = table(part(heading, "###"))
    assert [row[0] for row in rows] == [str(at) for at in range(1, len(rows) + 1)]
    assert {*tasks} <= ({*TASK} if heading == "Ten weeks" else {*MARKED} & {*taught})
    if heading != "A day":
        assert WORDS[len(rows)] == heading.split()[0].lower() and len(taught) == 2 * len(rows)


def test_what_is_said_of_the_courses():
    text = {heading: " ".join(part(heading, "###").split()) for heading in SHORTER}
    assert sorted(course("Ten weeks")[0]) == sorted(NAME) and course("Ten weeks")[3] == list(TASK)
    left = [number for number in NAME if number not in course("Five weeks")[0]]
    assert f"Left out are {', '.join(left)}; no bridge is needed." in text["Five weeks"]
    assert "**Bridge" not in text["Ten weeks"] + text["Five weeks"]
    other = re.findall(r"\d\d[a-z]?", re.search(
        r"has 08 in place of 10, with 08b at home after it: ([^.]*)\.", text["Three weeks"])[1])
    assert not missing(other) and sorted(other) == sorted(
        {*course("Three weeks")[0]} - {"10"} | {"08", "08b"}), "08 in place of 10, with 08b at home"
    assert f"{WORDS[len(course('A day')[1]) - 1].capitalize()} breaks" in text["A day"]
    assert f"the last session after the longest of them: {course('A day')[0][-1]} is the densest" in text["A day"]
    assert "Of 14 leave out question 8, a bonus, which needs 14b" in text["Three weeks"]
    assert re.search(r"for \s*question 8, \[14b", first_cell("14"))
    assert re.search(r"\| 8 \| [^|]* \| [^|]* \| bonus, ", first_cell("14"))


# Hours.


def hours(minutes):
    return f"{minutes / 60:.1f}"


def counted(name, weeks, sessions, notebook, tasks, capstone=0):
    read, done = sum(NOTEBOOK[number] for number in notebook), sum(TOOK[number] for number in tasks)
    parts = SESSION * sessions, read, done + capstone
    credits = list(dict.fromkeys(hours(sum(parts) / credit) for credit in reversed(CREDIT)))
    week = hours(sum(parts) / weeks) if weeks else "–"
    return [name, str(sessions), *map(hours, parts), hours(sum(parts)), week, " to ".join(credits)], sum(parts) / 60


def test_hours_and_credits():
    weeks = -(-len(BLOCKS) // 2)
    plan, of_plan = counted("seven weeks", weeks, len(BLOCKS), HOME, MARKED)
    whole, of_whole = counted("seven weeks, everything", weeks, len(BLOCKS), NAME, TASK, CAPSTONE)
    policy, _ = counted("seven weeks, by the policy", weeks, len(BLOCKS), HOME, [*MARKED, "15"], CAPSTONE)
    rows = [plan, policy, whole]
    for heading in SHORTER:
        _, taught, home, tasks, _ = course(heading)
        length = 0 if heading == "A day" else len(table(part(heading, "###")))
        rows.append(counted(heading.lower(), length, len(taught), home, tasks, CAPSTONE * (heading == "Ten weeks"))[0])
    text = part("Hours and credits")
    assert table(text) == rows
    few, many = WORDS[round(of_plan / CREDIT[0])], WORDS[round(of_whole / CREDIT[1])]
    assert f"Rounded, the plan is {few} credits of {CREDIT[0]} hours, and everything is {many} of {CREDIT[1]}." in text


def test_a_week_of_the_plan():
    """An assignment is worked on between its lecture and the session at which it is due."""
    expected = []
    for week in sorted({*WEEK.values()}):
        taught = [number for number in SESSIONS if WEEK[number] == week]
        home = [number for number in HOME if WEEK[number] == week]
        tasks = [number for number in MARKED if -(-(SESSIONS[number] + LATER - 1) // 2) == week]
        took = SESSION * len(taught) + sum(NOTEBOOK[number] for number in home) + sum(TOOK[number] for number in tasks)
        expected.append([str(week), ", ".join(taught), ", ".join(home), ", ".join(tasks) or "none", hours(took)])
    assert table(part("Hours and credits").partition("Rounded")[2]) == expected
    assert {number for row in expected for number in row[3].split(", ")} - {"none"} == {*MARKED}


def test_deck_and_notebook_side_by_side():
    def where(number):
        return f"session {SESSIONS[number]}" if number in SESSIONS else f"at home before session {HOME[number]}"

    def summed(name, numbers):
        told = [(NOTEBOOK[number], *of_deck(SLIDES[number])) for number in numbers]
        return [f"**{name}**", *(str(sum(column)) for column in zip(*told, strict=True)), ""]

    rows = [[link(number), str(NOTEBOOK[number]), *map(str, of_deck(SLIDES[number])), where(number)] for number in NAME]
    assert table(part("Deck and notebook")) == [*rows, summed("together", NAME), summed("in class", SESSIONS)]


def test_the_syllabus_says_the_same():
    """Minutes of the deck, of the assignment, and where a lecture is."""
    for _, _, number, _, slides, assignment, where in ROWS:
        own = str(TOOK[number]) if number in TASK else f"with {number[:2]}" if number[:2] in TASK else "none"
        told = str(of_deck(SLIDES[number])[0]), own, "class" if number in SESSIONS else "home"
        assert (slides, assignment, where) == told, number


def test_no_other_number_stands_there():
    """What is left without lectures, links, titles and the lines that the tests above write again."""
    text = re.sub(r"\]\([^)]*\)", "]", PLAN)
    text = re.sub(r"^\|.*\|$|^### Session .*$", "", text, flags=re.M)
    text = re.sub(r"^- \*\*(Read at home|Opening|Deck,|Never skip|When late|Due today).*?(?=^- |^$|\Z)", "", text,
                  flags=re.M | re.S)
    text = re.sub(r"\b(?:" + "|".join(sorted(NAME, reverse=True)) + r")\b", "", text)
    allowed = {str(SESSION), str(LONGEST), str(OPENING // QUIZ_TWICE), str(CAPSTONE), *map(str, CREDIT), "7", "8"}
    assert {*re.findall(r"\d+", text)} <= allowed
