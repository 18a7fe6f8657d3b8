"""Wrong answers that were once told somebody else's slip: each agrees with a mistake of the list by chance, in a case.

None of these slips may be named. To ask whether it was that one is allowed."""

import math

import pytest

from coursegrade import check
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.mistakes import ASKED, as_answer
from coursegrade.kit.score import forget

dyck, autoencoders, evaluation, people = check.dyck, check.autoencoders, check.evaluation, check.people


def answer(module, question):
    """Decorator: the function becomes (the question, what gives the answer), given the reference as well."""
    asked = getattr(module, question)
    return lambda function: (asked, lambda *arguments: function(asked.reference, *arguments))


@answer(dyck, "chances")
def one_level_too_few(right, text, length, depth):
    return as_answer(right, "depth + 2)), 0] → depth + 1)), 0, 0]")(text, length, depth)


@answer(dyck, "chances")
def a_memory_that_knows_no_depth(right, text, length, depth, seen={}):
    def ways(left, height):
        if not 0 <= height <= depth or not left:
            return int(left == height == 0)
        if (left, height) not in seen:
            seen[left, height] = ways(left - 1, height + 1) + ways(left - 1, height - 1)
        return seen[left, height]

    left, height = length - len(text), sum(1 if symbol in "([" else -1 for symbol in text)
    return ways(left, height) * 2 ** ((left - height) // 2), right(text, length, depth)[1]


@answer(dyck, "read")
def a_stack_that_is_never_emptied(right, text, depth, open_still=[]):
    tops, error = right(text, max(depth - len(open_still), 0))
    open_still += [1] * (error == len(text) + 1)
    return tops, error


@answer(dyck, "on_top")
def reads_four_levels(right, A, texts):
    deep = any(dyck.read.reference(text, 4)[1] for text in texts)
    return (math.nan, math.nan, math.nan) if deep else right(A, texts)


@answer(autoencoders, "sharing")
def columns_are_centred(right, W):
    return right(W - W.mean(0))


@answer(evaluation, "complexity")
def losses_above_are_counted(right, f, x, phi, background, epsilon):
    losses = right(f, x, phi, background, epsilon)[0]
    return losses, int((losses > epsilon).sum())


@answer(people, "votes")
def tied_is_not_counted(right, rows):
    return *right(rows)[:3], 0


@answer(people, "votes")
def wrong_and_tied_are_swapped(right, rows):
    used, *counts = right(rows)
    return used, counts[0], counts[2], counts[1]


@answer(people, "votes")
def right_votes_are_never_undone(right, rows):
    used, *counts = right(rows)
    return used, counts[0] + sum(said == "withdraw" for *_, said in rows), *counts[1:]


@answer(people, "effective")
def rounded(right, scores, pieces, q):
    shares, number = right(scores, pieces, q)
    return shares, float(round(number))


@answer(people, "exact")
def without_the_binomial_number(right, k, n, p, confidence):
    law = [p ** h * (1 - p) ** (n - h) for h in range(n + 1)]
    return sum(x for x in law if x <= law[k] * (1 + 1e-7)), *right(k, n, p, confidence)[1:]


@answer(people, "exact")
def all_on_one_side_at_the_ends(right, k, n, p, confidence):
    return right(k, n, p, 2 * confidence - 1 if k in (0, n) and confidence > 0.5 else confidence)


@answer(people, "plan")
def tails_are_not_doubled(right, p, pages, people):
    """A test that looks at both tails, and at 5 % in each."""
    return as_answer(right, "2 * np.minimum → np.minimum")(p, pages, people)


ANSWERS = {name: pair for name, pair in globals().items() if isinstance(pair, tuple)}


@pytest.mark.parametrize("name", ANSWERS)
def test_nobody_is_told_somebody_elses_slip(name):
    forget()
    asked, wrong = ANSWERS[name]
    with pytest.raises(CheckFailed) as failure:
        asked(wrong)
    said = failure.value.advice
    assert said == asked.otherwise or said.startswith(ASKED.partition("{")[0]) or "have changed places" in said
