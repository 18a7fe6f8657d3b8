r"""The Markdown of the questions as HTML: paragraphs, `code`, *emphasis*, **strong**, ``` blocks, $…$ and $$…$$.

Formulas become \(…\) and \[…\], which JupyterLab, nbconvert's pages and MathJax without settings all read.
"""

import re
import textwrap
from html import escape

BLOCK = re.compile(r"^[ ]*```\w*\n(.*?)\n[ ]*```$", re.M | re.S)
PIECE = re.compile(r"(`[^`]+`|\$\$[^$]+\$\$|(?<!\\)\$[^$]+(?<!\\)\$)")


def rendered(text):
    r"""HTML of a text, block by block; whatever looks like a tag is shown as it is.

    >>> rendered("Is $a<b$ *always*?")
    '<p>Is \\(a&lt;b\\) <em>always</em>?</p>'
    """
    html = ""
    for i, part in enumerate(BLOCK.split(text.strip())):
        if i % 2:
            html += "<pre>" + "\n".join(map(escape, textwrap.dedent(part).splitlines())) + "</pre>"
        else:
            html += "".join(f"<p>{inline(block)}</p>" for block in re.split(r"\n\s*\n", part) if block.strip())
    return html


def inline(text):
    r"""HTML of a text without paragraphs, to stand in a line.

    >>> inline(r"`a*b` is **not** 5\$")
    '<code>a*b</code> is <strong>not</strong> 5$'
    """
    html = ""
    for i, piece in enumerate(PIECE.split(" ".join(text.split()))):
        if not i % 2:
            strong = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<strong>\1</strong>", escape(piece).replace("\\$", "$"))
            html += re.sub(r"\*(?=\S)(.+?)(?<=\S)\*", r"<em>\1</em>", strong)
        elif piece.startswith("`"):
            html += f"<code>{escape(piece[1:-1])}</code>"
        elif piece.startswith("$$"):
            html += rf"\[{escape(piece[2:-2])}\]"
        else:
            html += rf"\({escape(piece[1:-1])}\)"
    return html


def plain(text):
    """The text without its marks, for where only letters go.

    >>> plain("Is `x` *always* $a_1$?")
    'Is x always a_1?'
    """
    return re.sub(r"\*\*?(?=\S)(.+?)(?<=\S)\*\*?", r"\1", re.sub(r"[`$]", "", " ".join(text.split())))
