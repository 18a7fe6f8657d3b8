"""Where student code runs: a process that sees Python, the course's packages and a small folder to work in, no more.

Of the grader it sees only what an answer needs (`NEEDED`): neither the checks nor the references in them.

    bubblewrap   namespaces of its own for processes, network, users and mounts; starts in a fifth of a second
    container    podman or docker, an empty image and the same folders, where bubblewrap does not start
    nothing      only for work on the course itself ("unsafe"): limits, but nothing is closed

`kinds.choose()` finds the first that holds. A `Sandbox` is one such process running `coursegrade.sandbox.inside`,
with two pipes that carry the frames of `protocol.py`.
"""

import contextlib
import dataclasses
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

from coursegrade import courses
from coursegrade.sandbox.protocol import Violation, clean

NOBODY = 65534                                                          # the user that root becomes inside
PACKAGE = Path(__file__).resolve().parent.parent                        # coursegrade
SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts",
          "/etc/localtime", "/etc/mime.types"]
VARIABLES = {
    "PATH": "/usr/bin:/bin", "HOME": "/tmp", "LOGNAME": "student", "LANG": "C.UTF-8", "PYTHONPATH": "/course",
    "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "MPLCONFIGDIR": "/tmp/matplotlib",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": "",
}
WORK, IMAGE, CONTAINERS = "/student", "coursegrade-empty", ("podman", "docker")
NEEDED = ["__init__.py", "check.py", "courses.py",                                              # of coursegrade
          *(f"sandbox/{name}.py" for name in ("__init__", "inside", "lockdown", "protocol", "shell")),
          *(f"kit/{name}.py" for name in ("__init__", "services", "messages", "later", "same", "score", "guesses",
                                          "unseen"))]
TICKS = os.sysconf("SC_CLK_TCK")                                        # of the kernel's clock, in a second


class GraderError(Exception):
    """Something on the grader's side does not work: nobody's mark may depend on it, so the batch must stop."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a submission may use: seconds, bytes, counts."""

    call: float = 10.0                                                  # one call of an answer by a check
    cell: float = 30.0                                                  # one cell
    submission: float = 120.0                                           # everything, restarts included; and after it
                                                                        # half as long for hidden tests
    cpu: float = 120.0                                                  # of all processes of a sandbox together
    start: float = 60.0                                                 # until the sandbox says hello
    memory: int = 2 << 30                                               # of all its processes together
    disk: int = 64 << 20                                                # of each of the two folders it can write to
    files: int = 10_000                                                 # in both together: each costs kernel memory
    processes: int = 16                                                 # threads count
    open_files: int = 64
    restarts: int = 3


class Sandbox:
    """A running sandbox: `write(bytes, until)`, `read(n, until)`, `stop()`; `until` is a time of time.monotonic().

    kind: "bubblewrap", "docker", "podman" or "nothing". Raises `Violation` when the process is gone, has used too much,
    or does not keep time; then it has been stopped.
    """

    def __init__(self, kind, limits):
        self.kind, self.limits, self.why = kind, limits, ""
        self.used = self.waited = 0.0                                   # seconds of a processor, and for one
        self.first = None                                               # see settle
        self.name = f"coursegrade-{uuid.uuid4().hex}"
        self.scratch = tempfile.mkdtemp() if kind == "nothing" else None
        self.process = subprocess.Popen(
            command(kind, limits, self.name, self.scratch), bufsize=0, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, cwd=self.scratch or "/",
            env=environment(kind, self.scratch))
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            os.set_blocking(pipe.fileno(), False)
        self._watch = threading.Thread(target=self._watch_usage, daemon=True)
        self._watch.start()

    @property
    def alive(self):
        return not self.process.stdin.closed and self.process.poll() is None

    def read(self, n, until):
        """Exactly n bytes. Memory grows as they arrive, not as they are promised."""
        data = bytearray()
        while len(data) < n:
            self._wait(self.process.stdout, until, select.POLLIN)
            try:
                piece = os.read(self.process.stdout.fileno(), min(n - len(data), 1 << 16))
            except BlockingIOError:
                continue
            if not piece:
                self.fail("its process ended")
            data += piece
        return bytes(data)

    def write(self, data, until):
        """All of data."""
        rest = memoryview(data)
        while rest:
            self._wait(self.process.stdin, until, select.POLLOUT)
            try:
                rest = rest[os.write(self.process.stdin.fileno(), rest[:1 << 16]):]
            except BlockingIOError:
                continue
            except OSError:
                self.fail("its process ended")

    def settle(self):
        """It is up, and has run nothing of a student's yet: the last process below is the one that will. (Those of a
        container are not below; there the kernel's control groups do what the watch does here.)"""
        if self.kind not in CONTAINERS:
            *_, self.first = tree_of(self.process.pid)

    def complaint(self):
        """What the sandbox wrote to stderr while it started; student code has no way to write there."""
        self.process.wait(5)
        return clean((self.process.stderr.read() or b"").decode(errors="replace")[-1000:], 1000).strip()

    def fail(self, why):
        """Stop, and raise a `Violation` that says why."""
        self.stop()
        raise Violation(self.why or why)

    def stop(self):
        """End every process of the sandbox; after that nothing of it is left."""
        if self.process.stdin.closed:
            return
        if self.kind in CONTAINERS:
            subprocess.run([self.kind, "kill", self.name], capture_output=True)
        self._kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _wait(self, pipe, until, event):
        if pipe.closed:
            raise Violation(self.why or "its process ended")
        poll, left = select.poll(), until - time.monotonic()
        poll.register(pipe, event)
        if left <= 0 or not poll.poll(1000 * left):
            self.fail("it did not answer in time")

    def _watch_usage(self):
        """What no limit of the kernel's sums up over processes: look at it again and again, and kill beyond."""
        limits = self.limits
        while self.process.poll() is None:
            tree = list(tree_of(self.process.pid))
            memory, self.used = sum(map(memory_of, tree)), sum(map(seconds_of, tree))
            self.waited = max(self.waited, waiting_of(self.first))
            for pid in tree if self.first else ():
                step_back(pid, self.first)
            for much, what in ((memory > limits.memory, f"{limits.memory / 2 ** 30:.2g} GB of memory"),
                               (self.used > limits.cpu, f"{limits.cpu:.0f} seconds of a processor"),
                               (self._files() > limits.files, f"{limits.files:,} files")):
                if much:
                    self.why = f"it used more than {what}"
                    self._kill()
                    return
            time.sleep(0.05)

    def _files(self):
        """How many files there are in the folders that it can write to."""
        if not self.first or self.kind != "bubblewrap":
            return 0
        found = 0
        for folder in (WORK, "/tmp"):
            with contextlib.suppress(OSError):
                about = os.statvfs(f"/proc/{self.first}/root{folder}")
                found += about.f_files - about.f_ffree
        return found

    def _kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)                 # bubblewrap takes its whole namespace along


def environment(kind, scratch):
    """The variables that a sandbox is *started* with: none for bubblewrap, whose own would show in /proc/1/environ."""
    if kind == "nothing":
        folders = {str(package.parent) for package, _ in parts()}
        return variables() | {"PYTHONPATH": os.pathsep.join(folders), "HOME": scratch, "MPLCONFIGDIR": scratch}
    return {} if kind == "bubblewrap" else dict(os.environ)


def tree_of(pid):
    """The ids of a process and its descendants, as texts."""
    todo = [str(pid)]
    while todo:
        yield (pid := todo.pop())
        with contextlib.suppress(OSError):                              # it ended meanwhile
            for task in os.listdir(f"/proc/{pid}/task"):
                todo += read(f"/proc/{pid}/task/{task}/children").split()


def memory_of(pid):
    """Bytes of memory that a process holds: anonymous, shared, swapped, and its page tables."""
    return sum(int(line.split()[1]) << 10 for line in read(f"/proc/{pid}/status").splitlines()
               if line.startswith(("RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:")))


def seconds_of(pid):
    """Seconds that a process, and those of its children that have ended, had a processor for."""
    numbers = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, numbers[11:15])) / TICKS                        # of its own and its children's, user and system


def waiting_of(pid):
    """Seconds that the main thread of a process was ready to run while others had the processors; 0 where the kernel
    does not count them. Asleep it is not ready."""
    numbers = read(f"/proc/{pid}/schedstat").split()
    return int(numbers[1]) / 1e9 if len(numbers) > 1 else 0.0


def step_back(pid, first):
    """Make every thread of a process yield to others, but for the main thread of the process `first`."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            if thread != first and os.getpriority(os.PRIO_PROCESS, int(thread)) < 19:
                os.setpriority(os.PRIO_PROCESS, int(thread), 19)


def read(path):
    """The text of a small file of the kernel's; "" if it has gone, with its process."""
    with contextlib.suppress(OSError), open(path, "rb", buffering=0) as file:
        return file.read(1 << 16).decode(errors="replace")
    return ""


def variables():
    """Its environment: VARIABLES, and which course it is."""
    return VARIABLES | {courses.NAME: courses.here().__name__}


# ── what it sees ──────────────────────────────────────────────────────────────────────────────────────────────────

def python_folders():
    """The folders that this Python needs, the course apart: its own, and its environment's."""
    folders = {Path(path).absolute() for path in (sys.base_prefix, sys.prefix)}
    folders |= {folder.resolve() for folder in folders}
    for package in (PACKAGE, courses.folder().resolve()):
        for folder in folders & {*package.parents}:
            if "site-packages" not in package.parts:
                raise GraderError(f"Python's environment {folder} contains the whole course, so a sandbox that sees it "
                                  "would see the solutions: make one in a folder of its own (`make setup` does).")
    return sorted(str(folder) for folder in folders if folder.parts[:2] != ("/", "usr"))


def parts():
    """[(the folder of a package, what in it students' code may read)]: some of coursegrade and of the questions, and
    whole what the course says."""
    course = courses.here()
    whole = [courses.folder(name).resolve() for name in course.PACKAGES]
    return [(PACKAGE, NEEDED), (courses.folder().resolve(), course.SHOWN), *(
        (package, sorted(path.name for path in package.iterdir() if path.name != "__pycache__")) for package in whole)]


def readable(inside=None):
    """(path, path inside) of these parts, in the folder `inside` or, without one, where they are."""
    return [(str(package / name), str(Path(inside, package.name, name) if inside else package / name))
            for package, names in parts() for name in names]


def mounts(course=None):
    """bubblewrap's options for all that can be read, with the course in this folder or, without one, where it is."""
    options = []
    for here, inside in [*((path, path) for path in SYSTEM + python_folders() if os.path.lexists(path)),
                         *readable(course)]:
        for parent in reversed(Path(inside).parents[:-1]):
            options += ["--dir", str(parent)]                           # else only root could go through it
        linked = here in SYSTEM and os.path.islink(here)                # Python's may be links to links: what is there
        options += ["--symlink", os.readlink(here), inside] if linked else ["--ro-bind", here, inside]
    return options


def command(kind, limits, name, scratch):
    """The command line of a sandbox of some kind; see `Sandbox`."""
    settings = {"folder": scratch or WORK, "limits": {
        "memory": limits.memory, "processes": limits.processes, "files": limits.open_files, "file_size": limits.disk,
        "seconds": round(limits.cpu)}}
    program = [sys.executable, "-m", "coursegrade.sandbox.inside", json.dumps(settings)]
    if kind == "nothing":
        return program
    if kind == "bubblewrap":
        return bubblewrap(limits, program)
    return container(kind, limits, name, program)


def bubblewrap(limits, program):
    """bubblewrap with everything unshared and dropped. Root gives its rights up in between.

    A limit on processes does not bind root, and a user namespace alone would leave the process root's outside. But
    nobody cannot look into root's home, where Python may be. So root uses bubblewrap twice: first, as root, only for
    the mounts; then, as nobody, to build the sandbox out of what the first one shows. (Its process namespace is what
    ends the second: a parent without rights may not even kill its child when it dies.)
    """
    bwrap = shutil.which("bwrap")
    closed = [bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
             "--cap-drop", "ALL", "--hostname", "sandbox", "--proc", "/proc", "--dev", "/dev"]
    for folder in (WORK, "/tmp"):
        closed += ["--size", str(limits.disk), "--tmpfs", folder]
    closed += mounts("/course")
    for variable, text in variables().items():
        closed += ["--setenv", variable, text]
    closed += ["--remount-ro", "/", "--remount-ro", "/dev", "--chdir", WORK, "--", *program]
    if os.geteuid() != 0:
        return closed
    stage = [bwrap, "--die-with-parent", "--unshare-pid", "--dir", "/tmp", *mounts(),
             "--dev-bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev"]
    return [*stage, "--", shutil.which("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            "--no-new-privs", "--pdeathsig=KILL", *closed]


def container(kind, limits, name, program):
    """podman or docker with an empty image: what can be seen are the same folders of this machine."""
    if subprocess.run([kind, "image", "inspect", IMAGE], capture_output=True).returncode:
        subprocess.run([kind, "import", "-", IMAGE], input=bytes(10240), capture_output=True)   # an empty tar archive
    user = 20_000 + int(name[-8:], 16) % 40_000                         # one each: processes are counted by user
    options = ["--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
               "--pids-limit", str(limits.processes), "--memory", str(limits.memory),
               "--memory-swap", str(limits.memory), "--cpus", "1",
               "--ulimit", f"nofile={limits.open_files}", "--ulimit", "nproc=4096", "--ulimit", "core=0",
               "--user", f"{user}:{user}", "--hostname", "sandbox", "--workdir", WORK]
    for folder in (WORK, "/tmp"):
        options += ["--tmpfs", f"{folder}:size={limits.disk},mode=1777"]
    for variable, text in variables().items():
        options += ["--env", f"{variable}={text}"]
    shown = [path for path in SYSTEM if os.path.exists(path)] + python_folders()
    for here, inside in [*((path, path) for path in shown), *readable("/course")]:
        options += ["--volume", f"{os.path.realpath(here)}:{inside}:ro"]
    return [kind, "run", "--rm", "--interactive", "--name", name, *options, IMAGE, *program]
