// What the playground computes, from 2K numbers a word and 2K a place: log g and y of the K heads of a classifier with
// one layer of attention. A head scores N/D with D = Σ g and N = Σ g y over its places, and the score is the mean of
// the heads. docs/exact.md derives what stands here; coursekit/explain/products.py and exact.py do the same in Python.
"use strict";

// A text cut into words and marks, as WordTokenizer cuts it: [{word, start, end}], places in the lower-cased text.
const WORD = /[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*|[^\p{L}\p{N}_\s\x1c-\x1f\x85]|\ufeff/gu;
function cut(text) {
  return [...text.toLowerCase().matchAll(WORD)].map(({ 0: word, index }) =>
    ({ word, start: index, end: index + word.length }));
}

// A model as the page carries it, unpacked: words (D · 2K) were stored in sixteen bits, places (T · 2K) in thirty-two.
function unpacked({ K, T, words, places, low, step, turn, ...rest }, vocabulary) {
  const bytes = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer;
  const steps = new Uint16Array(bytes(words));
  return { ...rest, K, T, turn, ids: new Map(vocabulary.map((word, i) => [word, i])),
    words: Float64Array.from(steps, (n, i) => low[i % (2 * K)] + step[i % (2 * K)] * n),
    places: Float64Array.from(new Float32Array(bytes(places))) };
}

// The K heads over words, cut at T − 1: of each place log g and y, [CLS] first and padding last, then `off`, the same
// of a word that is gone. Unknown words, words that are gone and padding are one token, number 0; [CLS] is number 2.
function headsOf(model, words) {
  const { K, T } = model, d = Math.min(words.length, T - 1);
  const ids = Array.from({ length: T }, (_, t) => t === 0 ? 2 : t > d ? 0 : model.ids.get(words[t - 1]) ?? 0);
  const term = (id, t, column) => model.words[id * 2 * K + column] + model.places[t * 2 * K + column];
  const along = (column, count, id) => Float64Array.from({ length: count }, (_, t) => term(id(t), t, column));
  return Array.from({ length: K }, (_, k) => {
    const logG = along(k, T, (t) => ids[t]), y = along(K + k, T, (t) => ids[t]);
    const off = { logG: along(k, d + 1, () => 0), y: along(K + k, d + 1, () => 0) };
    const top = Math.max(...logG, ...off.logG.subarray(1));
    const g = logG.map((one) => Math.exp(one - top)), gone = off.logG.map((one) => Math.exp(one - top));
    const D = sum(g), f = sum(g.map((one, t) => one * y[t])) / D;
    return { d, T, logG, y, off, top, g, gone, D, f, alpha: g.map((one) => one / D) };
  });
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const scoreOf = (heads) => sum(heads.map((head) => head.f)) / heads.length;
const overHeads = (heads, number) => Array.from({ length: heads[0].d }, (_, i) =>
  sum(heads.map((head, k) => number(head, i + 1, k))) / heads.length);

const attention = (heads) => overHeads(heads, (head, t) => head.alpha[t]);
const gradientTimesInput = (heads) => overHeads(heads, ({ alpha, y, logG, f }, t) =>
  alpha[t] * (y[t] + (y[t] - f) * logG[t]));

// The mean over the coordinates of the gradient, after they were turned by an angle in one plane, which the mean's own
// direction and another one span: `turn` has, along each of the two, K numbers of the keys and K of the values.
function gradientMean(heads, [one, other], degrees) {
  const angle = degrees * Math.PI / 180, K = heads.length;
  const along = one.map((number, i) => Math.cos(angle) * number + Math.sin(angle) * other[i]);
  return overHeads(heads, ({ alpha, y, f }, t, k) => alpha[t] * (along[K + k] + (y[t] - f) * along[k]));
}

// What the score loses when a word is gone. The other places are added up anew: a difference of sums would lose digits.
function leaveOneOut(heads) {
  return overHeads(heads, ({ T, g, gone, y, off, f }, j) => {
    let D = gone[j], N = gone[j] * off.y[j];
    for (let t = 0; t < T; t++) if (t !== j) { D += g[t]; N += g[t] * y[t]; }
    return f - N / D;
  });
}

// Nodes of λ: [log λ, c] such that Σ c λ D e^(−λD) = 1 for every D between e^low and e^high, to ACCURACY.
const ACCURACY = 1e-11;
function laplaceNodes(low, high) {
  const grid = Array.from({ length: 80 }, (_, i) => Math.exp((low - high) * i / 79));
  for (let step = 0.5; ; step /= 2) {
    const nodes = [];
    for (let t = -3.8; t < high - low + 3.9 + step; t += step)
      nodes.push([t - Math.exp(-t), step * (1 + Math.exp(-t))]);
    const worst = Math.max(...grid.map((D) => Math.abs(1 - sum(nodes.map(([log, c]) => {
      const x = D * Math.exp(log);
      return c * x * Math.exp(-x);
    })))));
    if (worst < ACCURACY || step < 0.1) return nodes.map(([log, c]) => [log - high, c]);
  }
}

// The score as a mixture of product games: a row for each node of λ of each head. A word's factor is A where it is kept
// and B where it is gone; An and Bn are its part in N. y is counted from that of all that is always there.
function productGames(heads) {
  const rows = [];
  for (const { d, T, logG, y, off, top } of heads) {
    let always = 0, centre = 0;
    for (let t = 0; t < T; t++) if (t === 0 || t > d) {
      const g = Math.exp(logG[t] - top);
      always += g;
      centre += g * y[t];
    }
    centre /= always;
    let low = always, high = always;
    for (let t = 1; t <= d; t++) {
      const both = [Math.exp(logG[t] - top), Math.exp(off.logG[t] - top)];
      low += Math.min(...both);
      high += Math.max(...both);
    }
    for (const [log, c] of laplaceNodes(Math.log(low), Math.log(high))) {
      const row = { c: c / heads.length * Math.exp(-low * Math.exp(log)) };
      for (const name of ["A", "An", "B", "Bn"]) row[name] = new Float64Array(d);
      for (let t = 1; t <= d; t++) {
        const x = Math.exp(logG[t] - top + log), xOff = Math.exp(off.logG[t] - top + log), least = Math.min(x, xOff);
        row.A[t - 1] = Math.exp(least - x);
        row.B[t - 1] = Math.exp(least - xOff);
        row.An[t - 1] = row.A[t - 1] * x * (y[t] - centre);
        row.Bn[t - 1] = row.B[t - 1] * xOff * (off.y[t] - centre);
      }
      rows.push(row);
    }
  }
  return rows;
}

// Gauss and Legendre's nodes and weights over [0, 1], by Newton's steps: exact for polynomials of degree 2n − 1.
function gaussLegendre(n) {
  return Array.from({ length: n }, (_, i) => {
    let x = Math.cos(Math.PI * (i + 0.75) / (n + 0.5)), slope = 1;
    for (let again = 0; again < 8; again++) {
      let before = 1, value = x;
      for (let k = 2; k <= n; k++) [before, value] = [value, ((2 * k - 1) * x * value - (k - 1) * before) / k];
      slope = n * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    return [(1 + x) / 2, 1 / ((1 - x * x) * slope * slope)];
  });
}

// Shapley values: the mean over the share p of words kept of what a word adds, a polynomial of degree d − 1 in p.
function shapley(rows, d) {
  const most = Math.max(1, Math.ceil(d / 2)), alpha = new Float64Array(d), gamma = new Float64Array(d);
  for (let n = Math.min(8, most), before = null; ; n = Math.min(2 * n, most)) {
    const values = new Float64Array(d), shares = gaussLegendre(n);
    for (const { A, An, B, Bn, c } of rows) for (const [p, weight] of shares) {
      let P = weight * c, rho = 0;
      for (let t = 0; t < d; t++) {
        const F = B[t] + p * (A[t] - B[t]), own = (Bn[t] + p * (An[t] - Bn[t])) / F;
        P *= F;
        rho += own;
        alpha[t] = (A[t] - B[t]) / F;
        gamma[t] = (An[t] - Bn[t]) / F - alpha[t] * own;
      }
      for (let t = 0; t < d; t++) values[t] += P * (alpha[t] * rho + gamma[t]);
    }
    const moved = before && Math.max(...values.map((value, t) => Math.abs(value - before[t])));
    if (n === most || before && moved <= 1e-11 * Math.max(...values.map(Math.abs))) return [...values];
    before = values;
  }
}

// LIME's coefficients in the limit of infinitely many samples. Masks of one size weigh alike, so least squares need
// only sums over the subsets of each size: a programme over (word, kept so far), and its derivatives backwards.
function lime(rows, d) {
  const kept = Array.from({ length: d + 1 }, (_, k) => k / Math.max(1, d));
  const law = kept.map((share, k) => (k < d ? 1 / d : +(d === 1)) * Math.exp(-8 * (1 - Math.sqrt(share)) ** 2));
  const w = new Float64Array(d + 1), sums = new Float64Array(d + 1), withWord = new Float64Array(d);
  for (let k = 0, comb = 1; k <= d; comb *= (d - k) / ++k) w[k] = law[k] / comb;
  const wide = d + 1, v = new Float64Array(wide * wide), n = new Float64Array(wide * wide);
  const slopeV = new Float64Array(wide), slopeN = new Float64Array(wide);
  for (const { A, An, B, Bn, c } of rows) {
    v[0] = 1;
    for (let t = 0; t < d; t++) {
      const a = A[t], an = An[t], b = B[t], bn = Bn[t], at = t * wide, to = at + wide;
      v[to + t + 1] = n[to + t + 1] = 0;
      for (let k = 0; k <= t; k++) {
        v[to + k] = b * v[at + k];
        n[to + k] = b * n[at + k] + bn * v[at + k];
      }
      for (let k = 0; k <= t; k++) {
        v[to + k + 1] += a * v[at + k];
        n[to + k + 1] += a * n[at + k] + an * v[at + k];
      }
    }
    slopeV.fill(0);
    for (let k = 0; k <= d; k++) {
      sums[k] += c * n[d * wide + k];
      slopeN[k] = c * w[k];
    }
    for (let t = d - 1; t >= 0; t--) {
      const a = A[t], an = An[t], b = B[t], bn = Bn[t], at = t * wide;
      let own = 0;
      for (let k = 0; k <= t; k++) {
        const onV = a * slopeV[k + 1] + an * slopeN[k + 1], onN = a * slopeN[k + 1];
        own += onV * v[at + k] + onN * n[at + k];
        slopeV[k] = onV + b * slopeV[k] + bn * slopeN[k];
        slopeN[k] = onN + b * slopeN[k];
      }
      withWord[t] += own;
    }
  }
  const m0 = sum(law), m1 = sum(law.map((one, k) => one * kept[k])), total = sum(w.map((one, k) => one * sums[k]));
  const m2 = sum(law.map((one, k) => one * kept[k] * Math.max(0, k - 1))) / Math.max(1, d - 1);
  const left = m1 - m2, q = m2 - m1 * m1 / m0, r = withWord.map((one) => one - m1 / m0 * total), all = sum(r);
  return Array.from(r, (one) => (one - q * all / (left + d * q)) / left);
}

// Spearman's correlation of two rows; ties share the mean of their ranks.
const ranks = (x) => x.map((one) => sum(x.map((other) => (one > other) + (one === other) / 2)));
function spearman(a, b) {
  const centred = [a, b].map(ranks).map((x) => x.map((one) => one - x.length / 2));
  const dot = (x, y) => sum(x.map((one, i) => one * y[i]));
  return dot(...centred) / Math.sqrt(dot(centred[0], centred[0]) * dot(centred[1], centred[1]));
}
