"""The rooms of coursekit: imports run downwards, in no circle; the package itself is light; names are explained."""

import ast
import contextlib
import doctest
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import coursekit
from tools.closure import imported

PACKAGE = Path(coursekit.__file__).parent
GROUND = ["inputs", "moved"]            # modules that all rooms may import
CORE = ["text", "show", "models", "explain", "evaluate"]
GUESTS = ["worlds", "debate", "people", "compare", "own", "results"]
ROOMS = [*GROUND, *CORE, *GUESTS]
PARTICIPLES = {"told", "shown", "plain", "drawn", "kept", "read", "found", "said", "known", "given"}
OLD = ("coursekit.experiments", "coursekit.grade")      # names that only forward
MODULES = sorted(module.name for module in pkgutil.walk_packages([str(PACKAGE)], "coursekit.")
                 if not module.name.startswith(OLD))
OURS = "coursekit", "coursegrade", "attention_questions"
GRADING = sorted(module.name for name in OURS[1:]
                 for module in pkgutil.walk_packages([str(PACKAGE.parent / name)], f"{name}.")
                 if not module.name.endswith(".solution"))              # made of the notebooks


def room(module):
    return module.split(".")[1]


def test_there_are_modules_and_every_room_is_known():
    assert MODULES and {room(module) for module in MODULES} <= set(ROOMS)
    assert [name for name in ROOMS if (PACKAGE / f"{name}.py").exists()] == GROUND, "the others are folders"
    told = re.findall(r"^ {4}(\w+)  ", coursekit.__doc__, re.M)
    assert told == [name for name in ROOMS if (PACKAGE / name).is_dir()], "help(coursekit) lists the rooms in order"


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_downwards(module):
    above = ROOMS[:ROOMS.index(room(module)) + 1]
    upwards = {name for name in imported(module) if room(name) not in above}
    assert not upwards, f"{module} may import only from {', '.join(above)}"


def test_no_circles():
    """A package that imports its own modules does not count: they are its contents."""
    def visit(module, trail):
        assert module not in trail, "a circle: " + " -> ".join([*trail[trail.index(module):], module])
        if module not in done:
            for name in sorted(imported(module)):
                if not module.startswith(name + "."):
                    visit(name, [*trail, module])
            done.add(module)

    done = set()
    for module in MODULES + GRADING:
        visit(module, [])


def test_no_name_hides_a_module():
    """`import coursekit.explain.paths as p` takes the package's attribute: a function of that name would hide it."""
    hidden = []
    for module in map(importlib.import_module, MODULES):
        package, _, name = module.__name__.rpartition(".")
        if getattr(importlib.import_module(package), name) is not module:
            hidden.append(module.__name__)
    assert not hidden, "rename these modules: their package has something else of that name"


def test_importing_coursekit_is_light():
    code = f"import sys, coursekit.{GROUND[0]}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "coursekit" in loaded
    assert not {"torch", "transformers", "matplotlib", "numpy", "IPython"} & set(loaded)


@pytest.mark.parametrize("light", ["text", "show"])
def test_rooms_without_models_do_not_load_torch(light):
    if f"coursekit.{light}" not in MODULES:
        pytest.fail(f"there is no coursekit.{light}")
    code = f"import sys, coursekit.{light}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "transformers"} & set(loaded)


@pytest.mark.parametrize("module", MODULES + GRADING)
def test_public_names_are_explained(module):
    loaded = importlib.import_module(module)
    assert loaded.__doc__, f"{module} has no docstring"
    names = getattr(loaded, "__all__", [name for name in vars(loaded) if not name.startswith("_")])
    for name in names:
        thing = getattr(loaded, name)
        if (inspect.isfunction(thing) or inspect.isclass(thing)) and thing.__module__.startswith(OURS):
            assert thing.__doc__, f"{module}.{name} has no docstring"
            methods = vars(thing).items() if inspect.isclass(thing) else []
            for method, body in methods:
                if not method.startswith("_") and inspect.isfunction(getattr(body, "__func__", body)):
                    said = inspect.getdoc(getattr(thing, method))
                    assert said or method == "forward", f"{module}.{name}.{method} has no docstring"


@pytest.mark.parametrize("name", ["text", "show", "explain", "evaluate", "worlds", "people", "compare", "own"])
def test_what_a_room_offers_has_a_worked_example(name):
    offered = importlib.import_module(f"coursekit.{name}")
    things = {thing: getattr(offered, thing) for thing in offered.__all__}
    bare = [thing for thing, body in things.items() if callable(body) and ">>>" not in (body.__doc__ or "")]
    assert things and not bare, f"show in the docstring what comes out of {', '.join(bare)}"


@pytest.mark.parametrize("name", [*CORE, "worlds", "people", "compare", "own", "results"])
def test_what_a_room_offers_is_typed(name):
    """`make lint` checks the types; a default such as 0 or "replace" says its own."""
    offered = importlib.import_module(f"coursekit.{name}")
    for thing in map(vars(offered).get, offered.__all__):
        if inspect.isfunction(thing):
            known = inspect.signature(inspect.unwrap(thing))
            bare = [told.name for told in known.parameters.values() if told.annotation is told.empty
                    and told.default in (told.empty, None) and told.kind is told.POSITIONAL_OR_KEYWORD]
            assert known.return_annotation is not known.empty and not bare, (
                f"{name}.{thing.__name__}: give types to {bare}, and to what it returns")


def names_in_code(code):
    """What a piece of a notebook takes from the rooms: `from coursekit.show import table`, `show.table`."""
    code = "\n".join(line for line in code.splitlines() if not line.lstrip().startswith(("%", "!")))
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("coursekit"):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ROOMS:
            yield node.attr


def names_that_people_meet():
    """Those that the code of a lecture or of an assignment takes, and those that a page sets as code."""
    names = set()
    for path in [*Path("lectures").glob("*.ipynb"), *Path("solutions").rglob("*.ipynb")]:
        cells = json.loads(path.read_text(encoding="utf8"))["cells"]
        names.update(*(names_in_code("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"))
    for path in [Path("README.md"), Path("SYLLABUS.md"), *Path("docs").glob("*.md")]:
        names.update(*(re.findall(r"\w+", code) for code in
                       re.findall(r"```.*?```|`[^`]+`", path.read_text(encoding="utf8"), re.S)))
    return names


def words_about(thing):
    """The signature of a thing and what it says of itself; of a class those of its methods, too."""
    own = [member for name, member in vars(thing).items() if callable(member)] if inspect.isclass(thing) else []
    texts = [thing.__doc__ or "", *(part.__doc__ or "" for part in own)]
    for part in filter(callable, [thing, *own]):
        with contextlib.suppress(ValueError, TypeError):
            texts.append(str(inspect.signature(part)))
    return set(re.findall(r"\w+", " ".join(texts)))


def test_every_name_that_a_room_offers_is_met_by_people():
    """In a lecture, an assignment, a page of docs or the README; or it is a class of which the signature or docstring
    of such a name speaks, mostly of what it returns. Tools and tests import the others from their modules."""
    faces = [importlib.import_module(f"coursekit.{face}") for face in (*CORE, *GUESTS)]
    offered = {name: getattr(face, name) for face in faces for name in face.__all__}
    met = offered.keys() & names_that_people_meet()
    fresh = met
    while fresh:
        spoken_of = set().union(*(words_about(offered[name]) for name in fresh))
        fresh = {name for name in offered.keys() - met if name in spoken_of and inspect.isclass(offered[name])}
        met = met | fresh
    unmet = sorted(offered.keys() - met)
    assert not unmet, f"no lecture, assignment or page of docs uses {unmet}: name them there in code, or offer them not"


def test_functions_are_named_for_what_they_do():
    """A participle says that something was done, not what: in each file it means another thing."""
    bare = []
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith("grade/"):
            tree = ast.parse(path.read_text(encoding="utf8"))
            bare += [f"{name}:{node.lineno} {node.name}" for node in ast.walk(tree)
                     if isinstance(node, ast.FunctionDef) and node.name.strip("_") in PARTICIPLES]
    assert not bare, f"name them for what they give: {', '.join(bare)}"


def test_examples_in_docstrings_are_true():
    results = {module: doctest.testmod(importlib.import_module(module)) for module in MODULES + GRADING}
    assert not [module for module, result in results.items() if result.failed]
    assert sum(result.attempted for result in results.values()) > 100
