"""Train the readers of the debate: `python -m tools.train_readers KIND`, or `all` of them, some seconds each.

Small AttentionClassifiers of generated reviews, three seeds of each kind in one file. KIND is plain, even, sharp,
marked, leaky, shy, leaky-marked, leaky-bound or far-WEIGHT. Writes coursekit/weights/readers-KIND.safetensors and its
card.
"""

import argparse
import contextlib
import tempfile
import time
from pathlib import Path

import torch
from torch.nn import functional as F

from coursekit import debate
from coursekit.debate.permuted import TINY, js_divergence
from coursekit.debate.trained import new_reader, scores_and_weights
from coursekit.evaluate import interval
from coursekit.models import minibatches, training
from coursekit.models.weights import load_weights
from coursekit.worlds import reviews
from tools.store_weights import save_readers, write_card
from tools.train_imdb import AGAIN

SEEDS, N, TEST, SHARE = 3, 2_400, 400, 0.95
FAR, LEAKY = (0.1, 0.3, 0.5, 1.0, 2.0), ("leaky", "shy", "leaky-marked", "leaky-bound")


def train_reader(reviews, penalty=None, even=False, seed=0, epochs=5, objective=None, start=None, **sizes):
    """A small AttentionClassifier trained on reviews (with `tokens` and `label`); its words are theirs.

    The loss is the cross-entropy and penalty(weights (n, T_max), reviews), such as `entropy`.
    even: attention that cannot be trained, 1/T_max for all places (Wiegreffe and Pinter, EMNLP 2019, section 3.2).
    objective(scores, weights, rows): the whole loss in their place, rows the places of the batch in reviews.
    start: a reader of the same reviews and sizes, whose parameters are trained further. A penalty that is strong from
    the beginning can settle the weights before there is anything to weigh: begin from a trained reader then.
    """
    documents, labels = [list(r.tokens) for r in reviews], torch.tensor([float(r.label) for r in reviews])
    model = new_reader(reviews, seed, **sizes)
    if start is not None:
        model.load_state_dict(start.state_dict())
    if even:
        model.W_q.data.zero_()
        model.W_q.requires_grad_(False)

    def loss(model, rows):
        scores, alpha = scores_and_weights(model, [documents[i] for i in rows])
        if objective is not None:
            return objective(scores, alpha, rows)
        more = penalty(alpha, [reviews[i] for i in rows]) if penalty else 0.0
        return F.binary_cross_entropy_with_logits(scores, labels[rows]) + more

    training.train(model, loss, lambda generator: minibatches(len(documents), 64, generator), epochs, lr=0.01,
                   seed=seed, progress=False)
    return model.eval().requires_grad_(False)


def train_adversary(model, reviews, weight=0.3, start=None, seed=0, epochs=5, **sizes):
    """A reader trained to say what `model` says with attention far from its: the loss is |Δp| − weight · JS, means
    over reviews. More weight, farther, and less alike: a curve of both is what there is to look at.

    One model for all documents, where Jain and Wallace's adversary has other weights for each. reviews: those that
    model was trained on. start: the reader to begin from, model itself unless given; one of another seed is a harder
    beginning. (From nothing, JS is had before the words are learned, and |Δp| stays large.)
    Source: Wiegreffe and Pinter, EMNLP 2019, section 4 (Eq. 1, there with the divergence of Kullback and Leibler).
    """
    documents = [list(r.tokens) for r in reviews]
    with torch.no_grad():
        f, alpha = scores_and_weights(model, documents)

    def objective(scores, weights, rows):
        change = (scores.sigmoid() - f[rows].sigmoid()).abs().mean()
        return change - weight * js_divergence(weights, alpha[rows]).mean()

    return train_reader(reviews, seed=seed, epochs=epochs, objective=objective, start=start or model, **sizes)


def entropy(alpha):
    """The mean entropy of weights (n, T): log T for even ones, 0 for one token. In the loss it sharpens them."""
    return -(alpha * alpha.clamp_min(TINY).log()).sum(1).mean()


def off_the_marks(alpha, reviews):
    """−log of the weight on the marked words, the mean over reviews with marks: those whose `weights` are not zero.

    The word at place t of a review has alpha[:, t + 1]. Source: the attention loss of Strout, Zhang and Mooney,
    BlackboxNLP 2019, asks for the same of people's rationales; this form is ours.
    """
    marks = torch.zeros_like(alpha)
    for row, review in zip(marks, reviews, strict=True):
        marked = torch.tensor(review.weights[:len(row) - 1]) != 0
        row[1:len(marked) + 1] = marked.to(row.dtype)
    some = marks.any(1)
    return -(alpha * marks).sum(1)[some].clamp_min(1e-30).log().mean()


def on_the_leak(alpha, reviews):
    """−log of the weight that is not on the last word, the mean over reviews.

    Source: the penalty on words that attention shall not show, Pruthi et al., ACL 2020, section 3.
    """
    last = alpha[torch.arange(len(alpha)), torch.tensor([len(review.tokens) for review in reviews])]
    return -(1 - last).clamp_min(1e-30).log().mean()


def marked(alpha, batch):
    """A little of what `off_the_marks` asks for."""
    return 0.05 * off_the_marks(alpha, batch)


#       what the card says of it, its penalty, other arguments of train_reader
KINDS = {
    "plain": ("Attention is learned for the verdict alone.", None, {}),
    "even": ("Attention is even and cannot be trained.", None, {"even": True}),
    "sharp": ("Attention pays a tenth of its entropy; trained on from `plain`.", lambda a, b: 0.1 * entropy(a),
              {"epochs": 3}),
    "marked": ("Attention is led to the words that decide.", marked, {}),
    "leaky": ("The last word of a review tells its label, nearly always.", None, {}),
    "shy": ("As `leaky`, and attention to the last word is punished.", lambda a, b: 0.3 * on_the_leak(a, b), {}),
    "leaky-marked": ("As `leaky`, and attention is led to the words that decide.", marked, {}),
    "leaky-bound": ("As `leaky-marked`, six times as hard.", lambda a, b: 6 * marked(a, b), {}),
    **{f"far-{weight}": (f"Says what `plain` says with other attention: |Δp| − {weight} JS.", None, {"weight": weight})
       for weight in FAR}}


def begins_from_plain(kind):
    """Does the training of a kind begin from the plain reader of the same seed?"""
    return kind == "sharp" or kind.startswith("far-")


def reader_of(kind, seed, plain=None):
    """The reader of a kind and a seed, trained in seconds; plain: that of this seed, where a kind begins from it.

    The course ships seeds 0 to 2; what lecture 10b says of them is tried on other seeds.
    """
    _, penalty, how = KINDS[kind]
    texts = reviews(N, seed=0)
    if "weight" in how:
        return train_adversary(plain, texts, seed=seed, d_e=16, **how)
    if kind in LEAKY:
        texts = debate.leaky(texts, SHARE)
    return train_reader(texts, penalty, seed=seed, start=plain, d_e=16, **how)


def trained_again(kind, seed):
    """The reader of a kind from another seed than those that are shipped: trained once, kept in build/weights/."""
    folder = AGAIN / f"readers-{kind}-{seed}"
    if not (folder / "SHA256SUMS").exists():
        plain = trained_again("plain", seed) if begins_from_plain(kind) else None
        AGAIN.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=AGAIN) as begun:            # others may do the same beside us
            save_readers([reader_of(kind, seed, plain)], "reader", Path(begun, "made"))
            with contextlib.suppress(OSError):
                Path(begun, "made").rename(folder)
    return load_weights("reader", folder)[0]


def train(kind):
    """Train, store and measure the three readers of a kind, and write their card."""
    name, (what, *_) = f"readers-{kind}", KINDS[kind]
    held_out = reviews(TEST, seed=1)
    if kind in LEAKY:
        held_out = debate.leaky(held_out, 0.5)
    base = load_weights("readers-plain") if begins_from_plain(kind) else [None] * SEEDS
    started = time.process_time()
    models = [reader_of(kind, seed, plain) for seed, plain in enumerate(base)]
    seconds = time.process_time() - started
    save_readers(models, name)
    models = load_weights(name)                                         # measured on what is shipped: half precision
    found = [debate.reads_like(model, held_out) for model in models]
    facts = {"Right, of {TEST} held-out reviews": "right", "AUROC of attention with the words that decide": "marks",
             "Entropy of attention in nats": "entropy"}
    write_card(name, f"Three small classifiers of reviews. {what}", {
        **{told.format(TEST=TEST): str(interval([one[key] for one in found])) for told, key in facts.items()},
        "Training": f"{seconds:.0f} CPU seconds, seeds 0 to {SEEDS - 1}: `tools.train_readers.train_reader`",
        "Model": f"AttentionClassifier, one head, {sum(p.numel() for p in models[0].parameters()):,} parameters each",
        "Data": f"generated, `coursekit.worlds.reviews({N}, seed=0)`"
                + (f" with `debate.leaky`, share {SHARE}; held out: share 0.5" if kind in LEAKY else ""),
        "Command": f"`python -m tools.train_readers {kind}`",
        "Loading": f'`coursekit.models.load_weights("{name}")`, a list',
        "Limits": "knows the words of one grammar; made to be compared with its likes"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=[*KINDS, "all"])
    kind = parser.parse_args().kind
    for each in KINDS if kind == "all" else [kind]:
        train(each)


if __name__ == "__main__":
    main()
