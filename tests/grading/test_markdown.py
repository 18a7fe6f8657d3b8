"""Markdown that students wrote: shown, with the formulas and pasted pictures that belong to it, and harmless."""

import time

import pytest

from coursegrade.marking.markdown import markdown

PNG = "iVBORw0KGgo="


@pytest.mark.parametrize("source", [
    "[" * 15_000, "> " * 9000 + "x", "*a " * 6000, "`" * 19_000, "![" * 9000, "<" * 19_000,
    "|a" * 9000 + "\n" + "|-" * 9000,
    "- " * 9000, "\n".join(" " * i + "- x" for i in range(190)), "_" * 19_000, "[a](" * 4500, "&" * 19_000,
    "$" * 1900, "$`" * 1900, "$a" * 1900 + "b" * 9000])
def test_hard_markdown_takes_no_time(source):
    start = time.process_time()
    assert markdown(source)
    assert time.process_time() - start < 20


@pytest.mark.parametrize("source, made", [
    ("**bold** and `code`", "<strong>bold</strong>"), ("a < b & c", "a &lt; b &amp; c"),
    ("<img src=x onerror=alert(1)>", "&lt;img"),
    ("[x](javascript:alert(1))", "#harmful-link"), ("[x](data:text/html,hi)", "#harmful-link"),
    ("![a\"b](https://e.org/x)", "[a"),
    ("```mermaid\n<script>alert(1)</script>\n```", "&lt;script&gt;"), ("$<script>$", "&lt;script&gt;"),
    ("$a_1 < b_2 * c_3 * d$", "a_1 &lt; b_2 * c_3 * d"),
    ("<details><summary>Hint</summary>\n\nhelp\n\n</details>", "help")])
def test_markdown_is_shown_and_does_no_harm(source, made):
    found = markdown(source)
    assert made in found and "<img" not in found and "<script" not in found


def test_pasted_pictures_are_shown_and_no_others():
    pasted = {"my plot.png": {"image/svg+xml": "bad", "image/png": PNG}, "drawn": {"image/svg+xml": "bad"},
              "odd": {"image/jpeg": 'x" onerror="alert(1)'}}
    shown = markdown("![my *plot*\"](attachment:my%20plot.png)", pasted)
    assert f'<img alt="my plot&quot;" src="data:image/png;base64,{PNG}">' in shown
    assert markdown("![drawn](attachment:drawn)", pasted) == "<p>[drawn]</p>\n"
    assert markdown("![](attachment:elsewhere)", pasted) == "<p>[a picture]</p>\n"
    assert markdown("![far](https://example.org/a.png)", pasted) == "<p>[far]</p>\n"
    assert '" onerror="' not in markdown("![](attachment:odd)", pasted)
