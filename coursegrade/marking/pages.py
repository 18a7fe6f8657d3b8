"""The pages that are written for people, of the templates beside this file. Nothing is loaded in them, and no script
runs; what is put in is text, but for what markdown.py has made of it."""

import jinja2

from coursegrade.sandbox.protocol import clean

PAGES = jinja2.Environment(loader=jinja2.PackageLoader("coursegrade.marking"), autoescape=True, trim_blocks=True,
                           lstrip_blocks=True)
PAGES.filters["shown"] = lambda line: clean(line, 500)                  # of a student's code: what it is, and no more
