"""What a quiz says to a reply: right or not, and why."""

import math
import re

from coursegrade.selfcheck.questions import kind, within


def answer(question, reply):
    """(is the reply right?, the explanation, as Markdown).

    reply, by the question's kind: a number or what a reader typed ("0.75", "3/4", "75 %"); the text of a choice; the
    list of the texts, in the reader's order. ValueError, in a line for the reader, if it is no reply at all.

    >>> question = {"ask": "1 + 2?", "number": 3, "why": "Count.", "wrong": [{"number": 2, "why": "Multiplied?"}]}
    >>> answer(question, "3"), answer(question, 2)
    ((True, 'Count.'), (False, 'Multiplied?'))
    """
    return {"number": _number, "choices": _choice, "order": _order}[kind(question)](question, reply)


def solution(question):
    """The right answer and its explanation, as Markdown.

    >>> solution({"ask": "1 + 2?", "number": 3, "why": "Count."})
    '3. Count.'
    """
    if kind(question) == "number":
        return f"{in_unit(question, question['number'])}. {question['why']}"
    if kind(question) == "choices":
        [right] = [choice for choice in question["choices"] if choice.get("right")]
        return f"“{right['text'].strip()}” {right['why']}"
    steps = "; ".join(f"{place}: {step.rstrip('.')}" for place, step in enumerate(question["order"], 1))
    return f"{steps}. {question['why']}"


def in_unit(question, number):
    """A number as people write it, with the question's unit.

    >>> in_unit({"unit": "words"}, 2), in_unit({"unit": "%"}, 2.5), in_unit({}, -0.5)
    ('2 words', '2.5 %', '−0.5')
    """
    return f"{number:.10g} {question.get('unit', '')}".strip().replace("-", "−")


def as_number(text, unit=""):
    """The number that a reader typed: a decimal, a fraction or a percentage, with or without the unit. ValueError if
    it is none.

    >>> as_number("3/4"), as_number("75 %"), as_number("75 %", "%"), as_number("1,200 words", "words")
    (0.75, 0.75, 75.0, 1200.0)
    """
    typed = str(text).replace("−", "-").strip().removesuffix(unit or " ").strip()
    share = typed.endswith("%")
    typed = typed.rstrip("% ").replace(" ", "")
    typed = typed.replace(",", "" if re.fullmatch(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", typed) else ".")
    try:
        above, _, below = typed.partition("/")
        number = float(above) / float(below or 1) / (100 if share else 1)
    except (ValueError, ZeroDivisionError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError("Type a number, such as 0.75, 3/4 or 75 %.")
    return number


def _number(question, reply):
    number = as_number(reply, question.get("unit", ""))
    near = within(question) * (1 + 1e-9) + 1e-12                        # 0.76 is 0.01 from 0.75, also in floats
    if abs(number - question["number"]) <= near:
        return True, question["why"]
    for wrong in question["wrong"]:
        if abs(number - wrong["number"]) <= near:
            return False, wrong["why"]
    return False, f"This is too {'small' if number < question['number'] else 'large'}."


def _choice(question, reply):
    for choice in question["choices"]:
        if choice["text"] == reply:
            return choice.get("right", False), choice["why"]
    raise ValueError("Choose one of the answers.")


def _order(question, reply):
    right, reply = question["order"], list(reply)
    if sorted(reply) != sorted(right):
        raise ValueError("Put all of them in an order.")
    if reply == right:
        return True, question["why"]
    for wrong in question.get("wrong", []):
        if wrong["order"] == reply:
            return False, wrong["why"]
    first = next(i for i, (got, due) in enumerate(zip(reply, right, strict=True)) if got != due)
    before = f"Right until place {first}. " if first else ""
    return False, f"{before}In place {first + 1} should stand something else than: {reply[first]}"
