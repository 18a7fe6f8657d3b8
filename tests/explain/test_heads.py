"""Head patterns: attention made by hand is recognised; shares of chance are those of even attention."""

import math

import numpy as np
import pytest
import torch

from coursekit.explain import head_patterns
from coursekit.explain.heads import kinds_of_pairs
from coursekit.models import GPT2, GPT2Config

TOKENS = ["[CLS]", "the", "film", ",", "the", "end", "[SEP]"]


class Drawn:
    """A model whose heads attend as the tables say."""

    def __init__(self, *maps):
        self.maps = torch.tensor(np.stack(maps))[None]

    def tokens(self, document):
        return document

    def attentions(self, document):
        return self.maps


def even(T):
    return np.full((T, T), 1 / T)


def test_heads_drawn_by_hand_are_recognised():
    T = len(TOKENS)
    before = np.eye(T, k=-1)
    before[0, 0] = 1                                                             # the first has nothing before it
    to_sep = np.zeros((T, T))
    to_sep[:, -1] = 1
    shares, chance = head_patterns(Drawn(before, np.eye(T), to_sep, even(T)), [TOKENS])
    assert shares["previous"][0].tolist() == pytest.approx([6 / 7, 0, 0, 6 / 49])
    assert shares["itself"][0, 1] == 1 and shares["delimiter"][0, 2] == 1
    assert shares["broad"][0].tolist() == pytest.approx([0, 0, 0, 1])
    for kind in ("previous", "next", "itself", "delimiter", "punctuation", "same word"):
        assert shares[kind][0, 3] == pytest.approx(chance[kind])
    assert chance["delimiter"] == pytest.approx(2 / 7) and chance["same word"] == pytest.approx(2 / 49)


def test_a_head_that_looks_at_padding_alone_counts_as_even():
    shares, chance = head_patterns(Drawn(np.zeros((len(TOKENS),) * 2), even(len(TOKENS))), [TOKENS])
    for kind, table in shares.items():
        assert table[0].tolist() == pytest.approx([chance[kind]] * 2), kind


def test_what_goes_to_padding_is_left_out():
    A = np.random.default_rng(0).dirichlet(np.ones(len(TOKENS)), len(TOKENS))
    rest = np.linspace(0.1, 1, len(TOKENS))[:, None]                             # of each row, the tokens' own
    for table in head_patterns(Drawn(A, rest * A), [TOKENS])[0].values():
        assert table[0, 1] == pytest.approx(table[0, 0])


def test_pairs_have_their_kinds():
    kinds = kinds_of_pairs(TOKENS)
    assert kinds["same word"][1, 4] and kinds["same word"].sum() == 2
    assert kinds["punctuation"].any(0).nonzero()[0].tolist() == [3]
    assert kinds["previous"][1, 0] and kinds["next"][0, 1] and not kinds["next"][1, 0]


def test_a_causal_mask_is_taken_into_account():
    T = 4
    A = np.tril(np.ones((T, T)))
    shares, chance = head_patterns(Drawn(A / A.sum(1, keepdims=True)), [["a", "b", "c", "d"]])
    assert shares["broad"][0, 0] == pytest.approx(1) and chance["next"] == 0
    assert chance["previous"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3) == shares["previous"][0, 0]


def test_shipped_models_have_shares_between_0_and_1(shipped):
    document = "the film was good , and the end was good .".split()
    shares, chance = head_patterns(shipped, [document, document[:3]])
    for kind, table in shares.items():
        assert table.min() >= 0 and table.max() <= 1 + 1e-6 and 0 <= chance[kind] <= 1
    assert math.isclose(chance["broad"], 1)


def test_a_single_token_says_nothing():
    with pytest.raises(ValueError, match="at least two tokens"):
        head_patterns(Drawn(np.ones((1, 1))), [["a"]])


def test_a_model_without_attentions_is_told_what_is_needed():
    for model in (len, GPT2(GPT2Config(vocab_size=4, T_max=8, d_e=6, K=2, L=1))):
        with pytest.raises(TypeError, match="^head_patterns looks .* has no tokens.*: pass an object with both") as no:
            head_patterns(model, [["a", "b"]])
        assert "\n" not in str(no.value)
