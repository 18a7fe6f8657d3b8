"""GPT-2's training step, and one forward pass, beside transformers' GPT2LMHeadModel with the same weights."""

import os

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
from transformers import GPT2Config as TheirConfig
from transformers import GPT2LMHeadModel

from bench import compare, in_turns, table
from coursekit.models import GPT2


def twins(vocab_size, T_max, d_e, K, L):
    """The same random model twice: transformers' (as it comes, on its fused attention) and ours. Neither drops out."""
    torch.manual_seed(0)
    config = TheirConfig(vocab_size=vocab_size, n_positions=T_max, n_embd=d_e, n_head=K, n_layer=L, bos_token_id=0,
                         eos_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    theirs = GPT2LMHeadModel(config)
    return GPT2.from_huggingface(theirs).train(), theirs.train()


def training_step(name, n, T, turns, **sizes):
    """One row: zero_grad, loss, backward and AdamW of both, in turns, on the same n random sequences of T tokens."""
    ours, theirs = twins(**sizes)
    ids = torch.randint(sizes["vocab_size"], (n, T))
    loss = {ours: ours.loss, theirs: lambda ids: theirs(ids, labels=ids).loss}
    gaps = [abs(ours.loss(ids).item() - loss[theirs](ids).item())]
    for model in loss:
        loss[model](ids).backward()
    gradient = theirs.transformer.wte.weight.grad
    gaps.append(((ours.W_e.grad - gradient).norm() / gradient.norm()).item())
    optimizers = {model: torch.optim.AdamW(model.parameters(), lr=1e-4) for model in loss}

    def step(model):
        optimizers[model].zero_grad()
        loss[model](ids).backward()
        optimizers[model].step()

    seconds = in_turns([lambda: step(ours), lambda: step(theirs)], turns)
    return compare(f"training step, {name}", "GPT2LMHeadModel", *seconds,
                   f"loss {gaps[0]:.0e}, gradient {gaps[1]:.0e} (relative)", target=1)


@torch.no_grad()
def forward(name, n, T, turns, **sizes):
    """One row: the logits of n random sequences of T tokens."""
    ours, theirs = twins(**sizes)
    ids = torch.randint(sizes["vocab_size"], (n, T))
    gap = (ours(ids) - theirs(ids).logits).abs().max().item()
    seconds = in_turns([lambda: ours(ids), lambda: theirs(ids)], turns)
    return compare(f"forward pass, {name}", "GPT2LMHeadModel", *seconds, f"logits {gap:.0e}", target=1)


def main():
    tiny = dict(vocab_size=256, T_max=64, d_e=64, K=4, L=3)
    small = dict(vocab_size=50257, T_max=1024, d_e=768, K=12, L=12)
    rows = [training_step("172 K parameters, 32 x 64 tokens", 32, 64, 15, **tiny),
            forward("172 K parameters, 32 x 64 tokens", 32, 64, 15, **tiny),
            training_step("GPT-2 small, 1 x 64 tokens", 1, 64, 3, **small),
            forward("GPT-2 small, 1 x 64 tokens", 1, 64, 3, **small)]
    table(rows)


if __name__ == "__main__":
    main()
