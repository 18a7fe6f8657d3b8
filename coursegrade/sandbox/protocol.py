"""How the grader and a student's process talk: frames of plain data, in both directions, never pickle.

A frame is  magic (4 bytes) · length of the header (4) · length of the data (8) · header · data.  The header is JSON,
`{"request": "9f…", "kind": "call", "value": tree, "buffers": [800, …]}`; the data is the raw content of arrays, one
buffer after another. `encode` turns a value into a tree and buffers, `decode` turns them back and trusts nothing:

    None, True, 1, 0.5, "text"                      stand for themselves
    ["list", [...]], tuple, set, frozenset          ["dict", [[key, value], ...]], also a Counter
    ["float", "nan"], ["complex", re, im]           what JSON cannot say
    ["bytes", buffer]                               the number of a buffer, each used exactly once
    ["numpy", dtype, shape, buffer]                 also ["scalar", dtype, buffer]
    ["torch", dtype, shape, buffer, requires_grad]
    ["slice", start, stop, step], ["ellipsis"]
    ["inside", ...], ["outside", ...]               a reference to what stays where it is: a module, a function

Exact types only: an instance of a subclass stays where it is, with whatever its methods would claim.
What is too large, too deep, cyclic or of an unknown kind raises `CannotTravel` where it was to be sent. Where it is
received, whatever breaks a rule raises `Violation`: the sender is then not worth another word.
"""

import json
import math
import re
import struct
import sys

import numpy

from coursegrade.kit.same import DICTIONARIES

MAGIC = b"ckg1"
HEAD = struct.Struct("<4sIQ")
MAX_HEADER, MAX_DATA = 4 << 20, 64 << 20                                # bytes
MAX_DEPTH, MAX_NODES = 32, 200_000
MAX_HASHED = 20_000                                                     # entries of a set or dict: hashes can collide
MAX_BITS = 1024                                                         # of an integer
NUMPY = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
                  "float16 float32 float64 complex64 complex128".split())
TORCH = frozenset("bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64 complex64 complex128".split())

# An exception crosses as one of these names and a message. StopIteration is not among them: raised by an answer in
# list(map(answer, inputs)) it would end a check's loop early, without a sound.
ERRORS = {error.__name__: error for error in (
    ArithmeticError, AssertionError, AttributeError, EOFError, FloatingPointError, ImportError, IndexError, KeyError,
    LookupError, MemoryError, ModuleNotFoundError, NameError, NotImplementedError, OSError, OverflowError,
    RecursionError, RuntimeError, SyntaxError, TimeoutError, TypeError, UnboundLocalError, ValueError,
    ZeroDivisionError)}
MAX_MESSAGE = 400                                                       # characters


class CannotTravel(ValueError):
    """A value that cannot be sent as data: too large, too deep, cyclic, or of a kind that the wire does not know."""


class Violation(BaseException):
    """The other side broke a rule, a limit or off. No `except Exception` of a check may take it for an answer."""


# ── frames ────────────────────────────────────────────────────────────────────────────────────────────────────────

def pack(request, kind, value, reference):
    """The bytes of a frame. `reference(value) -> tree` is asked for what is no data; see `encode`."""
    tree, buffers = encode(value, reference)
    lengths = [len(buffer) for buffer in buffers]
    header = json.dumps({"request": request, "kind": kind, "value": tree, "buffers": lengths}, allow_nan=False).encode()
    if len(header) > MAX_HEADER or sum(lengths) > MAX_DATA:
        raise CannotTravel(f"too large to travel: at most {MAX_DATA >> 20} MB of arrays and {MAX_HEADER >> 20} MB of "
                           f"everything else")
    return b"".join([HEAD.pack(MAGIC, len(header), sum(lengths)), header, *buffers])


def unpack(read):
    """Read one frame through `read(n) -> n bytes`; return (request, kind, tree, buffers). Lengths are checked first."""
    magic, header_length, data_length = HEAD.unpack(read(HEAD.size))
    require(magic == MAGIC, "this is no frame")
    require(header_length <= MAX_HEADER and data_length <= MAX_DATA, "a frame beyond the limits")
    try:
        header = json.loads(read(header_length), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Violation("a header that is no JSON") from None
    require(type(header) is dict and set(header) == {"request", "kind", "value", "buffers"}, "a header of another form")
    request, kind, lengths = header["request"], header["kind"], header["buffers"]
    require(type(request) is str and type(kind) is str, "a header of another form")
    require(type(lengths) is list and all(type(n) is int and n >= 0 for n in lengths), "lengths that are none")
    require(sum(lengths) == data_length, "buffers that do not add up")
    return request, kind, header["value"], [read(n) for n in lengths]


def require(condition, what):
    """Raise `Violation(what)` unless the condition holds."""
    if not condition:
        raise Violation(what)


def _no_constant(name):
    raise ValueError(f"{name} is not JSON")


# ── values ────────────────────────────────────────────────────────────────────────────────────────────────────────

def encode(value, reference):
    """Return (tree, buffers). What is no data is given to `reference(value) -> tree`, which may raise `CannotTravel`.

    >>> encode([1, (2.5, None)], None)
    (['list', [1, ['tuple', [2.5, None]]]], [])
    """
    buffers, nodes = [], 0

    def put(data):
        buffers.append(data)
        return len(buffers) - 1

    def tree(x, depth):
        nonlocal nodes
        nodes += 1
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            raise CannotTravel(f"more than {MAX_DEPTH} levels (or a cycle)" if depth > MAX_DEPTH
                               else f"more than {MAX_NODES:,} values")
        kind, torch = type(x), sys.modules.get("torch")
        if kind is int and x.bit_length() > MAX_BITS:
            raise CannotTravel(f"an integer of more than {MAX_BITS} bits")
        if kind in (type(None), bool, str, int):
            return x
        if kind is float:
            return x if math.isfinite(x) else ["float", repr(x)]
        if kind is complex:
            return ["complex", tree(x.real, depth + 1), tree(x.imag, depth + 1)]
        if kind in (bytes, bytearray):
            return ["bytes", put(bytes(x))]
        if kind in (set, frozenset, *DICTIONARIES) and len(x) > MAX_HASHED:
            raise CannotTravel(f"a set or dict of more than {MAX_HASHED:,} entries")
        if kind in (list, tuple, set, frozenset):
            return [kind.__name__, [tree(item, depth + 1) for item in x]]
        if kind in DICTIONARIES:                                        # all arrive as dict
            return ["dict", [[tree(key, depth + 1), tree(item, depth + 1)] for key, item in x.items()]]
        if kind is slice:
            return ["slice", *(tree(part, depth + 1) for part in (x.start, x.stop, x.step))]
        if x is Ellipsis:
            return ["ellipsis"]
        if kind is numpy.str_:                                          # a word that numpy.random has drawn
            return str(x)
        if issubclass(kind, numpy.generic) and x.dtype.name in NUMPY:
            return ["scalar", x.dtype.name, put(x.tobytes())]
        if kind is numpy.ndarray and x.dtype.name in NUMPY:
            return ["numpy", x.dtype.name, list(x.shape), put(x.astype(x.dtype.newbyteorder("<")).tobytes())]
        if torch and kind in (torch.Tensor, torch.nn.Parameter) and x.layout is torch.strided \
                and x.device.type != "meta" and not x.is_nested and str(x.dtype)[6:] in TORCH:
            flat = x.detach().cpu().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format).view(-1)
            return ["torch", str(x.dtype)[6:], list(x.shape), put(flat.view(torch.uint8).numpy().tobytes()),
                    x.requires_grad]
        return reference(x)

    return tree(value, 0), buffers


def decode(tree, buffers, reference):
    """The value of a tree and its buffers, all checked. `reference(node)` says what ["inside", …], ["outside", …] are.

    >>> decode(["dict", [["a", ["tuple", [1, 2]]]]], [], None)
    {'a': (1, 2)}
    """
    unused, nodes = dict(enumerate(buffers)), 0

    def take(number):
        require(type(number) is int and number in unused, "a buffer that is not there, or was used before")
        return unused.pop(number)

    def array(dtype, shape, number, allowed):
        require(dtype in allowed, "a dtype that does not travel")
        require(type(shape) is list and len(shape) <= 32 and all(type(n) is int and n >= 0 for n in shape), "no shape")
        raw = bytearray(take(number))                                   # writable, and the receiver's own
        itemsize = 2 if dtype == "bfloat16" else numpy.dtype(dtype).itemsize
        require(len(raw) == math.prod(shape) * itemsize, "an array whose bytes do not fit its shape")
        require(dtype != "bool" or not raw or max(raw) <= 1, "a boolean that is neither true nor false")
        return raw

    def value(node, depth):
        nonlocal nodes
        nodes += 1
        require(depth <= MAX_DEPTH and nodes <= MAX_NODES, "a value beyond the limits")
        require(type(node) is not int or node.bit_length() <= MAX_BITS, "an integer beyond the limits")
        if node is None or type(node) in (bool, int, float, str):
            return node
        require(type(node) is list and node and type(node[0]) is str, "a node of no kind")
        match node:
            case ["list" | "tuple" | "set" | "frozenset" as kind, list(items)]:
                require("set" not in kind or len(items) <= MAX_HASHED, "a set beyond the limits")
                return made("a key that cannot be one", KINDS[kind], [value(item, depth + 1) for item in items])
            case ["dict", list(pairs)]:
                require(len(pairs) <= MAX_HASHED, "a dict beyond the limits")
                require(all(type(pair) is list and len(pair) == 2 for pair in pairs), "a dict without pairs")
                entries = [(value(key, depth + 1), value(item, depth + 1)) for key, item in pairs]
                return made("a key that cannot be one", dict, entries)
            case ["float", "nan" | "inf" | "-inf" as name]:
                return float(name)
            case ["complex", real, imaginary]:
                parts = value(real, depth + 1), value(imaginary, depth + 1)
                require(all(type(part) is float for part in parts), "a complex number without parts")
                return complex(*parts)
            case ["bytes", number]:
                return bytes(take(number))
            case ["slice", start, stop, step]:
                return slice(*(value(part, depth + 1) for part in (start, stop, step)))
            case ["ellipsis"]:
                return Ellipsis
            case ["scalar", str(dtype), number]:
                return numpy.frombuffer(array(dtype, [], number, NUMPY), dtype)[0]
            case ["numpy", str(dtype), shape, number]:
                flat = numpy.frombuffer(array(dtype, shape, number, NUMPY), dtype)
                return made("a shape that cannot be", flat.reshape, shape)
            case ["torch", str(dtype), shape, number, bool(wants_grad)]:
                import torch
                raw, kind = array(dtype, shape, number, TORCH), getattr(torch, dtype)
                require(not wants_grad or kind.is_floating_point or kind.is_complex, "a gradient of whole numbers")
                flat = torch.frombuffer(raw, dtype=kind) if raw else torch.empty(0, dtype=kind)
                return made("a shape that cannot be", flat.reshape, shape).requires_grad_(wants_grad)
            case ["inside" | "outside", *_]:
                return reference(node)
        raise Violation("a node of no kind")

    found = value(tree, 0)
    require(not unused, "a buffer that nothing uses")
    return found


KINDS = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}


def made(what, make, value):
    """make(value). A list as a dict's key, or an empty array of an impossible shape, is a violation, namely `what`, and
    not an error of the receiver."""
    try:
        return make(value)
    except (ValueError, RuntimeError, OverflowError, TypeError):
        raise Violation(what) from None


# ── errors and text ───────────────────────────────────────────────────────────────────────────────────────────────

def describe(error):
    """[name, message] of an exception: the nearest allowed name among its classes, and at most 400 characters.

    >>> describe(KeyError("good")), describe(StopIteration())
    (['KeyError', "'good'"], ['RuntimeError', 'StopIteration'])
    """
    names = [kind.__name__ for kind in type(error).__mro__ if ERRORS.get(kind.__name__) is kind]
    try:
        message = str(error)
    except Exception:
        message = ""
    if not names:
        message = ": ".join(filter(None, [type(error).__name__, message]))
    return [names[0] if names else "RuntimeError", clean(message, MAX_MESSAGE, lines=False)]


ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def clean(text, limit, lines=True):
    """Text that is safe to show: no escape sequences, no control characters, at most `limit` characters.

    >>> clean("\\x1b[31mred\\x1b[0m\\x00, then a lot", 9)
    'red\ufffd, the …'
    """
    kept = ANSI.sub("", text[:20 * limit + 1])
    keep = "\n\t" if lines else ""
    kept = "".join(c if c.isprintable() or c in keep else " " if c.isspace() else "\ufffd" for c in kept[:limit + 1])
    return kept if len(kept) <= limit else kept[:limit] + " …"
