"""Anybody's model and corpus.

    own_model         a black box of what people have: a model of transformers, a pipeline, scikit-learn, a function
    explain_corpus    the explanations of many documents, kept as they come: a Corpus, which can be asked about words
    datasets          public data sets: downloaded once, or read from a folder
"""

from . import datasets
from .black_boxes import own_model
from .corpus import Corpus, explain_corpus

__all__ = ["Corpus", "datasets", "explain_corpus", "own_model"]
