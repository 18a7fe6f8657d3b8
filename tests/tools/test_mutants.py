"""Which tests a mutant meets."""

import pytest

from tools import mutants
from tools.notebooks import ROOT

ROOMS = ["text", "show", "models", "explain", "evaluate"]


@pytest.mark.parametrize("file", mutants.modules())
def test_a_mutant_meets_its_examples_and_all_tests_of_its_room(file):
    room = file.split("/")[1]
    whole = [[f"tests/{name}"] for name in ([room] if room in ROOMS else ROOMS) + ["peers"]]
    examples, *near = mutants.tests(file)[:-len(whole)]
    assert examples == ["--doctest-modules", file] and len(near) <= 1 and mutants.tests(file)[-len(whole):] == whole
    assert all((ROOT / path).exists() for run in near + whole for path in run)


def test_the_nearest_tests_name_most_of_what_it_defines():
    assert mutants.tests("coursekit/explain/slalom.py")[1][0] == "tests/explain/test_slalom.py"
