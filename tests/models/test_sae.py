"""Sparse autoencoders: the loss to the letter, what each kind keeps, and known directions found again."""

import pytest
import torch

from coursekit.models.sparse.sae import (
    BANDWIDTH,
    KINDS,
    SparseAutoencoder,
    Step,
    max_cosine_similarity,
    reconstruction_quality,
    train_sae,
)
from coursekit.worlds.superposition import sample


def an_autoencoder(kind="relu", scale=1.0):
    """Some autoencoder none of whose parameters is special."""
    torch.manual_seed(0)
    sae = SparseAutoencoder(5, 12, kind, k=3 if kind == "topk" else None)
    for name, weight in sae.named_parameters():
        weight.data += 0.0 if name == "log_theta" else 0.3 * torch.randn_like(weight)
    sae.scale.fill_(scale)
    return sae


def test_the_loss_is_the_formula():
    """(1/n) Σ_i [‖h − s(h)‖² + λ Σ_j a_j ‖W_dec[:,j]‖], s(h) = Σ_j a_j W_dec[:,j] + b_dec, one number at a time."""
    sae, H, lam = an_autoencoder().requires_grad_(False), torch.randn(4, 5), 0.7
    expected = 0.0
    for h in H:
        a = [max(0.0, float(sae.W_enc[j] @ h + sae.b_enc[j])) for j in range(12)]
        s = sum(a[j] * sae.W_dec[:, j] for j in range(12)) + sae.b_dec
        expected += float(((h - s) ** 2).sum()) + lam * sum(a[j] * float(sae.W_dec[:, j].norm()) for j in range(12))
    assert sae.loss(H, lam).item() == pytest.approx(expected / 4, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_scale_only_changes_units(kind):
    """Twice the scale on half the states: the same a, the same loss, half the reconstruction."""
    H = torch.randn(6, 5)
    one, two = an_autoencoder(kind), an_autoencoder(kind, scale=2.0)
    torch.testing.assert_close(two.encode(H / 2), one.encode(H))
    torch.testing.assert_close(two(H / 2), one(H) / 2)
    torch.testing.assert_close(two.loss(H / 2, 1.0), one.loss(H, 1.0))


def test_what_each_kind_keeps():
    H = torch.randn(50, 5)
    relu, topk, jump = (an_autoencoder(kind) for kind in KINDS)
    z = relu.before(H)
    assert torch.equal(relu.encode(H), z.clamp(min=0))
    kept = topk.encode(H)
    assert ((kept > 0).sum(1) == (z > 0).sum(1).clamp(max=3)).all()
    torch.testing.assert_close(kept.sum(1), z.clamp(min=0).sort(1, descending=True).values[:, :3].sum(1))
    torch.testing.assert_close(jump.encode(H), z.where(z > BANDWIDTH, 0))
    torch.testing.assert_close(jump.loss(H, 2.0) - jump.loss(H, 0.0), 2 * (z > BANDWIDTH).float().sum(1).mean())


def test_the_thresholds_gradient_is_that_of_a_kernel():
    """Of E[H(z − θ)] with z uniform on [0, 1] the derivative is −1, though almost every single one is 0."""
    z, theta = torch.linspace(0, 1, 10_001)[:, None], torch.tensor([0.4], requires_grad=True)
    Step.apply(z, theta).mean().backward()
    assert theta.grad.item() == pytest.approx(-1, abs=0.01)


def test_known_directions_are_found():
    truth = torch.nn.functional.normalize(torch.randn(8, 4, generator=torch.Generator().manual_seed(0)), dim=0)
    x = sample(4000, share=0.1)[:, :4]
    H = x[x.any(1)] @ truth.T
    recipe = dict(F=8, lam=0.5, epochs=30, batch=100, lr=0.02, progress=False)
    sae = train_sae(H, **recipe)
    assert max_cosine_similarity(sae.W_dec, truth).mean() > 0.97 and reconstruction_quality(sae, H).variance > 0.8
    again = train_sae(H.numpy(), **recipe)
    assert torch.equal(again.W_dec, sae.W_dec)                                  # an array is read as a tensor is


def test_quality_is_the_same_in_chunks(monkeypatch):
    H, sae = torch.randn(100, 5) + 3, an_autoencoder("jumprelu")
    whole = reconstruction_quality(sae, H)
    monkeypatch.setattr("coursekit.models.sparse.sae.CHUNK", 7)
    chunks = reconstruction_quality(sae, H.numpy())
    assert chunks == pytest.approx(whole, rel=1e-4)
    lost = (sae(H) - H).square().sum() / (H - H.mean(0)).square().sum()
    assert whole.variance == pytest.approx(1 - lost.item(), rel=1e-4)
    assert whole.l0 == pytest.approx((sae.encode(H) > 0).float().sum(1).mean().item())


@pytest.mark.parametrize("arguments", [("sigmoid",), ("topk",), ("relu", 3)])
def test_unknown_kinds_and_a_lonely_k_are_refused(arguments):
    with pytest.raises(ValueError, match="kind must be one of"):
        SparseAutoencoder(4, 8, *arguments)
