"""The wire: what is sent arrives; what breaks a rule is a violation, never an error or a value."""

import collections
import json
import math
import struct

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursegrade.sandbox import protocol
from coursegrade.sandbox.protocol import CannotTravel, Violation, clean, decode, describe, pack, unpack


def there_and_back(value):
    frame = pack("7f", "call", value, stays)
    request, kind, tree, buffers = unpack(reader(frame))
    assert (request, kind) == ("7f", "call")
    return decode(tree, buffers, lambda node: node)


def stays(thing):
    return ["inside", type(thing).__name__]


def reader(data):
    place = 0

    def read(n):
        nonlocal place
        if place + n > len(data):
            raise Violation("its process ended")
        place += n
        return data[place - n:place]
    return read


def frame(header, data=b"", magic=b"ckg1"):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<4sIQ", magic, len(header), len(data)) + header + data


def arrive(tree, *buffers):
    return decode(tree, list(buffers), lambda node: node)


plain = st.none() | st.booleans() | st.integers(-2 ** 1023, 2 ** 1023) | st.floats(allow_nan=False) | st.text()
plain |= st.binary() | st.complex_numbers(allow_nan=False)
values = st.recursive(plain, lambda inner: st.lists(inner) | st.lists(inner).map(tuple)
                      | st.dictionaries(st.text() | st.integers() | st.tuples(st.text()), inner)
                      | st.sets(st.integers() | st.text()) | st.frozensets(st.integers()), max_leaves=20)


@given(values)
def test_plain_values_arrive_as_they_were(value):
    arrived = there_and_back(value)
    assert arrived == value and type(arrived) is type(value)
    assert repr(arrived) == repr(value) or isinstance(value, (set, frozenset, dict, list, tuple))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, -0.0])
def test_numbers_that_json_lacks(number):
    assert repr(there_and_back(number)) == repr(number)


@pytest.mark.parametrize("dtype", sorted(protocol.NUMPY))
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3)])
def test_numpy_arrays(dtype, shape):
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    arrived = there_and_back(array)
    assert type(arrived) is np.ndarray and arrived.dtype == dtype and arrived.shape == shape
    assert np.array_equal(arrived, array) and arrived.flags.writeable


@pytest.mark.parametrize("dtype", sorted(protocol.TORCH))
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3)])
def test_tensors(dtype, shape):
    tensor = torch.arange(math.prod(shape)).reshape(shape).to(getattr(torch, dtype))
    arrived = there_and_back(tensor)
    assert type(arrived) is torch.Tensor and arrived.dtype == tensor.dtype and arrived.shape == tensor.shape
    assert torch.equal(arrived, tensor)


def test_views_byte_orders_and_gradients():
    assert np.array_equal(there_and_back(np.arange(6).reshape(2, 3).T), [[0, 3], [1, 4], [2, 5]])
    assert np.array_equal(there_and_back(np.array([1, 2], ">i4")), [1, 2])
    assert torch.equal(there_and_back(torch.arange(6).reshape(2, 3).T[1]), torch.tensor([1, 4]))
    assert there_and_back(torch.ones(2, requires_grad=True)).requires_grad
    assert there_and_back(torch.nn.Parameter(torch.ones(2))).requires_grad
    assert torch.equal(there_and_back(torch.tensor([1 + 2j]).conj()), torch.tensor([1 - 2j]))


def test_numbers_of_numpy_keep_their_type():
    for number in (np.float32(1.5), np.float64(2.5), np.int8(-3), np.bool_(True)):
        arrived = there_and_back(number)
        assert arrived == number and type(arrived) is type(number)


def test_a_word_that_numpy_has_drawn_arrives_as_a_string():
    words = np.random.default_rng(0).choice(["good", "bad"], 3)
    assert there_and_back([*words]) == words.tolist() and type(there_and_back(words[0])) is str


def test_slices_ellipses_and_dictionaries_of_other_kinds():
    assert there_and_back((slice(1, None, 2), Ellipsis)) == (slice(1, None, 2), Ellipsis)
    for mapping in (collections.Counter("aab"), collections.OrderedDict(a=2, b=1), collections.defaultdict(int, a=2)):
        assert there_and_back(mapping) == dict(mapping) and type(there_and_back(mapping)) is dict


class List(list):
    pass


@pytest.mark.parametrize("thing", [List([1]), np.ma.array([1]), np.array(["a"]), np.array([None]), print, range(3),
                                   collections.namedtuple("Pair", "a b")(1, 2), torch.zeros(2).to_sparse(),
                                   torch.zeros(2, device="meta"), type("S", (str,), {})("s"), torch.Size([1])])
def test_what_is_not_exactly_data_stays(thing):
    assert there_and_back([thing]) == [["inside", type(thing).__name__]]


def deep():
    value = []
    for _ in range(40):
        value = [value]
    return value


def cyclic():
    value = {}
    value["self"] = [value]
    return value


@pytest.mark.parametrize("value", [deep(), cyclic(), list(range(300_000)), "x" * (5 << 20), np.zeros(9 << 20),
                                   1 << 2000, [np.zeros(5 << 20)] * 2], ids=lambda value: type(value).__name__)
def test_what_is_too_much_does_not_leave(value):
    with pytest.raises(CannotTravel):
        there_and_back(value)


HEADER = {"request": "7f", "kind": "result", "value": 1, "buffers": []}


@pytest.mark.parametrize("data", [
    b"", b"garbage" * 10, frame(HEADER, magic=b"ckg2"), frame(b"{"), frame(b"[" * 100_000), frame(b"\xff\xfe"),
    frame(b"9" * 5000), frame([1]), frame({}), frame(HEADER | {"more": 1}), frame(HEADER | {"request": 7}),
    frame(HEADER | {"kind": None}), frame(HEADER | {"buffers": 3}), frame(HEADER | {"buffers": [1]}),
    frame(HEADER | {"buffers": [-1, 1]}), frame(HEADER | {"buffers": [True]}, b"x"), frame(HEADER, b"x"),
    frame(b'{"request": "7f", "kind": "result", "value": NaN, "buffers": []}'),
    struct.pack("<4sIQ", b"ckg1", 2 ** 32 - 1, 0), struct.pack("<4sIQ", b"ckg1", 0, 2 ** 64 - 1),
], ids=range(20))
def test_frames_that_are_none(data):
    with pytest.raises(Violation):
        unpack(reader(data))


def test_promised_lengths_are_checked_before_anything_is_read():
    asked = []

    def read(n):
        asked.append(n)
        return struct.pack("<4sIQ", b"ckg1", 2 ** 32 - 1, 2 ** 64 - 1)
    with pytest.raises(Violation):
        unpack(read)
    assert asked == [16]


@given(st.binary(max_size=200))
def test_random_bytes_are_violations(data):
    with pytest.raises(Violation):
        unpack(reader(data))


EIGHT = bytes(8)


@pytest.mark.parametrize("tree, buffers", [
    ([], []), (["list"], []), (["list", 3], []), (["list", [1], 2], []), ([1, 2], []), ({"a": 1}, []),
    (["module", "os"], []),
    (["dict", [[1]]], []), (["dict", [1]], []), (["dict", [[["list", []], 1]]], []), (["set", [["list", []]]], []),
    (["float", "1e5"], []), (["float", 1], []), (["complex", 1, 2], []), (["complex", 1.0, "x"], []), (1 << 1025, []),
    (["bytes", 0], []), (["bytes", -1], [EIGHT]), (["bytes", True], [EIGHT, EIGHT]), (["bytes", "0"], [EIGHT]),
    (1, [EIGHT]),
    (["list", [["bytes", 0], ["bytes", 0]]], [EIGHT]),
    (["numpy", "float64", [2], 0], [EIGHT]), (["numpy", "float64", [-1], 0], [EIGHT]),
    (["numpy", "object", [1], 0], [EIGHT]),
    (["numpy", "float64", 1, 0], [EIGHT]), (["numpy", "float64", [1.0], 0], [EIGHT]),
    (["numpy", "<M8[s]", [1], 0], [EIGHT]),
    (["numpy", "float64", [0, 2 ** 62, 2 ** 62], 0], [b""]), (["numpy", "float64", [1] * 40, 0], [EIGHT]),
    (["numpy", "float64", [0, 10 ** 30], 0], [b""]), (["torch", "float64", [0, 10 ** 30], 0, False], [b""]),
    (["numpy", "bool", [8], 0], [b"\x02" * 8]), (["torch", "bool", [8], 0, False], [b"\xff" * 8]),
    (["scalar", "bool", 0], [b"\x03"]), (["scalar", "float64", 0], [b"\x03"]), (["scalar", "object", 0], [EIGHT]),
    (["torch", "float64", [1], 0], [EIGHT]), (["torch", "int64", [1], 0, True], [EIGHT]),
    (["torch", "load", [1], 0, False], [EIGHT]), (["torch", "quint8", [8], 0, False], [EIGHT]),
    (["list", [0] * 200_001], []), (json.loads("[\"list\", [" * 34 + "]]" * 34), []),
])
def test_values_that_are_none(tree, buffers):
    with pytest.raises(Violation):
        arrive(tree, *buffers)


json_values = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(
    ["list", "tuple", "dict", "set", "numpy", "torch", "float64", "bool", "bytes", "slice", "nan", "complex"]),
    lambda inner: st.lists(inner, max_size=5))


@given(json_values, st.lists(st.binary(max_size=16), max_size=2))
def test_random_trees_are_values_or_violations(tree, buffers):
    try:
        arrive(tree, *buffers)
    except Violation:
        pass


def test_a_boolean_is_true_or_false():
    assert arrive(["numpy", "bool", [2], 0], b"\x00\x01").tolist() == [False, True]


def test_errors_cross_as_an_allowed_name_and_a_short_clean_message():
    class Mine(ValueError):
        pass

    class Impostor(Exception):
        def __str__(self):
            raise RuntimeError

    assert describe(Mine("no\x1b[31m red\x00")) == ["ValueError", "no red\ufffd"]
    assert describe(StopIteration(3)) == ["RuntimeError", "StopIteration: 3"]
    assert [describe(error()) for error in (KeyboardInterrupt, SystemExit, Impostor)] == [
        ["RuntimeError", name] for name in ("KeyboardInterrupt", "SystemExit", "Impostor")]
    assert describe(type("ValueError", (Exception,), {})("x"))[0] == "RuntimeError"
    assert len(describe(ValueError("x" * 10_000))[1]) < 410
    assert not any(issubclass(error, (StopIteration, GeneratorExit)) for error in protocol.ERRORS.values())
    assert not issubclass(Violation, Exception)


@given(st.text(), st.integers(0, 50))
def test_clean_text_can_be_shown_and_written(text, limit):
    kept = clean(text, limit)
    assert len(kept) <= limit + 2 and all(c.isprintable() or c in "\n\t" for c in kept)
    kept.encode()


@pytest.mark.parametrize("tensor", [torch.arange(10.0)[::5][1:], (torch.tensor([0.2, 0.9]) > 0.5).nonzero()[:1],
                                    torch.arange(6.0).reshape(2, 3).T, torch.tensor(3.0), torch.zeros(0, 3),
                                    torch.tensor(np.arange(3.0)[np.array([], int)])])
def test_tensors_arrive_whatever_their_strides(tensor):
    assert torch.equal(there_and_back(tensor), tensor)
