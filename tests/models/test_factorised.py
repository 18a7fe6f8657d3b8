"""The factorised path equals the forward pass of a float64 model, also where exponentials leave the range of floats."""

import copy

import numpy as np
import pytest
import torch

from coursekit.explain import evaluate_masks
from coursekit.models import AttentionClassifier, load_weights
from coursekit.models.documents import token_ids
from coursekit.models.factorised import deleted, head_terms, replaced, word_terms
from coursekit.text import WordTokenizer
from coursekit.worlds import handwritten_reviews

WORDS = "[PAD] [UNK] [CLS] not a good film but bad the story is".split()
REVIEW = max((WordTokenizer(WORDS).tokenize(review.text) for review in handwritten_reviews()), key=len)
DOCUMENTS = [[], ["good"], ["zzz"], "the film is not good but the story is".split(), ["bad"] * 11]


def classifier(scale=1.0, seed=0):
    """A random classifier in float64 whose log g is `scale` times the usual."""
    torch.manual_seed(seed)
    model = AttentionClassifier(WordTokenizer(WORDS), T_max=12, d_e=16, d_att=6, d_out=5, K=3).double()
    with torch.no_grad():
        model.W_e.mul_(5)
        model.W_k.mul_(scale)
    return model


def test_twelve_numbers_a_word_are_all_that_a_model_is():
    """`folded`: words and places add up to the terms of any document, and are read off embeddings along directions."""
    model, document = classifier(), DOCUMENTS[3]
    words, places, directions = model.folded()
    log_g, y = head_terms(model, document)
    ids = token_ids(model, [document])[0, :len(document) + 1]
    assert np.allclose(words[ids][:, None] + places, np.concatenate([log_g, y], -1)[:len(ids)], atol=1e-12)
    assert np.allclose(words[ids] + places[:len(ids)], model.embed(document).detach().numpy() @ directions, atol=1e-12)


def masks_for(document, n=200, seed=0):
    random = np.random.default_rng(seed)
    return np.vstack([np.ones(len(document), bool), np.zeros(len(document), bool),
                      random.random((n, len(document))) < random.random((n, 1))])


def exact(model, document, masks, mask_token="[UNK]"):
    """Document by document, through the forward pass in float64."""
    model = copy.deepcopy(model).double()
    documents = [[token if keep else mask_token for token, keep in zip(document, mask, strict=True)] for mask in masks]
    return np.concatenate([model.predict([d]) for d in documents])


def test_word_terms_are_those_of_the_model():
    model, document = classifier(), DOCUMENTS[3]
    ids = token_ids(model, [document, ["bad"] * len(document)])
    for ours, theirs in zip(word_terms(model, document, "bad"), model.logits(ids), strict=True):
        np.testing.assert_allclose(ours, theirs.detach(), atol=1e-12)


@pytest.mark.parametrize("document", DOCUMENTS, ids=len)
def test_head_terms_are_those_of_every_token_everywhere(document):
    """Of a document of one word, moved, and of the whole one."""
    model, T = classifier(), len(document)
    both = np.array(head_terms(model, document, "film"))                         # log g and y
    assert both.shape == (2, T + 3, 12, 3)
    for row, token in enumerate(["[CLS]", *document, "film", "[PAD]"]):
        at = model.tokenizer.convert_tokens_to_ids([token])[0]
        at = model.tokenizer.pad_id if at == model.tokenizer.unk_id else at
        everywhere = model.logits(torch.full((1, 12), at))
        np.testing.assert_allclose(both[:, row], [part[0].detach() for part in everywhere], atol=1e-12)


@pytest.mark.parametrize("document", DOCUMENTS, ids=len)
@pytest.mark.parametrize("mask_token", ["[UNK]", "film"])
def test_equals_the_forward_pass(document, mask_token):
    masks = masks_for(document)
    np.testing.assert_allclose(replaced(classifier(), document, mask_token)(masks),
                               exact(classifier(), document, masks, mask_token), atol=1e-12)


@pytest.mark.parametrize("name", ["imdb-tame", "imdb-peaky"])
def test_the_shipped_models(name):
    """Their weights are float32; the sums are float64, so they are closer to the truth than the model's own predict."""
    model, masks = load_weights(name), masks_for(REVIEW, 60)
    scores, truth = evaluate_masks(model, REVIEW, masks), exact(model, REVIEW, masks)
    np.testing.assert_allclose(scores, truth, atol=1e-12)
    np.testing.assert_allclose(scores, evaluate_masks(model.predict, REVIEW, masks), atol=1e-4)


def test_log_g_from_minus_86_to_104():
    """In float32 exp(104) is infinite; here what is small beside it still counts when the large words go."""
    model, document = classifier(), DOCUMENTS[3]
    log_g = word_terms(model, document)[0]
    with torch.no_grad():
        model.W_k.mul_(190 / np.ptp(log_g))
    log_g = word_terms(model, document)[0]
    assert np.ptp(log_g) == pytest.approx(190)
    masks = masks_for(document)
    truth = exact(model, document, masks)
    assert np.ptp(truth) > 0.01
    np.testing.assert_allclose(replaced(model, document)(masks), truth, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_where_all_that_is_kept_underflows(seed):
    """log g spans thousands: beside the largest g, what some masks keep is zero in any float."""
    model, document = classifier(scale=3000, seed=seed), DOCUMENTS[3]
    log_g = word_terms(model, document)[0]
    masks = masks_for(document)
    kept = np.ones((len(masks), 12, 1), bool)
    kept[:, 1:1 + len(document), 0] = masks
    largest = np.where(kept, *log_g).max(1)                                         # (n, K)
    vanishes = (largest - log_g.max((0, 1)) < -750).any(1)
    assert 0 < vanishes.sum() < len(masks)
    scores = replaced(model, document)(masks)
    np.testing.assert_allclose(scores, exact(model, document, masks), atol=1e-8)


def test_documents_longer_than_the_model_reads():
    model, document = classifier(), ["good", "film", "bad"] * 10
    masks = masks_for(document[:11])
    np.testing.assert_allclose(evaluate_masks(model, document, masks), exact(model, document[:11], masks), atol=1e-12)
    with pytest.raises(ValueError, match="reads 11 tokens"):
        evaluate_masks(model, document, np.ones((1, 30)))


@pytest.mark.parametrize("document", DOCUMENTS, ids=len)
def test_deleting_moves_the_words_behind_up(document):
    model, masks = classifier(), masks_for(document, 50)
    documents = [[token for token, keep in zip(document, mask, strict=True) if keep] for mask in masks]
    np.testing.assert_allclose(deleted(model, document)(masks), model.predict(documents), atol=1e-12)


def test_a_model_of_one_s_own_is_asked():
    class Doubled(AttentionClassifier):
        def forward(self, ids, folded=True):
            return 2 * super().forward(ids, folded)

    plain = classifier()
    model = Doubled(plain.tokenizer, **plain.config).double()
    model.load_state_dict(plain.state_dict())
    masks = masks_for(DOCUMENTS[3], 20)
    scores = evaluate_masks(model, DOCUMENTS[3], masks)
    np.testing.assert_allclose(scores, 2 * exact(plain, DOCUMENTS[3], masks), atol=1e-12)
