"""Masked documents: what is asked of a model, in which pieces, and leave-one-out."""

import copy
import pickle

import numpy as np
import pytest
import torch

from coursekit.compare import report
from coursekit.evaluate import comprehensiveness, distance_to_exact, roar
from coursekit.evaluate.calls import counting
from coursekit.explain import (
    away,
    by_spans,
    evaluate_masks,
    exact_lime,
    exact_shapley,
    gradient,
    kernel_shap,
    leave_one_out,
    lime,
    shapley_values,
)
from coursekit.explain.asking import scores_of
from coursekit.models import load_weights
from coursekit.own import own_model

DOCUMENT = "not a good film , not bad zzz".split()
MASKS = np.random.default_rng(0).random((60, len(DOCUMENT))) < 0.6


def length_and_nots(documents):
    """A black box of two classes."""
    return np.array([[len(d), 2.0 * d.count("not") * d.count("bad")] for d in documents])


class Recorder:
    """A black box that remembers what it was asked."""

    def __init__(self, answer=len):
        self.answer, self.calls = answer, []

    def predict(self, documents):
        self.calls.append(documents)
        return [self.answer(d) for d in documents]


def test_documents_are_written_as_the_masks_say():
    model, masks = Recorder(), [[1, 1, 1], [1, 0, 1], [0, 0, 0]]
    evaluate_masks(model, ["a", "b", "a"], masks)
    evaluate_masks(away(model, token="_"), ["a", "b", "a"], masks)
    evaluate_masks(model, ["a", "b", "a"], masks, by="delete")
    evaluate_masks(model, ["a", "b", "a"], [[1, 0], [0, 1]], by="delete", groups=[0, 1, 0])
    assert model.calls == [[["a", "b", "a"], ["a", "[UNK]", "a"], ["[UNK]"] * 3],
                           [["a", "b", "a"], ["a", "_", "a"], ["_"] * 3],
                           [["a", "b", "a"], ["a", "a"], []],
                           [["a", "a"], ["b"]]]


@pytest.mark.parametrize("by, rest", [("replace", ["[UNK]", "[SEP]", "[UNK]"]), ("delete", ["[SEP]"])])
def test_what_stands_between_two_texts_stays(by, rest):
    model = Recorder()
    model.separator = ["[SEP]"]
    evaluate_masks(model, ["a", "[SEP]", "b"], [[0, 0, 0]], by)
    assert model.calls == [[rest]]


@pytest.mark.parametrize("by", ["replace", "delete"])
def test_batched_equals_single(white_box, by):
    """Whole, through `predict`, and document by document."""
    documents = [[token if keep else "[UNK]" for token, keep in zip(DOCUMENT, mask, strict=True)
                  if keep or by == "replace"] for mask in MASKS]
    single = [white_box.predict([document])[0] for document in documents]
    for model in (white_box, white_box.predict):
        np.testing.assert_allclose(evaluate_masks(model, DOCUMENT, MASKS, by), single, atol=1e-12)


def test_chunks_are_bounded_and_equal_masks_asked_once():
    model = Recorder()
    masks = np.random.default_rng(1).random((1000, 9)) < 0.5
    scores = evaluate_masks(model, list("abcdefghi"), masks, by="delete")
    assert max(map(len, model.calls)) == 256
    assert sum(map(len, model.calls)) == len(np.unique(masks, axis=0)) < 512
    np.testing.assert_array_equal(scores, masks.sum(1))


def test_several_classes_and_tensors():
    scores = evaluate_masks(length_and_nots, DOCUMENT, MASKS, by="delete")
    assert scores.shape == (60, 2) and scores.dtype == np.float64
    np.testing.assert_array_equal(scores[:, 0], MASKS.sum(1))

    def tensors(documents):
        return torch.tensor(length_and_nots(documents), requires_grad=True)

    np.testing.assert_array_equal(scores, evaluate_masks(tensors, DOCUMENT, MASKS, by="delete"))


def test_progress_only_if_asked_for(capsys):
    evaluate_masks(Recorder(), DOCUMENT, MASKS)
    scores_of(Recorder(), [DOCUMENT])
    shapley_values(Recorder(), DOCUMENT * 3, 4)
    assert capsys.readouterr().err == ""
    evaluate_masks(Recorder(), DOCUMENT, MASKS, progress=True)
    assert "perturbed documents: 100%" in capsys.readouterr().err


@pytest.mark.parametrize("wrong, message", [
    (dict(masks=MASKS[:, 1:]), "needs masks"), (dict(masks=MASKS[0]), "needs masks"),
    (dict(masks=MASKS[:0]), "needs masks"), (dict(by="swap"), "by must be"),
    (dict(document="not a list"), "list of strings"),
    (dict(masks=MASKS * 0.5), "true \\(1\\) where a token stays"), (dict(masks=[["a"] * 8]), "true \\(1\\) where"),
    (dict(masks=MASKS[:, :2], groups=[0, 1, 2, 0, 0, 0, 0, 0]), "groups must be columns"),
    (dict(model_or_predict=3), "a black box is a model with predict"),
    (dict(model_or_predict=lambda d: [0.0]), "what predict returns must have shape"),
    (dict(model_or_predict=lambda d: [float("nan")] * len(d)), "must be finite"),
])
def test_one_line_for_wrong_input(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        evaluate_masks(**{**dict(model_or_predict=Recorder(), document=DOCUMENT, masks=MASKS), **wrong})
    assert "\n" not in str(error.value)


def test_leave_one_out_is_a_difference_of_two_predictions(white_box):
    attribution = leave_one_out(white_box, DOCUMENT)
    full = white_box.predict([DOCUMENT])[0]
    for i, score in enumerate(attribution.scores):
        without = white_box.predict([DOCUMENT[:i] + ["[UNK]"] + DOCUMENT[i + 1:]])[0]
        assert score == pytest.approx(full - without, abs=1e-12)
    assert attribution.scores[-1] == pytest.approx(0, abs=1e-12)                   # zzz is unknown already
    assert attribution.tokens == tuple(DOCUMENT) and attribution.target is None
    deleted = leave_one_out(white_box, DOCUMENT, by="delete")
    assert [a.about["score"] for a in (attribution, deleted)] == pytest.approx([full, full], abs=1e-12)
    assert deleted.scores[0] == pytest.approx(full - white_box.predict([DOCUMENT[1:]])[0], abs=1e-12)


def test_leave_one_out_of_a_class():
    lengths, nots = (leave_one_out(length_and_nots, DOCUMENT, by="delete", target=c) for c in (0, 1))
    np.testing.assert_array_equal(lengths.scores, np.ones(8))
    np.testing.assert_array_equal(nots.scores, [2, 0, 0, 0, 0, 2, 4, 0])
    assert leave_one_out(length_and_nots, DOCUMENT).target == 0                    # the class with the highest score
    with pytest.raises(ValueError, match="target"):
        leave_one_out(length_and_nots, DOCUMENT, target=2)


@pytest.mark.parametrize("by", ["replace", "delete"])
def test_edges(white_box, by):
    for model in (white_box, white_box.predict):
        assert len(leave_one_out(model, [], by)) == 0
        assert leave_one_out(model, ["good"], by).scores.shape == (1,)
    twice = leave_one_out(white_box, ["good", "good"], by)
    assert twice.tokens == ("good", "good")
    long = ["film", "good"] * 10                                                    # the model reads 11 of the 20
    assert len(leave_one_out(white_box, long, by)) == 11
    black = leave_one_out(white_box.predict, long).scores
    np.testing.assert_allclose(black[11:], 0, atol=1e-12)
    np.testing.assert_allclose(black[:11], leave_one_out(white_box, long).scores, atol=1e-12)


def test_a_token_that_the_model_does_not_know_is_a_typo(white_box):
    for token in ("[UNK]", "film", "[PAD]"):
        leave_one_out(away(white_box, token=token), DOCUMENT)
    unused = away(white_box, by="delete", token="never used")
    leave_one_out(unused, DOCUMENT)
    for wrong in (dict(token="[MAKS]"), dict(by="swap"), dict(token=3)):
        with pytest.raises((TypeError, ValueError), match="token '\\[MAKS\\]' is not in the model's vocabulary: .* "
                           "'\\[UNK\\]'|by must be|list of strings"):
            away(white_box, **wrong)
    with pytest.raises(ValueError, match="token 'never used'"):
        leave_one_out(unused, DOCUMENT, by="replace")


def test_what_away_says_holds_until_something_else_is_said(white_box):
    film = away(white_box, token="film")
    assert away(film) is away(film, "replace") is film and away(film, "delete").token == "film"
    for model, document in ((film, DOCUMENT[:2] + ["film"] + DOCUMENT[3:]),
                            (away(film, "delete"), DOCUMENT[:2] + DOCUMENT[3:]),
                            (away(away(film, "delete"), "replace", "[UNK]"), DOCUMENT[:2] + ["[UNK]"] + DOCUMENT[3:])):
        a, (whole, rest) = leave_one_out(model, DOCUMENT), (white_box.predict([one])[0] for one in (DOCUMENT, document))
        assert a.scores[2] == pytest.approx(whole - rest, abs=1e-12) and a.about["by"] == model.by
    np.testing.assert_array_equal(lime(away(film, "delete"), DOCUMENT, 50, bow=True).scores,
                                  lime(white_box, DOCUMENT, 50, bow=True).scores)


def test_whatever_takes_a_model_takes_away(white_box):
    model, film = load_weights("imdb-tame"), away(load_weights("imdb-tame"), token="film")
    np.testing.assert_array_equal(gradient(film, DOCUMENT).scores, gradient(model, DOCUMENT).scores)
    np.testing.assert_allclose(exact_shapley(film, DOCUMENT).scores, shapley_values(film, DOCUMENT).scores, atol=1e-9)
    a = exact_lime(film, DOCUMENT)
    assert distance_to_exact(film, DOCUMENT, a, "lime") < 1e-12 < distance_to_exact(model, DOCUMENT, a, "lime")
    for copied in (copy.deepcopy(film), pickle.loads(pickle.dumps(film))):
        np.testing.assert_array_equal(leave_one_out(copied, DOCUMENT).scores, leave_one_out(film, DOCUMENT).scores)
    with counting(film) as (counted, counter):
        leave_one_out(counted, DOCUMENT, by="delete")
    assert counter.calls == len(DOCUMENT) + 1 == len(leave_one_out(own_model(film)[0], DOCUMENT)) + 1
    assert comprehensiveness(film, DOCUMENT, a) != comprehensiveness(model, DOCUMENT, a)
    spans = by_spans(away(len_of_film, token="film"), [["not", "a"], ["good"]])
    assert leave_one_out(*spans).scores.tolist() == [-2, -1]


def len_of_film(documents):
    """A black box that counts a word."""
    return [document.count("film") for document in documents]


def test_what_is_kept_for_one_token_is_not_taken_for_another(tmp_path):
    for token in ("film", "[PAD]"):
        model, ask = away(load_weights("imdb-tame"), token=token), {"leave-one-out": leave_one_out}
        if token == "film":
            report(model, [["good", "film"]], ask, path=tmp_path / "kept", progress=False, n_neighbours=2)
    with pytest.raises(ValueError, match="keeps results by other weights"):
        report(model, [["good", "film"]], ask, path=tmp_path / "kept", progress=False, n_neighbours=2)


def test_roar_takes_away_what_its_model_says():
    seen = []

    def train(documents, labels):
        seen.append(documents)
        return away(len_of_film, "delete")

    roar(train, [["good", "film"], ["dull", "film"]] * 4, [1, 0] * 4, leave_one_out, taus=[50, 100], progress=False)
    assert {len(d) for d in seen[0]} == {2} and {len(d) for d in seen[1]} == {1} and seen[-1] == [[]] * 6


@pytest.mark.parametrize("explainer", [leave_one_out, lime, kernel_shap, shapley_values, exact_shapley, exact_lime])
def test_mask_token_is_taken_for_one_release_and_says_what_to_write(explainer):
    model, document = load_weights("imdb-tame"), ["not", "good"]
    with pytest.warns(FutureWarning, match=rf"write {explainer.__name__}\(away\(model, token='film'\), …\)") as told:
        old = explainer(model, document, mask_token="film")
    assert len(told) == 1 and "\n" not in str(told[0].message) and told[0].filename == __file__
    np.testing.assert_array_equal(old.scores, explainer(away(model, token="film"), document).scores)


@pytest.mark.parametrize("by", ["replace", "delete"])
def test_spans_as_tokens_are_masks_in_groups(by):
    spans = [["not", "a"], ["good"], [], ["un", "##do", ","], ["good"]]                # twice the same, and none
    document, groups = sum(spans, []), [0, 0, 1, 3, 3, 3, 4]
    masks = np.random.default_rng(0).random((30, len(spans))) < 0.6

    def score(documents):
        return [sum((i + 1) * len(token) for i, token in enumerate(d)) for d in documents]

    predict, names = by_spans(score, spans)
    assert names == ["not a", "good", "", "undo ,", "good"]
    np.testing.assert_array_equal(evaluate_masks(predict, names, masks, by),
                                  evaluate_masks(score, document, masks, by, groups=groups))
    with pytest.raises(ValueError, match="different tokens of the same words"):
        by_spans(score, [["un", "##do"], ["undo"]])
