"""Checks of assignment 10 on two sets of weights: how far apart they are, and what shuffling them does to a score."""

from attention_questions.prelude import Question, kind, np

from . import solution

LIBRARY = (*(f"coursekit.debate.{name}" for name in (
    "js_divergence", "adversarial_attention", "decision_flips", "effective_attention", "permuted_attention")),
    "coursekit.evaluate.rank_agreement", "scipy.spatial.distance.jensenshannon", "scipy.spatial.distance.cdist",
    "scipy.stats.entropy", "scipy.stats.kendalltau")


# -- js --------------------------------------------------------------------------------------------------------------

js = Question(solution.js, (1, 2), {
    "two rows": (np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]), np.array([0.25, 0.25, 0.5])),
    "sums that are not 1": (np.array([[1.0, 3.0], [0.2, 0.2]]), np.array([4.0, 1.0])),
    "zeros": (np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0], [6.0, 2.0, 0.0]]),
              np.array([0.75, 0.25, 0.0])),
    "one token": (np.array([[3.0]]), np.array([1.0]))},
    returns="divergences (n,)", forbidden=LIBRARY, instead="the formula",
    why="Where a weight is 0 the ratio becomes 1, so that no logarithm of 0 is taken. The middle is above 0 "
        "wherever p is, so nothing else can go wrong.",
    promises={"No weight is below 0": lambda P, q: min(P.min(), q.min()) >= 0,
              "no row is all zeros": lambda P, q: P.any(1).all() and q.any()},
    otherwise="Rows and q are divided by their sums first. Then by hand, for p = (1, 0) and q = (1/2, 1/2): m = (3/4, "
              "1/4), KL(p, m) = log 4/3, and KL(q, m) is the mean of log 2/3 and log 2. Which of these is not what you "
              "get?",
    hints={"math domain|ZeroDivision": "0 · log 0 counts as 0, and has no logarithm: leave out the places where a "
                                       "weight is 0."})
FIRST = "Weights are divided by their sums first, each row of P by its own and q by its own."
DIVIDED, MEAN = "P, q = P / P.sum(1, keepdims=True), q / q.sum()", "(kl(P, m) + kl(q, m)) / 2"
js.mistakes(
    (FIRST, f"{DIVIDED} → q = q / q.sum()"),
    (FIRST, f"{DIVIDED} → "),
    ("`q` is divided by its own sum first, too.", f"{DIVIDED} → P = P / P.sum(1, keepdims=True)"),
    *(("The middle lies between the *divided* weights. Here P and q were divided too late.",
       f"{DIVIDED}\n    m = (P + q) / 2 → m = {late}\n    {DIVIDED}")
      for late in ("(P + q) / 2", "(P + q) / (P + q).sum(1, keepdims=True)")),
    ("P was divided by the sums of its columns. Each row has its own: sum(1, keepdims=True).",
     "P.sum(1, keepdims=True) → P.sum(0)"),
    ("P was divided by the sum of all its rows. Each row has its own sum.", "P.sum(1, keepdims=True) → P.sum()"),
    ("Twice as much as is due: it is the *mean* of two divergences from the middle.", f"{MEAN} → kl(P, m) + kl(q, m)"),
    ("The middle is half the sum of p and q; the half is missing.", "m = (P + q) / 2 → m = P + q"),
    ("That is the divergence of Kullback and Leibler from p to q, infinite where q is 0. Both are compared with the "
     "middle m.", f"{MEAN} → kl(P, q)"),
    ("That is half the sum of |p − q|, the total variation, and no logarithm is in it.",
     f"{MEAN} → np.abs(P - q).sum(1) / 2"),
    ("That is the first half alone, p against m. The other is q against m.", f"{MEAN} → kl(P, m)"),
    ("Places where only one of the two weights is above 0 were left out. Leave out of KL(p, m) where p is 0, and of "
     "KL(q, m) where q is 0: each has its own.", f"{MEAN} → (kl(P * (q > 0), m) + kl(q * (P > 0), m)) / 2"),
    ("These are bits. With the natural logarithm the largest value is log 2 = 0.693.", "np.log → np.log2"),
    ("The root of the divergence is a distance, and another number.", f"{MEAN} → np.sqrt({MEAN})"))


@js.suspect
def _(got, P, q):
    if kind(got) == "a number":
        yield "One number came back, and one for each row of P is due: an array (n,)."
    if kind(got) == "a NumPy array" and np.isnan(got).any():
        yield "0 · log 0 is nan in NumPy, and counts as 0 here: sum over the places where the weight is above 0."


# -- shuffled --------------------------------------------------------------------------------------------------------

WEIGHTS = {"and `alpha` adds up to 1": lambda alpha, *_: alpha.min() >= 0 and abs(alpha.sum() - 1) < 1e-9}
Y = np.array([2.0, -1.0, 0.5, 4.0])


shuffled = Question(solution.shuffled, (1, 1), {
    "three tokens": (np.array([0.5, 0.5, 0.0]), np.array([1.0, 2.0, 6.0])),
    "four tokens": (np.array([0.5, 0.3, 0.15, 0.05]), Y),
    "all attention on one": (np.eye(5)[1], np.array([3.0, -2.0, 1.0, 0.0, 0.5])),
    "even attention": (np.full(4, 0.25), Y), "one token": (np.ones(1), np.array([-1.5])),
    "thirty tokens": (np.arange(1, 31) / 465, np.arange(30) % 7 - 2.0)},
    returns="mean, sd", forbidden=LIBRARY, instead="your formula", promises=WEIGHTS,
    why="What hint 3 adds up is the sum of a² times the sum of b², over T − 1. One token has no T − 1 to divide "
        "by, and goes first.",
    otherwise="The first case by hand: three orders differ, with the scores 1.5, 3.5 and 4. Their mean is 3. And their "
              "standard deviation?",
    hints={"endless": "Thirty tokens have 30! orders. The mean and the spread over all of them need none."})
shuffled.mistakes(
    ("The mean is the score itself. Each weight comes to each token equally often: what has that token then, on "
     "average?", "return mean, math → return alpha @ y, math"),
    ("`sd` is the variance. Its root is due.", "math.sqrt → "),
    ("Divided by T: so it would be if each weight drew a token for itself. In an order no two draw the same one, which "
     "leaves T − 1.", "/ (T - 1) → / T"),
    # 1/(T − 1) is 1/T, of s = t, and 1/(T (T − 1)), of the pairs s ≠ t: of these here 1/T², and below twice what is due
    ("The average of a_π(s) · a_π(t) was −same / T. How many pairs s ≠ t are there, if (s, t) and (t, s) are two?",
     "/ (T - 1) → * (1 / T + 1 / T ** 2)"),
    ("`mixed` is twice too large: pairs s ≠ t count as (s, t) and as (t, s) on both sides, or on neither.",
     "/ (T - 1) → * (1 / T + 2 / (T * (T - 1)))"),
    ("For `sd` the weights have not lost their mean 1/T: even attention stays the same in every order.",
     "(alpha - 1 / T) → alpha"),
    ("For `sd` the values y have not lost their mean: if all say the same, no order changes the score.",
     "(y - mean) → y"),
    ("For `sd` the mean square was taken of both: one 1/T too many.", "/ (T - 1) → / T ** 2"),
    *(("A standard deviation with `ddof=1` divides by one less than there are numbers, which is for samples. These are "
       "all tokens.", f"/ (T - 1) → {more}") for more in ("* T / (T - 1) ** 2", "* T ** 2 / (T - 1) ** 3")),
    ("`sd` lacks the root of T − 1 below: tokens draw from *one* set of weights, and cannot all draw the largest.",
     "/ (T - 1) → "),
    ("The mean is a sum of the values y: each has the weight 1/T on average.",
     "return mean, math → return y.sum(), math"))


@shuffled.suspect
def _(got, alpha, y):
    if type(got) in (tuple, list) and len(got) == 2 and {kind(part) for part in got} == {"a number"}:
        if np.isnan(got).any():
            yield "One token has one order: its sd is 0, and not 0/0."
        if got[0] != y.mean() and np.allclose(got, solution.shuffled(alpha, y), rtol=0.1, atol=0.02):
            yield "Near, as a sample of orders is. All of them are due, exactly: which products of weights come up?"
