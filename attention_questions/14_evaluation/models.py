"""Small models to be explained: functions of rows, and a head of attention that reads documents."""

from attention_questions.prelude import np

LIBRARY = tuple(f"coursekit.evaluate.{name}" for name in (
    "recall_of_important_features", "sensitivity_axiom", "non_sensitivity", "deletion_curve", "comprehensiveness",
    "infidelity", "monotonicity", "effective_complexity", "against_the_best", "report"))
SINGLE = "predict takes a list of documents, and got a single one"


def floats(*arrays):
    """Arrays of these numbers."""
    return [np.array(array, float) for array in arrays]


def of_rows(said, f):
    """f, a function of inputs in rows (n, d), that refuses others; `said` is how a check shows it."""
    def model(X):
        X = np.asarray(X, float)
        if X.ndim != 2:
            raise ValueError(f"f takes inputs in rows, (n, d), and got the shape {X.shape}")
        return f(X)

    model.__doc__ = said
    return model


def head(words, later=0.0, empty=0.0):
    """predict(documents) of one head: words are {word: (log-weight, y)}, all others (0, 0); `later` is added to the
    log-weight at each step to the right, and `empty` is the score of an empty document."""
    def predict(documents):
        if any(type(document) is str for document in documents):
            raise ValueError(SINGLE)
        found = []
        for document in documents:
            s, y = np.array([words.get(word, (0.0, 0.0)) for word in document]).reshape(-1, 2).T
            weights = np.exp(s + later * np.arange(len(s)))
            found.append(weights @ y / weights.sum() if len(s) else empty)
        return np.array(found)

    predict.__doc__ = (f"a head; (log-weight, y) are {words}, and place t adds {later} t to the log-weight; an empty "
                       f"document scores {empty}")
    return predict
