"""Beam search: keep the w likeliest beginnings at every step, and a record of the tree that this explores."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from .decoding import as_batch


class Candidate(NamedTuple):
    """One node of the tree: a beginning looked at in some step, one `token` longer than its parent.

    parent: its position in the list of the step before (None in the first step: the prompt); log_probability: of all
    its new tokens together, in nats; score: log_probability / length^α; fate: "kept" (a beam that the next step
    continues), "finished" (entered for the final result, where only the best w stay) or "dropped".
    """

    parent: int | None
    token: int
    log_probability: float
    score: float
    fate: str


class Hypothesis(NamedTuple):
    """A finished continuation: its new ids (an end-of-sequence id included), log-probability in nats, and score."""

    ids: list
    log_probability: float
    score: float


class BeamSearch(NamedTuple):
    """Up to w hypotheses, best score first, and the steps: for each new token its Candidates, likeliest first."""

    hypotheses: list
    steps: list


def beam_search(model: torch.nn.Module, prompt: Sequence | torch.Tensor, n: int, width: int, length_penalty=1.0,
                eos: int | None = None) -> BeamSearch | list[BeamSearch]:
    """The best continuations of `prompt` by up to n tokens that a beam of w = `width` beginnings finds: a BeamSearch.

    Each step continues the w beams by every token and looks at the 2w likeliest of these. One that ends in `eos`
    counts as finished if it is among the first w, otherwise it is dropped; of the others the first w go on. What has
    reached n tokens is finished as it is. The finished are ranked by

        score = log p(new tokens | prompt) / length^α,

    where α = `length_penalty` and the length counts the new tokens, `eos` included (α = 0 ranks by probability, α > 0
    helps longer ones). The best w of them stay. The search ends early once w are there and the worst of them scores no
    less than the likeliest beam does at its present length. With w = 1 it is greedy decoding. The best that it finds
    need not be the best there is.

    This is the search of Sutskever, Vinyals and Le (2014), with a simpler length penalty than that of Wu et al. (2016),
    in the variant of Hugging Face's `generate(num_beams=w, early_stopping=False)`, whose sequences and scores it
    reproduces. A batch of prompts gives a list with one BeamSearch each; they are searched one after another.

    >>> from coursekit.models import GPT2, GPT2Config
    >>> model = GPT2(GPT2Config(vocab_size=10, T_max=8, d_e=12, K=3, L=2))
    >>> found = beam_search(model, [1, 2, 3], n=4, width=2)
    >>> [len(hypothesis.ids) for hypothesis in found.hypotheses], [len(step) for step in found.steps]
    ([4, 4], [4, 4, 4, 4])
    """
    if width < 1:
        raise ValueError(f"width must be at least 1 beam, got {width}")
    rows, many = as_batch(model, prompt, n)
    searches = [_search(model, row, n, width, length_penalty, eos) for row in rows]
    return searches if many else searches[0]


def _search(model, prompt, n, width, alpha, eos):
    """beam_search for one prompt, a list of ids."""
    beams = torch.tensor([prompt])                                      # (w, T): at first only one
    log_p = torch.zeros(1)                                              # (w,), likeliest first
    place = [None]                                                      # where each beam is in the last step's list
    finished, steps, new, cache = [Hypothesis([], 0.0, 0.0)] if n == 0 else [], [], beams, None
    for length in range(1, n + 1):
        logits, cache = model.step(new, cache)
        total = log_p[:, None] + logits.log_softmax(-1)                 # (w, D)
        best, index = total.flatten().topk(min(2 * width, total.numel()))
        step, going_on = [], []
        for rank, (value, i) in enumerate(zip(best.tolist(), index.tolist(), strict=True)):
            beam, token = divmod(i, total.shape[1])
            score, fate = value / length ** alpha, "dropped"
            if token == eos or length == n:
                if rank < width:
                    fate = "finished"
                    finished.append(Hypothesis(beams[beam, len(prompt):].tolist() + [token], value, score))
            elif len(going_on) < width:
                fate = "kept"
                going_on.append(rank)
            step.append(Candidate(place[beam], token, value, score, fate))
        steps.append(step)
        finished = sorted(finished, key=lambda hypothesis: -hypothesis.score)[:width]
        full = len(finished) == width
        if not going_on or full and finished[-1].score >= step[going_on[0]].score:
            break
        parent, new, log_p = index[going_on] // total.shape[1], index[going_on, None] % total.shape[1], best[going_on]
        beams, cache, place = torch.cat([beams[parent], new], 1), cache.reorder(parent), going_on
    return BeamSearch(finished, steps)
