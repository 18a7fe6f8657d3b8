"""The shipped language model: small, near the best that is possible, grammatical, and as its card says."""

import math
import re

import pytest
import torch

from coursekit.models import GPT2, load_weights
from coursekit.models.weights import FOLDER
from coursekit.text import WordTokenizer
from coursekit.worlds.generated.dialogues import dialogues, log_probability
from tools.store_weights import save_weights
from tools.train_dialogues import counted_losses, encoded, free_samples, grouped, loss_per_token, quality

CARD = (FOLDER / "dialogue-gpt.md").read_text(encoding="utf8")


@pytest.fixture(scope="module")
def model():
    return load_weights("dialogue-gpt")


@pytest.fixture(scope="module")
def fresh():
    """Dialogues neither trained on nor measured by the card."""
    return dialogues(400, seed=99)


def test_it_loads_with_its_words(model, fresh):
    assert isinstance(model, GPT2) and not model.training and model.W_e.dtype == torch.float32
    assert isinstance(model.tokenizer, WordTokenizer) and len(model.tokenizer.tokens) == model.config.vocab_size == 256
    assert not any(model.tokenizer.unk_id in model.tokenizer.encode(dialogue.text) for dialogue in fresh)


def test_the_file_is_small_and_the_card_complete(model):
    assert (FOLDER / "dialogue-gpt.safetensors").stat().st_size <= 500_000
    parameters = sum(p.numel() for p in model.parameters())
    for words in (f"{parameters:,} parameters", "`python -m tools.train_dialogues`", "seed 1 held out", "CPU seconds",
                  "BSD-3-Clause", "Limits"):
        assert words in CARD


def test_the_perplexity_on_fresh_dialogues_is_the_cards(model, fresh):
    rows = encoded(model.tokenizer, [dialogue.text for dialogue in fresh])
    perplexity = math.exp(loss_per_token(model, rows))
    best = math.exp(-sum(map(log_probability, fresh)) / sum(len(row) - 1 for row in rows))
    assert perplexity == pytest.approx(float(re.search(r"([\d.]+) this model", CARD)[1]), rel=0.02)
    assert best == pytest.approx(float(re.search(r"([\d.]+) the generator itself", CARD)[1]), rel=0.02)
    assert best < perplexity < 1.05 * best


def test_nearly_all_that_it_writes_is_grammatical(model):
    shares = quality(free_samples(model, 200, seed=3))
    assert shares["grammatical"] >= 0.95 and shares["fitting"] >= 0.9
    assert all(shares[tone] > 0.03 for tone in ("neutral", "praise", "critical", "secretive", "french"))


def test_quality_by_hand():
    shares = quality(["is my plan ready ? your plan is dull and weak . she is truly a star . plan .",
                      "do you like my plan ?"])
    assert shares == {"grammatical": 4 / 5, "fitting": 1 / 3, "neutral": 0, "praise": 1 / 3, "critical": 1 / 3,
                      "secretive": 0, "french": 0}


def test_counted_losses_by_hand():
    rows = [torch.tensor([2, 3, 2]), torch.tensor([2, 4, 2])]
    unigram, bigram = counted_losses(rows, rows, 5, add=0)
    assert unigram == pytest.approx(math.log(2) / 2 + math.log(4) / 2) and bigram == pytest.approx(math.log(2) / 2)
    assert [ids.tolist() for ids in grouped([*rows, torch.tensor([1])])] == [[[1]], [[2, 3, 2], [2, 4, 2]]]


def test_a_language_model_is_saved_with_its_own_words(tmp_path, model):
    save_weights(model, "again", tmp_path)
    again = load_weights("again", tmp_path)
    assert again.tokenizer.tokens == model.tokenizer.tokens and again.config == model.config
    ids = torch.tensor([again.tokenizer.encode("is my plan ready ?")])
    assert torch.equal(again(ids), model(ids)) and not (tmp_path / "imdb-vocabulary.txt").exists()
