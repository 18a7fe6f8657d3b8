"""Make the README's pictures, docs/picture.png and docs/six_lines.png, and the playground's: `python -m tools.picture`.

The first is what lecture 00 itself shows: its seven explanations of one review above its map of attention, taken from
the executed notebook; the second is what the README's six lines of Python show; the third is the playground as it
opens, which notebooks keep in its place. All are drawn by a headless Chromium (or Chrome), which must be installed, on
a white ground, so that they read on light and dark pages. Run it again after the lecture's outputs, the six lines or
the playground have changed; the fonts are the machine's.
"""

import ast
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from PIL import Image, ImageChops

from coursekit.models import load_weights
from coursekit.show import playground

from .notebooks import ROOT

LECTURE, PICTURE = ROOT / "lectures" / "00_welcome.ipynb", ROOT / "docs" / "picture.png"
README, SIX_LINES = ROOT / "README.md", ROOT / "docs" / "six_lines.png"
PLAYGROUND = ROOT / "coursekit" / "show" / "views" / "playground.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDTH, HEIGHT, SCALE = 900, 1800, 4 / 3               # of the window in CSS pixels; its empty end is cut off

PAGE = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; background: #fff; color: #1a1a1a; font: 16px "DejaVu Sans", Arial, sans-serif }
main { padding: 18px 28px 10px }
h1 { font-size: 22px; margin: 0 0 10px } h2 { font-size: 17px; margin: 18px 0 6px }
img { width: 100% } details { display: none }
</style><main>SHOWN</main>"""
REVIEW = """<h1>A model calls this review negative. Which words made it say so?</h1>
EXPLANATIONS
<h2>Above, seven explainers; below, the attention of the model’s six heads</h2>
MAP"""


def parts(notebook):
    """From the executed lecture: the HTML of the comparison of seven explanations, and the <img> of its map."""
    shown = [output.data["text/html"] for cell in notebook.cells if cell.cell_type == "code"
             for output in cell.outputs if "text/html" in output.get("data", {})]
    comparisons = [html for html in shown if all(f">{name}</th>" in html for name in ("α-avg", "LIME"))]
    maps = [html for html in shown if 'alt="Where six heads look' in html]
    if not (comparisons and maps):
        raise ValueError(f"{LECTURE.name} holds no comparison or no map: execute it with `make lectures ONLY=00`")
    return comparisons[0], re.search(r"<img[^>]*>", maps[0]).group()


def six_lines(readme):
    """The README's first Python, and what it says that this prints: two texts."""
    return re.search(r"```python\n(.*?)```\s+```text\n(.*?)```", readme, re.S).groups()


def value(code):
    """What the last line of some Python is worth, the others having been run before it."""
    *lines, last = ast.parse(code).body
    names = {}
    exec(compile(ast.Module(lines, []), "README.md", "exec"), names)
    return eval(compile(ast.Expression(last.value), "README.md", "eval"), names)


def photograph(shown, browser):
    """Some HTML as an image of 256 colours, without the empty ground at its end."""
    page = PAGE.replace("SHOWN", shown)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.png")
        source.write_text(page, encoding="utf-8")
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        f"--force-device-scale-factor={SCALE}", f"--window-size={WIDTH},{HEIGHT}",
                        "--virtual-time-budget=5000",                            # so that a frame is drawn, too
                        f"--screenshot={target}", source.as_uri()],
                       check=True, capture_output=True, timeout=60)
        image = Image.open(target).convert("RGB")
    drawn = ImageChops.invert(image).getbbox()                                   # white is zero, once inverted
    if drawn[3] >= image.height - 1:
        raise ValueError(f"the page is higher than the window of {HEIGHT} pixels, and would be cut off")
    image = image.crop((0, 0, image.width, min(image.height, drawn[3] + round(10 * SCALE))))
    return image.quantize(256, dither=Image.Dither.NONE)


def two_models():
    """The models of the playground: those with one layer of attention that the course ships."""
    return {name: load_weights(name) for name in ("imdb-tame", "imdb-peaky")}


def main():
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"The picture is drawn by a browser: install one of {', '.join(BROWSERS)}.")
    explanations, attention = parts(nbformat.read(LECTURE, as_version=4))
    code, _ = six_lines(README.read_text(encoding="utf-8"))
    for path, shown in ((PICTURE, REVIEW.replace("EXPLANATIONS", explanations).replace("MAP", attention)),
                        (SIX_LINES, value(code).html),
                        (PLAYGROUND, playground(two_models()).html.replace("900", "1080", 1))):
        image = photograph(shown, browser)
        image.save(path, optimize=True)
        print(f"{path.relative_to(ROOT)}: {image.width} × {image.height}, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
