"""What has moved can still be imported from where it was, with one line that says the new place."""

import importlib
import re
import warnings

import pytest

from coursekit import moved
from tools.notebooks import ROOT

# Import lines of lectures, exercises and pages as they were.
OLD = """
from coursekit.evaluate import ModelChoiceStudy, WordRemovalStudy, Afterwards, pool, people_needed, exact_binomial_test
from coursekit.evaluate import own_model, explain_corpus, report, course_explainers, random_scores, compactness
from coursekit.evaluate import write_audit, written_answers, explained, takes_seed, counting, remembering
from coursekit.evaluate import debate
from coursekit.evaluate.debate import permuted_attention, swap, prune_heads, read
from coursekit.evaluate.debate.given import given_attention
from coursekit.experiments import recorded
from coursekit.explain import contrastive_gradient, generated_attributions
from coursekit.models.factorised import word_terms
from coursekit.models.huggingface import HuggingFaceClassifier
from coursekit.models import minilm
from coursekit.models.sae import SparseAutoencoder
from coursekit.show.charts import bars
from coursekit.tasks import dyck, histogram, teacher, linear_documents
from coursekit.tasks.dyck import DyckModel
from coursekit.tasks.histogram import counts
from coursekit.text import reviews, handwritten_reviews, dialogues, translations, datasets, AnnotatedReview
from coursekit.text.generated.dialogues import dialogues
from coursekit.text.generated.translations import translations
"""


@pytest.mark.parametrize("line", OLD.strip().splitlines())
def test_old_imports_work(line):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        exec(line, {})


def test_an_old_name_says_the_new_one():
    with pytest.warns(FutureWarning, match="coursekit.text.reviews is now coursekit.worlds.reviews; the old name goes"):
        from coursekit.text import reviews
    assert reviews is importlib.import_module("coursekit.worlds").reviews


def test_an_old_module_says_the_new_one_each_time_it_is_first_imported():
    old = importlib.import_module("sys").modules
    for name in [name for name in old if name.startswith("coursekit.tasks")]:
        del old[name]
    with pytest.warns(FutureWarning, match="coursekit.tasks is now coursekit.worlds; the old name goes"):
        from coursekit.tasks import dyck
    assert dyck is importlib.import_module("coursekit.worlds.dyck")


@pytest.mark.parametrize("room", moved.NAMES)
def test_every_old_name_is_there(room):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        for names in moved.NAMES[room].values():
            assert all(getattr(importlib.import_module(room), pair.partition("=")[0]) for pair in names.split())


def test_every_old_module_is_there():
    for new in moved.MODULES.values():
        importlib.import_module(new)


def test_other_names_are_missed_as_ever():
    with pytest.raises(ImportError, match="cannot import name 'no_such'"):
        from coursekit.text import no_such  # noqa: F401
    for name in ("coursekit.tasks_of_old", "coursekit.grade.nothing", "coursekit.grade.checks.99_nothing"):
        with pytest.raises(ModuleNotFoundError), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)              # of the packages above
            importlib.import_module(name)


def test_nothing_that_is_read_uses_an_old_name():
    """A learner who meets one would see a line in red."""
    old = {room.removeprefix("coursekit."): "|".join(name.partition("=")[0] for names in places.values()
                                                     for name in names.split())
           for room, places in moved.NAMES.items()}
    written = re.compile("|".join(rf"(?<![\w.])(?:coursekit\.)?{room}\.(?:{names})\b|"
                                  rf"from coursekit\.{room} import [^\n]*\b(?:{names})\b"
                                  for room, names in old.items()))
    pages = [*ROOT.glob("lectures/*.ipynb"), *ROOT.glob("solutions/*/*.ipynb"), *ROOT.glob("docs/**/*.md"),
             *ROOT.glob("docs/slides/*.toml"), *ROOT.glob("attention_questions/**/*.toml"), ROOT / "README.md"]
    found = {path.name: written.findall(path.read_text(encoding="utf-8")) for path in pages}
    assert len(found) > 60 and not {name: some for name, some in found.items() if some}
