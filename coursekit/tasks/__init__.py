"""Toy worlds with a known answer: what a model should learn there, and an explanation find, can be written down.

`histogram` is a module of its own: its `sample` and `train` are called by the module's name.
"""

from . import histogram
from .additive import LINEAR_WORDS, linear_documents, slalom_documents, slalom_words

__all__ = ["LINEAR_WORDS", "histogram", "linear_documents", "slalom_documents", "slalom_words"]
