"""IPython without a terminal, for student code in the sandbox (`inside.py`): runs cells and keeps what they show."""

import base64
import sys

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

MAX_OUTPUT = 200_000                                                    # characters of text of one cell
MAX_PICTURE = 2 << 20                                                   # characters of one picture (base64)


class Shown:
    """The outputs of one cell, in order: ["stream", name, text], ["display" | "result", {type: text}], ["error", …]."""

    def __init__(self, keep=True):
        self.items, self.room = [], MAX_OUTPUT if keep else 0

    def write(self, name, text):
        """Add printed text to a stream."""
        text = text[:max(0, self.room)]
        self.room -= len(text)
        if text and self.items and self.items[-1][:2] == ["stream", name]:
            self.items[-1][2].append(text)
        elif text:
            self.items.append(["stream", name, [text]])

    def show(self, kind, data):
        """Add a displayed object: its text, and its picture if it has one."""
        if self.room <= 0:
            return
        kept = {"text/plain": str(data.get("text/plain", ""))[:self.room]}
        picture = data.get("image/png")
        if isinstance(picture, bytes):
            picture = base64.b64encode(picture).decode()
        if picture and len(picture) <= MAX_PICTURE and len(self.items) < 50:
            kept["image/png"] = picture
        self.room -= len(kept["text/plain"]) + 100
        self.items.append([kind, kept])

    def fail(self, name, message, lines):
        """Add an error."""
        self.items.append(["error", str(name), str(message)[:2000], [str(line)[:20_000] for line in lines[:50]]])

    def finished(self):
        """The outputs as lists that can travel."""
        return [[*item[:2], "".join(item[2])] if item[0] == "stream" else item for item in self.items]


current = Shown(keep=False)                                           # the outputs of what runs now


class _Stream:
    """sys.stdout and sys.stderr of student code."""

    encoding = "utf-8"

    def __init__(self, name):
        self.name = name

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        current.write(self.name, text)
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False

    def writable(self):
        return True


class _Publisher(DisplayPublisher):
    """Where `display(...)` goes."""

    def publish(self, data, *args, **kwargs):
        current.show("display", data)

    def clear_output(self, wait=False):
        pass                                                            # what was shown stays


class _Hook(DisplayHook):
    """Where the value of a cell's last line goes."""

    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        current.show("result", format_dict)


class Shell(InteractiveShell):
    """IPython without a terminal."""

    def enable_gui(self, gui=None):
        """There is no window to open; `%matplotlib` asks for one."""

    def ask_exit(self):
        """`exit` in a cell ends nothing."""

    def _showtraceback(self, kind, error, lines):
        current.fail(kind.__name__, error, lines)

    def outputs_of(self, source):
        """Run a cell; its outputs."""
        global current
        current = Shown()
        try:
            self.run_cell(source, store_history=True)
            return current.finished()
        finally:
            current = Shown(keep=False)


def start():
    """The shell of this process; from now on what is printed goes to it."""
    sys.stdout, sys.stderr = _Stream("stdout"), _Stream("stderr")
    return Shell.instance(display_pub_class=_Publisher, displayhook_class=_Hook, colors="NoColor",
                          config=Config({"HistoryManager": {"enabled": False}}))
