"""What holds of both papers and all their templates, on 200 seeds: what a template promises, each value found again by
the function of its name in test_midterm.py or test_final.py, minutes by the rule; papers have one length."""

import pytest

from coursegrade import exam
from tests.grading.exams import test_final, test_midterm
from tests.grading.exams.written import SEEDS, by_rule, drawn, flat, promises

LECTURES = {"midterm": {"00", "01", "02", "03", "03b", "04", "05", "05b", "06", "07"},
            "final": {"08", "08b", "09", "09b", "10", "10b", "11", "12", "13", "13b", "14", "14b", "15"}}
ALWAYS = {"midterm": {"02", "04", "05", "05b", "06", "07"}, "final": {"08", "08b", "10", "14"}}     # in every version
POINTS = {"midterm": 83, "final": 80}
FOUND = {"midterm": (test_midterm, 1e-6), "final": (test_final, 2e-4)}          # where, and how near: what is printed
PAPERS = {which: exam.PAPERS[which] for which in POINTS}
NAMES = [(which, name) for which, paper in PAPERS.items() for slot in paper.slots for name in slot]
each = pytest.mark.parametrize("which, name", NAMES, ids=[name for _, name in NAMES])


@each
def test_a_template_keeps_its_promises(which, name):
    promises(name)


@each
def test_each_value_is_found_again(which, name):
    where, near = FOUND[which]
    for exercise in drawn(name):
        printed = [one for part in exercise.parts for one in flat(part.value) if one is not None]
        found = getattr(where, name)(**exercise.given)
        for value, again in zip(printed, found, strict=True):
            same = value == again if isinstance(value, str) else float(value) == pytest.approx(float(again), abs=near)
            assert same, f"{name}: printed {value}, found {again}, {exercise.given}"


@each
def test_minutes_follow_from_the_rule(which, name):
    template = exam.TEMPLATES[name]
    assert abs(by_rule(name) - template.minutes) <= .6 and abs(template.minutes - drawn(name)[0].points) <= 2


@pytest.mark.parametrize("which", PAPERS)
def test_papers_have_one_length_and_a_second_version_has_no_exercise_of_the_first(which):
    paper, names = PAPERS[which], [name for whose, name in NAMES if whose == which]
    assert len({*names}) == len(names) and {exam.TEMPLATES[name].lecture for name in names} == LECTURES[which]
    for seed in SEEDS:
        versions = [paper.names(seed, version) for version in "AB"]
        assert not {*versions[0]} & {*versions[1]}
        for of in versions:
            assert sum(drawn(name)[0].points for name in of) == POINTS[which]
            assert ALWAYS[which] <= {exam.TEMPLATES[name].lecture for name in of}
            assert 70 <= sum(exam.TEMPLATES[name].minutes for name in of) <= paper.minutes - 4
