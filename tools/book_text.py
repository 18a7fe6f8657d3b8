"""What the book changes in the text of its pages, while Sphinx reads them (docs/site/conf.py): the files that it
offers for download stay as they are here."""

import json
import posixpath
import re
from pathlib import Path

from docutils import nodes

from coursekit.show.html import escape
from coursekit.show.views.explorer import KEPT
from coursekit.show.views.playground import ALT
from tools.address import address, site
from tools.book_quiz import quiz_data

TITLE = "Attention, explained?"
ABOUT = "An open course on attention, gradients, LIME and Shapley values: which explanation of a model is true of it?"
ADDRESS = (address() or "").rstrip("/")                                     # "" until the project has one

BADGE = re.compile(r"\[!\[([^\]]*)\]\(http[^()\s]*\)\]\(([^()\s]+)\)")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.M | re.S)
RENAMED = {"LICENSE": "LICENSE.md", "coursekit/show/views/playground.png": "index.md"}     # its picture: the playground
QUIZ = re.compile(r'^quiz\("(\w+)"\)', re.M)
KEEPS = "Nothing\nis sent.", "What you answer\nfirst is kept in this browser alone."     # here, in the book
BOX = re.compile(r"Predict first|Theorem|Pitfall|Erratum")


def change_page(app, docname, source):
    """Sphinx asks for it when it has read a page: its links, and what stands for the explorer and the quiz."""
    path = Path(app.env.doc2path(docname))
    if path.suffix == ".md":
        source[0] = with_links(source[0], docname, app.srcdir)
    elif path.suffix == ".ipynb":
        notebook = json.loads(source[0])
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                text = with_links("".join(cell["source"]), docname, app.srcdir)
                text = re.sub(r"\s*</details>", "\n\n</details>", text)         # a block of its own, as fold() wants it
                text = text.replace("<details><summary>Answer", '<details class="answer"><summary>Answer')
                cell["source"] = text.replace(*KEEPS)
            for output in cell.get("outputs", []):
                keep_explorer(output.get("data", {}))
            if cell["cell_type"] == "code" and (asked := QUIZ.search("".join(cell["source"]))):
                keep_quiz(cell, asked[1])
            if docname.startswith("lectures/"):
                name_cell(cell, posixpath.basename(docname).partition("_")[0])
        source[0] = json.dumps(notebook)


def with_links(text, docname, pages):
    """Markdown whose relative links lead to a page of the book, or else to the repository; or are plain text, while it
    has no address. A badge, a picture of another site, is a link of words."""
    folder = posixpath.dirname(docname)

    def changed(found):
        words, target = found.groups()
        if target.startswith(("http", "#", "mailto:")):
            return found.group()
        file, sign, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join(folder, file))
        place = RENAMED.get(place, place)
        if (Path(pages) / place).is_file():
            return f"[{words}]({posixpath.relpath(place, folder or '.')}{sign}{anchor})"
        if (Path(pages) / "extra" / place).is_file():                       # a page that Sphinx does not make
            return f'<a href="{posixpath.relpath(place, folder or ".")}">{words}</a>'
        return f"[{words}]({ADDRESS}/blob/HEAD/{place})" if ADDRESS else words

    text = BADGE.sub(r"[\1](\2)", text)
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [LINK.sub(changed, text[end:fence.start()]), fence.group()]
        end = fence.end()
    return "".join(parts) + LINK.sub(changed, text[end:])


def mark_boxes(app, doctree):
    """Sphinx asks for it when it has read a page: predictions, theorems, pitfalls and errata get a class each."""
    for node in doctree.findall(lambda node: isinstance(node, (nodes.paragraph, nodes.block_quote))):
        kind = BOX.match(node.astext())
        if kind and isinstance(node, nodes.paragraph) == (kind.group() == "Predict first"):
            node["classes"].append(kind.group().lower().partition(" ")[0])


def name_cell(cell, number):
    """Put an anchor at a cell of a lecture, to which slides lead: in a text, beside code for `place_anchors`."""
    anchor = f"cell-{number}-{cell['id']}"
    if cell["cell_type"] == "markdown":
        cell["source"] = f"({anchor})=\n\n{cell['source']}"
    else:
        cell["metadata"]["anchor"] = anchor


def place_anchors(app, doctree):
    """Sphinx asks for it when it has read a page: the anchors of cells of code."""
    for cell in doctree.findall(nodes.container):
        if "anchor" in cell.get("cell_metadata", {}):
            cell["ids"].append(cell["cell_metadata"]["anchor"])


def describe(app, docname, template, context, doctree):
    """Sphinx asks for it when it writes a page: what a search engine, or who is sent a link to it, sees of it."""
    texts = (" ".join(node.astext().split()) for node in doctree.findall(nodes.paragraph)) if doctree else ()
    text = next((text for text in texts if len(text) >= 60 and text[-1] in ".:?!”"), ABOUT)       # not one of badges
    about = text if len(text) <= 200 else text[:200].rpartition(" ")[0] + " …"
    picture = (site(ADDRESS) + "_static/playground.png") if ADDRESS else context["pathto"]("_static/playground.png", 1)
    tags = {"og:title": context.get("title", TITLE), "og:site_name": TITLE, "og:type": "article",
            "og:description": about, "og:image": picture, "og:image:alt": ALT}
    told = [f'<meta name="description" content="{escape(about)}">']
    told += [f'<meta property="{name}" content="{escape(re.sub("<[^>]*>", "", text))}">' for name, text in tags.items()]
    context["metatags"] = "\n".join([context.get("metatags", ""), *told])
    if "live-explorer" in context.get("body", ""):
        app.add_js_file("live.js", type="module")
    if "live-quiz" in context.get("body", ""):
        app.add_js_file("quiz.js", defer="defer", priority=900)                                 # after kept.js


def keep_explorer(data):
    """Put an explorer's data beside its drawing, where live.js looks for it."""
    state = data.pop(KEPT, None)
    if state:
        html = "".join(data["text/html"])
        data["text/html"] = (f'<div class="live-explorer"><div class="still">{html}</div>'
                             f'<script type="application/json">{in_script(state)}</script></div>')


def keep_quiz(cell, number):
    """Put a quiz's questions beside the list of its answers, where quiz.js looks for them; its code is for a kernel."""
    [data] = [output["data"] for output in cell["outputs"]]
    html = "".join(data["text/html"])
    data["text/html"] = (f'<div class="live-quiz"><div class="still">{html}</div><script type="application/json" '
                         f'class="quiz" data-number="{number}">{in_script(quiz_data(number))}</script></div>')
    cell["metadata"]["tags"] = [*cell["metadata"].get("tags", []), "remove-input"]


def in_script(data):
    """JSON that ends no <script>."""
    return json.dumps(data, ensure_ascii=False).replace("</", "<\\/")


def change_docstring(app, what, name, thing, options, lines):
    """A docstring as reStructuredText that reads as it was written: paragraphs, examples and tables; names in code."""
    lines[:] = as_rst("\n".join(lines))


def skip_member(app, what, name, thing, skip, options):
    """The fields of a named tuple are told in its docstring; what Python says of them is not."""
    return True if (getattr(thing, "__doc__", None) or "").startswith("Alias for field") else None


def as_rst(text):
    """Lines of reStructuredText for a plain docstring.

    >>> as_rst("x: (T, d_e).\\nRaises nothing.\\n\\n>>> 1 + 1\\n2")
    ['x: (T, d\\\\_e).', '', 'Raises nothing.', '', '>>> 1 + 1', '2', '']
    """
    found = []
    for block in re.split(r"\n[ \t]*\n", text.strip("\n")):
        if block.lstrip().startswith(">>>"):
            found += [*block.split("\n"), ""]
        elif all(line.startswith("    ") for line in block.split("\n")):
            found += ["::", "", *block.split("\n"), ""]
        else:
            found += plain(block)
    return found


def plain(block):
    """The lines of a paragraph: what its marks mean to reStructuredText is taken from them, `names` are code."""
    found = []
    for line in block.split("\n"):
        begins = re.match(r"Raises |[A-Za-z_]\w*(, [A-Za-z_]\w*)*(=\S+)?: ", line)
        if found and begins:
            found.append("")
        parts = re.split(r"`([^`]+)`", line)
        found.append("".join(f"``{part}``" if i % 2 else re.sub(r"([\\*_|`])", r"\\\1", part)
                             for i, part in enumerate(parts)).strip())
    return [*found, ""]
