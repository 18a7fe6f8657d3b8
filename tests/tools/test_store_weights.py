"""What is written beside the course's models: read back the same, refused where it does not fit the others."""

from collections import Counter

import numpy as np
import pytest
import torch

from coursekit.models import AttentionClassifier, TransformerClassifier, load_weights
from coursekit.text import WordTokenizer
from tools import train_imdb
from tools.store_weights import save_log_odds, save_readers, save_weights


def test_saving_and_loading_is_a_round_trip_in_half_precision(tmp_path):
    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "good", "bad", "naïve"]
    for model in (AttentionClassifier(WordTokenizer(words), T_max=9, d_e=8, d_att=4, d_out=4, K=2),
                  TransformerClassifier(WordTokenizer(words), T_max=9, d_e=8, K=2, L=2)):
        save_weights(model, "little", tmp_path)
        again = load_weights("little", tmp_path)
        assert list(again.tokenizer.vocab) == words and again.config == model.config
        for key, value in model.state_dict().items():
            assert torch.equal(again.state_dict()[key], value.half().float())
    with pytest.raises(ValueError, match="another vocabulary"):
        save_weights(AttentionClassifier(WordTokenizer(words[:-1]), T_max=9), "other", tmp_path)
    with pytest.raises(ValueError, match="imdb-naive-bayes has another vocabulary"):
        save_log_odds(WordTokenizer(words[:-1]), torch.zeros(5), tmp_path)
    assert not list(tmp_path.glob("other*")) and not list(tmp_path.glob("*.part"))


def test_several_models_in_one_file(tmp_path):
    words = WordTokenizer(["[PAD]", "[UNK]", "[CLS]", "good", "bad"])
    models = [AttentionClassifier(words, T_max=9, d_e=8, d_att=4, d_out=4, K=1) for _ in range(2)]
    save_readers(models, "readers", tmp_path)
    for again, model in zip(load_weights("readers", tmp_path), models, strict=True):
        assert list(again.tokenizer.vocab) == words.tokens
        assert torch.equal(again.state_dict()["W_e"], model.W_e.half().float())


def test_naive_bayes_by_hand():
    tokenizer = WordTokenizer(["[PAD]", "[UNK]", "[CLS]", "good", "bad"])
    negative, positive = {"good": 1, "bad": 3, "zzz": 9}, {"good": 4}
    odds = train_imdb.naive_bayes(tokenizer, [Counter(negative), Counter(positive)])
    assert odds[3].item() == pytest.approx(np.log(5 / 9) - np.log(2 / 9))
    assert odds[4].item() == pytest.approx(np.log(1 / 9) - np.log(4 / 9))
    assert odds[:3].tolist() == [0, 0, 0]


def test_a_model_trained_again_is_loaded_from_its_own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(train_imdb, "AGAIN", tmp_path / "build/weights")
    with pytest.raises(FileNotFoundError, match="python -m tools.train_imdb imdb-tame --seed 1 --root FOLDER"):
        train_imdb.trained_again("imdb-tame", 1)
    model = AttentionClassifier(WordTokenizer(["[PAD]", "[UNK]", "[CLS]", "good"]), T_max=9, d_e=8)
    save_weights(model, "imdb-tame-1", train_imdb.AGAIN)
    assert train_imdb.trained_again("imdb-tame", 1).config == model.config
