"""Props. 4.1 and 4.2: the same word n times scores the same for every n, until [CLS] or positions are there

Leemann et al. prove it for one layer (Prop. 4.1) and for several (Cor. 4.2), without positions and without a token in
front, and call both of minor importance (section 4.3). Here the real architectures of `transformers` have random
weights, in double precision: how far the score moves over 30 lengths, against how far it moves from word to word.

Nothing is trained, so nothing is fitted: a proposition about all weights is tried on weights at random.

Out came: without both, equal scores to rounding (2·10⁻¹⁴ sd and less), in encoders and decoders of every depth. With a
[CLS] in front the score moves by 0.2 to 1.7 of these sd on average, with positions by 1.7 to 3.9. So they hold; that
what they leave out is minor cannot be said of all weights.
"""

import numpy as np
import torch

from coursekit.show.charts import lines

from .runner import SEEDS, grouped, mean_sd
from .trained import FAMILIES, untrained

SIZE = dict(longest=30)
TOY = dict(longest=3)
WORDS = [f"word{i}" for i in range(10)]
MEANS = "neither", "[CLS]", "positions", "both"


def cells(seeds=SEEDS):
    """Three families, one, two and six layers."""
    return [dict(family=family, layers=layers, seed=seed)
            for layers in (1, 2, 6) for family in FAMILIES for seed in seeds]


@torch.no_grad()
def run(cell, longest):
    """{means: {"scores" of 1 … longest times the word, "range" over lengths, "words": sd of words alone}}."""
    found = {}
    for means in MEANS:
        model = untrained(cell["family"], WORDS, cell["layers"], cell["seed"]).double()
        torch.manual_seed(cell["seed"])
        for weight in model.parameters():                             # far from the start, where attention is uniform
            weight.add_(0.2 * torch.randn_like(weight))
        if means not in ("positions", "both"):
            for name, weight in model.named_parameters():
                if "position_embeddings" in name or "wpe" in name:
                    weight.zero_()
        table = model.model.get_input_embeddings().weight
        front = table[[model.tokenizer.cls_token_id] * (means in ("[CLS]", "both"))]     # (1 or 0, d_e)
        ids = model.tokenizer.convert_tokens_to_ids(WORDS)
        scores = [model.from_embeddings(torch.cat([front, table[[ids[0]] * n]])).item() for n in range(1, longest + 1)]
        alone = [model.from_embeddings(torch.cat([front, table[[i]]])).item() for i in ids]
        found[means] = {"scores": scores, "range": np.ptp(scores), "words": np.std(alone)}
    return found


def report(records):
    """The range of the score over the lengths, in units of the sd from word to word."""
    rows = []
    for (family, layers), found in grouped(records, "family", "layers").items():
        share = [[numbers[means]["range"] / numbers[means]["words"] for numbers in found] for means in MEANS]
        rows.append([f"{family}, {layers}", f"{max(share[0]):.0e} at most", *map(mean_sd, share[1:])])
    return rows, ["family, layers", *MEANS]


def figure(records):
    """Scores over the length of two-layer models of one seed, from the score of the word alone."""
    first = next((r["numbers"] for r in records if r["cell"]["layers"] == 2), records[0]["numbers"])
    curves = {means: np.subtract(one["scores"], one["scores"][0]) / one["words"] for means, one in first.items()}
    return lines(np.arange(1, len(curves["both"]) + 1), curves, "times the word",
                 "score − score of one, in sd of words", "A BERT with two layers and random weights, one word n times")
