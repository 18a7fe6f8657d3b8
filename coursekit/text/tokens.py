"""Two simple ways to cut a text: into characters, and into words. What all tokenizers share is in `base.py`."""

import re
from collections import Counter

from coursekit.inputs import as_text, as_texts
from coursekit.text.base import Tokenizer, most_frequent

__all__ = ["CharTokenizer", "WordTokenizer"]


class CharTokenizer(Tokenizer):
    """Every character of an alphabet is a token; its id is its place in the alphabet, counted from 1.

    alphabet: a string (or list) of different characters. Upper and lower case are different characters.
    Special tokens: "[UNK]", id 0, for all other characters and for padding: `unk_id` = `pad_id` = 0.

    `decode(encode(text)) == text` for every text over the alphabet.

    >>> import string
    >>> letters = CharTokenizer(string.ascii_uppercase)
    >>> letters.encode("DATAIA")
    [4, 1, 20, 1, 9, 1]
    >>> letters.decode(letters.encode("DATA-IA"))
    'DATA[UNK]IA'
    """

    unk_id = pad_id = 0

    def __init__(self, alphabet):
        if wrong := [char for char in alphabet if len(as_text(char)) != 1]:
            raise ValueError(f"an alphabet is made of single characters, got {wrong[0]!r}")
        super().__init__(["[UNK]", *alphabet])

    @classmethod
    def train(cls, texts, vocab_size):
        """The vocab_size - 1 most frequent characters (the smallest code points among equals), in code-point order."""
        counts = Counter(char for text in as_texts(texts) for char in text)
        return cls(sorted(most_frequent(counts, vocab_size, specials=["[UNK]"])))

    def tokenize(self, text):
        """Text → list of its characters, known or not."""
        return list(as_text(text))

    def decode(self, ids):
        """List of ids → text."""
        return "".join(self._pick(ids))


class WordTokenizer(Tokenizer):
    """Every frequent word, and every punctuation mark, is a token; a word that is not in the vocabulary is unknown.

    The text is lower-cased. A word is a run of letters and digits, with apostrophes inside ("don't"); every other
    character that is no white space is a token of its own. The underscore counts as white space, so that "my_name" is
    two words.

    words: list of tokens in the order of their ids; the first three must be "[PAD]", "[UNK]", "[CLS]".
    Special tokens: those three, `pad_id` = 0, `unk_id` = 1, `cls_id` = 2.

    What is lost: case, white space, unknown words. `encode(decode(ids)) == ids` where no special token is in `ids`.

    >>> tokenizer = WordTokenizer.train(["Good food, good mood."], vocab_size=6)
    >>> tokenizer.tokens
    ['[PAD]', '[UNK]', '[CLS]', 'good', ',', '.']
    >>> tokenizer.tokenize("Don't skip the food!")
    ["don't", 'skip', 'the', 'food', '!']
    >>> tokenizer.encode("A good, good idea.")
    [1, 3, 4, 3, 1, 5]
    >>> tokenizer.decode([1, 3, 4, 3, 1, 5])
    '[UNK] good , good [UNK] .'
    """

    SPECIALS = ["[PAD]", "[UNK]", "[CLS]"]
    pad_id, unk_id, cls_id = 0, 1, 2
    PATTERN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]")

    def __init__(self, words):
        super().__init__(words)
        if self.tokens[:3] != self.SPECIALS:
            raise ValueError(f"the first three words must be {self.SPECIALS}, got {self.tokens[:3]}: "
                             "put them in front, or learn the vocabulary with WordTokenizer.train(texts, vocab_size)")

    @classmethod
    def train(cls, texts, vocab_size):
        """The special tokens, then the vocab_size - 3 most frequent words, the most frequent first (ties: A to Z)."""
        counts = Counter(word for text in as_texts(texts) for word in cls.split(text))
        return cls(cls.SPECIALS + most_frequent(counts, vocab_size, cls.SPECIALS))

    @classmethod
    def split(cls, text):
        """Text → list of words and punctuation marks, as every WordTokenizer cuts it.

        >>> WordTokenizer.split("Don't, my_friend!")
        ["don't", ',', 'my', 'friend', '!']
        """
        return cls.PATTERN.findall(as_text(text).lower())

    def tokenize(self, text):
        """Text → list of words and punctuation marks, known or not."""
        return self.split(text)

    def decode(self, ids):
        """List of ids → the words with blanks between."""
        return " ".join(self._pick(ids))
