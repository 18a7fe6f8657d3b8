"""The walls of the sandbox, each tried from inside, and what is said where there is none."""

import dataclasses
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from coursegrade.sandbox import kinds, process
from coursegrade.sandbox.kinds import GraderError, Limits, choose, self_test
from coursegrade.sandbox.outside import Session
from coursegrade.sandbox.process import memory_of, tree_of
from coursegrade.sandbox.protocol import Violation
from tests.grading.sandboxed import gone, kind_or_skip, running

LIMITS = Limits(call=3, cell=10, memory=1 << 30, processes=40)


@pytest.fixture(scope="module")
def kind():
    return kind_or_skip()


@pytest.fixture(scope="module")
def session(kind):
    session = Session(kind, LIMITS, time.monotonic() + 300)
    session.ask("cell", "import os")
    yield session
    session.stop()


def told(session, source):
    """What a cell printed, errors included."""
    text = ""
    for item in session.ask("cell", source, seconds=10):
        text += item[2] if item[0] == "stream" else "".join(item[3]) if item[0] == "error" else str(item[1])
    return text


def test_a_folder_of_its_own(session):
    assert told(session, "import os\nopen('a.txt', 'w').write('x')\nprint(os.getcwd(), os.listdir())") == (
        "/student ['a.txt']\n")


@pytest.mark.parametrize("path", ["/x", "/usr/x", "/dev/x", "/etc/x", "/course/x", "/course/coursekit/x",
                                  "/proc/sys/kernel/x"])
def test_writes_nowhere_else(session, path):
    assert "Error" in told(session, f"open({path!r}, 'w')")


@pytest.mark.parametrize("path", ["/etc/shadow", "/etc/passwd", "/root/.bashrc", "/proc/1/mem", "/proc/kcore",
                                  str(process.PACKAGE.parent / "pyproject.toml"), __file__])
def test_reads_nothing_of_the_grader(session, path):
    assert "Error" in told(session, f"open({path!r}, 'rb').read(1)")


def test_sees_only_its_own_processes_and_variables(session):
    assert told(session, "print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))") == "[1, 2]\n"
    assert "HOSTNAME" not in told(session, "print(open('/proc/1/environ').read(), dict(os.environ))")


def test_gives_no_variable_away(kind, monkeypatch):
    monkeypatch.setenv("A_TOKEN", "dandelion")
    other = Session(kind, LIMITS, time.monotonic() + 60)
    seen = told(other, "import os, glob\nfor path in glob.glob('/proc/*/environ'):\n    print(open(path).read())\n"
                "print(os.environ)")
    other.stop()
    assert "PATH" in seen and "dandelion" not in seen


def test_is_nobody_and_stays_so(session):
    assert told(session, "print(0 in (os.getuid(), os.geteuid(), os.getgid(), *os.getgroups()))") == "False\n"
    status = told(session, "print(open('/proc/self/status').read())")
    for line in ("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
        assert line in status
    assert "Error" in told(session, "os.setuid(0)")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to change its user")
def test_root_is_not_root_outside_either(session):
    """As the machine sees it: the process that runs Python inside belongs to nobody."""
    todo, users = [session.sandbox.process.pid], {}
    while todo:
        one = Path("/proc", str(todo.pop()))
        users[(one / "cmdline").read_text().split("\0")[0]] = one.stat().st_uid
        todo += (one / "task" / one.name / "children").read_text().split()
    assert users[sys.executable] == process.NOBODY


@pytest.mark.parametrize("call", ["memfd_create", "shmget", "unshare", "ptrace", "bpf", "io_uring_setup", "flock",
                                  "inotify_init1", "fanotify_init", "io_setup", "fadvise64", "readahead", "mincore",
                                  "cachestat", "process_madvise", "setpriority", "sched_setscheduler",
                                  "sched_setparam", "sched_setattr"])
def test_refused_system_calls(session, call):
    from coursegrade.sandbox import lockdown
    number = lockdown.REFUSED[call][lockdown.MACHINES[os.uname().machine][0]]
    assert told(session, "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                         f"print(libc.syscall({number}, 0, 4096, 0o1600, 0), ctypes.get_errno())") == "-1 1\n"


def test_what_is_in_the_kernels_memory_is_not_told_nor_decided(session):
    """By the calls that Python and the C library have for it; the memory of one's own may be given back."""
    seen = told(session, """
import mmap, os
file, room, own = os.open("/usr/bin/env", os.O_RDONLY), bytearray(4096), mmap.mmap(-1, 1 << 16)
for what in (lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED), lambda: os.preadv(file, [room], 0, 8),
             lambda: own.madvise(20), lambda: own.madvise(21)):
    try:
        what()
        print("done")
    except OSError as error:
        print(error.errno)
own.madvise(mmap.MADV_DONTNEED)
print(os.preadv(file, [room], 0))""")
    assert seen == "1\n" * 4 + "4096\n"


def test_what_honest_code_reads_and_runs(session):
    assert told(session, """
%matplotlib inline
import asyncio, concurrent.futures, io, shutil, subprocess, matplotlib.pyplot as plt, numpy as np, torch
from IPython.display import display
np.save("a.npy", np.arange(1000))
shutil.copy("a.npy", "b.npy")
torch.save({"x": torch.ones(1000)}, "x.pt")
assert np.load("b.npy", mmap_mode="r").sum() == 499500 and torch.load("x.pt", mmap=True)["x"].sum() == 1000
assert subprocess.run(["cat", "b.npy"], capture_output=True).stdout == open("a.npy", "rb").read()
assert list(concurrent.futures.ThreadPoolExecutor(2).map(abs, [-1, 2])) == [1, 2]
await asyncio.sleep(0)
server = await asyncio.start_unix_server(lambda *_: None, "/tmp/here")
server.close()
plt.plot([1, 2])
plt.savefig(file := io.BytesIO())
plt.close()
print(len(file.getvalue()) > 1000)""") == "True\n"


def test_no_network(session):
    assert "Error" in told(session, "import socket\nsocket.create_connection(('1.1.1.1', 53), timeout=1)")
    assert told(session, "print([line.split(':')[0].strip() for line in open('/proc/net/dev')][2:])") == "['lo']\n"


def test_sockets_of_this_machine_only(session):
    seen = told(session, """
import socket
found = []
for family in range(1, 50):
    for how in (socket.socket, socket.socketpair):
        try:
            how(family)
            found.append((family, how.__name__))
        except OSError as error:
            if error.errno != 97: found.append((family, error))
print(found)""")
    assert seen == "[(1, 'socket'), (1, 'socketpair')]\n"


@pytest.mark.parametrize("how", ["fcntl.flock(file, fcntl.LOCK_SH)", "fcntl.lockf(file, fcntl.LOCK_SH)",
                                 "fcntl.fcntl(file, 37, bytes(32))", "fcntl.fcntl(file, 1024, 0)"])
def test_files_cannot_be_locked(session, how):
    assert "PermissionError" in told(session, f"import fcntl\nfile = open('/usr/bin/env')\n{how}")
    assert told(session, "print(fcntl.fcntl(file, fcntl.F_GETFD))") == "1\n"          # other things are allowed


def test_of_the_grader_only_what_answers_need(session):
    seen = told(session, "top = '/course/coursegrade'\nfor here, _, files in os.walk(top):\n"
                         "    print(*(os.path.relpath(here + '/' + file, top) for file in files))")
    assert set(seen.split()) == set(process.NEEDED)
    assert told(session, "from coursegrade import check\ncheck.attention.softmax(max)") == (
        "· softmax: checked when your work is marked, not here.\n")
    assert told(session, "from attention_questions.audit import write_audit, written_answers") == ""
    assert "ModuleNotFoundError" in told(session, "__import__('attention_questions.02_attention')")


def test_files_are_counted(kind):
    session = Session(kind, dataclasses.replace(LIMITS, files=500), time.monotonic() + 60)
    with pytest.raises(Violation, match="more than 500 files"):
        told(session, "import time\nfor i in range(10 ** 5): open(f'/tmp/{i}', 'w').close()\ntime.sleep(5)")


def test_seconds_of_a_processor_are_counted_over_all_processes(kind):
    """None of them uses two seconds, and the one that started them next to nothing."""
    session = Session(kind, dataclasses.replace(LIMITS, cpu=3), time.monotonic() + 300)
    with pytest.raises(Violation, match="more than 3 seconds of a processor"):
        session.ask("cell", """
import os, resource, time
for _ in range(6):
    if os.fork() == 0:
        while time.process_time() < 1.5: pass
        os._exit(0)
time.sleep(200)""", seconds=250)


def test_all_but_the_first_thread_step_back(kind):
    """Other processes, and other threads, run only when nobody else wants to; and none can leave the session."""
    session = Session(kind, LIMITS, time.monotonic() + 60)
    seen = told(session, """
import os, threading, time
threading.Thread(target=time.sleep, args=[5]).start()
if (child := os.fork()) == 0:
    os.setsid()
    time.sleep(5)
    os._exit(0)
time.sleep(1)
threads = [int(thread) for thread in os.listdir("/proc/self/task")]
print([os.getpriority(os.PRIO_PROCESS, thread) for thread in (*threads, child)])
print(os.getsid(child) == os.getsid(0))""")
    assert seen == "[0, 19, 19]\nTrue\n"
    session.stop()


def test_processes_and_threads_are_counted(session):
    seen = told(session, """
import threading
stop, n = threading.Event(), 0
try:
    for n in range(200):
        threading.Thread(target=stop.wait).start()
except RuntimeError:
    print(n < 60)
stop.set()""")
    assert seen == "True\n"


def test_limits_cannot_be_raised(session):
    assert told(session, """
import resource
for what in (resource.RLIMIT_NPROC, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE):
    soft, hard = resource.getrlimit(what)
    try:
        resource.setrlimit(what, (hard + 1, hard + 1))
        print("raised")
    except (ValueError, OSError):
        print("held")""") == "held\n" * 3


def test_memory_of_one_process(session):
    assert "MemoryError" in told(session, "x = bytearray(2 << 30)")


def test_memory_of_many_processes_together(kind):
    session = Session(kind, LIMITS, time.monotonic() + 60)
    with pytest.raises(Violation, match="more than 1 GB"):
        told(session, "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n"
                      "        x = bytearray(b'x') * (300 << 20)\n        time.sleep(20)\ntime.sleep(20)")
    assert not session.alive


def test_nothing_is_left_when_it_stops(kind):
    session = Session(kind, LIMITS, time.monotonic() + 60)
    told(session, "import subprocess\np = subprocess.Popen(['sleep', '86397'], start_new_session=True)")
    assert sum(map(memory_of, tree_of(session.sandbox.process.pid))) > 1 << 20
    assert running("86397")
    session.stop()
    session.stop()                                                      # twice is once
    assert gone("86397")


def test_nothing_is_left_when_the_grader_dies(kind):
    """The grader is killed in the middle of a call."""
    program = ("import time\nfrom coursegrade.sandbox.outside import Session\n"
               "from coursegrade.sandbox.kinds import Limits\n"
               f"s = Session({kind!r}, Limits(), time.monotonic() + 60)\n"
               "s.ask('cell', 'import subprocess, time; subprocess.Popen([\"sleep\", \"86396\"])')\n"
               "print('up', flush=True)\n"
               "s.ask('cell', 'while True: pass', seconds=60)")
    grader = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert grader.stdout.readline() == "up\n" and running("86396")
    grader.kill()
    grader.wait()
    grader.stdout.close()
    assert gone("86396")


def test_an_answer_that_does_not_come(kind):
    session = Session(kind, dataclasses.replace(LIMITS, call=0.5), time.monotonic() + 60)
    with pytest.raises(Violation, match="in time"):
        session.ask("cell", "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass")
    assert not session.alive
    with pytest.raises(Violation):
        session.ask("seed", 0)


def test_self_test_finds_missing_walls():
    with pytest.raises(GraderError) as found:
        self_test("nothing")
    for hole in ("read the course's folder", "read what the checks expect", "import what the checks expect"):
        assert hole in str(found.value)


def test_refusal_says_what_to_do(monkeypatch):
    monkeypatch.setattr(kinds.shutil, "which", lambda program: None)
    with pytest.raises(GraderError, match="nothing was graded[^$]*bubblewrap: is not installed[^$]*apt install"):
        choose()
    assert choose(unsafe=True) == "nothing"


def test_a_sandbox_that_does_not_start_is_the_graders_error(monkeypatch):
    monkeypatch.setattr(process, "command", lambda *_: ["/bin/sh", "-c", "echo cannot do >&2; exit 1"])
    with pytest.raises(GraderError, match="did not start: its process ended. cannot do"):
        Session("bubblewrap", LIMITS, time.monotonic() + 60)
    with pytest.raises(GraderError):
        self_test("bubblewrap")


def test_an_environment_that_contains_the_course_is_refused(monkeypatch):
    monkeypatch.setattr(process.sys, "prefix", str(process.PACKAGE.parent))
    with pytest.raises(GraderError, match="contains the whole course"):
        process.python_folders()


@pytest.mark.parametrize("how", ["a folder", "a link", "a link to a link", "a link beside it to a link"])
def test_a_python_that_is_reached_through_links_starts(kind, tmp_path, how):
    """It also stands as `.venv` in folders that were copied or linked from another."""
    last = Path(sys.prefix).resolve()
    for number in range(how.count("link")):
        link = tmp_path / str(number) / ".venv"
        link.parent.mkdir()
        link.symlink_to(os.path.relpath(last, link.parent) if "beside" in how and number else last)
        last = link
    program = f"from coursegrade.sandbox.kinds import self_test; self_test({kind!r})"
    done = subprocess.run([last / "bin" / "python", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_container_command(monkeypatch):
    """What docker is asked for; the walls themselves are tried by its self-test, where there is docker."""
    asked = []
    monkeypatch.setattr(process.subprocess, "run",
                        lambda command, **_: asked.append(command) or subprocess.CompletedProcess(command, 1))
    command = process.command("docker", LIMITS, "a-name-0000000a", None)
    assert asked[-1][:2] == ["docker", "import"]
    text = " ".join(command)
    for part in ("--network none", "--read-only", "--cap-drop ALL", "no-new-privileges", "--pids-limit 40",
                 "--name a-name-0000000a", f"--memory {1 << 30}", "--user 20010:20010",
                 f"{process.PACKAGE.parent}/coursekit/models:/course/coursekit/models:ro"):
        assert part in text
    assert all(part.endswith(":ro") for flag, part in pairwise(command) if flag == "--volume")
