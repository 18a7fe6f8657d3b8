"""What the cards of the sentiment models say of the 64 reviews that were written by hand for the course: how many a
model gets right, and whether explanations of it come out otherwise on those that it gets wrong."""

from functools import partial

import numpy as np
from scipy.stats import mannwhitneyu

from coursekit.evaluate import rank_agreement
from coursekit.explain import attention_mean, gradient, integrated_gradients, leave_one_out
from coursekit.worlds import handwritten_reviews

EXPLAINERS = {"mean attention": attention_mean, "length of the gradient": partial(gradient, reduce="l2"),
              "integrated gradients": partial(integrated_gradients, n_nodes=16)}


def documents(tokenizer):
    """The reviews as lists of tokens."""
    return [tokenizer.tokenize(review.text) for review in handwritten_reviews()]


def is_right(scores):
    """Of which of the reviews a score (64,) lies on the right side of 0, (64,)."""
    return (np.asarray(scores) > 0) == [review.label == 1 for review in handwritten_reviews()]


def accuracy_row(right):
    """The card's row {name: value} for `right` (64,), with the standard error of the share."""
    n, share = len(right), right.mean()
    error = 100 * (share * (1 - share) / n) ** 0.5
    return {f"Accuracy on the course's {n} hand-written reviews": f"{right.sum()} of {n} ({share:.1%} ± {error:.1f}); "
            "they are hard on purpose: irony, negation, two opinions at once"}


def agreement(model, document):
    """Spearman's correlations (3,) of EXPLAINERS with leave-one-out; of those that have no sign, with its sizes."""
    gone = leave_one_out(model, document)
    return np.array([rank_agreement(explain(model, document), gone).spearman for explain in EXPLAINERS.values()])


def rows(model):
    """Both rows of the card of a white box; the second says *alike* where no explainer differs at 5 %."""
    reviews = documents(model.tokenizer)
    right = is_right(model.predict(reviews))
    values = np.stack([agreement(model, review) for review in reviews])                         # (64, 3)
    p = mannwhitneyu(values[right], values[~right]).pvalue.min()
    each = ", ".join(f"{name} {np.median(column[right]):.2f} and {np.median(column[~right]):.2f}"
                     for name, column in zip(EXPLAINERS, values.T, strict=True))
    verdict = "alike" if p >= 0.05 else "not alike"
    return accuracy_row(right) | {"How it reads those that it gets right, and wrong":
                                  f"{verdict}: median rank correlation with leave-one-out of {each}; the least p of a "
                                  f"rank-sum test is {p:.2f}"}
