"""Each committed lecture has the parts that every lecture has, was executed in order, and is small and clean."""

import ast
import base64
import copy
import functools
import importlib.metadata
import io
import json
import re
import sys
import tomllib
from itertools import pairwise

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from PIL import Image

from tools import notebooks
from tools.address import TAG
from tools.normalise import EMBEDDED_PNG, normalise
from tools.pace import MOST, counted, stated

pytestmark = pytest.mark.parametrize("path", notebooks.find(), ids=lambda path: path.stem)

PARTS = ["You will", "Before this", "Takes", "Take-away", "References", "Next"]
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])/(home|root|Users|tmp|opt|usr|var|mnt|srv|work|private)/\w|\b[A-Z]:\\\w")


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def texts(notebook):
    """Every source and every text output, without the pictures in them."""
    for cell in notebook.cells:
        yield cell.source
    for output in outputs(notebook):
        yield output.get("text", "")
        for kind, content in output.get("data", {}).items():
            if kind.startswith("text/"):
                yield EMBEDDED_PNG.sub("", content)


def pngs(notebook):
    for output in outputs(notebook):
        data = output.get("data", {})
        yield from filter(None, [data.get("image/png"), *EMBEDDED_PNG.findall(data.get("text/html", ""))])


def test_title_and_number(path):
    first = read(path).cells[0]
    assert first.cell_type == "markdown"
    number = notebooks.number(path)
    assert re.match(rf"# {number} · \S", first.source), f"the first line must be `# {number} · Title`"


def test_the_parts_that_every_lecture_has_in_their_order(path):
    prose = "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    at = [re.search(rf"^(#+ |[-*] |> )?\W*{part}\b|\*\*{part}\b", prose, re.M) for part in PARTS]
    missing = [part for part, found in zip(PARTS, at, strict=True) if found is None]
    assert not missing
    assert re.search(r"Takes\W+.*\d+.*min", prose), "say how many minutes the lecture takes"
    starts = [found.start() for found in at]
    assert max(starts[:3]) < min(starts[3:]), "what it needs stands at the start, what it leaves at the end"


def test_executed_in_order_without_gaps(path):
    counts = [cell.execution_count for cell in code_cells(read(path))]
    assert counts == list(range(1, len(counts) + 1)) and counts, "run `make lectures`"


def test_cells_are_short_and_narrow(path):
    for cell in code_cells(read(path)):
        lines = cell.source.splitlines()
        assert len(lines) <= 15, f"a code cell has at most 15 lines, this one has {len(lines)}: {lines[0]}"
        wide = [line for line in lines if len(line) > 96]
        assert not wide, f"a line of code has at most 96 characters: {wide[0]}"


def test_marks_are_tags(path):
    """nbval also reads comments; but the first line of a cell is for its reader."""
    assert not any("NBVAL" in cell.source for cell in code_cells(read(path)))
    tags = {tag for cell in read(path).cells for tag in cell.metadata.get("tags", [])}
    assert tags <= {"nbval-check-output", "folded", "claim-setup", TAG}
    for cell in read(path).cells:                       # folded in the book and in JupyterLab, or in neither
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        assert hidden == ("folded" in cell.metadata.get("tags", []))


def test_what_the_pretrained_encoder_prints_stands_under_its_condition_and_is_not_compared(path):
    """It may be missing where a lecture is read and run."""
    for cell in code_cells(read(path)):
        if re.search(r"pretrained_encoder\(|load_weights\(.minilm", cell.source):
            assert notebooks.ENCODER.search(cell.source), "write it under `if has_encoder():`"
        if notebooks.ENCODER.search(cell.source):
            compared = set(cell.metadata.get("tags", [])) - {"claim-setup"}          # its claims are skipped, too
            assert not compared, "this cell prints something else without the encoder"


def test_there_are_predictions(path):
    assert counted(read(path).cells).predictions >= 5, "ask five times what will happen before it does"


def test_minutes_are_those_of_the_rule(path):
    notebook = read(path)
    by_rule = counted(notebook.cells).minutes
    most = 60 if notebooks.number(path) == "00" else MOST               # the first is to be taken in one evening
    assert by_rule <= most, f"{by_rule} minutes: this is more than one lecture"
    assert abs(stated(notebook) - by_rule) <= 10, f"{by_rule} minutes by the rule of tools/pace.py"


def test_outputs_are_small_and_without_errors(path):
    for number, cell in enumerate(read(path).cells, start=1):
        if cell.cell_type == "code":
            assert len(json.dumps(cell.outputs)) <= 400_000, f"cell {number} holds more than 400 kB of output"
            assert all(output.output_type != "error" for output in cell.outputs), f"cell {number} ended in an error"
            assert all(output.get("name") != "stderr" for output in cell.outputs), f"cell {number} printed a warning"


def test_no_absolute_path(path):
    found = [text[max(0, hit.start() - 30):hit.end() + 30] for text in texts(read(path))
             for hit in ABSOLUTE_PATH.finditer(text)]
    assert not found


def test_pictures_have_alternative_text(path):
    notebook = read(path)
    for output in outputs(notebook):
        for kind in ("image/png", "image/svg+xml", "image/jpeg"):
            if kind in output.get("data", {}) and "text/html" not in output.data:
                about = output.metadata.get(kind, {})
                assert about.get("alt") or output.metadata.get("alt"), "show it with coursekit.show.picture(fig, alt)"
    for text in texts(notebook):
        for image in re.findall(r"<img\b[^>]*", text):
            assert re.search(r"""\balt=(["'])\s*[^"'\s]""", image), f"no alternative text: {image[:80]}"
    for cell in notebook.cells:
        assert cell.cell_type == "code" or not re.search(r"!\[\s*\]\(", cell.source), "no alternative text"


def test_pictures_are_of_moderate_size(path):
    for png in pngs(read(path)):
        image = Image.open(io.BytesIO(base64.b64decode(png)))
        assert image.width <= 1200 and image.info.get("dpi", (100,))[0] <= 100.5


def test_normalised(path):
    notebook = read(path)
    assert normalise(copy.deepcopy(notebook)) == notebook, "run `make lectures`"


@functools.cache                                                        # it reads what every package says of itself
def packages_distributions():
    return importlib.metadata.packages_distributions()


def test_imports_only_what_a_learner_has(path):
    """On Binder only the project and its extra `lab` are installed."""
    project = tomllib.loads((notebooks.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["lab"]
    have = {canonicalize_name(Requirement(line).name) for line in wanted} | {"coursekit", "ipython"}
    providers = packages_distributions()
    for cell in code_cells(read(path)):
        source = re.sub(r"^\s*[%!].*$", "pass", cell.source, flags=re.M)
        for node in ast.walk(ast.parse(source)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for module in {name.split(".")[0] for name in names} - set(sys.stdlib_module_names):
                found = {canonicalize_name(name) for name in providers.get(module, [module])}
                assert found & have, f"{module} comes neither with the project nor with its extra `lab`"


def test_minutes_are_those_of_the_syllabus(path):
    syllabus = (notebooks.ROOT / "SYLLABUS.md").read_text(encoding="utf-8")
    assert stated(read(path)) == int(re.search(rf"\| {notebooks.number(path)} [^|]*\| (\d+) \|", syllabus)[1])


def test_sections_are_numbered_without_a_gap(path):
    prose = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    numbers = [int(number) for number in re.findall(r"^## (\d+) · ", prose, re.M)]
    assert numbers == list(range(1, len(numbers) + 1)) != []


def test_no_number_becomes_a_list_by_accident(path):
    """A line that opens with "25. " is item 25 of a list to Markdown: items count up from 1."""
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            numbers = [int(number) for number in re.findall(r"^[> ]*(\d+)\. ", cell.source, re.M)]
            assert all(n in (1, last + 1) for last, n in pairwise([0, *numbers])), f"a list begins at {numbers}"
