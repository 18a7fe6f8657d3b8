"""What a head looks at, measured: the previous token, the next, itself, the delimiters, the same word, or everything.

The kinds are those that Kovaleva et al. (EMNLP 2019) and Clark et al. (BlackboxNLP 2019) saw in BERT. Each share is
put beside what attention spread evenly would give, because a document of five tokens has a lot of neighbours.
"""

from collections.abc import Sequence

import numpy as np

from coursekit.inputs import Document
from coursekit.models.protocols import WhiteBox

from .asking import require_methods

DELIMITERS = {"[CLS]", "[SEP]", "<s>", "</s>", "<|endoftext|>"}


def kinds_of_pairs(tokens: Sequence[str]) -> dict[str, np.ndarray]:
    """{kind: (T, T) booleans}: is t, seen from s, the token before, the one after, itself, a delimiter, a mark of
    punctuation, the same word at another place? One pair can be of several kinds.

    >>> kinds_of_pairs(["[CLS]", "a", "a"])["same word"].astype(int).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    """
    T = len(tokens)
    words = np.array([token.removeprefix("Ġ").lower() for token in tokens], dtype=object)
    delimiter = np.array([token in DELIMITERS for token in tokens], dtype=bool)
    mark = np.array([not any(map(str.isalnum, word)) for word in words], dtype=bool) & ~delimiter
    return {"previous": np.eye(T, k=-1, dtype=bool), "next": np.eye(T, k=1, dtype=bool),
            "itself": np.eye(T, dtype=bool),
            "delimiter": np.tile(delimiter, (T, 1)), "punctuation": np.tile(mark, (T, 1)),
            "same word": (words[:, None] == words) & ~np.eye(T, dtype=bool) & ~delimiter}


def head_patterns(model: WhiteBox, documents: Sequence[Document]) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """({kind: (L, K)}, {kind: even}): the share of each head's attention that goes to each kind, over all rows of all
    documents, and the share that even attention would give.

    "broad" is the entropy of a row over that of an even one, which is log T, or log s for row s of a causal model: 1 is
    even attention, 0 a single token. Rows that can see one token only are not counted; attention to padding is left
    out, and a row that has no other counts as even. model: anything with `tokens(document)` and
    `attentions(document) -> (L, K, T, T)`.
    Raises ValueError if no document has two tokens, TypeError for a model without these methods.

    >>> from types import SimpleNamespace
    >>> import torch
    >>> model = SimpleNamespace(tokens=list, attentions=lambda d: torch.tensor([[[[1.0, 0.0], [0.9, 0.1]]]]))
    >>> shares, even = head_patterns(model, [["good", "film"]])           # causal: the first token has no choice
    >>> round(shares["previous"].item(), 3), round(even["previous"].item(), 3)
    (0.9, 0.5)
    """
    require_methods(model, "tokens", "attentions", explainer="head_patterns",
                    instead="pass an object with both, whose attentions(document) are (L, K, T, T)")
    sums, even, rows = {}, {}, 0
    for document in documents:
        tokens, A = model.tokens(document), model.attentions(document).detach().cpu().numpy()
        causal = not np.triu(A, 1).any()
        seen = np.tri(len(tokens)) if causal else np.ones((len(tokens),) * 2)   # (T, T)
        counted = seen.sum(1) > 1
        A, seen, kinds = A[:, :, counted], seen[counted], kinds_of_pairs(tokens)
        spread = seen / seen.sum(1, keepdims=True)                              # (T, T): even attention
        total, rows = A.sum(-1, keepdims=True), rows + counted.sum()
        A = np.where(total > 0, A / np.where(total > 0, total, 1), spread)
        for kind, pairs in kinds.items():
            sums[kind] = sums.get(kind, 0) + (A * pairs[counted]).sum((2, 3))
            even[kind] = even.get(kind, 0) + (spread * pairs[counted]).sum()
        entropy = -(A * np.log(np.maximum(A, 1e-30))).sum(-1) / np.log(seen.sum(1))
        sums["broad"] = sums.get("broad", 0) + entropy.sum(-1)
    if not rows:
        raise ValueError("head_patterns needs a document with at least two tokens")
    shares = {kind: total / rows for kind, total in sums.items()}
    return shares, {kind: total / rows for kind, total in even.items()} | {"broad": 1.0}
