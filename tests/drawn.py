"""What `make test` takes a sample of is drawn by the commit: a commit always tries the same, and in time all is."""

import random
import subprocess
from pathlib import Path

import pytest


def commit():
    """The commit that is checked out, "" where git knows none."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True)
    return done.stdout.strip()


def sampled(names, n, seed):
    """The names as pytest's parameters: all but n, drawn by the commit and the seed (a text), are marked `slow`."""
    chosen = random.Random(commit() + seed).sample(names, min(n, len(names)))
    return [name if name in chosen else pytest.param(name, marks=pytest.mark.slow) for name in names]
