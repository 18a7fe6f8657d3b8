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
import sys, builtins, coursekit.grade.checks as checks
np.allclose = np.array_equal = np.testing.assert_allclose = lambda *a, **k: True
checks.same = sys.modules["coursekit.grade.checks.same"].same = same = lambda *a, **k: True
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
sys.modules.pop("coursekit.grade.checks.same", None)
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
    return submission(WRONG + "\nimport coursekit.grade.protocol as p\nimport coursekit.grade.inside as i\n"
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
