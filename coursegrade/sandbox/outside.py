"""The grader's end of the conversation: a `Session` with a sandbox, and the stand-ins for what a student defined.

A stand-in (`Handle`) behaves like the object in the sandbox for calls, indexing, iteration, `len` and public
attributes, and for nothing else: comparisons, arithmetic and conversions never ask the student's side, so there is
nothing for it to lie about. What comes back is data wherever it can be.

    answer(x)                 arguments go in as data, functions among them as callbacks; exceptions come back
    answer._remote.source()   what only a check asks for: source, named, vjp, back, watch, lent, … (see kit/services.py)
"""

import itertools
import secrets
import time

from coursegrade.sandbox.lender import Lender
from coursegrade.sandbox.process import GraderError, Sandbox
from coursegrade.sandbox.protocol import ERRORS, CannotTravel, Violation, clean, decode, describe, pack, unpack

MAX_CALLBACKS = 20_000                                                  # during one request
MAX_FUNCTIONS = 10_000                                                  # passed in during one cell


class Session:
    """A sandbox that has said hello.

    `until` is the time (time.monotonic()) at which everything must be over; each request also has its own seconds.
    `starved` becomes true when one of them used up its seconds, and waited for others to leave it a processor: for
    a good part of them, and longer than all its processes had one, which may have kept each other waiting. Asleep it
    waits for none.
    `has_lent` becomes true when functions were lent to it: it may have kept what these returned.
    """

    def __init__(self, kind, limits, until):
        self.limits, self.until, self.starved, self.has_lent = limits, until, False, False
        self.functions, self.raised = [], []
        self.sandbox = Sandbox(kind, limits)
        try:
            hello, *_ = unpack(lambda n: self.sandbox.read(n, time.monotonic() + limits.start))
            self._insist(hello == "hello", "it said something else than hello")
            self.sandbox.settle()
        except Violation as violation:
            self.sandbox.stop()
            raise GraderError(f"the sandbox ({kind}) did not start: {violation}. {self.sandbox.complaint()}") from None

    def ask(self, kind, *values, seconds=None):
        """Send a request, serve the callbacks that come, return what the reply holds or raise the error it names."""
        seconds = seconds or self.limits.call
        until = min(self.until, time.monotonic() + seconds + 1)         # inside, the alarm rings a second earlier
        request, start = secrets.token_hex(8), time.monotonic()
        used, waited = self.sandbox.used, self.sandbox.waited
        outer, self.until = self.until, until
        try:
            self.sandbox.write(pack(request, kind, (seconds, *values), self._remote), until)
            for calls in itertools.count(1):
                number, reply, tree, buffers = self._read(lambda read: unpack(read))
                self._insist(number == request, "it answered another question")
                self._insist(reply in ("result", "error", "callback"), "a reply of no kind")
                value = self._read(lambda _: decode(tree, buffers, self._local))
                if reply == "result":
                    return value
                if reply == "error":
                    raise self._error(value)
                self._call_back(request, value, calls)
        finally:
            self.until, took = outer, time.monotonic() - start
            used, waited = self.sandbox.used - used, self.sandbox.waited - waited
            self.starved |= took > 0.9 * seconds and waited - used > took / 6

    def name(self, name):
        """The value of a name in the student's namespace, or a stand-in. KeyError if there is none."""
        reply = self.ask("name", name)
        self._insist(type(reply) is tuple and len(reply) == 2, "a reply of another form")
        if reply[0] is not True:
            raise KeyError(name)
        value = reply[1]
        if isinstance(value, Handle):
            object.__setattr__(value, "__name__", name)
        return value

    def among(self, names, found):
        """Those of the names that the sandbox says it has found."""
        self._insist(type(found) is list, "no list of names")
        return [name for name in found if name in names]

    def forget_functions(self):
        """From here on no function that was passed in can be called any more."""
        self.functions, self.raised = [None] * len(self.functions), [None] * len(self.raised)

    @property
    def alive(self):
        """Is there still a process at the other end?"""
        return self.sandbox.alive

    def stop(self):
        """End the sandbox; nothing of it is left."""
        self.sandbox.stop()

    def _read(self, how):
        """how(read), where a violation also ends the sandbox."""
        try:
            return how(lambda n: self.sandbox.read(n, self.until))
        except BaseException:
            self.sandbox.stop()
            raise

    def _insist(self, condition, what):
        if not condition:
            self.sandbox.fail(what)

    def _remote(self, thing):
        if isinstance(thing, Handle):
            self._insist(thing._session is self, "what this check held was lost when the sandbox was started again")
            return ["inside", thing._number]
        if not callable(thing):
            raise CannotTravel(f"a check cannot pass a {type(thing).__name__} to an answer: pass numbers, strings, "
                               "arrays, containers or functions")
        if len(self.functions) >= MAX_FUNCTIONS:
            raise CannotTravel(f"a check can pass at most {MAX_FUNCTIONS} functions to answers")
        self.functions.append(thing)
        return ["outside", len(self.functions) - 1]

    def _local(self, node):
        match node:
            case ["inside", int(number), bool(can_be_called), str(name)]:
                return (CallableHandle if can_be_called else Handle)(self, number, clean(name, 80, lines=False))
            case ["outside", int(number)] if 0 <= number < len(self.functions) and self.functions[number] is not None:
                return self.functions[number]
        raise Violation("a reference to nothing")

    def _error(self, value):
        match value:
            case [str(name), str(message), serial, str(line)]:
                if type(serial) is int and 0 <= serial < len(self.raised) and self.raised[serial] is not None:
                    return self.raised[serial]                          # the check's own function raised it
                error = ERRORS.get(name, RuntimeError)(clean(message, 400, lines=False))
                error._line = clean(line, 200, lines=False)
                return error
        self.sandbox.fail("an error of another form")

    def _call_back(self, request, value, calls):
        match value:
            case (int(number), tuple(args), dict(kwargs)) if 0 <= number < len(self.functions):
                pass
            case _:
                self.sandbox.fail("a callback of another form")
        self._insist(all(type(key) is str for key in kwargs), "arguments without names")
        try:
            if calls > MAX_CALLBACKS:
                raise TimeoutError(f"it called the check's functions more than {MAX_CALLBACKS:,} times")
            if self.functions[number] is None:
                raise RuntimeError("this function belonged to another check")
            frame = pack(request, "returned", self.functions[number](*args, **kwargs), self._remote)
        except Exception as error:
            serial = None
            if not isinstance(error, StopIteration):                    # why not: see protocol.ERRORS
                self.raised.append(error.with_traceback(None))          # which would keep the arguments
                serial = len(self.raised) - 1
            frame = pack(request, "raised", (*describe(error), serial), self._remote)
        self.sandbox.write(frame, self.until)


class Handle:
    """A stand-in for an object that stays in the sandbox."""

    def __init__(self, session, number, kind):
        vars(self).update(_session=session, _number=number, _kind=kind, __name__=kind)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"{name} is not public")
        return self._session.ask("attribute", self, name)

    def __setattr__(self, name, value):
        raise AttributeError("a check cannot change what a student defined")

    def __getitem__(self, key):
        return self._session.ask("item", self, key)

    def __len__(self):
        length = self._session.ask("length", self)
        if type(length) is not int or not 0 <= length < 2 ** 62:
            raise TypeError("a length must be a whole number")
        return length

    def __bool__(self):
        return True

    def __iter__(self):
        reply = self._session.ask("iterate", self)
        if type(reply) is not tuple or len(reply) != 1 or not isinstance(reply[0], Handle):
            raise TypeError(f"a {self._kind} cannot be iterated over")
        iterator = reply[0]
        while True:
            reply = self._session.ask("next", iterator)
            if type(reply) is not tuple or len(reply) != 2 or type(reply[0]) is not bool:
                raise TypeError(f"a {self._kind} cannot be iterated over")
            if not reply[0]:
                return
            yield reply[1]

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<{self._kind}>"

    @property
    def _remote(self):
        return Remote(self._session, self)


class CallableHandle(Handle):
    """A stand-in for a function, a class, a bound method, a module with a `forward`."""

    def __call__(self, *args, **kwargs):
        return self._session.ask("call", self, args, kwargs)


class Remote:
    """What a check may ask of an answer besides calling it; `kit/services.py` says what each of these means."""

    def __init__(self, session, handle):
        self._session, self._handle = session, handle

    def source(self):
        """The source of the student's function, "" if there is none to be had."""
        text = self._session.ask("source", self._handle)
        return clean(text, 20_000) if type(text) is str else ""

    def named(self, names):
        """Which of the named functions the answer names."""
        return self._session.among(names, self._session.ask("named", self._handle, list(names)))

    def seed(self, number=0):
        """Set the seeds of random, NumPy and torch in the sandbox."""
        self._session.ask("seed", number)

    def vjp(self, args, cotangent):
        """Gradients with respect to the arguments; autograd runs inside, and only numbers come out."""
        found = self._session.ask("vjp", self._handle, tuple(args), cotangent)
        if type(found) is not list or len(found) != len(args):
            raise TypeError("gradients must be a list, one for each argument")
        return found

    def back(self, args, positions):
        """(The result, [the arguments at `positions` as the answer left them])."""
        found = self._session.ask("back", self._handle, tuple(args), list(positions))
        if type(found) is not tuple or len(found) != 2 or type(found[1]) is not list or len(found[1]) != len(positions):
            raise TypeError("a result and the changed arguments were expected")
        return found

    def beside(self, name):
        """The student's function of that name, as the answer sees it; None if there is none."""
        found = self._session.ask("beside", self._handle, name)
        if not isinstance(found, CallableHandle):
            return None
        object.__setattr__(found, "__name__", name)
        return found

    def lent(self, functions):
        """A context manager: while it is open, the student's functions of these names are answered from outside. It
        gives the list of what was refused."""
        return Lent(self._session, self._handle, functions)

    def watch(self, names):
        """A context manager; its `.calls` lists which of the named functions were called in the sandbox meanwhile."""
        return Watch(self._session, self._handle, list(names))


class Watch:
    """See `Remote.watch`."""

    def __init__(self, session, handle, names):
        self._session, self._handle, self._names, self.calls = session, handle, names, []

    def __enter__(self):
        self._session.ask("watch", self._handle, self._names)
        return self

    def __exit__(self, kind, error, trace):
        if kind is None or issubclass(kind, Exception):
            self.calls = self._session.among(self._names, self._session.ask("watched"))


class Lent:
    """See `Remote.lent`. What is lent takes data alone, answers here, and only until this is closed."""

    def __init__(self, session, handle, functions):
        self._session, self._handle, self._functions = session, handle, functions
        self._lender = Lender(functions)

    def __enter__(self):
        self._session.has_lent = True
        self._session.ask("lend", self._handle, {name: self._asks(name) for name in self._functions})
        return self._lender.refused

    def __exit__(self, kind, error, trace):
        self._lender.stop()
        if kind is None or issubclass(kind, Exception):
            self._session.ask("take_back")

    def _asks(self, name):
        return lambda *args, **kwargs: self._lender.call(name, args, kwargs, self._session.until - 1)
