"""Sheets of an examination, printed by a browser: no exercise runs over its page, and nothing is loaded."""

import re
from types import SimpleNamespace

import pytest

from coursegrade import exam
from coursegrade.marking import sheets


@pytest.mark.parametrize("name", exam.load())
@pytest.mark.parametrize("version", "AB")
def test_an_exercise_is_on_one_page(browser, tmp_path, name, version):
    course = SimpleNamespace(seed=lambda: "a seed of the browser's")
    sheet, _ = sheets.write(course, name, version, tmp_path)
    page, asked = browser.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(sheet.as_uri())
    free = page.evaluate("""[...document.querySelectorAll('section')].map(one => one.getBoundingClientRect().bottom
        - one.lastElementChild.querySelector('.room').getBoundingClientRect().bottom)""")
    assert min(free) > -1, "an exercise is longer than an A4 page: fewer words, or less room for each point"
    pages = len(re.findall(rb"/Type ?/Page\b", page.pdf(prefer_css_page_size=True)))
    assert pages == 1 + len(free) == 1 + len(exam.PAPERS[name].slots)
    assert asked == [sheet.as_uri()]
    assert page.locator("math").count() > 5 and not page.locator("merror").count()
    page.close()
