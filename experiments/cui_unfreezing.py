"""Cui et al., the histogram task: does a positional solution stay one when it may read letters?

The paper trains W on places alone, sets the rest free, and goes on. Here the positional models that the course ships
(1,500 steps) and some stopped early (150 steps) are set free, the rows of W for letters at zero. To some of the
converged ones noise of sd kick/√d_e is added there first; a W begins at 0.3. Then 600 steps of AdamW at a rate of
5e-3, or 2400. The authors' public code (run_histogram.py) has noise of sd .001, a kick of 0.008, and plain SGD: 109,375
steps at a rate of .001. The row of SGD goes as far, rate times steps, in fewer and larger steps.

Out came: converged, they hardly move in 600 steps, but leave in 2400, and faster the harder they were kicked; stopped
early, they leave at once. With SGD the attention stays, while the letters' rows grow eightfold. So this is a place that
is slow to leave, rather than a minimum.
"""

import torch

from coursekit.evaluate import map_distance
from coursekit.models import load_weights
from coursekit.show.charts import bars
from coursekit.worlds import histogram

from .runner import SEEDS, grouped, mean_sd

SIZE = dict(steps=600, early=150, n=1000)
TOY = dict(steps=2, early=2, n=20)
STARTS = {"converged": (0, 1), "early": (0, 1), "kicked, 0.03": (0.03, 1), "kicked, 0.1": (0.1, 1),
          "kicked, 0.3": (0.3, 1), "converged, 2400 steps": (0, 4),                # size of the kick, × steps
          "kicked, 0.008, SGD": (0.008, 36)}


def cells(seeds=SEEDS):
    """Converged, early and kicked starts."""
    return [dict(start=start, seed=seed) for start in STARTS for seed in seeds]


def run(cell, steps, early, n):
    """Before and after: how far attention depends on letters (mean distance from the mean map), balanced loss and
    accuracies."""
    seed = cell["seed"]
    if cell["start"] == "early":
        model = histogram.train("positional", seed, early, progress=False)
    else:
        model = load_weights("histogram-positional" + (f"-{seed}" if seed else "")).requires_grad_(True)
    free, ids, found = model.unfrozen(), histogram.sample(n, "balanced", 99), {}
    kick, times = STARTS[cell["start"]]
    torch.manual_seed(seed)
    free.W.data += torch.randn_like(free.W) * (1 - model.sees) * kick / free.W.shape[0] ** 0.5
    for when in ("before", "after"):
        with torch.no_grad():
            A = free.attention(ids)
            found[when] = {"depends": map_distance(A, A.mean(0).expand_as(A)), "loss": histogram.loss(free, ids).item(),
                           "swaps": histogram.swap_test(free, ids),
                           "freed": (free.W * (1 - model.sees)).norm().item()}
        if when == "before" and "SGD" in cell["start"]:
            descend(free, times * steps, seed)
        elif when == "before":
            histogram.fit(free, times * steps, seed, lr=5e-3, progress=False)
    return found


def descend(model, steps, seed, lr=5e-3):
    """Plain SGD on batches of 32, mixed as in training."""
    parts = [histogram.sample(steps * n, kind, seed).view(steps, n, -1)
             for kind, n in (("uniform", 8), ("balanced", 24))]
    optimizer = torch.optim.SGD(model.parameters(), lr)
    for ids in torch.cat(parts, 1):
        optimizer.zero_grad()
        histogram.loss(model, ids).backward()
        optimizer.step()


def report(records):
    """How far attention depends on letters, loss and accuracy, after; the accuracy swapped."""
    rows, order = [], list(STARTS)
    for (start,), found in grouped(sorted(records, key=lambda one: order.index(one["cell"]["start"])), "start").items():
        rows.append([start, *(mean_sd([one[when][name] for one in found])
                              for when in ("before", "after") for name in ("depends", "loss")),
                     *(mean_sd([one["after"]["swaps"][i] for one in found]) for i in (0, 1))])
    return rows, ["start", "depends, before", "loss, before", "depends, after", "loss, after", "right, after",
                  "right, swapped"]


def figure(records):
    """How far attention depends on the letters after training went on."""
    rows, _ = report(records)
    return bars([row[0] for row in rows], [float(row[3].split()[0]) for row in rows],
                "How far attention depends on the letters, after 600 free steps")
