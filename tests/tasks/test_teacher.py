"""The solvable model: two minima, each with its overlap, that change places; slowly, the losses of the theory."""

import pytest
import torch

from coursekit.worlds.teacher import THEORY, linear, minimise, problem


def losses(alpha, d, seeds):
    """Mean loss per d of the two minima, (positional, semantic)."""
    given = [problem(alpha, d, seed) for seed in seeds]
    return [sum(minimise(each, start).loss for each in given) / len(given) for start in ("positional", "semantic")]


def test_two_minima():
    given = problem(2, d=250)
    positional, semantic = (minimise(given, start) for start in ("positional", "semantic"))
    assert abs(positional.positional - 0.25) < 0.05 and positional.semantic < 0.15
    assert abs(semantic.semantic - 0.6) < 0.1 and semantic.positional < 0.15
    assert semantic.loss < positional.loss and semantic.test < linear(given) < positional.test
    again = problem(2, d=250)
    assert torch.equal(given.x, again.x) and torch.equal(minimise(again, "semantic").Q, semantic.Q)
    with pytest.raises(ValueError, match="start must be"):
        minimise(given, "random")


def test_few_sequences_favour_the_positional_minimum():
    positional, semantic = losses(0.75, 250, range(3))
    assert positional < semantic


@pytest.mark.slow
@pytest.mark.parametrize("alpha", THEORY)
def test_losses_are_the_theory_s(alpha):
    assert losses(alpha, 500, range(3)) == pytest.approx(THEORY[alpha], rel=0.1)
