"""One plain training loop: seeds, warm-up and linear decay, clipping, a progress bar."""

from collections.abc import Callable

import torch
from tqdm.auto import tqdm


def minibatches(n: int, size: int, generator: torch.Generator) -> list[torch.Tensor]:
    """Shuffle range(n) and cut it into index tensors of `size` (the last may be smaller).

    >>> [len(batch) for batch in minibatches(10, 4, torch.Generator())]
    [4, 4, 2]
    """
    return torch.randperm(n, generator=generator).split(size)


def train(model: torch.nn.Module, loss: Callable, batches: Callable, epochs: int, lr=0.002, weight_decay=0.01,
          warmup=0.1, clip=1.0, seed=0, validate: Callable | None = None, progress=True) -> list[dict]:
    """Train `model` in place with AdamW and return its history, a list with one dict per epoch.

    loss(model, batch) -> scalar tensor; batches(generator) -> the batches of one epoch, a sequence of anything that
    `loss` takes. The learning rate climbs to `lr` over the first `warmup` share of all steps, then falls linearly to
    zero (warmup=None keeps it constant). Gradients are clipped to norm `clip` (None: not at all).
    validate(model) -> float is called after each epoch and goes into the history as "score".
    `seed` fixes the shuffling and everything random in `loss`: same seed, same machine, same weights.
    Raises FloatingPointError when the loss is no longer a number.

    >>> x = torch.linspace(-1, 1, 20)[:, None]
    >>> line = torch.nn.Linear(1, 1)
    >>> history = train(line, lambda model, batch: (model(x[batch]) - 2 * x[batch] - 1).square().mean(),
    ...                 lambda generator: minibatches(20, 5, generator), epochs=40, lr=0.1, progress=False)
    >>> round(line.weight.item(), 1), round(line.bias.item(), 1), len(history)     # y = 2x + 1 is found
    (2.0, 1.0, 40)
    """
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=weight_decay)
    history, step = [], 0
    with tqdm(disable=not progress, desc="training", unit="step") as bar:
        for epoch in range(epochs):
            model.train()
            todo = batches(generator)
            total = bar.total = epochs * len(todo)
            losses = []
            for batch in todo:
                if warmup is not None:
                    rise, fall = (step + 1) / max(1, warmup * total), (total - step) / max(1, total - warmup * total)
                    optimizer.param_groups[0]["lr"] = lr * min(1.0, rise, fall)
                optimizer.zero_grad()
                value = loss(model, batch)
                if not torch.isfinite(value):
                    raise FloatingPointError(f"the loss became {value.item()} at step {step}: lower lr (now {lr})")
                value.backward()
                if clip is not None:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
                optimizer.step()
                losses.append(value.item())
                step += 1
                bar.set_postfix(loss=f"{value.item():.3f}", refresh=False)
                bar.update()
            model.eval()
            history.append({"epoch": epoch + 1, "loss": sum(losses) / len(losses)})
            if validate is not None:
                history[-1]["score"] = validate(model)
    return history
