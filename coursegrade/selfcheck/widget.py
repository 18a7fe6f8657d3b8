"""A quiz in a notebook: controls of ipywidgets, one question below the other. A page without a kernel shows page.py."""

import asyncio

from ipywidgets import HTML, Button, HBox, HTMLMath, Label, RadioButtons, Text, VBox

from coursegrade.selfcheck.answers import answer, solution
from coursegrade.selfcheck.page import lettered, page, said, shuffled
from coursegrade.selfcheck.questions import kind
from coursegrade.selfcheck.words import inline, plain, rendered


class Quiz(VBox):
    """The questions of a lecture, and a line that counts those right at the first try. `asked`: its Questions."""

    def __init__(self, number, questions):
        self._number, self._questions = number, questions
        self.asked = [Question(place, question, self._count) for place, question in enumerate(questions, 1)]
        self.counted = HTML().add_class("quiz-count")                       # by which tools/progress.py finds it
        super().__init__([*self.asked, self.counted])
        self._count()

    def _count(self):
        tries = [question.first_try for question in self.asked if question.first_try is not None]
        many = len(self.asked)
        self.counted.value = (f"<b>{sum(tries)} of {many} at the first try.</b>" if len(tries) == many
                              else f"{len(tries)} of {many} answered.")

    def static(self):
        """The quiz as HTML that needs no kernel."""
        return page(self._questions)

    def _repr_mimebundle_(self, **kwargs):
        told = f"[Quiz {self._number}: {len(self._questions)} questions. Run this cell to answer them here.]"
        return super()._repr_mimebundle_(**kwargs) | {"text/html": self.static(), "text/plain": told}


class Question(VBox):
    """One question: its text, what the reader sets (`field`), the button, the explanation. `first_try`: was the first
    reply right? None before there is one."""

    def __init__(self, place, question, changed):
        self._question, self._changed, self.first_try, self.said = question, changed, None, HTMLMath()
        ask = {"number": _number, "choices": _choices, "order": _order}[kind(question)]
        self.field, self.reply = ask(question, self._forget, self._answer)
        self.button = Button(description="Answer", tooltip=f"Answer question {place}")
        self.show = Button(description="Show the answer", tooltip=f"Show the answer to question {place}",
                           layout={"display": "none"})                  # until there was a try
        self.button.on_click(self._answer)
        self.show.on_click(self._solve)
        asked = HTMLMath(rendered(f"**{place}.** {question['ask']}"))
        parts = [asked, self.field, HBox([self.button, self.show]), self.said]
        super().__init__(parts, layout={"margin": "0 0 16px 0"})

    def _forget(self, *_):
        self.said.value = ""                                            # it spoke of another reply

    def _answer(self, *_):
        try:
            right, why = answer(self._question, self.reply())
        except ValueError as error:                                     # no reply yet: it does not count
            self.said.value = _alert(rendered(str(error)))
            return
        self.said.value = _alert(said(right, why))
        self.first_try = right if self.first_try is None else self.first_try
        self.show.layout.display = "none" if right else ""
        self._changed()

    def _solve(self, _):
        self.said.value = _alert(rendered(solution(self._question)))


def _alert(html):
    """What screen readers read out when it comes."""
    return f'<div role="alert">{html}</div>'


def _number(question, changed, enter):
    """(a field for a number, a function that gives what was typed)."""
    typed = Text(description="Your number:", style={"description_width": "initial"}, layout={"width": "16em"})
    typed.observe(changed, "value")
    typed.on_msg(lambda _, message, buffers: message.get("event") == "submit" and _soon(enter))
    return HBox([typed, Label(question.get("unit", ""))]), lambda: typed.value


def _soon(act):
    """Act when what was typed last has come, too: Enter may overtake it."""
    try:
        asyncio.get_running_loop().call_later(0.3, act)
    except RuntimeError:                                                # outside a kernel nothing is under way
        act()


def _choices(question, changed, _):
    """(a radio button a choice, of which one is on, a function that gives the text of the one)."""
    texts = [choice["text"] for choice in question["choices"]]
    radios = [RadioButtons(options=[letter], index=None, layout={"width": "3.5em"}, tooltip=plain(text))
              for letter, text in lettered(texts)]

    def only(change):
        if change.new is not None:
            changed()
            for radio in radios:
                if radio is not change.owner:
                    radio.index = None

    for radio in radios:
        radio.observe(only, "index")
    rows = [HBox([radio, _line(text)]) for radio, text in zip(radios, texts, strict=True)]
    return VBox(rows), lambda: next((text for radio, text in zip(radios, texts, strict=True) if radio.index == 0), None)


def _order(question, changed, _):
    """(the texts with buttons that move them, a function that gives them as they stand)."""
    texts = shuffled(question)
    lines = [_line("") for _ in texts]
    ups, downs = ([Button(description=arrow, layout={"width": "3em"}) for _ in texts] for arrow in "↑↓")
    ups[0].disabled = downs[-1].disabled = True

    def draw():
        for i, text in enumerate(texts):
            lines[i].value = f"{i + 1}. {inline(text)}"
            ups[i].tooltip, downs[i].tooltip = f"Move up: {plain(text)}", f"Move down: {plain(text)}"

    def mover(i, to):
        def move(_):
            texts[i], texts[to] = texts[to], texts[i]
            draw()
            changed()
            buttons = (ups, downs) if to < i else (downs, ups)          # the keyboard goes with the text
            next(side[to] for side in buttons if not side[to].disabled).focus()
        return move

    for i in range(len(texts)):
        ups[i].on_click(mover(i, i - 1))
        downs[i].on_click(mover(i, i + 1))
    draw()
    return VBox([HBox(row) for row in zip(ups, downs, lines, strict=True)]), lambda: list(texts)


def _line(text):
    return HTMLMath(inline(text), layout={"flex": "1 1 0", "min_width": "0"})
