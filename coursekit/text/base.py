"""What all four tokenizers share: a numbered list of tokens, and the way from tokens to ids and back.

A tokenizer numbers its tokens 0 … D-1 and turns a text into a list of those numbers and back. All four are alike:

    T.train(texts, vocab_size)         learn a vocabulary of at most `vocab_size` tokens from a list of strings
    t.tokens, t.vocab                  list, id → token; dictionary, token → id
    t.tokenize(text)                   text → list of tokens (strings)
    t.convert_tokens_to_ids(tokens)    list of tokens → list of ids; what is not in the vocabulary becomes `unk_id`
    t.encode(text)                     both steps: text → list of ids
    t.decode(ids)                      ids → text, as near to the first text as the tokenizer can; special tokens
                                       are written by their names

Special tokens stand for no piece of text: they mark what is unknown, padding, or the place where a model gathers
what it has read. Their ids are attributes (`unk_id`, `pad_id`, `cls_id`, …), and each class says which it has.
`encode` never takes a text for one, whatever it looks like: put `t.cls_id` where you want it. Only
`convert_tokens_to_ids`, which is given tokens and not a text, takes the string "[CLS]" for the special token.
"""

import operator
import reprlib

from coursekit.inputs import as_tokens

__all__ = ["Tokenizer", "as_vocab", "most_frequent"]


class Tokenizer:
    """A list of tokens, each with an id. How a text is cut (`tokenize`) and put together (`decode`) each class says.

    tokens: list of different strings, in the order of their ids.
    """

    def __init__(self, tokens):
        self.tokens = as_tokens(tokens)
        self.vocab = as_vocab(self.tokens)

    def __repr__(self):
        return f"{type(self).__name__}({len(self.tokens)} tokens)"

    def convert_tokens_to_ids(self, tokens):
        """List of tokens → list of ids, `unk_id` for what is not in the vocabulary."""
        return [self.vocab.get(token, self.unk_id) for token in as_tokens(tokens)]

    def encode(self, text):
        """Text → list of ids, one for each of its tokens."""
        return self.convert_tokens_to_ids(self.tokenize(text))

    def _pick(self, ids):
        """List of ids (integers, NumPy's and torch's too) → list of tokens; ValueError for an unknown id."""
        try:
            ids = [operator.index(i) for i in ids]
        except TypeError:
            raise TypeError(f"expected a list of token ids (integers), got {reprlib.repr(ids)}") from None
        for i in ids:
            if not 0 <= i < len(self.tokens):
                raise ValueError(f"no token has the id {i}: the ids of this vocabulary are 0 to {len(self.tokens) - 1}")
        return [self.tokens[i] for i in ids]


def as_vocab(tokens):
    """Number the tokens 0 … D-1: a dictionary token → id. ValueError if one occurs twice.

    >>> as_vocab(["a", "b"])
    {'a': 0, 'b': 1}
    """
    vocab = {token: i for i, token in enumerate(tokens)}
    if len(vocab) < len(tokens):
        twice = next(token for i, token in enumerate(tokens) if vocab[token] != i)
        raise ValueError(f"{twice!r} is in the vocabulary twice: every token needs an id of its own, remove one")
    return vocab


def most_frequent(counts, vocab_size, specials):
    """The `vocab_size - len(specials)` tokens counted most often, the most frequent first (ties: the smallest).

    >>> most_frequent({"b": 2, "c": 1, "a": 2}, vocab_size=3, specials=["[UNK]"])
    ['a', 'b']
    """
    room = vocab_size - len(specials)
    if room < 1:
        raise ValueError(f"vocab_size must be at least {len(specials) + 1} ({', '.join(specials)} and one token), "
                         f"got {vocab_size}")
    if not counts:
        raise ValueError("nothing to learn from: there is no word in the texts")
    return sorted(counts, key=lambda token: (-counts[token], token))[:room]
