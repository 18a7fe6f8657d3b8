"""Our gradients beside captum's, on our classifiers and on a small BERT: the same numbers, to rounding."""

import numpy as np
import pytest
import torch
import transformers
from captum.attr import InputXGradient, IntegratedGradients, LayerIntegratedGradients, NoiseTunnel, Saliency

from coursekit.explain import gradient, gradient_x_input, integrated_gradients
from coursekit.explain.gradients import NOISE, noisy_copies
from coursekit.models import HuggingFaceClassifier, load_weights

transformers.logging.set_verbosity_error()
pytestmark = pytest.mark.filterwarnings("ignore:the mean of the gradient is zero", "ignore:Input Tensor 0 did not")
TEXT = "The story is not bad, but the film is too long!"
PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] the film is good not bad st ##ory but too , . !".split()


def bert(labels, family="bert"):
    """A random BERT, or other model, in double precision, its weights large enough for attention that is far from
    uniform."""
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        family, vocab_size=len(PIECES), hidden_size=12, num_hidden_layers=2, num_attention_heads=3,
        num_key_value_heads=3, intermediate_size=20, max_position_embeddings=17, num_labels=labels, pad_token_id=0,
        bos_token_id=2)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    tokenizer = transformers.BertTokenizerFast(vocab={piece: i for i, piece in enumerate(PIECES)})
    return HuggingFaceClassifier(model, tokenizer, check=family != "mistral").double()      # which reads no [SEP]


@pytest.fixture(scope="module", params=["imdb-tame", "imdb-peaky", "imdb-6layer", "bert", "bert, four classes",
                                        "roberta", "electra", "mistral"])
def explained(request):
    """(model, document, its embeddings and those of the [UNK] baseline (1, T, d_e), own rows, captum's target)."""
    if not request.param.startswith("imdb"):
        model = bert(4 if "four" in request.param else 2, request.param.split(",")[0])
    else:
        model = load_weights(request.param).double()
    document = model.tokenizer.tokenize(TEXT)
    e, unknown = model.embed(document).detach()[None], model.baseline(document).detach()[None]
    target = 3 if "four" in request.param else None
    return model, document, e, unknown, model.own(document), target


def same(ours, captum, own, rtol=1e-9):
    """Our scores are captum's (1, T) of the document's own tokens."""
    np.testing.assert_allclose(ours.scores, captum.detach()[0, own].numpy(), rtol=rtol, atol=1e-12)
    assert abs(ours.scores).max() > 1e-3 or ours.method == "gradient (mean)"


def test_noise_tunnel(explained, monkeypatch):
    """SmoothGrad with the noise that captum would have drawn, where it draws it."""
    model, document, e, _, own, target = explained
    noise = noisy_copies(model, document, e[0], 20) - e
    others = [row for row in range(e.shape[1]) if row not in own]
    assert noise[:, own].std().item() == pytest.approx(NOISE * e[0, own].std().item(), rel=0.05)
    assert not noise[:, others].any()
    monkeypatch.setattr(torch, "normal", lambda mean, sd: noise)
    tunnel = NoiseTunnel(Saliency(model.from_embeddings))
    mean = tunnel.attribute(e, nt_samples=20, stdevs=0.1, target=target, abs=False)
    ours = gradient(model, document, "l2", target, smooth=20)
    same(ours, mean.norm(dim=-1), own)
    same(gradient_x_input(model, document, target=target, smooth=20), (mean * e).sum(-1), own)
    assert not np.allclose(ours.scores, gradient(model, document, "l2", target).scores, rtol=1e-3)
    assert ours.method == "SmoothGrad (l2)" and ours.about["smooth"] == 20


def test_saliency(explained):
    model, document, e, _, own, target = explained
    slopes = Saliency(model.from_embeddings).attribute(e, target=target, abs=False)
    same(gradient(model, document, "mean", target=target), slopes.mean(-1), own)
    same(gradient(model, document, "l2", target=target), slopes.norm(dim=-1), own)
    magnitudes = Saliency(model.from_embeddings).attribute(e, target=target)
    same(gradient(model, document, "l1", target=target), magnitudes.sum(-1), own)


def test_input_x_gradient(explained):
    model, document, e, _, own, target = explained
    products = InputXGradient(model.from_embeddings).attribute(e, target=target)
    same(gradient_x_input(model, document, target=target), products.sum(-1), own)


@pytest.mark.parametrize("n_nodes", [1, 8, 33])
@pytest.mark.filterwarnings("ignore:integrated gradients with")
def test_integrated_gradients(explained, n_nodes):
    model, document, e, unknown, own, target = explained
    parts, delta = IntegratedGradients(model.from_embeddings).attribute(
        e, unknown, target=target, n_steps=n_nodes, method="gausslegendre", return_convergence_delta=True)
    ours = integrated_gradients(model, document, n_nodes=n_nodes, target=target)
    same(ours, parts.sum(-1), own, rtol=1e-6)                                       # captum's nodes are float32
    assert ours.about["remainder"] == pytest.approx(-delta.item(), abs=1e-7)


@pytest.mark.parametrize("labels", [2, 4])
def test_layer_integrated_gradients_from_token_ids(labels):
    """captum from ids, through the model's own forward pass and its word embeddings, and ours from embeddings."""
    model = bert(labels)
    document = model.tokenizer.tokenize(TEXT)
    target = None if labels == 2 else 1
    ids, unknown = (torch.stack([model.ids(tokens)]) for tokens in (document, ["[UNK]"] * len(document)))

    def score(ids):
        logits = model.model(ids).logits
        return logits[:, 1] - logits[:, 0] if labels == 2 else logits

    parts = LayerIntegratedGradients(score, model.model.bert.embeddings.word_embeddings).attribute(
        ids, unknown, target=target, n_steps=20, method="gausslegendre")
    ours = integrated_gradients(model, document, n_nodes=20, target=target)
    same(ours, parts.sum(-1), model.own(document), rtol=1e-6)
