"""Three ways to cut a text into tokens: characters, words, and word pieces. The fourth, byte pairs, is in `bpe.py`.

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

import re
import unicodedata
from collections import Counter

import regex

from coursekit.text.bpe import learn_merges
from coursekit.text.inputs import as_text, as_texts, as_tokens, as_vocab, pick

__all__ = ["CharTokenizer", "WordTokenizer", "WordPieceTokenizer"]


class CharTokenizer:
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
        self.tokens = ["[UNK]", *alphabet]
        self.vocab = as_vocab(self.tokens)

    def __repr__(self):
        return f"CharTokenizer({len(self.tokens)} tokens)"

    @classmethod
    def train(cls, texts, vocab_size):
        """The vocab_size - 1 most frequent characters (the smallest code points among equals), in code-point order."""
        counts = Counter(char for text in as_texts(texts) for char in text)
        return cls(sorted(_most_frequent(counts, vocab_size, specials=["[UNK]"])))

    def tokenize(self, text):
        """Text → list of its characters, known or not."""
        return list(as_text(text))

    def convert_tokens_to_ids(self, tokens):
        """List of tokens → list of ids, `unk_id` for what is not in the vocabulary."""
        return [self.vocab.get(token, self.unk_id) for token in as_tokens(tokens)]

    def encode(self, text):
        """Text → list of ids, one per character."""
        return self.convert_tokens_to_ids(self.tokenize(text))

    def decode(self, ids):
        """List of ids → text."""
        return "".join(pick(ids, self.tokens))


class WordTokenizer:
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
        self.tokens = as_tokens(words)
        if self.tokens[:3] != self.SPECIALS:
            raise ValueError(f"the first three words must be {self.SPECIALS}, got {self.tokens[:3]}: "
                             "put them in front, or learn the vocabulary with WordTokenizer.train(texts, vocab_size)")
        self.vocab = as_vocab(self.tokens)

    def __repr__(self):
        return f"WordTokenizer({len(self.tokens)} tokens)"

    @classmethod
    def train(cls, texts, vocab_size):
        """The special tokens, then the vocab_size - 3 most frequent words, the most frequent first (ties: A to Z)."""
        counts = Counter(word for text in as_texts(texts) for word in cls._split(text))
        return cls(cls.SPECIALS + _most_frequent(counts, vocab_size, cls.SPECIALS))

    @classmethod
    def _split(cls, text):
        return cls.PATTERN.findall(text.lower())

    def tokenize(self, text):
        """Text → list of words and punctuation marks, known or not."""
        return self._split(as_text(text))

    def convert_tokens_to_ids(self, tokens):
        """List of tokens → list of ids, `unk_id` for what is not in the vocabulary."""
        return [self.vocab.get(token, self.unk_id) for token in as_tokens(tokens)]

    def encode(self, text):
        """Text → list of ids, one per word or punctuation mark."""
        return self.convert_tokens_to_ids(self.tokenize(text))

    def decode(self, ids):
        """List of ids → the words with blanks between."""
        return " ".join(pick(ids, self.tokens))


def _most_frequent(counts, vocab_size, specials):
    """The `vocab_size - len(specials)` tokens counted most often, the most frequent first (ties: the smallest)."""
    room = vocab_size - len(specials)
    if room < 1:
        raise ValueError(f"vocab_size must be at least {len(specials) + 1} ({', '.join(specials)} and one token), "
                         f"got {vocab_size}")
    if not counts:
        raise ValueError("nothing to learn from: there is no word in the texts")
    return sorted(counts, key=lambda token: (-counts[token], token))[:room]


# BERT's words: a punctuation mark or an ideograph is a word by itself, else whatever stands between blanks. All signs
# of ASCII are punctuation here, also those that Unicode calls symbols.
ALONE = (r"\p{P}$+<=>^`|~\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF"
         r"\U00020000-\U0002A6DF\U0002A700-\U0002CEAF\U0002F800-\U0002FA1F")
BERT_WORD = regex.compile(rf"[{ALONE}]|[^\s{ALONE}]+")
BERT_DROPS = regex.compile(r"[^\P{C}\t\n\r]|\uFFFD")  # control characters and the like
ACCENT = regex.compile(r"\p{Mn}")


def bert_words(text):
    """The words that uncased BERT cuts into pieces: no control characters, no accents, no upper case.

    This is what `BasicTokenizer` does in the code published with Devlin et al. (2019, arXiv:1810.04805).

    >>> bert_words("Héllo, can't wait!")
    ['hello', ',', 'can', "'", 't', 'wait', '!']
    """
    text = unicodedata.normalize("NFD", BERT_DROPS.sub("", text))
    text = "".join(map(str.lower, ACCENT.sub("", text)))  # each by itself: "Σ" is "σ" also at the end of a word
    return BERT_WORD.findall(text)


class WordPieceTokenizer:
    """Words are cut into pieces; a piece that continues a word is written with "##" before it. BERT's tokenizer.

    The text is split into words as uncased BERT does (`bert_words`). Of each word the longest piece that begins it and
    is in the vocabulary is cut off, and so on with the rest. If at some place no piece fits, or the word has more than
    100 characters, the whole word is one "[UNK]". (Schuster & Nakajima, "Japanese and Korean Voice Search", ICASSP
    2012; greedy cutting as in BERT.)

    pieces: list of tokens in the order of their ids, as in BERT's vocab.txt, line by line.
    Special tokens, wherever they stand in the list: "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", with the ids
    `pad_id`, `unk_id`, `cls_id`, `sep_id`, `mask_id`.

    What is lost: case, accents, control characters, white space, words with unknown characters.
    `encode(decode(encode(text))) == encode(text)` where no word is unknown.

    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##afford", "##able", "afford", "!"]
    >>> tokenizer = WordPieceTokenizer(pieces)
    >>> tokenizer.tokenize("Unaffordable! Unfair!")
    ['un', '##afford', '##able', '!', '[UNK]', '!']
    >>> tokenizer.decode([5, 6, 7, 9])
    'unaffordable !'
    """

    SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    LONGEST_WORD = 100

    def __init__(self, pieces):
        self.tokens = as_tokens(pieces)
        self.vocab = as_vocab(self.tokens)
        if missing := [token for token in self.SPECIALS if token not in self.vocab]:
            raise ValueError(f"the vocabulary lacks the special tokens {', '.join(missing)}: add them to the list")
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = map(self.vocab.get, self.SPECIALS)

    def __repr__(self):
        return f"WordPieceTokenizer({len(self.tokens)} tokens)"

    @classmethod
    def train(cls, texts, vocab_size):
        """The special tokens, all characters (as a word's beginning and as its continuation), then joined pairs.

        As in byte-pair encoding, and as Hugging Face's `tokenizers` does it, the most *frequent* pair is joined next.
        Often one reads that WordPiece takes the pair with the largest count(ab) / (count(a) · count(b)) instead. That
        score is largest for pairs that occur once and whose halves occur nowhere else, so it fills the vocabulary
        with accidents; and Schuster & Nakajima's own rule (the pair that raises the likelihood most), whose program
        was never published, has to look at all pairs anew for every piece. What is particular to WordPiece stays:
        how a word is cut.

        >>> WordPieceTokenizer.train(["low login"], vocab_size=22).tokens[17:]
        ['lo', '##gi', 'low', 'logi', 'login']
        """
        words = Counter(word for text in as_texts(texts) for word in bert_words(text))
        characters = {char for word in words for char in word}
        tokens = cls.SPECIALS + sorted(characters | {"##" + char for char in characters})
        if not words:
            raise ValueError("nothing to learn from: there is no word in the texts")
        if vocab_size < len(tokens):
            raise ValueError(f"vocab_size must be at least {len(tokens)} (5 special tokens, and the {len(characters)} "
                             f"characters of these texts with and without ##), got {vocab_size}")
        vocab = as_vocab(tokens)
        words = {"".join(chr(vocab["##" * (i > 0) + char]) for i, char in enumerate(word)): times
                 for word, times in words.items()}
        for a, b in learn_merges(words, vocab_size - len(tokens), first_id=len(tokens)):
            tokens.append(tokens[a] + tokens[b][2:])
        return cls(tokens)

    def _pieces(self, word):
        """The pieces of one word, each the longest that fits."""
        if len(word) > self.LONGEST_WORD:
            return ["[UNK]"]
        pieces, start = [], 0
        while start < len(word):
            candidates = ("##" * (start > 0) + word[start:end] for end in range(len(word), start, -1))
            piece = next((candidate for candidate in candidates if candidate in self.vocab), None)
            if piece is None:
                return ["[UNK]"]
            pieces.append(piece)
            start += len(piece) - 2 * (start > 0)
        return pieces

    def tokenize(self, text):
        """Text → list of pieces, "[UNK]" for a word that cannot be made of them."""
        return [piece for word in bert_words(as_text(text)) for piece in self._pieces(word)]

    def convert_tokens_to_ids(self, tokens):
        """List of tokens → list of ids, `unk_id` for what is not in the vocabulary."""
        return [self.vocab.get(token, self.unk_id) for token in as_tokens(tokens)]

    def encode(self, text):
        """Text → list of ids, one per piece."""
        return self.convert_tokens_to_ids(self.tokenize(text))

    def decode(self, ids):
        """List of ids → the pieces put together, with blanks between words."""
        return " ".join(pick(ids, self.tokens)).replace(" ##", "")
