"""The quiz of a lecture as the book's pages ask it: what docs/site/_static/quiz.js reads, of the same files as ever."""

from coursegrade.selfcheck.answers import solution
from coursegrade.selfcheck.page import lettered, said, shuffled
from coursegrade.selfcheck.questions import kind, load, within
from coursegrade.selfcheck.words import inline, plain, rendered


def quiz_data(number):
    """The questions of a lecture as quiz.js asks them, all words in HTML: a list of dictionaries.

    kind, ask, solution, and answers: [[reply, is it right?, what is said], …]. A reply is a number (`within`, `unit`),
    the place of a choice in `texts`, or an order of the places of `texts`, which begin shuffled (`plain`: no HTML).
    """
    return [{"kind": kind(question), "ask": rendered(f"**{place}.** {question['ask']}"),
             "solution": rendered(solution(question)), **_OWN[kind(question)](question)}
            for place, question in enumerate(load(number), 1)]


def _number(question):
    return {"answers": _answers(question), "within": within(question), "unit": question.get("unit", "")}


def _choices(question):
    choices = question["choices"]
    answers = [[place, choice.get("right", False), said(choice.get("right", False), choice["why"])]
               for place, choice in enumerate(choices)]
    texts = lettered(inline(choice["text"]) for choice in choices)
    return {"answers": answers, "texts": [f"{letter}. {text}" for letter, text in texts]}


def _order(question):
    texts = shuffled(question)
    answers = [[[texts.index(text) for text in order], *told] for order, *told in _answers(question)]
    return {"answers": answers, "texts": [inline(text) for text in texts], "plain": [plain(text) for text in texts]}


def _answers(question):
    """[[reply, is it right?, what is said], …] of a number or an order, the right one first."""
    name = kind(question)
    return [[question[name], True, said(True, question["why"])],
            *([item[name], False, said(False, item["why"])] for item in question.get("wrong", []))]


_OWN = {"number": _number, "choices": _choices, "order": _order}
