"""The classifier's training step: two folded look-ups a head against all T_max x T_max attention weights."""

import torch

from bench import best_of, compare, table
from coursekit.models import AttentionClassifier
from coursekit.text import WordTokenizer


def step(model, ids, labels, folded):
    """One forward and backward pass; the scores (n,) and the gradient of W_k."""
    model.zero_grad()
    scores = model(ids, folded=folded)
    torch.nn.functional.binary_cross_entropy_with_logits(scores, labels).backward()
    return scores.detach(), model.W_k.grad.clone()


def main(n=16):
    """The paper's sizes (T_max 256, d_e 128, 6 heads of 64), n random documents of random lengths."""
    torch.manual_seed(0)
    model = AttentionClassifier(WordTokenizer(["[PAD]", "[UNK]", "[CLS]"] + [f"word{i}" for i in range(8997)]))
    ids = torch.randint(3, 9000, (n, 256))
    ids[torch.arange(256) >= torch.randint(20, 257, (n, 1))] = 0
    ids[:, 0] = 2
    labels = torch.randint(0, 2, (n,)).float()
    (scores, grad), (full_scores, full_grad) = (step(model, ids, labels, folded) for folded in (True, False))
    gap = (scores - full_scores).abs().max().item(), ((grad - full_grad).norm() / full_grad.norm()).item()
    rows = [compare(f"training step, batch {n}", "unfolded attention",
                    best_of(lambda: step(model, ids, labels, True), 5),
                    best_of(lambda: step(model, ids, labels, False), 3),
                    f"scores {gap[0]:.0e}, gradient {gap[1]:.0e} (relative)", target=5)]
    table(rows)


if __name__ == "__main__":
    main()
