"""Check of assignment 08 on the centred form of LIME's limit."""

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["centred"]


def drawn(T, K, seed, same=1, times=1.0):
    """log g, y, log g_h, y_h (T, K), the first `same` rows alike in both branches; `times` (K,) makes log g larger."""
    parts = np.random.default_rng(seed).integers(-4, 5, (4, T, K)) / 2
    parts[2:, :same] = parts[:2, :same]
    return parts[0] * times, parts[1], parts[2] * times, parts[3]


ALWAYS_TWO = (*drawn(4, 2, 7)[:1], np.full((4, 2), 2.0), drawn(4, 2, 7)[2], np.full((4, 2), 2.0))


def _ratio(x, N, N_h, G, G_h):
    return ((1 - x) * N + x * N_h) / ((1 - x) * G + x * G_h)


@question((1, 2), {"one head, a quarter removed": (*drawn(3, 1, 2), 0.25), "two heads": (*drawn(4, 2, 4), 0.5),
                   "a model that always says 2": (*ALWAYS_TWO, 0.5), "nothing removed": (*drawn(4, 2, 4), 0.0),
                   "log g of some thousands": (*drawn(4, 2, 21, times=np.array([1000.0, 1.0])), 0.75)},
          returns="(T,)", tolerance=(1e-9, 1e-11), forbidden=("coursekit.explain.lime_limit",),
          instead="the formula",
          otherwise="Take the first case by hand: G_x first, one number, then f̄_x, then Δ_j for the second token.")
def centred(log_g, y, log_g_h, y_h, x, *, at=lambda x: x, centre=_ratio, of_heads=np.mean,
            level=lambda f: f, sign=1, over=lambda G: G):
    """centred(log_g, y, log_g_h, y_h, x): (T,), the mean over the heads of Δ_j(x)/G_x."""
    most = np.maximum(log_g.max(0), log_g_h.max(0))
    g, h, x = np.exp(log_g - most), np.exp(log_g_h - most), at(x)
    N, N_h, G, G_h = (g * y).sum(0), (h * y_h).sum(0), g.sum(0) + 1e-300, h.sum(0) + 1e-300    # no mistake divides by 0
    f = level(centre(x, N, N_h, G, G_h))
    return sign * of_heads((g * (y - f) - h * (y_h - f)) / over((1 - x) * G + x * G_h), axis=1)


def _printed(factor):
    """Eq. 19 with a factor."""
    def answer(log_g, y, log_g_h, y_h, x):
        alpha, alpha_h = (np.exp(part - part.max(0)) for part in (log_g, log_g_h))
        return factor * (alpha * y / alpha.sum(0) - alpha_h * y_h / alpha_h.sum(0)).mean(1)

    return answer


centred.mistakes(
    ("The centre is missing: each y counts by how far it is from f̄_x. What does a model that always says 2 get here?",
     dict(centre=lambda *_: 0.0)),
    ("That is the printed formula, 3/2 included: without a centre, and each g over the sum of its own branch.",
     _printed(1.5)),
    ("That is the printed formula with the factor 1. A token also changes the denominator, which centring is about.",
     _printed(1.0)),
    ("The share removed is ½ here, whatever x says.", dict(at=lambda x: 0.5)),
    ("x is the share that is *removed*: at x = 0 every word is there.", dict(at=lambda x: 1 - x)),
    ("f̄_x is the score of the whole document here. It changes with x, as G_x does.",
     dict(centre=lambda x, N, N_h, G, G_h: N / G)),
    ("f̄_x is a mean of two scores here. Numerator and denominator are mixed first, and divided then.",
     dict(centre=lambda x, N, N_h, G, G_h: (1 - x) * N / G + x * N_h / G_h)),
    ("The two branches were measured in different units. g and g_h stand in one sum: take one number from both.",
     lambda log_g, y, log_g_h, y_h, x: centred.reference(log_g - log_g.max(0), y, log_g_h - log_g_h.max(0), y_h, x)),
    ("Δ_j is not divided by G_x yet.", dict(over=lambda G: 1)),
    ("The heads were added up. The score is their mean.", dict(of_heads=np.sum)),
    ("f̄_x was averaged over the heads first. Each head has a centre of its own.",
     dict(level=lambda f: np.full_like(f, f.mean()))),
    ("The sign is turned round: what counts is the word, less what stands in its place.", dict(sign=-1)))


@centred.suspect
def _(got, *arguments):
    if kind(got) == "a NumPy array" and got.dtype.kind == "f" and not np.isfinite(got).all():
        return ("Something is not a number: exp of some thousands is infinite, and of minus some thousands 0. Only "
                "ratios *within* a head count: what may be taken from all its logarithms, of both branches, first?")
    return None
