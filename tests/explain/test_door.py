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


def is_explainer(thing):
    """A function of a model and a document to an Attribution, or to what nobody has said yet."""
    asked = inspect.signature(thing) if inspect.isfunction(thing) else inspect.Signature()
    return [*asked.parameters][1:2] == ["document"] and asked.return_annotation in (Attribution, asked.empty)


EXPLAINERS = [name for name in explain.__all__ if is_explainer(getattr(explain, name))]


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
    assert is_explainer(lambda model, document: None) and len(EXPLAINERS) > 12
    assert len(lacking("an_explainer_" + "of_tomorrow")) == 3
