"""A sandbox that goes on: whenever its process is lost, another is started, and takes the same steps again."""

import contextlib
import dataclasses
import os
import stat
import time
from pathlib import Path

from coursegrade.marking.outputs import UNSHOWN
from coursegrade.sandbox.outside import Session
from coursegrade.sandbox.protocol import Violation

MAX_FILES, MAX_BYTES = 500, 50 << 20                                    # what a submission may bring along


@dataclasses.dataclass
class Step:
    """What was done inside: a cell was run, or, where a hidden test stands, the names were kept (source: None)."""

    source: str | None
    survived: bool = False                                              # the sandbox did


class Replay:
    """The sandbox of a notebook: what is taken there are steps, and `reach` makes sure that there is a process which
    has taken so many of them, but for those that brought one down.

    files: {relative path: bytes} that came with the notebook. kind, limits: of the sandbox. `session` is the one of
    now; `given_up` is None, or why there was none to be had any more, when that was first so: (state, words).
    """

    def __init__(self, files, kind, limits):
        self.files, self.kind, self.limits = files, kind, limits
        self.session, self.starts, self.until = None, 0, time.monotonic() + 2 * limits.start
        self.steps, self.taken = [], 0                                  # taken: how many by the process of now
        self.given_up, self._starved = None, False
        self.renewals = limits.submission / 2                           # seconds to replace processes that were lent to

    def begin(self, seconds):
        """From now on there are so many seconds, and all restarts."""
        self.starts = 1
        self._has(seconds)

    def take(self, source):
        """Run a cell, or, for None, keep the names as they are; return outputs as they came, UNSHOWN in their place if
        they cannot travel. Raises `Violation` if the process is lost, or none is to be had."""
        self.reach()
        self.steps.append(Step(source))
        return self._next()

    def reach(self, steps=None):
        """Be where so many steps lead (None: all). What was lent to a process may be kept there, so it is replaced: at
        nobody's cost, within bounds. Raises `Violation` if none is to be had."""
        steps, began = len(self.steps) if steps is None else steps, time.monotonic()
        if lent := bool(self.session and self.session.has_lent):
            self.session.stop()
            self.starts -= 1
        if time.monotonic() > self.until:
            self._give_up("timed out", f"the {self.limits.submission:.0f} seconds of this notebook are over")
        while not (self.alive and self.taken >= steps):
            if not self.alive:
                self._start()
            with contextlib.suppress(Violation):
                while self.taken < steps:
                    if self.steps[self.taken].survived:
                        self._next()
                    else:
                        self.taken += 1
        if lent:
            extra = min(self.renewals, time.monotonic() - began)
            self.renewals -= extra
            self._has(self.until - time.monotonic() + extra)

    def restore(self, steps):
        """Make the names what they were where so many steps lead; the last of them kept these."""
        self.session.ask("restore", steps - 1)

    @property
    def was_starved(self):
        """Was it slow because others had the processors?"""
        return self._starved or bool(self.session and self.session.starved)

    @property
    def alive(self):
        """Is there a process?"""
        return bool(self.session and self.session.alive)

    def stop(self):
        """End it."""
        if self.session:
            self._starved |= self.session.starved
            self.session.stop()

    def _has(self, seconds):
        self.until = time.monotonic() + seconds
        if self.session:
            self.session.until = self.until

    def _start(self):
        if self.starts > self.limits.restarts:
            self._give_up("crashed", f"its sandbox was started {self.starts} times, and stopped each time")
        self.stop()
        self.starts, self.taken = self.starts + 1, 0
        self.session = Session(self.kind, self.limits, self.until)
        for name, content in self.files.items():
            self.session.ask("file", name, content)

    def _next(self):
        step, place = self.steps[self.taken], self.taken
        self.taken, step.survived, outputs = place + 1, False, []
        try:
            if step.source is None:
                self.session.ask("keep", place)
            else:
                outputs = self.session.ask("cell", step.source, seconds=self.limits.cell)
        except Exception:                                               # but not a Violation
            outputs = UNSHOWN
        step.survived = True
        return outputs

    def _give_up(self, state, why):
        self.given_up = self.given_up or (state, why)
        raise Violation(why)


def files_in(folder):
    """(relative path, bytes) of the plain files that came with a notebook: no notebooks, links or hidden files."""
    size, count = 0, 0
    for here, folders, names in os.walk(folder) if folder else ():
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(here, name)
            if name.startswith(".") or name.endswith(".ipynb") or not stat.S_ISREG(path.lstat().st_mode):
                continue
            size, count = size + path.lstat().st_size, count + 1
            if size > MAX_BYTES or count > MAX_FILES:
                return
            yield str(path.relative_to(folder)), path.read_bytes()
