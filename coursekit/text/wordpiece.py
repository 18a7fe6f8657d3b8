"""WordPiece, the tokenizer of BERT: words are cut into the longest pieces that are known."""

import unicodedata
from collections import Counter

import regex

from coursekit.inputs import as_text, as_texts
from coursekit.text.base import Tokenizer, as_vocab
from coursekit.text.bpe import learn_merges

__all__ = ["WordPieceTokenizer"]

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


class WordPieceTokenizer(Tokenizer):
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
        super().__init__(pieces)
        if missing := [token for token in self.SPECIALS if token not in self.vocab]:
            raise ValueError(f"the vocabulary lacks the special tokens {', '.join(missing)}: add them to the list")
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = map(self.vocab.get, self.SPECIALS)

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

    def decode(self, ids):
        """List of ids → the pieces put together, with blanks between words."""
        return " ".join(self._pick(ids)).replace(" ##", "")
