"""A place to throw away: a program runs in it that nobody has to trust, and leaves nothing behind but what it printed.

    text = run(program, shows, limits)          what it printed, or a `Stopped` that says what it used too much of

It is a bubblewrap sandbox with namespaces of its own for processes, network, users and mounts. What is shown can only
be read; two folders in memory, /home/teacher and /tmp, can be written to. Memory and processor seconds of all its
processes are watched, and the whole place is killed beyond a limit. Other than the grader's sandbox it refuses no
system call and sets no rights: within, the machine of a careless teacher is played. Where bubblewrap does not start,
or does not hold, `try_out` ends the program.
"""

import contextlib
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from coursegrade.sandbox.process import NOBODY, SYSTEM, memory_of, seconds_of, tree_of

HOME, LIBRARY = "/home/teacher", "/library"


class Stopped(Exception):
    """The place was killed, or its program ended badly: the words say why."""


@dataclasses.dataclass(frozen=True)
class Size:
    """How large a place is: seconds, bytes, counts."""

    seconds: float = 400.0                                              # of the clock
    cpu: float = 400.0                                                  # of a processor, of all processes together
    memory: int = 5 << 30                                               # of all processes together
    disk: int = 1 << 30                                                 # of HOME; /tmp has a quarter of it
    processes: int = 400                                                # threads count
    printed: int = 4 << 20                                              # of what comes out


def run(program, shows, size=Size(), variables=None):
    """Run a program, a list of words, in a place of its own; the text that it printed.

    shows: {path here: path there} of what it can read. Raises `Stopped`.
    """
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(command(program, shows, size, variables or {}), cwd="/", env={},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints,
                                   start_new_session=True)
        why = []
        watch = threading.Thread(target=_watch, args=(process, size, why))
        watch.start()
        try:
            data = process.stdout.read(size.printed + 1)
        finally:
            _kill(process)
            watch.join()
            process.stdout.close()
        complaints.seek(0)
        if why or len(data) > size.printed or process.returncode:
            raise Stopped(why[0] if why else "it printed too much" if len(data) > size.printed else
                          f"it ended with {process.returncode}: " + complaints.read(2000).decode(errors="replace"))
    return data.decode(errors="replace")


def try_out():
    """End this program, with one line, unless a place starts here and its walls and limits hold."""
    try:
        if not shutil.which("bwrap"):
            raise Stopped("bwrap is not installed")
        found = run([sys.executable, "-c", f"HERE = {__file__!r}{WALLS}"], {}, Size(seconds=30))
        if found != "all walls hold\n":
            raise Stopped("its test found holes: " + found[:300])
        for greedy, limit in (("x = [bytearray(b'x') * (1 << 20) for _ in range(4000)]", Size(memory=1 << 28)),
                              ("while True: pass", Size(cpu=1)), ("import time; time.sleep(60)", Size(seconds=1)),
                              ("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\n"
                               "time.sleep(60)", Size(seconds=1))):
            with contextlib.suppress(Stopped):
                run([sys.executable, "-c", greedy], {}, limit)
                raise SystemExit(f"The throw-away place has no limit that holds: it let {greedy!r} end.")
    except Stopped as stopped:
        raise SystemExit("Attacks on graders without a sandbox run in a throw-away place alone, which does not start "
                         f"here ({stopped}). Install bubblewrap: apt install bubblewrap.") from None


WALLS = """
import os, socket
holes = []
def try_to(what, do):
    try:
        do()
    except OSError:
        return
    holes.append(what)
for path in ("/usr/x", "/x", "/dev/x", "/etc/x", "/home/x", "/var/x"):
    try_to(f"write to {path}", lambda: open(path, "w"))
for path in ("/var", "/run", "/sys", "/boot", "/mnt"):
    try_to(f"look into {path}", lambda: os.listdir(path))
for path in ("/etc/shadow", HERE):
    try_to(f"read {path}", lambda: open(path))
try_to("reach the network", lambda: socket.create_connection(("1.1.1.1", 80), timeout=1))
try_to("become root", lambda: os.setuid(0))
try_to("fill the disk", lambda: open("/tmp/x", "wb").write(bytes(2 << 30)))
if max(int(name) for name in os.listdir("/proc") if name.isdigit()) > 50 or os.getuid() == 0:
    holes.append("see other processes, or be root")
print("all walls hold" if not holes else "it can " + ", ".join(holes))
"""


def command(program, shows, size, variables):
    """The command line of bubblewrap. Root uses it twice, as the grader does: see `process.bubblewrap`."""
    bwrap = shutil.which("bwrap")
    places = {path: path for path in map(str, [*SYSTEM, *pythons()]) if os.path.lexists(path)} | shows
    closed = [bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
              "--cap-drop", "ALL", "--hostname", "teacher", "--proc", "/proc", "--dev", "/dev",
              "--size", str(size.disk), "--tmpfs", HOME, "--size", str(size.disk // 4), "--tmpfs", "/tmp",
              *mounts(places.items())]
    for name, text in ({"PATH": "/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1",
                        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": LIBRARY, **variables}).items():
        closed += ["--setenv", name, text]
    limits = ["prlimit", f"--nproc={size.processes}", f"--cpu={round(size.cpu)}", "--core=0", "--nofile=1024",
              f"--fsize={size.disk}", "--"]
    closed += ["--remount-ro", "/", "--remount-ro", "/dev", "--chdir", HOME, "--", *limits, *program]
    if os.geteuid() != 0:
        return closed
    stage = [bwrap, "--die-with-parent", "--unshare-pid", "--dir", "/tmp", *mounts((here, here) for here in places),
             "--dev-bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev"]
    return [*stage, "--", shutil.which("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            "--no-new-privs", "--pdeathsig=KILL", *closed]


def pythons():
    """The folders of this Python: its own, and its environment's."""
    folders = {Path(path).absolute() for path in (sys.base_prefix, sys.prefix)}
    return sorted(folders | {folder.resolve() for folder in folders})


def mounts(places):
    """bubblewrap's options for folders and files that can be read: (path here, path there)."""
    options = []
    for here, there in places:
        for parent in reversed(Path(there).parents[:-1]):
            options += ["--dir", str(parent)]
        options += ["--symlink", os.readlink(here), there] if os.path.islink(here) else ["--ro-bind", here, there]
    return options


def _watch(process, size, why):
    """Kill the place beyond a limit, and say which in `why`."""
    end = time.monotonic() + size.seconds
    while process.poll() is None:
        tree = list(tree_of(process.pid))
        for much, what in ((time.monotonic() > end, f"{size.seconds:.0f} seconds"),
                           (sum(map(seconds_of, tree)) > size.cpu, f"{size.cpu:.0f} seconds of a processor"),
                           (sum(map(memory_of, tree)) > size.memory, f"{size.memory / 2**30:.2g} GB of memory")):
            if much:
                why.append(f"it used more than {what}")
                return _kill(process)
        time.sleep(0.05)


def _kill(process):
    """End a place with all that runs in it, and wait until the kernel has done so."""
    tree = list(tree_of(process.pid))
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pid in tree[1:]:
        while os.path.exists(f"/proc/{pid}/root"):
            time.sleep(0.01)
