"""Fit a SLALOM to what another model says: by variable projection, by alternating least squares, by Algorithm 1 or from
2|V| − 1 queries.

Given the importances, F is linear in the values: these are least squares, and what remains to be found is V numbers
(Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
separate", 1973). `variable_projection` takes Levenberg–Marquardt steps with Kaufman's Jacobian (1975).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from coursekit.inputs import Document, as_scores, as_strings, as_whole
from coursekit.models.protocols import Predicts

from .asking import read_as, read_tokens, scores_of
from .masks import away
from .slalom import Slalom
from .surrogate import sample_masks

CLIPPED = 1e-6                  # the analytic fit's ρ stays between this and 1 less this, e^s above it: 13.8 in s
WIDTHS = 1.0, 2.0                # standard deviations of the priors of variable projection: of s, of v in those of y


def fit_slalom(model_or_predict: Predicts, document: Document, n_samples=500,
               length: int | Sequence[int] = 2, method="varpro", class_token=False, seed=0, progress=False,
               around="sequences", most=5, **options: float | Sequence[float]) -> Slalom:
    """A Slalom of a document's words that says what the model says of n_samples texts around it. It is good at these.

    around: "sequences" are random ones of the distinct words (Algorithm 1), as long as `length` says: a number, or
    (shortest, longest), between which it is drawn. "deletions" are the document in its order without 0 … `most` of its
    tokens, any number alike, as for the SLALOM-fidel of the paper's text in TMLR. "masks" are LIME's (`sample_masks`),
    all alike in weight: any number of tokens is gone, as `away` says; "[UNK]", or what else stands in their place, is a
    token of the SLALOM. Deletions show the effects of removal, and hardly from which s and v these come: an effect is
    about (v − F)/T of a document of T tokens. So in "varpro" the prior of values is T wide, near a document.
    method: "varpro", "alternating" or "sgd", see `fit_slalom_data`, which also has class_token and the options. Of
    sequences alone, "analytic" asks for 2V − 1 instead of n_samples random ones (Eqs. 52–58): each word alone, and each
    beside one of two words whose values lie far apart, the one that it is further from. A share
    ρ = (F − v_r)/(v_k − v_r), which a model that is no SLALOM may put outside (0, 1), is kept within 10⁻⁶ of it, and
    `about` counts how often (clipped).
    Raises ValueError, in one line, for an empty document, another `around`, and where all words alone score the same
    ("analytic").

    >>> truth = Slalom(["a", "good", "film"], [-1, 2, -1], [0, 3, -1])
    >>> fit_slalom(truth, ["a", "good", "film"]).importances.round(6).tolist()
    [-1.0, 2.0, -1.0]
    """
    if read_as(model_or_predict) == "multi-label":
        raise ValueError("a SLALOM of several classes knows their scores but for a common number, as softmax does, and "
                         "these labels are independent: fit one, lambda documents: model.predict(documents)[:, label]")
    if around not in ("sequences", "deletions", "masks") or method == "analytic" and around != "sequences":
        raise ValueError('around must be "sequences", "deletions" or "masks", and of method="analytic" the first, got '
                         f"{around!r}")
    document = read_tokens(model_or_predict, document)
    words, about = list(dict.fromkeys(document)), {"around": around, "seed": seed}
    if not words:
        raise ValueError("an empty document has no words to fit a SLALOM to")
    if method == "analytic":
        if class_token:
            raise ValueError('class_token=True: a word alone then shows no value, take method="varpro"')
        return _analytic(model_or_predict, words, progress)
    if around == "sequences":
        documents, about["length"] = random_sequences(words, n_samples, length, seed), length
        scores = scores_of(model_or_predict, documents, progress)
    else:
        model, masks = away(model_or_predict), sample_masks(len(document), as_whole(n_samples, "n_samples", 1), seed)
        if around == "deletions":
            model, most = away(model_or_predict, "delete"), as_whole(most, "most", 1)
            random = np.random.default_rng(seed)
            masks = random.random(masks.shape).argsort(1) >= random.integers(most + 1, size=(len(masks), 1))
        masks[:, np.isin(document, getattr(model, "separator", []))] = True
        documents, scores = model.documents(document, masks), model.scores(document, masks, progress=progress)
        words += [model.token] * (model.by == "replace" and model.token not in words)
        options = ({"widths": (1.0, float(len(document)))} if method == "varpro" else {}) | options
    fitted = fit_slalom_data(documents, scores, method, class_token, words, **options)
    return replace(fitted, about=fitted.about | about)


def fit_slalom_data(documents: Sequence[Document], scores: ArrayLike, method="varpro", class_token=False,
                    tokens: Sequence[str] | None = None, **options: float | Sequence[float]) -> Slalom:
    """A Slalom with the least squared error on documents (lists of tokens) and their scores (n,) or (n, C).

    method: "varpro", "alternating" or "sgd": `variable_projection`, `alternating`, `gradient_descent` have the options.
    class_token: fit an entry that every document has beside its words. tokens: those to give values to; by default all
    that occur. Of one that occurs nowhere nothing is known: it keeps what the method begins with, a value that is the
    mean score ("varpro") or 0.
    `about`: method, mse and r2 on these documents, n_samples, iterations, converged (not of "sgd"), and unseen: how
    many tokens occur nowhere.
    Raises ValueError, in one line, for documents without a token, and as many scores as there are documents not.

    >>> fit_slalom_data([["good"], ["film"], ["good", "film"]], [2, -2, 1]).importances.round(3)       # ½ log 3
    array([ 0.549, -0.549])
    """
    documents = [one if isinstance(one, list) else as_strings(one, "a document") for one in documents]
    scores = as_scores(scores, "scores", len(documents))
    words = as_strings([token for one in documents for token in one], "the documents, one after another,")
    seen = dict.fromkeys(words)
    tokens = list(seen) if tokens is None else as_strings(tokens, "tokens")
    place = {token: i for i, token in enumerate(tokens)}
    if not seen or not seen.keys() <= place.keys():
        raise ValueError("a SLALOM is fitted to documents with at least one token, all of them in `tokens` if that is "
                         f"given, got {len(documents)} documents and {[t for t in seen if t not in place][:3]} beside")
    if method not in METHODS:
        raise ValueError(f'method must be "varpro", "alternating", "sgd" or, of a model, "analytic", got {method!r}')
    width = len(tokens) + bool(class_token)
    starts = np.repeat(width * np.arange(len(documents)), list(map(len, documents)))
    N = np.bincount(starts + [place[word] for word in words], minlength=len(documents) * width).reshape(-1, width) + 0.
    N[:, len(tokens):] = 1
    filled = N.sum(1) > 0                                                         # an empty document scores 0 anyhow
    y = scores.reshape(len(scores), -1)
    y = y - y.mean(1, keepdims=True) if scores.ndim == 2 else y
    s, v, about = METHODS[method](N[filled], y[filled], **options)
    F = np.zeros_like(y)
    A = N[filled] * np.exp(s - s.max())
    F[filled] = A @ v / A.sum(1, keepdims=True)
    mse, spread = ((y - F)**2).mean(), y.var(0).mean()
    v, V = v.reshape(-1, *scores.shape[1:]), len(tokens)
    about |= {"method": method, "n_samples": len(documents), "mse": float(mse), "unseen": V - len(seen),
              "r2": float(1 - mse / spread) if spread else float("nan")}
    return Slalom(tokens, s[:V], v[:V], (s[-1], v[-1]) if class_token else None, about)


def variable_projection(N, y, max_iterations=100, widths=WIDTHS, tolerance=5e-3):
    """(s (V,), v (V, C), about) that minimise ‖y − A v‖², A_ik = N_ik e^{s_k} / Σ_j N_ij e^{s_j}; N (n, V), y (n, C).

    For each s the best v is solved for. Words that the data hardly determine are held by normal priors, of s around 0
    and of v around the mean of y, with `widths` as standard deviations (of v in those of y), against the noise that is
    left: without them an importance may run to ±∞. They vanish with the error, so that a SLALOM's data give it back.
    The damping follows how much of the expected gain a step brings (Nielsen 1999, "Damping parameter in Marquardt's
    method"). It ends, converged, once a step lowers the cost by less than `tolerance`, relatively; none ever raises it.
    """
    s, mean = np.zeros(N.shape[1]), y.mean(0)
    spread = np.sqrt(((y - mean)**2).mean())
    if spread <= 1e-15 * abs(mean).max():
        return s, np.tile(mean, (len(s), 1)), {"iterations": 0, "converged": True}
    y, lam, converged = (y - mean) / spread, 0.1, False
    ridges = 1 / np.square(widths)
    A, solve, v, r, cost = _solved(N, y, s, ridges)
    for iteration in range(1, max_iterations + 1):
        H, slope = _kaufman(A, solve, v, y - r, r)
        H[np.diag_indices(len(s))] += ridges[0]
        slope -= ridges[0] * s
        growth = 2
        while lam < 1e12:
            damping = lam * (H.diagonal() + 1e-12)
            step = np.linalg.solve(H + np.diag(damping), slope)
            *_, tried_r, tried = _solved(N, y, s + step, ridges)
            if tried < cost:
                break
            lam, growth = lam * growth, growth * 2
        converged = tried > (1 - tolerance) * cost
        if tried < cost:
            gain = (cost - tried) / (step @ (damping * step + slope))             # 1: as the quadratic model expects
            lam *= max(1 / 8, 1 - (2 * gain - 1)**3)
            s, r = s + step, tried_r
        ridges = max((r**2).mean(), 1e-30) / np.square(widths)
        A, solve, v, r, cost = _solved(N, y, s, ridges)
        if converged := converged or cost < 1e-26 * y.size:                       # or at the limit of rounding
            break
    return s, mean + v * spread, {"iterations": iteration, "converged": bool(converged)}


def _shares(N, w):
    """α (n, V) by word of documents with counts N (n, V), for weights w = e^s (V,)."""
    A = N * w
    return A / A.sum(1, keepdims=True)


def _solved(N, y, s, ridges):
    """(A, B → M⁻¹B, v, residuals r, cost): the best values v, M = AᵀA + ridge; the cost is ‖r‖² and both penalties."""
    A = _shares(N, np.exp(s - s.max()))
    M = A.T @ A
    scale = 1 / np.sqrt(M.diagonal() + 1e-300)                                    # of equal size, for rounding's sake
    M = scale[:, None] * M * scale
    M[np.diag_indices(len(M))] += ridges[1] * scale**2 + 1e-14

    def solve(B):
        return scale[:, None] * np.linalg.solve(M, scale[:, None] * B)
    v = solve(A.T @ y)
    r = y - A @ v
    return A, solve, v, r, (r**2).sum() + ridges[0] * (s**2).sum() + ridges[1] * (v**2).sum()


def _kaufman(A, solve, v, F, r):
    """(JᵀJ (V, V), −Jᵀr (V,)) of the residuals r = y − F with v solved for: J = −(I − A M⁻¹ Aᵀ) B, where B_ik =
    A_ik (v_k − F_i) is the derivative of A v."""
    H, slope = 0, 0
    for c in range(r.shape[1]):
        B = A * (v[:, c] - F[:, c, None])                                         # (n, V)
        AB = A.T @ B
        H = H + B.T @ B - AB.T @ solve(AB)
        slope = slope + B.T @ r[:, c]
    return H, slope


def alternating(N, y, rounds=100):
    """(s (V,), v (V, C), about) by least squares in turns, as the authors' public code fits deletions, in one round.

    For weights w = e^s the values are least squares. For values the residuals y_i − F_i, times the denominator, are
    −Σ_k N_ik (v_k − y_i) w_k: linear in w, whose sum is held. A weight that would be below 10⁻⁶ of the mean is put
    there (they bound it by 0). It ends, converged, once a round no longer lowers the squared error, and keeps the best.
    Near a document, where s and v are hard to tell apart, it creeps, or stops before variable projection does.
    """
    w, seen, best = np.ones(N.shape[1]), N.any(0), np.inf
    for iteration in range(rounds + 1):
        A = _shares(N, w)
        v = np.linalg.lstsq(A, y)[0]
        error = ((A @ v - y)**2).mean()
        if error >= best:
            break
        best, kept = error, (np.log(w), v)
        B = np.concatenate([(N * (v_c - y_c[:, None]))[:, seen] for v_c, y_c in zip(v.T, y.T, strict=True)])
        G = B.T @ B
        G[np.diag_indices(len(G))] += 1e-12 * G.trace() + 1e-300
        w[seen] = np.linalg.solve(G, np.ones(len(G)))
        w[seen] = np.maximum(w[seen] / abs(w[seen]).mean(), CLIPPED)
    return *kept, {"iterations": iteration, "converged": bool(error >= best)}


def gradient_descent(N, y, epochs=60, batch_size=128, lr=5e-3):
    """(s (V,), v (V, C), about) by Algorithm 1: Adam on all parameters from 0, on the documents in their order.

    The defaults are those of the authors' package (slalom-explanations 0.1.2).
    """
    import torch

    N, y = torch.tensor(N).log(), torch.tensor(y)
    with torch.inference_mode(False):                                     # gradients are on, whatever is around
        s = torch.zeros(N.shape[1], dtype=N.dtype, requires_grad=True)
        v = torch.zeros(N.shape[1], y.shape[1], dtype=N.dtype, requires_grad=True)
        adam = torch.optim.Adam([s, v], lr)
        for _ in range(epochs):
            for rows, target in zip(N.split(batch_size), y.split(batch_size), strict=True):
                adam.zero_grad()
                ((target - (rows + s).softmax(1) @ v)**2).sum().backward()
                adam.step()
    return s.detach().numpy(), v.detach().numpy(), {"iterations": epochs * -(-len(N) // batch_size)}


METHODS = {"varpro": variable_projection, "alternating": alternating, "sgd": gradient_descent}


def random_sequences(tokens: Sequence[str], n: int, length: int | Sequence[int], seed=0) -> list[list[str]]:
    """n lists of words drawn independently, each of the distinct tokens as often as any other.

    length: of all of them, or a pair (shortest, longest), any length in between being as likely.

    >>> random_sequences(["good", "film"], 3, (1, 3))
    [['good', 'good', 'good'], ['good', 'good'], ['good', 'film']]
    """
    words, n, seed = list(dict.fromkeys(as_strings(tokens, "tokens"))), as_whole(n, "n", 1), as_whole(seed, "seed")
    shortest, longest = (as_whole(one, "length", 1) for one in np.broadcast_to(length, 2).tolist())
    if not words or longest < shortest:
        raise ValueError(f"sequences need a token and a length, or (shortest, longest), got {len(words)} and {length}")
    random = np.random.default_rng(seed)
    lengths = random.integers(shortest, longest + 1, n)
    ids = np.split(random.integers(len(words), size=lengths.sum()), lengths.cumsum()[:-1])
    return [[words[i] for i in one] for one in ids]


def _analytic(model_or_predict, words, progress):
    """The SLALOM from each word alone and V − 1 pairs (Eqs. 52–58)."""
    alone = scores_of(model_or_predict, [[word] for word in words], progress)
    v = alone.reshape(len(words), -1)
    v = v - v.mean(1, keepdims=True) if alone.ndim == 2 else v                    # (V, C), or (V, 1)
    a = np.linalg.norm(v - v.mean(0), axis=1).argmax()
    from_a = np.linalg.norm(v - v[a], axis=1)
    b = from_a.argmax()
    if len(words) > 1 and not from_a[b]:
        raise ValueError("every word alone scores the same, so that pairs cannot show importances (Prop. 5.2 needs a "
                         'model that is not constant): take method="varpro"')
    reference = np.where(from_a >= np.linalg.norm(v - v[b], axis=1), a, b)
    reference[b] = a
    others = np.delete(np.arange(len(words)), a)
    eta, clipped = np.zeros(len(words)), 0
    if len(others):
        r = reference[others]
        F = scores_of(model_or_predict, [[words[k], words[j]] for k, j in zip(others, r, strict=True)], progress)
        F = F.reshape(len(others), -1)
        F = F - F.mean(1, keepdims=True) if alone.ndim == 2 else F
        gap = v[others] - v[r]
        rho = ((F - v[r]) * gap).sum(1) / (gap**2).sum(1)                         # Eq. 52, or its projection for C > 2
        share = rho.clip(CLIPPED, 1 - CLIPPED)
        clipped = int((share != rho).sum())
        eta[others] = np.log(share / (1 - share))
        eta[others] += np.where(r == b, eta[b], 0)                                # Eq. 56
    about = {"method": "analytic", "n_samples": 2 * len(words) - 1, "clipped": clipped}
    return Slalom(words, eta, v.reshape(alone.shape), about=about)
