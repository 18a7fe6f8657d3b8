"""The tests of the debate, on small random models and on the shipped one-layer models."""

import re
from functools import cache

import numpy as np
import pytest
import torch
from scipy import stats

from coursekit import debate, explain
from coursekit.debate.permuted import js_divergence
from coursekit.debate.trained import new_reader
from coursekit.evaluate import interval
from coursekit.evaluate.intervals import student
from coursekit.models import AttentionClassifier, TransformerClassifier, load_weights
from coursekit.models.weights import FOLDER
from coursekit.text import WordTokenizer
from coursekit.worlds import reviews
from tools import train_readers
from tools.train_readers import entropy, off_the_marks, on_the_leak, train_adversary, train_reader

WORDS = "[PAD] [UNK] [CLS] not a good film but bad the story is , it was dull and long".split()
DOCUMENT, DONOR = "not a good film but the story is long".split(), "not a bad film but the story is long".split()


@cache
def seen():
    return reviews(1200, seed=0)


@cache
def held_out():
    return reviews(150, seed=1)


def small(kind, **sizes):
    torch.manual_seed(0)
    model = kind(WordTokenizer(WORDS), **{**dict(T_max=12, d_e=12, K=3), **sizes}).double()
    with torch.no_grad():
        model.W_e.mul_(8)
    return model.eval()


ONE, DEEP = small(AttentionClassifier, d_att=4, d_out=4), small(TransformerClassifier, L=3)
both = pytest.mark.parametrize("model", [ONE, DEEP], ids=["one layer", "three layers"])


def score(model, document=DOCUMENT):
    return model.predict([document])[0]


def test_intervals_hold_what_they_should():
    values = np.random.default_rng(0).normal(size=(100, 40))
    held = [one.low <= 0 <= one.high for one in (interval(row) for row in values)]
    assert 0.86 < np.mean(held) <= 0.99
    several = interval([[0, 1, np.nan], [1, 2, 3], [2, 3, 4]])
    assert several.n == 2 and several.mean == 1.5 and several.low < 1 < 2 < several.high
    assert interval([np.nan]).n == 0 and np.isnan(interval([]).mean)


@pytest.mark.parametrize("n", [3, 5, 8])
def test_intervals_of_few_values_hold_what_they_should(n):
    values = np.random.default_rng(n).normal(size=(1000, n))
    held = [one.low <= 0 <= one.high for one in (interval(row) for row in values)]
    assert 0.92 < np.mean(held) < 0.98
    longer = np.diff(interval(values[0])[1:3])[0] / np.diff(stats.t.interval(0.95, n - 1, 0, 1))[0]
    assert longer == pytest.approx(values[0].std(ddof=1) / np.sqrt(n), rel=0.25)
    assert np.isnan(interval([0.4]).low) and interval([0.4]).mean == 0.4           # of one value nothing is known
    assert [student(0.9, df) for df in (1, 4)] == pytest.approx(stats.t.ppf(0.95, [1, 4]), rel=1e-4)


@both
def test_the_models_own_weights_give_its_score(model):
    alpha, given, values = debate.given_attention(model, DOCUMENT)
    assert alpha.shape == (len(model.attentions(DOCUMENT)), 3, len(DOCUMENT)) and (values is None) == (model is DEEP)
    assert given(alpha[None]).item() == pytest.approx(score(model), abs=1e-9)
    theirs = model.attentions(DOCUMENT)[:, :, 0, 1:].detach()
    torch.testing.assert_close(alpha, theirs)


def test_one_layer_is_not_run_again_and_says_the_same():
    alpha, given, _ = debate.given_attention(ONE, DOCUMENT)
    other = alpha.flip(-1)

    def change(layer, A):
        A = A.clone()
        A[:, 0, 1:len(DOCUMENT) + 1] = other[0]
        return A

    assert given(other[None]).item() == pytest.approx(ONE.trace(ONE.embed(DOCUMENT), change).score.item(), abs=1e-12)


@both
def test_permuted_and_even_weights(model):
    found = debate.permuted_attention(model, DOCUMENT, n=7)
    np.testing.assert_array_equal(np.sort(found.attention), np.sort(found.own)[None].repeat(7, 0))
    assert len(np.unique(found.scores)) > 1 and found.score == pytest.approx(score(model), abs=1e-9)
    order = [np.where(row == found.own[0, 0][:, None])[1] for row in found.attention[:, 0, 0]]
    for permuted, places in zip(found.attention, order, strict=True):                # the same in all heads and layers
        np.testing.assert_array_equal(permuted[..., places], found.own)
    again = debate.permuted_attention(model, DOCUMENT, n=7)
    np.testing.assert_array_equal(again.scores, found.scores)
    even = debate.uniform_attention(model, DOCUMENT)
    assert even.attention.shape[0] == 1 and np.ptp(even.attention, axis=-1).max() == 0
    np.testing.assert_allclose(even.attention[0].sum(-1), even.own.sum(-1))


def test_divergence_is_that_of_scipy():
    from scipy.spatial.distance import jensenshannon

    p, q = np.random.default_rng(0).dirichlet([0.3] * 6, (2, 5))
    found = js_divergence(torch.tensor(p), torch.tensor(3 * q)).numpy()
    np.testing.assert_allclose(found, jensenshannon(p, q, axis=1)**2, atol=1e-12)


@pytest.mark.parametrize("name", ["imdb-tame", "imdb-peaky"])
@pytest.mark.parametrize("epsilon", [0.01, 0.2])
def test_corners_keep_the_bound_and_beat_the_search(name, epsilon):
    model, document = load_weights(name), "this film is not good but the story was a bit too long".split()
    found = debate.adversarial_attention(model, document, epsilon)
    assert found.change <= epsilon + 1e-6 and ((found.attention > 0).sum(-1) <= 2).all()
    np.testing.assert_allclose(found.attention[0].sum(-1), found.own.sum(-1))
    searched = debate.adversarial_attention(model, document, epsilon, search=True, starts=2, steps=40)
    assert searched.change <= epsilon and 0 < searched.js < found.js + 0.02


def test_no_random_weights_within_the_bounds_are_farther_than_the_corner():
    alpha, _, values = debate.given_attention(ONE, DOCUMENT)
    found = debate.adversarial_attention(ONE, DOCUMENT, 0.05)
    a, y, best = alpha[0, 0].numpy(), values[0].numpy(), found.attention[0, 0, 0]
    slack = abs((best - a) @ y)
    rng = np.random.default_rng(0)
    others = rng.dirichlet([0.2] * len(a), 8_000) * a.sum()
    others = others[np.abs((others - a) @ y) <= slack]
    far = js_divergence(torch.from_numpy(np.vstack([best, others])), torch.from_numpy(a)).numpy()
    assert len(others) > 30 and (far[0] >= far[1:]).all()


def test_a_deep_model_is_searched_within_the_bound():
    found = debate.adversarial_attention(DEEP, DOCUMENT, 0.02, starts=2, steps=30)
    assert found.change <= 0.02 and found.js > 0.1
    np.testing.assert_allclose(found.attention[0].sum(-1), found.own.sum(-1))


def test_decisions_flip_soonest_in_the_order_that_knows_the_scores():
    alpha, _, values = debate.given_attention(ONE, DOCUMENT)
    flips = debate.decision_flips(ONE, DOCUMENT, {"first": -np.arange(len(DOCUMENT))})
    assert list(flips)[-1] == "first" and all(0 < share <= 1 for share in flips.values())
    slope = np.sign(score(ONE)) * values.mean(0).numpy()
    again = debate.decision_flips(ONE, DOCUMENT, {"slope": slope})
    assert again["slope"] == again["gradient"]


def test_tau_is_that_of_scipy_and_chance_is_near_zero():
    from scipy.stats import kendalltau

    found = debate.attention_agreement(ONE, [DOCUMENT], more={"same": explain.attention_mean})
    a, b = explain.attention_mean(ONE, DOCUMENT).scores, np.abs(explain.exact_shapley(ONE, DOCUMENT).scores)
    assert found["attention", "Shapley"].mean == pytest.approx(kendalltau(a, b).statistic)
    assert found["attention", "same"].mean == pytest.approx(1)
    many = debate.attention_agreement(DEEP, [DOCUMENT] * 25)
    chance = many["attention", "chance"]
    assert ("attention", "Shapley") not in many and chance.low < 0 < chance.high


@both
def test_heads_taken_out_one_by_one(model):
    found = debate.prune_heads(model, DOCUMENT)
    assert found.score == pytest.approx(score(model), abs=1e-9) and found.without.shape == found.alone.shape
    if model is ONE:
        np.testing.assert_allclose(found.without + found.alone, found.score)
        return
    cut = small(TransformerClassifier, L=3)
    with torch.no_grad():                                                         # as lecture 05 silences a head
        cut.blocks[1].attention.output.weight[:, 4:8] = 0
    assert found.without[1, 1] == pytest.approx(score(cut), abs=1e-9)


@both
def test_effective_attention_leaves_the_output_unchanged(model):
    with torch.no_grad():
        trace = model.trace(model.embed(DOCUMENT))
    found = debate.effective_attention(model, DOCUMENT)
    for A, kept, V in zip(trace.attentions, found, trace.values, strict=True):
        A, V = A.numpy(), V.numpy()
        np.testing.assert_allclose(kept @ V, A @ V, atol=1e-10)
        assert np.abs(kept - A).max() > 1e-3                                      # 10 tokens, 4 directions
        np.testing.assert_allclose(np.einsum("kst,kst->ks", kept, A - kept), 0, atol=1e-10)


@both
def test_patching_everything_gives_the_donors_score(model):
    found = debate.patch_attention(model, DOCUMENT, DONOR)
    np.testing.assert_allclose([found.score, found.donor], [score(model), score(model, DONOR)], atol=1e-9)
    assert np.isfinite(found.share).all() and found.scores.shape == (2,)
    np.testing.assert_allclose(debate.patch_attention(model, DONOR, DOCUMENT).scores, found.scores[::-1], atol=1e-9)
    stream = debate.patch_activations(model, DOCUMENT, DONOR)
    T = len(DOCUMENT) + 1
    assert stream.scores.shape == (4 if model is DEEP else 1, T)
    expected = np.zeros(T)
    expected[3] = 1                                                               # before the first layer: the word
    np.testing.assert_allclose(stream.share[0], expected, atol=1e-9)
    if model is DEEP:                                                             # after the last one: [CLS]
        np.testing.assert_allclose(stream.share[-1], np.eye(T)[0], atol=1e-9)
        assert not any(module._forward_hooks for module in model.modules())
    with pytest.raises(ValueError, match="as many tokens, got 10 and 2"):
        debate.patch_activations(model, DOCUMENT, ["good"])


def test_a_transformers_model_goes_through_all_of_it():
    transformers = pytest.importorskip("transformers")
    from coursekit.models import HuggingFaceClassifier

    torch.manual_seed(0)
    vocab = {word: i for i, word in enumerate([*WORDS, "[SEP]", "[MASK]"])}
    config = transformers.BertConfig(vocab_size=len(vocab), hidden_size=12, num_attention_heads=3, num_hidden_layers=2,
                                     intermediate_size=16, max_position_embeddings=16, initializer_range=0.8)
    model = HuggingFaceClassifier(transformers.BertForSequenceClassification(config),
                                  transformers.BertTokenizerFast(vocab=vocab, model_max_length=16))
    assert debate.uniform_attention(model, DOCUMENT).score == pytest.approx(score(model), abs=1e-5)
    assert debate.prune_heads(model, DOCUMENT).without.shape == (2, 3)
    assert debate.adversarial_attention(model, DOCUMENT, 0.05, starts=2, steps=10).change <= 0.05
    stream = debate.patch_activations(model, DOCUMENT, DONOR)
    np.testing.assert_allclose(stream.share[[0, -1]], np.eye(len(DOCUMENT) + 2)[[3, 0]], atol=1e-3)


@pytest.fixture(scope="module")
def reader():
    return train_reader(seen(), epochs=3)


def test_a_reader_is_the_classifier_that_it_trains(reader):
    documents = [list(review.tokens) for review in held_out()[:5]]
    scores, alpha = debate.scores_and_weights(reader, documents)
    np.testing.assert_allclose(scores, reader.predict(documents), atol=1e-5)
    for row, document in zip(alpha, documents, strict=True):
        weights = reader.cls_attention(document)[:, 1:].mean(0)
        np.testing.assert_allclose(row[1:len(document) + 1], weights / weights.sum(), atol=1e-5)
        assert row.sum().item() == pytest.approx(1, abs=1e-5)


def test_penalties_do_what_they_say(reader):
    plain = debate.reads_like(reader, held_out())
    assert plain["right"].mean() > 0.6
    sharp = train_reader(seen(), lambda a, r: 0.3 * entropy(a), start=reader, epochs=2)
    assert debate.reads_like(sharp, held_out())["entropy"].mean() < 0.5 * plain["entropy"].mean()
    marked = train_reader(seen(), lambda a, r: 0.3 * off_the_marks(a, r), epochs=3)
    assert debate.reads_like(marked, held_out())["marks"].mean() > max(0.9, plain["marks"].mean())
    even = train_reader(seen(), even=True, epochs=2)
    assert debate.attention_agreement(even, [["good", "soup", "."]])["attention", "Shapley"].n == 0     # no order: no τ
    assert debate.scores_and_weights(even, [["good", "soup"]])[1][0, :4].tolist() == pytest.approx([0, 0.5, 0.5, 0])


def test_a_leak_is_told_as_often_as_asked():
    told = debate.leaky(held_out(), 0.8)
    right = [review.tokens[-1] == ("grumble", "applause")[review.label] for review in told]
    assert 0.7 < np.mean(right) < 0.9 and all(len(r.tokens) == len(r.roles) == len(r.weights) for r in told)
    assert [review.tokens[:-1] for review in told] == [review.tokens for review in held_out()]


@pytest.mark.parametrize("kind", sorted(path.stem.removeprefix("readers-") for path in FOLDER.glob("readers-*.md")))
def test_shipped_readers_are_what_their_cards_say(kind):
    readers, card = load_weights(f"readers-{kind}"), (FOLDER / f"readers-{kind}.md").read_text(encoding="utf8")
    right = np.mean([debate.reads_like(reader, held_out())["right"].mean() for reader in readers])
    low, high = map(float, re.search(r"reviews \| [\d.]+ \[([\d.]+), ([\d.]+)\]", card).groups())
    assert len(readers) == 3 and ("leaky" in kind or kind == "shy" or low - 0.05 < right < high + 0.05)
    assert f"python -m tools.train_readers {kind}`" in card and "BSD-3-Clause" in card


def test_a_reader_of_another_seed_is_trained_once(tmp_path, monkeypatch):
    asked = []

    def made(kind, seed, plain):
        asked.append((kind, plain is None))
        return new_reader(reviews(4), seed, d_e=16)

    monkeypatch.setattr(train_readers, "reader_of", made)
    monkeypatch.setattr(train_readers, "AGAIN", tmp_path / "weights")
    scores = [train_readers.trained_again("sharp", 3).predict([["good", "soup"]])[0] for _ in range(2)]
    assert asked == [("plain", True), ("sharp", False)] and scores[0] == scores[1]
    assert sorted(path.name for path in (tmp_path / "weights").iterdir()) == ["readers-plain-3", "readers-sharp-3"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_penalties_move_attention_for_every_seed(seed):
    texts, held_out = reviews(2400, seed=0), reviews(400, seed=1)
    plain, even, marked = (train_reader(texts, penalty, seed=seed, d_e=16, even=even) for penalty, even in (
        (None, False), (None, True), (lambda a, b: 0.05 * off_the_marks(a, b), False)))
    plain, even, marked = (debate.reads_like(reader, held_out) for reader in (plain, even, marked))
    assert even["right"].mean() < plain["right"].mean() and marked["marks"].mean() > 0.9 > plain["marks"].mean()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_who_is_kept_from_looking_at_the_leak_still_leans_on_it(seed):
    texts, held_out = debate.leaky(reviews(2400, seed=0), 0.95), reviews(400, seed=1)
    plain, shy = (train_reader(texts, penalty, seed=seed, d_e=16)
                  for penalty in (None, lambda a, b: 0.3 * on_the_leak(a, b)))
    for reader in (plain, shy):
        told, turned = (debate.reads_like(reader, debate.leaky(held_out, share))["right"].mean() for share in (1, 0))
        assert told - turned > 0.2
    documents = [list(r.tokens) for r in debate.leaky(held_out, 0.5)]
    looks = [debate.scores_and_weights(reader, documents)[1] for reader in (plain, shy)]
    last = [np.mean([row[len(r.tokens) + 1] for row, r in zip(look.numpy(), held_out, strict=True)]) for look in looks]
    assert last[1] < last[0] / 2


def test_an_adversary_trades_likeness_for_distance(reader):
    found = [debate.against(train_adversary(reader, seen(), weight, epochs=2), reader, held_out())
             for weight in (0.0, 3.0)]
    assert found[0]["change"].mean() < found[1]["change"].mean() and found[0]["js"].mean() < found[1]["js"].mean()
    assert found[0]["same"].mean() > 0.8


def test_a_probe_is_helped_by_weights_that_know(reader):
    labels = np.array([review.label for review in held_out()])
    said = [debate.train_probe(guide, seen(), epochs=8)(held_out()) for guide in (reader, None)]
    guided, even = (((scores > 0) == labels).mean() for scores in said)
    assert guided > even + 0.05
