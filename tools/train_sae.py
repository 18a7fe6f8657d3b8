"""Train the autoencoders of the dialogue model that ship: `python -m tools.train_sae`, two or three CPU minutes.

`dialogue-sae` reads every token of the second block's stream, `dialogue-sae-ends` those alone that end a sentence,
where the tone of the next one is decided. Writes both from seed 0 with their cards, whose figures are of three seeds.
"""

import statistics
import tempfile
import time
from collections import Counter

import torch

from coursekit.models.decoding import sample
from coursekit.models.sparse.features import (
    by_length,
    clamp_feature,
    collect_activations,
    correlations,
    everywhere,
    loss_recovered,
    stream_of,
)
from coursekit.models.sparse.sae import reconstruction_quality, train_sae
from coursekit.models.weights import FOLDER, load_weights
from coursekit.worlds.generated.dialogues import TONES, dialogues, split_sentences, tone_of
from tools.store_weights import save_weights, write_card
from tools.train_dialogues import encoded

LAYER, DIALOGUES, SEEDS = 2, 3_000, (0, 1, 2)
SAMPLES, LENGTH, STEERED = 150, 48, ("praise", "secretive", "french")
RECIPES = {"dialogue-sae": dict(F=256, lam=2.0, epochs=6, batch=512, lr=3e-3),
           "dialogue-sae-ends": dict(F=16, lam=0.3, epochs=30, batch=256, lr=3e-3)}


def sentence_ends(tokenizer):
    """The function ids (n, T) → which tokens end a sentence (n, T)."""
    ends = torch.tensor([tokenizer.encode(mark)[0] for mark in ".?"])
    return lambda ids: torch.isin(ids, ends)


def texts_and_tones(tokenizer, n, seed):
    """n dialogues as batches of ids, and a table (N, 5): is the sentence that ends here in this tone? (TONES' order)"""
    known = dialogues(n, seed=seed)
    batches, order = by_length([row.tolist() for row in encoded(tokenizer, [dialogue.text for dialogue in known])])
    said = [tone for i in order for tone in ("request", *known[i].tones)]
    return batches, torch.tensor([[float(tone == column) for column in TONES] for tone in said])


def shares(model, seed=0):
    """Of the answers' whole sentences in free samples: the share of each tone, and of those that have none (invalid).

    Samples stop after LENGTH tokens: where a feature is clamped texts do not end, and the model has seen few long ones.
    """
    end = model.tokenizer.cls_id
    rows = sample(model, [[end]] * SAMPLES, LENGTH, seed=seed, eos=end)
    texts = [model.tokenizer.decode([i for i in row if i != end]) for row in rows]
    tones = Counter(tone_of(sentence) for text in texts for sentence in split_sentences(text)[1:]
                    if sentence[-1] in ".?")
    return {tone or "invalid": count / tones.total() for tone, count in tones.items()}


def mean_sd(values):
    return f"{statistics.mean(values):.3f} ± {statistics.stdev(values):.3f}"


def measured_ends(model, saes, H, tones, fresh):
    """What the card says of the features at sentence ends, chosen on the states H, measured on fresh dialogues."""
    where, (batches, theirs) = sentence_ends(model.tokenizer), fresh
    X = torch.cat([stream_of(model, LAYER)(ids)[where(ids)] for ids in batches])
    plain = shares(model)
    facts = {"The model's own sampled sentences": ", ".join(f"{tone} {share:.3f}" for tone, share in plain.items())}
    neurons = correlations(torch.as_tensor(H[:]), tones).abs().argmax(0)
    for k, tone in enumerate(TONES):
        found, seen = [], {}
        for sae in saes:
            A = sae.activations(torch.as_tensor(H[:]))
            feature = correlations(A, tones)[:, k].argmax().item()
            found.append(correlations(sae.activations(X), theirs)[feature, k].item())
            for times, place in ((0, where), (3, where), (5, where), (5, everywhere)) if tone in STEERED else ():
                with clamp_feature(model, sae, feature, times * A[:, feature].max().item(), place):
                    now = shares(model)
                case = f"{times} × its maximum" + (" everywhere" if place is everywhere else "")
                seen.setdefault(case, []).append((now.get(tone, 0.0), now.get("invalid", 0.0)))
        neuron = correlations(X, theirs)[neurons[k], k].abs().item()
        facts[f"Correlation with {tone}"] = f"{mean_sd(found)}; best single neuron {neuron:.3f}"
        for case, pairs in seen.items():
            share, invalid = map(mean_sd, zip(*pairs, strict=True))
            facts[f"Share of {tone}, clamped to {case}"] = f"{share}; invalid {invalid}"
    return facts


@torch.no_grad()
def main():
    model = load_weights("dialogue-gpt")
    batches, tones = texts_and_tones(model.tokenizer, DIALOGUES, seed=2)
    fresh = texts_and_tones(model.tokenizer, DIALOGUES // 3, seed=3)
    for name, recipe in RECIPES.items():
        where = sentence_ends(model.tokenizer) if name.endswith("ends") else everywhere
        with tempfile.TemporaryDirectory() as folder, torch.enable_grad():
            H = collect_activations(stream_of(model, LAYER), batches, f"{folder}/states.npy", where)
            started = time.process_time()
            saes = [train_sae(H, **recipe, layer=LAYER, seed=seed, progress=False) for seed in SEEDS]
            seconds = (time.process_time() - started) / len(SEEDS)
            save_weights(saes[0], name)
            saes[0] = load_weights(name)                                # measured on what is shipped: half precision
            unseen = collect_activations(stream_of(model, LAYER), fresh[0], f"{folder}/unseen.npy", where)
            found = [reconstruction_quality(sae, unseen) for sae in saes]
            facts = {"Variance explained": mean_sd([each.variance for each in found]),
                     "Features in a state (L0)": mean_sd([each.l0 for each in found]),
                     "Dead features": ", ".join(str(each.dead) for each in found),
                     "Loss recovered": mean_sd([loss_recovered(model, sae, fresh[0], where) for sae in saes])}
            if name.endswith("ends"):
                facts |= measured_ends(model, saes, H, tones, fresh)
        what = (f"A sparse autoencoder of what block {LAYER} of `dialogue-gpt` leaves at "
                + ("the tokens that end a sentence; a tone's feature is chosen on the training data."
                   if name.endswith("ends") else "every token.")
                + " Figures: dialogues not trained on, mean ± sd of the seeds 0, 1, 2; seed 0 ships.")
        write_card(name, what, facts | {
            "Training": f"{seconds:.0f} CPU seconds; {len(H):,} states of {DIALOGUES:,} dialogues; "
                        + ", ".join(f"{key} {value}" for key, value in recipe.items()),
            "Model": f"SparseAutoencoder, {sum(p.numel() for p in saes[0].parameters()):,} parameters",
            "Data": "generated, `coursekit.worlds.dialogues`: seed 2 for training, seed 3 held out",
            "Command": "`python -m tools.train_sae`",
            "Loading": f'`coursekit.models.load_weights("{name}")`',
            "Limits": "knows one layer of one small model; made to be opened up"})
        print((FOLDER / f"{name}.md").read_text(encoding="utf8"))


if __name__ == "__main__":
    main()
