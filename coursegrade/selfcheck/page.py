"""A quiz where no kernel runs: on GitHub, in the book, in print. Each answer is a text to unfold."""

import random
import string

from coursegrade.selfcheck.answers import in_unit
from coursegrade.selfcheck.questions import kind
from coursegrade.selfcheck.words import inline, rendered

MATHJAX = "tex2jax_process mathjax_process"             # Sphinx's pages skip formulas elsewhere
RIGHT, WRONG = "<strong>✓ Right.</strong>", "<strong>✗ Not right.</strong>"


def page(questions):
    """HTML of a list of questions, without scripts, styles and headings."""
    return (f'<div class="{MATHJAX}"><ol>'
            + "".join(f"<li>{rendered(question['ask'])}{_ANSWERS[kind(question)](question)}</li>"
                      for question in questions) + "</ol></div>")


def said(right, why):
    """HTML of an explanation, with a sign and a word before it.

    >>> said(False, "Add them.")
    '<p><strong>✗ Not right.</strong> Add them.</p>'
    """
    sign, html = RIGHT if right else WRONG, rendered(why)
    return f"<p>{sign} {html[3:]}" if html.startswith("<p>") else f"<p>{sign}</p>{html}"


def shuffled(question):
    """The texts of a question of the kind "order", in an order that hangs on the question alone and is not the right
    one, nor a wrong one that has its own explanation, as long as there is another."""
    steps, wrong = question["order"], [item["order"] for item in question.get("wrong", [])]
    draw = random.Random(question["ask"])
    tried = [draw.sample(steps, len(steps)) for _ in range(50)]
    return next((order for order in tried if order not in [steps, *wrong]), steps[::-1])


def lettered(texts):
    """[(letter, text), …]: A, B, C, …

    >>> lettered(["left", "right"])
    [('A', 'left'), ('B', 'right')]
    """
    return list(zip(string.ascii_uppercase, texts, strict=False))              # only as many letters as there are texts


def _unfold(summary, html):
    return f"<details><summary>{summary}</summary>{html}</details>"


def _number(question):
    listed = [(question["number"], True, question["why"]), *(
        (wrong["number"], False, wrong["why"]) for wrong in question["wrong"])]
    rows = "".join(f"<dt>{in_unit(question, number)}</dt><dd>{said(right, why)}</dd>"
                   for number, right, why in sorted(listed))
    return _unfold("Compare with your number", f"<dl>{rows}</dl>")


def _choices(question):
    return "".join(_unfold(f"{letter}. {inline(choice['text'])}", said(choice.get("right", False), choice["why"]))
                   for (letter, _), choice in zip(lettered(question["choices"]), question["choices"], strict=True))


def _order(question):
    letters = lettered(shuffled(question))
    of = {text: letter for letter, text in letters}
    asked = "<ul>" + "".join(f"<li>{letter}. {inline(text)}</li>" for letter, text in letters) + "</ul>"
    found = _unfold("Compare with your order", f"<p>{', '.join(of[text] for text in question['order'])}</p>"
                    + said(True, question["why"]))
    return asked + found + "".join(
        _unfold(f"If yours is {', '.join(of[text] for text in wrong['order'])}", said(False, wrong["why"]))
        for wrong in question.get("wrong", []))


_ANSWERS = {"number": _number, "choices": _choices, "order": _order}
