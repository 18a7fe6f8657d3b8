"""Prop. 5.1: a transformer whose weights are set by hand is a SLALOM, to rounding

Equations 29 to 43 with d_e = 3: a word is e = (s, v, 0), its key (s, 0, 0), its value (0, 0, v); queries are (√3, 0, 0)
by a bias, the MLP is zero, and the third number is read. More heads attend and say nothing; a second layer adds
nothing. An encoder is read in its first row, a decoder in its last.

The paper's transformer has no layer norm, and real ones do: "normed" has one before the readout. A constant c in the
embedding, beside what is there and all of it with the other sign too, keeps its divisor almost the same for all rows.

Out came: the SLALOM to 10⁻¹⁵ on sequences of 1, 2, 10 and 100 words. With the layer norm the error is 0.2 for c = 10, a
third of F's sd, and falls as 1/c²: exact in the limit only.
"""

import numpy as np
import torch

from coursekit.explain import Slalom, random_sequences
from coursekit.models import causal_mask, scaled_dot_product_attention
from coursekit.show.charts import lines

from .runner import SEEDS, grouped, mean_sd

SIZE = dict(n_words=50, n_samples=200, longest=100)
TOY = dict(n_words=3, n_samples=5, longest=4)
CONSTANTS = 10, 100, 1000, 10_000


def cells(seeds=SEEDS):
    """Encoder and decoder, one and two layers, one and four heads."""
    return [dict(kind=kind, layers=layers, heads=heads, seed=seed) for kind in ("encoder", "decoder")
            for layers in (1, 2) for heads in (1, 4) for seed in seeds]


def by_hand(slalom, kind, layers, heads, c=None):
    """predict(documents) -> (n,) of the transformer that is this SLALOM; c: with a layer norm, and this constant.

    >>> slalom = Slalom(["good", "film"], [1, -1], [2, 0])
    >>> documents = [["good", "film"], ["film", "film", "good"]]
    >>> bool(np.allclose(by_hand(slalom, "decoder", 2, 4)(documents), slalom.predict(documents), atol=1e-14))
    True
    """
    E = torch.zeros(len(slalom.tokens), 3, dtype=torch.float64)                   # Eq. 29, and a place for the answer
    E[:, 0], E[:, 1] = torch.tensor(slalom.importances), torch.tensor(slalom.values)
    W_k, W_v, b_q = torch.zeros(3, 3, dtype=E.dtype), torch.zeros(3, 3, dtype=E.dtype), torch.zeros(3, dtype=E.dtype)
    W_k[0, 0], W_v[1, 2], b_q[0] = 1, 1, 3**0.5                                   # Eqs. 30, 37 and 33, for d_att = 3
    silent = torch.zeros_like(W_v)
    place = {token: i for i, token in enumerate(slalom.tokens)}

    def one(document):
        x = E[[place[token] for token in document]]                               # (T, 3)
        mask = causal_mask(len(x)) if kind == "decoder" else None
        for layer in range(layers):
            for head in range(heads):
                says = W_v if layer == head == 0 else silent
                x = x + scaled_dot_product_attention(b_q.expand_as(x), x @ W_k, x @ says, mask)[0]
        row = x[-1 if kind == "decoder" else 0]
        if c is None:
            return row[2].item()
        wide = torch.cat([row, -row, torch.tensor([c, -c], dtype=E.dtype)])       # its mean is 0
        return (wide / wide.std(correction=0))[2].item() * c / 2                  # the sd is c/2 as far as c is large

    return lambda documents: np.array([one(document) for document in documents])


def run(cell, n_words, n_samples, longest):
    """{"error": largest |difference| on new sequences, by length; "scale": sd of the SLALOM; "normed": by c}."""
    random = np.random.default_rng(cell["seed"])
    words = [f"word{i}" for i in range(n_words)]
    truth = Slalom(words, random.normal(0, 2, n_words), random.normal(0, 1, n_words))
    setting = cell["kind"], cell["layers"], cell["heads"]
    predict, found, every = by_hand(truth, *setting), {}, []
    for n in sorted({1, 2, 10, longest}):
        documents = random_sequences(words, n_samples, n, seed=cell["seed"])
        found[n] = np.abs(predict(documents) - truth.predict(documents)).max()
        every += documents
    y = truth.predict(every)
    normed = {c: np.abs(by_hand(truth, *setting, c)(every) - y).max() for c in CONSTANTS}
    return {"error": found, "scale": y.std(), "normed": normed}


def report(records):
    """The largest errors on sequences of every length."""
    rows = [[f"{kind}, {layers} and {heads}", mean_sd([one["scale"] for one in found], 2),
             f"{max(max(one['error'].values()) for one in found):.0e}",
             *(f"{max(one['normed'][str(c)] for one in found):.0e}" for c in CONSTANTS)]
            for (kind, layers, heads), found in grouped(records, "kind", "layers", "heads").items()]
    return rows, ["kind, layers and heads", "sd of F", "largest error", *(f"normed, c = {c}" for c in CONSTANTS)]


def figure(records):
    """The error with a layer norm over the constant."""
    curves = {kind: np.log10([max(one["normed"][str(c)] for one in found) for c in CONSTANTS])
              for (kind,), found in grouped(records, "kind").items()}
    return lines(np.log10(CONSTANTS), curves, "log₁₀ c", "log₁₀ of the largest error", "With a layer norm")
