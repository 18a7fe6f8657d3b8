"""What `make test` takes a sample of is drawn by the commit: a commit always tries the same, and in time all is. What
it has changed is tried beside what is drawn."""

import random
import subprocess
from functools import cache
from pathlib import Path

import pytest

# What all work is marked with, the checks of single assignments apart.
GRADING = ("coursekit/__init__.py", "coursegrade/__", "coursegrade/kit/", "coursegrade/marking/",
           "coursegrade/sandbox/", "tests/conftest.py", "tests/grading/c", "tests/grading/hostile/",
           "tests/grading/sandboxed.py", "tests/grading/test_", "nbgrader_config.py", "constraints.txt")


@cache
def git(*arguments):
    """What a command of git prints, "" where it knows no answer."""
    done = subprocess.run(["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit():
    """The commit that is checked out, "" where git knows none."""
    return git("rev-parse", "HEAD")


@cache
def changed():
    """The files, as paths of the repository, that the last ten commits have changed, or those which origin/main does
    not have if they are more, and what is not committed yet. None where git does not know ten commits."""
    since = [git("rev-parse", "--verify", "HEAD~10"), git("merge-base", "HEAD", "origin/main")]
    if not since[0]:
        return None
    files = [git("diff", "--name-only", base) for base in since if base]
    return "\n".join([*files, git("ls-files", "--others", "--exclude-standard", "--full-name", ":/")]).split("\n")


@cache
def changed_last():
    """Those that the last commit has changed, and those that are not committed yet."""
    if changed() is None:
        return []
    new = git("ls-files", "--others", "--exclude-standard", "--full-name", ":/")
    return "\n".join([git("diff", "--name-only", "HEAD~1"), new]).split("\n")


def touches(*starts):
    """Is there a changed file whose path begins so? True where git cannot tell."""
    return changed() is None or any(path.startswith(starts) for path in changed())


@cache
def parts(path):
    """The names in a path, its folders' among them."""
    return frozenset(Path(path).parts)


def called(name, path):
    """Is the file at a path called like this, or a folder that it is in?"""
    return name in parts(path) or f"{name}.py" in parts(path)


def sampled(names, n, seed, most=None, whose=called):
    """The names as pytest's parameters. All are marked `slow`, but for n drawn by the commit and the seed (a text), and
    for those of which a file has changed: `whose(name, path)` says whether it is one of theirs. If these are more than
    `most`, so many are drawn of them, first of those that the last commit, or what is not committed yet, changes."""
    def new(files):
        return [name for name in names if any(whose(name, path) for path in files or [])]

    draw = random.Random(commit() + seed)
    chosen, others, last = draw.sample(names, min(n, len(names))), new(changed()), new(changed_last())
    draw.shuffle(others)
    chosen += sorted(others, key=lambda name: name not in last)[:most]
    return [name if name in chosen else pytest.param(name, marks=pytest.mark.slow) for name in names]
