"""Every explainer on classifiers as transformers has them, with two classes and with four."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from coursekit import debate, evaluate, explain, people
from coursekit.models import GPT2, GPT2Config
from coursekit.models.hub.families import QUERIES_AND_KEYS
from coursekit.models.hub.huggingface import HuggingFaceClassifier
from tests.models.test_huggingface import FAMILIES, classifier

TEXT = "unwatchable, not a good film!"
INSIDE = [explain.attention_mean, explain.attention_max, explain.attention_sum, explain.norm_attention, explain.rollout,
          explain.attention_flow, explain.gradient_attention, explain.relevance_attention, explain.gradient_x_input,
          explain.integrated_gradients, lambda model, document: explain.gradient(model, document, "l2")]
OUTSIDE = [explain.leave_one_out, explain.shapley_values,
           lambda model, document: explain.lime(model, document, n_samples=50),
           lambda model, document: explain.kernel_shap(model, document, n_samples=128)]
families = pytest.mark.parametrize("family", FAMILIES)


def suited(methods, model):
    """The methods without relevance where the model's family has no rules for it."""
    return [m for m in methods if m is not explain.relevance_attention or hasattr(model, "queries_and_keys")]


@families
@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.filterwarnings("ignore:integrated gradients")
def test_all_explain_all(family, labels):
    model = classifier(family, labels=labels)
    document = model.tokenizer.tokenize(TEXT)[:8]
    for method in suited(INSIDE + OUTSIDE, model):
        a = method(model, document)
        assert set(a.tokens) == set(document) and np.abs(a.scores).max() > 0, a.method
        assert len(a) == len(document) or a.per == "word"
        again = method(model, document)
        assert (a.scores == again.scores).all(), f"{a.method} differs on a second call"


@families
def test_a_class_can_be_chosen(family):
    model = classifier(family, labels=4)
    document = model.tokenizer.tokenize(TEXT)[:8]
    likeliest = int(model.predict([document])[0].argmax())
    for method in suited([explain.gradient_attention, explain.relevance_attention, explain.gradient_x_input,
                          explain.leave_one_out], model):
        by_default, other = method(model, document), method(model, document, target=(likeliest + 1) % 4)
        assert by_default.target == likeliest and (by_default.scores != other.scores).any()


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in QUERIES_AND_KEYS])
def test_families_without_rules_of_relevance_are_refused(family):
    with pytest.raises(TypeError, match="has no queries_and_keys: use a method that only calls predict"):
        explain.relevance_attention(classifier(family), ["a"])


@pytest.mark.parametrize("family", QUERIES_AND_KEYS)
@torch.no_grad()
def test_relevance_is_how_the_network_moves_with_its_constants_frozen(family):
    """Attention weights, the norms' deviations and the activations' f(x)/x are written down, and put in for a document
    beside it: no gradient is in this formula."""
    model, notes, hooks = classifier(family).double(), {}, []
    e = model.embed(model.tokenizer.tokenize(TEXT)[:8])
    aside = e + 1e-4 * torch.randn_like(e)
    with torch.enable_grad(), explain.relevance_rules(model):
        at = e.clone().requires_grad_()
        slope, = torch.autograd.grad(model.trace(at).score, at)

    def frozen(module, inputs, output):
        x = inputs[0]
        if isinstance(module, torch.nn.LayerNorm):
            size = notes.setdefault(module, (x.var(-1, unbiased=False, keepdim=True) + module.eps).sqrt())
            return (x - x.mean(-1, keepdim=True)) / size * module.weight + module.bias
        return x * notes.setdefault(module, output / x)

    for module in model.modules():
        kind = type(module).__name__
        if kind in ("LayerNorm", "GELUActivation", "NewGELUActivation", "Tanh"):
            hooks.append(module.register_forward_hook(frozen))
    here = model.trace(e)
    there = model.trace(aside, lambda layer, A: here.attentions[layer])
    assert len(hooks) > 4 and len(notes) == len(hooks)
    assert (there.score - here.score).item() == pytest.approx(((aside - e) * slope).sum().item(), rel=1e-6)
    assert abs((model.from_embeddings(aside) - there.score).item()) > 1e-7          # as it is, it moves elsewhere


@pytest.mark.parametrize("family", QUERIES_AND_KEYS)
def test_relevance_is_conserved_without_biases(family):
    """Up to the ε of the norms: what the embeddings get, positions and types included, sums to the score."""
    model = classifier(family).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
    table = "wpe" if family == "gpt2" else "position_embeddings"
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if table in name or "token_type" in name:
                parameter.zero_()
    e = model.embed(model.tokenizer.tokenize(TEXT)[:8]).detach().requires_grad_()
    with explain.relevance_rules(model):
        score = model.trace(e).score
        slope, = torch.autograd.grad(score, e)
    assert score.item() == pytest.approx(model.from_embeddings(e).item(), rel=1e-6)
    assert (e * slope).sum().item() == pytest.approx(score.item(), rel=1e-3)


@pytest.mark.parametrize("family", ["electra", "roberta", "llama"])
@pytest.mark.filterwarnings("ignore:integrated gradients", "ignore:invalid value")
def test_the_models_device_is_respected(family, monkeypatch):
    """On a device that has shapes and no numbers: all that goes into the model is there, all that comes out is not."""
    model, entered = classifier(family).to("meta"), set()

    def note(module, inputs, named):
        entered.update(x.device.type for x in (*inputs, *named.values()) if torch.is_tensor(x))

    for module in model.model.modules():
        module.register_forward_pre_hook(note, with_kwargs=True)
    document = model.tokenizer.tokenize(TEXT)[:8]
    assert {x.device.type for x in (model.embed(document), *model.trace(model.embed(document)).values)} == {"meta"}
    monkeypatch.setattr(torch.Tensor, "cpu", lambda x: torch.ones(x.shape, dtype=x.dtype))
    monkeypatch.setattr(torch.Tensor, "item", lambda x: 1.0)
    monkeypatch.setattr(torch.Tensor, "__bool__", lambda x: False)
    for method in suited([explain.attention_mean, explain.norm_attention, explain.rollout, explain.gradient_attention,
                          explain.gradient, explain.gradient_x_input, explain.leave_one_out,
                          partial(explain.integrated_gradients, n_nodes=4), explain.relevance_attention], model):
        assert np.isfinite(method(model, document).scores).all()
    assert debate.permuted_attention(model, document, n=2).scores.shape == (2,)
    assert debate.adversarial_attention(model, document, steps=0).attention.shape[-1] == len(document)
    assert debate.prune_heads(model, document).without.shape == debate.effective_attention(model, document).shape[:2]
    assert debate.patch_activations(model, document, document[::-1]).scores.shape[1] == len(model.tokens(document))
    assert debate.patch_attention(model, document, document[::-1]).scores.shape == (2,)
    assert evaluate.local_lipschitz(model, document, explain.gradient_x_input, n_neighbours=2).document == ()
    assert entered == {"meta"}


def test_what_asks_for_log_odds_says_so_to_a_model_of_four_classes():
    model, document = classifier("bert", labels=4), ["a", "film"]
    for ask in (debate.uniform_attention, debate.decision_flips, debate.prune_heads,
                lambda model, document: debate.patch_activations(model, document, document[::-1])):
        with pytest.raises(ValueError, match="the model scores 4 classes: take one of two"):
            ask(model, document)


def test_a_language_models_device_is_respected(monkeypatch):
    model = GPT2(GPT2Config(vocab_size=4, T_max=8, d_e=6, K=2, L=1)).to("meta")
    model.tokenizer = SimpleNamespace(tokens="abcd")
    monkeypatch.setattr(torch.Tensor, "cpu", lambda x: torch.ones(x.shape, dtype=x.dtype))
    monkeypatch.setattr(torch.Tensor, "__bool__", lambda x: False)
    assert people.generated_attributions(model, [1, 2, 3, 2], 2).scores.shape == (2, 4)


@pytest.mark.parametrize("family", ["electra", "roberta", "llama"])
@pytest.mark.filterwarnings("error:integrated gradients")
def test_half_precision_is_kept_where_that_is_asked_for_and_scores_are_close(family):
    model = classifier(family)
    half = HuggingFaceClassifier(classifier(family).model.bfloat16(), model.tokenizer, half=True)
    document = model.tokenizer.tokenize(TEXT)[:8]
    assert half.model.dtype == torch.bfloat16 and half.predict([document]).dtype == np.float32
    for method in suited([explain.gradient_x_input, explain.integrated_gradients, explain.attention_mean,
                          explain.norm_attention, explain.rollout, explain.gradient_attention, explain.leave_one_out,
                          explain.relevance_attention], model):
        exact, coarse = method(model, document).scores, method(half, document).scores
        within = 0.2 if method is explain.leave_one_out else 0.1        # small differences of rounded scores
        assert coarse.dtype == np.float64 and np.linalg.norm(coarse - exact) < within * np.linalg.norm(exact)


@pytest.mark.parametrize("family", ["bert", "roberta", "camembert", "albert"])
def test_a_pair_of_texts_is_spelled_as_they_are(family):
    """Also where both are cut: what is read is spelled, and what stands between them stays."""
    model, pair = classifier(family), ("Unwatchable: BAD!", "NOT a Good Film")
    document = [*model.tokenizer.tokenize(pair[0]), *model.separator, *model.tokenizer.tokenize(pair[1])]
    read = explain.leave_one_out(model, document)
    assert len(read) < len(document) or family != "roberta"
    spelled = read.text(pair, model.tokenizer)
    between = [i for i, token in enumerate(spelled.tokens) if token in model.separator]
    assert [spelled.tokens[i] for i in between] == model.separator and not spelled.scores[between].any()
    first, second = spelled.tokens[:between[0]], spelled.tokens[between[-1] + 1:]
    assert pair[0].replace(" ", "").startswith("".join(first)) and "".join(first).startswith("Unwatc")
    assert pair[1].replace(" ", "").startswith("".join(second)) and second[0] == "NOT"
    assert spelled.scores.sum() == pytest.approx(read.scores.sum())
    for wrong in (pair[::-1], ("a film", pair[1])):
        with pytest.raises(ValueError, match="other tokens than those of the text"):
            read.text(wrong, model.tokenizer)
    with pytest.raises(ValueError, match="of distinct words: take .on.document. first"):
        explain.lime(model, document, n_samples=20, bow=True).text(pair, model.tokenizer)


def test_two_texts_of_a_decoder_have_nothing_between_them():
    model, pair = classifier("gpt2"), ("It is", "NOT a film")
    document = [piece for text in pair for piece in model.tokenizer.tokenize(text)]
    read = explain.leave_one_out(model, document)
    spelled = read.text(pair, model.tokenizer)
    assert [word for word in spelled.tokens if word] == ["It", "is", "NOT", "a", "film"]
    assert spelled.scores.sum() == pytest.approx(read.scores.sum())


def test_one_word_of_byte_pairs_is_one_word():
    model = classifier("gpt2")
    pieces = model.tokenizer.tokenize("Unwatchable")
    found = explain.leave_one_out(model, pieces)
    assert len(pieces) > 1 and found.text("Unwatchable", model.tokenizer).tokens == ("Unwatchable",)
    with pytest.raises(TypeError, match="expected a tokenizer of transformers, got method_descriptor"):
        found.text("Unwatchable", str.split)


def test_pieces_that_a_unigram_tokenizer_does_not_know_are_spelled():
    """`tokenize` gives them as they stand in the text, not as the unknown token."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    unigram = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("▁film", -2.0), ("é", -1.0)], unk_id=0))
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    pieces = PreTrainedTokenizerFast(tokenizer_object=unigram, unk_token="<unk>")
    text = "Film 🙂 filmé"
    tokens = pieces.tokenize(text)
    assert "🙂" in tokens and pieces.unk_token not in tokens
    found = explain.Attribution(tokens, np.ones(len(tokens)), "by hand")
    assert found.text(text, pieces).tokens == found.words().tokens == ("Film", "🙂", "filmé")


def test_bytes_of_a_letter_are_one_word():
    """As the tokenizers of Llama 2 and Mistral cut what they do not know."""
    from tokenizers import Tokenizer, models, normalizers
    from transformers import PreTrainedTokenizerFast

    vocab = [f"<0x{i:02X}>" for i in range(256)] + ["▁", "c", "a", "f"]
    bytewise = Tokenizer(models.BPE({token: i for i, token in enumerate(vocab)}, [], byte_fallback=True))
    bytewise.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    pieces = PreTrainedTokenizerFast(tokenizer_object=bytewise)
    tokens = pieces.tokenize("café 🙂")
    assert tokens[-4:] == ["<0xF0>", "<0x9F>", "<0x99>", "<0x82>"]
    found = explain.Attribution(tokens, np.ones(len(tokens)), "by hand")
    assert list(found.words()) == list(found.text("café 🙂", pieces)) == [("café", 6), ("🙂", 5)]


@pytest.mark.parametrize("off", [torch.no_grad, torch.inference_mode])
@pytest.mark.filterwarnings("ignore:integrated gradients")
def test_gradients_where_autograd_is_off(off):
    model, document = classifier("bert"), ["a", "film", "not", "good"]
    for method in (explain.gradient, explain.gradient_x_input, explain.integrated_gradients, explain.gradient_attention,
                   explain.relevance_attention, partial(explain.fit_slalom, n_samples=20, method="sgd"),
                   debate.adversarial_attention, debate.decision_flips):
        want = method(model, document)
        with off():
            assert repr(method(model, document)) == repr(want)


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta", "llama"])
def test_explanations_are_spelled_as_the_text_is(family):
    model, text = classifier(family), "Unwatchable: NOT a Good film\u2026"
    document = model.tokenizer.tokenize(text)
    read = explain.leave_one_out(model.predict, document)
    spelled = read.text(text, model.tokenizer)
    words = [word for word in spelled.tokens if word]                   # a space may be a piece of its own
    assert words[:6] == ["Unwatchable", ":", "NOT", "a", "Good", "film"] and set(words[6:]) == {"\u2026"}
    assert spelled.scores.sum() == pytest.approx(read.scores.sum()) and spelled.method == read.method
    assert read[:4].text(text, model.tokenizer).scores.sum() == pytest.approx(read.scores[:4].sum())
    distinct = explain.lime(model.predict, document, n_samples=20, bow=True)
    assert distinct.text(text, model.tokenizer).scores.sum() == pytest.approx(distinct.on(document).scores.sum())
    for other in (read, distinct):
        with pytest.raises(ValueError, match="other tokens than those of the text"):
            other.text("the film", model.tokenizer)
