"""The histogram task: data, the two shipped solutions, what attention says of each; slowly, three seeds of both."""

from math import comb, exp, lgamma

import pytest
import torch

from coursekit.evaluate import auroc
from coursekit.models import load_weights
from coursekit.models.weights import FOLDER
from coursekit.worlds import histogram
from coursekit.worlds.histogram import HistogramModel, accuracy_by_count, counts, encode, fit, sample, swap_test

KINDS = ("positional", "semantic")
UNIFORM, BALANCED = (sample(3000, kind, seed=99) for kind in ("uniform", "balanced"))
OTHERS = ~torch.eye(10, dtype=torch.bool)


@pytest.fixture(scope="module")
def models():
    return {kind: load_weights(f"histogram-{kind}") for kind in KINDS}


def right(model, ids):
    return (model.predict(ids) == counts(ids)).double().mean().item()


def check(model):
    """The bounds that every trained model, whatever its seed, is held to."""
    assert right(model, UNIFORM) >= (0.995 if model.config["kind"] == "positional" else 0.999)
    assert right(model, BALANCED) >= 0.98
    assert model.predict(encode("DATAIAIAIA")).tolist() == [[1, 5, 1, 5, 3, 5, 3, 5, 3, 5]]


def variation(model):
    """How far attention depends on the letters: mean total variation from the mean map."""
    with torch.no_grad():
        A = model.attention(BALANCED)
    return (A - A.mean(0)).abs().sum(-1).mean().item() / 2


def test_samples():
    for ids, least in ((UNIFORM, 0.0), (BALANCED, 0.08)):
        shares = torch.bincount(counts(ids).flatten(), minlength=11)[1:] / ids.numel()
        assert shares.min() >= least and ids.shape == (3000, 10) and ids.unique().tolist() == list(range(15))
    assert (counts(UNIFORM) >= 5).double().mean() < 0.01
    assert torch.equal(sample(5, seed=3), sample(5, seed=3)) and not torch.equal(sample(5, seed=3), sample(5, seed=4))
    for wrong in ("DATA", "DATAIAIAIZ"):
        with pytest.raises(ValueError, match="expected 10 letters"):
            encode(wrong)
    with pytest.raises(ValueError, match="kind must be"):
        sample(3, "dirichlet")
    with pytest.raises(ValueError, match="kind must be"):
        HistogramModel("both")


def test_counts_in_balanced_sequences_are_beta_binomial():
    """1 + BetaBin(9, α = 1 + 1/14, β = 1): the law of a token's own letter in a Dirichlet's, seen by that token."""
    ids, alpha = sample(50_000, "balanced", seed=1), 1 + 1 / 14
    shares = torch.bincount(counts(ids).flatten(), minlength=11)[1:] / ids.numel()
    law = [comb(9, k) * alpha * exp(lgamma(k + alpha) + lgamma(10 - k) - lgamma(10 + alpha)) for k in range(10)]
    assert sum(law) == pytest.approx(1) and shares.tolist() == pytest.approx(law, abs=0.004)


@pytest.mark.parametrize("kind, letters, places", [("semantic", 1, 0), ("positional", 0, 1), ("free", 1, 1)])
def test_w_sees_the_letters_the_places_or_both(kind, letters, places):
    torch.manual_seed(0)
    model = HistogramModel(kind)
    q = letters * (model.W_e[UNIFORM[:5]] @ model.W[:32]) + places * (model.W_p @ model.W[32:])      # (n, T, d_att)
    torch.testing.assert_close(model.scores(UNIFORM[:5]), q @ q.mT / 8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_shipped_models_count(models, kind):
    check(models[kind])
    assert models[kind].config == {"kind": kind, "scale": 0.3} and accuracy_by_count(models[kind], BALANCED).min() > 0.9
    card = (FOLDER / f"histogram-{kind}.md").read_text(encoding="utf8")
    assert f"python -m tools.train_worlds histogram-{kind}" in card and "BSD-3-Clause" in card


@pytest.mark.parametrize("name", ["positional-1", "positional-2", "semantic-1", "semantic-2"])
def test_the_other_seeds_count_as_well(name):
    check(load_weights(f"histogram-{name}"))


@pytest.mark.parametrize("seed", ["", "-1", "-2"])
def test_places_make_softness_needless_and_letters_alone_need_it(seed):
    hard, letters = (load_weights(f"histogram-{name}{seed}") for name in ("hard", "letters"))
    check(hard)
    check(letters)
    assert not letters.W_p.any()
    ids, n = BALANCED[:500], counts(BALANCED[:500])
    own = (ids[:, :, None] == ids[:, None]) / n[..., None]                           # 1/n to each equal letter
    assert (hard.predict(ids, own) == n).double().mean() > 0.98
    assert (letters.predict(ids, own) == n).double().mean() < 0.2


def test_swapping_tells_the_two_apart(models):
    same = swap_test(models["positional"], UNIFORM)
    assert same.own == same.swapped and same.mean > 0.99 and same.uniform < 0.7
    other = swap_test(models["semantic"], UNIFORM)
    assert other.own > 0.999 and other.swapped < 0.7 and other.uniform < 0.7
    with pytest.raises(ValueError, match="at least two"):
        swap_test(models["semantic"], UNIFORM[:1])


def test_the_positional_map_is_a_multiple_of_the_identity_and_a_constant(models):
    A = models["positional"].attention(UNIFORM[:1])[0].detach()
    a, b = histogram.nearest_ab(A)
    assert abs(a + 10 * b - 1) < 1e-5 and a > 0.3 and (A - a * torch.eye(10) - b).abs().max() < 0.02


def test_the_semantic_model_counts_by_softness(models):
    """Its own letter gets nw/(nw + T − n): n would be lost if all attention went there."""
    with torch.no_grad():
        A, hard = models["semantic"].attention(BALANCED), (1000 * models["semantic"].scores(BALANCED)).softmax(-1)
    n = counts(BALANCED)
    assert (models["semantic"].predict(BALANCED, hard) == n).double().mean() < 0.5
    own = (A * (BALANCED[:, :, None] == BALANCED[:, None])).sum(-1)                  # (n, T)
    part = n < 10
    w = (own * (10 - n) / ((1 - own) * n))[part]
    assert 3 < w.median() < 8 and (w / w.median() - 1).abs().quantile(0.9) < 0.3


def test_occlusion_finds_equal_letters_where_attention_does_not(models):
    ids = UNIFORM[:200]
    same = (ids[:, :, None] == ids[:, None])[:, OTHERS].flatten()
    for kind, least, most in (("positional", 0.4, 0.6), ("semantic", 0.99, 1)):
        falls = histogram.occlusion(models[kind], ids)[:, OTHERS].flatten()
        A = models[kind].attention(ids)[:, OTHERS].flatten()
        assert auroc(falls[:9000], same[:9000]) > 0.999 and least <= auroc(A[:9000], same[:9000]) <= most


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_both_solutions_from_three_seeds_and_unfrozen(seed):
    models = {kind: histogram.train(kind, seed, progress=False) for kind in KINDS}
    for kind in KINDS:
        check(models[kind])
    assert variation(fit(models["positional"].unfrozen(), 600, seed, lr=5e-3, progress=False)) < 0.05
    hard = histogram.train("semantic", seed, scale=3, progress=False)                # counts by what places it mixes
    assert right(hard, BALANCED) > 0.98 and (hard.predict(BALANCED, (1000 * hard.scores(BALANCED)).softmax(-1))
                                             == counts(BALANCED)).double().mean() > 0.95
    early = histogram.train("positional", seed, steps=150, progress=False)
    assert variation(early) < 1e-4 and variation(fit(early.unfrozen(), 600, seed, lr=5e-3, progress=False)) > 0.1
