# The teacher's notebook, as test_sorting.py reads it: a cell behind each line of `# %%`, with its id and points.

# %% [markdown]
# # Sorting
#
# Five questions and a text, for 16 points.

# %% imports
from sorting import cards

from coursegrade import check

# %% [markdown]
# ## Is it sorted?

# %% is_sorted
def is_sorted(values):
    ### BEGIN SOLUTION
    return all(a <= b for a, b in zip(values, values[1:], strict=False))
    ### END SOLUTION

# %% check_is_sorted 1
check.sorting.is_sorted(is_sorted)

# %% more_is_sorted 1
### BEGIN HIDDEN TESTS
_rng = check.unseen("is_sorted")
check.sorting.is_sorted(is_sorted, {"drawn": (_rng.integers(0, 9, 5).tolist(),), "two equal": ([4, 4],)})
### END HIDDEN TESTS

# %% [markdown]
# ## Put one in

# %% insert
def insert(value, values):
    ### BEGIN SOLUTION
    place = 0
    while place < len(values) and values[place] <= value:
        place += 1
    return values[:place] + [value] + values[place:]
    ### END SOLUTION

# %% check_insert 1
check.sorting.insert(insert)

# %% more_insert 1
### BEGIN HIDDEN TESTS
_rng = check.unseen("insert")
check.sorting.insert(insert, {"drawn": (int(_rng.integers(0, 9)), sorted(_rng.integers(0, 9, 6).tolist()))})
### END HIDDEN TESTS

# %% [markdown]
# ## Merge

# %% merge
def merge(a, b):
    ### BEGIN SOLUTION
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            found.append(a[i])
            i += 1
        else:
            found.append(b[j])
            j += 1
    return found + a[i:] + b[j:]
    ### END SOLUTION

# %% check_merge 1
check.sorting.merge(merge)

# %% more_merge 2
### BEGIN HIDDEN TESTS
_rng = check.unseen("merge")
_drawn = [sorted(_rng.integers(0, 99, n).tolist()) for n in (6, 4)]
check.sorting.merge(merge, {"drawn": tuple(_drawn)})
### END HIDDEN TESTS

# %% [markdown]
# ## Sort
#
# Cut in the middle, the first half being the shorter one.

# %% merge_sort
def merge_sort(values):
    ### BEGIN SOLUTION
    if len(values) < 2:
        return list(values)
    middle = len(values) // 2
    return merge(merge_sort(values[:middle]), merge_sort(values[middle:]))
    ### END SOLUTION

# %% check_merge_sort 1
check.sorting.merge_sort(merge_sort)

# %% more_merge_sort 2
### BEGIN HIDDEN TESTS
_rng = check.unseen("merge_sort")
check.sorting.merge_sort(merge_sort, {"drawn": (_rng.integers(0, 99, 9).tolist(),)})
### END HIDDEN TESTS

# %% [markdown]
# ## Sort by a column

# %% sort_by
def sort_by(rows, column):
    ### BEGIN SOLUTION
    return sorted(rows, key=lambda row: row[column])
    ### END SOLUTION

# %% check_sort_by 1
check.sorting.sort_by(sort_by)

# %% more_sort_by 2
### BEGIN HIDDEN TESTS
_rng = check.unseen("sort_by")
check.sorting.sort_by(sort_by, {"cards": (cards(9, int(_rng.integers(99))), int(_rng.integers(2)))})
### END HIDDEN TESTS

# %% [markdown]
# ## What is a stable sort good for?

# %% stability 3
# ### BEGIN SOLUTION
# Sort by suit, then by rank: within a rank the suits stay in order.
# ### END SOLUTION

# %% score
check.score()
