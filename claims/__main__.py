"""Run claims again, begin a new one, or write the page of what came out: see `python -m claims --help`."""

import argparse
import re
import sys

from tools import notebooks

from .imdb import make_table
from .runner import CLAIMS, claims_of, lectures, run, why_not_current
from .written import PAGE, page

HEAD = '"""What lecture {lecture} says, run again elsewhere."""\n\nfrom . import claim\n'
SKELETON = '''

@claim("{number}", "The sentence, word for word as it stands in the lecture, its deck, notes or quiz.",
       over="what varies, in words: five other reviews", runs=[1, 2, 3, 4, 5], here=0)
def what_it_computes(page, run):
    raise NotImplementedError("a number of this replication, or whether the sentence holds in it; at most 15 lines")
'''


def begin(number: str):
    """Write a claim's skeleton behind the others of its lecture. Returns the file's path.
    Raises ValueError for what is no number of a claim, and for one that is there."""
    if not re.fullmatch(r"\d\d[a-z]?\.[1-9]\d*", number):
        raise ValueError(f"a claim's number is its lecture's and its own, such as 08.3; got {number!r}")
    lecture = number.partition(".")[0]
    path = CLAIMS / notebooks.find(lecture)[0].with_suffix(".py").name
    if path.exists() and number in claims_of(lecture):
        raise ValueError(f"{path.name} has a claim {number}: take the next number")
    text = path.read_text(encoding="utf8") if path.exists() else HEAD.format(lecture=lecture)
    path.write_text(text + SKELETON.format(number=number), encoding="utf8")
    return path


def main(arguments=None):
    """The command line; a list of words, by default those that it was called with."""
    parser = argparse.ArgumentParser(prog="python -m claims", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="run those without a current result, and write the page")
    runs.add_argument("lecture", nargs="?", default="", help="such as 02 (default: all)")
    runs.add_argument("--all", action="store_true", help="also those that train for minutes")
    runs.add_argument("--again", action="store_true", help="also those whose results are current")
    commands.add_parser("new", help="write the skeleton of a claim").add_argument("number", help="such as 08.3")
    imdb = commands.add_parser("imdb", help="make a lecture's table on reviews of IMDB that the model gets right")
    imdb.add_argument("folder", help="the folder aclImdb, or the one that holds it")
    imdb.add_argument("lecture", help="such as 05b")
    commands.add_parser("page", help="only write docs/claims.md from what is kept")
    options, failed = parser.parse_args(arguments), []
    try:
        if options.command == "new":
            print(f"write the claim: {begin(options.number).relative_to(notebooks.ROOT)}")
            return
        if options.command == "imdb":
            make_table(options.lecture, options.folder)
            return
        for lecture in lectures(options.lecture) if options.command == "run" else []:
            for number, record in run(lecture, options.all, options.again).items():
                stale = why_not_current(claims_of(lecture)[number], record)
                mark = "?" if stale else "✓" if record["holds"] else "✗"
                print(f"{mark} {number:<6} {record['line']}; must hold in: {record['requires']}  {stale}")
                failed += [number] * (mark == "✗")
    except (ValueError, OSError, ImportError) as error:            # the last: no pretrained encoder here
        sys.exit(str(error))
    PAGE.write_text(page(), encoding="utf8")
    if failed:
        sys.exit(f"What {', '.join(failed)} says does not hold as often as it must: say in the lecture what is true.")


if __name__ == "__main__":
    main()
