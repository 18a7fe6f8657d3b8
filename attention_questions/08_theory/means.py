"""Check of assignment 08 on the centred form of LIME's limit."""

from attention_questions.prelude import Question, kind, np

from . import solution


def drawn(T, K, seed, times=1.0):
    """log g, y, log g_h, y_h (T, K), the first rows alike in both branches; `times` (K,) makes log g larger."""
    parts = np.random.default_rng(seed).integers(-4, 5, (4, T, K)) / 2
    parts[2:, :1] = parts[:2, :1]
    return parts[0] * times, parts[1], parts[2] * times, parts[3]


LOG_G, _, LOG_G_H, _ = drawn(4, 2, 7)


centred = Question(solution.centred, (1, 2), {
    "one head, a quarter removed": (*drawn(3, 1, 2), 0.25), "two heads": (*drawn(4, 2, 4), 0.5),
    "a model that always says 2": (LOG_G, np.full((4, 2), 2.0), LOG_G_H, np.full((4, 2), 2.0), 0.5),
    "nothing removed": (*drawn(4, 2, 4), 0.0),
    "log g of some thousands": (*drawn(4, 2, 21, times=np.array([1000.0, 1.0])), 0.75)},
    returns="(T,)", tolerance=(1e-9, 1e-11), forbidden=("coursekit.explain.lime_limit",), instead="the formula",
    otherwise="Take the first case by hand: G_x first, one number, then f̄_x, then Δ_j for the second token.")
CENTRE = "f = ((1 - x) * (g * y).sum(0) + x * (g_h * y_h).sum(0)) / G"
APART = "np.exp(log_g - most), np.exp(log_g_h - most) → np.exp(log_g - log_g.max(0)), np.exp(log_g_h - log_g_h.max(0))"
PRINTED = "(g * y / g.sum(0) - g_h * y_h / g_h.sum(0))"
centred.mistakes(
    ("The centre is missing: each y counts by how far it is from f̄_x. What does a model that always says 2 get here?",
     f"{CENTRE} → f = 0.0"),
    ("That is the printed formula, 3/2 included: without a centre, and each g over the sum of its own branch.",
     APART, f"(delta / G) → 1.5 * {PRINTED}"),
    ("That is the printed formula with the factor 1. A token also changes the denominator, which centring is about.",
     APART, f"(delta / G) → {PRINTED}"),
    ("The share removed is ½ here, whatever x says.", "most = → x = 0.5\n    most ="),
    ("x is the share that is *removed*: at x = 0 every word is there.", "most = → x = 1 - x\n    most ="),
    ("f̄_x is the score of the whole document here. It changes with x, as G_x does.",
     f"{CENTRE} → f = (g * y).sum(0) / g.sum(0)"),
    ("f̄_x is a mean of two scores here. Numerator and denominator are mixed first, and divided then.",
     f"{CENTRE} → f = (1 - x) * (g * y).sum(0) / g.sum(0) + x * (g_h * y_h).sum(0) / g_h.sum(0)"),
    ("The two branches were measured in different units. g and g_h stand in one sum: take one number from both.",
     APART),
    ("Δ_j is not divided by G_x yet.", "delta / G → delta"),
    ("The heads were added up. The score is their mean.", ".mean(1) → .sum(1)"),
    ("f̄_x was averaged over the heads first. Each head has a centre of its own.",
     "delta = → f = f.mean()\n    delta ="),
    ("The sign is turned round: what counts is the word, less what stands in its place.", "delta / G → -delta / G"))


@centred.suspect
def _(got, *arguments):
    if kind(got) == "a NumPy array" and got.dtype.kind == "f" and not np.isfinite(got).all():
        return ("Something is not a number: exp of some thousands is infinite, and of minus some thousands 0. Only "
                "ratios *within* a head count: what may be taken from all its logarithms, of both branches, first?")
    return None
