"""How well does a surrogate say what the model says, on documents that it was not fitted to?"""

from coursekit.explain.asking import read_tokens, scores_of
from coursekit.explain.slalom_fit import random_sequences
from coursekit.inputs import Document, as_whole
from coursekit.models.protocols import Predicts


def fidelity(surrogate: Predicts, model: Predicts, document: Document, lengths=(1, 2, 5, 10, 30), n_samples=200,
             seed=1) -> dict[int, dict[str, float]]:
    """{length: {"mse": …, "r2": …}}: the surrogate's error on random sequences of a document's words, length by length.

    surrogate, model: anything with predict(documents), or such a function, both (n,) or both (n, C); C logits are
    counted from their mean over the classes, which no probability sees. r2: 1 minus the mse over the variance of the
    model's scores, below 0 where their mean would do better, nan where the model scores all alike.
    The sequences are those of `random_sequences` with this seed: take another one than the surrogate was fitted with.
    Raises ValueError, in one line, where one gives a document one score and the other several.

    >>> def model(documents):
    ...     return [2.0 * d.count("good") for d in documents]
    >>> def surrogate(documents):
    ...     return [2.0 * ("good" in d) for d in documents]
    >>> fidelity(surrogate, model, ["good", "film"], lengths=(1, 2), n_samples=8)[1]
    {'mse': 0.0, 'r2': 1.0}
    """
    words, errors = read_tokens(model, document), {}
    for length in lengths:
        sequences = random_sequences(words, as_whole(n_samples, "n_samples", 1), length, seed)
        F, f = (scores_of(one, sequences) for one in (surrogate, model))
        if F.shape != f.shape:
            raise ValueError(f"the surrogate's scores have shape {F.shape}, the model's {f.shape}: both should give "
                             "log-odds, or both logits of the same classes")
        if f.ndim == 2:
            F, f = (one - one.mean(1, keepdims=True) for one in (F, f))
        mse, spread = ((F - f)**2).mean(), f.var(0).mean()
        errors[length] = {"mse": float(mse), "r2": float(1 - mse / spread) if spread else float("nan")}
    return errors
