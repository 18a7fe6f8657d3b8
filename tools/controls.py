"""Try every `interact` of a notebook over its range. Runs in the notebook's kernel: `install()` before the first cell.

ipywidgets shows an exception in a callback beside the control and goes on, so a broken setting is easily missed. Here
`interact`, `interact_manual`, `interactive` and `interactive_output` first call the function for the settings in
`settings`, and the first that fails stops the notebook with the control, the setting and the error; then they do what
they always do. `again()`, after the last cell, tries them all once more, at their ends: a later cell may have given
another meaning to a name that a function reads.
"""

import itertools
import random
import time
from types import SimpleNamespace

import ipywidgets
from IPython.utils.capture import capture_output
from ipywidgets.widgets import interaction

# Settings of one control and steps of one slider: in most runs of the tests, and where everything is tried.
MOST_SETTINGS, STEPS = (8, 24), (3, 5)

counted = SimpleNamespace(controls=0, calls=0, seconds=0.0, most=MOST_SETTINGS[0], steps=STEPS[0])
recorded = []                     # (number, function, widgets) of every control so far
real = SimpleNamespace(**{name: getattr(interaction, name) for name in (
    "interact", "interact_manual", "interactive", "interactive_output")})


def values(widget):
    """The values to try of one widget: every option, both truths, or ends, middle and some steps of a slider."""
    if isinstance(widget, ipywidgets.SelectMultiple):
        options = list(widget._options_values)
        return [(), *((option,) for option in options), tuple(options)]
    if hasattr(widget, "_options_values"):
        return list(widget._options_values)
    if isinstance(widget.value, bool):
        return [False, True]
    if isinstance(widget.value, tuple) and hasattr(widget, "min"):                 # a range: all, nothing, as it stands
        return [(widget.min, widget.max), (widget.min, widget.min), (widget.max, widget.max), widget.value]
    if isinstance(widget.value, (int, float)) and hasattr(widget, "min") and hasattr(widget, "max"):
        steps = {round((widget.max - widget.min) / widget.step * i / (counted.steps - 1)) for i in range(counted.steps)}
        grid = [min(widget.max, widget.min + step * widget.step) for step in sorted(steps)] + [widget.max]
        if isinstance(widget, ipywidgets.FloatLogSlider):
            grid = [widget.base ** power for power in grid]
        return list(dict.fromkeys([widget.value, *grid]))
    if isinstance(widget.value, str):
        return list(dict.fromkeys([widget.value, "", "a", "ünïcode 🙂 <b>"]))
    return [widget.value]


def settings(widgets):
    """The settings to try of several widgets: all combinations, or, if these are too many, the lowest and the highest
    of all, each widget alone over its range, and a fixed random choice of combinations."""
    ranges = [values(widget) for widget in widgets]
    combinations = 1
    for tried in ranges:
        combinations *= len(tried)
    if combinations <= counted.most:
        return list(itertools.product(*ranges))
    first = tuple(widget.value for widget in widgets)
    alone = [first[:i] + (value,) + first[i + 1:] for i, tried in enumerate(ranges) for value in tried]
    chosen = [first, tuple(tried[0] for tried in ranges), tuple(tried[-1] for tried in ranges), *alone]
    draw = random.Random(0)
    while len(set(map(repr, chosen))) < counted.most:
        chosen.append(tuple(draw.choice(tried) for tried in ranges))
    return list({repr(setting): setting for setting in chosen}.values())


def ends(widgets):
    """Two of the settings: the first value of every widget, and the last."""
    ranges = [values(widget) for widget in widgets]
    chosen = [tuple(tried[i] for tried in ranges) for i in (0, -1)]
    return list({repr(setting): setting for setting in chosen}.values())


def try_all(function, widgets):
    """Call `function` for every setting of its widgets (a dict, by argument), whose labels must differ: a browser looks
    for the option to mark by its label."""
    counted.controls += 1
    for name, widget in widgets.items():
        labels = getattr(widget, "_options_labels", ())
        if twice := [label for label in labels if labels.count(label) > 1]:
            raise AssertionError(f"control {counted.controls}, {function.__name__}: options of {name!r} share the label"
                                 f" {twice[0]!r}, and a browser marks the first of them: give each one of its own")
    recorded.append((counted.controls, function, widgets))
    _call(*recorded[-1], settings)


def again(every=False):
    """Call every function of the notebook once more, with the names as they stand now: at its ends, or everywhere."""
    for control in recorded:
        _call(*control, settings if every else ends, " after the last cell")


def _call(number, function, widgets, which, when=""):
    start = time.perf_counter()
    for setting in which(list(widgets.values())):
        arguments = dict(zip(widgets, setting, strict=True))
        try:
            with capture_output():
                function(**arguments)
        except Exception as error:
            said = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
            raise AssertionError(f"control {number}{when}, {function.__name__}({said}): "
                                 f"{type(error).__name__}: {error}") from error
        counted.calls += 1
    counted.seconds += time.perf_counter() - start


def tried_first(interact):
    """In place of an `interact`: a function call, or a decorator with or without arguments."""
    def stand_in(function=None, **abbreviations):
        if function is None:
            return lambda decorated: stand_in(decorated, **abbreviations)
        try_widgets_of(function, abbreviations)
        return interact(function, **abbreviations)

    stand_in.options = lambda **options: tried_first(interact.options(**options))
    return stand_in


def try_widgets_of(function, abbreviations):
    """Try the widgets that `interactive` makes of these abbreviations."""
    made = real.interactive(function, {"manual": True}, **abbreviations)     # manual: builds the widgets, calls nothing
    try_all(function, {widget._kwarg: widget for widget in made.kwargs_widgets})


def try_interactive(function, options={}, **abbreviations):
    """In place of `interactive`: the real widget, once all settings have passed."""
    try_widgets_of(function, abbreviations)
    return real.interactive(function, options, **abbreviations)


def try_interactive_output(function, controls):
    """In place of `interactive_output`."""
    try_all(function, controls)
    return real.interactive_output(function, controls)


def install(every=False):
    """Put the four stand-ins where notebooks import the real ones from; every: try more settings of each control."""
    counted.most, counted.steps = MOST_SETTINGS[every], STEPS[every]
    for place in (ipywidgets, ipywidgets.widgets, interaction):
        place.interact, place.interact_manual = tried_first(real.interact), tried_first(real.interact_manual)
        place.interactive = try_interactive
        place.interactive_output = try_interactive_output
