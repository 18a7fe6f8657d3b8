"""Training sparse autoencoders: beside a plain loop, and beside `sae-lens` where it is installed.

All three read the same states of `dialogue-gpt`, 69,574 of 64 numbers, have 256 features, the same loss, batches, Adam
and falling learning rate, and run on one thread. Training draws at random, so what they find is compared by its
quality: variance explained, features in a state (L0), loss recovered on states of other dialogues. `sae-lens` is not in
constraints.txt, because it brings some 45 packages; `pip install -c constraints.txt sae-lens` leaves the pinned ones
alone. The plain loop shows what progress bar and checks cost: up to a tenth.
"""

import importlib.util
import io
from contextlib import redirect_stderr

import torch
from torch import nn

from bench import compare, in_turns, table
from coursekit.models import (
    SparseAutoencoder,
    load_weights,
    loss_recovered,
    reconstruction_quality,
    stream_of,
    train_sae,
)
from tools.train_sae import LAYER, texts_and_tones

FEATURES, EPOCHS, BATCH, LR = 256, 3, 512, 1e-2
KINDS = {"relu": {"lam": 2.0}, "topk": {"k": 8}}


def as_ours(W_enc, b_enc, W_dec, b_dec, kind, scale=1.0):
    """Someone else's weights, W_enc (F, d) and W_dec (d, F), in our SparseAutoencoder: measured alike."""
    sae = SparseAutoencoder(W_enc.shape[1], FEATURES, kind, KINDS[kind].get("k"), layer=LAYER)
    weights = {"W_enc": W_enc, "b_enc": b_enc, "W_dec": W_dec, "b_dec": b_dec, "scale": torch.as_tensor(scale)}
    sae.load_state_dict(weights)
    return sae.requires_grad_(False)


def ours(H, kind):
    return train_sae(H, FEATURES, **KINDS[kind], kind=kind, epochs=EPOCHS, batch=BATCH, lr=LR, layer=LAYER,
                     progress=False)


def plain(H, kind):
    """The textbook loop: two linear layers, torch's Adam."""
    torch.manual_seed(0)
    n, d = H.shape
    scale = d ** 0.5 / H.norm(dim=1).mean()
    data = H * scale
    encoder, decoder = nn.Linear(d, FEATURES), nn.Linear(FEATURES, d)
    nn.init.normal_(encoder.weight, std=d ** -0.5)
    encoder.bias.data = -encoder.weight.data @ data.mean(0)
    decoder.weight.data, decoder.bias.data = 0.1 * encoder.weight.data.T.clone(), data.mean(0)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=LR)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, EPOCHS * -(-n // BATCH))
    for _ in range(EPOCHS):
        for rows in torch.randperm(n).split(BATCH):
            h = data[rows]
            a = encoder(h).relu()
            if kind == "topk":
                top = a.topk(KINDS[kind]["k"])
                a = torch.zeros_like(a).scatter(-1, top.indices, top.values)
            loss = (decoder(a) - h).square().sum(1).mean()
            if kind == "relu":
                loss = loss + KINDS[kind]["lam"] * (a * decoder.weight.norm(dim=0)).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return as_ours(encoder.weight, encoder.bias, decoder.weight, decoder.bias, kind, scale)


def sae_lens(H, kind):
    """The package's trainer, its logging off, over shuffled batches of H."""
    from sae_lens import (
        SAETrainer,
        StandardTrainingSAE,
        StandardTrainingSAEConfig,
        TopKTrainingSAE,
        TopKTrainingSAEConfig,
    )
    from sae_lens.config import SAETrainerConfig

    def batches():
        while True:
            yield from (H[rows] for rows in torch.randperm(len(H)).split(BATCH))

    torch.manual_seed(0)
    alike = dict(d_in=H.shape[1], d_sae=FEATURES, normalize_activations="expected_average_only_in")
    if kind == "relu":
        sae = StandardTrainingSAE(StandardTrainingSAEConfig(**alike, l1_coefficient=KINDS[kind]["lam"]))
    else:
        sae = TopKTrainingSAE(TopKTrainingSAEConfig(**alike, k=KINDS[kind]["k"], rescale_acts_by_decoder_norm=False))
    steps = EPOCHS * -(-len(H) // BATCH)
    trainer = SAETrainer(SAETrainerConfig(EPOCHS * len(H), BATCH, LR, lr_decay_steps=steps, lr_end=0.0,
                                          n_batches_for_norm_estimate=20), sae, batches())
    with redirect_stderr(io.StringIO()):                                              # its progress bar
        trainer.fit()
    b_enc = sae.b_enc - sae.b_dec @ sae.W_enc                                # it takes b_dec from what it encodes
    return as_ours(sae.W_enc.T, b_enc, sae.W_dec.T, sae.b_dec, kind)


def main():
    model = load_weights("dialogue-gpt")
    batches, fresh = (texts_and_tones(model.tokenizer, n, seed)[0] for n, seed in ((1500, 2), (300, 3)))
    H, unseen = (torch.cat([stream_of(model, LAYER)(ids).flatten(0, 1) for ids in each]) for each in (batches, fresh))
    rows, others = [], [plain] + [sae_lens] * (importlib.util.find_spec("sae_lens") is not None)
    for kind, settings in KINDS.items():
        found = {}
        seconds = in_turns([lambda f=f: found.update({f: f(H, kind)}) for f in (ours, *others)], 3)
        said = {f: "variance {:.3f}, L0 {:.2f}, ".format(*reconstruction_quality(sae, unseen)[:2])
                + f"loss {loss_recovered(model, sae, fresh):.3f}" for f, sae in found.items()}
        for f, their_s in zip(others, seconds[1:], strict=True):
            what = f"{kind}, {settings}: {EPOCHS * len(H) / seconds[0]:,.0f} states/s"
            rows.append(compare(what, f.__name__.replace("_", "-"), seconds[0], their_s,
                                f"ours {said[ours]}; theirs {said[f]}", target=1 if f is sae_lens else None))
    table(rows)


if __name__ == "__main__":
    main()
