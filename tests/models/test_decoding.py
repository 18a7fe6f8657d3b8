"""Decoding: what each rule keeps; one loop, cached or not, alone and in a batch; the tree of a beam search."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.models import (
    GPT2,
    GPT2Config,
    beam_search,
    generate,
    greedy,
    keep_nucleus,
    keep_top_k,
    log_probabilities,
    next_token_distribution,
    repetition,
    sample,
    tempered_softmax,
)
from coursekit.models.decoding import STRIDE, apply_rules

D, T_MAX = 13, 24
BATCH = [[1, 2, 3], [4], [5, 6, 7, 8, 9, 10], [11, 12]]


def random_model(seed=0, D=D, T_max=T_MAX):
    """A tiny GPT-2 with weights large enough that its predictions differ from token to token."""
    torch.manual_seed(seed)
    model = GPT2(GPT2Config(vocab_size=D, T_max=T_max, d_e=24, K=3, L=2)).eval()
    for weight in model.parameters():
        if weight.dim() == 2:
            torch.nn.init.normal_(weight, std=0.3)
    return model


MODEL = random_model()
logits_lists = st.lists(st.floats(-20, 20, width=32), min_size=1, max_size=20)


# -- the rules ---------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(logits_lists, st.floats(0.05, 20), st.integers(1, 25), st.floats(0.01, 1))
def test_each_rule_keeps_what_it_says(logits, temperature, k, mass):
    rules = apply_rules(torch.tensor(logits), temperature, k, mass)
    pure, tempered, top_k, top_p = (p.tolist() for p in rules)
    for p in rules:
        assert p.dtype == torch.float64 and abs(p.sum().item() - 1) < 1e-12
    torch.testing.assert_close(rules.tempered, (torch.tensor(logits).double() / temperature).softmax(-1))
    torch.testing.assert_close(rules.pure, torch.tensor(logits).double().softmax(-1))

    order = sorted(range(len(logits)), key=lambda i: (-tempered[i], i))
    edge = tempered[order[min(k, len(logits)) - 1]]
    assert [p > 0 for p in top_k] == [p >= edge and p > 0 for p in tempered]

    order = sorted(range(len(logits)), key=lambda i: (-top_k[i], i))
    kept = [i for i in order if top_p[i] > 0]
    assert kept == order[:len(kept)]                                    # the likeliest ones …
    assert sum(top_k[i] for i in kept) >= mass - 1e-9                   # … hold enough …
    assert mass == 1 or sum(top_k[i] for i in kept[:-1]) < mass + 1e-9  # … and without the last would not

    for before, after in ((tempered, top_k), (top_k, top_p)):           # among the kept, odds stay what they were
        total = sum(p for p, q in zip(before, after, strict=True) if q > 0)
        assert all(abs(q - p / total) < 1e-12 for p, q in zip(before, after, strict=True) if q > 0)


def test_limits_of_the_temperature():
    logits = torch.tensor([1.0, 3.0, 2.0, 3.0 - 1e-6])
    for cold in (1e-9, 1e-30, 1e-320):
        assert tempered_softmax(logits, cold).tolist() == [0, 1, 0, 0]
    for hot in (1e9, math.inf):
        torch.testing.assert_close(tempered_softmax(logits, hot), torch.full((4,), 0.25, dtype=torch.float64))
    assert tempered_softmax(torch.tensor([1000.0, -1000.0]), 1e-3).tolist() == [1, 0]


def test_ties():
    p = torch.full((6,), 1 / 6, dtype=torch.float64)
    torch.testing.assert_close(keep_top_k(p, 2), p)                     # all are as likely as the second
    assert keep_nucleus(p, 0.4).nonzero().flatten().tolist() == [0, 1, 2]
    torch.testing.assert_close(keep_top_k(p, 100), p)
    assert torch.equal(keep_nucleus(p, 1), p)


@pytest.mark.parametrize("mass, kept", [(0.49, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.76, 3), (0.875, 3), (0.88, 4)])
def test_the_nucleus_is_full_as_soon_as_it_holds_enough(mass, kept):
    p = torch.tensor([0.125, 0.5, 0.125, 0.25], dtype=torch.float64)
    assert keep_nucleus(p, mass).nonzero().flatten().tolist() == sorted([1, 3, 0, 2][:kept])


def test_rules_work_row_by_row():
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0))
    together = apply_rules(logits, 0.7, 4, 0.8)
    for i, j in product(range(2), range(3)):
        for all_rows, row in zip(together, apply_rules(logits[i, j], 0.7, 4, 0.8), strict=True):
            torch.testing.assert_close(all_rows[i, j], row)


def test_next_token_distribution_is_the_models():
    ids = [3, 1, 4, 1, 5]
    rules = next_token_distribution(MODEL, ids, temperature=2, top_k=5, top_p=0.6)
    p = MODEL(torch.tensor([ids]))[0, -1].detach().double().softmax(-1)
    torch.testing.assert_close(rules.pure, p, atol=1e-6, rtol=0)
    assert torch.equal(rules.top_p, next_token_distribution(MODEL, torch.tensor(ids), 2, 5, 0.6).top_p)
    assert (rules.top_k > 0).sum() == 5 and 0 < (rules.top_p > 0).sum() < 5
    untouched = next_token_distribution(MODEL, ids)
    assert all(torch.equal(p, untouched.pure) for p in untouched)


# -- the loop ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[[1, 2, 3]], BATCH])
def test_cached_logits_equal_uncached_on_every_step(rows):
    seen = {True: [], False: []}
    for use_cache, logits_seen in seen.items():
        def choose(logits, t, rows):
            logits_seen.append(logits)
            return logits.argmax(-1)

        generate(MODEL, rows, 12, choose, use_cache=use_cache)
    assert len(seen[True]) == len(seen[False]) == 12
    for cached, uncached in zip(seen[True], seen[False], strict=True):
        torch.testing.assert_close(cached, uncached, atol=1e-5, rtol=0)


@pytest.mark.parametrize("use_cache", [True, False])
def test_greedy_is_the_argmax_of_a_plain_forward_pass(use_cache):
    ids = [2, 7, 1]
    new = greedy(MODEL, ids, 12, use_cache=use_cache)
    for token in new:
        assert token == MODEL(torch.tensor([ids]))[0, -1].argmax()
        ids = ids + [token]
    assert len(set(new)) > 1


class Rereads:
    """MODEL without a cache: what it remembers are the ids, which it reads again at each step."""

    config = MODEL.config

    class Memory:
        def __init__(self, ids, padding):
            self.ids, self.padding = ids, padding

        def reorder(self, index):
            return Rereads.Memory(self.ids[index], None if self.padding is None else self.padding[index])

    def step(self, ids, cache=None, padding=None):
        if cache is not None:
            ids, padding = torch.cat([cache.ids, ids], 1), cache.padding
        return MODEL.step(ids, None, padding)[0], self.Memory(ids, padding)


DECODERS = {
    "greedy": greedy,
    "pure": sample,
    "all rules": lambda *args, **more: sample(*args, temperature=1.5, top_k=8, top_p=0.9, **more),
    "beam": lambda *args, **more: beam_search(*args, width=3, **more),
}


def same(found, other):
    """Equal ids; for beam searches also equal trees, up to rounding."""
    if not hasattr(found, "steps"):
        return found == other
    return ([h.ids for h in found.hypotheses] == [h.ids for h in other.hypotheses]
            and [[c[:2] + c[4:] for c in step] for step in found.steps]
            == [[c[:2] + c[4:] for c in step] for step in other.steps]
            and np.allclose([h.score for h in found.hypotheses], [h.score for h in other.hypotheses], atol=1e-5))


@pytest.mark.parametrize("eos", [None, 0, 3])
@pytest.mark.parametrize("name", DECODERS)
def test_cache_batch_and_repetition_change_nothing(name, eos):
    decode = DECODERS[name]
    together = decode(MODEL, BATCH, 10, eos=eos)
    assert len(together) == len(BATCH)
    for i, (prompt, found) in enumerate(zip(BATCH, together, strict=True)):
        seed = {"seed": i * STRIDE} if name in ("pure", "all rules") else {}
        assert same(decode(MODEL, prompt, 10, eos=eos, **seed), found)
        assert same(decode(Rereads(), prompt, 10, eos=eos, **seed), found)
    for again in (decode(MODEL, BATCH, 10, eos=eos), decode(Rereads(), BATCH, 10, eos=eos)):
        assert all(map(same, together, again))


@pytest.mark.parametrize("name", DECODERS)
def test_forms_of_a_prompt(name):
    decode = DECODERS[name]
    one = decode(MODEL, [1, 2, 3], 5)
    for prompt in ((1, 2, 3), torch.tensor([1, 2, 3]), np.array([1, 2, 3]), list(torch.tensor([1, 2, 3]))):
        assert same(decode(MODEL, prompt, 5), one)
    for prompts in ([[1, 2, 3]], torch.tensor([[1, 2, 3]]), [torch.tensor([1, 2, 3])], ((1, 2, 3),)):
        [only] = decode(MODEL, prompts, 5)
        assert same(only, one)


@pytest.mark.parametrize("decode", [greedy, sample])
def test_stops_after_the_first_end_of_sequence(decode):
    free = decode(MODEL, BATCH, 15)
    mixed = 0
    for eos in range(D):
        assert decode(MODEL, BATCH, 15, eos=eos) == [row[:row.index(eos) + 1] if eos in row else row for row in free]
        mixed += 0 < sum(eos in row[:-1] for row in free) < len(BATCH)
    assert mixed                                                        # some rows ended early while others went on


def test_nobody_is_asked_once_all_rows_have_ended():
    steps = []

    def row_i_ends_at_step_i(logits, t, rows):
        steps.append(t)
        return (torch.arange(len(rows)) > t).long()                     # 1 before its end, from then on 0

    assert generate(MODEL, BATCH, 15, row_i_ends_at_step_i, eos=0) == [[1] * i + [0] for i in range(len(BATCH))]
    assert steps == [*range(len(BATCH))]


def test_a_rule_of_ones_own():
    steps = []

    def second_likeliest(logits, t, rows):
        steps.append(t)
        return logits.topk(2).indices[:, 1]

    [first, *_] = generate(MODEL, [1, 2], 4, second_likeliest)
    assert steps == [0, 1, 2, 3] and first == next_token_distribution(MODEL, [1, 2]).pure.topk(2).indices[1]


@pytest.mark.parametrize("use_cache", [True, False])
def test_a_rule_that_looks_back_sees_the_ids_of_its_row_alone(use_cache):
    """No pair of tokens twice, for prompts of several lengths: each is what it is alone, no padding in what is seen."""
    seen = []

    def no_pair_twice(logits, t, rows):
        seen.append([list(row) for row in rows])
        for row_logits, row in zip(logits, rows, strict=True):
            row_logits[[after for before, after in pairwise(row) if before == row[-1]]] = -torch.inf
        return logits.argmax(-1)

    prompts = [[0, 7, 0], [2], [5, 1, 5, 1, 5]]
    made = generate(MODEL, prompts, 8, no_pair_twice, use_cache=use_cache)
    assert seen[0] == prompts and seen[-1] == [prompt + new[:7] for prompt, new in zip(prompts, made, strict=True)]
    assert made == [generate(MODEL, prompt, 8, no_pair_twice) for prompt in prompts]
    for prompt, new in zip(prompts, made, strict=True):
        pairs = list(pairwise(prompt + new))[len(prompt) - 1:]
        assert len(set(pairs)) == len(pairs)
    assert prompts == [[0, 7, 0], [2], [5, 1, 5, 1, 5]]


# -- sampling ----------------------------------------------------------------------------------------------------------


def test_samples_follow_the_distribution():
    n = 4000
    p = next_token_distribution(MODEL, [5, 4], temperature=3, top_k=6, top_p=0.9).top_p
    tokens = [row[0] for row in sample(MODEL, [[5, 4]] * n, 1, temperature=3, top_k=6, top_p=0.9)]
    share = torch.bincount(torch.tensor(tokens), minlength=D).double() / n
    assert (share[p == 0] == 0).all() and (p > 0).sum() > 2
    assert ((share - p).abs() <= 4.5 * (p * (1 - p) / n).sqrt()).all()


def test_seeds():
    def draw(seed, n=12):
        return sample(MODEL, [1, 2, 3], n, temperature=3, seed=seed)

    state = torch.get_rng_state()
    first = draw(0)
    torch.rand(3)
    assert draw(0) == first != draw(1)
    assert draw(0, n=7) == first[:7]
    torch.set_rng_state(state)
    draw(0)
    assert torch.equal(torch.get_rng_state(), state)                    # everyone else's dice are left alone
    assert len(set(map(tuple, sample(MODEL, [[1, 2, 3]] * 5, 12, temperature=3)))) == 5


def test_batches_of_neighbouring_seeds_share_no_row():
    def rows(seed, n=40):
        return list(map(tuple, sample(MODEL, [[1, 2, 3]] * n, 14, temperature=3, seed=seed)))

    drawn = [row for seed in (0, 1, 2, 3, 40, 80, 1000, 5000) for row in rows(seed)]
    assert len(set(drawn)) == len(drawn)
    assert rows(1) == rows(1) and rows(1, n=7) == rows(1)[:7]
    assert rows(3)[0] == tuple(sample(MODEL, [1, 2, 3], 14, temperature=3, seed=3))
    assert rows(3)[9] == tuple(sample(MODEL, [1, 2, 3], 14, temperature=3, seed=3 + 9 * STRIDE))
    seeds = np.sort(np.arange(65_536) * STRIDE % 2**32)                       # what torch tells apart
    assert min(np.diff(seeds).min(), seeds[0] + 2**32 - seeds[-1]) > 50_000


@pytest.mark.parametrize("limits", [{"temperature": 1e-6}, {"top_k": 1}, {"top_p": 1e-6}])
def test_limits_that_equal_greedy(limits):
    for seed in range(5):
        assert sample(MODEL, BATCH, 10, seed=seed, **limits) == greedy(MODEL, BATCH, 10)


def test_limits_that_change_nothing():
    pure = sample(MODEL, BATCH, 10)
    assert sample(MODEL, BATCH, 10, temperature=1, top_k=D + 100, top_p=1) == pure != greedy(MODEL, BATCH, 10)
    uniform = next_token_distribution(MODEL, [1], temperature=math.inf).top_p
    torch.testing.assert_close(uniform, torch.full((D,), 1 / D, dtype=torch.float64))


# -- beam search -------------------------------------------------------------------------------------------------------


def endings(n, D, eos):
    """Every continuation of n tokens, or fewer if it ends with eos."""
    for length in range(1, n + 1):
        for ids in product(range(D), repeat=length):
            if eos not in ids[:-1] and (length == n or ids[-1] == eos):
                yield list(ids)


@pytest.mark.parametrize("eos", [None, 1])
@pytest.mark.parametrize("alpha", [-0.5, 0.0, 1.0])
def test_a_beam_as_wide_as_the_tree_finds_the_best(alpha, eos):
    small = random_model(seed=3, D=4)
    scores = {tuple(ids): log_probabilities(small, [2, 0], ids).sum().item() / len(ids) ** alpha
              for ids in endings(4, 4, eos)}
    best = sorted(scores, key=scores.get, reverse=True)
    found = beam_search(small, [2, 0], 4, width=256, length_penalty=alpha, eos=eos).hypotheses
    assert [tuple(h.ids) for h in found] == best
    np.testing.assert_allclose([h.score for h in found], [scores[ids] for ids in best], atol=1e-5)


@pytest.mark.parametrize("width, alpha, eos", [(1, 1, None), (2, 0, 3), (3, 1, 3), (4, 0.6, 0), (5, 2, 7), (20, 1, 3)])
@pytest.mark.parametrize("prompt", BATCH)
def test_the_record_is_the_search(prompt, width, alpha, eos):
    found = beam_search(MODEL, prompt, 8, width, alpha, eos)
    beams, entered = {None: ([], 0.0)}, []
    for length, step in enumerate(found.steps, 1):
        reached = [(total + log_p, place, token) for place, (ids, total) in beams.items()
                   for token, log_p in enumerate(next_token_distribution(MODEL, prompt + ids).pure.log().tolist())]
        likeliest = sorted(reached, reverse=True, key=lambda node: node[0])[:2 * width]
        assert [c[:2] for c in step] == [node[1:] for node in likeliest]
        np.testing.assert_allclose([c.log_probability for c in step], [node[0] for node in likeliest], atol=1e-4)
        ending = [c.token == eos or length == 8 for c in step]
        for rank, (candidate, ends) in enumerate(zip(step, ending, strict=True)):
            assert candidate.score == candidate.log_probability / length ** alpha
            earlier = sum(not e for e in ending[:rank])                 # beams already chosen to go on
            assert candidate.fate == (("finished" if rank < width else "dropped") if ends else
                                      ("kept" if earlier < width else "dropped"))
        paths = [(beams[c.parent][0] + [c.token], c) for c in step]
        entered += [(ids, c.log_probability, c.score) for ids, c in paths if c.fate == "finished"]
        beams = {place: (ids, c.log_probability) for place, (ids, c) in enumerate(paths) if c.fate == "kept"}
        best = sorted(entered, key=lambda h: -h[2])[:width]
        over = length == 8 or len(best) == width and best[-1][2] >= max(c.score for c in step if c.fate == "kept")
        assert over == (length == len(found.steps))
    assert [tuple(h) for h in found.hypotheses] == best


def test_one_beam_is_greedy():
    for eos in (None, 0, 3):
        searched, likeliest = beam_search(MODEL, BATCH, 10, width=1, eos=eos), greedy(MODEL, BATCH, 10, eos=eos)
        for found, ids in zip(searched, likeliest, strict=True):
            assert [h.ids for h in found.hypotheses] == [ids]


def test_beams_find_what_greedy_misses():
    """With every beam kept the log-probability is never below greedy's, and for some prompts above it."""
    gains = []
    for token in range(D):
        best = beam_search(MODEL, [token], 3, width=D ** 2, length_penalty=0).hypotheses[0]
        gains.append(best.log_probability - log_probabilities(MODEL, [token], greedy(MODEL, [token], 3)).sum().item())
    assert min(gains) > -1e-5 and max(gains) > 0.01


# -- how likely, how repetitive ----------------------------------------------------------------------------------------


def test_log_probabilities():
    ids = sample(MODEL, [1, 2], 10, temperature=2)
    one_by_one = [next_token_distribution(MODEL, [1, 2] + ids[:t]).pure.log()[i].item() for t, i in enumerate(ids)]
    np.testing.assert_allclose(log_probabilities(MODEL, [1, 2], ids), one_by_one, atol=1e-5)
    np.testing.assert_allclose(log_probabilities(MODEL, [1, 2], torch.tensor(ids)), one_by_one, atol=1e-5)
    for hypothesis in beam_search(MODEL, [1, 2], 6, width=3, eos=3).hypotheses:
        assert abs(log_probabilities(MODEL, [1, 2], hypothesis.ids).sum() - hypothesis.log_probability) < 1e-4
    assert log_probabilities(MODEL, [1, 2], []).shape == (0,)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=30), st.integers(1, 5))
def test_repetition_counts_ngrams_met_before(tokens, n):
    grams = [tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1)]
    repeats = sum(gram in grams[:i] for i, gram in enumerate(grams))
    assert repetition(tokens, n) == pytest.approx(repeats / len(grams) if grams else 0)
    assert repetition(torch.tensor(tokens).tolist(), n) == repetition(tuple(tokens), n)


def test_a_loop_repeats_and_a_list_of_different_tokens_does_not():
    assert repetition(list(range(50))) == 0 and repetition([1, 2] * 50) == pytest.approx(95 / 97)


# -- the edges ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DECODERS)
def test_no_new_tokens(name):
    found, *others = DECODERS[name](MODEL, BATCH, 0)
    assert len(others) == 3
    assert ([tuple(h) for h in found.hypotheses], found.steps) == ([([], 0, 0)], []) if name == "beam" else found == []


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("model", [MODEL, Rereads()], ids=["cache", "none"])
def test_the_last_token_that_fits(name, model):
    found = DECODERS[name](model, [1, 2, 3], T_MAX - 2)
    assert len(found.hypotheses[0].ids if name == "beam" else found) == T_MAX - 2


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("prompt, n, message", [
    ([], 5, "the prompt is empty"),
    ([[1, 2], []], 5, "the prompt is empty"),
    (torch.zeros(0, dtype=torch.long), 5, "the prompt is empty"),
    ([1] * (T_MAX + 1), 1, rf"has {T_MAX + 1} tokens, .* only {T_MAX}: keep prompt\[-{T_MAX}:\]"),
    ([1, 2, 3], T_MAX - 1, f"ask for at most {T_MAX - 2}"),
    ([[1], [1] * T_MAX], 2, "ask for at most 1,"),
    ([1, 2], -1, "0 or more new tokens"),
    ([1, D], 5, f"token id {D} is not in the model's vocabulary of {D}"),
    ([-1, 1], 5, "token id -1 is not"),
    ([1.0, 2.0], 5, "encode the text first"),
    ("some text", 5, "encode the text first"),
    (torch.ones(2, 2, 2, dtype=torch.long), 5, "list of token ids"),
])
def test_what_cannot_be_continued(name, prompt, n, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        DECODERS[name](MODEL, prompt, n)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("call, message", [
    (lambda: sample(MODEL, [1], 3, temperature=0), "use greedy"),
    (lambda: sample(MODEL, [1], 3, temperature=-1), "must be positive"),
    (lambda: sample(MODEL, [1], 3, temperature=math.nan), "must be positive"),
    (lambda: sample(MODEL, [1], 3, top_k=0), "at least 1"),
    (lambda: sample(MODEL, [1], 3, top_p=0), "at most 1, got 0"),
    (lambda: sample(MODEL, [1], 3, top_p=1.01), "at most 1"),
    (lambda: beam_search(MODEL, [1], 3, width=0), "at least 1 beam"),
    (lambda: next_token_distribution(MODEL, [[1], [2]]), "one sequence"),
    (lambda: next_token_distribution(MODEL, [1] * (T_MAX + 1)), "context only"),
    (lambda: log_probabilities(MODEL, [1], [1] * (T_MAX + 1)), "do not fit"),
    (lambda: log_probabilities(MODEL, [1], [D]), "not in the model's vocabulary"),
    (lambda: log_probabilities(MODEL, [[1], [2]], [3]), "one sequence"),
    (lambda: log_probabilities(MODEL, [1], [[2], [3]]), "one sequence"),
    (lambda: repetition([1, 2], n=0), "n-gram"),
])
def test_rules_that_make_no_sense(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
