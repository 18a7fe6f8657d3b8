# %% [markdown]
# # Assignment NUMBER · TITLE
#
# *One question that a person would ask.* What is built here, and what it answers at the end: two or three sentences.
#
# **Before this:** lecture [NUMBER · TITLE](../../lectures/NUMBER_TOPIC.ipynb). **Takes** about 25 minutes, 7 points.
#
# **How it works.** Replace `raise NotImplementedError()` by your answer, run the cell, then run the check below it.
# A check tells you what it tried, what came back and what was expected; run it as often as you like. If it says
# NameError, the answer's own cell has not run (is there a SyntaxError above?). When your work is marked, tests with
# other inputs run as well (sizes, seeds and corner cases), so read the statement, not only the example. A function
# must not change what it is given: whoever calls it still needs that. Add as many cells as you want. Of the three
# hints to a question the first only asks something back; the third has the steps, and leaves one of them to you.
#
# | | question | | minutes | points |
# |---|---|---|---|---|
# | 1 | shares of the sizes | ●○○○ | 10 | 3 |
# | 2 | what shares hide (in words) | ●●○○ | 15 | 4 |

# %% nbgrader={"grade_id": "imports", "locked": true}
import torch

from coursegrade import check
from coursekit import show

# %% [markdown]
# ## 1 · Shares of the sizes
#
# > ●○○○ · 10 minutes · 3 points
# >
# > **Why it matters.** Two explainers count in different units, so their numbers cannot be compared. What part of an
# > explanation a word has can be.
#
# Given the scores $s$ of a document's $T$ tokens, return the tensor $(T,)$, of the same dtype, with each token's
# part in the sum of all sizes,
#
# $$
# \frac{|s_t|}{\sum_{t'} |s_{t'}|}.
# $$
#
# Where all scores are 0, each token has the part $1/T$.
#
# ```
# shares(torch.tensor([6., -2., 0.]))   →   tensor([0.7500, 0.2500, 0.0000])
# shares(torch.zeros(4))                →   tensor([0.2500, 0.2500, 0.2500, 0.2500])
# shares(torch.tensor([-3.]))           →   tensor([1.])
# shares(torch.tensor([2., -2.]))       →   tensor([0.5000, 0.5000])
# ```
#
# <details><summary>Hint 1 · a question</summary>
#
# What do the shares of a document add up to, whatever its scores are?
# </details>
#
# <details><summary>Hint 2 · the idea</summary>
#
# A size is a score without its sign. All sizes are divided by one number, and that number may be 0.
# </details>
#
# <details><summary>Hint 3 · the steps</summary>
#
# ```
# sizes ← the scores without their signs     # (T,)
# total ← what all sizes add up to           # one number
# result ← sizes divided by total            # (T,); and if total is 0?
# ```
# </details>

# %% nbgrader={"grade_id": "shares", "solution": true}
def shares(scores):
    """The part that each score has in the sum of all sizes.

    scores: floating-point tensor (T,), T at least 1.
    Returns a tensor (T,) of the same dtype; 1/T each where all scores are 0.
    """
    ### BEGIN SOLUTION
    sizes = scores.abs()                                                # (T,)
    if not sizes.any():
        return torch.full_like(sizes, 1 / len(sizes))
    return sizes / sizes.sum()
    ### END SOLUTION


# %% nbgrader={"grade_id": "check_shares", "grade": true, "locked": true, "points": 1} tags=["raises-exception"]
check.TOPIC.shares(shares)

# %% nbgrader={"grade_id": "more_shares", "grade": true, "locked": true, "points": 2}
# When your work is marked, other scores, longer ones and in double precision, are tried here.
### BEGIN HIDDEN TESTS
_rng = check.unseen("shares")
check.TOPIC.shares(shares, {
    "one token": (torch.tensor([-float(_rng.uniform(1, 2))]),),
    "one token, and 0": (torch.zeros(1),),
    "nothing but zeros, in double precision": (torch.zeros(5).double(),),
    "many tokens": (torch.tensor(_rng.normal(size=200)).float(),),
    "double precision": (torch.tensor(_rng.normal(size=7)),)})
### END HIDDEN TESTS

# %% [markdown]
# ## 2 · What shares hide
#
# > ●●○○ · 15 minutes · 4 points, read by a person
# >
# > **Why it matters.** Scaled numbers look alike, even where what they stand for does not.
#
# The next cell shows two explanations of one review, as they came and as shares.

# %% tags=["raises-exception"]
tokens = ["not", "a", "good", "film"]
first, second = torch.tensor([-2.0, 0.2, 2.6, -0.2]), torch.tensor([0.02, 0.005, 0.025, 0.0])
rows = [("first", first), ("second", second), ("first, shares", shares(first)), ("second, shares", shares(second))]
show.compare([(name, tokens, scores) for name, scores in rows])

# %% [markdown]
# 1. Which words do the two agree about, before and after the scores were made shares? (2 points)
# 2. Name one thing that the shares hide, and what a reader would believe because of it. (2 points)
#
# About 60 words in all. Full points for a part need a number from above, and a reason.

# %% [markdown] nbgrader={"grade_id": "in_words", "grade": true, "points": 4, "solution": true}
# 1. Both give *good* the most. As they came, they disagree about *not*: −2 in the first, +0.02 in the second. As
#    shares it is 0.4 in both.
# 2. The size: no score of the second reaches 0.03, and its shares add up to 1 all the same. A reader would take both
#    for equally sure.
#
# *Rubric.* Part 1: one point for *good*, one for *not* with its numbers. Part 2: one point for the size or the
# sign, one for what a reader would believe. Numbers must be those that were printed.

# %% [markdown]
# ## Your points, and handing in
#
# Choose *Kernel → Restart Kernel and Run All Cells…* once: an answer that needs a cell you have deleted shows
# itself now, and not when it is marked. A check that does not pass stops none of those behind it, and the last cell
# sums up what they said.
#
# - **On your own machine:** save (Ctrl+S, or ⌘S). Your work is this file,
#   `exercises/NUMBER_TOPIC/NUMBER_TOPIC.ipynb`; hand it in where your course collects work.
# - **On Binder:** the machine vanishes some minutes after you stop working, and your work with it. Save, then
#   choose *File → Download*, now and then and at the end: the downloaded file is what you hand in. To go on another
#   day, open the folder `exercises/NUMBER_TOPIC` in the list on the left, drag your file into it, and let it
#   replace the empty one.
#
# Hand in one file named `NUMBER_TOPIC.ipynb` (a browser may have written `NUMBER_TOPIC (1).ipynb`), with all its
# check cells. If you learn on your own: `solutions/NUMBER_TOPIC` of the course's repository has an answer to every
# question, and says what a good text for question 2 holds.

# %% nbgrader={"grade_id": "score", "locked": true}
check.score()
