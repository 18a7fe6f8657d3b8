"""Which kind of sandbox holds on this machine? `choose()` tries each with what student code must not be able to do."""

import shutil
import time

from coursegrade import courses
from coursegrade.sandbox.outside import Session
from coursegrade.sandbox.process import CONTAINERS, PACKAGE, GraderError, Limits
from coursegrade.sandbox.protocol import Violation, clean


def choose(unsafe=False):
    """The kind of sandbox to use: the first of bubblewrap, docker and podman that passes its test.

    unsafe=True gives "nothing", for work on the course itself. Raises `GraderError` if no kind passes.
    """
    if unsafe:
        return "nothing"
    tried = []
    for kind, program in (("bubblewrap", "bwrap"), *((name, name) for name in CONTAINERS)):
        if not shutil.which(program):
            tried.append(f"{kind}: is not installed")
            continue
        try:
            self_test(kind)
            return kind
        except GraderError as error:
            tried.append(f"{kind}: {error}")
    raise GraderError("There is no sandbox here that student code could safely run in, so nothing was graded.\n"
                      + "".join(f"  {line}\n" for line in tried)
                      + "Install bubblewrap (Debian, Ubuntu: apt install bubblewrap) or podman.")


def self_test(kind):
    """Try in a sandbox what student code must not be able to do; raise `GraderError` if any of it works."""
    limits, asked = Limits(), next(iter(courses.here().TOPICS.values()))
    session = Session(kind, limits, time.monotonic() + 2 * limits.start)
    try:
        places = [str(PACKAGE.parent / "pyproject.toml"), str(courses.folder() / asked / "__init__.py"),
                  f"{courses.here().__name__}.{asked}"]
        shown = session.ask("cell", f"COURSE, CHECKS, ASKED = {places}\n{SELF_TEST}", seconds=limits.start)
    except Violation as violation:
        raise GraderError(f"its test did not finish: {violation}") from None
    finally:
        session.stop()
    text = "".join(item[2] for item in shown if item[:2] == ["stream", "stdout"])
    if text != "all walls hold\n":
        raise GraderError("its test found holes: " + clean(text or str(shown), 500, lines=False))


# In a student's place. What it must not be able to do raises one of these errors; everything else is a hole.
SELF_TEST = """
import fcntl, os, resource, socket, threading, time
holes = []

def try_to(what, do):
    try:
        do()
    except (OSError, RuntimeError, MemoryError, ImportError):
        return
    holes.append(what)

def many_threads():
    stop = threading.Event()
    try:
        for _ in range(100):
            threading.Thread(target=stop.wait, daemon=True).start()
    finally:
        stop.set()

def another_process():
    if [name for name in os.listdir("/proc") if name.isdigit() and int(name) > 100]:
        return
    raise OSError

try_to("write to /usr", lambda: open("/usr/x", "w"))
try_to("write to /", lambda: open("/x", "w"))
try_to("write to /dev", lambda: open("/dev/x", "w"))
try_to("write to the course", lambda: open("/course/coursegrade/x", "w"))
try_to("read the course's folder", lambda: open(COURSE))
try_to("read what the checks expect", lambda: open(CHECKS))
try_to("import what the checks expect", lambda: __import__(ASKED))
try_to("lock files", lambda: fcntl.flock(open("/usr/bin/env"), fcntl.LOCK_EX))
try_to("talk through sockets of odd families", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
try_to("read the passwords", lambda: open("/etc/shadow"))
try_to("reach the network", lambda: socket.create_connection(("1.1.1.1", 80), timeout=1))
try_to("become root", lambda: os.setuid(0))
try_to("see other processes", another_process)
try_to("start threads without end", many_threads)
try_to("use memory without end", lambda: bytearray(16 << 30))
try_to("fill the disk", lambda: open("big", "wb").write(bytes(70 << 20)))
if os.getuid() == 0:
    holes.append("be root")
print("all walls hold" if not holes else "it can " + ", ".join(holes))
"""
