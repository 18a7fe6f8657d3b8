"""What the cards say of the reviews written by hand is what comes out today, and *alike* is not said of every model."""

import re

import numpy as np
import pytest

from coursekit.models import load_weights, naive_bayes_log_odds
from coursekit.models.hub import minilm
from coursekit.models.weights import FOLDER
from tools import by_hand

installed = pytest.mark.skipif(not minilm.encoder_file(), reason=f"the encoder is not installed: {minilm.INSTALL}")
NUMBER = r"\d+\.\d+|\d+"


def on_card(name, row):
    """What the card of a model says in this row."""
    [value] = re.findall(rf"^\| {re.escape(row)} \| (.*) \|$", (FOLDER / f"{name}.md").read_text(encoding="utf8"), re.M)
    return value


def is_as_on_card(name, rows):
    """The rows of a card, their whole numbers exactly, the rounded ones to a hundredth."""
    for row, value in rows.items():
        card = on_card(name, row)
        assert re.sub(NUMBER, "", card) == re.sub(NUMBER, "", value)
        for said, found in zip(re.findall(NUMBER, card), re.findall(NUMBER, value), strict=True):
            assert float(said) == pytest.approx(float(found), abs=0.011 * ("." in said))


@pytest.mark.parametrize("name", ["imdb-tame", "imdb-peaky", "imdb-6layer",
                                  pytest.param("minilm-sentiment", marks=[installed, pytest.mark.slow])])
def test_the_cards_say_how_the_models_do_on_them_and_that_they_read_them_alike(name):
    rows = by_hand.rows(load_weights(name))
    is_as_on_card(name, rows)
    assert list(rows.values())[1].startswith("alike")


@installed
def test_the_card_of_the_real_model_says_how_many_it_gets_right():
    model = load_weights("minilm-sentiment")
    is_as_on_card("minilm-sentiment",
                  by_hand.accuracy_row(by_hand.is_right(model.predict(by_hand.documents(model.tokenizer)))))


def test_the_card_of_naive_bayes_says_how_many_it_gets_right():
    log_odds = naive_bayes_log_odds()
    scores = [sum(log_odds.get(word, 0) for word in words)
              for words in by_hand.documents(load_weights("imdb-tame").tokenizer)]
    is_as_on_card("imdb-naive-bayes", by_hand.accuracy_row(by_hand.is_right(scores)))


def test_a_share_has_its_standard_error():
    [(row, value)] = by_hand.accuracy_row(np.arange(100) < 20).items()
    assert "100 hand-written" in row and value.startswith("20 of 100 (20.0% ± 4.0);")


def test_a_model_that_is_explained_otherwise_where_it_is_wrong_is_not_called_alike(monkeypatch):
    model = load_weights("imdb-tame")
    right = iter(by_hand.is_right(model.predict(by_hand.documents(model.tokenizer))))
    monkeypatch.setattr(by_hand, "agreement", lambda model, document: np.full(3, next(right) * 1.0))
    assert list(by_hand.rows(model).values())[1].startswith("not alike: median rank correlation with leave-one-out of "
                                                            "mean attention 1.00 and 0.00, ")
