"""Teach a pretrained encoder sentiment: `python -m tools.train_minilm --root FOLDER`, some twenty minutes of one core.

FOLDER holds GLUE's SST-2/{train,dev}.tsv (Socher et al., EMNLP 2013) and aclImdb/{train,test}/{pos,neg}/*.txt (Maas et
al., ACL 2011). The encoder (`coursekit.models.pretrained_encoder`) stays as it is; beside each of its linear layers two
narrow matrices learn what to add, W x + b + B A x (Hu et al., LoRA, ICLR 2022), and a classification layer reads [CLS].
The training is kept in a checkpoint every hundred steps, and the same command goes on from there. Writes
coursekit/weights/minilm-sentiment.safetensors, only what was trained, and its card.
"""

import argparse
import math
import os
import random
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from coursekit.models.hub.minilm import PACKAGE, read_encoder
from coursekit.models.weights import FOLDER, load_weights
from coursekit.own import datasets
from tools import by_hand
from tools.store_weights import save_adapters, write_card
from tools.train_imdb import bucketed

NAME, T_MAX = "minilm-sentiment", 256
RECIPE = dict(rank=8, lr=1e-3, steps=2_400, reviews=6_000, pieces=128, seed=0)
BATCHES = (32, 8)                                                       # documents: of phrases, of reviews
TESTED = 1_000                                                          # reviews


def adapters(model, rank):
    """What is trained, {name: tensor}: A (rank, in) and B (out, rank) of every linear layer of the encoder, where B = 0
    at first, so that nothing is added yet; and the classification layer."""
    trained = {}
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Linear) and name != "classifier":
            trained[f"{name}.A"] = torch.randn(rank, layer.in_features) / math.sqrt(layer.in_features)
            trained[f"{name}.B"] = torch.zeros(layer.out_features, rank)
    trained |= {f"classifier.{name}": value for name, value in model.classifier.named_parameters()}
    return {name: value.requires_grad_() for name, value in trained.items()}


def adapt(model, trained):
    """Have each linear layer that `trained` knows add B A x to what it returns."""
    def adding(A, B):
        return lambda layer, inputs, output: output + inputs[0] @ A.T @ B.T

    for name, A in trained.items():
        if name.endswith(".A"):
            layer = name.removesuffix(".A")
            model.get_submodule(layer).register_forward_hook(adding(A, trained[f"{layer}.B"]))


def encoded(tokenizer, reviews, pieces):
    """[(ids, label)] of reviews, each cut at `pieces` with its [CLS] and [SEP]."""
    ids = tokenizer([review.text for review in reviews], truncation=True, max_length=pieces)["input_ids"]
    return [(row, review.label) for row, review in zip(ids, reviews, strict=True)]


def planned(sources, steps, generator):
    """The first `steps` minibatches: pass after pass over all sources, the batches of each in random order.

    sources: [(rows, size)]; a batch is of one source and of like length, so that little of it is padding."""
    cuts = [(rows, bucketed(torch.tensor([len(ids) for ids, _ in rows]), size)) for rows, size in sources]
    batches = []
    while len(batches) < steps:
        drawn = [[rows[i] for i in batch] for rows, cut in cuts for batch in cut(generator)]
        batches += [drawn[i] for i in torch.randperm(len(drawn), generator=generator)]
    return batches[:steps]


def loss(model, batch):
    """Mean cross-entropy of a batch, padded to its own longest row."""
    ids = nn.utils.rnn.pad_sequence([torch.tensor(row) for row, _ in batch], batch_first=True)          # (n, T)
    seen = torch.arange(ids.shape[1]) < torch.tensor([len(row) for row, _ in batch])[:, None]
    logits = model(input_ids=ids, attention_mask=seen.long()).logits                                    # (n, 2)
    return cross_entropy(logits, torch.tensor([label for _, label in batch]))


def fit(model, trained, batches, lr, checkpoint, every=100):
    """Train on the batches that come after those of the file `checkpoint`, which is renewed every hundred steps.

    The learning rate climbs for 200 steps, stays, and falls to zero in the last 30 per cent. There is no dropout:
    nothing is random but the start and the order. Returns the losses of all steps and the CPU seconds that they took.
    """
    optimizer = torch.optim.AdamW(trained.values(), lr=lr)
    losses, seconds, started = [], 0.0, time.process_time()
    if checkpoint.exists():
        kept = torch.load(checkpoint)
        losses, seconds = kept["losses"], kept["seconds"]
        optimizer.load_state_dict(kept["optimizer"])
        with torch.no_grad():
            for name, value in trained.items():
                value.copy_(kept["trained"][name])
    for step in range(len(losses), len(batches)):
        left = (len(batches) - step) / len(batches)
        optimizer.param_groups[0]["lr"] = lr * min((step + 1) / 200, 1, left / 0.3)
        optimizer.zero_grad()
        value = loss(model, batches[step])
        value.backward()
        nn.utils.clip_grad_norm_(trained.values(), 1.0)
        optimizer.step()
        losses.append(value.item())
        if len(losses) % every == 0 or len(losses) == len(batches):
            print(f"{len(losses):,} of {len(batches):,} steps: loss {sum(losses[-every:]) / every:.3f}", flush=True)
            part = checkpoint.with_suffix(".part")
            torch.save({"losses": losses, "seconds": seconds + time.process_time() - started, "trained": trained,
                        "optimizer": optimizer.state_dict()}, part)
            os.replace(part, checkpoint)
    return losses, seconds + time.process_time() - started


def accuracy(model, reviews, pieces):
    """"88.1% ± 1.1" of reviews cut at `pieces`, on whose right side of 0 the score lies, with its standard error."""
    documents = [(model.tokenizer.tokenize(review.text)[:pieces - 2], review.label) for review in reviews]
    documents.sort(key=lambda document: len(document[0]))
    scores = model.predict([document for document, _ in documents])
    right = sum((score > 0) == label for score, (_, label) in zip(scores, documents, strict=True)) / len(documents)
    return f"{right:.1%} ± {100 * math.sqrt(right * (1 - right) / len(documents)):.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", required=True, help="folder that holds SST-2/ and aclImdb/")
    parser.add_argument("--checkpoint", type=Path, default=Path("build/minilm.pt"), help="where the training is kept")
    asked = parser.parse_args()
    asked.checkpoint.parent.mkdir(exist_ok=True)

    seed, pieces = RECIPE["seed"], RECIPE["pieces"]
    torch.manual_seed(seed)
    model, tokenizer = read_encoder("BertForSequenceClassification")
    model.set_attn_implementation("sdpa")                               # faster, where nobody reads the attention
    trained = adapters(model, RECIPE["rank"])
    adapt(model, trained)
    phrases = encoded(tokenizer, datasets.sst2(asked.root), pieces)
    drawn = random.Random(seed).sample(datasets.imdb(asked.root), RECIPE["reviews"])
    sources = list(zip((phrases, encoded(tokenizer, drawn, pieces)), BATCHES, strict=True))
    batches = planned(sources, RECIPE["steps"], torch.Generator().manual_seed(seed))
    losses, seconds = fit(model, trained, batches, RECIPE["lr"], asked.checkpoint)
    save_adapters(trained, T_MAX, NAME)

    shipped, size = load_weights(NAME), sum(value.numel() for value in trained.values())
    dev = datasets.sst2(asked.root, "dev")
    test = random.Random(seed).sample(datasets.imdb(asked.root, "test"), TESTED)
    last, passes = losses[-len(losses) // 10:], sum(map(len, batches)) / (len(phrases) + len(drawn))
    write_card(NAME, "Scores reviews and single sentences: the log-odds that they praise. A pretrained transformer, "
               "all-MiniLM-L6-v2, with what it had to learn for this: a low-rank change of each linear layer and a "
               "classification layer. Only the latter two are in the file; loading merges them into the former.", {
        f"Accuracy on the {len(dev)} development sentences of SST-2": f"{accuracy(shipped, dev, T_MAX)}, with the "
        "standard error",
        f"Accuracy on {TESTED:,} IMDB test reviews, drawn at random": ", ".join(
            f"{accuracy(shipped, test, cut)} on their first {cut} pieces" for cut in (128, T_MAX)),
        **by_hand.rows(shipped),
        "Training": f"{len(losses):,} steps, of {BATCHES[0]} phrases of SST-2 or {BATCHES[1]} reviews of IMDB cut at "
        f"{pieces} pieces, {passes:.2f} passes over {len(phrases):,} and {len(drawn):,} of them; {seconds:.0f} CPU "
        f"seconds; rank {RECIPE['rank']}, lr {RECIPE['lr']}, seed {seed}",
        "Loss": f"{sum(last) / len(last):.3f} in the last tenth of the steps",
        "Model": f"HuggingFaceClassifier around BertForSequenceClassification, {size:,} numbers trained, T_max {T_MAX}",
        "Pretrained part": "sentence-transformers/all-MiniLM-L6-v2, Apache License 2.0, as the package "
        f"{PACKAGE} carries it; no part of the course",
        "Data": "SST-2, 67,349 training phrases (Socher et al., EMNLP 2013; Wang et al., GLUE, ICLR 2019); Large Movie "
        "Review Dataset (Maas et al., ACL 2011); no text of them is part of the model or the course",
        "Command": "`python -m tools.train_minilm --root FOLDER`",
        "Loading": f'`coursekit.models.load_weights("{NAME}")`',
        "Limits": "English film reviews, lower-cased; a teaching model, not for decisions about people"})
    print((FOLDER / f"{NAME}.md").read_text(encoding="utf8"))


if __name__ == "__main__":
    main()
