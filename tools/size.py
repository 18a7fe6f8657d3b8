"""How large the house is: `python -m tools.size` prints lines of code and offered names, room by room.

A line of code is a line that is neither empty nor a comment nor of a docstring. Modules whose first line says that they
are generated do not count. tests/test_size.py holds the budgets to what is counted here.
"""

import ast
import importlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ["inputs.py", "text", "show", "models", "explain", "evaluate"]
WITHIN = ["show/views", "show/drawn", "models/hub", "models/sparse"]      # guests inside a room of the core
GUESTS = [*WITHIN, "worlds", "debate", "people", "compare", "own", "results"]


def lines_of_code(source):
    '''The number of lines of code of a source.

    >>> lines_of_code('"""What it is."""' + chr(10) * 2 + "x = 1  # one" + chr(10) + "# two")
    1
    '''
    if source.startswith('"""Generated'):
        return 0
    told = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False):
            told.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and number not in told
               for number, line in enumerate(source.splitlines(), 1))


def size(*places, without=()):
    """Lines of code of files and folders of the project, without those of some folders inside."""
    files = {path for place in places for path in ([ROOT / place] if place.endswith(".py") else
                                                   (ROOT / place).rglob("*.py"))}
    left = {path for place in without for path in (ROOT / place).rglob("*.py")}
    return sum(lines_of_code(path.read_text(encoding="utf-8")) for path in files - left)


def rooms():
    """{room: lines of code} of coursekit, those of the core first; and of all rooms together under "core", "all"."""
    found = {room: size(f"coursekit/{room}", without=[f"coursekit/{inside}" for inside in WITHIN if inside != room])
             for room in [*CORE, *GUESTS]}
    return found | {"core": sum(found[room] for room in CORE), "all": sum(found.values())}


def offered():
    """{name: the room of the core that offers it and has it}: what a guest has, or a room repeats, does not count."""
    found = {}
    for room in CORE[1:]:
        face = importlib.import_module(f"coursekit.{room}")
        for name in face.__all__:
            home = getattr(getattr(face, name), "__module__", f"coursekit.{room}").replace(".", "/")
            if not any(home.startswith(f"coursekit/{guest}") for guest in GUESTS):
                found[name] = room
    return found


if __name__ == "__main__":
    for room, lines in rooms().items():
        print(f"{lines:6,}  {room}")
    print(f"{len(offered()):6,}  names offered by the core")
    for package in ("coursegrade", "attention_questions", "experiments"):
        print(f"{size(package):6,}  {package}")
