"""Train the readers of the debate: `python -m tools.train_readers KIND`, or `all` of them, some seconds each.

Small AttentionClassifiers of generated reviews, three seeds of each kind in one file. KIND is plain, even, sharp,
marked, leaky, shy, leaky-marked, leaky-bound or far-WEIGHT. Writes coursekit/weights/readers-KIND.safetensors and its
card.
"""

import argparse
import time

import torch

from coursekit.evaluate import debate, interval
from coursekit.evaluate.debate.trained import entropy, train_adversary, train_reader
from coursekit.models.weights import load_weights
from coursekit.text import reviews
from tools.store_weights import save_readers, write_card

SEEDS, N, TEST, SHARE = 3, 2_400, 400, 0.95
FAR, LEAKY = (0.1, 0.3, 0.5, 1.0, 2.0), ("leaky", "shy", "leaky-marked", "leaky-bound")


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


def train(kind):
    """Train, store and measure the three readers of a kind, and write their card."""
    name, (what, penalty, how) = f"readers-{kind}", KINDS[kind]
    texts, held_out = reviews(N, seed=0), reviews(TEST, seed=1)
    if kind in LEAKY:
        texts, held_out = debate.leaky(texts, SHARE), debate.leaky(held_out, 0.5)
    base = load_weights("readers-plain") if kind == "sharp" or "weight" in how else [None] * SEEDS
    started = time.process_time()
    models = [train_adversary(start, texts, seed=seed, d_e=16, **how) if "weight" in how else
              train_reader(texts, penalty, seed=seed, start=start, d_e=16, **how)
              for seed, start in enumerate(base)]
    seconds = time.process_time() - started
    save_readers(models, name)
    models = load_weights(name)                                         # measured on what is shipped: half precision
    found = [debate.reads_like(model, held_out) for model in models]
    facts = {"Right, of {TEST} held-out reviews": "right", "AUROC of attention with the words that decide": "marks",
             "Entropy of attention in nats": "entropy"}
    write_card(name, f"Three small classifiers of reviews. {what}", {
        **{told.format(TEST=TEST): str(interval([one[key] for one in found])) for told, key in facts.items()},
        "Training": f"{seconds:.0f} CPU seconds, seeds 0 to {SEEDS - 1}: `evaluate.debate.train_reader`",
        "Model": f"AttentionClassifier, one head, {sum(p.numel() for p in models[0].parameters()):,} parameters each",
        "Data": f"generated, `coursekit.text.reviews({N}, seed=0)`"
                + (f" with `evaluate.debate.leaky`, share {SHARE}; held out: share 0.5" if kind in LEAKY else ""),
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
