"""Take out of an executed notebook whatever changes from run to run, so that a second run leaves no diff.

Gone: execution times, widget ids and state, progress bars, `%time` lines, memory addresses, versions of Python and of
matplotlib, scripts (bertviz's leave a picture in their place). Kept and bounded: the pictures. A control is replaced by
a note and by what it showed at last, so that a page without a kernel reads on. Normalising twice is the same as once.
"""

import base64
import hashlib
import io
import re
import struct

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_output
from PIL import Image

WIDGET = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
STILL = "application/vnd.still+html"                # the picture that a view with a script brings along
MAX_DPI = 100
MAX_WIDTH = 1200                                    # pixels
NOISY_METADATA = {"execution", "ExecuteTime", "collapsed", "scrolled", "trusted", "lines_to_next_cell"}
CONTROL = "[A control: run this cell to move it. What stands below is what it showed last.]"
SCRIPT = "[An interactive view: run this cell to see it.]"

TIMING = re.compile(r"^(CPU times:|Wall time:|.*\(mean ± std\. dev\. of ).*\n?", re.M)
BAR = re.compile(r"\d+%\||\d+it \[|(it/s|s/it)[\],]")             # what tqdm prints, finished or not
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
FUNCTION = re.compile(r"<(function|bound method) .*>")             # what the line `interact(f, ...)` returns
EMBEDDED_PNG = re.compile(r"(?<=data:image/png;base64,)[A-Za-z0-9+/=\s]+")


def normalise(notebook):
    """Normalise an executed notebook (a NotebookNode of format 4.5) in place, and return it."""
    state = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    notebook.metadata = from_dict({
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    })
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    number = 0
    for cell, name in zip(notebook.cells, cell_ids(notebook.cells), strict=True):
        cell.id = name
        cell.metadata = from_dict({k: v for k, v in cell.metadata.items() if k not in NOISY_METADATA})
        if cell.cell_type != "code":
            continue
        if cell.execution_count is not None:
            number += 1
            cell.execution_count = number
        cell.outputs = merge_streams([kept for output in cell.outputs for kept in clean(output, state)])
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
    return notebook


def cell_ids(cells):
    """An id for each cell, made from its source: the same source has the same id wherever the cell stands."""
    seen = {}
    for cell in cells:
        name = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}-{seen[name]}"


def clean(output, state):
    """What is left of one output: a list of none, one or (for a control) several. `state`: the widgets' saved state."""
    if output.output_type == "stream":
        text = ADDRESS.sub("0x…", TIMING.sub("", without_bars(output.text)))
        if output.name == "stderr":
            text = text.lstrip("\n")                               # what a removed progress bar leaves behind
        return [new_output("stream", name=output.name, text=text)] if text else []
    if output.output_type == "error":
        return [output]

    data = output.data
    data.pop("application/javascript", None)
    still = data.pop(STILL, None)
    if "<script" in data.get("text/html", "") and still:
        data["text/html"] = still
    elif "<script" in data.get("text/html", ""):
        words = data.get("text/plain", "<")                     # a view that says in words what it is keeps that
        return [note(SCRIPT if words.startswith("<") else words)]
    if WIDGET in data:
        model = data.pop(WIDGET)["model_id"]
        if not set(data) - {"text/plain"}:                      # a widget with a static picture of its own keeps that
            if BAR.search(data.get("text/plain", "")):
                return []
            shown = [kept for inner in first_shown(model, state) for kept in clean(inner, state)]
            return [note(CONTROL), *shown]
    for kind, content in data.items():
        if kind == "image/png":
            data[kind] = smaller_png(content)
        elif isinstance(content, str) and kind in ("text/html", "text/markdown"):
            data[kind] = EMBEDDED_PNG.sub(lambda found: smaller_png(found.group()), content)
        elif kind == "text/plain":
            data[kind] = ADDRESS.sub("0x…", content)
    if set(data) == {"text/plain"} and FUNCTION.fullmatch(data["text/plain"]):
        return []
    return [output] if data else []


def first_shown(model, state):
    """The outputs that a control showed when it was made: those of the Output widgets among its children."""
    saved = state.get(model, {}).get("state", {})
    found = [from_dict(output) for output in saved.get("outputs", [])]
    for child in saved.get("children", []):
        found += first_shown(child.removeprefix("IPY_MODEL_"), state)
    return found


def note(text):
    return new_output("display_data", data={"text/plain": text})


def without_bars(text):
    """Text without progress bars. Of a line that was written over (with carriage returns), the last version counts."""
    lines = [line.rstrip("\r\n").rpartition("\r")[2] + ("\n" if line.endswith("\n") else "")
             for line in re.findall(r"[^\n]*\n|[^\n]+", text)]
    return "".join(line for line in lines if not BAR.search(line))


def merge_streams(outputs):
    """Join neighbouring pieces of one stream: where the kernel cuts them is a matter of timing."""
    merged = []
    for output in outputs:
        last = merged[-1] if merged else NotebookNode(output_type="")
        if output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def smaller_png(text):
    """A base64 PNG of at most 100 dpi and 1200 pixels' width, without text chunks (they name matplotlib's version)."""
    raw = strip_chunks(base64.b64decode(text))
    image = Image.open(io.BytesIO(raw))
    dpi = image.info.get("dpi", (MAX_DPI,))[0]
    scale = min(1, MAX_DPI / dpi if dpi > MAX_DPI + 0.5 else 1, MAX_WIDTH / image.width)
    if scale < 1:
        size = [max(1, int(side * scale)) for side in image.size]
        smaller = io.BytesIO()
        image.convert("RGBA").resize(size, Image.LANCZOS).save(smaller, "PNG", dpi=(min(dpi, MAX_DPI),) * 2)
        raw = smaller.getvalue()
    return base64.b64encode(raw).decode()


def strip_chunks(raw):
    """A PNG file without the chunks that hold texts and dates. A chunk is its length, name, content and checksum."""
    kept, at = [raw[:8]], 8
    while at < len(raw):
        length, name = struct.unpack(">I4s", raw[at:at + 8])
        if name not in (b"tEXt", b"iTXt", b"zTXt", b"tIME", b"eXIf"):
            kept.append(raw[at:at + 12 + length])
        at += 12 + length
    return b"".join(kept)
