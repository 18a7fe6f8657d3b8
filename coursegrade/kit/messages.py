"""What a check says when it is not passed: fields, put into words in one place."""

import textwrap


class CheckFailed(AssertionError):
    """An answer is not right (yet). Its text is for the student: notebooks show it without a stack trace.

    For nbgrader it is an error like any other, so the cell gets no points.

    advice: the one useful sentence; it stands right under the headline. headline: what happened, in a line. rows: pairs
    (title, text) of what the check saw. kind: "wrong", "stopped", "endless", "empty", "forbidden", "changed", or
    "earlier" for one that names another question. case: (label, arguments) of the case that failed, if it was one.
    in_full: where a case is not to be shown to everybody, and this tells its label alone: what tells it whole.

    >>> failure = CheckFailed("Rows sum to one.", "✗ softmax is not right yet (two rows).", [("got", "4")])
    >>> print(failure)
    ✗ softmax is not right yet (two rows).
      Rows sum to one.
    <BLANKLINE>
      got       4
    >>> failure._render_traceback_()[1]
    '  Rows sum to one.'
    """

    def __init__(self, advice="", headline="", rows=(), kind="wrong", in_full=None):
        super().__init__(advice)
        self.advice, self.headline, self.rows, self.kind = advice, headline, list(rows), kind
        self.in_full, self.case = in_full, None

    def __str__(self):
        if not self.headline:
            return self.advice
        lines = [self.headline, *([wrapped(self.advice)] if self.advice else []), *([""] if self.rows else [])]
        return "\n".join(lines + [line for row in self.rows for line in indented(*row)])

    def _render_traceback_(self):
        """What IPython prints in place of a stack trace: the lines of the message."""
        return str(self).splitlines()


def wrapped(text):
    """Advice, in lines of moderate length."""
    return textwrap.fill(text, 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def indented(title, text):
    """A row of a message, `title` in a column of its own, and the text's other lines under the first."""
    first, *more = str(text).splitlines() or [""]
    return [f"  {title:<10}{first}", *(" " * 12 + line for line in more)]


def named(name, text):
    """"name = text", the text's other lines under its first."""
    return f"{name} = " + text.replace("\n", "\n" + " " * (len(name) + 3))
