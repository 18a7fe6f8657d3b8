"""The program inside the sandbox: runs a student's cells, keeps what they defined, and answers the grader's questions.

Nothing here is trusted. Student code shares this process and can change all of it; what that gains it is to send other
bytes, and `protocol.py` reads those without faith. So this file only has to be right for honest work.

A request is one frame `(kind, values)`; the reply is "result" or "error" with the same request number. While a reply is
awaited, a function that came from outside may be called: that is a "callback" frame, and the next frame is its result,
or another request, which is served first.
"""

import json
import operator
import os
import signal
import sys
import threading
from pathlib import Path

from coursegrade.kit import services
from coursegrade.sandbox import lockdown, protocol, shell


class Conversation:
    """The pipes, the objects that the grader holds handles to, and what it may ask: a method `do_…` for each kind, or a
    function of kit/services.py: seed, named, vjp, back, beside."""

    def __init__(self, reading, writing, shell):
        self.reading, self.writing, self.shell = reading, writing, shell
        self.objects, self.requests, self.lock = [], [], threading.RLock()
        self.watching, self.talking, self.late = None, False, False
        self.kept, self.lent = {}, []

    def serve_forever(self):
        """Say hello, then answer request after request."""
        self.send("hello", "result", None)
        while True:
            self.serve(*protocol.unpack(self.read))

    def serve(self, request, kind, tree, buffers):
        """Answer one request."""
        self.requests.append(request)
        try:
            values = protocol.decode(tree, buffers, self.local)
            do = getattr(self, f"do_{kind}", None) or getattr(services, kind)
            reply = "result", self.timed(do, *values)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            reply = "error", self.report(error)
        try:
            self.send(request, *reply)
        except Exception as error:                                      # the result cannot travel
            self.send(request, "error", self.report(error))
        self.requests.pop()

    def report(self, error):
        """What the grader is told of an exception: its type, message, own number of it, and line of the student's."""
        line = services.line_of(error, self.shell.user_ns)
        return [*protocol.describe(error), getattr(error, "_callback", None), line]

    def timed(self, do, seconds, *values):
        """do(*values), interrupted by a TimeoutError: honest loops without an end cost a call, not the process."""
        outermost, talking = len(self.requests) == 1, self.talking
        if outermost:
            self.late = False
            signal.signal(signal.SIGALRM, self.alarm)
            signal.setitimer(signal.ITIMER_REAL, seconds)
        self.talking = False
        try:
            return do(*values)
        finally:
            self.talking = talking
            if outermost:
                signal.setitimer(signal.ITIMER_REAL, 0)

    def alarm(self, *_):
        """Time is over. A frame that is under way is not cut in two, nor is its reply left lying: that comes first."""
        self.late = True
        if not self.talking:
            raise TimeoutError("it took too long")

    def call_outside(self, number, args, kwargs):
        """Call a function that lives in the grader's process."""
        with self.lock:
            self.talking = True
            try:
                kind, value = self.exchange((number, args, kwargs))
            finally:
                self.talking = False
        if self.late:                                                   # the alarm has rung meanwhile
            self.alarm()
        if kind == "raised":
            name, message, serial = value
            error = protocol.ERRORS.get(name, RuntimeError)(message)
            error._callback = serial                                    # the grader recognises its own
            raise error
        return value

    def exchange(self, call):
        """Send a callback; its reply, ("returned", result) or ("raised", what). Requests in between are served."""
        self.send(self.requests[-1], "callback", call)
        while True:
            request, kind, tree, buffers = protocol.unpack(self.read)
            if kind in ("returned", "raised"):
                return kind, protocol.decode(tree, buffers, self.local)
            self.serve(request, kind, tree, buffers)

    def send(self, request, kind, value):
        """Write one frame."""
        data = memoryview(protocol.pack(request, kind, value, self.remote))
        while data:
            data = data[os.write(self.writing, data):]

    def read(self, n):
        """Exactly n bytes; the end of the pipe is the end of this process."""
        data = bytearray()
        while len(data) < n:
            piece = os.read(self.reading, min(n - len(data), 1 << 20))
            if not piece:
                os._exit(0)                                             # the grader is done
            data += piece
        return bytes(data)

    def remote(self, thing):
        """What stands for an object that stays here."""
        if isinstance(thing, Outside):
            return ["outside", thing.number]
        self.objects.append(thing)
        return ["inside", len(self.objects) - 1, callable(thing), type(thing).__name__[:80]]

    def local(self, node):
        """The object that stands for itself again; or a function of the grader's."""
        return self.objects[node[1]] if node[0] == "inside" else Outside(self, node[1])

    # what the grader asks

    def do_file(self, name, content):
        """Write a file that came with the notebook."""
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def do_cell(self, source):
        """Run a cell; its outputs."""
        return self.shell.outputs_of(source)

    def do_keep(self, place):
        """Remember which names there are now, and what each of them stands for."""
        self.kept[place] = dict(self.shell.user_ns)

    def do_restore(self, place):
        """Make the names what they were then, for every function that reads them, too."""
        names = self.shell.user_ns
        names.clear()
        names.update(self.kept[place])

    def do_name(self, name):
        """A name's value, and whether there is one."""
        names = self.shell.user_ns
        return (True, names[name]) if name in names else (False, None)

    def do_call(self, thing, args, kwargs):
        """Call a function, a class, a module."""
        return thing(*args, **kwargs)

    do_attribute = staticmethod(getattr)
    do_item = staticmethod(operator.getitem)
    do_length = staticmethod(len)

    def do_iterate(self, thing):
        """(An iterator,)."""
        return (iter(thing),)

    def do_next(self, iterator):
        """(True, the next value) or (False, None)."""
        try:
            return True, next(iterator)
        except StopIteration:
            return False, None

    def do_source(self, answer):
        """The source of a function of the student's, "" if there is none."""
        own = getattr(answer, "__globals__", None) is self.shell.user_ns
        return services.source(answer) if own else ""

    def do_lend(self, answer, functions):
        """Put functions of the grader's in place of the student's, see services.lent."""
        self.lent.append(services.lent(answer, functions))
        self.lent[-1].__enter__()

    def do_take_back(self):
        """Put the student's own back."""
        self.lent.pop().__exit__(None, None, None)

    def do_watch(self, answer, names):
        """Begin to record calls, see services.watch."""
        self.watching = services.watch(answer, names)
        self.watching.__enter__()

    def do_watched(self):
        """End it; the calls."""
        self.watching.__exit__(None, None, None)
        return self.watching.calls


class Outside:
    """A function of the grader's; calling it asks there."""

    def __init__(self, conversation, number):
        self.conversation, self.number = conversation, number

    def __call__(self, *args, **kwargs):
        return self.conversation.call_outside(self.number, args, kwargs)

    def __deepcopy__(self, memo):
        return self


def main():
    """Take the pipes away from student code's reach, lock the process down, and serve."""
    settings = json.loads(sys.argv[1])
    reading, writing = os.dup(0), os.dup(1)                             # not inheritable
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.chdir(settings["folder"])
    sys.path.append(settings["folder"])                                 # last: a submitted numpy.py stays a mere file
    lockdown.lock(**settings["limits"])
    Conversation(reading, writing, shell.start()).serve_forever()


if __name__ == "__main__":
    main()
