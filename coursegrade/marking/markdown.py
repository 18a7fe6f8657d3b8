"""Shows Markdown that students wrote, as HTML that can do no harm: in the feedback pages and in nbgrader's own.

nbgrader's formgrader would run a script that stands in an answer, with all that the teacher may do. In
nbgrader_config.py:

    c.HTMLExporter.filters = {"markdown2html": "coursegrade.marking.markdown.in_nbgrader"}
"""

import html
import re
from urllib.parse import unquote

import jinja2
import mistune
from markupsafe import Markup
from mistune.util import striptags

from coursegrade.sandbox.protocol import clean

LONGEST = 20_000                                                        # characters rendered; more is shown plainly
FOLD = re.compile(r"</?details>|<summary>[^<>]*</summary>|<details>\s*<summary>[^<>]*</summary>")


class Renderer(mistune.HTMLRenderer):
    """Markdown as HTML. HTML in it is shown as text, and pictures, which could come from anywhere, by their words.

    pictures: a cell's attachments, {name: {type: base64 text}}; these are shown, if they are PNG or JPEG.
    """

    def __init__(self, pictures):
        super().__init__(escape=True)
        self.pictures = pictures

    def image(self, text, url, title=None):
        """A picture that was pasted into the cell, or the words of any other."""
        name = unquote(url.removeprefix("attachment:"))
        pasted = self.pictures.get(name, {}) if url.startswith("attachment:") else {}
        for kind in ("image/png", "image/jpeg"):
            if kind in pasted:
                words = html.escape(html.unescape(striptags(text)))
                return f'<img alt="{words}" src="data:{kind};base64,{html.escape(str(pasted[kind]))}">'
        return f"[{text or 'a picture'}]"

    def block_html(self, html):
        """HTML that stands alone: as text, but for the folds of the exercises' hints."""
        return "" if FOLD.fullmatch(html.strip()) else super().block_html(html)


def markdown(text, pictures=None):
    r"""Markdown as HTML that can do no harm; too long a text, or one that the parser chokes on, as it stands. Signs
    that are not seen, such as those that turn the direction of writing, become \ufffd.

    >>> print(markdown("**so** <script>alert(1)</script>"))
    <p><strong>so</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>
    <BLANKLINE>
    """
    text = clean(text, LONGEST)
    if len(text) <= LONGEST and max(map(text.count, "[]<>*_`$")) < 2000:
        try:
            render = mistune.create_markdown(renderer=Renderer(pictures or {}),
                                             plugins=["table", "strikethrough", "math"])
            return Markup(render(text))
        except RecursionError:
            pass
    return Markup(f"<pre>{html.escape(text)}</pre>")


@jinja2.pass_context
def in_nbgrader(context, text):
    """The same as a filter of nbconvert's templates, which know the cell."""
    return markdown(text, context.get("cell", {}).get("attachments"))
