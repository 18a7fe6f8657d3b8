"""A learner's own copies of lectures and assignments, in `my/`: `make lab` and `make work` call it, or
`python tools/work.py` does. They begin without outputs: what a cell will show can still be predicted.

Git never looks into `my/`, so the course can be brought up to date (`git pull`, or a newer zip file unpacked over the
old one) without a conflict. What then happens to a copy depends on who has changed it since it was made:

    nobody      nothing
    the course  it is renewed; what it was lies in my/.before/, until it is renewed again
    you         nothing
    both        it stays, and the course's new version lies beside it, as NAME.new.ipynb

A copy that you have deleted is made afresh. Changed is a notebook whose cells say something else: to run one is no
change. `my/.copied.json` remembers, for each copy, what it was made from. The standard library is enough for this file,
and where nothing is to do, it says nothing if it is told to be `--quiet`.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

MY = "my"
# The notebooks, and the pages that they link to: a link that works in the course works among the copies.
COPIED = ["lectures/*.ipynb", "exercises/*/*.ipynb", "SYLLABUS.md",
          "docs/alone.md", "docs/claims.md", "docs/notation.md", "docs/exact.md",
          "docs/plan.md", "docs/ready.md", "docs/reproduced.md"]
WORDS = {"new": "new",
         "renewed": "renewed, as you had not changed it",
         "both": "changed by you and by the course: yours stays, and the new one is {beside}",
         "in place": "new, and as you have changed it in the course's own folder",
         "gone": "no longer in the course: your copy stays"}


def fingerprint(path):
    """Of what the cells of a notebook say, or of all of another file, or of a broken notebook."""
    data = path.read_bytes()
    try:
        cells = json.loads(data)["cells"]
        said = [[cell["cell_type"], "".join(cell["source"]), cell["metadata"].get("nbgrader")] for cell in cells]
        data = json.dumps(said, sort_keys=True).encode()
    except (ValueError, KeyError, TypeError):
        pass
    return hashlib.sha256(data).hexdigest()[:20]


def changed_in_place(course):
    """The course's files that somebody has changed and git has not been told of; none where there is no git."""
    try:
        done = subprocess.run(["git", "diff", "--name-only", "--relative", "-z", "HEAD"], cwd=course, text=True,
                              capture_output=True)
    except OSError:
        return set()
    return set(done.stdout.split("\0")) if done.returncode == 0 else set()


def without_outputs(data):
    """The bytes of a notebook that nobody has run; those of another file as they are."""
    try:
        notebook = json.loads(data)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.update(execution_count=None, outputs=[])
    except (ValueError, KeyError, TypeError):
        return data
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def write(data, to):
    """Write a file at once: stopped half way, `to` is what it was."""
    to.parent.mkdir(parents=True, exist_ok=True)
    temporary = to.with_name(to.name + ".tmp")
    temporary.write_bytes(data)
    temporary.replace(to)


def put_beside(source, mine, name, known):
    """Put the course's version beside a learner's: NAME.new.ipynb, or NAME.new2.ipynb if somebody wrote into that."""
    number = 1
    while True:
        beside = Path(name).with_suffix(f".new{number if number > 1 else ''}{source.suffix}").as_posix()
        if not (mine / beside).exists() or fingerprint(mine / beside) == known.get(beside):
            write(without_outputs(source.read_bytes()), mine / beside)
            known[beside] = fingerprint(source)
            return beside
        number += 1


def bring(course, mine, known):
    """Bring the copies in the folder `mine` up to date with the course.

    known: {name: fingerprint of what the copy was made from}, brought up to date as well. Yields (what happened, as
    in WORDS, name, and the name of what was put beside it or ""), for each copy to which something happened.
    """
    own = changed_in_place(course)
    names = sorted(path.relative_to(course).as_posix() for pattern in COPIED for path in course.glob(pattern))
    for name in names:
        source, to = course / name, mine / name
        fresh = without_outputs(source.read_bytes())
        if name in own:                                         # no version of the course: nothing to compare with
            if not to.exists():
                write(source.read_bytes(), to)
                known.pop(name, None)
                yield "in place", name, ""
            continue
        theirs, made_from = fingerprint(source), known.get(name)
        here = fingerprint(to) if to.exists() else None
        if here is None:
            write(fresh, to)
            yield "new", name, ""
        elif here == made_from != theirs:
            write(to.read_bytes(), mine / ".before" / name)
            write(fresh, to)
            yield "renewed", name, ""
        elif here not in (made_from, theirs) and theirs != made_from:
            yield "both", name, put_beside(source, mine, name, known)
        known[name] = theirs
    for name in sorted({*known} - {*names}):
        if ".new" not in name or not (mine / name).exists():
            del known[name]
            if (mine / name).exists():
                yield "gone", name, ""


def main(course=Path(__file__).resolve().parents[1], quiet=False):
    """Make or renew the copies, and say in a line of each what happened; quiet: and nothing if nothing did."""
    mine = course / MY
    record = mine / ".copied.json"
    first = not record.exists()
    known = {} if first else json.loads(record.read_text(encoding="utf-8"))
    # What 0.2 wrote, a list, had the fingerprint of the outputs behind that of the cells.
    known = {name: made_from if isinstance(made_from, str) else made_from[0] for name, made_from in known.items()}
    mine.mkdir(exist_ok=True)
    counted = 0
    try:
        for what, name, beside in bring(course, mine, known):
            counted += 1
            if not (first and what == "new"):
                print(f"{MY}/{name}: {WORDS[what].format(beside=f'{MY}/{beside}')}")
    finally:
        write(json.dumps(known, indent=0).encode(), record)
    if first:
        print(f"{MY}/ has your own copies of lectures and assignments; `make lab` opens them.")
    elif counted or not quiet:
        print(f"{MY}/: {counted or 'no'} change{'s' * (counted != 1)}.")


if __name__ == "__main__":
    main(quiet="--quiet" in sys.argv[1:])
