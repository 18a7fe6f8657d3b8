"""An answer is shown after three runs that failed, where there is something to show, and to nobody else."""

import zipfile

import pytest

from coursegrade import courses
from coursegrade.kit import reveal, score
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.question import Question
from tests.grading.classroom import NAME, command


def half(x):
    """Half of it."""
    return x / 2


@pytest.fixture
def question():
    made = Question(half, (1, 0), {"four": (4,)}, why="Division, so that an odd number keeps its half.")
    score.announce("halves", [made], {})
    yield made
    score._topics.pop("halves")
    reveal.forget()


def said(question, answer):
    with pytest.raises(CheckFailed) as failure:
        question(answer)
    return str(failure.value)


def empty(x):
    raise NotImplementedError()


def test_the_third_failure_offers_the_answer(question):
    said(question, empty)
    for wrong in (lambda x: x, lambda x: x + 1):
        assert "stuck?" not in said(question, wrong)
        with pytest.raises(ValueError, match="half is shown after 3 runs of its check that did not pass"):
            question.answer()
    assert "stuck?    check.halves.half.answer(), in a cell of its own" in said(question, lambda x: None)
    assert repr(question.answer()) == ("Division, so that an odd number keeps its half.\n"
                                       'def half(x):\n    """Half of it."""\n    return x / 2')
    assert question.answer()._repr_html_().startswith("<p>Division")
    question(half)                                                      # and it is right


def test_where_there_are_no_answers_none_is_offered(question, monkeypatch, tmp_path):
    monkeypatch.setattr(courses, "folder", lambda package=None: tmp_path / "course")
    for _ in range(5):
        assert "stuck?" not in said(question, lambda x: x)
    with pytest.raises(ValueError, match="this copy has no answers to show"):
        question.answer()
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / reveal.MARK).touch()
    assert "stuck?" in said(question, lambda x: x)


def test_while_work_is_marked_none_is_offered(question):
    for _ in range(5):
        with pytest.raises(CheckFailed) as failure:
            question(lambda x: x, {"six": (6,)})                         # hidden
        assert "stuck?" not in str(failure.value)


def test_a_bundle_has_answers_only_if_that_is_said(small, tmp_path):
    folder, _, _ = small

    def names(*how):
        command(folder, "release", NAME, "--unsafe", "--to", str(tmp_path / "student.zip"), *how)
        with zipfile.ZipFile(tmp_path / "student.zip") as archive:
            return archive.namelist()

    mark = f"student/attention_questions/{reveal.MARK}"
    assert mark not in names() and mark in names("--answers") and not any("solutions" in name for name in names())
    assert "say one of them" in command(folder, "release", NAME, "--answers", "--exam", status=1)
