"""Open tasks: a gate, and the best that is known; and experiments of one's own."""

import math
import random
import time

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from coursegrade.kit import score
from coursegrade.kit.experiment import experiment
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.question import Question


def widest():
    """Three different digits whose product is large."""
    return [7, 8, 9]


@pytest.fixture
def question():
    made = Question(widest, (1, 2), {"your digits": ()}, known=504)
    made.judge(lambda got: iter(["they are not three different digits"] if len({*got}) != 3 else []))
    made.measure(lambda got: got[0] * got[1] * got[2])
    score.announce("digits", [made], {})
    yield made
    score._topics.pop("digits")
    score.forget()


def told(question, answer):
    with pytest.raises(CheckFailed) as failure:
        question(answer)
    return str(failure.value)


def test_what_is_not_valid_is_told_first(question):
    assert "they are not three different digits" in told(question, lambda: [9, 9, 9])


def test_the_gate_is_at_four_fifths_and_all_points_near_the_best(question, capsys):
    assert "wrong     yours 120, best known 504: the gate is at 403" in told(question, lambda: [4, 5, 6])
    question(lambda: [9, 8, 6])
    assert "✓ widest: right on your digits; yours 432, best known 504." in capsys.readouterr().out
    score.score()
    out = capsys.readouterr().out
    assert "1 of 1 points, and 2 near the best known" in out
    assert "\n1 of 1 points so far; 2 more come when it is marked" in out
    with pytest.raises(CheckFailed, match="yours 432, best known 504.\n  From 479 on it has all points."):
        question.best(lambda: [9, 8, 6])
    score.score()
    out = capsys.readouterr().out
    assert "1 of 1 points, 0 of 2 near the best known" in out and "1 of 3 points so far; 0 from a person" in out
    question.best(lambda: [9, 8, 7])
    assert "; yours 504, best known 504, near enough for all points." in capsys.readouterr().out
    score.score()
    assert "3 of 3 points so far" in capsys.readouterr().out


def test_better_than_the_best_known_has_all_points(question):
    question.known = 400
    question.best(widest)


# ── experiments ───────────────────────────────────────────────────────────────────────────────────────────────────

def noise(seed):
    dice = random.Random(seed)
    return dice.random(), dice.random()


@pytest.fixture
def own():
    made = experiment(noise, (1, 0))
    score.announce("noises", [made], {})
    yield made
    score._topics.pop("noises")
    score.forget()


@pytest.mark.parametrize("answer", [noise, lambda seed: [1.0, 1.0 + (seed == 3)], lambda seed: (True, seed),
                                    lambda seed: (np.float32(seed), np.array([[0.5]])),
                                    lambda seed: [torch.tensor(0.5), torch.tensor([seed], dtype=torch.long)],
                                    lambda seed: np.array([0.5, seed]), lambda seed: torch.tensor([0.5, seed])])
def test_an_experiment_is_accepted_whatever_it_finds(own, answer):
    own(answer)
    assert score.passed("noises", "noise")


@pytest.mark.parametrize("answer, words", [
    (lambda seed: 3, "two numbers are needed"), (lambda seed: (1, 2, 3), "two numbers are needed"),
    (lambda seed: None, "returned nothing"), (lambda seed: (1, "2"), "a string stands among the two numbers"),
    (lambda seed: (1, float("inf")), "a number is inf"), (lambda seed: (1, float("nan")), "the mean of nothing"),
    (lambda seed: (seed, spearmanr([1, 2, 3], [1, 3, 2])), "`spearmanr(x, y).statistic`"),
    (lambda seed: spearmanr([1, 2, 3], [1, 3, seed]), "holds two, a statistic and its p-value"),
    (lambda seed: (seed + 1, seed + 1 + 1e-9), "In all 5 runs"), (lambda seed: (seed, seed), "In all 5 runs"),
    (lambda seed: (0.0, 0.0), "Or can your measure not move at all"),
    (lambda seed, dice=random.Random(0): (0, dice.random()), "Draw everything from a generator made with `seed`"),
    (lambda seed: (0, random.random()), "Draw everything from a generator made with `seed`"),
    (lambda seed, calls=[]: (calls.append(seed), (0, len(calls)))[1], "Does something live on from call to call"),
    (lambda seed: (0.25, 0.5), "All 5 seeds give the same two numbers"),
    (lambda seed: np.ones(3), "it returns a NumPy array, and two numbers are needed"),
    (lambda seed: np.array([seed, math.nan]), "a number is nan"),
    (lambda seed: (0, np.ones(10)), "it has 10 entries, and one number is needed"),
    (lambda seed: random.Random(seed).random() / 0, "ZeroDivisionError")])
def test_what_is_no_experiment_is_told_so(own, answer, words):
    assert words in " ".join(told(own, answer).split())


def test_the_score_gives_an_experiment_and_its_text_one_number(own, capsys):
    def my_experiment(seed):
        return noise(seed)

    extra = Question(widest, (0, 0), {"your digits": ()})
    score.announce("noises", [own, experiment(my_experiment, (2, 0)), extra], {"what came out": 8})
    own(noise)
    capsys.readouterr()
    score.score()
    out = capsys.readouterr().out
    assert "\n   2  my_experiment" in out and "\n   3  widest" in out and "\n   2  what came out" in out


def test_an_experiment_that_takes_too_long_is_told_what_counts(own, monkeypatch):
    monkeypatch.setattr("coursegrade.kit.limit.SECONDS", 0.3)
    slow = told(own, lambda seed: (time.sleep(0.1) or 0, seed))
    assert "All runs of the check together have" in " ".join(slow.split())
