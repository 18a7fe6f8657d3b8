"""A call that does not come back is ended, and the process's own alarm is put back."""

import signal
import sys
import threading

import pytest
import torch

from coursegrade.kit import limit as module
from coursegrade.kit.limit import TooLong, limit

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer for signals here")


def test_an_endless_loop_is_ended_even_if_it_swallows_exceptions(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.05)
    with pytest.raises(TooLong), limit():
        while True:
            try:
                [0].index(0)
            except Exception:
                pass


def test_an_alarm_that_rings_while_the_block_is_left_is_not_raised_again():
    """As it does on a busy machine, or where what was built takes a second to be freed."""
    def rings_at_the_exit(frame, event, argument):
        if frame.f_code.co_name == "__exit__":
            sys.settrace(None)
            signal.raise_signal(signal.SIGALRM)

    handler, trace = signal.getsignal(signal.SIGALRM), sys.gettrace()
    try:
        with pytest.raises(TooLong), limit(1000):
            sys.settrace(rings_at_the_exit)
            signal.raise_signal(signal.SIGALRM)
    finally:
        sys.settrace(trace)
    assert signal.getsignal(signal.SIGALRM) is handler and signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_handler_and_timer_are_put_back():
    handler = signal.signal(signal.SIGALRM, lambda *_: None)
    before = signal.setitimer(signal.ITIMER_REAL, 1000)
    try:
        mine = signal.getsignal(signal.SIGALRM)
        with limit():
            assert signal.getsignal(signal.SIGALRM) is not mine
        assert signal.getsignal(signal.SIGALRM) is mine
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 900
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)
        signal.signal(signal.SIGALRM, handler)


def test_outside_the_main_thread_there_is_no_limit_and_no_error():
    handler, seen = signal.getsignal(signal.SIGALRM), []

    def inside():
        with limit():
            seen.append(signal.getsignal(signal.SIGALRM) is handler)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [True]


def test_what_an_answer_loads_late_is_loaded_before_its_time_runs(monkeypatch):
    def trains(weights):
        return torch.optim.Adam(weights)

    def adds(x):
        return x + 1

    loaded = []
    monkeypatch.setattr(module.importlib, "import_module", loaded.append)
    module.import_for(adds)
    assert not loaded
    module.import_for(trains)
    assert loaded == ["torch._dynamo"]
