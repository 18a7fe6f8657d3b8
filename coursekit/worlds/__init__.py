"""Worlds with a known answer: what a model should learn there, and an explanation find, can be written down.

    generated texts   reviews, handwritten_reviews, AnnotatedReview, dialogues, translations, reversals
    documents         linear_documents, slalom_documents: scored by known words; gold_model: by known roles
    toy tasks         histogram, dyck, superposition, teacher: modules, whose names are called by the module's name
"""

from . import dyck, histogram, superposition, teacher
from .additive import LINEAR_WORDS, linear_documents, slalom_documents, slalom_words
from .annotated import AnnotatedReview, stand_in
from .generated.dialogues import Dialogue, dialogues, split_sentences, tone_of
from .generated.reviews import Review, handwritten_reviews, reviews
from .generated.translations import Translation, reversals, translations
from .gold import gold_model

__all__ = ["AnnotatedReview", "Dialogue", "LINEAR_WORDS", "Review", "Translation", "dialogues", "dyck", "gold_model",
           "handwritten_reviews", "histogram", "linear_documents", "reversals", "reviews", "slalom_documents",
           "slalom_words", "split_sentences", "stand_in", "superposition", "teacher", "tone_of", "translations"]
