"""The shipped models: known by name, whole, small, described, and as good as their cards say they must be."""

import re
import shutil

import pytest
import torch

from coursekit.models import (
    GPT2,
    AttentionClassifier,
    EncoderDecoder,
    EncoderOnly,
    GPT2Config,
    TransformerClassifier,
    load_weights,
    naive_bayes_log_odds,
)
from coursekit.models.weights import FOLDER
from coursekit.text import WordTokenizer

NAMES = {"imdb-tame": AttentionClassifier, "imdb-peaky": AttentionClassifier, "imdb-6layer": TransformerClassifier}
LEAST = {"imdb-tame": 86, "imdb-peaky": 85, "imdb-6layer": 80, "imdb-naive-bayes": 81}   # per cent right, by card


@pytest.mark.parametrize("name", NAMES)
def test_each_model_loads_and_tells_praise_from_blame(name):
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    model = load_weights(name)
    assert torch.equal(torch.rand(1), expected)                                 # loading leaves the caller's seed alone
    assert isinstance(model, NAMES[name]) and not model.training and model.W_e.dtype == torch.float32
    assert not any(weight.requires_grad for weight in model.parameters())
    praise, blame = (model.tokenizer.tokenize(text) for text in (
        "A wonderful film, beautifully acted and deeply moving. I loved every minute of it.",
        "A boring and pointless mess. The acting is awful, the plot is stupid, and I want my money back."))
    scores = model.predict([praise, blame])
    assert scores[0] > 0.5 and scores[1] < -0.5


def test_what_is_kept_of_a_model_is_what_it_learned():
    """And no positions or masks, which its sizes say."""
    tokenizer, sizes = WordTokenizer(["[PAD]", "[UNK]", "[CLS]", "good"]), dict(T_max=8, d_e=12, K=3)
    for model in (AttentionClassifier(tokenizer, **sizes), TransformerClassifier(tokenizer, **sizes), EncoderOnly(9, 9),
                  EncoderDecoder(9, 9), GPT2(GPT2Config(9, L=1, **sizes))):
        assert set(model.state_dict()) == {name for name, _ in model.named_parameters()}


@pytest.mark.parametrize("name", LEAST)
def test_each_card_names_data_command_metric_and_licence(name):
    card = (FOLDER / f"{name}.md").read_text(encoding="utf8")
    accuracy = float(re.search(r"25,000 test reviews \| ([\d.]+)%", card)[1])
    assert LEAST[name] <= accuracy <= 100
    for words in ("Maas et al.", f"python -m tools.train_imdb {name}", "BSD-3-Clause", "Limits"):
        assert words in card


def test_the_folder_is_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 12e6


def test_tame_is_tame_and_peaky_is_peaky():
    text = "The acting is brilliant, but the story is a mess and the ending is awful."
    largest = {name: load_weights(name).cls_attention(load_weights(name).tokenizer.tokenize(text)).max()
               for name in ("imdb-tame", "imdb-peaky")}
    assert largest["imdb-peaky"] > 5 * largest["imdb-tame"]


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match="'imdb-6layer', 'imdb-peaky', 'imdb-tame'"):
        load_weights("imdb-wild")


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[:5000] + b"x" + b[5001:], lambda b: b""])
@pytest.mark.parametrize("file", ["imdb-tame.safetensors", "imdb-vocabulary.txt"])
def test_a_damaged_file_is_noticed(tmp_path, damage, file):
    folder = shutil.copytree(FOLDER, tmp_path / "weights")
    (folder / file).write_bytes(damage((folder / file).read_bytes()))
    with pytest.raises(ValueError, match=f"{file} is missing or damaged"):
        load_weights("imdb-tame", folder)
    (folder / file).unlink()
    with pytest.raises(ValueError, match="missing or damaged"):
        load_weights("imdb-tame", folder)


def test_the_shipped_log_odds_know_words():
    odds = naive_bayes_log_odds()
    assert len(odds) == 9000 and odds["[CLS]"] == 0
    assert all(odds[word] > 0.5 for word in ("wonderful", "superb", "touching"))
    assert all(odds[word] < -1 for word in ("waste", "worst", "awful")) and abs(odds["the"]) < 0.1
