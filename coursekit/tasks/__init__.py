"""Toy worlds with a known answer: what a model should learn there, and an explanation find, can be written down.

`histogram`, `dyck`, `superposition` and `teacher` are modules: what they offer is called by the module's name.
"""

from . import dyck, histogram, superposition, teacher
from .additive import LINEAR_WORDS, linear_documents, slalom_documents, slalom_words
from .gold import gold_model

__all__ = ["LINEAR_WORDS", "dyck", "gold_model", "histogram", "linear_documents", "slalom_documents",
           "slalom_words", "superposition", "teacher"]
