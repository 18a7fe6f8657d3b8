"""The one comparison of all checks: what counts as the same, what does not, and how it says so."""

import collections
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursegrade.kit.same import TOLERANCE, difference, kind, same
from coursegrade.kit.values import shown

PLAIN = st.recursive(st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.text(max_size=4),
                     lambda some: st.lists(some, max_size=4) | st.dictionaries(st.text(max_size=2), some, max_size=3),
                     max_leaves=12)


@given(PLAIN)
def test_everything_is_the_same_as_itself(value):
    assert same(value, value) and difference(value, value) is None


@given(PLAIN, PLAIN)
def test_what_is_the_same_is_also_equal(got, expected):
    if same(got, expected):
        assert got == pytest.approx(expected, rel=1e-3) if isinstance(got, float) else kind(got) in (
            kind(expected), "a whole number")
    else:
        assert got != expected or type(got) is not type(expected) or kind(got) in ("a list", "a dictionary")


@pytest.mark.parametrize("got, expected, words", [
    (None, torch.ones(2), "got None, expected a tensor"),
    ([1.0, 2.0], torch.ones(2), "wrap it in torch.tensor"),
    (np.ones(2), torch.ones(2), "got a NumPy array, expected a tensor"),
    (torch.ones(2, 1), torch.ones(2), "the shape is (2, 1), expected (2,)"),
    (torch.zeros(0), torch.ones(2), "the shape is (0,), expected (2,)"),
    (torch.ones(2).double(), torch.ones(2), "the dtype is float64, expected float32"),
    (torch.ones(2, dtype=torch.long), torch.ones(2), "the dtype is int64"),
    (np.array([0, 2]), np.array([0.5, 2.0]), "the dtype is int64"),
    (np.array([1.0, 2.0]), np.array([1, 2]), "the dtype is float64"),
    (np.array([True, False]), np.array([1, 0]), "the dtype is bool"),
    (np.array([1, 0]), np.array([True, False]), "the dtype is int64"),
    (np.array([0.5, 3.0]), (0.5, 2.0), "at [1]: got 3, expected 2"),
    (np.array([0.5, 2.0]), (0.5, 2), "at [1]: got a number, expected a whole number"),
    (np.array([1, 2]), [1, 2], "got a NumPy array, expected a list"),
    (np.array([[1.0], [2.0]]), (1.0, 2.0), "got a NumPy array, expected a tuple"),
    (torch.tensor([1.0, math.nan]), torch.ones(2), "contains nan (not a number), for the first time at [1]"),
    (torch.tensor([[1.0, -math.inf]]), torch.ones(1, 2), "contains -inf where a finite number is due, first at [0, 1]"),
    (torch.tensor([0.0, 0.0]), torch.tensor([0.0, -math.inf]), "1 of 2 values differ"),
    (0.0, math.inf, "got 0, expected inf"),
    (torch.tensor([1.0, 1.1]), torch.ones(2), "1 of 2 values differ, the first at [1]: got 1.1, expected 1"),
    (torch.tensor([True, False]), torch.tensor([True, True]), "the first at [1]: got False, expected True"),
    (math.nan, 1.0, "not a number"),
    (1, True, "got a whole number, expected True or False"),
    (True, 1, "got True or False, expected a whole number"),
    (2.0, 2, "got a number, expected a whole number"),
    ("2", 2, "got a string"),
    ((1, 2), (1, 2, 3), "2 entries, expected 3"),
    ([1, [2, 3]], [1, [2, 4]], "at [1][1]: got 3, expected 4"),
    ({"a": 1}, {"a": 2}, "at ['a']: got 1, expected 2"),
    ({"a": 1}, {"a": 1, "b": 2}, "there is no 'b'"),
    ({"a": 1, "c": 1}, {"a": 1}, "there is 'c', which should not be there"),
    ({1: 1}, {"a": 1}, "a key is a whole number, expected a string"),
    (range(3), [0, 1, 2], "wrap it in list(...)"),
    ((x for x in [1]), [1], "a generator (wrap it in list(...))"),
    (10 ** 400, 1.0, "got an enormous whole number, expected a number"),
    (10 ** 400, 3, "got an enormous whole number, expected a whole number"),
    (print, 3, "a function (was it called, with brackets?)"),
    (int, 3, "the class int"),
])
def test_difference_says_what_differs(got, expected, words):
    assert words in difference(got, expected)
    assert not same(got, expected)


def test_a_number_alone_has_no_place():
    for number, words in ((math.nan, "nan (not a number)"), (math.inf, "inf where a finite number is due")):
        assert difference(torch.tensor(number), torch.tensor(1.0)) == f"contains {words}"


@pytest.mark.parametrize("got, expected", [
    ([1, 2], (1, 2)), ((1, (2,)), [1, [2]]), (collections.Counter("aab"), {"a": 2, "b": 1}),
    (collections.defaultdict(int, a=1), {"a": 1}), (np.int64(3), 3), (np.float32(0.5), 0.5), (torch.tensor(0.5), 0.5),
    (3, 3.0), (np.bool_(True), True), (np.str_("a"), "a"), (torch.ones(2, requires_grad=True), torch.ones(2)),
    (torch.tensor(True), True), (np.array([1, 2], np.int32), np.array([1, 2])), (np.array([1, 0]), np.array([1.0, 0])),
    (np.array([1, 2], np.uint8), np.array([1, 2])), (np.array([0.5, 2.0]), (0.5, 2.0)), (np.array([3, 4]), (3, 4)),
    (torch.nn.Parameter(torch.ones(2)), torch.ones(2)), (torch.zeros(0, 3), torch.zeros(0, 3)),
    (torch.tensor([-math.inf, 0.0]), torch.tensor([-math.inf, 0.0])), ({1, 2}, frozenset([2, 1])),
    (torch.ones(2).bfloat16(), torch.ones(2).bfloat16()),
])
def test_what_counts_as_the_same(got, expected):
    assert difference(got, expected) is None


@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_tolerance_depends_on_the_dtype(dtype):
    expected = torch.ones(3, dtype=getattr(torch, dtype))
    relative = TOLERANCE[dtype][0]
    assert not same(expected * (1 + 3 * relative), expected)
    assert same(torch.ones(3, dtype=torch.float64).mul(1 + relative / 10).to(expected.dtype), expected)


ONES = torch.ones(2, 2)
ODD = {"sparse": lambda: ONES.to_sparse(), "sparse rows": lambda: ONES.to_sparse_csr(),
       "quantised": lambda: torch.quantize_per_tensor(ONES, 0.5, 0, torch.quint8),
       "nested": lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]),
       "no values": lambda: ONES.to("meta"), "one number, without a value": lambda: torch.tensor(1.0, device="meta")}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("expected", [ONES, torch.tensor(1.0), 1.0, 1, True, np.ones((2, 2)), [1.0], None])
def test_tensors_that_do_not_hold_their_numbers_are_told_in_one_line(name, expected):
    odd = ODD[name]()
    for words in (difference(odd, expected), difference([odd], [expected])):
        assert "got a tensor that does not simply hold its numbers (sparse, quantised," in words and "\n" not in words
    assert shown(odd) == "a tensor that does not simply hold its numbers"


def test_a_tensor_that_is_stored_with_its_sign_turned_is_a_tensor():
    negative = torch.tensor([1 - 2j, 3 + 4j]).conj().imag               # a view with torch's negative bit
    assert negative.is_neg() and same(negative, torch.tensor([2.0, -4.0]))


class Liar:
    """Says yes to everything; as a handle might."""

    shape, dtype, ndim = (2,), torch.float32, 1
    __class__ = torch.Tensor

    def __eq__(self, other):
        raise AssertionError("the comparison asked the object")

    __hash__ = None
    __array__ = __len__ = __iter__ = __float__ = __bool__ = __getitem__ = __sub__ = __rsub__ = __repr__ = __eq__
    numpy = detach = mean = tolist = item = __call__ = __eq__


class LyingTensor(torch.Tensor):
    def __eq__(self, other):
        return True


class LyingInt(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


LOOKALIKES = [type(name, (Liar,), {})() for name in ("tensor", "list", "dictionary", "set", "number", "whole number",
                                                     "NumPy array", "string", "function", "Tensor", "tuple")]


@pytest.mark.parametrize("lie", [Liar(), LyingInt(3), torch.zeros(2).as_subclass(LyingTensor), *LOOKALIKES])
@pytest.mark.parametrize("expected", [torch.ones(2), np.ones(2), 7, 1.0, True, "a", [1, 2], {"a": 1}, {1}, None])
def test_objects_that_lie_are_not_asked(lie, expected):
    assert not same(lie, expected)
    assert not same([lie], [expected])
    assert isinstance(kind(lie), str)


def test_difference_without_numbers_tells_none():
    pairs = [(torch.tensor([7.25]), torch.tensor([8.5])), (7.25, 8.5), ([7, 8], [7, 9, 8.5]), ({"7.25": 1}, {"8.5": 1}),
             ({"8.5": 7.25}, {"8.5": 1.0}), ("7.25", "8.5")]
    for got, expected in pairs:
        words = difference(got, expected, numbers=False)
        assert words and "7.25" not in words and "8.5" not in words
