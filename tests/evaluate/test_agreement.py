"""Agreement of attributions: equal to SciPy's rank correlations, by size where a sign means nothing."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.evaluate import auroc, human_agreement, map_distance, rank_agreement
from coursekit.explain import Attribution
from coursekit.worlds import AnnotatedReview, reviews, stand_in

tables = st.integers(2, 9).flatmap(lambda n: st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=n, max_size=n))


def pair(x, y, **more):
    tokens = [f"t{i}" for i in range(len(x))]
    return Attribution(tokens, x, "a"), Attribution(tokens, y, "b", **more)


@settings(deadline=None)
@given(tables)
@pytest.mark.filterwarnings("ignore")
def test_rank_correlations_are_those_of_scipy(table):
    from scipy.stats import kendalltau, spearmanr

    x, y = np.array(table, float).T
    got = rank_agreement(*pair(x, y))
    for ours, theirs in ((got.spearman, spearmanr(x, y).statistic), (got.kendall, kendalltau(x, y).statistic)):
        assert ours == pytest.approx(theirs, abs=1e-12) or math.isnan(ours) and math.isnan(theirs)


def test_the_extremes():
    one, other = pair([1, -2, 3, 4, -5, 6], [-1, 2, -3, -4, 5, -6])
    assert rank_agreement(one, one) == (1, 1, 1)
    turned = rank_agreement(one, other)
    assert (turned.spearman, turned.kendall, turned.top) == (pytest.approx(-1), pytest.approx(-1), 1)


def test_unsigned_scores_are_compared_by_size():
    one, other = pair([1, -2, 3], [1, 2, 3], signed=False)
    assert rank_agreement(one, other).spearman == pytest.approx(1)
    assert rank_agreement(*pair([1, -2, 3], [1, 2, 3])).spearman == pytest.approx(0.5)


def test_top_counts_common_tokens():
    assert rank_agreement(*pair([9, 8, 0, 0], [9, 0, 8, 0]), k=2).top == 0.5
    assert rank_agreement(*pair([1, 2], [1, 2]), k=5).top == 1
    assert rank_agreement(*pair([6, 5, 4, 3, 2, 1], [6, 5, 4, 3, 1, 2])).top == 0.8           # the largest five


@pytest.mark.parametrize("a, b, k, message", [
    (["x"], ["y"], 1, "different tokens"), (["x"], ["x"], 0, "at least 1"), ([], [], 1, "there must be a token")])
def test_what_cannot_be_compared_is_refused(a, b, k, message):
    with pytest.raises(ValueError, match=message):
        rank_agreement(Attribution(a, range(len(a)), "a"), Attribution(b, range(len(b)), "b"), k=k)


@settings(deadline=None)
@given(tables.filter(lambda table: len({y > 0 for _, y in table}) == 2))
def test_auroc_is_that_of_scikit_learn(table):
    from sklearn.metrics import roc_auc_score

    x, y = np.array(table, float).T
    assert auroc(x, y > 0) == pytest.approx(roc_auc_score(y > 0, x), abs=1e-12)


def test_auroc_of_all_or_none_is_not_a_number():
    assert all(math.isnan(auroc(*both)) for both in (([1, 2], [1, 1]), ([1, 2], [0, 0]), ([], [])))
    with pytest.raises(ValueError, match="every token needs a score and a mark, got 2 and 1"):
        auroc([1, 2], [True])


def annotated(*maps, **more):
    maps = tuple(tuple(map(bool, marks)) for marks in maps)
    return AnnotatedReview("t0 t1 t2", 1, tokens=("t0", "t1", "t2"), maps=maps, **more)


def by_hand(*scores, **more):
    return Attribution([f"t{i}" for i in range(len(scores))], scores, "by hand", **more)


def test_human_agreement_is_a_mean_of_aurocs_and_counts_what_it_skips():
    one = annotated((1, 1, 0), (1, 0, 0), (1, 1, 1))            # the third marks all
    two = annotated((0, 0, 1), (0, 0, 0))                       # the second none, so no consensus
    got = human_agreement([by_hand(-3, 1, 2), by_hand(0, 0, 1)], [one, two])
    assert got.consensus == 1 and got.skipped == (1, 2, 1) and got.documents == 2 and got.marked_by == "people"
    assert got.annotators == pytest.approx(np.mean([.5, 1, 1]))
    assert got.people == pytest.approx(np.mean([.75, .75, .5, .5]))
    # one: {0, 1} against {0}, {0} against {0, 1}, all against {0}; two: {2} against none, none against {2}
    with pytest.raises(AttributeError):
        got.people = 1


def test_one_annotator_has_no_others():
    got = human_agreement([by_hand(3, 1, 2)], [annotated((1, 0, 0))])
    assert got[:2] == (1, 1) and math.isnan(got.people) and got.skipped == (0, 0, 1)


def test_a_models_tokens_have_the_marks_of_their_words():
    words = annotated((1, 0, 0))
    pieces = Attribution(["t", "##0", "t1"], [3, 2, 1], "by hand")                # of two words only
    assert human_agreement([pieces], [words]).consensus == 1
    with pytest.raises(ValueError, match="token 'x' does not follow"):
        human_agreement([Attribution(["x"], [1], "by hand")], [words])


def test_stand_ins_are_never_called_people():
    review = reviews(1)[0]
    got = human_agreement([Attribution(review.tokens, review.weights, "the grammar's own")], [stand_in(review)])
    assert got.marked_by == "grammar" and got.consensus == 1


@pytest.mark.parametrize("given, marked", [
    ([by_hand(1, 2, 3)], []), ([], []), ([by_hand(1, 2, 3)], [annotated()]), ([by_hand(1, 2, 3)], [reviews(1)[0]]),
    ([by_hand(1, 2, 3)] * 2, [annotated((1, 0, 0)), annotated((1, 0, 0), marked_by="grammar")])])
def test_what_cannot_be_compared_with_people(given, marked):
    with pytest.raises(ValueError, match="expected one attribution for each annotated review, all marked by") as caught:
        human_agreement(given, marked)
    assert "\n" not in str(caught.value)


def test_scores_of_distinct_words_are_to_be_spread_first():
    with pytest.raises(ValueError, match="by hand has one score for each distinct word: spread it by .on"):
        human_agreement([by_hand(1, 2, 3, per="word")], [annotated((1, 0, 0))])


def test_map_distance_is_total_variation():
    A, B, C = np.random.default_rng(0).dirichlet(np.ones(5), (3, 2, 5))
    assert map_distance(A, A) == 0 and map_distance(A, B) == map_distance(B, A) > 0
    assert map_distance(A, C) <= map_distance(A, B) + map_distance(B, C)
    assert map_distance(A, B) == pytest.approx(np.maximum(A - B, 0).sum(-1).mean())       # what one has more
    with pytest.raises(ValueError, match="one shape"):
        map_distance(A, B[0])
