"""Masked documents: what is asked of a model, in which pieces, and leave-one-out."""

import numpy as np
import pytest
import torch

from coursekit.explain import by_spans, evaluate_masks, leave_one_out

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
    evaluate_masks(model, ["a", "b", "a"], masks, mask_token="_")
    evaluate_masks(model, ["a", "b", "a"], masks, by="delete")
    evaluate_masks(model, ["a", "b", "a"], [[1, 0], [0, 1]], by="delete", groups=[0, 1, 0])
    assert model.calls == [[["a", "b", "a"], ["a", "[UNK]", "a"], ["[UNK]"] * 3],
                           [["a", "b", "a"], ["a", "_", "a"], ["_"] * 3],
                           [["a", "b", "a"], ["a", "a"], []],
                           [["a", "a"], ["b"]]]


@pytest.mark.parametrize("by", ["replace", "delete"])
def test_batched_equals_single(white_box, by):
    """Whole, in chunks, through `predict`, and document by document."""
    documents = [[token if keep else "[UNK]" for token, keep in zip(DOCUMENT, mask, strict=True)
                  if keep or by == "replace"] for mask in MASKS]
    single = [white_box.predict([document])[0] for document in documents]
    for model, chunk in ((white_box, 256), (white_box, 7), (white_box.predict, 256), (white_box.predict, 1)):
        np.testing.assert_allclose(evaluate_masks(model, DOCUMENT, MASKS, by, chunk=chunk), single, atol=1e-12)


def test_chunks_are_bounded_and_equal_masks_asked_once():
    model = Recorder()
    masks = np.random.default_rng(1).random((1000, 9)) < 0.5
    scores = evaluate_masks(model, list("abcdefghi"), masks, by="delete", chunk=50)
    assert max(map(len, model.calls)) <= 50
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
    assert capsys.readouterr().err == ""
    evaluate_masks(Recorder(), DOCUMENT, MASKS, progress=True)
    assert "perturbed documents: 100%" in capsys.readouterr().err


@pytest.mark.parametrize("wrong, message", [
    (dict(masks=MASKS[:, 1:]), "needs masks"), (dict(masks=MASKS[0]), "needs masks"),
    (dict(masks=MASKS[:0]), "needs masks"), (dict(by="swap"), "by must be"),
    (dict(document="not a list"), "list of strings"),
    (dict(masks=MASKS * 0.5), "true \\(1\\) where a token stays"), (dict(masks=[["a"] * 8]), "true \\(1\\) where"),
    (dict(masks=MASKS[:, :2], groups=[0, 1, 2, 0, 0, 0, 0, 0]), "groups must be columns"),
    (dict(mask_token=3), "list of strings"), (dict(chunk=0), "chunk must be a whole number, at least 1, got 0"),
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


def test_a_mask_token_that_the_model_does_not_know_is_a_typo(white_box):
    for token in ("[UNK]", "film", "[PAD]"):
        leave_one_out(white_box, DOCUMENT, mask_token=token)
    leave_one_out(white_box, DOCUMENT, by="delete", mask_token="never used")
    with pytest.raises(ValueError, match="mask_token '\\[MAKS\\]' is not in the model's vocabulary: .* '\\[UNK\\]'"):
        leave_one_out(white_box, DOCUMENT, mask_token="[MAKS]")


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
