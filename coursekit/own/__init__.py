"""Anybody's model and corpus.

    own_model         a black box of what people have: a model of transformers, a pipeline, scikit-learn, a function
    explain_corpus    the explanations of many documents, kept as they come
    datasets          public data sets: downloaded once, or read from a folder
"""

from . import datasets
from .black_boxes import own_model
from .corpus import explain_corpus

__all__ = ["datasets", "explain_corpus", "own_model"]
