"""Train the small models of the toy worlds: `python -m tools.train_worlds NAME`, or `all` of them, some seconds each.

NAME is histogram-SOLUTION or dyck-VARIANT, from seed 0; with -1 or -2 behind it, from 1 or 2. SOLUTION is positional;
semantic; hard: semantic, with a W that begins at 3/√d_e; or letters: semantic, with W_p = 0 throughout.
Writes coursekit/weights/NAME.safetensors and its card.
"""

import argparse
import os
import time
from functools import partial

import torch

from coursekit.models.weights import load_weights
from coursekit.worlds import dyck, histogram
from tools.store_weights import save_weights, write_card
from tools.train_imdb import AGAIN

SEEDS, TEST = (0, 1, 2), 9_000


def measured_histogram(model):
    """What the card says of how good a HistogramModel is."""
    uniform, balanced = (histogram.sample(TEST, kind, seed=99) for kind in ("uniform", "balanced"))
    swaps = histogram.swap_test(model, uniform)
    return {f"Accuracy on {TEST:,} uniform test sequences": f"{swaps.own:.4f}",
            f"Accuracy on {TEST:,} balanced test sequences": f"{histogram.swap_test(model, balanced).own:.4f}",
            "With other attention, uniform sequences": f"swapped {swaps.swapped:.3f}, mean map {swaps.mean:.3f}, "
                                                       f"1/T {swaps.uniform:.3f}"}


def measured_dyck(model):
    """What the card says of how good a DyckModel is."""
    ids = dyck.sample(TEST, seed=99)
    top, entropy = (", ".join(f"{layer:.3f}" for layer in part) for part in dyck.stack_likeness(model, ids))
    return {f"Accuracy of the kind of closing bracket on {TEST:,} test sequences":
                f"{dyck.closing_accuracy(model, ids):.4f}; far from its partner "
                f"{dyck.closing_accuracy(model, ids, far=True):.4f}",
            "Attention on the stack's top, by layer": f"{top}; entropy in nats {entropy}"}


WORLDS = {"histogram": (histogram, measured_histogram, "Counts how often each of ten letters occurs in its sequence.",
                        "generated, `coursekit.worlds.histogram.sample`: a quarter uniform, the others balanced"),
          "dyck": (dyck, measured_dyck, "Predicts the next bracket of sequences in which all brackets match.",
                   "generated, `coursekit.worlds.dyck.sample`: uniform over balanced paths, depth at most 4")}
KINDS = {"histogram": ("positional", "semantic", "hard", "letters"), "dyck": dyck.VARIANTS}
NAMES = {f"{world}-{kind}" + f"-{seed}" * bool(seed): (world, kind, seed)
         for world, kinds in KINDS.items() for kind in kinds for seed in SEEDS}


def without_places(seed, progress=True):
    """A semantic HistogramModel that never hears of places: letters are all that it mixes."""
    torch.manual_seed(seed)
    model = histogram.HistogramModel("semantic")
    model.W_p.requires_grad_(False).zero_()
    return histogram.fit(model, 1500, seed, progress=progress).eval()


SPECIAL = {"histogram-hard": (partial(histogram.train, "semantic", scale=3),
                              "worlds.histogram.train('semantic', {}, scale=3)"),
           "histogram-letters": (without_places, "tools.train_worlds.without_places({})")}


def train(name):
    """Train, store and measure one model, and write its card."""
    world, kind, seed = NAMES[name]
    task, measured, what, data = WORLDS[world]
    trained, call = SPECIAL.get(f"{world}-{kind}", (partial(task.train, kind), f"worlds.{world}.train({kind!r}, {{}})"))
    started = time.process_time()
    model = trained(seed=seed)
    seconds = time.process_time() - started
    save_weights(model, name)
    model = load_weights(name)                                          # measured on what is shipped: half precision
    write_card(name, what, measured(model) | {
        "Training": f"{seconds:.0f} CPU seconds, seed {seed}: `{call.format(seed)}`",
        "Model": f"{type(model).__name__}({next(iter(model.config.values()))!r}), "
                 f"{sum(p.numel() for p in model.parameters()):,} parameters",
        "Data": data,
        "Command": f"`python -m tools.train_worlds {name}`",
        "Loading": f'`coursekit.models.load_weights("{name}")`',
        "Limits": "knows one artificial task; made to be opened up"})


def dyck_again(variant, seed):
    """A DyckModel from another seed than those that are shipped: trained in seconds, once, and kept in build/."""
    return again(dyck.DyckModel(variant), f"dyck-{variant}-{seed}", partial(dyck.train, variant, seed, progress=False))


def histogram_again(kind, seed):
    """A HistogramModel (positional, semantic, hard or letters) from another seed, trained once and kept likewise."""
    trained, _ = SPECIAL.get(f"histogram-{kind}", (partial(histogram.train, kind), ""))
    model = histogram.HistogramModel("positional" if kind == "positional" else "semantic", 3 if kind == "hard" else 0.3)
    return again(model, f"histogram-{kind}-{seed}", partial(trained, seed=seed, progress=False))


def again(model, name, train):
    """The model with the weights of build/: trained and kept there where they are missing."""
    path = AGAIN / f"{name}.pt"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        torch.save(train().state_dict(), part)
        part.replace(path)
    model.load_state_dict(torch.load(path))
    return model.requires_grad_(False).eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=[*NAMES, "all"])
    name = parser.parse_args().name
    for each in NAMES if name == "all" else [name]:
        train(each)


if __name__ == "__main__":
    main()
