"""Train the sentiment classifiers that the course ships: `python -m tools.train_imdb imdb-tame --root FOLDER`.

FOLDER holds the Large Movie Review Dataset (Maas et al., ACL 2011) as aclImdb/{train,test}/{pos,neg}/*.txt. Writes
coursekit/weights/NAME.safetensors, its card NAME.md and, once, the vocabulary. `imdb-naive-bayes` only counts words.
With `--seed 1` the same recipe from another start: build/weights/imdb-tame-1.safetensors, which is not shipped: what
the lectures say of a model is tried on such ones, too (`trained_again`).
"""

import argparse
import os
import time
from collections import Counter
from pathlib import Path

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from coursekit.models.classifier import AttentionClassifier, TransformerClassifier
from coursekit.models.documents import token_ids
from coursekit.models.training import minibatches, train
from coursekit.models.weights import FOLDER, load_weights, naive_bayes_log_odds
from coursekit.own import datasets
from coursekit.text import WordTokenizer
from tools import by_hand
from tools.store_weights import save_log_odds, save_weights, write_card

RECIPES = {
    "imdb-tame": dict(kind=AttentionClassifier, penalty=0.1, epochs=6, lr=2e-3, batch=64, seed=0),
    "imdb-peaky": dict(kind=AttentionClassifier, penalty=0, epochs=6, lr=2e-3, batch=64, seed=0),
    "imdb-6layer": dict(kind=TransformerClassifier, crop=128, epochs=3, lr=2e-3, batch=64, seed=0),
}
AGAIN = Path(os.environ.get("COURSEKIT_BUILD", "build"), "weights")


def trained_again(name, seed):
    """A classifier of RECIPES from another start than the one that is shipped.
    Raises FileNotFoundError (the command) where it has not been trained here."""
    if not (AGAIN / f"{name}-{seed}.safetensors").exists():
        raise FileNotFoundError(f"no {name}-{seed} in {AGAIN}: python -m tools.train_imdb {name} --seed {seed} "
                                "--root FOLDER makes it in minutes, with the Large Movie Review Dataset in FOLDER")
    return load_weights(f"{name}-{seed}", AGAIN)


def encoded(model, reviews):
    """Ids (n, T_max), lengths (n,) and labels (n,) of reviews."""
    documents = [model.tokenizer.tokenize(review.text) for review in reviews]
    lengths = torch.tensor([len(model.tokens(document)) for document in documents])
    return token_ids(model, documents), lengths, torch.tensor([float(review.label) for review in reviews])


def word_dropout(ids, pad_id):
    """Replace each word by the padding's embedding h, at a rate drawn from U(0, 1) for each document; never [CLS].

    It teaches the model what a removed word means, which is what LIME and its relatives will ask it about.
    """
    dropped = torch.rand(ids.shape) < torch.rand(len(ids), 1)
    dropped[:, 0] = False
    return ids.masked_fill(dropped, pad_id)


def crop(ids, lengths, size):
    """`size` tokens ([CLS] first) from a random place of each document: half the text, a third of the time."""
    start = (torch.rand(len(ids)) * (lengths - size + 1).clamp(min=1)).long()
    window = start[:, None] + torch.arange(1, size)
    return torch.cat([ids[:, :1], ids.gather(1, window)], 1), lengths.clamp(max=size)


def bucketed(lengths, size):
    """Minibatches of documents of similar length, in random order: short ones need not wait for long ones."""
    def batches(generator):
        groups = []
        for chunk in minibatches(len(lengths), 50 * size, generator):
            groups += chunk[lengths[chunk].argsort()].split(size)
        return [groups[i] for i in torch.randperm(len(groups), generator=generator)]
    return batches


def accuracy(model, ids, lengths, labels):
    """Share of reviews on whose right side of 0 the score lies."""
    with torch.no_grad():
        parts = [model(*inputs(model, ids[i:i + 250], lengths[i:i + 250])) for i in range(0, len(ids), 250)]
    return ((torch.cat(parts) > 0) == labels.bool()).double().mean().item()


def inputs(model, ids, lengths):
    """What `model.forward` takes."""
    return (ids, lengths) if isinstance(model, TransformerClassifier) else (ids,)


def train_classifier(name, tokenizer, reviews, test, seed=0, folder=FOLDER):
    """Train by the recipe `name`, store the weights in `folder` and write their card."""
    recipe = RECIPES[name] | {"seed": seed}
    stored, command = f"{name}-{seed}" if seed else name, f"{name}{f' --seed {seed}' if seed else ''}"
    torch.manual_seed(recipe["seed"])
    model = recipe["kind"](tokenizer)
    ids, lengths, labels = encoded(model, reviews)
    held_out = torch.randperm(len(ids), generator=torch.Generator().manual_seed(1)) < 2_000
    fit = (~held_out).nonzero().squeeze(1)

    def loss(model, batch):
        rows = fit[batch]
        x, n = crop(ids[rows], lengths[rows], recipe["crop"]) if "crop" in recipe else (ids[rows], lengths[rows])
        x = word_dropout(x, tokenizer.pad_id)
        value = binary_cross_entropy_with_logits(model(*inputs(model, x, n)), labels[rows])
        if recipe.get("penalty"):
            log_g, _ = model.logits(x)                                  # flat attention logits: a tame model
            value = value + recipe["penalty"] * log_g.square().mean()
        return value

    started = time.time()
    history = train(model, loss, bucketed(lengths[fit], recipe["batch"]), recipe["epochs"], lr=recipe["lr"],
                    seed=recipe["seed"],
                    validate=lambda m: accuracy(m, ids[held_out], lengths[held_out], labels[held_out]))
    seconds = time.time() - started
    save_weights(model, stored, folder)
    shipped = load_weights(stored, folder)                              # measured: half precision
    test_accuracy = accuracy(shipped, *encoded(shipped, test))
    facts = {
        "Accuracy on the 25,000 test reviews": f"{test_accuracy:.2%} (in the half precision that is shipped)",
        "Accuracy on the 2,000 held-out training reviews": f"{history[-1]['score']:.2%}",
        **by_hand.rows(shipped),
        "Training": f"{len(fit):,} reviews; {seconds:.0f} s on {torch.get_num_threads()} CPU thread(s); " + ", ".join(
            f"{key} {value}" for key, value in recipe.items() if key != "kind"),
        "Loss by epoch": ", ".join(f"{row['loss']:.3f}" for row in history),
        "Model": f"{type(model).__name__}, " + ", ".join(f"{k} {v}" for k, v in model.config.items()),
    }
    write_card(stored, "Scores film reviews: the log-odds that a review is positive.",
               facts | common(command, f'load_weights("{stored}"{", AGAIN" if seed else ""})'), folder)


def naive_bayes(tokenizer, counts):
    """Naive-Bayes log-odds (D,) of every word, the ground truth of the SLALOM paper (Leemann et al., Eq. 76).

    counts: two Counters of words, in negative and in positive documents. With Laplace smoothing,
    log-odds(w) = log (n₁(w)+1)/(N₁+D) − log (n₀(w)+1)/(N₀+D), N the total count of the vocabulary's words; special
    tokens get 0.
    """
    n = torch.tensor([[count[word] for word in tokenizer.vocab] for count in counts], dtype=torch.float64)    # (2, D)
    log_p = (n + 1).log() - (n.sum(1, keepdim=True) + n.shape[1]).log()
    special = torch.tensor([word in tokenizer.SPECIALS for word in tokenizer.vocab])
    return (log_p[1] - log_p[0]).masked_fill(special, 0.0)


def count_words(tokenizer, reviews, test):
    """Store the naive-Bayes log-odds of all training reviews and write their card. Nothing is trained."""
    counts = [Counter(), Counter()]
    for review in reviews:
        counts[review.label].update(tokenizer.tokenize(review.text))
    save_log_odds(tokenizer, naive_bayes(tokenizer, counts))
    log_odds = naive_bayes_log_odds()                                   # measured on what is shipped: half precision
    documents = [(tokenizer.tokenize(review.text), review.label == 1) for review in test]

    def score(words):
        return sum(log_odds.get(word, 0.0) for word in words)

    def share_right(T):
        """Accuracy of the sum of the log-odds of the first T words (None: of all)."""
        return sum((score(words[:T]) > 0) == label for words, label in documents) / len(documents)

    facts = {
        "Accuracy on the 25,000 test reviews": f"{share_right(None):.2%} (in the half precision that is shipped)",
        "Accuracy on their first 255 words": f"{share_right(255):.2%} (all that the other models read)",
        **by_hand.accuracy_row(by_hand.is_right([score(words) for words in by_hand.documents(tokenizer)])),
        "Training": "none: words counted in all 25,000 training reviews, none held out",
    }
    write_card("imdb-naive-bayes", "A log-odds for each word: log p(w | positive) − log p(w | negative), counted with "
               "Laplace smoothing (Eq. 76 of Leemann et al., SLALOM). Their sum over a review, above or below zero, is "
               "naive Bayes; the classes are balanced, so that the prior adds 0.",
               facts | common("imdb-naive-bayes", "naive_bayes_log_odds()"))


def common(command, loading):
    """What the cards of all these models say."""
    return {
        "Data": "Large Movie Review Dataset, 25,000 training reviews (Maas et al., Learning Word Vectors for Sentiment "
                "Analysis, ACL 2011); no text of it is part of the model or the course",
        "Command": f"`python -m tools.train_imdb {command} --root FOLDER`",
        "Loading": f"`coursekit.models.{loading}`",
        "Limits": "English film reviews, 9,000 lower-cased words; a teaching model, not for decisions about people"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", choices=[*RECIPES, "imdb-naive-bayes"])
    parser.add_argument("--root", required=True, help="folder that holds aclImdb/")
    parser.add_argument("--seed", type=int, default=0, help="of another training than the one that is shipped")
    arguments = parser.parse_args()
    reviews, test = datasets.imdb(arguments.root, split="train"), datasets.imdb(arguments.root, split="test")
    tokenizer = WordTokenizer.train([review.text for review in reviews], 9_000)
    if arguments.name in RECIPES:
        folder = AGAIN if arguments.seed else FOLDER
        train_classifier(arguments.name, tokenizer, reviews, test, arguments.seed, folder)
    else:
        count_words(tokenizer, reviews, test)


if __name__ == "__main__":
    main()
