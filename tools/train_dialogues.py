"""Train the small language model that the course ships: `python -m tools.train_dialogues`, some four CPU minutes.

Its data are generated (`coursekit.worlds.dialogues`), so nothing needs to be downloaded, and the loss that no model can
beat is known. Writes coursekit/weights/dialogue-gpt.safetensors and its card.
"""

import math
import time
from collections import Counter

import torch

from coursekit.models.decoding import sample
from coursekit.models.gpt2 import GPT2, GPT2Config
from coursekit.models.sparse.features import by_length
from coursekit.models.training import minibatches, train
from coursekit.models.weights import FOLDER, load_weights
from coursekit.text import WordTokenizer
from coursekit.worlds.generated.dialogues import (
    TONES,
    dialogues,
    fits,
    is_grammatical,
    log_probability,
    split_sentences,
    tone_of,
)
from tools.store_weights import save_weights, write_card

NAME = "dialogue-gpt"
SIZES = dict(T_max=96, d_e=64, K=4, L=3)
RECIPE = dict(epochs=4, lr=6e-3, seed=0)
BATCH, TRAINING, HELD_OUT, SAMPLES = 32, 30_000, 2_000, 1_000


def encoded(tokenizer, texts):
    """Ids of every text, [CLS] before and after it: it opens a dialogue and closes it."""
    return [torch.tensor([tokenizer.cls_id, *tokenizer.encode(text), tokenizer.cls_id]) for text in texts]


def grouped(rows):
    """Ids (n, T) for each length T: rows of equal length need no padding."""
    return by_length([row.tolist() for row in rows], size=len(rows))[0]


@torch.no_grad()
def loss_per_token(model, rows):
    """Mean cross-entropy of the tokens after the first, in nats."""
    groups = grouped(rows)
    return (sum(model.loss(ids).item() * ids[:, 1:].numel() for ids in groups)
            / sum(ids[:, 1:].numel() for ids in groups))


def counted_losses(rows, held_out, D, add=0.01):
    """The same of a unigram and a bigram model: counts of `rows`, `add` to each."""
    losses = []
    for contexts in (lambda row: torch.zeros_like(row[1:]), lambda row: row[:-1]):
        counts = torch.zeros(D, D, dtype=torch.float64)
        for row in rows:
            counts.index_put_((contexts(row), row[1:]), torch.tensor(1.0, dtype=torch.float64), accumulate=True)
        log_p = torch.log((counts + add) / (counts + add).sum(1, keepdim=True))
        losses.append(-torch.cat([log_p[contexts(row), row[1:]] for row in held_out]).mean().item())
    return losses


def free_samples(model, n, seed=0):
    """n texts drawn from the model by pure sampling, from [CLS] to [CLS] or to the end of its context."""
    end = model.tokenizer.cls_id
    rows = sample(model, [[end]] * n, model.config.T_max, seed=seed, eos=end)
    return [model.tokenizer.decode(row[:-1] if row[-1] == end else row) for row in rows]


def quality(texts):
    """Shares among sampled texts: grammatical sentences, sentences that fit their request, each tone."""
    cut = [split_sentences(text) for text in texts]
    sentences, answers = [s for text in cut for s in text], [s for text in cut for s in text[1:]]
    fitting = sum(fits(text[0], s) for text in cut for s in text[1:])
    tones = Counter(map(tone_of, answers))
    return {"grammatical": sum(map(is_grammatical, sentences)) / len(sentences), "fitting": fitting / len(answers),
            **{tone: tones[tone] / len(answers) for tone in TONES}}


def measured(model, rows, held_out, fresh):
    """What the card says of how good the model is; rows, held_out: ids; fresh: the held-out dialogues themselves."""
    unigram, bigram = counted_losses(rows, held_out, model.config.vocab_size)
    best = -sum(map(log_probability, fresh)) / sum(len(row) - 1 for row in held_out)
    nats = {"this model": loss_per_token(model, held_out), "the generator itself, which no model can beat": best,
            "a bigram model": bigram, "a unigram model": unigram}
    shares = quality(free_samples(model, SAMPLES))
    return {
        f"Perplexity per token on {HELD_OUT:,} held-out dialogues": "; ".join(
            f"{math.exp(loss):.3f} {whose}" for whose, loss in nats.items()),
        "The same as loss": "; ".join(f"{loss:.4f} {whose}" for whose, loss in nats.items()) + " (nats per token)",
        f"Grammatical sentences in {SAMPLES:,} free samples": f"{shares['grammatical']:.1%} (temperature 1)",
        "Sentences about the request's thing and owner": f"{shares['fitting']:.1%}",
        "Tones of the sampled sentences (in the data)": ", ".join(
            f"{tone} {shares[tone]:.1%} ({share:.0%})" for tone, share in TONES.items())}


def main():
    known, fresh = dialogues(TRAINING, seed=0), dialogues(HELD_OUT, seed=1)
    tokenizer = WordTokenizer.train([dialogue.text for dialogue in known], 256)
    rows, held_out = (encoded(tokenizer, [dialogue.text for dialogue in part]) for part in (known, fresh))
    groups = grouped(rows)

    def batches(generator):
        found = [ids[index] for ids in groups for index in minibatches(len(ids), BATCH, generator)]
        return [found[i] for i in torch.randperm(len(found), generator=generator)]

    torch.manual_seed(RECIPE["seed"])
    model = GPT2(GPT2Config(vocab_size=len(tokenizer.tokens), **SIZES))
    model.tokenizer = tokenizer
    started = time.process_time()
    history = train(model, GPT2.loss, batches, **RECIPE)
    seconds = time.process_time() - started
    save_weights(model, NAME)
    model = load_weights(NAME)                                          # measured on what is shipped: half precision
    what = ("A GPT-2 that writes short dialogues: a request to look at something, and an answer in one of five tones, "
            "which may change. Every text begins and ends with [CLS].")
    write_card(NAME, what, measured(model, rows, held_out, fresh) | {
        "Training": f"{TRAINING:,} dialogues; {seconds:.0f} CPU seconds; batch {BATCH}, "
                    + ", ".join(f"{key} {value}" for key, value in RECIPE.items()),
        "Loss by epoch": ", ".join(f"{row['loss']:.4f}" for row in history),
        "Model": f"GPT2, {sum(p.numel() for p in model.parameters()):,} parameters, "
                 + ", ".join(f"{key} {value}" for key, value in vars(model.config).items()),
        "Data": "generated, `coursekit.worlds.dialogues`: seed 0 for training, seed 1 held out",
        "Command": "`python -m tools.train_dialogues`",
        "Loading": f'`coursekit.models.load_weights("{NAME}")`; its words are in `.tokenizer`',
        "Limits": f"{len(tokenizer.tokens)} lower-cased words and nothing but such dialogues; made to be opened up"})
    print((FOLDER / f"{NAME}.md").read_text(encoding="utf8"))


if __name__ == "__main__":
    main()
