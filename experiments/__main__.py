"""List the experiments, run one or show what it found: see `python -m experiments --help`."""

import argparse
import sys

from coursekit import show
from coursekit.results import HERE, result_of

from .runner import SEEDS, module_of, overview, run


def main(arguments=None):
    """The command line; a list of words, by default those that it was called with."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("list", help="all of them, with CPU minutes and the date of the kept result (the default)")
    for command, what in (("run", "run one, or go on with it; then show it"), ("show", "print what it found")):
        one = commands.add_parser(command, help=what)
        one.add_argument("name")
        one.add_argument("--folder", default=HERE, help="where results are kept (default: coursekit/results)")
        if command == "run":
            one.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    options = parser.parse_args(arguments)
    if options.command in (None, "list"):
        print(overview())
        return
    try:
        module = module_of(options.name)
        if options.command == "run":
            run(options.name, tuple(options.seeds), options.folder)
    except (ValueError, FileNotFoundError) as error:
        sys.exit(str(error))
    found = result_of(options.name, options.folder)
    if found is None:
        sys.exit(f"nothing is kept of {options.name} yet: run it")
    print(module.__doc__)
    print(show.table(*module.report(found["cells"])))


if __name__ == "__main__":
    main()
