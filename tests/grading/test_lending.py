"""Whoever has an earlier function wrong still gets a later one's marks, if it asks no more than is asked there: the
course's own solutions with each function that may be lent, and all right answers of the bank but a few."""

import linecache
import types

import pytest

from coursegrade import check
from coursegrade.kit.score import forget
from tests.grading.bank.assignments import ASSIGNMENTS, NAMES, asked_in

# Right answers that ask a function for other things than the reference does, and so are helped by nobody.
OTHERWISE = {("01_tokens", "by recursion, and a tuple of pairs"): [("count_pairs",)],       # the words so far, as keys
             ("07_perturbation", "equal masks gathered, their weights added up; the cosine mask by mask"): [
                 ("fit",), ("perturbed", "fit")],
             ("08_theory", "as many nodes as tokens"): [("mean_score",)],
             ("08_theory", "a polynomial through T points, and its integral"): [("mean_score",)],
             ("10_debate", "a table of all pairs at once, for each bound"): [("js",)]}
BORROWERS = [(name, question) for name in NAMES for question in asked_in(name)
             if ASSIGNMENTS[name].check_of(question).lend and f"more_{question}" in ASSIGNMENTS[name].cells]


def solution(name):
    """The names of the course's own notebook, whose functions have their source."""
    names = {}
    for part in ("imports", *ASSIGNMENTS[name].questions):
        source, file = ASSIGNMENTS[name].cells[part], f"<{name} {part}>"
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
        exec(compile(source, file, "exec"), names)
    return names


def at_home(answer):
    """An answer of the bank among names of its own, so that those of others can be changed beside it."""
    names = dict(answer.__globals__)

    def moved(function):
        again = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__,
                                   function.__closure__)
        again.__kwdefaults__ = function.__kwdefaults__
        return again

    names |= {name: moved(function) for name, function in names.items()
              if isinstance(function, types.FunctionType) and function.__globals__ is answer.__globals__}
    return names, moved(answer)


def marked(assignment, question, names, answer, wrong):
    """Does the answer get its marks while these functions beside it only stop?"""
    for name in wrong:
        exec(f"def {name}(*args, **kwargs):\n    raise ValueError('not yet')\n", names)
    forget()
    for name in wrong:
        with pytest.raises(check.CheckFailed):
            assignment.visible(name, names[name])
    try:
        assignment.hidden(question, answer)
    except check.CheckFailed:
        return False
    return True


def lenders(assignment, question):
    lend = assignment.check_of(question).lend
    return [(name,) for name in lend] + [lend] * (len(lend) > 1)


@pytest.mark.bank
@pytest.mark.parametrize("name, question", BORROWERS)
def test_an_early_mistake_costs_once(name, question):
    assignment = ASSIGNMENTS[name]
    for wrong in lenders(assignment, question):
        names = solution(name)
        assert marked(assignment, question, names, names[question], wrong), wrong
        for idiom, answer in assignment.right_answers(question):
            helped = wrong not in OTHERWISE.get((name, idiom), [])
            assert marked(assignment, question, *at_home(answer), wrong) is helped, (idiom, wrong)
