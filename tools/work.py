"""A learner's own copies of lectures and assignments, in `my/`: `make work`, or `python tools/work.py`.

Git never looks into `my/`, so the course can be brought up to date (`git pull`, or a newer zip file unpacked over the
old one) without a conflict. What then happens to a copy depends on who has changed it since it was made:

    nobody      nothing
    the course  it is renewed; what it was lies in my/.before/, until it is renewed again
    you         nothing
    both        it stays, and the course's new version lies beside it, as NAME.new.ipynb

A copy that you have deleted is made afresh. Changed is a notebook whose cells say something else: to run one is no
change. `my/.copied.json` remembers, for each copy, what it was made from. The standard library is enough for this file.
"""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

MY = "my"
# The notebooks, and the pages that they link to: a link that works in the course works among the copies.
COPIED = ["lectures/*.ipynb", "exercises/*/*.ipynb", "SYLLABUS.md", "docs/notation.md", "docs/exact.md"]
WORDS = {"new": "new",
         "renewed": "renewed, as you had not changed it",
         "both": "changed by you and by the course: yours stays, and the new one is {beside}",
         "in place": "new, and as you have changed it in the course's own folder",
         "gone": "no longer in the course: your copy stays"}


def digest(data):
    """A short name of some bytes."""
    return hashlib.sha256(data).hexdigest()[:20]


def prints(path):
    """[of what a notebook's cells say, of the whole file], two fingerprints; for another file, or a broken one, twice
    that of the whole."""
    data = path.read_bytes()
    try:
        cells = json.loads(data)["cells"]
        said = [[cell["cell_type"], "".join(cell["source"]), cell["metadata"].get("nbgrader")] for cell in cells]
    except (ValueError, KeyError, TypeError):
        return [digest(data), digest(data)]
    return [digest(json.dumps(said, sort_keys=True).encode()), digest(data)]


def changed_in_place(course):
    """The course's files that somebody has changed and git has not been told of; none where there is no git."""
    try:
        done = subprocess.run(["git", "diff", "--name-only", "--relative", "-z", "HEAD"], cwd=course, text=True,
                              capture_output=True)
    except OSError:
        return set()
    return set(done.stdout.split("\0")) if done.returncode == 0 else set()


def copy(source, to):
    """Copy a file at once: stopped half way, `to` is what it was."""
    to.parent.mkdir(parents=True, exist_ok=True)
    temporary = to.with_name(to.name + ".tmp")
    shutil.copyfile(source, temporary)
    temporary.replace(to)


def put_beside(source, mine, name, known):
    """Put the course's version beside a learner's: NAME.new.ipynb, or NAME.new2.ipynb if somebody wrote into that."""
    number = 1
    while True:
        beside = Path(name).with_suffix(f".new{number if number > 1 else ''}{source.suffix}").as_posix()
        if not (mine / beside).exists() or prints(mine / beside)[0] == known.get(beside, [""])[0]:
            copy(source, mine / beside)
            known[beside] = prints(source)
            return beside
        number += 1


def bring(course, mine, known):
    """Bring the copies in the folder `mine` up to date with the course.

    known: {name: fingerprints of what the copy was made from}, brought up to date as well. Yields (what happened, as
    in WORDS, name, and the name of what was put beside it or ""), for each copy to which something happened.
    """
    own = changed_in_place(course)
    names = sorted(path.relative_to(course).as_posix() for pattern in COPIED for path in course.glob(pattern))
    for name in names:
        source, to = course / name, mine / name
        if name in own:                                         # no version of the course: nothing to compare with
            if not to.exists():
                copy(source, to)
                known.pop(name, None)
                yield "in place", name, ""
            continue
        theirs, made_from = prints(source), known.get(name, ["", ""])
        here = prints(to) if to.exists() else None
        if here is None:
            copy(source, to)
            yield "new", name, ""
        elif here[0] == made_from[0] and theirs[1] != made_from[1]:
            copy(to, mine / ".before" / name)
            copy(source, to)
            yield "renewed", name, ""
        elif here[0] not in (made_from[0], theirs[0]) and theirs[0] != made_from[0]:
            yield "both", name, put_beside(source, mine, name, known)
        known[name] = theirs
    for name in sorted({*known} - {*names}):
        if ".new" not in name or not (mine / name).exists():
            del known[name]
            if (mine / name).exists():
                yield "gone", name, ""


def main(course=Path(__file__).resolve().parents[1]):
    """Make or renew the copies, and say in a line of each what happened."""
    mine = course / MY
    record = mine / ".copied.json"
    first = not record.exists()
    known = {} if first else json.loads(record.read_text(encoding="utf-8"))
    mine.mkdir(exist_ok=True)
    counted = 0
    try:
        for what, name, beside in bring(course, mine, known):
            counted += 1
            if not (first and what == "new"):
                print(f"{MY}/{name}: {WORDS[what].format(beside=f'{MY}/{beside}')}")
    finally:
        temporary = record.with_suffix(".tmp")
        temporary.write_text(json.dumps(known, indent=0), encoding="utf-8")
        temporary.replace(record)
    print(f"{MY}/ has your own copies of lectures and assignments; `make lab` opens them." if first else
          f"{MY}/: {counted or 'no'} change{'s' * (counted != 1)}.")


if __name__ == "__main__":
    main()
