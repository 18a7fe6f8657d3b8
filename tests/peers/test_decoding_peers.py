"""Decoding beside transformers: the same sequences and scores from `generate`, the same filtered distributions."""

from functools import cache
from itertools import product

import pytest
import torch
import transformers
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coursekit.models import (
    GPT2,
    beam_search,
    greedy,
    log_probabilities,
    next_token_distribution,
    repetition,
    sample,
)
from coursekit.models.decoding import apply_rules

D, N = 17, 9
PAD = 0


def peer_model(seed):
    """A tiny random GPT-2 of transformers whose predictions differ from token to token."""
    torch.manual_seed(seed)
    config = transformers.GPT2Config(vocab_size=D, n_positions=40, n_embd=24, n_layer=2, n_head=3, pad_token_id=PAD,
                                     bos_token_id=None, eos_token_id=None, initializer_range=0.3)
    return transformers.GPT2LMHeadModel(config).eval()


def trained_model():
    """The same, trained on sentences of three to six words from a chain that may loop, each ended by token 1."""
    model = peer_model(0)
    g = torch.Generator().manual_seed(0)
    lengths = torch.randint(3, 7, (512, 1), generator=g)
    start = torch.randint(2, D, (512, 1), generator=g)
    walk = 2 + (start + torch.randint(1, 4, (512, 16), generator=g).cumsum(1)) % (D - 2)
    text = walk.where(torch.arange(16) % (lengths + 1) < lengths, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(60):
        batch = text[torch.randint(512, (32,), generator=g)]
        loss = model(batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 2.2                                                   # log 17 = 2.8: it did learn something
    return model.eval()


NAMES = ["random", "another", "trained"]


@cache
def peer(name):
    """transformers' model of that name."""
    return trained_model() if name == "trained" else peer_model(1 + NAMES.index(name))


@cache
def model(name):
    """Ours, with the same weights."""
    return GPT2.from_huggingface(peer(name))


def prompts(n, T, seed=0):
    return torch.randint(D, (n, T), generator=torch.Generator().manual_seed(seed))


def peer_generate(name, rows, **options):
    """transformers' generate for prompts of any lengths, padded on the left; how many columns the prompts take."""
    T = max(map(len, rows))
    ids = torch.tensor([[PAD] * (T - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (T - len(row)) + [1] * len(row) for row in rows])
    return peer(name).generate(ids, attention_mask=mask, max_new_tokens=N, return_dict_in_generate=True,
                                output_scores=True, pad_token_id=PAD, **options), T


def until(eos, row):
    return row[:row.index(eos) + 1] if eos in row else row


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("eos", [None, 1, 5, 9])
def test_greedy(name, eos):
    rows = [row[:1 + i % 7].tolist() for i, row in enumerate(prompts(24, 7))]
    theirs, T = peer_generate(name, rows, do_sample=False, eos_token_id=eos)
    scores = peer(name).compute_transition_scores(theirs.sequences, theirs.scores, normalize_logits=True)
    ours = greedy(model(name), rows, N, eos)
    assert ours == [until(eos, row) for row in theirs.sequences[:, T:].tolist()]
    for row, new, score in zip(rows, ours, scores, strict=True):
        torch.testing.assert_close(log_probabilities(model(name), row, new), score[:len(new)], atol=1e-5, rtol=1e-5)
        assert greedy(model(name), row, N, eos, use_cache=False) == new


# width, length penalty, eos; 12 beams look at more candidates than there are tokens at first
BEAMS = [(2, 1.0, None), (2, 1.0, 1), (3, 0.0, 1), (3, 0.7, 5), (4, 1.0, 1), (4, 2.0, 9), (5, -1.0, 1), (5, 0.3, 5),
         (8, 1.0, 1), (8, 1.5, 3), (12, 1.0, 1)]


def beam_prompts(width):
    return [row[:1 + i % 4].tolist() for i, row in enumerate(prompts(12, 4, seed=width))]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width, alpha, eos", BEAMS)
def test_beam_search(name, width, alpha, eos):
    rows = beam_prompts(width)
    theirs, T = peer_generate(name, rows, do_sample=False, num_beams=width, num_return_sequences=width,
                              length_penalty=alpha, early_stopping=False, eos_token_id=eos)
    sequences = [until(eos, row) for row in theirs.sequences[:, T:].tolist()]
    found = [h for result in beam_search(model(name), rows, N, width, alpha, eos) for h in result.hypotheses]
    assert len(found) == len(rows) * width
    torch.testing.assert_close(torch.tensor([h.score for h in found]), theirs.sequences_scores, atol=1e-5, rtol=1e-5)
    assert [h.ids for h in found] == sequences


def test_the_beam_searches_compared_are_worth_it():
    """Among them: hypotheses of every length, searches that stop early and that do not, finished ones displaced by
    better ones, and ends of sequence dropped because they come too low."""
    lengths, early, late, displaced, dropped = set(), 0, 0, 0, 0
    for name, (width, alpha, eos) in product(["random", "trained"], BEAMS[1:6]):
        for result in beam_search(model(name), beam_prompts(width), N, width, alpha, eos):
            candidates = [c for step in result.steps[:-1] for c in step]
            lengths |= {len(h.ids) for h in result.hypotheses}
            early += len(result.steps) < N
            late += len(result.steps) == N
            displaced += sum(c.fate == "finished" for c in candidates) > width
            dropped += any(c.token == eos and c.fate == "dropped" for c in candidates)
    assert lengths == set(range(1, N + 1)) and min(early, late, displaced, dropped) > 5


def filtered_by_peers(logits, temperature, k, mass):
    rules = transformers.LogitsProcessorList([
        transformers.TemperatureLogitsWarper(float(temperature)), transformers.TopKLogitsWarper(k),
        transformers.TopPLogitsWarper(mass)])
    return rules(None, logits[None])[0].softmax(-1)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10 ** 6), st.integers(2, 300), st.floats(0.05, 10), st.integers(1, 400), st.floats(0.01, 1),
       st.sampled_from([1, 5]))
def test_filtered_distributions(seed, size, temperature, k, mass, spread):
    logits = spread * torch.randn(size, generator=torch.Generator().manual_seed(seed))
    ours = apply_rules(logits, temperature, k, mass)
    cumulative = ours.top_k.sort(descending=True).values.cumsum(-1)
    assume((cumulative - mass).abs().min() > 1e-5 or mass == 1)         # the nucleus's edge is no matter of rounding
    torch.testing.assert_close(ours.top_p.float(), filtered_by_peers(logits, temperature, k, mass), atol=1e-6, rtol=0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(1, 40), st.sampled_from([0.5, 1, 3]))
def test_top_k_keeps_ties_as_they_do(logits, k, temperature):
    logits = torch.tensor(logits).float()
    ours = apply_rules(logits, temperature, k).top_p
    torch.testing.assert_close(ours.float(), filtered_by_peers(logits, temperature, k, 1.0), atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("temperature, top_k, top_p", [(0.7, 5, 0.8), (1.3, 0, 0.9), (2.0, 4, 1.0), (1.0, 0, 1.0)])
def test_the_distributions_that_generate_samples_from(name, temperature, top_k, top_p):
    """generate(do_sample=True) keeps the scores it drew from: ours after the same beginning are the same."""
    torch.manual_seed(0)
    rows = prompts(4, 3).tolist()
    theirs, T = peer_generate(name, rows, do_sample=True, eos_token_id=None, temperature=temperature, top_k=top_k,
                              top_p=top_p)
    for i, sequence in enumerate(theirs.sequences.tolist()):
        for t, scores in enumerate(theirs.scores):
            ours = next_token_distribution(model(name), sequence[:T + t], temperature, top_k or None, top_p).top_p
            torch.testing.assert_close(ours.float(), scores[i].softmax(-1), atol=1e-6, rtol=0)


def test_samples_are_as_likely_and_as_varied_as_theirs():
    """Mean log-probability and repetition of 300 samples, ours and theirs: within four standard errors."""
    torch.manual_seed(0)
    trained, rows = model("trained"), [[2]] * 300
    theirs, T = peer_generate("trained", rows, do_sample=True, eos_token_id=None, temperature=0.8, top_k=6, top_p=0.95)
    for measure in (lambda ids: log_probabilities(trained, [2], ids).sum(), lambda ids: repetition(ids, 1)):
        ours = torch.tensor([measure(ids) for ids in sample(trained, rows, N, 0.8, 6, 0.95)])
        others = torch.tensor([measure(ids) for ids in theirs.sequences[:, T:].tolist()])
        error = ((ours.var() + others.var()) / len(rows)).sqrt()
        assert (ours.mean() - others.mean()).abs() < 4 * error
