"""The final: functions that find each value of a template again from what the text shows, another way than it does.
test_papers.py tries them."""

import itertools
import math
import re

import numpy as np
import torch
from numpy.polynomial import Polynomial

from coursekit import evaluate
from coursekit.evaluate.agreement import kendall
from coursekit.explain import Attribution, Slalom, shapley_values
from coursekit.models.sparse.sae import SparseAutoencoder
from coursekit.people import exact_binomial_test
from coursekit.worlds.brackets import pushdown


def by_hand(scores, signed=True):
    return Attribution([f"w{i}" for i in range(len(scores))], scores, "by hand", signed=signed)


def one_curve(a, b, c):
    curve, weight = Polynomial([a, b, c]), Polynomial([0, 6, -6])
    means = [(part.integ()(1) - part.integ()(0)) for part in (curve, curve * weight)]
    assert len({*np.round([curve(0), curve(1), *means], 9)}) == 4
    return curve(0), curve(1), *means


def loud_and_silent(m, g, y, others, silent):
    def head(loudness, says):
        return np.average(says, weights=loudness)
    whole = head([others] * m + [g], [y] * m + [silent])
    without = head([others] * m + [1], [y] * m + [0])
    alpha, alpha_h = g / (m * others + g), 1 / (m + 1)
    return whole, without, whole - without, 1.5 * (alpha * silent - alpha_h * 0)


def asked_in_pairs(scores, x):
    game = dict(zip(["", "a", "b", "c", "ab", "ac", "bc", "abc"], scores, strict=True))

    def asked(game):
        def predict(documents):
            return [game["".join(word for word in document if word in "abc")] for document in documents]
        return shapley_values(predict, ["a", "b", "c"]).scores
    before = asked(game)
    first, last = np.array([(game[word], game["abc"] - game["abc".replace(word, "")]) for word in "abc"]).T
    assert len({*before.round(9)}) == 3 and not np.isclose(before, [first, last, (first + last) / 2]).any()
    return *before, *(asked(game | {"a": game["a"] + x, "bc": game["bc"] + x}) - before)


def sizes_of_copies(d, full, none):
    sizes = [sum(mask) for mask in itertools.product((0, 1), repeat=d)]
    weight = {s: (d - 1) / (sizes.count(s) * s * (d - s)) for s in range(1, d)}
    proper = [s for s in sizes if 0 < s < d]
    share = sum(weight[s] for s in proper if s in (1, d - 1)) / sum(weight[s] for s in proper)
    return *weight.values(), share, full - none


def answers_to_documents(scores):
    v_k, v_m, v_r, k_r, m_r = scores
    assert len({v_k, v_m, v_r}) == 3 and k_r - v_k != m_r - v_m
    loud = [np.exp(np.log((pair - v_r) / (v - pair))) for v, pair in ((v_k, k_r), (v_m, m_r))]
    model = Slalom(["k", "m", "r"], np.log([*loud, 1]), [v_k, v_m, v_r])
    assert np.allclose(model.predict([["k"], ["m"], ["r"], ["k", "r"], ["m", "r"]]), scores)
    return *loud, *model.predict([["k", "m"], ["k", "r", "r"]])


def softly_taken_away(alpha, v):
    alpha = np.array(alpha, float)

    def score(lam):
        return np.average(v, weights=alpha * lam)
    F, step = score(np.ones(3)), 1e-6
    slopes = [(score(1 + step * row) - score(1 - step * row)) / (2 * step) for row in np.eye(3)]
    without = score(np.array([0, 1, 1]))
    assert len({*np.round(slopes, 4)}) == 3 and v[0] > 0 > slopes[0] and not np.isclose(slopes, 0).any()
    assert all(abs(10 * one - round(10 * one)) < 1e-4 for one in (F, *slopes, without))
    return F, *slopes, without, F - without


def two_fits(scores, pairs, copies, n, length):
    def r2(said):
        return 1 - np.square(np.subtract(scores, said)).mean() / np.var(scores)
    assert sum(scores) == 0 and np.dot(scores, scores) == 180 and r2(pairs) < r2(copies)
    return r2(pairs), r2(copies), n + n, sum([length] * n)


def trained_rivals(js, change, seed, w, weight, less, y):
    def aims(w):
        return dict(zip("PQR", np.array(change) - w * np.array(js), strict=True))
    best = min("PQR", key=aims(w).get)
    assert sorted(aims(w).values())[1] - aims(w)[best] > 0.004
    prices = np.linspace(0, 1, 1001)
    crossing = prices[[aims(price)["R"] <= aims(price)["P"] + 1e-9 for price in prices].index(True)]
    return best, aims(w)[best], crossing, weight * y / less


def two_orders(**rows):
    attention, loo, one, other = rows.values()
    assert len({*map(abs, loo)}) == len({*attention}) == 5 and len({*one}) == len({*other}) == 4
    taus = kendall(np.array(attention), np.abs(loo)), kendall(np.array(one), np.array(other))
    assert all(0 < abs(tau) < 1 for tau in taus)
    return taus


def other_weights(alpha, y):
    score = np.dot(alpha, y)
    first, third = np.linalg.solve([[1, 1], [y[0], y[2]]], [1, score])
    assert 0 < first < 1
    rival, halved, left = np.array([first, 0, third]), alpha[0] + alpha[1] / 2, alpha[0] / (alpha[0] + alpha[2])
    assert not np.isclose(first, [halved, left]).any() and {y[0], y[2]} != {0, 1}, "the weight would be the score"
    return first, third, np.maximum(rival - alpha, 0).sum(), np.mean(y)


def shuffled_weights(y, first, second):
    scores = [[np.dot(order, y) for order in itertools.permutations(row)] for row in (first, second)]
    assert np.isclose(*(np.mean(each) for each in scores)) and sum(y) != 0
    assert len({*np.round([scores[0][0], scores[1][0], np.mean(scores)], 9)}) == 3
    assert min(scores[0]) < scores[0][0] - 1e-9 and scores[0][0] + 1e-9 < max(scores[0])
    return scores[0][0], scores[1][0], *(np.abs(np.subtract(each, each[0])).max() for each in scores), np.mean(scores)


def a_mix_of_letters(T, mix, small, sequences, w, n):
    cases = [(r, own, mix[own] - r) for r in range(20) for own in range(4)
             if mix[own] - r >= 1 and sum(mix) - r == T]
    [(r, own, count)] = cases
    mixes = []
    for text in sequences:
        assert len(text) == T
        attention = small * np.eye(T) + np.ones((T, T))
        mixes.append({letter: attention[0] @ [one == letter for one in text] for letter in sorted({*text})})
    assert w != n and mixes[0] == mixes[1] and [text.count(text[0]) for text in sequences] == [1, 2]
    row = np.where(np.arange(T) < n, w, 1) / np.where(np.arange(T) < n, w, 1).sum()
    return r, "ABDE"[own], count, mixes[0]["A"], mixes[0]["D"], row[:n].sum(), 1


def lent_maps(constant, rows):
    table = np.reshape(rows, (3, 3))
    lent = dict(zip("XYZ", table, strict=True))
    stays = [letter for letter, row in lent.items() if row[1] > constant + .2]
    lends = [letter for letter, row in lent.items() if row[2] > .5]
    assert len(stays) == len(lends) == 1 and stays != lends
    p = 1 - constant ** (1 / 9)                                     # of nine other letters, each with p the same one
    agree = sum((math.comb(9, k) * p ** k * (1 - p) ** (9 - k)) ** 2 for k in range(10))
    assert all(right <= agree + (1 - agree) * (1 - lender) for _, right, lender in table), "one place, two answers"
    return *(table[:, 1] - constant), *stays, *lends


def open_brackets(text):
    run = pushdown(text)
    stack, wrong = run.stacks[-1], re.findall(r"[(\[]", text)[-1]
    assert len(run.stacks) == len(text) and not run.accepted and len(stack) == 3
    votes, depth = 0, 0
    for symbol in text:
        depth += symbol in "(["
        votes += 2 ** depth * (1 if symbol in "(]" else -1)
        depth -= symbol in ")]"
    assert (votes > 0) == (stack[-1] == "(") and stack[-1] not in (wrong, stack[0])
    pair = dict(zip("([", ")]", strict=True))
    return stack, votes, pair[stack[-1]], pair[wrong]


def one_state(h, b, encoder, decoder, **rest):
    sae, lam = SparseAutoencoder(2, 3), rest["lambda"]
    for parameter, value in ((sae.W_enc, encoder), (sae.b_enc, b), (sae.W_dec, np.transpose(decoder))):
        parameter.data = torch.tensor(np.array(value), dtype=torch.float32)
    state = torch.tensor([h], dtype=torch.float32)
    a, f, s = sae.encode(state), sae.activations(state), sae(state)
    error = ((state - s) ** 2).sum()
    assert (sae.before(state) != 0).all() and lam > 1 and 1 < error < (state ** 2).sum() / 3
    loss = error + lam * f.sum()
    return *a[0].tolist(), *f[0].tolist(), int((f > 0).sum()), *s[0].tolist(), loss.item()


def a_knob(stays, share, **table):
    other = 1 - share
    chain = stays * np.eye(2) + (1 - stays) * np.array([[share, other]] * 2)          # praise, anything else
    resting = np.linalg.matrix_power(chain, 200)[0]
    assert table["random"][1] < table["best"]
    return chain[0, 0], share, resting[0]


def three_kinds(z, k, theta, x, weak, **rest):
    z, lam = np.array(z), rest["lambda"]
    assert not np.isclose(x, lam), "x less λ/2 would be λ/2"
    largest = torch.tensor(z).topk(k)
    top = torch.zeros(5, dtype=torch.double).scatter(0, largest.indices, largest.values)
    jump = np.where(z > theta, z, 0)
    f = np.linspace(0, 6, 60_001)
    found, faint = (f[((there - f) ** 2 + lam * f).argmin()] for there in (x, weak))
    return *top.tolist(), *jump, (z > 0).sum(), k, (jump != 0).sum(), found, x / found, faint


def a_name(reviews, on, named, right, fits, features, strongest):
    marks = np.zeros((2, reviews), bool)                                              # the feature is on, the name fits
    marks[0, :on], marks[1, on - right:on - right + named] = True, True
    both = (marks[0] & marks[1]).sum()
    assert both == right < min(on, named) and named / reviews < fits / strongest < right / on and strongest < features
    return marks[1][marks[0]].mean(), marks[0][marks[1]].mean(), marks[1].mean()


def words_go(high, low, shares, place):
    words = [f"w{i}" for i in range(10)]
    place = {"fourth": 4, "fifth": 5, "sixth": 6}[place]

    def predict(documents):
        return [high if {"w0", "w1"} & {*document} else low for document in documents]
    later = np.array([10, 11.5 - place, *range(9, 1, -1)])                            # w1 has this place
    orders = [Attribution(words, scores, "by hand") for scores in (np.array([9, 8, 10, *range(7, 0, -1)]), later)]
    assert (orders[1].scores > orders[1].scores[1]).sum() == place - 1
    bins = [share / 100 for share in shares]
    return [measure(predict, words, order, bins, by="delete", scores="probability")
            for measure in (evaluate.comprehensiveness, evaluate.sufficiency) for order in orders]


def adds(w):
    def predict(documents):
        return [sum(w[int(word[1:])] for word in document if word.startswith("w")) for document in documents]
    return predict


def most_important_first(w, steps):
    curves = [evaluate.deletion_curve(adds(w), by_hand(w).tokens, one, scores="log-odds").scores
              for one in (by_hand(w), by_hand(np.abs(w), signed=False))]
    aopc = [np.mean(curve[0] - curve) for curve in curves]
    assert aopc[0] > aopc[1] and len(curves[0]) == len(steps)
    return *curves[0], *curves[1], *aopc


def promised_and_lost(w, **explanations):
    gold = np.argsort(-np.abs(w))[:2].tolist()
    singles = ~np.eye(3, dtype=bool)
    recalls = [evaluate.recall_of_important_features(by_hand(phi), gold) for phi in explanations.values()]
    lost = [evaluate.infidelity(adds(w), by_hand(w).tokens, by_hand(phi), singles) for phi in explanations.values()]
    scaled = [evaluate.infidelity(adds(w), by_hand(w).tokens, by_hand(phi), singles, normalize=True)
              for phi in explanations.values()]
    assert len({*map(abs, w)}) == 3 and np.isclose(scaled[1], 0) and scaled[2] > 0
    return *recalls, *lost


def learned_again(n, alone, chance):
    texts = [(1, 1, 1)] * alone + [(1, 1, -1)] * (n - alone)
    texts = [tuple(sign * word for word in text) for i, text in enumerate(texts) for sign in [(-1) ** i]]
    left = [([word for word in text if word != np.sign(sum(text))], np.sign(sum(text))) for text in texts]

    def accuracy(reads):
        return np.mean([.5 if not rest else (reads(rest) == label) for rest, label in left])
    assert 0 < alone < n and alone % 2 == 0
    assert abs(chance - (alone / 2 + (n - alone) * 2 / 3) / n) <= .0051, "of two alike and one other one is left"
    return accuracy(lambda rest: np.sign(sum(rest))), accuracy(lambda rest: -np.sign(sum(rest)))


def marked_by_people(marked, **rows):
    marks = [one == "yes" for one in marked]
    found = [evaluate.auroc(np.abs(row), marks) for row in rows.values()]
    with_signs = [evaluate.auroc(np.array(row), marks) for row in rows.values()]
    assert found[0] < found[1] and not np.isclose(found, with_signs).any()
    return found


def people_in_rows(pages, as_it_is, shuffled):
    gaps = np.subtract(as_it_is, shuffled)
    n, better = int((gaps != 0).sum()), int((gaps > 0).sum())
    p = exact_binomial_test(better, n)
    assert {*as_it_is, *shuffled} <= {*range(1, pages + 1)} and abs(p - .05) > .01 and n - better == 1
    return n, better, p, "below" if p < .05 else "not below"
