"""What a lecture's result hangs on, and a note of the state in which it passed: the tests skip it while that is so.

A digest covers the notebook's file, every module of the project that it imports (and those that these import), all
files of its packages that are not Python (weights, texts, styles; of quizzes and kept claims its own), what runs it,
the Python and every package installed.
Notes lie in build/passed/, which git ignores: a fresh clone has none.
"""

import ast
import functools
import hashlib
import importlib.metadata
import platform
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
PASSED = ROOT / "build" / "passed"
PACKAGES = "coursekit", "coursegrade", "attention_questions"
RUNNERS = ["constraints.txt", "tests/conftest.py", "tests/notebooks/test_lectures.py",
           *(f"tools/{name}.py" for name in ("closure", "controls", "notebooks", "offline", "trial", "untrained"))]


def module_path(module, root=ROOT):
    """The file of a module, given by its full name; None if it is none of this project's."""
    base = root.joinpath(*module.split("."))
    return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()), None)


def imports(source, module="", is_package=False, root=ROOT):
    """The modules of PACKAGES that a source imports anywhere, also inside functions, as full names; `module` is its
    own. `from coursekit.text import x` gives coursekit.text.x if that is a module, else coursekit.text."""
    here = module if is_package else module.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = here.rsplit(".", node.level - 1)[0] if node.level else ""
            origin = ".".join(filter(None, [base, node.module]))
            inner = [f"{origin}.{alias.name}" for alias in node.names]
            found |= {name if module_path(name, root) else origin for name in inner}
    return {name for name in found if name.split(".")[0] in PACKAGES} - {"coursekit", module}


@functools.cache
def imported(module, root=ROOT):
    """The modules of PACKAGES that a module of theirs imports, as full names."""
    path = module_path(module, root)
    return imports(path.read_text(encoding="utf-8"), module, path.name == "__init__.py", root)


def closure(notebook, root=ROOT):
    """The modules of PACKAGES that a NotebookNode needs, packages above them included, sorted."""
    code = "\n".join(line for cell in notebook.cells if cell.cell_type == "code" for line in cell.source.splitlines()
                     if not line.lstrip().startswith(("%", "!")))
    found, waiting = set(), imports(code, root=root) | {"coursekit"}
    while waiting:
        module = waiting.pop()
        above = {module.rpartition(".")[0]} - {""}
        if module not in found and module_path(module, root):
            found.add(module)
            waiting |= above | imported(module, root)
    return sorted(found)


@functools.cache
def installed():
    """The Python, the machine's kind, and every package with its version, as one text."""
    packages = sorted({f"{package.name}=={package.version}" for package in importlib.metadata.distributions()})
    return "\n".join([platform.python_version(), platform.platform(), *packages])


def digest(path, root=ROOT):
    """The digest of the lecture at `path` (64 hexadecimal digits): another one as soon as anything has changed."""
    modules = [module_path(module, root) for module in closure(nbformat.read(path, as_version=4), root)]
    data = [file for package in PACKAGES for file in (root / package).rglob("*")
            if file.is_file() and file.suffix not in (".py", ".pyc")
            and (file.parent.name not in ("quizzes", "claims") or path.name.startswith(f"{file.stem}_"))]
    whole = hashlib.sha256(installed().encode())
    for file in [path, *sorted(modules), *sorted(data), *(root / name for name in RUNNERS)]:
        whole.update(f"{file.relative_to(root)}\n{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def note(path, found, folder=PASSED):
    """Write down that the lecture at `path` passed in the state of a digest."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.stem).write_text(found)


def passed(path, folder=PASSED):
    """The digest in which the lecture at `path` passed last, "" if it never did here."""
    noted = folder / path.stem
    return noted.read_text() if noted.is_file() else ""
