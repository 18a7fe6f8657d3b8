"""The playground: a page that explains a typed review at every keystroke, without a kernel and without a network.

Its models are classifiers with one layer of attention, folded into 2K numbers a word and 2K a position; attention,
gradients, leave-one-out, LIME's limit and exact Shapley values follow from these. playground_exact.js computes them,
playground.html, .css and .js show them: as a view in a notebook (`playground`), or as the book's first page
(tools/book.py).
"""

import base64
import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np

from coursekit.show.html import Html, escape

from .bertviz import INLINE, View

_FOLDER = resources.files(__package__)
TITLE = "Playground: type a review, and six explanations answer at every keystroke"
ALT = ("The playground. Typed is: I expected a dull film, and I was wrong: nothing here is a waste of time. The model "
       "says 99.6 % blame. Six rows of coloured words explain it: attention and gradient × input put the word dull "
       "first; G-avg, leave-one-out, LIME and Shapley values put waste first.")
_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy"
content="default-src 'none';{inline}"><style>:root{{color-scheme:light dark;background:light-dark(#fff,#121212)}}
body{{margin:16px}}{css}</style></head>
<body>{html}{scripts}</body></html>"""


def playground(models: Mapping[str, Any]) -> Any:
    """A box to type a review into, and beside it what the model says and six explanations of it, at every keystroke.

    Attention (each head and their mean), gradient × input, G-avg, leave-one-out, and, without any sampling, LIME and
    Shapley values, of words that are replaced: the numbers of `coursekit.explain`, to four digits of the score. It is a
    page in a frame, which computes by itself and reaches nothing outside; a committed notebook keeps a picture of it.
    models: {name: AttentionClassifier}, between which the page switches, all with one vocabulary; what it says of a
    model of the course is on the card of that name. Raises ValueError for other vocabularies.

    >>> from types import SimpleNamespace
    >>> tiny = SimpleNamespace(tokenizer=SimpleNamespace(tokens=["[PAD]", "[UNK]", "[CLS]", "good"]),
    ...                        folded=lambda: (np.eye(4)[:, :2], np.zeros((3, 2)), np.eye(2)))
    >>> playground({"tiny": tiny})
    The playground with tiny: run this cell to type a review.
    """
    scripts = (source("playground_exact.js"), packed(models), source("playground.js"))
    html = re.sub(r'<a href="[^"#]+">([^<]*)</a>', r"\1", source("playground.html"))     # from a frame it leads nowhere
    page = _PAGE.format(title=TITLE, inline=INLINE, css=source("playground.css"), html=html,
                        scripts="".join(f"<script>{script}</script>" for script in scripts))
    frame = (f'<iframe title="{TITLE}" sandbox="allow-scripts" width="100%" height="900" style="border:none" '
             f'srcdoc="{page.replace("&", "&amp;").replace(chr(34), "&quot;")}"></iframe>')
    return View(frame, f"The playground with {', '.join(models)}: run this cell to type a review.", still)


def still():
    """A picture of the playground: Html."""
    picture = base64.b64encode(_FOLDER.joinpath("playground.png").read_bytes()).decode()
    return Html(f'<img alt="{escape(ALT)}" src="data:image/png;base64,{picture}">', ALT)


def source(name):
    """The text of one of the playground's files."""
    return _FOLDER.joinpath(name).read_text(encoding="utf-8")


def packed(models):
    """The models as the script that playground.js reads: numbers of words in 16 bits, in equal steps from the lowest of
    their column to its highest; those of places in 32."""
    vocabularies = [model.tokenizer.tokens for model in models.values()]
    if not vocabularies or any(words != vocabularies[0] for words in vocabularies):
        raise ValueError("playground shows models that share one vocabulary: make one for each of them")
    data = {"vocabulary": "\n".join(vocabularies[0]), "models": {name: _folded(name, models[name]) for name in models}}
    return f"const PLAYGROUND = {json.dumps(data)};\n".replace("<", "\\u003c")


def _folded(name, model):
    """One model. Its coordinates are turned in the plane of two directions: that of their mean, and that of the mean of
    one half of them less the mean of the other."""
    words, places, directions = model.folded()                                    # (D, 2K), (T_max, 2K), (d_e, 2K)
    low, step, signs = words.min(0), np.maximum(np.ptp(words, 0) / 65535, 1e-300), np.ones((2, len(directions)))
    signs[1, len(directions) // 2:] = -1
    return {"K": words.shape[1] // 2, "T": len(places), "low": low.tolist(), "step": step.tolist(),
            "words": _base64(np.round((words - low) / step), "<u2"), "places": _base64(places, "<f4"),
            "turn": (signs @ directions / len(directions)).tolist(), "right": _right(name)}


def _base64(numbers, kind):
    return base64.b64encode(numbers.astype(kind).tobytes()).decode()


def _right(name):
    """How often a model is right, as its card says: "86.40"; "" where there is no card of that name."""
    card = resources.files("coursekit").joinpath("weights", f"{name}.md")
    return re.search(r"test reviews \| ([\d.]+)%", card.read_text(encoding="utf-8"))[1] if card.is_file() else ""
