"""What the book, the slides and their tests take from npm: `package("mathjax")` is the folder of an installed package.

docs/site/package-lock.json has the exact versions and their digests, which npm checks. They are installed once, into
build/npm/, which git ignores, and again only when that file changes.
"""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WANTED = ROOT / "docs" / "site"
HERE = ROOT / "build" / "npm"


def package(name):
    """The folder of a package that docs/site/package.json names, installed if need be.

    RuntimeError: npm is missing, or could not install."""
    lock = (WANTED / "package-lock.json").read_text(encoding="utf-8")
    note = HERE / "installed.json"                  # written last: an interrupted installation has none
    if not note.exists() or note.read_text(encoding="utf-8") != lock:
        install(lock)
        note.write_text(lock, encoding="utf-8")
    return HERE / "node_modules" / name


def install(lock):
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is missing: the book and the slides take MathJax and reveal.js from it. "
                           "Install Node.js, which brings it.")
    HERE.mkdir(parents=True, exist_ok=True)
    shutil.copy(WANTED / "package.json", HERE)
    (HERE / "package-lock.json").write_text(lock, encoding="utf-8")
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"npm could not install docs/site/package.json: {done.stderr.strip().splitlines()[-1]}")
