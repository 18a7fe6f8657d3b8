"""Would a test notice? `make mutants` changes one thing in the core, runs its tests, and does so some hundred times.

By hand, for an hour or more: `make mutants N=300 SEED=0`. The changes are cosmic-ray's, which nothing else needs:
`.venv/bin/python -m pip install -c constraints.txt cosmic-ray`. Lines are drawn, then what happens to each. A mutant
meets the examples of its module and the tests that name what that defines; who lives meets all tests of its room.
Survivors are printed and kept in build/mutants/: a test is missing, or they do the same as before.
"""

import argparse
import ast
import importlib
import json
import os
import queue
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from .notebooks import ROOT
from .size import CORE, WITHIN

COPIES = ROOT / "build" / "mutants"
SECONDS = 300                           # of one run of tests: who takes longer is caught
KINDS = re.compile(r"(NumberReplacer|AddNot|ReplaceComparisonOperator|Replace(TrueWithFalse|FalseWithTrue)|"
                   r"Replace(AndWithOr|OrWithAnd)|Delete_(USub|Not)|Operator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|Pow_Mul)|"
                   r"ReplaceBreakWithContinue|ZeroIterationForLoop)")


def modules():
    """The files of the core, from the repository's root on."""
    files = {path for name in CORE for path in ([ROOT / "coursekit" / name] if name.endswith(".py") else
                                                (ROOT / "coursekit" / name).rglob("*.py"))}
    guests = {path for name in WITHIN for path in (ROOT / "coursekit" / name).rglob("*.py")}
    return sorted(str(path.relative_to(ROOT)) for path in files - guests if path.name != "__init__.py")


def drawn(n, seed):
    """n mutants, as (file, operator, occurrence, line), each of another line."""
    plugins, trees = importlib.import_module("cosmic_ray.plugins"), importlib.import_module("cosmic_ray.ast")
    operators = {name: plugins.get_operator(name)() for name in plugins.operator_names() if KINDS.search(name)}
    lines = {}
    for file in modules():
        nodes = list(trees.ast_nodes(trees.get_ast((ROOT / file).read_text(encoding="utf-8"))))
        for name, operator in operators.items():
            places = [place for node in nodes for place in operator.mutation_positions(node)]
            for occurrence, ((line, _), _) in enumerate(places):
                lines.setdefault((file, line), []).append((file, name, occurrence, line))
    dice = random.Random(seed)
    return [dice.choice(lines[place]) for place in dice.sample(sorted(lines), min(n, len(lines)))]


def tests(file):
    """Arguments of pytest, a list for each run: the module's examples, its nearest tests, those of its whole room (of
    each room, if it stands above them), and the peers."""
    rooms, room = [name for name in CORE if not name.endswith(".py")], file.split("/")[1]
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    places = [ROOT / "tests" / name for name in ([room] if room in rooms else rooms) + ["peers"]]
    told = {path: len(re.findall(rf"\b({'|'.join(names)})\b", path.read_text(encoding="utf-8")))
            for place in places for path in place.rglob("test_*.py")}
    near = [str(path.relative_to(ROOT)) for path in sorted(told, key=told.get, reverse=True)[:3] if told[path]]
    whole = [[str(place.relative_to(ROOT))] for place in places]
    return [["--doctest-modules", file], *([near] if near else []), *whole]


def pass_all(file, tree):
    """Do all tests of a file pass in this copy?"""
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
    here = os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    try:
        runs = (subprocess.run([*pytest, *asked], cwd=tree, capture_output=True, timeout=SECONDS, env=here)
                for asked in tests(file))
        return not any(run.returncode not in (0, 5) for run in runs)                 # 5: there are no examples
    except subprocess.TimeoutExpired:
        return False


def survives(mutant, tree):
    """Does no test notice the mutant in this copy? Then its line, before and after; else None."""
    file, name, occurrence, line = mutant
    operator = importlib.import_module("cosmic_ray.plugins").get_operator(name)()
    source = (ROOT / file).read_text(encoding="utf-8")
    changed = importlib.import_module("cosmic_ray.mutating").mutate_code(source, operator, occurrence)
    (tree / file).write_text(changed, encoding="utf-8")
    try:
        return [text.splitlines()[line - 1].strip() for text in (source, changed)] if pass_all(file, tree) else None
    finally:
        (tree / file).write_text(source, encoding="utf-8")


def copy(number):
    """A copy of what git has, for one process."""
    tree = COPIES / f"tree{number}"
    shutil.rmtree(tree, ignore_errors=True)
    for name in subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
    return tree


def main():
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    if not importlib.util.find_spec("cosmic_ray"):
        sys.exit("cosmic-ray is missing: .venv/bin/python -m pip install -c constraints.txt cosmic-ray")
    trees = queue.SimpleQueue()
    for number in range(os.cpu_count() or 1):
        trees.put(copy(number))

    def judged(judge, what):
        tree = trees.get()
        try:
            return judge(what, tree)
        finally:
            trees.put(tree)

    mutants, living = drawn(asked.n, asked.seed), []
    files = sorted({file for file, *_ in mutants})
    with ThreadPoolExecutor(trees.qsize()) as pool:
        broken = [file for file, fine in zip(files, pool.map(lambda file: judged(pass_all, file), files), strict=True)
                  if not fine]
        if broken:
            sys.exit(f"Before anything is changed, tests fail that belong to {', '.join(broken)}: mend these first.")
        for (file, name, _, line), told in zip(
                mutants, pool.map(lambda mutant: judged(survives, mutant), mutants), strict=True):
            if told:
                living.append([f"{file}:{line}", name.partition("/")[2], *told])
                print("{}  {}\n    {}\n    {}".format(*living[-1]), flush=True)
    (COPIES / f"seed{asked.seed}.json").write_text(json.dumps(living, indent=1, ensure_ascii=False), encoding="utf-8")
    print(f"{len(mutants) - len(living)} of {len(mutants)} mutants were caught.")


if __name__ == "__main__":
    main()
