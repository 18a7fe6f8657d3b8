"""Brackets: the language, automaton, sampler; the construction; the shipped models; slowly, three seeds."""

from collections import Counter
from itertools import product

import pytest
import torch

from coursekit.models import load_weights
from coursekit.models.weights import FOLDER
from coursekit.worlds import dyck
from coursekit.worlds.dyck import (
    VARIANTS,
    DyckModel,
    closing_accuracy,
    closings,
    counting_model,
    decode,
    depths,
    encode,
    pushdown,
    sample,
    stack_likeness,
    stack_top,
)
from tools import train_worlds

TEST, LONG = sample(1000, seed=99), sample(200, seed=98, length=100)


def balanced(text):
    """By rewriting, not by a stack: strike out () and [] until nothing is left."""
    while (shorter := text.replace("()", "").replace("[]", "")) != text:
        text = shorter
    return not text


def check(model, ids=TEST):
    """What every trained model, whatever its variant and seed, is held to."""
    assert closing_accuracy(model, ids) >= 0.99 and closing_accuracy(model, ids, far=True) >= 0.98


def test_the_automaton_accepts_what_is_balanced_and_not_too_deep():
    for text in map("".join, product("()[]", repeat=6)):
        assert pushdown(text).accepted == balanced(text)
    assert pushdown("((((()))))", depth=None).accepted and not pushdown("((((()))))").accepted
    with pytest.raises(ValueError, match="expected a text of"):
        pushdown("{}")


def test_samples_are_uniform_over_paths():
    texts = [decode(ids) for ids in sample(4200, length=8)]
    assert all(pushdown(text).accepted for text in texts)
    paths = Counter(text.replace("[", "(").replace("]", ")") for text in texts)
    assert len(paths) == 14 and min(paths.values()) > 240 and max(paths.values()) < 360     # Catalan: C_4 = 14
    assert abs(sum(text.count("[") for text in texts) / (4 * 4200) - 0.5) < 0.02
    assert TEST.shape == (1000, 29) and depths(TEST).max() == 4 and depths(LONG).max() == 4
    assert torch.equal(sample(5, seed=3), sample(5, seed=3)) and not torch.equal(sample(5, seed=3), sample(5, seed=4))
    with pytest.raises(ValueError, match="even length"):
        sample(3, length=7)


def test_the_stack_top_is_the_automaton_s():
    for ids, tops in zip(TEST[:50], stack_top(TEST[:50]), strict=True):
        text = decode(ids)
        for t, stack in enumerate(pushdown(text).stacks, 1):
            assert (text[tops[t] - 1] == stack[-1]) if stack else tops[t] == 0
    ids = TEST[:, :-1]
    assert (ids.gather(1, stack_top(ids))[closings(TEST)] + 1 == TEST[:, 1:][closings(TEST)]).all()
    assert encode("([])").tolist() == [4, 0, 2, 3, 1]


def test_counting_suffices():
    model = counting_model()
    assert closing_accuracy(model, TEST) == closing_accuracy(model, LONG) == 1
    assert stack_likeness(model, TEST).top[0] < 0.15


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_model_sees_the_future_and_rows_of_attention_sum_to_one(variant):
    model, ids, other = DyckModel(variant), TEST[:3], TEST[:3].clone()
    other[:, 20:] = dyck.START
    with torch.no_grad():
        assert torch.allclose(model(ids)[:, :20], model(other)[:, :20], atol=1e-5)
    A = model.attentions(ids)
    assert A.shape == (2 if variant.startswith("full") else 1, 3, 29, 29) and not A.triu(1).any()
    assert torch.allclose(A.sum(-1), torch.ones(()), atol=1e-5)


def test_an_unknown_variant_lists_the_known_ones():
    with pytest.raises(ValueError, match="minimal, linear-head, uniform"):
        DyckModel("tiny")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_shipped_models_close_their_brackets(variant):
    for name in (f"dyck-{variant}", f"dyck-{variant}-1", f"dyck-{variant}-2"):
        check(load_weights(name), TEST[:300])
        assert f"`python -m tools.train_worlds {name}`" in (FOLDER / f"{name}.md").read_text(encoding="utf8")


def test_equal_accuracy_unequal_attention():
    top = {variant: stack_likeness(load_weights(f"dyck-{variant}"), TEST).top[-1] for variant in VARIANTS}
    assert top["uniform"] < 0.15 and top["stack"] > 0.85 and top["oracle"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(3))
def test_each_variant_from_three_seeds(variant, seed):
    model = dyck.train(variant, seed, progress=False)
    check(model)
    low, high = {"uniform": (0.08, 0.11), "oracle": (1, 1), "stack": (0.85, 1)}.get(variant, (0.08, 0.35))
    assert low <= stack_likeness(model, TEST).top[-1] <= high
    if variant == "oracle":
        assert closing_accuracy(model, LONG) == 1


def test_a_model_from_another_seed_is_trained_once(tmp_path, monkeypatch):
    trained = []
    monkeypatch.setattr(train_worlds, "AGAIN", tmp_path)
    monkeypatch.setattr(train_worlds.dyck, "train", lambda variant, seed, progress: trained.append(seed) or
                        DyckModel(variant))
    ids, models = sample(2), [train_worlds.dyck_again("minimal", 3) for _ in range(2)]
    assert trained == [3] and torch.equal(models[0](ids), models[1](ids)) and not models[0].training
