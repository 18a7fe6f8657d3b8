"""How Sphinx makes the book: tools/book.py (`make book`) copies this beside the pages and starts Sphinx there."""

from pathlib import Path

from tools import book_fold, book_text

project = html_title = book_text.TITLE
author = "The authors of “Attention, explained?”"
copyright = "the authors. Code: BSD 3-Clause, text: CC BY 4.0"
language = "en"
smartquotes = False                                             # text as it was written: much of it is code

extensions = ["myst_nb", "sphinx.ext.autodoc"]
nb_execution_mode = "off"                                       # what is shown is what was committed
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_dmath_double_inline = True                                 # $$…$$ may stand in a line of text
myst_heading_anchors = 4
autodoc_inherit_docstrings = False                              # of PyTorch's
autodoc_preserve_defaults = True                                # as the source names them
toc_object_entries_show_parents = "hide"

exclude_patterns = ["_doctrees"]

html_theme = "sphinx_book_theme"
html_static_path = ["_static"]
html_extra_path = ["extra"]                                     # a deck, what is printed
html_favicon = "_static/favicon.svg"
html_css_files = ["explorer.css", "playground.css", "book.css"]
html_js_files = [("kept.js", {"defer": "defer", "priority": 400}), ("predict.js", {"defer": "defer", "priority": 401}),
                 ("book.js", {"defer": "defer"})]               # the first two before MathJax, which has 500
html_sourcelink_suffix = ""                                     # a notebook is offered as a file that Jupyter opens
html_use_index = html_domain_indices = False                    # there is a search
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_show_sphinx = False
mathjax_path = "mathjax/tex-chtml.js"                           # of the site: it asks nothing of any other
html_context = {"default_mode": "auto"}
html_theme_options = {
    "home_page_in_toc": True,
    "navbar_persistent": [],
    "show_navbar_depth": 1,
    "use_download_button": True,
    "use_fullscreen_button": False,
}
if book_text.ADDRESS:
    html_theme_options |= {"repository_url": book_text.ADDRESS, "use_repository_button": True}


def setup(app):
    app.connect("source-read", book_text.change_page)
    app.connect("doctree-read", book_text.mark_boxes)
    app.connect("doctree-read", book_text.place_anchors)
    app.connect("doctree-read", book_fold.fold_results)
    app.connect("html-page-context", book_text.describe)
    app.connect("autodoc-process-docstring", book_text.change_docstring)
    app.connect("autodoc-skip-member", book_text.skip_member)
