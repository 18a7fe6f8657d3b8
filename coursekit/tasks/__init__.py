"""Toy worlds with a known answer: what a model should learn there, and an explanation find, can be written down."""

from .additive import LINEAR_WORDS, linear_documents, slalom_documents, slalom_words

__all__ = ["LINEAR_WORDS", "linear_documents", "slalom_documents", "slalom_words"]
