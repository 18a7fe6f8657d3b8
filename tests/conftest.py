"""The tiers of the tests, how they share the processors, and at the end a table of what each lecture took.

    notebook   executes notebooks in kernels        sandbox   runs student code in a sandbox
    browser    drives a browser                     bank      tries every answer of the bank
    peers      compares with other packages         slow      belongs to `make test-all` alone

Most marks are set here, by where a test stands or what it asks for; `bank` and `slow` stand at the tests.
"""

import gc
import os
import random
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

from tests.drawn import GRADING, commit, touches

SECONDS, MEGABYTES = 60, 1000
HERE = Path(__file__).parent
LIGHT = str(HERE / "light")
sys.modules.setdefault("rfc3987_syntax", None)                          # see tests/light; and of what tests start:
os.environ["PYTHONPATH"] = os.pathsep.join([LIGHT, *filter(None, [os.environ.get("PYTHONPATH")])])

settings.register_profile("course", deadline=None, suppress_health_check=[HealthCheck.too_slow])    # a busy machine
settings.load_profile("course")                                                                     # fails no test

gc.disable()                                                            # while a million things are made that stay


def pytest_collection_finish():
    gc.freeze()                                                         # and need not be looked at again and again
    gc.enable()


# Where a test stands (the start of its path) → its mark.
MARKS = {"browser/": "browser", "peers/": "peers",
         "notebooks/test_lectures.py": "notebook", "notebooks/test_widgets.py": "notebook",
         "tools/test_notebooks.py": "notebook", "grading/hostile/": "sandbox",
         "grading/test_bank_sandboxed.py": "sandbox"}
SANDBOXED = {"sandbox", "kind"}                                         # fixtures

SHARED = {"graded", "book"}                                             # fixtures that are made once for several files

# What takes longest begins first. The tests of a file stay in one process, for the sake of what they share, and so do
# all that look at the graded class or at the book, and all that try the bank of one assignment; but not those of the
# other files here, which share nothing.
FIRST = ["notebooks/test_lectures.py", "test_package.py", "grading/test_bank_sandboxed.py", "browser/",
         "grading/test_pipeline.py", "grading/test_release.py", "grading/test_nbgrader.py", "grading/test_execute.py",
         "grading/hostile/", "grading/", "tools/", "evaluate/", "models/", ""]
BANK = ("grading/test_bank_sandboxed.py", "grading/test_bank.py", "grading/test_statements.py")
APART = ("notebooks/test_lectures.py", "grading/test_release.py", "grading/hostile/test_corpus.py", *BANK)
# What only a change of certain files can break: of these tests the commit draws some where it changes none of those.
# The book is made of nearly all files.
JOURNEYS = ("coursekit/show/", "coursegrade/selfcheck/", "tests/browser/", "tools/", *GRADING)
BOOK = ("docs/site/", "tests/browser/conftest.py", "tests/browser/test_book", "tools/book", "tools/npm.py")
DRAWN = {"browser/test_book.py": (1, BOOK),
         "browser/test_book_quiz.py": (1, ("coursegrade/selfcheck/", "attention_questions/quizzes/", *BOOK)),
         "browser/test_views.py": (1, ("coursekit/show/", "constraints.txt", "tests/browser/conftest.py",
                                       "tests/browser/test_views.py", "tools/jupyter/", "tools/no")),
         tuple(f"browser/test_{one}.py" for one in "controls keys learner quiz slides teacher".split()): (1, JOURNEYS),
         "browser/test_playground.py": (8, ("coursekit/", "tools/picture", "tests/browser/conftest.py",
                                            "tests/browser/test_playground.py")),
         "grading/test_attack_bench.py": (5, ("bench/_", "docs/security.md", "tests/grading/test_attack", *GRADING)),
         "grading/test_pipeline.py": (9, GRADING),
         "grading/test_execute.py": (30, GRADING), "grading/test_lent.py": (20, GRADING),
         "tools/test_new_assignment.py": (2, ("tests/grading/bank/", "tools/new_assignment", "tools/skeleton/",
                                              "tests/tools/test_new", *GRADING))}
WOVEN = "notebooks/test_lectures.py", "grading/hostile/test_corpus.py"
MEMORY = 2 << 30                                                        # bytes that one process of tests may need


@cache
def place(path):
    """Where the file of a test stands, from tests/ on."""
    return path.relative_to(HERE).as_posix()


@pytest.hookimpl(tryfirst=True)                                         # pytest-xdist then reads the groups
def pytest_collection_modifyitems(items):
    """Set the marks, the groups of tests that stay in one process, and the order."""
    for item in items:
        where = place(item.path)
        marks = [mark for start, mark in MARKS.items() if where.startswith(start)]
        for mark in marks + ["sandbox"] * bool(SANDBOXED & set(item.fixturenames)):
            item.add_marker(mark)
        assignment = where.startswith(BANK) and "name" in getattr(item, "callspec", SimpleNamespace(params={})).params
        if assignment:
            item.add_marker(pytest.mark.xdist_group(item.callspec.params["name"]))
        elif SHARED & set(item.fixturenames) or not where.startswith(APART):
            item.add_marker(pytest.mark.xdist_group(next(iter(SHARED & set(item.fixturenames)), where)))
    for start, (n, files) in DRAWN.items():
        here = [item for item in items if place(item.path).startswith(start) and not item.get_closest_marker("slow")
                and "deck" not in item.fixturenames]                    # tests/browser/test_slides.py draws its own
        if not touches(*files):
            for item in random.Random(f"{commit()}{start}").sample(here, max(0, len(here) - n)):
                item.add_marker("slow")
    items.sort(key=lambda item: next(i for i, start in enumerate(FIRST) if place(item.path).startswith(start)))
    items[:] = woven(items)


def woven(items):
    """The attacks on the sandbox, which mostly wait, go between the lectures, which do nothing but work."""
    working, waiting = ([item for item in items if place(item.path).startswith(start)] for start in WOVEN)
    parts = [[item, *waiting[i::len(working)]] for i, item in enumerate(working)] if working else [waiting]
    return [*sum(parts, []), *(item for item in items if not place(item.path).startswith(WOVEN))]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One process for each processor and one more, for while others wait; as far as the memory goes."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else MEMORY
    return max(1, min(here + 1, memory // MEMORY))


def pytest_addoption(parser):
    parser.addoption("--everything", action="store_true",
                     help="skip no lecture because it is unchanged, and try its controls everywhere twice")


@pytest.fixture(scope="session")
def everything(pytestconfig):
    """Was --everything said?"""
    return pytestconfig.getoption("everything")
def pytest_terminal_summary(terminalreporter):
    """Print what tests/notebooks/test_lectures.py measured (its tests may have run in other processes)."""
    measured = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            found = dict(getattr(report, "user_properties", []))
            if getattr(report, "when", "") == "call" and "lecture" in found:
                measured[found["lecture"]] = found
    if not measured:
        return
    terminalreporter.section(f"lectures (budgets: {SECONDS} s, {MEGABYTES} MB)")
    for name, found in sorted(measured.items()):
        notes = ["over its seconds"] * (found["seconds"] > SECONDS) + ["over its memory"] * (found["peak"] > MEGABYTES)
        notes += ["run WITH a network: no namespaces here"] * (not found["offline"])
        line = (f"{name:<28}{found['seconds']:>8.1f} s{found['peak']:>8.0f} MB   and {found['tried']:.1f} s of trying "
                f"its controls  {', '.join(notes)}")
        terminalreporter.write_line(line.rstrip())
