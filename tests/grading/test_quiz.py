"""The quizzes of the lectures: each is whole, each answer gets its own explanation, the page and the widget say what
the file says."""

import copy
import re
import tomllib

import nbformat
import numpy as np
import pytest

from coursegrade import courses, quiz
from coursegrade.selfcheck.answers import answer, as_number, solution
from coursegrade.selfcheck.page import page, said, shuffled
from coursegrade.selfcheck.questions import KINDS, kind, load, what_is_wrong, within
from coursegrade.selfcheck.words import inline, rendered
from tools import notebooks, pace
from tools.normalise import WIDGET, normalise

LECTURES = {notebooks.number(path): path for path in notebooks.find()}
THERE = sorted(path.stem for path in (courses.folder() / "quizzes").glob("*.toml"))
SHOWN = [number for number, path in LECTURES.items() if f'quiz(\\"{number}\\")' in path.read_text(encoding="utf-8")]
NUMBER = {"ask": "1 + 2?", "number": 3, "why": "Count.", "unit": "%", "wrong": [{"number": 2, "why": "Multiplied?"}]}
CHOICE = {"ask": "Which?", "choices": [{"text": "a", "why": "No: a."}, {"text": "$b_1$", "right": True, "why": "Yes."},
                                       {"text": "<b>c</b>", "why": "No: c."}]}
ORDER = {"ask": "Sort.", "order": ["x", "y", "z"], "why": "As in the alphabet.",
         "wrong": [{"order": ["z", "y", "x"], "why": "Backwards."}]}


def replies(question):
    """(the right reply, [(a wrong one, its explanation), …], the explanation of the right one)."""
    if kind(question) == "choices":
        [right] = [choice for choice in question["choices"] if choice.get("right")]
        return right["text"], [(c["text"], c["why"]) for c in question["choices"] if c is not right], right["why"]
    name = kind(question)
    return question[name], [(wrong[name], wrong["why"]) for wrong in question.get("wrong", [])], question["why"]


def test_quizzes_belong_to_lectures():
    assert set(SHOWN) == {*THERE} - {"ready"} == set(LECTURES)


def test_the_entrance_test_says_what_to_read_and_its_page_is_current():
    asked = tomllib.loads((courses.folder() / "quizzes" / "ready.toml").read_text(encoding="utf-8"))["question"]
    for question, raw in zip(load("ready"), asked, strict=True):
        right, wrong, why = replies(question)
        assert all(why.endswith(f"To read: {raw['read']}.") for _, why in wrong) and "To read" not in why
    text = (notebooks.ROOT / "docs" / "ready.md").read_text(encoding="utf-8")
    assert text.endswith(f"\n{page(load('ready'))}\n"), "write what page(load('ready')) returns at its end"
    assert not re.search(r"\$|\\[(\[]", text)                              # formulas that GitHub does not draw


def test_the_numbers_of_the_entrance_test():
    a, b, q, t = np.zeros((3, 1)), np.zeros(4), np.zeros((5, 3)), np.linspace(0, 1, 2001)
    u, v, c = np.array([3, 4]), np.array([4, 3]), np.linspace(0, 9, 9001)
    slope = ((2 * 1e-6 + 1) ** 3 - (1 - 2 * 1e-6) ** 3) / 2e-6
    loss = sum((x - c) ** 2 for x in (1, 2, 6))
    wanted = [(a + b).size, (q @ q.T).size, u @ v / np.sqrt(u @ u * (v @ v)), slope, (t ** 2).mean(), 15 / (15 + 30),
              c[loss.argmin()]]
    numbers = [question["number"] for question in load("ready") if kind(question) == "number"]
    assert numbers == pytest.approx(wanted, abs=1e-3)
    words = ["the", "film", "was", "good"]
    assert replies(load("ready")[0])[0] == f"`{[w for i, w in enumerate(words) if i % 2]}`".replace("'", '"')


@pytest.mark.parametrize("number", THERE)
def test_every_answer_gets_its_own_explanation(number):
    questions = load(number)
    for question in questions:
        right, wrong, why = replies(question)
        assert answer(question, right) == (True, why) and why in solution(question)
        assert [answer(question, reply) for reply, _ in wrong] == [(False, told) for _, told in wrong]
        assert len({why, *(told for _, told in wrong)}) == len(wrong) + 1
        if kind(question) == "number":
            typed = f"{right} {question.get('unit', '')}"
            assert answer(question, typed)[0] and not answer(question, right + 3 * within(question) + 1e-6)[0]
        if kind(question) == "order":
            assert sorted(shuffled(question)) == sorted(right) and not answer(question, shuffled(question))[0]
    places = [[c.get("right") for c in q["choices"]].index(True) for q in questions if kind(q) == "choices"]
    assert len(places) < 3 or len(set(places)) > 1, "the right one must not always stand in the same place"
    assert len({kind(question) for question in questions}) > 1, "ask also for a number, or an order"


def test_no_answer_is_known_by_its_length():
    asked = [[len(c["text"]) for c in q["choices"]] + [i for i, c in enumerate(q["choices"]) if c.get("right")]
             for number in THERE for q in load(number) if len(q.get("choices", ())) == 4]
    for extreme in (max, min):                          # by chance a quarter, and two standard deviations more or less
        n = sum(lengths[right] == extreme(lengths) for *lengths, right in asked)
        assert abs(n - len(asked) / 4) < 2 * (len(asked) * 3 / 16) ** .5


@pytest.mark.parametrize("number", SHOWN)
def test_the_lecture_ends_with_its_quiz_and_shows_it_without_a_kernel(number):
    notebook = nbformat.read(LECTURES[number], as_version=4)
    [cell] = [cell for cell in notebook.cells if cell.cell_type == "code" and pace.QUIZ.search(cell.source)]
    assert cell.source.endswith(f'quiz("{number}")')
    after = notebook.cells[notebook.cells.index(cell) + 1]
    assert after.source.startswith("## Take-away")
    shown = quiz(number)._repr_mimebundle_()
    del shown[WIDGET]
    assert cell.outputs[0].data == shown, "the quiz has changed: run `make lectures`"


@pytest.mark.parametrize("number", THERE)
def test_the_page_has_every_answer_and_no_raw_formula(number):
    html = page(load(number))
    assert not re.search("<(script|style|h[1-6]|img)", html) and "$" not in html
    for question in load(number):
        right, wrong, why = replies(question)
        assert rendered(question["ask"]) in html and said(True, why) in html
        assert all(said(False, told) in html for _, told in wrong)
    for tag in ("details", "summary", "ol", "ul", "dl", "li", "p", "em", "code"):
        assert html.count(f"<{tag}>") == html.count(f"</{tag}>")


def test_words_become_html_and_nothing_else_does():
    assert inline(r"`a*b` *c* **d** $e<f$ $$g$$ \$5 <i>") == (
        r"<code>a*b</code> <em>c</em> <strong>d</strong> \(e&lt;f\) \[g\] $5 &lt;i&gt;")
    for margin in ("", "    "):
        block = f"one\nline\n\n{margin}```python\n{margin}x = 1 < 2\n{margin}```\n\nend"
        assert rendered(block) == "<p>one line</p><pre>x = 1 &lt; 2</pre><p>end</p>"
    assert said(True, "```\nx\n```") == "<p><strong>✓ Right.</strong></p><pre>x</pre>"
    html = page([CHOICE, NUMBER | {"ask": "<script>alert(1)</script>"}])
    assert "<script" not in html and "&lt;b&gt;c" in html


@pytest.mark.parametrize("typed, number", [("0.75", .75), (" 3/4 ", .75), ("75 %", .75), ("−0,5", -.5), ("1e-3", .001),
                                           ("25,000", 25000), ("0,750", .75), ("12 000", 12000)])
def test_numbers_are_read_as_people_type_them(typed, number):
    assert as_number(typed) == number


def test_a_reply_that_is_none_does_not_count():
    for question, reply in ((NUMBER, ""), (NUMBER, "three"), (NUMBER, "1/0"), (NUMBER, "nan"), (NUMBER, "inf"),
                            (CHOICE, None), (ORDER, ["x", "y"])):
        with pytest.raises(ValueError):
            answer(question, reply)
    assert answer(NUMBER, "3 %")[0] and answer(NUMBER, 3.01)[0] and answer(NUMBER, 7) == (False, "This is too large.")
    right, why = answer(ORDER, ["x", "z", "y"])
    assert not right and why == "Right until place 1. In place 2 should stand something else than: z"


@pytest.mark.parametrize("question, changed, words", [
    (NUMBER, {"order": ["x"]}, "one of number, choices, order: it has number and order"),
    (NUMBER, {"number": "3"}, "must be numbers"), (NUMBER, {"wrong": []}, "one to three likely wrong numbers"),
    (NUMBER, {"wrong": [{"number": 3.001, "why": "?"}]}, "cannot be told apart"),
    (NUMBER, {"why": ""}, "a text is missing"), (NUMBER, {"ask": "Is $a?"}, r"a \$ without its partner in 'Is \$a\?'"),
    (NUMBER, {"hint": "?"}, "has no 'hint'"),
    (CHOICE, {"choices": CHOICE["choices"][:2]}, "three or four"),
    (CHOICE, {"choices": [CHOICE["choices"][0] | {"text": str(i)} for i in range(3)]}, "exactly one"),
    (CHOICE, {"choices": [*CHOICE["choices"], {"text": "d"}]}, "a text is missing"),
    (CHOICE, {"choices": [*CHOICE["choices"], {"text": "a", "why": "?"}]}, "two of the choices are the same"),
    (ORDER, {"order": ["x", "x", "y"]}, "different texts"), (ORDER, {"why": None}, "a text is missing"),
    (ORDER, {"wrong": [{"order": ["z", "y", "w"], "why": "?"}]}, "must have the texts of the right one"),
    (ORDER, {"wrong": [{"order": ["x", "y", "z"], "why": "?"}]}, "is the right one, or is listed twice"),
])
def test_a_fault_in_a_file_is_one_clear_line(question, changed, words):
    assert what_is_wrong(question) == ""
    told = what_is_wrong(copy.deepcopy(question) | changed)
    assert re.search(words, told) and "\n" not in told


def test_the_example_of_the_readme_is_whole():
    text = (notebooks.ROOT / "attention_questions" / "quizzes" / "README.md").read_text(encoding="utf-8")
    example = re.search(r"^```toml\n(.*?)^```", text, re.S | re.M)[1]
    questions = tomllib.loads(example)["question"]
    assert [kind(question) for question in questions] == list(KINDS) and not any(map(what_is_wrong, questions))


def test_a_file_that_is_none_is_named(tmp_path):
    (tmp_path / "02.toml").write_text("[[question]]\nask = 'Why?'\n" * 5)
    for text, words in (("", "02.toml, question 1: give it one of"), ("[[question]]\n", "it has 6"),
                        ("[other]\n", "and 'other'"), ("=", "02.toml is not TOML")):
        with open(tmp_path / "02.toml", "a") as file:
            file.write(text)
        with pytest.raises(ValueError, match=words):
            load("02", tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no quiz '99'; there are 02"):
        load("99", tmp_path)


def fill(question, reply):
    """Set what a reader would set, in the widget of one question."""
    asked = question._question
    if kind(asked) == "number":
        question.field.children[0].value = str(reply)
    elif kind(asked) == "choices":
        at = [choice["text"] for choice in asked["choices"]].index(reply)
        question.field.children[at].children[0].index = 0
    else:
        for to, text in enumerate(reply):
            for i in range(question.reply().index(text), to, -1):
                question.field.children[i].children[0].click()                 # ↑


@pytest.mark.parametrize("number", THERE)
def test_the_widget_answers_and_counts_the_first_tries(number):
    shown = quiz(number)
    many = len(shown.asked)
    assert shown.counted.value == f"0 of {many} answered."
    for place, question in enumerate(shown.asked):
        if kind(question._question) != "order":
            question.button.click()                                             # nothing is set yet
            assert question.first_try is None and question.said.value
        right, wrong, why = replies(question._question)
        if place == 0:
            for reply, told in wrong:
                fill(question, reply)
                question.button.click()
                assert said(False, told) in question.said.value and question.show.layout.display != "none"
            question.show.click()
            assert rendered(solution(question._question)) in question.said.value
        fill(question, right)
        assert question.reply() == right or kind(question._question) == "number"
        question.button.click()
        assert said(True, why) in question.said.value and question.show.layout.display == "none"
    assert shown.counted.value == f"<b>{many - bool(replies(load(number)[0])[1])} of {many} at the first try.</b>"


def test_one_choice_is_on_and_texts_move_both_ways():
    from coursegrade.selfcheck.widget import Question
    choice, order = (Question(1, question, lambda: None) for question in (CHOICE, ORDER))
    for text in ("a", "<b>c</b>"):
        fill(choice, text)
        assert choice.reply() == text
        assert [row.children[0].index for row in choice.field.children].count(0) == 1
    before = order.reply()
    order.field.children[0].children[1].click()                                 # ↓
    assert order.reply() == [before[1], before[0], before[2]]
    assert order.field.children[0].children[0].disabled and order.field.children[2].children[1].disabled


@pytest.mark.filterwarnings("error")
def test_enter_answers_and_what_was_said_goes_with_the_reply():
    from coursegrade.selfcheck.widget import Question
    tries = []
    number, choice, order = (Question(1, question, lambda: tries.append(1)) for question in (NUMBER, CHOICE, ORDER))
    fill(number, 2)
    assert number.first_try is None and tries == []                             # leaving the box is no answer
    number.field.children[0]._handle_msg({"content": {"data": {"method": "custom", "content": {"event": "submit"}}},
                                          "buffers": []})
    assert number.first_try is False and tries == [1] and said(False, "Multiplied?") in number.said.value
    for question, first, second in ((number, 3, 4), (choice, "a", "$b_1$"), (order, ["x", "y", "z"], ["x", "z", "y"])):
        for reply in (first, second):
            fill(question, reply)
            assert question.said.value == ""
            question.button.click()
            assert question.said.value
    assert choice.show.layout.display == "none" != order.show.layout.display


def test_a_committed_notebook_keeps_the_page():
    output = nbformat.v4.new_output("execute_result", data=quiz("02")._repr_mimebundle_(), execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell('quiz("02")', outputs=[output])])
    [kept] = normalise(notebook).cells[0].outputs
    assert set(kept.data) == {"text/html", "text/plain"} and kept.data["text/html"] == page(load("02"))
    assert kept.data["text/plain"].startswith("[Quiz 02: 5 questions.")
