"""A limit on how long one call of an answer may take, so that an endless loop is told and not waited for."""

import ast
import contextlib
import importlib
import re
import signal
import threading

from coursegrade.kit import services

SECONDS = 5         # the calls of a check take a fraction of a second


class TooLong(Exception):
    """A call did not come back in time."""


class _Alarm(BaseException):
    """Raised inside the call; not an Exception, so that an `except Exception:` in a loop does not swallow it."""


def limit(seconds=None):
    """A context that raises TooLong if its block runs for more than some seconds (SECONDS); handler and timer are put
    back afterwards.

    Signals reach the main thread alone, and Windows has no timer for them: elsewhere there is no limit.
    """
    here = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    return _Limit(seconds or SECONDS) if here else contextlib.nullcontext()


class _Limit:
    """The alarm rings again each second, if one is swallowed. On a busy machine a second has passed before the block
    is left: what rings then is not raised, as nothing would be there to catch it."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, self.ring), signal.setitimer(signal.ITIMER_REAL, self.seconds, 1)

    def ring(self, number, frame):
        while frame:
            if frame.f_code is _Limit.__exit__.__code__:
                return
            frame = frame.f_back
        raise _Alarm

    def __exit__(self, kind, error, trace):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before[0])
        signal.setitimer(signal.ITIMER_REAL, *self.before[1])
        if kind is _Alarm:
            raise TooLong from None


def in_time(answer):
    """A limit on the time of a call in this process. (A sandbox has its own.)"""
    return contextlib.nullcontext() if hasattr(answer, "_remote") else limit()


def import_for(answer):
    """Import what the source of an answer imports, and torch._dynamo, which torch.func and torch.optim load when they
    are first called: a slow import is no endless loop, and does not count as the answer's own time. (A sandbox has its
    own limit.)"""
    text, names = "" if hasattr(answer, "_remote") else services.source(answer), []
    with contextlib.suppress(SyntaxError):                              # a lambda's source may be half a line
        for node in ast.walk(ast.parse(text)):
            names += [node.module] if isinstance(node, ast.ImportFrom) else [
                alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if re.search(r"\b(func|optim)\.|(?<!autograd\.)\b(grad|grad_and_value|jac\w+|vjp|jvp|linearize)\(", text):
        names.append("torch._dynamo")
    for name in names:
        with contextlib.suppress(Exception):                            # the answer will meet it, and say so
            importlib.import_module(name)
