"""Documents in: tokenizers, reviews, plain English, and loaders of public data sets."""

from coursekit.text import datasets
from coursekit.text.annotated import AnnotatedReview, stand_in
from coursekit.text.bpe import BytePairTokenizer, merge_steps
from coursekit.text.corpora import stdlib_english
from coursekit.text.generated.dialogues import Dialogue, dialogues, split_sentences, tone_of
from coursekit.text.generated.reviews import Review, handwritten_reviews, reviews
from coursekit.text.generated.translations import Translation, reversals, translations
from coursekit.text.pieces import word_groups
from coursekit.text.tokens import CharTokenizer, WordTokenizer
from coursekit.text.wordpiece import WordPieceTokenizer

__all__ = [
    "AnnotatedReview", "BytePairTokenizer", "CharTokenizer", "Dialogue", "Review", "Translation",
    "WordPieceTokenizer", "WordTokenizer", "datasets", "dialogues", "handwritten_reviews", "merge_steps",
    "reversals", "reviews", "split_sentences", "stand_in", "stdlib_english", "tone_of", "translations", "word_groups",
]
