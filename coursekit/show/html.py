"""The object that a notebook shows, and the way strings get into it."""

import base64
import html
import unicodedata
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, repr=False)
class Html:
    """Something to look at: `html` for a notebook, `text` for a terminal, a screen reader or a plain-text diff.

    >>> Html("<b>hello</b>", "hello")
    hello
    """

    html: str
    text: str

    def save(self, path):
        """Write it as a page of its own, that any browser opens without a network."""
        page = f'<!doctype html><meta charset="utf-8"><title>coursekit</title>\n{self.html}\n'
        Path(path).write_text(page, encoding="utf8")

    def _repr_html_(self):
        return self.html

    def __repr__(self):
        return self.text


def described(alt):
    """An alternative text as (what the image is called, HTML below it). Whoever listens to it cannot skip one of more
    than 250 letters, so a longer one becomes its first sentences, and the whole is a text to unfold.

    >>> described("A line.")
    ('A line.', '')
    """
    if len(alt) <= 250:
        return alt, ""
    whole = alt[:200].rpartition(". ")[0]
    brief = f"{whole}." if whole else alt[:200].rpartition(" ")[0] + " …"
    return f"{brief} In full below.", f"<details><summary>The picture in words</summary>{escape(alt)}</details>"


def heading(title):
    """A title over a table, as HTML; "" for None.

    >>> heading("A & B")
    '<div style="margin-bottom:2px"><b>A &amp; B</b></div>'
    """
    return "" if title is None else f'<div style="margin-bottom:2px"><b>{escape(title)}</b></div>'


def drawing(svg, alt, title=None):
    """An SVG drawing as an image with alternative text, which JupyterLab keeps also in a notebook that is not trusted.

    >>> drawing("<svg/>", "A line.", title="Up")
    Up: A line.
    """
    head = ""
    if title is not None:
        alt, head = f"{visible(title)}: {alt}", f"<div><b>{escape(title)}</b></div>"
    source = base64.b64encode(svg.encode()).decode()
    brief, below = described(alt)
    return Html(f'{head}<img alt="{escape(brief)}" src="data:image/svg+xml;base64,{source}">{below}', alt)


def visible(token):
    """The token as one line that can be seen and stored: control characters and code points that no file may hold
    become symbols, every other character stays as it is.

    >>> visible("two\\nlines"), visible("\\t"), visible("Ġfilm")
    ('two↵lines', '⇥', 'Ġfilm')
    """
    return "".join(map(_visible, token))


def _visible(character):
    category = unicodedata.category(character)
    if category in ("Zl", "Zp"):
        return "↵"
    if character in "\n\t":
        return "↵" if character == "\n" else "⇥"
    if category == "Cc":                                    # ␀ ␁ … for the first 32, ␡ and the rest by one sign
        return chr(0x2400 + ord(character)) if ord(character) < 32 else "␡"
    if category == "Cs" or character in "\ufffe\uffff":     # lone surrogates cannot be written as UTF-8
        return "\ufffd"
    return character


def escape(text):
    """`text` made visible and safe inside HTML, between tags and in quoted attributes.

    >>> escape('<script>"&')
    '&lt;script&gt;&quot;&amp;'
    """
    return html.escape(visible(text))


def display_width(text):
    """About how many letters wide `text` is on screen: East Asian letters and emoji count two, accents none.

    >>> display_width("cafe\u0301"), display_width("映画")
    (4, 4)
    """
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
