"""The docstrings of the standard library: prose, in a fixed order, from sources that are never run."""

import inspect
import textwrap

import pytest

from coursekit.text.corpora import stdlib_english


def test_it_is_real_text_of_a_useful_size():
    docstrings = stdlib_english()
    assert 200_000 < sum(map(len, docstrings)) < 1_000_000
    assert len(set(docstrings)) == len(docstrings)
    assert all(len(text.split()) >= 8 and ">>>" not in text for text in docstrings)
    assert inspect.cleandoc(textwrap.dedent.__doc__) in docstrings
    words = " ".join(docstrings).lower().split()
    assert words.count("the") > 0.03 * len(words)  # English


def test_the_same_call_gives_an_equal_list_of_its_own():
    first = stdlib_english()
    first.clear()
    assert stdlib_english() == stdlib_english() != []


def test_order_filter_and_no_side_effects(tmp_path):
    (tmp_path / "b.py").write_text('"""Second file: this sentence has more than eight words in it."""\n'
                                   'raise SystemExit("imported!")\n')
    (tmp_path / "a.py").write_text(textwrap.dedent('''
        """Too short."""
        if True:
            class Kept:
                """A class under an if is found, and its method comes after it."""
                def method(self):
                    """The method's own docstring, which has enough words to be kept."""
        async def table():
            """| 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 |"""
        def example():
            """A docstring with a doctest in it is left out of the corpus. >>> 1 + 1"""
        def again():
            """A class under an if is found, and its method comes after it."""
        text = "\\d"
    '''))
    (tmp_path / "_private.py").write_text('"""Private modules repeat the public ones, so this one is not read."""')
    assert [text.split()[0] + " " + text.split()[1] for text in stdlib_english(tmp_path)] == [
        "A class", "The method's", "Second file:"]


def test_a_python_without_sources_is_told_so_in_one_line(tmp_path):
    with pytest.raises(FileNotFoundError, match="no Python sources in") as caught:
        stdlib_english(tmp_path / "python.zip")
    assert "\n" not in str(caught.value)
