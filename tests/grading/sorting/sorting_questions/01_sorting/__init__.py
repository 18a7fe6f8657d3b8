"""Questions of assignment 01: is it sorted, put one in, merge, sort, and sort by one column."""

import itertools

from coursegrade.kit.question import question
from coursegrade.kit.score import announce

__all__ = ["is_sorted", "insert", "merge", "merge_sort", "sort_by"]

SORTED = {"its values are sorted": lambda value, values: values == sorted(values)}


@question((1, 1), {"in order": ([1, 3, 3, 8],), "one is too small": ([2, 5, 4, 8],), "no values": ([],)},
          otherwise="Compare each value with the next one. When do you know the answer?")
def is_sorted(values):
    """is_sorted(values): True if no value is smaller than the one before it."""
    return all(a <= b for a, b in itertools.pairwise(values))


is_sorted.mistakes(
    ("Two equal neighbours are in order, too.", "a <= b → a < b"),
    ("Only the first and the last value were compared.", lambda values: not values or values[0] <= values[-1]))


@question((1, 1), {"in between": (4, [1, 3, 8]), "the largest": (9, [1, 3]), "the first of all": (2, [])},
          promises=SORTED, otherwise="Which is the first value that is larger? The new one stands before it.")
def insert(value, values):
    """insert(value, values): the sorted list `values` with one more, as a new list."""
    place = sum(other <= value for other in values)
    return [*values[:place], value, *values[place:]]


insert.mistakes(("It was put at the end, wherever it belongs.", lambda value, values: [*values, value]),
                ("It was put at the beginning, wherever it belongs.", lambda value, values: [value, *values]))


@question((1, 2), {"by turns": ([1, 4, 7], [2, 5]), "the same in both": ([1, 3], [3, 3, 6]), "one is empty": ([], [2])},
          promises={"both are sorted": lambda a, b: a == sorted(a) and b == sorted(b)},
          otherwise="Compare the first values of both, take the smaller away, and go on.")
def merge(a, b):
    """merge(a, b): all values of two sorted lists as one sorted list."""
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            found, i = [*found, a[i]], i + 1
        else:
            found, j = [*found, b[j]], j + 1
    return [*found, *a[i:], *b[j:]]


merge.mistakes(
    ("When one list is used up, what is left of the other was lost.", "[*found, *a[i:], *b[j:]] → found"),
    ("One list stands behind the other: which value is the smallest of all?", lambda a, b: [*a, *b]),
    ("A value that stands in both lists, or twice in one, is due as often.", lambda a, b: sorted({*a, *b})))


@question((1, 2), {"four": ([3, 1, 4, 1],), "five": ([5, 9, 2, 6, 5],), "one": ([7],), "none": ([],)}, lend=("merge",),
          otherwise="Cut the list into two halves. What has to be done with each before they are merged?")
def merge_sort(values):
    """merge_sort(values): the values in order, by two halves that are sorted and merged."""
    middle = len(values) // 2
    halves = values[:middle], values[middle:]
    return merge.reference(*map(merge_sort.reference, halves)) if middle else [*values]


merge_sort.mistakes(
    ("The halves were merged as they were: each has to be sorted first.", "map(merge_sort.reference, halves) → halves"),
    ("They run down, and are to run up.", lambda values: sorted(values, reverse=True)))


@question((1, 2), {"the first column": ([[2, "b"], [1, "z"], [2, "a"]], 0),
                   "the second": ([[2, "b"], [1, "a"], [3, "b"]], 1)},
          otherwise="Only one column decides. What of rows that are equal there?")
def sort_by(rows, column):
    """sort_by(rows, column): the rows in the order of one column; those that are equal there stay in their order."""
    return sorted(rows, key=lambda row: row[column])


sort_by.mistakes(
    ("Rows that are equal in this column are to stay in their order; here another column has decided.",
     lambda rows, column: sorted(rows, key=lambda row: (row[column], row))),
    ("Whole rows were compared. Which column is asked for?", lambda rows, column: sorted(rows)))

announce("sorting", [is_sorted, insert, merge, merge_sort, sort_by], {"stability": 3})
