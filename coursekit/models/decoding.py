"""From next-token probabilities to text: greedy, sampling with temperature, top-k and nucleus, one loop for them all.

Everything works on token ids. A prompt is a list (or 1-D tensor) of ids, or a batch of prompts: a list of such lists,
of any lengths, or a 2-D tensor. What comes back are the *new* ids only, as a list (for a batch: a list of lists), the
end-of-sequence id included where `eos` stopped it. In a batch each prompt gets what it gets alone. The model is a GPT2,
or whatever has its `step(ids, cache, padding)` and `config`. Beam search is in beam.py.

GPT-2 knows T_max positions and no more. A prompt and n new tokens that do not fit are refused with a ValueError before
anything is computed; the text does not slide out of the window on its own.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

# 2³²/φ: from one row of a batch to the next, in seeds, of which torch's generator knows 2³². No fraction comes near the
# golden ratio, so rows of batches up to 65,536 coincide for no two seeds less than 50,000 apart (Knuth, 1973, 6.4).
STRIDE = 2_654_435_769

# -- the rules: which tokens may be drawn, and how likely --------------------------------------------------------------


def tempered_softmax(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    """Probabilities softmax(logits/τ) (..., D), in float64, of logits (..., D) (Ackley, Hinton and Sejnowski, 1985).

    τ < 1 sharpens, τ > 1 flattens; τ → 0 leaves the likeliest token alone, τ = ∞ makes all tokens equally likely.

    >>> logits = torch.tensor([2.0, 1.0])
    >>> [[round(p, 2) for p in tempered_softmax(logits, t).tolist()] for t in (0.1, 1, 10, float("inf"))]
    [[1.0, 0.0], [0.73, 0.27], [0.52, 0.48], [0.5, 0.5]]
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be positive, got {temperature}: its limit 0 is greedy decoding, use greedy")
    logits = logits.double()
    return ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)    # at most 0: nothing overflows


def keep_top_k(p: torch.Tensor, k: int) -> torch.Tensor:
    """Probabilities p (..., D) with only the k likeliest tokens left, rescaled to sum 1 (Fan, Lewis and Dauphin, 2018).

    Tokens as likely as the k-th stay as well; k > D keeps all.

    >>> [round(x, 3) for x in keep_top_k(torch.tensor([0.5, 0.2, 0.3]), 2).tolist()]
    [0.625, 0.0, 0.375]
    >>> [round(x, 3) for x in keep_top_k(torch.tensor([0.2, 0.6, 0.2]), 2).tolist()]      # a tie
    [0.2, 0.6, 0.2]
    """
    if k < 1:
        raise ValueError(f"top_k must be at least 1, got {k}: some token has to stay (None: keep all)")
    smallest = p.topk(min(k, p.shape[-1])).values[..., -1:]
    return _rescaled(p, p >= smallest)


def keep_nucleus(p: torch.Tensor, mass: float) -> torch.Tensor:
    """Probabilities p (..., D) with only the nucleus left, rescaled to sum 1 (Holtzman et al., ICLR 2020, section 3.1).

    The nucleus is the smallest set of likeliest tokens that holds at least `mass` of the probability; of tokens equally
    likely at its edge those with smaller ids are in it. mass = 1 keeps all.

    >>> [round(x, 3) for x in keep_nucleus(torch.tensor([0.1, 0.5, 0.3, 0.1]), 0.75).tolist()]
    [0.0, 0.625, 0.375, 0.0]
    """
    if not 0 < mass <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {mass}: it is a share of the probability")
    if mass == 1:
        return p
    ordered, token = p.sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(-1) - ordered                               # what the likelier tokens hold already
    inside = torch.empty_like(before, dtype=torch.bool).scatter_(-1, token, before < mass)
    return _rescaled(p, inside)


def _rescaled(p, mask):
    p = p.where(mask, 0)
    return p / p.sum(-1, keepdim=True)


class NextToken(NamedTuple):
    """The distribution of the next token (..., D) after each rule, in their order; a token is kept where it is > 0.

    pure: the model's own; tempered: after the temperature; top_k: after top-k as well; top_p: after all three, which
    is what `sample` draws from. A rule that was not asked for changes nothing.
    """

    pure: torch.Tensor
    tempered: torch.Tensor
    top_k: torch.Tensor
    top_p: torch.Tensor


def apply_rules(logits: torch.Tensor, temperature=1.0, top_k: int | None = None,
                top_p: float | None = None) -> NextToken:
    """What the rules make of logits (..., D), as a NextToken: temperature, then top-k, then the nucleus of the rest.

    >>> rules = apply_rules(torch.tensor([3.0, 2.0, 1.0, 0.0]), temperature=2, top_k=3, top_p=0.8)
    >>> [(p > 0).sum().item() for p in rules]                           # tokens kept so far
    [4, 4, 3, 2]
    """
    pure = tempered_softmax(logits, 1)
    tempered = tempered_softmax(logits, temperature)
    few = tempered if top_k is None else keep_top_k(tempered, top_k)
    return NextToken(pure, tempered, few, few if top_p is None else keep_nucleus(few, top_p))


def next_token_distribution(model: torch.nn.Module, ids: Sequence[int] | torch.Tensor, temperature=1.0,
                            top_k: int | None = None, top_p: float | None = None) -> NextToken:
    """The distribution of the token after ids (T,), after each rule: a NextToken of four float64 tensors (D,).

    Raises ValueError for ids that are empty, unknown to the model or longer than its context.

    >>> from coursekit.models import GPT2, GPT2Config
    >>> model = GPT2(GPT2Config(vocab_size=10, T_max=8, d_e=12, K=3, L=2))
    >>> _ = model.W_e.data.zero_()                                         # a model that knows nothing
    >>> [round(p, 3) for p in next_token_distribution(model, [1, 2]).pure.tolist()[:3]]
    [0.1, 0.1, 0.1]
    """
    logits, _ = model.step(torch.tensor([as_sequence(model, ids, n=1)]))
    return apply_rules(logits[0], temperature, top_k, top_p)


# -- the loop, and what it is called with ------------------------------------------------------------------------------


def as_batch(model, prompt, n):
    """(rows, many): the prompts as lists of ids, and whether the caller gave a batch. Checks that n new tokens fit.

    Raises ValueError or TypeError, in one line, for an empty prompt, ids outside the vocabulary, n below 0, or more
    tokens than the model has positions. The last new token is never read, so T + n − 1 positions are enough.
    """
    prompt = prompt.tolist() if hasattr(prompt, "tolist") else prompt
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in prompt]
    many = bool(rows) and all(isinstance(row, (list, tuple)) for row in rows)
    rows = [list(row) for row in rows] if many else [rows]
    T_max, D = model.config.T_max, model.config.vocab_size
    for row in rows:
        if not row:
            raise ValueError("the prompt is empty: a model continues something, give it at least one token, such as "
                             "the end-of-sequence id")
        for i in row:
            if type(i) is not int:
                raise TypeError(f"a prompt is a list of token ids, got {i!r} in it: encode the text first")
            if not 0 <= i < D:
                raise ValueError(f"token id {i} is not in the model's vocabulary of {D} (ids 0 to {D - 1})")
    longest = max(map(len, rows))
    if n < 0:
        raise ValueError(f"n must be 0 or more new tokens, got {n}")
    if longest > T_max:
        raise ValueError(f"the prompt has {longest} tokens, the model's context only {T_max}: keep prompt[-{T_max}:]")
    if longest + n - 1 > T_max:
        raise ValueError(f"{n} new tokens after a prompt of {longest} do not fit the model's context of {T_max}: "
                         f"ask for at most {T_max - longest + 1}, or shorten the prompt")
    return rows, many


def as_sequence(model, ids, n):
    """The ids as a list, checked by `as_batch`; a ValueError if they are a batch."""
    rows, many = as_batch(model, ids, n)
    if many:
        raise ValueError("expected one sequence of ids, got a batch: make one call for each of them")
    return rows[0]


def generate(model: torch.nn.Module, prompt: Sequence | torch.Tensor, n: int, choose: Callable, eos: int | None = None,
             use_cache=True) -> list[int] | list[list[int]]:
    """Up to n new ids after `prompt`, one at a time: the loop of `greedy` and `sample`, for any rule of your own.

    choose(logits (n_rows, D), t, rows) -> the ids (n_rows,) of new token number t = 0, 1, …, as a tensor. rows: the ids
    of each prompt and of what was made after it so far, a list of lists, for rules that look back. A row ends with its
    first `eos`. With `use_cache` each step reads one new token and finds the keys and values of the earlier ones in the
    cache; without, it reads everything again. Both give the same, up to rounding.

    >>> from coursekit.models import GPT2, GPT2Config
    >>> model = GPT2(GPT2Config(vocab_size=10, T_max=8, d_e=12, K=3, L=2))
    >>> def never_twice(logits, t, rows):
    ...     for row_logits, row in zip(logits, rows):
    ...         row_logits[row] = -torch.inf
    ...     return logits.argmax(-1)
    >>> len({1, 2, 3, *generate(model, [1, 2, 3], 5, never_twice)})
    8
    """
    rows, many = as_batch(model, prompt, n)
    lengths, longest = [len(row) for row in rows], max(map(len, rows))
    missing = [longest - length for length in lengths]                  # filled up on the left, by any token
    padding = torch.tensor(missing) if any(missing) else None
    ids = torch.tensor([[0] * pad + row for pad, row in zip(missing, rows, strict=True)])       # (n_rows, T)
    ended = torch.zeros(len(rows), dtype=torch.bool)
    new, cache = ids, None
    for t in range(n):
        logits, cache = model.step(new, cache, padding) if use_cache else model.step(ids, None, padding)
        new = choose(logits, t, rows)[:, None]                          # (n_rows, 1)
        ids = torch.cat([ids, new], 1)
        for row, (token,) in zip(rows, new.tolist(), strict=True):
            row.append(token)
        if eos is not None:
            ended |= new[:, 0] == eos
            if ended.all():
                break
    made = [row[length:] for row, length in zip(rows, lengths, strict=True)]
    made = [row[:row.index(eos) + 1] if eos in row else row for row in made]
    return made if many else made[0]


def greedy(model: torch.nn.Module, prompt: Sequence | torch.Tensor, n: int, eos: int | None = None,
           use_cache=True) -> list[int] | list[list[int]]:
    """Up to n new ids, each the likeliest after what came before (of equally likely ones the smallest id).

    >>> from coursekit.models import GPT2, GPT2Config
    >>> model = GPT2(GPT2Config(vocab_size=10, T_max=8, d_e=12, K=3, L=2))
    >>> len(greedy(model, [1, 2, 3], n=5)), greedy(model, [1, 2, 3], n=0)
    (5, [])
    """
    return generate(model, prompt, n, lambda logits, t, rows: logits.argmax(-1), eos, use_cache)


def sample(model: torch.nn.Module, prompt: Sequence | torch.Tensor, n: int, temperature=1.0, top_k: int | None = None,
           top_p: float | None = None, seed=0, eos: int | None = None) -> list[int] | list[list[int]]:
    """Up to n new ids, each drawn from the distribution that `apply_rules` leaves. All defaults: pure sampling.

    Same seed, same ids, on every call. Row i of a batch draws from its own stream: it equals
    sample(…, prompt i, seed=seed + i * STRIDE), so the rows of [prompt] * 5 are five different samples, and batches of
    two seeds that are neighbours share no stream. A larger n continues what a smaller one began. (With and without
    cache, alone and in a batch, the probabilities agree up to rounding; a draw that falls within rounding of the border
    between two tokens could tell.)

    >>> from coursekit.models import GPT2, GPT2Config
    >>> model = GPT2(GPT2Config(vocab_size=10, T_max=8, d_e=12, K=3, L=2))
    >>> sample(model, [1, 2], n=5, seed=3) == sample(model, [1, 2], n=5, seed=3)
    True
    >>> sample(model, [1, 2], n=5, top_k=1) == greedy(model, [1, 2], n=5)  # one token to draw from
    True
    """
    rows, _ = as_batch(model, prompt, n)
    streams = [torch.Generator().manual_seed(seed + i * STRIDE) for i in range(len(rows))]
    u = torch.stack([torch.rand(n, generator=stream, dtype=torch.float64) for stream in streams])    # (n_rows, n)

    def choose(logits, t, rows):
        """The first token at which the cumulative probability passes u: never one whose probability is 0."""
        cumulative = apply_rules(logits, temperature, top_k, top_p).top_p.cumsum(-1)
        return torch.searchsorted(cumulative, u[:, t, None] * cumulative[:, -1:], right=True)[:, 0]

    return generate(model, prompt, n, choose, eos)


# -- how likely, and how repetitive, a text is -------------------------------------------------------------------------


@torch.no_grad()
def log_probabilities(model: torch.nn.Module, prompt: Sequence[int] | torch.Tensor,
                      ids: Sequence[int] | torch.Tensor) -> torch.Tensor:
    """log p(token | all before it), in nats, of each of the ids (n,) that follow `prompt` (T,): a tensor (n,).

    Its sum is what beam search makes large; −mean is the cross-entropy of the text, and exp(−mean) its perplexity.

    >>> from coursekit.models import GPT2, GPT2Config
    >>> model = GPT2(GPT2Config(vocab_size=10, T_max=8, d_e=12, K=3, L=2))
    >>> _ = model.W_e.data.zero_()                                         # ten words, all equally likely: −log 10
    >>> [round(value, 3) for value in log_probabilities(model, [1, 2], [3, 4]).tolist()]
    [-2.303, -2.303]
    """
    prompt = as_sequence(model, prompt, len(ids))
    if len(ids) == 0:
        return torch.zeros(0)
    ids = as_sequence(model, ids, 0)
    logits = model(torch.tensor([prompt + ids[:-1]]))[0, len(prompt) - 1:]         # (n, D): the row before each token
    return logits.log_softmax(-1).gather(-1, torch.tensor(ids)[:, None])[:, 0]


def repetition(tokens: Sequence, n=4) -> float:
    """Share of the n-grams of a text that are repeats: 1 − distinct n-grams / all n-grams.

    0: every n-gram is new; near 1: a loop. This is seq-rep-n of Welleck et al. (ICLR 2020, "Neural text generation with
    unlikelihood training"), a measure of the degeneration that Holtzman et al. (ICLR 2020) describe; 1 minus it is
    distinct-n (Li et al., 2016). `tokens` are ids or words; a text of fewer than n has nothing to repeat: 0.

    >>> repetition("to be or not to be that is".split(), n=2)           # 7 pairs, of which one is a repeat
    0.1428571428571429
    """
    if n < 1:
        raise ValueError(f"n must be at least 1 (the length of an n-gram), got {n}")
    grams = [tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0
