"""Classifiers of transformers behind the protocols: their scores, batched or not, inside or out."""

import re
import string
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
import transformers
from tokenizers import ByteLevelBPETokenizer, processors

from coursekit import explain
from coursekit.compare import course_explainers
from coursekit.explain.asking import read_tokens
from coursekit.models import HuggingFaceClassifier
from coursekit.own import own_model

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] the film is good not bad un ##watch ##able . ! a".split()
TEXTS = ["The film is good.", "unwatchable!", "", "a film not bad, not good", "the " * 40]
FAMILIES = ["bert", "distilbert", "gpt2", "roberta", "xlm-roberta", "camembert", "electra", "llama", "mistral", "qwen2",
            "qwen3", "albert", "deberta-v2", "modernbert"]
DECODERS = ["gpt2", "llama", "mistral", "qwen2", "qwen3"]
UNIGRAMS = {"xlm-roberta": "XLMRobertaTokenizer", "camembert": "CamembertTokenizer"}
ROBERTAS = ["roberta", *UNIGRAMS]
BEGUN = ["llama", "mistral"]                            # whose texts begin with a token
SINGLE = [*DECODERS[1:], "modernbert"]                  # in places, whatever the precision of the rest


def tokenizer(family):
    if family not in (*DECODERS, *ROBERTAS):
        return transformers.BertTokenizerFast(vocab={piece: i for i, piece in enumerate(PIECES)})
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] if family in ROBERTAS else ["<|endoftext|>"]
    if family in UNIGRAMS:
        words = ["▁", "▁the", "▁film", "▁good", "▁not", "▁un", "watch", "able", *string.ascii_letters, *",.!:…"]
        vocab = [(token, 0.0) for token in special] + [(word, -1.0) for word in words]
        return getattr(transformers, UNIGRAMS[family])(vocab=vocab)
    pairs = ByteLevelBPETokenizer()
    pairs.train_from_iterator(TEXTS, vocab_size=270, special_tokens=special, show_progress=False)
    kind = {"roberta": transformers.RobertaTokenizer, "qwen2": transformers.Qwen2Tokenizer}
    made = kind.get(family, transformers.GPT2Tokenizer)(vocab=pairs.get_vocab(), merges=[])
    if family in BEGUN:                                     # as those of Llama 3: a text begins with a token
        made.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)])
    return made


def theirs(family, labels=2, seed=0, **more):
    """A random classifier of transformers, its weights large enough for attention that is far from uniform."""
    sizes = dict(vocab_size=len(tokenizer(family)), hidden_size=12, num_attention_heads=3, num_hidden_layers=2,
                 max_position_embeddings=16, num_labels=labels, bos_token_id=0, eos_token_id=0)
    sizes |= {"distilbert": dict(hidden_dim=20), "gpt2": {},
              **dict.fromkeys(ROBERTAS, dict(intermediate_size=20, max_position_embeddings=18, pad_token_id=1)),
              "electra": dict(intermediate_size=20, embedding_size=8),
              "albert": dict(intermediate_size=20, embedding_size=8, num_hidden_groups=1),
              "deberta-v2": dict(intermediate_size=20, relative_attention=True, pos_att_type=["p2c", "c2p"],
                                 position_biased_input=False),
              "llama": dict(intermediate_size=20, num_attention_heads=4, num_key_value_heads=2, head_dim=4),
              "mistral": dict(intermediate_size=20, num_key_value_heads=1, sliding_window=9),
              "qwen2": dict(intermediate_size=20, num_key_value_heads=1),
              "qwen3": dict(intermediate_size=20, num_key_value_heads=1, head_dim=4),
              "modernbert": dict(intermediate_size=20, local_attention=8, cls_token_id=2, sep_token_id=3,
                                 pad_token_id=0, global_attn_every_n_layers=2)}.get(family, dict(intermediate_size=20))
    torch.manual_seed(seed)
    config = transformers.AutoConfig.for_model(family, **sizes | more)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    return model.eval()


def classifier(family, **more):
    return HuggingFaceClassifier(theirs(family, **more), tokenizer(family))


def documents(model):
    return [model.tokenizer.tokenize(text) for text in TEXTS]


pytestmark = pytest.mark.filterwarnings("ignore:.*tokens are unknown to the tokenizer")
families = pytest.mark.parametrize("family", FAMILIES)


@families
@pytest.mark.parametrize("labels", [1, 2, 4])
def test_scores_are_theirs_and_a_batch_is_its_documents(family, labels):
    model = classifier(family, labels=labels)
    scores = model.predict(documents(model))
    assert isinstance(scores, np.ndarray) and scores.shape == ((5,) if labels < 3 else (5, 4))
    for text, document, score in zip(TEXTS, documents(model), scores, strict=True):
        text = text or "<|endoftext|>" * (family in DECODERS and not model.around[0])
        ids = model.tokenizer(text, truncation=True, max_length=16)["input_ids"]
        assert model.ids(document).tolist() == ids
        with torch.no_grad():
            logits = model.model(torch.tensor([ids])).logits[0].numpy()
        answer = {1: logits[0], 2: logits[-1] - logits[0], 4: logits}[labels]
        np.testing.assert_allclose(score, answer, atol=1e-5)
        np.testing.assert_allclose(score, model.predict([document])[0], atol=1e-5)
    assert model.predict([]).shape == (0, *scores.shape[1:])
    assert np.ptp(scores, axis=0).min() > 0.01


@families
def test_special_tokens_and_own_rows(family):
    model = classifier(family)
    for text, document in zip(TEXTS, documents(model), strict=True):
        tokens, own = model.tokens(document), model.own(document)
        around = {**dict.fromkeys(ROBERTAS, ["<s>", "</s>"]), **dict.fromkeys(BEGUN, ["<|endoftext|>"])}.get(
            family, ["[CLS]", "[SEP]"] if family not in DECODERS else [] if document else ["<|endoftext|>"])
        assert [tokens[i] for i in own] == document[:16 - len(around)]
        assert [tokens[i] for i in range(len(tokens)) if i not in own] == around
        assert len(tokens) <= model.T_max == 16
    assert HuggingFaceClassifier(model.model, model.tokenizer, T_max=5).ids(documents(model)[0]).shape == (5,)


@families
@pytest.mark.parametrize("labels", [2, 4])
def test_from_embeddings_is_predict_and_differentiable(family, labels):
    model = classifier(family, labels=labels)
    for document in documents(model):
        e = model.embed(document).detach().requires_grad_()
        score = model.from_embeddings(e)
        np.testing.assert_allclose(score.detach(), model.predict([document])[0], atol=1e-5)
        gradient = torch.autograd.grad(score.sum(), e)[0]
        assert (gradient.abs().sum(1) > 0).all()
    batch = torch.stack([model.embed(["film", "good"]), model.embed(["film", "bad"])])[None]     # (1, 2, T, d_e)
    assert model.from_embeddings(batch).shape == (1, 2) + (() if labels == 2 else (4,))
    torch.testing.assert_close(model.from_embeddings(batch)[0, 1], model.from_embeddings(batch[0, 1]))
    with pytest.raises(ValueError, match="use embed"):
        model.from_embeddings(torch.zeros(3, 5))
    with pytest.raises(ValueError, match="T ≤ 16"):
        model.from_embeddings(torch.zeros(17, model.embed([]).shape[1]))


def with_attention(model, **inputs):
    """What transformers answers by itself, attention weights included."""
    fastest = model.model.config._attn_implementation
    model.model.set_attn_implementation("eager")
    answer = model.model(**inputs, output_attentions=True)
    model.model.set_attn_implementation(fastest)
    return answer


@families
def test_attention_is_theirs(family):
    model = classifier(family)
    for document in documents(model):
        A, ids = model.attentions(document), model.ids(document)
        answer = with_attention(model, input_ids=ids[None])
        torch.testing.assert_close(A, torch.stack([layer[0] for layer in answer.attentions]))
        torch.testing.assert_close(A.sum(-1), torch.ones(2, 4 if family == "llama" else 3, len(ids)))
        torch.testing.assert_close(model.cls_attention(document), A[-1, :, len(ids) - 1 if family in DECODERS else 0])
        assert model.model.config._attn_implementation == ("eager" if family == "deberta-v2" else "sdpa")
    assert (A.amax(-1) - 1 / len(ids)).abs().max() > 0.05


@families
@torch.no_grad()
def test_heads_write_what_the_layer_writes(family):
    """attention @ values, summed over heads, plus the output's bias: what the layer's output map returns."""
    model = classifier(family)
    written = []
    layers = {"distilbert": lambda m: [layer.attention.out_lin for layer in m.transformer.layer],
              "gpt2": lambda m: [block.attn.c_proj for block in m.h],
              "albert": lambda m: [m.encoder.albert_layer_groups[0].albert_layers[0].attention.dense] * 2,
              "modernbert": lambda m: [layer.attn.Wo for layer in m.layers],
              **dict.fromkeys(DECODERS[1:], lambda m: [layer.self_attn.o_proj for layer in m.layers])}.get(
        family, lambda m: [layer.attention.output.dense for layer in m.encoder.layer])(model.model.base_model)
    e = model.embed(documents(model)[0])
    hooks = [layer.register_forward_hook(lambda layer, x, y: written.append(y[0])) for layer in dict.fromkeys(layers)]
    plain = model.from_embeddings(e)
    for hook in hooks:
        hook.remove()
    trace = model.trace(e)
    torch.testing.assert_close(trace.score, plain)
    assert len(trace.values) == len(trace.attentions) == len(written) == 2
    for A, values, layer, output in zip(trace.attentions, trace.values, layers, written, strict=True):
        assert values.shape == (4 if family == "llama" else 3, len(e), 12)
        bias = 0 if layer.bias is None else layer.bias
        torch.testing.assert_close((A @ values).sum(0) + bias, output, atol=1e-5, rtol=1e-5)


@families
def test_the_score_has_a_gradient_in_every_attention_weight_it_uses(family):
    model = classifier(family)
    trace = model.trace(model.embed(documents(model)[0]))
    for layer, gradient in enumerate(torch.autograd.grad(trace.score, trace.attentions)):
        assert gradient.shape == trace.attentions[layer].shape
        read = trace.attentions[1][:, model.readout].amax(0) > 0                    # not all, with a window
        used = read if layer == 0 else slice(-1, None) if family in DECODERS else slice(0, 1)
        assert (gradient[:, used].abs().amax(-1) > 0).all()
    assert not any(module._forward_hooks for module in model.modules())             # nothing stays behind


@families
def test_a_batch_is_traced_like_its_documents_and_its_attention_can_be_changed(family):
    model = classifier(family)
    e = model.embed(documents(model)[0])
    batch = torch.stack([e, e.flip(0)])
    torch.testing.assert_close(model.trace(batch).score, model.from_embeddings(batch))
    seen = []

    def even(layer, A):
        seen.append(layer)
        return torch.full_like(A, 1 / A.shape[-1])

    trace = model.trace(batch, even)
    assert seen == [0, 1] and trace.attentions[0].shape == (2, 4 if family == "llama" else 3, len(e), len(e))
    assert (trace.attentions[1] == 1 / len(e)).all() and not torch.allclose(trace.score, model.from_embeddings(batch))
    torch.testing.assert_close(model.trace(e, even).score, trace.score[0])
    torch.testing.assert_close(model.trace(e, lambda layer, A: A).score, model.from_embeddings(e))



@families
def test_baselines_keep_special_tokens(family):
    model = classifier(family)
    words = model.model.get_input_embeddings().weight
    document = documents(model)[0]
    own, others = model.own(document), [i for i in range(len(model.tokens(document))) if i not in model.own(document)]
    unknown = model.baseline(document)
    assert torch.equal(unknown[own], words[model.tokenizer.unk_token_id].expand(len(own), -1))
    assert not model.baseline(document, "zero")[own].any()
    for e in (unknown, model.baseline(document, "zero")):
        assert e.shape == model.embed(document).shape and torch.equal(e[others], model.embed(document)[others])
    if model.tokenizer.pad_token is None:
        with pytest.raises(ValueError, match="no pad token"):
            model.baseline(document, "pad")
    else:
        torch.testing.assert_close(unknown, model.embed(["[UNK]"] * len(document)))
        pads = [model.tokenizer.pad_token] * len(document)
        torch.testing.assert_close(model.baseline(document, "pad"), model.embed(pads))
        np.testing.assert_allclose(model.from_embeddings(model.embed(pads)).item(), model.predict([pads])[0], atol=1e-5)
    with pytest.raises(ValueError, match="'unk', 'pad' or 'zero'"):
        model.baseline(document, "mask")


def test_gpt2_is_read_at_the_end_of_the_document_whatever_its_padding_token_is():
    """Also where the document ends with the padding's id: transformers then reads from an earlier place."""
    document = ["the", "film", "<|endoftext|>"]
    plain = classifier("gpt2")
    model = HuggingFaceClassifier(theirs("gpt2", pad_token_id=0), tokenizer("gpt2"))
    for other in (model.predict([document]), model.predict([document, document * 3])[:1],
                  model.from_embeddings(model.embed(document))[None].detach()):
        np.testing.assert_allclose(plain.predict([document]), other, atol=1e-5)
    logits = model.model(model.ids(document)[None]).logits[0]
    assert abs((logits[1] - logits[0]).item() - plain.predict([document])[0]) > 1e-3


@families
def test_double_precision(family):
    model = classifier(family)
    single, double = model.predict(documents(model)), model.double().predict(documents(model))
    assert double.dtype == np.float64
    np.testing.assert_allclose(single, double, atol=1e-5)
    e = model.embed(documents(model)[0])
    assert abs(model.trace(e).score.item() - double[0]) < (1e-5 if family in SINGLE else 1e-12)


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_half_precision_becomes_single(half, tmp_path):
    model = classifier("bert")
    model.model.to(half).save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    loaded = HuggingFaceClassifier.from_pretrained(tmp_path)
    assert loaded.embed(["a"]).dtype == torch.float32 and loaded.predict([["a"]]).dtype == np.float32


@families
def test_a_saved_folder_is_the_same_model(family, tmp_path):
    model = classifier(family)
    model.model.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    again = HuggingFaceClassifier.from_pretrained(tmp_path)
    assert [again.tokenizer.tokenize(text) for text in TEXTS] == documents(model)
    np.testing.assert_allclose(again.predict(documents(model)), model.predict(documents(model)), atol=1e-6)


def test_bad_input_gets_one_line(tmp_path, monkeypatch):
    model = classifier("bert")
    for bad, words in ((lambda: model.predict(["a film"]), r"pass \[document\]"),
                       (lambda: model.embed("a film"), "list of tokens"),
                       (lambda: HuggingFaceClassifier(model.model.bert, model.tokenizer), "got BertModel: load one"),
                       (lambda: model.predict([[5, 6]]), r"list of tokens \(strings\), got int"),
                       (lambda: model.predict([5, 6]), r"list of tokens \(strings\), got int"),
                       (lambda: HuggingFaceClassifier(model.model, None), "the model's tokenizer, got NoneType"),
                       (lambda: HuggingFaceClassifier("bert", model.tokenizer), "got str: load one with")):
        with pytest.raises(TypeError, match=words) as caught:
            bad()
        assert "\n" not in str(caught.value)
    adapted = theirs("bert")
    adapted.peft_config = {}                                                        # as PEFT leaves it
    with pytest.raises(TypeError, match="an adapter .* model.merge_and_unload"):
        HuggingFaceClassifier(adapted, model.tokenizer)
    nameless = tokenizer("gpt2")
    nameless.unk_token = nameless.eos_token = None
    with pytest.raises(ValueError, match="'film-noir' is not in the vocabulary"):
        HuggingFaceClassifier(theirs("gpt2"), nameless).predict([["film-noir"]])
    model.model.bert.save_pretrained(tmp_path)                                      # without the classification layer
    model.tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="no trained classifier.bias, classifier.weight") as caught:
        HuggingFaceClassifier.from_pretrained(tmp_path)
    assert "\n" not in str(caught.value)


@families
def test_lengths_that_the_model_cannot_read_are_refused(family):
    model, least = classifier(family), {**dict.fromkeys(DECODERS, 1), **dict.fromkeys(BEGUN, 2)}.get(family, 3)
    for T_max in (least, 16):
        assert HuggingFaceClassifier(model.model, model.tokenizer, T_max).predict([["a"] * 20]).shape == (1,)
    for T_max in (least - 1, 17, 500, 4.0, "16"):
        with pytest.raises(ValueError, match=f"T_max must be a whole number from {least} to 16, the model's positions"):
            HuggingFaceClassifier(model.model, model.tokenizer, T_max)


@families
def test_a_folder_without_the_tokenizers_files_is_refused(family, tmp_path):
    """transformers then makes a tokenizer of nothing but special tokens, to which every word is unknown."""
    theirs(family).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="the tokenizer.* files .* are missing in the model's") as caught:
        HuggingFaceClassifier.from_pretrained(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_tokenizer_of_another_model_is_refused():
    with pytest.raises(ValueError, match=r"no \[CLS\] and \[SEP\], which bert models read"):
        HuggingFaceClassifier(theirs("bert"), tokenizer("gpt2"))
    with pytest.raises(ValueError, match="the tokenizer knows 17 tokens, the model 270: .* belong to another model"):
        HuggingFaceClassifier(theirs("gpt2"), tokenizer("bert"))
    larger = tokenizer("bert")
    larger.add_tokens(["splendid"])
    model = HuggingFaceClassifier(theirs("bert"), larger)
    assert model.predict([["good"]]).shape == (1,)
    with pytest.raises(ValueError, match="gives 'splendid' the id 17, but the model has 17 embeddings"):
        model.predict([["a", "splendid", "film"]])
    padded = tokenizer("gpt2")
    padded.add_special_tokens({"pad_token": "[PAD]"})                                # as is often done, and not resized
    model = HuggingFaceClassifier(theirs("gpt2"), padded)
    assert np.isfinite(model.predict([["a"], ["a", "a"]])).all()
    with pytest.raises(ValueError, match=r"gives '\[PAD\]' the id 270"):
        model.baseline(["a"], "pad")


def test_a_tokenizer_without_an_unknown_token_takes_what_ends_a_text_as_gpt2s_does():
    plain, nameless = classifier("llama"), tokenizer("llama")
    nameless.unk_token = None
    model, document = HuggingFaceClassifier(theirs("llama"), nameless), documents(plain)[1]
    for method in (explain.leave_one_out, explain.integrated_gradients):
        assert repr(method(model, document)) == repr(method(plain, document))


@families
def test_tokens_that_are_no_pieces_are_named_once(family):
    model = classifier(family)
    pieces = "[CLS]" in model.tokenizer.all_special_tokens
    document = ["The", "film", "is", "splendid"] if pieces else ["The", "f", "i", "splendid"]
    with pytest.warns(UserWarning, match=r"2 of 4 tokens are unknown .* such as 'The': .* tokenizer.tokenize\(text\)"):
        model.predict([document])
    with warnings.catch_warnings():
        warnings.simplefilter("error")                                              # neither again, nor for "[UNK]"
        model.embed(document)
        assert len(explain.leave_one_out(model, ["[UNK]", *document])) == 5
        explain.leave_one_out(explain.away(model, token=model.tokenizer.unk_token), document[1:])
    with pytest.raises(ValueError, match=r"token '\[MAKS\]' is not in the model's vocabulary"):
        explain.away(model, token="[MAKS]")


@families
def test_a_model_in_training_mode_is_refused(family):
    model = classifier(family)
    before = model.predict([["a"]])
    model.model.train()
    for ask in (lambda: model.predict([["a"]]), lambda: explain.integrated_gradients(model, ["a"])):
        with pytest.raises(ValueError, match="in training mode, where dropout makes its scores random: call eval()"):
            ask()
    np.testing.assert_array_equal(model.eval().predict([["a"]]), before)


def test_a_model_that_cannot_be_had_says_what_to_do():
    with pytest.raises(FileNotFoundError, match="into one folder, and pass that folder") as caught:
        HuggingFaceClassifier.from_pretrained("not a name")
    assert "\n" not in str(caught.value)


def test_a_model_without_its_weights_is_refused():
    with pytest.raises(ValueError, match="weights are not in memory"):
        HuggingFaceClassifier(theirs("bert").to("meta"), tokenizer("bert"))


def test_a_compiled_model_is_what_it_was():
    plain = classifier("bert")
    compiled = HuggingFaceClassifier(torch.compile(plain.model), plain.tokenizer)
    assert repr(explain.gradient(compiled, ["film"])) == repr(explain.gradient(plain, ["film"]))


def test_importing_models_does_not_load_transformers():
    code = "import sys, coursekit.models; print('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@families
def test_gradients_are_those_of_the_plain_model(family):
    """With respect to embeddings and to every layer's attention weights, as transformers hands them out."""
    model = classifier(family).double()
    e = model.embed(documents(model)[3]).detach().requires_grad_()
    answer = with_attention(model, inputs_embeds=e[None])
    theirs = torch.autograd.grad(answer.logits[0, 1] - answer.logits[0, 0], [e, *answer.attentions])
    trace = model.trace(e)
    ours = torch.autograd.grad(trace.score, [e, *trace.attentions])
    for mine, plain in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, plain.reshape(mine.shape), atol=1e-10, rtol=1e-8)
    fastest = torch.autograd.grad(model.from_embeddings(e), e)[0]
    close = dict(atol=1e-5, rtol=1e-3) if family in SINGLE else dict(atol=1e-10, rtol=1e-8)
    torch.testing.assert_close(fastest, theirs[0], **close)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in DECODERS])
def test_two_texts_are_one_document_whose_separator_stays(family):
    model = classifier(family)
    read = model.tokenizer
    for first, second in (("not", "a film good. not bad, the film is"), ("a film good. not bad, the film", "not"),
                          ("the film is " * 7, "a film not bad " * 7), ("", "the film is " * 7),
                          ("a film", "good. not")):
        document = [*read.tokenize(first), *model.separator, *read.tokenize(second)]
        plain = read(first, second, return_tensors="pt", truncation=True, max_length=model.T_max)
        assert model.ids(document).tolist() == plain["input_ids"][0].tolist()
    document = read_tokens(model, document)
    logits = model.model(**plain).logits[0]
    scores = [model.predict([document])[0], model.predict([["a"], document, ["film"] * 12])[1],
              model.from_embeddings(model.embed(document)).item(), model.trace(model.embed(document)).score.item()]
    np.testing.assert_allclose(scores, (logits[1] - logits[0]).item(), atol=1e-5)
    places = [i for i, token in enumerate(document) if token in model.separator]
    rows = [model.own(document)[i] for i in places]
    assert torch.equal(model.baseline(document, "zero")[rows], model.embed(document)[rows])
    for by in ("replace", "delete"):
        scores = explain.leave_one_out(model, document, by).scores
        assert (scores[places] == 0).all() and np.abs(np.delete(scores, places)).min() > 0


def doubled():
    """A GPT-2 whose own forward pass does more than its family's."""
    class DoubledForSequenceClassification(transformers.GPT2ForSequenceClassification):
        def forward(self, *args, **inputs):
            answer = super().forward(*args, **inputs)
            answer.logits = 2 * answer.logits + torch.tensor([0.0, 1.0])
            return answer

    model = DoubledForSequenceClassification(theirs("gpt2").config).eval()
    model.load_state_dict(theirs("gpt2").state_dict())
    return model


def pooled_by_the_last_row():
    """A BERT whose pooler reads another row, which in a batch is padding."""
    model = theirs("bert")
    model.bert.pooler.forward = lambda states: torch.tanh(model.bert.pooler.dense(states[:, -1]))
    return model


@pytest.mark.parametrize("made, family, how", [(doubled, "gpt2", "alone"),
                                               (pooled_by_the_last_row, "bert", "in a batch")])
def test_a_model_whose_own_pass_says_something_else_is_refused(made, family, how):
    with pytest.raises(ValueError, match=f"the model's own forward pass says .* and {how} it says .* own_model.pipel"
                       ) as caught:
        HuggingFaceClassifier(made(), tokenizer(family))
    assert "\n" not in str(caught.value)
    assert HuggingFaceClassifier(made(), tokenizer(family), check=False).predict([["a"]]).shape == (1,)


@families
@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16, torch.float64])
def test_the_check_passes_in_any_precision_and_leaves_no_trace(family, precision):
    read = tokenizer(family)
    model = HuggingFaceClassifier(theirs(family).to(precision).train(), read, half=True)
    assert model.model.dtype == precision and not model._warned and not model.model.training


def test_what_cannot_be_opened_is_explained_by_the_line_of_the_refusal():
    words = sorted({word for text in TEXTS for word in text.split()})
    made = tokenizer("gpt2")
    made.pad_token = made.eos_token
    config = transformers.OPTConfig(vocab_size=len(made), hidden_size=12, num_attention_heads=3, num_hidden_layers=1,
                                    ffn_dim=20, max_position_embeddings=256, word_embed_proj_dim=12, pad_token_id=0)
    there = {"model": transformers.OPTForSequenceClassification(config).eval(), "tokenizer": made,
             "own_model": own_model, "pipeline": transformers.pipeline}
    with pytest.raises(TypeError, match="got OPTForSequenceClassification: (own_model.*) makes it a black") as refused:
        HuggingFaceClassifier(there["model"], made)
    assert "\n" not in str(refused.value)
    box, _ = eval(re.search(r"own_model\(.*\)\)", str(refused.value))[0], there)
    a = explain.lime(box, words, n_samples=50)
    assert a.tokens == tuple(words) and np.ptp(a.scores) > 0


def test_a_subclass_is_opened_and_a_model_of_ones_own_head_is_told_what_it_is():
    class Renamed(transformers.BertForSequenceClassification):
        pass

    class TwoTasks(transformers.BertPreTrainedModel):
        def __init__(self, config):
            super().__init__(config)
            self.bert = transformers.BertModel(config)
            self.post_init()

    plain = theirs("bert")
    renamed = Renamed(plain.config)
    renamed.load_state_dict(plain.state_dict())
    a, b = (HuggingFaceClassifier(model, tokenizer("bert")).predict([["good", "film"]]) for model in (plain, renamed))
    assert a == b
    with pytest.raises(TypeError, match="got TwoTasks: load one .*; one with a head of its own is a black box"):
        HuggingFaceClassifier(TwoTasks(plain.config), tokenizer("bert"))


@pytest.mark.filterwarnings("ignore:.*torch")
def test_a_quantised_model_is_a_black_box():
    model, pieces = theirs("bert"), tokenizer("bert")
    coarse = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
    with pytest.raises(TypeError, match="^this model's layers are quantised, [^\n]* own_model[^\n]*a black box$"):
        HuggingFaceClassifier(coarse, pieces, check=False)
    there = transformers.pipeline("text-classification", coarse, tokenizer=pieces, device="cpu")
    plain = HuggingFaceClassifier(model, pieces).predict([["good"]])
    np.testing.assert_allclose(own_model(there, check=False)[0]([["good"]]), plain, atol=0.1)


def test_a_score_that_is_read_from_all_rows_leaves_attention_no_row_to_explain_it():
    model = HuggingFaceClassifier(theirs("modernbert", classifier_pooling="mean"), tokenizer("modernbert"))
    document = documents(model)[0]
    logits = model.model(model.ids(document)[None]).logits[0]
    for score in (*model.predict([document, document * 2])[:1], model.trace(model.embed(document)).score.item()):
        np.testing.assert_allclose(score, (logits[1] - logits[0]).item(), atol=1e-5)
    for method in (explain.attention_mean, explain.norm_attention, explain.rollout, explain.gradient_attention):
        with pytest.raises(TypeError, match="HuggingFaceClassifier .modernbert. has no readout: use a method that"):
            method(model, document)
    assert "gradient, L2" in course_explainers(model) and "rollout" not in course_explainers(model)


def test_an_albert_whose_layers_are_groups_of_several():
    """Three passes through two layers each, or through one of two groups: attention is theirs, and is in the graph."""
    for more in (dict(inner_group_num=2, num_hidden_layers=3), dict(num_hidden_groups=2, num_hidden_layers=4)):
        model = HuggingFaceClassifier(theirs("albert", **more), tokenizer("albert"))
        document = documents(model)[0]
        plain = with_attention(model, input_ids=model.ids(document)[None]).attentions
        trace = model.trace(model.embed(document))
        torch.testing.assert_close(torch.stack(trace.attentions), torch.cat(plain))
        torch.testing.assert_close(trace.score, model.from_embeddings(model.embed(document)))
        assert all(g.any() for g in torch.autograd.grad(trace.score, trace.attentions))


def test_documents_of_any_lengths_come_back_in_their_order():
    """They go in by length, and a chunk is as long as its longest."""
    model, longest = classifier("bert"), []
    model.chunk, score = 2, model.score
    model.score = lambda documents: longest.append(max(map(len, documents))) or score(documents)
    lengths = [9, 1, 8, 2, 7]
    found = model.predict([["good"] * n for n in lengths])
    assert longest == [2, 8, 9]
    np.testing.assert_allclose(found, [model.predict([["good"] * n])[0] for n in lengths], atol=1e-6)
