"""The midterm: functions that find each value of a template again from what the text shows, another way than it does,
which test_papers.py tries; and that no answer is two-fold."""

import itertools
import re
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from coursekit.evaluate import deletion_curve
from coursekit.explain import Attribution, leave_one_out, rollout, shapley_values
from coursekit.explain.attention import word_attention
from coursekit.explain.surrogate import sample_masks, weighted_ridge
from coursekit.models.attention import Trace, causal_mask, scaled_dot_product_attention
from coursekit.models.beam import beam_search
from coursekit.models.decoding import greedy, keep_nucleus, keep_top_k, tempered_softmax
from coursekit.models.gpt2 import GPT2, GPT2Config, KVCache, layer_norm, next_token_loss
from coursekit.text import BytePairTokenizer, merge_steps
from tests.grading.exams.written import drawn


def rounded_softmax(scores):
    """As on the sheet, e^x being whole."""
    raised = np.exp(np.asarray(scores, float)).round()
    assert np.allclose(raised, np.exp(scores), rtol=.02), "the table on the sheet is no good"
    return raised / raised.sum(-1, keepdims=True)


def three_inputs(query, keys, values, added):
    q, k, v = (torch.tensor(one).double() for one in (query, np.reshape(keys, (3, 4)), values))
    scores = (k @ q / 2).numpy()
    out, weights = scaled_dot_product_attention(q[None], k, v)
    by_table = rounded_softmax(scores)
    assert np.allclose(by_table, weights[0], atol=.02)
    assert len({*scores.round(6)}) == 3 and np.allclose(out[0], by_table @ values, atol=.15)
    return *scores, *by_table, *(by_table @ values)


def one_row_masked(scores, T):
    S = np.reshape(scores, (4, 4))
    whole, masked = rounded_softmax(S), rounded_softmax(S + causal_mask(4).numpy())
    changed = [s + 1 for s in range(4) if not np.allclose(whole[s], masked[s])]
    zeros = rounded_softmax(np.where(np.isinf(causal_mask(4)), 0, S))[0]
    return *masked[np.tril_indices(4)], *changed, *zeros, int((causal_mask(T) == 0).sum())


def heads_taken_away(heads, every, look, left, both):
    lost = every - np.array(left)
    most, missed = np.argmax(look), np.argmax(lost)
    assert sorted(lost)[-2] < lost[missed] and sorted(look)[-2] < look[most] and most != missed
    pair = [i for i in range(4) if heads[i] in (heads[0], heads[2])]
    assert every - both > 2 * lost[pair].sum() and both > 50
    return heads[most], heads[missed], lost[missed], every - both, lost[pair].sum(), look[missed]


def place_to_rest(words, weights, lengths, losses):
    arrives = np.linalg.norm(np.outer(weights, [.6, .8]) * np.array(lengths)[:, None], axis=1)
    assert len({*arrives.round(9)}) == 4 and words[3] == "[BOS]" and np.argmax(weights) == 3
    assert (np.diff(arrives) > 0).any() and np.argmin(arrives) == 3, "the order is not that of the table"
    scores = np.log(weights) + [0, 0, 0, -np.inf]
    without = torch.softmax(torch.tensor(scores), 0).tolist()[:3]
    every, silent, absent = map(float, losses)
    assert 0 < silent - every < .05 < .5 < absent - every
    return *arrives, *(words[i] for i in np.argsort(-arrives)), *without


def two_layers(words, first, top):
    layers = [np.reshape(first, (3, 3)), np.vstack([top, np.eye(3)[1:]])]
    mixed = [(A + np.eye(3)) / 2 for A in layers]
    model = SimpleNamespace(tokens=lambda words: ["[CLS]", *words], own=lambda words: [1, 2], readout=0,
                            embed=lambda words: torch.zeros(3, 1),
                            trace=lambda e: Trace(None, [torch.tensor(A)[None] for A in layers], []))
    found = rollout(model, words)
    assert found.scores[0] != found.scores[1] and np.argmax(top[1:]) != np.argmax(found.scores)
    own = 1 - found.scores.sum()
    return *mixed[0].ravel(), *mixed[1][0], own, *found.scores, words[np.argmax(found.scores)]


def pieces_to_words(pieces, word, table):
    n = len(pieces)
    A = np.reshape(table, (n, n))
    assert np.allclose(A.sum(1), 1)
    found, words = word_attention(A, pieces)
    assert words == ["[CLS]", word]
    wrong = A[1:, :1].sum() + A[1:, 1:].mean(1).sum()
    assert abs(wrong - 1) > .05
    return *found.ravel(), wrong, word_attention(np.full((n, n), 1 / n), pieces)[0][0, 1]


def curve_of_deletions(f):
    words = ["a", "b", "c", "d"]
    values = dict(zip(words, f, strict=True))

    def model(documents):
        return [float(sum(values.get(word, 0) for word in document)) for document in documents]
    total = model([words])[0]
    curves = []
    for by in (Attribution(words, np.abs(f), "sizes", signed=False), Attribution(words, f, "sides")):
        assert len({*by.scores}) == 4
        curves.append(deletion_curve(model, words, by, by="delete", scores="log-odds").scores)
    assert np.mean(curves[1]) < np.mean(curves[0]) and np.all(np.mean(curves, axis=1))
    return total, *curves[0], np.mean(curves[0]), *curves[1], np.mean(curves[1])


class Tree:
    """A language model of a tree of two words: tokens 1 to 3 first, then three for each."""

    def __init__(self, first, then):
        p = np.full((13, 13), 1e-12)
        p[0, 1:4] = first
        for i, row in enumerate(np.reshape(then, (3, 3))):
            p[i + 1, 4 + 3 * i:7 + 3 * i] = row
        self.logits, self.config = torch.tensor(p / p.sum(1, keepdims=True)).log(), GPT2Config(vocab_size=13)

    def __call__(self, ids):
        return self.logits[ids]

    def step(self, ids, cache=None, padding=None):
        return self.logits[ids[:, -1]], KVCache([])


def greedy_and_beams(first, then, words, seconds):
    model = Tree(first, then)

    def text(ids):
        return f"{words[ids[0] - 1]} {seconds[ids[1] - 4]}"
    one, beams = greedy(model, [0], 2), beam_search(model, [0], 2, width=2)
    found = {text(h.ids): np.exp(h.log_probability) for h in beams.hypotheses}
    every = sorted((p * q for p, row in zip(first, np.reshape(then, (3, 3)), strict=True) for q in row), reverse=True)
    best = next(iter(found))
    p_greedy = first[one[0] - 1] * then[one[1] - 4]
    assert np.isclose(found[best], every[0]) and every[0] > every[1] + 1e-9 and text(one) != best
    kept = sorted(words, key=lambda word: -first[words.index(word)])[:2]
    compared = sum(int((model.logits[words.index(word) + 1] > -9).sum()) for word in kept)
    return text(one), p_greedy, *kept, compared, *found, *found.values(), 1 - p_greedy - every[0]


def hot_and_cut(w, mass, tokens):
    y = torch.tensor(w).double().log()
    p = tempered_softmax(y, 1)
    assert not np.isclose(p, tempered_softmax(y, .5)).any(), "cold changes each"
    few, nucleus = keep_top_k(p, 2), keep_nucleus(p, mass)
    assert len({*w}) == 4 and (nucleus > 0).sum() == 3, "the nucleus is not the top two"
    assert abs(p.sort(descending=True).values.cumsum(0) - mass).min() > .01
    return (*p, *tempered_softmax(y, .5), *few[few > 0], *(tokens[i] for i in range(4) if nucleus[i] > 0))


def slopes_by_hand(a, b, c, p, r):
    def f(e, by):                                                          # e: (2 words, 2 coordinates), times `by`
        e = e / torch.tensor(by)
        bends = torch.stack([torch.tensor(p).double() @ e[:, 0], torch.tensor(r).double() @ e[:, 1]])
        assert (bends > 0).all() and bends[0] != bends[1]
        return torch.tensor(c).double() @ bends.relu()
    found = {}
    for by in ((1., 1.), (2., 1.)):
        e = (torch.tensor([a, b]).double() * torch.tensor(by)).requires_grad_()
        score = f(e, by)
        slope, = torch.autograd.grad(score, e)
        found[by] = score.item(), slope, (e * slope).sum(1)
    (score, slope, product), (again, turned, same) = found.values()
    assert again == score and torch.allclose(product, same) and np.isclose(product.sum().item(), score)
    assert slope[0].mean() * turned[0].mean() < 0
    return score, *slope.ravel(), *product.detach(), score, slope[0].mean(), turned[0].mean(), same[0].detach()


def flat_at_the_end(k, c, x):
    def f(z):
        return k * np.minimum(z, c)
    a, width = np.arange(1e5) / 1e5 + 5e-6, 1e-7
    slope = (f((a + width) * x) - f(a * x)) / (width * x)                     # at the middles of many short steps
    points = np.array([.25, .5, .75, 1]) * x
    assert not np.isclose(points, c).any() and points[0] < c
    four = x * np.mean(np.where(points < c, k, 0))
    assert np.isclose(slope.mean() * x, f(x) - f(0), atol=.01)
    return f(0), f(x), 0, f(x) - f(0), np.round((f(x) - f(0)) / x, 9), four, f(x) - f(0) - four


def product_of_two(x, y, k):
    def f(v):
        return v[0] * v[1] + k * v[0]
    end = torch.tensor([x, y]).double()

    def along(path):                                                         # shares by short steps along a path
        points = torch.tensor(path).double().requires_grad_()
        slopes, = torch.autograd.grad(f(points.T).sum(), points)
        middle = (slopes[1:] + slopes[:-1]) / 2
        return (middle * points.diff(dim=0)).sum(0).tolist()
    steps = np.linspace(0, 1, 51)[:, None]
    straight = along(steps * end.numpy())
    corner = along(np.vstack([steps * [x, 0], [x, 0] + steps[1:] * [0, y]]))
    e = end.clone().requires_grad_()
    slope, = torch.autograd.grad(f(e), e)
    gone = leave_one_out(lambda documents: [f([x * ("x" in d), y * ("y" in d)]) for d in documents], ["x", "y"],
                         by="delete").scores
    return f(end), *(slope * end), (slope * end).sum(), *straight, *corner, *gone


def merges(words, times):
    *corpus, new = words
    steps = list(itertools.islice(merge_steps([w for w, n in zip(corpus, times, strict=True) for _ in range(n)]), 2))
    for _, counts, _ in steps:
        assert counts.most_common(2)[0][1] > counts.most_common(2)[1][1], "a tie"
    cut = BytePairTokenizer([pair for *_, pair in steps]).tokenize(new)
    return *itertools.chain(*(("+".join(pair), counts[pair]) for _, counts, pair in steps)), "|".join(cut)


def block_size(d_e, K, T, D, L):
    with torch.device("meta"):
        model = GPT2(GPT2Config(vocab_size=D, T_max=T, d_e=d_e, K=K, L=L))
    sizes = {name: weight.numel() for name, weight in model.named_parameters()}
    block = {name: size for name, size in sizes.items() if name.startswith("blocks.0.")}
    attention = sum(size for name, size in block.items() if ".attention." in name)
    mlp = sum(size for name, size in block.items() if ".mlp." in name)
    assert d_e % (2 * K) == 0, "twice the heads must be possible"
    return attention, mlp, sum(sizes.values())


def norm_of_a_row(x, gain, shift, a, c):
    x, gain, shift = (torch.tensor(one).double() for one in (x, gain, shift))
    found = layer_norm(x, gain, shift, eps=0)
    assert torch.allclose(found, torch.nn.functional.layer_norm(a * x + c, (4,), gain, shift, eps=0))
    assert gain.min() > 1, "a gain that is forgotten shows"
    return x.mean(), x.var(correction=0), found[0], found[3]


def two_perplexities(D, other, A, B):
    found = []
    for shares in (A, B):
        p = torch.tensor([[[float(share), 1 - float(share)] for share in shares]]).double()
        found.append(next_token_loss(p.log(), torch.zeros(1, 4, dtype=int)).exp().item())
    uniform = next_token_loss(torch.zeros(1, 4, D).double(), torch.zeros(1, 4, dtype=int)).exp().item()
    assert abs(found[0] - found[1]) > .5
    return *found, "AB"[np.argmin(found)], uniform


def three_words(f, words):
    sets = [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    game = dict(zip(sets, f, strict=True))

    def model(documents):
        return [game[tuple(words.index(word) for word in document)] for document in documents]
    gone, values = (explain(model, words, by="delete").scores for explain in (leave_one_out, shapley_values))
    assert (gone == 0).sum() == 1 and abs(values[gone == 0]) >= 1 - 1e-9
    return *gone, *values, values.sum()


def how_many_go(d, s):
    gone = np.array(list(itertools.product((False, True), repeat=d)))[1:]              # (2^d − 1, d)
    size, chance = gone.sum(1), np.array([1 / d / comb(d, k) for k in gone.sum(1)])
    one, stays = size == s, ~gone[:, 0]
    return (chance @ one, chance @ (one & stays) / (chance @ one), chance @ stays,
            chance @ (one & stays) / (chance @ stays), one.sum() / 2 ** d, chance @ (2 * size > d))


def line_and_kernel(f, w, total):
    z, f, w = np.array([[1], [1], [0], [0]]), np.array(f), np.array(w)
    (beta,), start = weighted_ridge(z, f, w, ridge=0)
    (plain,), _ = weighted_ridge(z, f, np.ones(4), ridge=0)
    around = w @ (f - np.average(f, weights=w)) ** 2
    assert np.isclose(around, total) and not np.isclose(beta, plain) and (w[[0, 2]] != w[[1, 3]]).all()
    return start, beta, plain, 1 - w @ (f - start - beta * z[:, 0]) ** 2 / around


def what_the_table_says(table, words, sentences):
    A, B, moved = np.reshape(table, (3, 4))
    first = [words[np.argmax(np.abs(row))] for row in (A, B, moved)]
    assert all(len({*np.abs(row).round(6)}) == 4 and row.all() for row in (A, B, moved))
    judges = {r"A and B name the same word .* \*(\w+)\*": lambda word: first[0] == first[1] == word,
              r"Taking \*(\w+)\* away changes .* more than": lambda word: first[2] == word,
              r"Since A and B agree": lambda: False, r"Without \*\w+\* and \*\w+\* together": lambda: False,
              r"B has the wrong side for \*(\w+)\*": lambda word: B[words.index(word)] * moved[words.index(word)] < 0}
    right = []
    for letter, sentence in sentences.items():
        (found, judge), = [(found, judge) for form, judge in judges.items() if (found := re.match(form, sentence))]
        right += [letter] * bool(judge(*found.groups()))
    assert 1 <= len(right) <= 3
    return right


def two_faces(having, without, lime, line):
    drops = np.subtract(having, without)
    assert (drops < -1.9).all() and abs(lime) < .3 and line - having[0] > 1, "the two faces are plain to see"
    assert abs(line - lime - without[0]) < .3, "the line follows the model without its penalty"
    return drops.mean(), line - having[0]


@pytest.mark.parametrize("d", range(4, 10))
def test_the_samples_of_lime_follow_the_law_of_the_sheet(d):
    gone = ~sample_masks(d, 20_001)[1:]
    for s in range(1, d):
        law = how_many_go(d, s)
        seen = (gone.sum(1) == s).mean(), (~gone[gone.sum(1) == s, 0]).mean(), (~gone[:, 0]).mean(), (
            gone[~gone[:, 0]].sum(1) == s).mean()
        assert np.allclose(law[:4], seen, atol=.03)


def test_the_wrong_law_of_lime_has_another_value():
    for exercise in drawn("how_many_go"):
        assert exercise.parts[0].value[0] not in (exercise.parts[2].value, exercise.parts[3].value)
