"""The grader's own functions, run on arguments that a student chose: in a process of their own, which may be lost.

    lender = Lender({"perturbed": reference})
    lender.call("perturbed", (["a", "b"], [1, 0]), {}, until=time.monotonic() + 10)
    lender.stop()

The process is a copy of this one, with little more memory than that. It takes data, answers one call after another, and
is ended when one takes too long or uses too much; the next call then has a new one. Copies forget: whatever a function
keeps of its arguments is gone with its process. No code of a student's comes here, nor a stand-in for any.
"""

import contextlib
import io
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from pathlib import Path

from coursegrade.kit.services import NotAsked
from coursegrade.sandbox.protocol import ERRORS, CannotTravel, decode, describe, pack, unpack

SECONDS = 5.0                                                           # of one call; an answer's call may end sooner
MEMORY = 1 << 30                                                        # bytes beyond what this process has
FORK = multiprocessing.get_context("fork")                              # the functions need not be known by a name


class Lender:
    """Answers calls of {name: function} until it is stopped, or one raised NotAsked, as `refused` says then: who could
    go on asking would find out what else the course's own code asks there."""

    def __init__(self, functions):
        self.functions, self.process, self.pipe, self.over, self.refused = functions, None, None, False, []

    def call(self, name, args, kwargs, until):
        """What the function of this name returns, or an error of a kind that may cross, its own or one of these:
        RuntimeError when the lender has been stopped, LookupError after a refusal, TypeError for what is no data,
        MemoryError, and TimeoutError at `until` (time.monotonic()), or after SECONDS."""
        if self.over:
            raise RuntimeError(f"{name} was lent for one test, which is over")
        if self.refused:
            raise LookupError(self.refused[0])
        try:
            frame = pack(name, "call", (args, kwargs), _no_data)
        except CannotTravel as error:
            raise TypeError(f"{name} is answered by the grader here: {error}") from None
        if time.monotonic() >= until:
            raise TimeoutError(f"there was no time left for {name}")
        if not self.process:
            self._start()
        try:
            self.pipe.send_bytes(frame)
            if not self.pipe.poll(max(0, min(SECONDS, until - time.monotonic()))):
                raise TimeoutError(f"{name} took too long")
            reply = self.pipe.recv_bytes()
        except (EOFError, ConnectionError):
            self._end()
            raise MemoryError(f"{name} used too much") from None
        except BaseException:                                           # late, or the test itself is stopped
            self._end()
            raise
        _, kind, tree, buffers = unpack(io.BytesIO(reply).read)
        value = decode(tree, buffers, None)
        if kind == "refused":
            self.refused.append(value[1])
        if kind != "returned":
            raise ERRORS.get(value[0], RuntimeError)(value[1])
        return value

    def stop(self):
        """From now on every call is an error."""
        self.over = True
        self._end()

    def _start(self):
        self.pipe, theirs = FORK.Pipe()
        self.process = FORK.Process(target=_serve, args=(self.functions, self.pipe, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def _end(self):
        if self.process:
            self.process.kill()
            self.process.join()
            self.pipe.close()
            self.process = None


def _serve(functions, ours, pipe):
    """In the copy: answer calls until the pipe ends, which it does with the process at its other end."""
    ours.close()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    limit_to(resource.RLIMIT_DATA, held() + MEMORY)
    limit_to(resource.RLIMIT_CPU, 30)                                   # should nobody be left to end it
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)                                        # others do not outlive a fork
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        while True:
            try:
                name, _, tree, buffers = unpack(io.BytesIO(pipe.recv_bytes()).read)
            except EOFError:
                return
            pipe.send_bytes(_answer(functions[name], *decode(tree, buffers, None)))


def held():
    """Bytes of memory that this process holds, as the kernel's limit on data counts them."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")


def limit_to(what, most):
    """Lower one of this process's limits, unless it is lower already."""
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def _answer(function, args, kwargs):
    try:
        return pack("", "returned", function(*args, **kwargs), _no_data)
    except Exception as error:
        return pack("", "refused" if isinstance(error, NotAsked) else "raised", describe(error), None)


def _no_data(thing):
    raise CannotTravel("it takes and returns data alone")
