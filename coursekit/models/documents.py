"""How documents get into a classifier: what is refused, how tokens become padded ids, and how many go in at once."""

import numpy as np
import torch


def as_document(document):
    """The document, or TypeError if it is no list of tokens, but a string or a list of ids.

    >>> as_document("good film")
    Traceback (most recent call last):
    TypeError: a document is a list of tokens, got the string 'good film': use tokenizer.tokenize(text)
    """
    if isinstance(document, str):
        raise TypeError(f"a document is a list of tokens, got the string {document[:40]!r}: "
                        "use tokenizer.tokenize(text)")
    kinds = set(map(type, document)) if hasattr(document, "__iter__") else {type(document)}
    if wrong := [kind.__name__ for kind in kinds if not issubclass(kind, str)]:
        raise TypeError(f"a document is a list of tokens (strings), got {min(wrong)}: use tokenizer.tokenize(text)")
    return document


def token_ids(model, documents):
    """Token ids (n, T_max) of documents, padded; words outside the vocabulary share the padding's id (embedding h)."""
    tokenizer = model.tokenizer
    ids = torch.full((len(documents), model.T_max), tokenizer.pad_id)
    for row, document in zip(ids, documents, strict=True):
        tokens = model.tokens(document)
        row[:len(tokens)] = torch.tensor(tokenizer.convert_tokens_to_ids(tokens))
    return ids.masked_fill(ids == tokenizer.unk_id, tokenizer.pad_id)


def predict_in_chunks(model, documents, chunk):
    """Scores (n,) of documents as a NumPy array, `chunk` documents at a time so that memory stays bounded: those of
    like length together, for a batch is as long as its longest document."""
    if isinstance(documents, str) or (documents and isinstance(documents[0], str)):
        raise TypeError("expected a list of documents (lists of tokens), got strings: for one document pass [document]")
    order = sorted(range(len(documents)), key=lambda i: len(as_document(documents[i])))
    with torch.no_grad():
        scores = [model.score([documents[i] for i in order[k:k + chunk]]) for k in range(0, len(order), chunk)]
    return torch.cat(scores)[np.argsort(order)].cpu().numpy() if scores else torch.zeros(0).numpy()


def as_embeddings(e, T_max, d_e):
    """The embeddings e, or ValueError if their shape is not (…, T, d_e) with 1 ≤ T ≤ T_max."""
    if e.dim() < 2 or not 1 <= e.shape[-2] <= T_max or e.shape[-1] != d_e:
        raise ValueError(f"expected embeddings (…, T, {d_e}) with 1 ≤ T ≤ {T_max}, got {tuple(e.shape)}: "
                         "use embed(document)")
    return e
