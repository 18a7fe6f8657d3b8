"""The outputs that a marked notebook gets: what cells showed, cleaned and bounded, and how test cells ended."""

import base64
import traceback

from nbformat.v4 import new_output

from coursegrade.sandbox.protocol import Violation, clean

MAX_TEXT, MAX_PICTURES = 2 << 20, 16 << 20                              # characters, of all outputs of a notebook
TEST_CELL = "<test cell>"                                               # the file name of what runs outside
UNSEEN = "A test that you do not see was not passed."
UNSHOWN = [["error", "NotShown", "What this cell shows cannot be shown here.", []]]


class Outputs:
    """Turns what came from a sandbox into outputs of a notebook, until its room for text and pictures is used up."""

    def __init__(self):
        self.room, self.room_for_pictures = MAX_TEXT, MAX_PICTURES

    def of(self, items):
        """The outputs of a cell as a notebook has them: text and PNG pictures only."""
        found = []
        for item in items if type(items) is list else []:
            match item:
                case ["stream", "stdout" | "stderr" as name, str(text)]:
                    found.append(new_output("stream", name=name, text=self._text(text)))
                case ["display" | "result", dict(data)]:
                    shown = {"text/plain": self._text(str(data.get("text/plain", "")))}
                    if picture := self._picture(data.get("image/png")):
                        shown["image/png"] = picture
                    found.append(new_output("display_data", data=shown))    # a result would be read as points
                case ["error", str(name), str(message), list(lines)]:
                    lines = [self._text(line) for line in lines if type(line) is str]
                    found.append(error_output(name, message, lines))
        return found[:200]

    def _text(self, text):
        text = clean(text, min(200_000, max(0, self.room)))
        self.room -= len(text)
        return text

    def _picture(self, text):
        """Base64 text that is a PNG picture and not too much; else None."""
        if type(text) is not str or len(text) > self.room_for_pictures:
            return None
        try:
            raw = base64.b64decode("".join(text.split()), validate=True)
        except ValueError:
            return None
        self.room_for_pictures -= len(text)
        return base64.b64encode(raw).decode() if raw.startswith(b"\x89PNG\r\n\x1a\n") else None


def failure(error, source):
    """The error output of a failed test cell, of what students see of it."""
    kind = type(error).__name__
    if isinstance(error, Violation):
        return error_output("Stopped", f"Your code was stopped: {error}.")
    if hasattr(error, "_render_traceback_"):
        return error_output(kind, str(error), error._render_traceback_())
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == TEST_CELL]
    shown = [source.split("\n")[line - 1].strip() for line in sorted(lines)[-1:]]
    return error_output(kind, str(error), [*shown, f"{kind}: {error}"])


def error_output(kind, message, lines=None):
    """An error as a notebook keeps it, cleaned."""
    return new_output("error", ename=clean(kind, 80, lines=False), evalue=clean(message, 20_000),
                      traceback=[clean(line, 20_000) for line in lines or [message]])


def verdict(passed, said=""):
    """All that people see of a hidden test; said: what a check told of the case that failed."""
    if passed:
        return new_output("stream", name="stdout", text="✓ The tests that you do not see were passed.\n")
    return error_output("NotPassed", UNSEEN, [UNSEEN, *said.splitlines()])
