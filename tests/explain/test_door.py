"""Whoever adds an explainer is told what it still lacks: CONTRIBUTING.md, "An explainer"."""

import inspect
import re
from pathlib import Path

import pytest

from coursekit import explain
from coursekit.compare import explainers
from coursekit.explain import Attribution
from coursekit.models import protocols

TESTS = Path(__file__).parents[1]
EXPLAINERS = [name for name in explain.__all__ if inspect.isfunction(getattr(explain, name))
              and inspect.signature(getattr(explain, name)).return_annotation is Attribution]


@pytest.fixture(scope="module")
def lacking():
    """A function: name → what an explainer of this name lacks."""
    tried = "\n".join(path.read_text(encoding="utf-8") for folder in ("explain", "peers")
                      for path in (TESTS / folder).glob("test_*.py") if path != Path(__file__))
    places = {
        "a row in the table of coursekit/models/protocols.py: what does it ask of a model?": protocols.__doc__,
        "an entry in course_explainers (coursekit/compare/explainers.py), or its name under “Left out” with the reason":
            inspect.getsource(explainers),
        "a test of its own in tests/explain (a property: adds up, is exact where it can be) or tests/peers (equal to "
        "the tool that people use)": tried}
    return lambda name: [what for what, text in places.items() if not re.search(rf"\b{name}\b", text)]


@pytest.mark.parametrize("name", EXPLAINERS)
def test_an_explainer_has_its_row_its_place_in_the_line_up_and_a_test(name, lacking):
    assert not lacking(name), f"{name} lacks\n- " + "\n- ".join(lacking(name))


def test_a_new_one_is_told_all_three(lacking):
    assert len(EXPLAINERS) > 12 and len(lacking("embedding_norm")) == 3
