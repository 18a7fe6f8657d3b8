"""The check of assignment 11 on what lies between two minima of a loss."""

from attention_questions.prelude import Question, np

from . import solution
from .maps import softmax


def _case(n, d, seed, turned, lam=0.05, t=(0.0, 0.25, 0.5, 0.75, 1.0)):
    """Two students on one side of 0 or on opposite ones, sequences x (n, 2, d), targets (n, 2, d) of some teacher."""
    Q0, Q1 = np.random.default_rng(seed).normal(size=(2, d))
    Q1 = Q1 * np.sign(Q0 @ Q1) * (-1 if turned else 1)
    random = np.random.default_rng(seed)
    x, teacher = random.normal(size=(n, 2, d)), random.normal(size=d)
    g = x @ teacher / np.sqrt(d)                                        # (n, 2)
    return Q0, Q1, x, softmax(g[:, :, None] * g[:, None]) @ x, lam, np.array(t)


barrier = Question(solution.barrier, (1, 0), {
    "one side": _case(6, 4, 0, False), "opposite sides": _case(8, 5, 1, True),
    "no penalty, and uneven steps": _case(7, 3, 11, True, lam=0.0, t=(0.0, 0.1, 0.3, 0.8, 1.0)),
    "only the ends": _case(5, 4, 3, False, t=(0.0, 1.0))},
    promises={"that begins with 0 and ends with 1": lambda Q0, Q1, x, y, lam, t: t[0] == 0 and t[-1] == 1},
    returns="losses (m,), height", tolerance=(1e-6, 1e-9),
    forbidden=("coursekit.worlds.teacher.minimise",), instead="the formula",
    otherwise="Take the first t, 0: then Q is Q₀. Compute the four numbers of the first sequence's attention, its two "
              "outputs, and the sum of squares of what is left, one after the other.",
    hints={"matmul|shapes|dimension": "x is (n, 2, d) and Q (d,): x @ Q is (n, 2), one number g for each token. The "
                                      "scores are (n, 2, 2), and the weights times x (n, 2, d)."})
barrier.mistakes(
    ("Q and −Q give the same outputs, and their midpoint is 0. Turn Q₁ round where Q₀·Q₁ is negative, or the path "
     "leads past 0.", "-Q1 if Q0 @ Q1 < 0 else Q1 → Q1"),
    ("The penalty λ/2 ‖Q‖² is missing.", " + lam / 2 * Q @ Q → "),
    ("The penalty is λ/2 ‖Q‖²: the half is missing.", "lam / 2 → lam"),
    ("Each g is x·Q over √d. It was divided by d.", "np.sqrt(d) → d"),
    ("A score is a product of two g, and each g is x·Q over √d: these scores are too large.", " / np.sqrt(d) → "),
    ("A score is a product of two g, and each has a √d: the scores were divided by √d only once.",
     " / np.sqrt(d) → ", "g[:, None]) → g[:, None] / np.sqrt(d))"),
    ("The squares are divided by d and not by 2d.", "(2 * d) → d"),
    ("That is a mean over the sequences. In the formula they are added up.", 
     "(off ** 2).sum() → (off ** 2).sum() / len(x)"),
    ("That is the loss itself. It is asked for per d: divided by d once more.", "Q @ Q) / d → Q @ Q)"),
    ("The softmax runs over the wrong axis: the weights of *each token* add up to 1, row by row.",
     "e.sum(-1 → e.sum(1"),
    ("The height is that of the middle. The largest loss may lie anywhere on the way.",
     "float(losses.max() - max(losses[0], losses[-1])) → "
     "max(float(losses[len(losses) // 2] - max(losses[0], losses[-1])), 0.0)"),
    ("The height is measured from the lower end. A barrier is what rises above both.",
     "max(losses[0], losses[-1]) → min(losses[0], losses[-1])"),
    ("The height is measured from the mean of the ends. A barrier is what rises above both.",
     "max(losses[0], losses[-1]) → (losses[0] + losses[-1]) / 2"))
