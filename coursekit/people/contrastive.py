"""Why this word and not that one? Gradients of a language model's next word, alone or against a foil.

A classifier has one score, a language model a logit for each word. The one of the word that it wrote says little: much
of what raises it raises every word of its kind. Asked "why *target* rather than *foil*", what both share cancels
(Yin and Neubig, EMNLP 2022). Of a text that is generated, each new token has such an explanation of its own.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from coursekit.explain.asking import require_methods
from coursekit.explain.attribution import Attribution
from coursekit.explain.gradients import REDUCE, slopes
from coursekit.models.decoding import as_sequence
from coursekit.show import heatmap


def contrastive_gradient(model: torch.nn.Module, ids: Sequence[int] | torch.Tensor, target: int,
                         foil: int | None = None, reduce="l1") -> Attribution:
    """The gradient of logit(target) − logit(foil), as the token after ids (T,), at each word's embedding: Attribution.

    model: a GPT2 with a `tokenizer`; target, foil: ids of words. Without a foil: of logit(target) alone.
    reduce: "l1", the contrastive gradient norm (Yin and Neubig, EMNLP 2022, section 3), or "l2", both unsigned;
    "input": times the word's embedding (its position is no part of it), signed: positive speaks for the target.
    Log-probabilities in place of logits give the same difference, for what they subtract is common to both words.
    Raises ValueError, in one line, for ids or words that the model does not know, and for a foil that is the target,
    TypeError for language models of another make.

    >>> from coursekit.models import load_weights
    >>> model = load_weights("dialogue-gpt")
    >>> ids = model.tokenizer.encode("my sister's plan is ready .")
    >>> she, he = model.tokenizer.encode("she he")
    >>> contrastive_gradient(model, ids, she, he, "input").top(1)[0][0]
    "sister's"
    """
    _check_opens(model, "contrastive_gradient")
    ids, words = as_sequence(model, ids, 1), as_sequence(model, [target] if foil is None else [target, foil], 0)
    if reduce not in ("l1", "l2", "input") or target == foil:
        raise ValueError(f"expected two words and reduce 'l1', 'l2' or 'input', got {target}, {foil} and {reduce!r}")
    e = model.W_e[ids].detach()                                                                     # (T, d_e)
    sequence = torch.tensor([ids], device=e.device)

    def difference(points):                                                                         # (1, T, d_e)
        with model.editing(0, lambda x, _: points + model.W_p[:x.shape[1]]):
            logits = model(sequence)[:, -1, words]
        return logits[:, 0] - (logits[:, 1] if foil is not None else 0)

    g = slopes(difference, e[None])[0]
    scores = (g * e).sum(-1) if reduce == "input" else REDUCE[reduce](g)
    tokens, names = ([model.tokenizer.tokens[i] for i in of] for of in (ids, words))
    return Attribution(tokens, scores.cpu().double().numpy(),
                       f"why {' rather than '.join(names)}?", about=dict(words=words), signed=reduce == "input")


def _check_opens(model, explainer):
    require_methods(model, "W_e", "editing", "tokenizer", explainer=explainer,
                    instead="take coursekit's GPT2, such as GPT2.from_huggingface(model), and set its `tokenizer`")


class GeneratedAttributions(NamedTuple):
    """Each new token of a sequence explained by all before it. `rows`: an Attribution each, a token longer than the one
    above it; tokens: all T of the sequence; `scores`: (n, T), zero where a row has not read so far. Shows itself as a
    map, a row for each new token.

    >>> rows = [Attribution(["a"], [1], "why b?"), Attribution(["a", "b"], [2, 3], "why c?")]
    >>> GeneratedAttributions(rows, ["a", "b", "c"]).scores.tolist()
    [[1.0, 0.0, 0.0], [2.0, 3.0, 0.0]]
    """

    rows: list
    tokens: list

    @property
    def scores(self):
        """(n, T), a row for each new token."""
        return np.stack([np.pad(row.scores, (0, len(self.tokens) - len(row))) for row in self.rows])

    def plot(self, title=None):
        """The scores as a map, each row divided by its largest size: what a token hangs on, not how much."""
        scores = self.scores / np.abs(self.scores).max(1, keepdims=True).clip(min=1e-30)
        mask = [[j < len(row) for j in range(len(self.tokens))] for row in self.rows]
        return heatmap(scores, [row.method for row in self.rows], self.tokens, title, mask,
                       "written", "tokens read", "share of the row's largest")

    def _repr_html_(self):
        return self.plot().html


def generated_attributions(model: torch.nn.Module, ids: Sequence[int] | torch.Tensor, start: int,
                           foils: Sequence[int | None] | None = None) -> GeneratedAttributions:
    """GeneratedAttributions of the tokens ids[start:]: why each of them, after all before it?

    foils: an id each, None where there is none; unless given, the likeliest other token at that place.
    Source: a row for each generated token, as Inseq shows it (Sarti et al., ACL demonstrations 2023).

    >>> from coursekit.models import greedy, load_weights
    >>> model = load_weights("dialogue-gpt")
    >>> prompt = [model.tokenizer.cls_id, *model.tokenizer.encode("is my plan ready ?")]
    >>> written = generated_attributions(model, prompt + greedy(model, prompt, 3), len(prompt))
    >>> [len(row) for row in written.rows]
    [6, 7, 8]
    """
    _check_opens(model, "generated_attributions")
    ids = as_sequence(model, ids, 0)
    if start not in range(1, len(ids)):
        raise ValueError(f"start must be from 1 to {len(ids) - 1}, with something before it and behind, got {start}")
    if foils is None:
        with torch.no_grad():
            logits = model(torch.tensor([ids], device=model.W_e.device))[0, start - 1:-1].cpu()     # (n, D)
        logits[torch.arange(len(logits)), ids[start:]] = -torch.inf
        foils = logits.argmax(-1).tolist()
    rows = [contrastive_gradient(model, ids[:t], ids[t], foil)
            for t, foil in zip(range(start, len(ids)), foils, strict=True)]
    return GeneratedAttributions(rows, [model.tokenizer.tokens[i] for i in ids])
