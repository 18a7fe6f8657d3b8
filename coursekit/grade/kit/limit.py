"""A limit on how long one call of an answer may take, so that an endless loop is told and not waited for."""

import contextlib
import signal
import threading

SECONDS = 5         # the calls of a check take a fraction of a second


class TooLong(Exception):
    """A call did not come back in time."""


class _Alarm(BaseException):
    """Raised inside the call; not an Exception, so that an `except Exception:` in a loop does not swallow it."""


@contextlib.contextmanager
def limit(seconds=None):
    """Raise TooLong if the block runs for more than some seconds (SECONDS); handler and timer are put back afterwards.

    Signals reach the main thread alone, and Windows has no timer for them: elsewhere there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number, frame):
        raise _Alarm

    handler = signal.signal(signal.SIGALRM, ring)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds or SECONDS, 1)     # again each second, if one is swallowed
    try:
        yield
    except _Alarm:
        raise TooLong from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer)
