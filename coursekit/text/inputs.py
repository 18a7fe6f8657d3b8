"""What the tokenizers take, and the one line they answer with when they are given something else."""

import operator
import reprlib

__all__ = ["as_text", "as_texts", "as_tokens", "as_vocab", "pick"]


def as_text(text):
    """`text` itself if it is a string, else TypeError."""
    if not isinstance(text, str):
        raise TypeError(f"expected one text (a string), got {type(text).__name__} {reprlib.repr(text)}: "
                        "for several texts call once for each")
    return text


def as_texts(texts):
    """The texts to train on as a list of strings; else TypeError, or ValueError if there is nothing in them."""
    if isinstance(texts, str):
        raise TypeError("expected a list of texts, got one string: write train([text], vocab_size)")
    try:
        texts = list(texts)
    except TypeError:
        raise TypeError(f"expected a list of texts (strings), got {type(texts).__name__}") from None
    for text in texts:
        as_text(text)
    if not any(texts):
        raise ValueError("nothing to learn from: texts is empty, or holds only empty strings; give at least one text")
    return texts


def as_tokens(tokens):
    """The tokens as a list of strings; TypeError for a single string, which is a text that nobody has cut yet."""
    if isinstance(tokens, str):
        raise TypeError("expected a list of tokens, got one string: tokenize(text) makes the list")
    return list(tokens)


def as_vocab(tokens):
    """Number the tokens 0 … D-1: a dictionary token → id. ValueError if one occurs twice."""
    vocab = {token: i for i, token in enumerate(tokens)}
    if len(vocab) < len(tokens):
        twice = next(token for i, token in enumerate(tokens) if vocab[token] != i)
        raise ValueError(f"{twice!r} is in the vocabulary twice: every token needs an id of its own, remove one")
    return vocab


def pick(ids, tokens):
    """[tokens[i] for i in ids] for integers of any kind (also NumPy's and torch's); ValueError for an unknown id."""
    try:
        ids = [operator.index(i) for i in ids]
    except TypeError:
        raise TypeError(f"expected a list of token ids (integers), got {reprlib.repr(ids)}") from None
    for i in ids:
        if not 0 <= i < len(tokens):
            raise ValueError(f"no token has the id {i}: the ids of this vocabulary are 0 to {len(tokens) - 1}")
    return [tokens[i] for i in ids]
