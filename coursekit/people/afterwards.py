"""What would give the answers of a study away, and so waits in the notebook until they are there."""

from functools import cached_property

from coursekit.show.html import Html

from .studies import ModelChoiceStudy, WordRemovalStudy
from .study_widget import live_or_still


class Afterwards:
    """`shown`, an Html, waits in a live notebook until all `studies` are over. A page without a kernel shows it.

    A study is over when all its questions are answered, or when somebody presses the button that says not to take part.

    >>> from coursekit.show import table
    >>> Afterwards(table([["raw", 0.549]], ["program", "right, elsewhere"], ".1%"))
    program  right, elsewhere
    raw                 54.9%
    """

    def __init__(self, shown: Html, *studies: ModelChoiceStudy | WordRemovalStudy):
        self.shown, self.studies = shown, studies

    @cached_property
    def widget(self):
        """What waits, or a line that says so and a button, as an ipywidgets box."""
        import ipywidgets as w

        box, page = w.VBox(), w.HTML()
        skip = w.Button(description="I do not take part: show it", layout=w.Layout(width="auto"))
        waits = "<p>This waits until you have answered what is asked above.</p>"

        def refresh():
            over = all(study.over for study in self.studies)
            page.value = f'<div aria-live="polite">{self.shown.html if over else waits}</div>'
            box.children = [page] if over else [page, skip]

        skip.on_click(lambda _: [study.decline() for study in self.studies])
        for study in self.studies:
            study.when_over.append(refresh)
        refresh()
        return box

    def _repr_mimebundle_(self, **kwargs):
        return live_or_still(self, self.shown, **kwargs)

    def __repr__(self):
        return self.shown.text
