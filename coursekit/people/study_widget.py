"""A study as boxes and buttons in a notebook, and what stands in their place on a page without a kernel.

A click does what `agree` and `answer` do from Python; what they refuse is said below. What stays on the page is not
made anew: so the keyboard keeps its place. A click that comes at once after another one, as the second of a double
click does, is no answer to the next page.
"""

import time

from coursekit.show.html import escape

PAUSE = 0.4                                                 # seconds after a click in which another one does nothing


def study_widget(study):
    """The study as an ipywidgets box: its page, and below it consent or the inputs of its question."""
    import ipywidgets as w

    box, head, note = w.VBox(), w.HTML(), w.HTML()
    nickname = w.Text(placeholder="may stay empty", description="Nickname")
    agree = w.Button(description="I have read this and agree: begin", layout=w.Layout(width="auto"))
    ready = 0.0

    def refresh():
        head.value, note.value = f'<div aria-live="polite">{study.static().html}</div>', ""
        box.children = [head, *([] if study.done else inputs() if study.rows else [nickname, agree]), note]

    def act(action, value):
        nonlocal ready
        if time.monotonic() < ready:
            note.value = '<p role="alert">That click came too soon after the last one, and was not counted.</p>'
            return
        try:
            action(value)
        except (OSError, ValueError) as error:
            note.value = f'<p role="alert">{escape(str(error))}</p>'
        ready = time.monotonic() + PAUSE                    # from the end: clicks wait while a model is trained

    inputs = study._inputs(lambda value: act(study.answer, value))
    agree.on_click(lambda _: act(study.agree, nickname.value))
    study.when_changed.append(refresh)
    refresh()
    return box


def side_buttons(sides, answer):
    """A function that gives the buttons of a choice between left and right; a click answers with one of `sides`."""
    import ipywidgets as w

    buttons = [w.Button(description=words, layout=w.Layout(width="auto"))
               for words in ("I trust the left one", "I trust the right one", "I cannot tell")]
    for side, button in zip(sides, buttons, strict=True):
        button.on_click(lambda _, side=side: answer(side))
    row = w.HBox(buttons)
    return lambda: [row]


def word_boxes(words, answer):
    """A function that gives a box to tick for each of words(), and the button that answers with those ticked."""
    import ipywidgets as w

    grid = w.GridBox(layout=w.Layout(grid_template_columns="repeat(auto-fill, 12em)"))
    button = w.Button(description="Remove the ticked words and train again", layout=w.Layout(width="auto"))
    button.on_click(lambda _: answer([box.description for box in grid.children if box.value]))

    def inputs():
        grid.children = [w.Checkbox(description=word, indent=False, layout=w.Layout(width="auto")) for word in words()]
        return [grid, button]

    return inputs


def live_or_still(thing, still, advice="", **kwargs):
    """What a notebook gets of a thing with a `widget`: that, and its still picture, an Html, with advice where there is
    no ipywidgets."""
    try:
        live, advice = thing.widget._repr_mimebundle_(**kwargs), ""
    except ModuleNotFoundError:
        live = {}
    return live | {"text/html": still.html + advice, "text/plain": still.text + advice}
