"""Documents in: tokenizers, reviews, plain English, and loaders of public data sets."""

from coursekit.moved import forwarding

from .bpe import BytePairTokenizer, merge_steps
from .corpora import stdlib_english
from .pieces import word_groups
from .tokens import CharTokenizer, WordTokenizer
from .wordpiece import WordPieceTokenizer

__all__ = ["BytePairTokenizer", "CharTokenizer", "WordPieceTokenizer", "WordTokenizer", "merge_steps",
           "stdlib_english", "word_groups"]

__getattr__ = forwarding(__name__)
