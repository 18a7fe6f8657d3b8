"""The questions of a lecture, read from its file and looked over: a list of dictionaries, as they stand there."""

import math
import re
import tomllib

from coursegrade import courses

MANY = {"ready": 10}                                        # questions of the entrance test; of a lecture five
KINDS = ("number", "choices", "order")                      # a question has exactly one of these
KEYS = {"number": {"ask", "number", "within", "unit", "why", "wrong", "read"},
        "choices": {"ask", "choices", "read"}, "order": {"ask", "order", "why", "wrong", "read"}}


def load(number, folder=None):
    """The questions of the lecture `number` ("02"), or of the entrance test ("ready"): a list of dictionaries with the
    keys of the file. What somebody should `read` who was wrong is said with each wrong answer.

    FileNotFoundError if there is no file; ValueError, in one line, if one does not say what it has to.

    >>> [kind(question) for question in load("02")][0]
    'number'
    """
    folder = folder or courses.folder() / "quizzes"
    path = folder.joinpath(f"{number}.toml")
    if not path.is_file():
        there = sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))
        raise FileNotFoundError(f"There is no quiz {number!r}; there are {', '.join(there)}.")
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name} is not TOML: {error}") from None
    questions = found.get("question", [])
    many = MANY.get(number, 5)
    if set(found) != {"question"} or len(questions) != many:
        raise ValueError(f"{path.name} must have {many} tables [[question]] and nothing else, it has {len(questions)}"
                         + "".join(f", and {name!r}" for name in sorted(set(found) - {"question"})))
    for place, question in enumerate(questions, 1):
        if fault := what_is_wrong(question):
            raise ValueError(f"{path.name}, question {place}: {fault}")
        for answer in question.get("choices", question.get("wrong", [])) if "read" in question else ():
            answer["why"] += "" if answer.get("right") else f"\n\nTo read: {question['read']}."
    return questions


def kind(question):
    """Which of the three kinds a question is: "number", "choices" or "order".

    >>> kind({"ask": "How many?", "number": 2})
    'number'
    """
    return next(name for name in KINDS if name in question)


def within(question):
    """How far from the right number a reply may be: 0.01 unless the question says otherwise.

    >>> within({"ask": "How many?", "number": 2})
    0.01
    """
    return question.get("within", 0.01)


def what_is_wrong(question):
    """The first fault of a question, in a line that says what to do; "" if there is none.

    >>> what_is_wrong({"ask": "How many?"})
    'give it one of number, choices, order: it has none'
    """
    kinds = [name for name in KINDS if name in question]
    if len(kinds) != 1:
        return f"give it one of {', '.join(KINDS)}: it has {' and '.join(kinds) or 'none'}"
    if odd := sorted(set(question) - KEYS[kinds[0]]):
        return f"a question with {kinds[0]} has no {odd[0]!r}; it may have {', '.join(sorted(KEYS[kinds[0]]))}"
    return ({"number": _number, "choices": _choices, "order": _order}[kinds[0]](question)
            or _texts([question.get("read", "-")]))


def _number(question):
    right, wrong, near = question["number"], question.get("wrong", []), within(question)
    if not _is_number(right) or not _is_number(near) or near < 0:
        return "number and within must be numbers, within not below 0"
    if not 1 <= len(wrong) <= 3 or not all(_is_number(_get(item, "number")) for item in wrong):
        return "wrong must list one to three likely wrong numbers, each { number = …, why = … }"
    numbers = [right, *(item["number"] for item in wrong)]
    close = [(a, b) for i, a in enumerate(numbers) for b in numbers[:i] if abs(a - b) <= 2 * near]
    if close:
        return f"{close[0][0]} and {close[0][1]} cannot be told apart within {near}"
    unit = [question["unit"]] if "unit" in question else []
    return _texts([question.get("ask"), question.get("why"), *unit, *(item.get("why") for item in wrong)])


def _choices(question):
    choices = question["choices"]
    if not isinstance(choices, list) or not 3 <= len(choices) <= 4 or not all(_get(item, "text") for item in choices):
        return "choices must list three or four, each { text = …, why = … }"
    rights = [item["right"] for item in choices if "right" in item]
    if rights != [True]:
        return f"exactly one of the choices must have right = true: {len(rights)} have `right`"
    if len({item["text"] for item in choices}) < len(choices):
        return "two of the choices are the same"
    return _texts([question.get("ask"), *(item.get(key) for item in choices for key in ("text", "why"))])


def _order(question):
    steps, wrong = question["order"], question.get("wrong", [])
    if not isinstance(steps, list) or not 3 <= len(steps) <= 6 or len(set(map(str, steps))) < len(steps):
        return "order must list three to six different texts"
    orders = [steps, *(_get(item, "order") for item in wrong)]
    odd = next((order for order in orders if not isinstance(order, list) or sorted(order) != sorted(steps)), None)
    if odd is not None:
        return f"each wrong order must have the texts of the right one, and no others: {odd}"
    if len(set(map(tuple, orders))) < len(orders):
        return "a wrong order is the right one, or is listed twice"
    return _texts([question.get("ask"), question.get("why"), *steps, *(item.get("why") for item in wrong)])


def _texts(texts):
    """The fault of the first text that is missing, or in which a $ or a ` has no partner; "" if there is none."""
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            return "a text is missing: ask, why (also of each wrong answer and each choice) must say something"
        without_code = re.sub(r"`[^`]*`", "", text.replace("\\$", ""))
        for sign in "`$":
            if without_code.count(sign) % 2:
                return f"a {sign} without its partner in {text[:50]!r}"
    return ""


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _get(item, key):
    return item.get(key) if isinstance(item, dict) else None
