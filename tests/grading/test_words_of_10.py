"""Assignment 10's open task is judged by the words that its notebook shows, and by the same exact values."""

import itertools

import numpy as np
import pytest

from coursegrade import check
from tests.grading.bank.assignments import ASSIGNMENTS


def test_the_check_knows_the_words_and_both_tests_of_the_notebook():
    names = ASSIGNMENTS["10_debate"].reference
    assert names["table"] == check.debate.documents.WORDS
    document = ["awful", "but", "good", "plot", "great", "dull"]
    *_, tau, js = names["judged"](document)
    assert check.debate.documents.tests(document)[:2] == pytest.approx((tau, js))
    s, y = np.array([names["table"][word] for word in document]).T
    assert names["shapley"](s, y).sum() == pytest.approx(np.exp(s) / np.exp(s).sum() @ y)


@pytest.mark.parametrize("instead, words", [
    ({"bad": "great"}, "“great” is there twice"), ({"bad": "Bad"}, "'Bad' is no word of the table"),
    ({"bad": 3}, "3 is no word of the table"), ({"bad": None}, "it has 4 words, and 5 to 7 are due")])
def test_what_is_no_document_is_told_why(instead, words):
    first, second = check.debate.solution.opposite()
    wrong = [instead.get(word, word) for word in first if instead.get(word, word) is not None]
    with pytest.raises(check.CheckFailed) as failure:
        check.debate.opposite(lambda: (wrong, second))
    assert f"the first document: {words}" in str(failure.value)


@pytest.mark.slow
def test_no_two_documents_are_opposed_by_more_than_the_best_known():
    documents = check.debate.documents
    tau, js = np.array([documents.tests(words)[:2] for n in (5, 6, 7)
                        for words in itertools.combinations(documents.WORDS, n)]).T
    assert len(tau) == 2508
    opposed = np.minimum(tau[:, None] - tau, 2 * (js[:, None] - js))
    assert opposed.max() == pytest.approx(documents.KNOWN)
