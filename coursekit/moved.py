"""Where things were before they had rooms of their own: old names work until 0.4, with a line that says the new one.

`NAMES` are names that a room offered (old=new where it is called otherwise now), `MODULES` are modules. All of it goes
with this file, but what files say of where a class or an explainer was: `models.weights`, `compare.fingerprints`.

>>> import warnings
>>> with warnings.catch_warnings(record=True) as said:
...     warnings.simplefilter("always")
...     from coursekit.text import handwritten_reviews
>>> print(said[0].message)
coursekit.text.handwritten_reviews is now coursekit.worlds.handwritten_reviews; the old name goes with coursekit 0.4
"""

import importlib
import importlib.util
import sys
import warnings
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec

NAMES = {                               # a room: where names are that it offered
    "coursekit.text": {
        "coursekit.worlds.generated.dialogues": "is_grammatical",
        "coursekit.worlds": "AnnotatedReview Dialogue Review Translation dialogues handwritten_reviews reversals "
                            "reviews split_sentences stand_in tone_of translations",
        "coursekit.own": "datasets"},
    "coursekit.show": {
        "coursekit.show.charts": "ranges"},
    "coursekit.models": {
        "coursekit.models.bag_of_words": "BagOfWords",
        "coursekit.models.decoding": "NextToken apply_rules",
        "coursekit.models.attention": "Trace",
        "coursekit.models.gpt2": "next_token_loss"},
    "coursekit.explain": {
        "coursekit.explain.heads": "kinds_of_pairs",
        "coursekit.explain.attention": "norm_maps",
        "coursekit.people": "GeneratedAttributions contrastive_gradient generated_attributions"},
    "coursekit.evaluate": {
        "coursekit.evaluate.plausibility": "Consistency explained stability takes_seed",
        "coursekit.evaluate.faithfulness": "Curve ERASER_BINS",
        "coursekit.evaluate.agreement": "HumanAgreement Skipped",
        "coursekit.evaluate.retraining": "Roar",
        "coursekit.evaluate.calls": "counting",
        "coursekit.explain.asking": "remembering",
        "attention_questions.audit": "write_audit written_answers",
        "coursekit.own": "explain_corpus own_model",
        "coursekit.people": "Afterwards Compactness ModelChoiceStudy Tally WordRemovalStudy binomial_power "
                            "compactness exact_binomial_test exact_interval people_needed pool right_by_person",
        "coursekit.compare": "Report against_the_best course_explainers random_scores report"},
    "coursekit.debate": {
        "coursekit.debate.permuted": "js_divergence",
        "coursekit.debate.trained": "read=scores_and_weights"},
}
SAME = {                                # a room: the modules that have come into it under their own names
    "compare": "evaluate.fingerprints evaluate.reporting",
    "debate": "evaluate.debate.adversary evaluate.debate.heads evaluate.debate.ranks evaluate.debate.trained",
    "models.hub": "models.families models.huggingface models.minilm",
    "models.sparse": "models.features models.sae",
    "own": "evaluate.black_boxes evaluate.corpus text.datasets",
    "people": "evaluate.binomial evaluate.compact explain.contrastive",
    "show.drawn": "show.boards show.diagrams show.drawings show.trees",
    "show.views": "show.bertviz show.explorer show.feature_view show.stills",
    "worlds": "tasks.additive tasks.brackets tasks.dyck tasks.gold tasks.histogram tasks.superposition "
              "tasks.teacher text.annotated text.generated",
    "worlds.generated": "text.generated.dialogues text.generated.grammars text.generated.review_grammar "
                        "text.generated.reviews text.generated.translations",
}
OTHERWISE = {                           # a module: what it was called, and where
    "compare.explainers": "evaluate.line_up",
    "compare.jobs": "evaluate.cells",
    "debate": "evaluate.debate",
    "debate.permuted": "evaluate.debate.given",
    "evaluate.calls": "evaluate.measured",
    "evaluate.drops": "evaluate.perturbed",
    "evaluate.exact_values": "evaluate.truth",
    "evaluate.infidelities": "evaluate.adding_up",
    "people.afterwards": "evaluate.waiting",
    "people.studies": "evaluate.human",
    "people.study_files": "evaluate.answers",
    "worlds": "tasks",
}
MODULES = {f"coursekit.{old}": f"coursekit.{room}.{old.rpartition('.')[2]}" for room, olds in SAME.items()
           for old in olds.split()} | {f"coursekit.{old}": f"coursekit.{new}" for new, old in OTHERWISE.items()} | {
    "coursekit.grade.checks": "coursegrade.check", "coursekit.grade.audit": "attention_questions.audit"}
PACKAGES = {"coursekit.grade.checks": "attention_questions", "coursekit.grade": "coursegrade"}   # what is below them
FORMERLY = {new: old for old, new in MODULES.items()}


def forwarding(room):
    """The `__getattr__` of a room: names that it offered once come from where they are now."""
    def __getattr__(name):
        for new, names in NAMES[room].items():
            for old, _, called in (pair.partition("=") for pair in names.split()):
                if name == old:
                    _say(f"{room}.{name}", f"{new}.{called or name}")
                    return getattr(importlib.import_module(new), called or name)
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return __getattr__


class Moved(MetaPathFinder, Loader):
    """Finds modules of `MODULES` where they are now."""

    def find_spec(self, name, path, target=None):
        """The spec of a module that has moved, or None."""
        new = _now(name)
        return ModuleSpec(name, self, is_package=True) if name != new and importlib.util.find_spec(new) else None

    def exec_module(self, module):
        """Let the old module's names be the new one's."""
        new = _now(module.__name__)
        _say(module.__name__, new)
        module.__getattr__ = lambda name: getattr(importlib.import_module(new), name)


def _now(name):
    """The name that a module has now."""
    if name in MODULES or name == "coursekit.grade.__main__":
        return MODULES.get(name, name)
    return next((new + name.removeprefix(old) for old, new in PACKAGES.items() if name.startswith(f"{old}.")), name)


def _say(old, new):
    warnings.warn(f"{old} is now {new}; the old name goes with coursekit 0.4", FutureWarning, stacklevel=3)


sys.meta_path.insert(0, Moved())        # before those that find a folder which git has left for its __pycache__
