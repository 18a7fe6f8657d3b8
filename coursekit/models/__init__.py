"""What is explained: attention, the classifiers built from it, how they are trained, and the trained ones that ship."""

from .attention import (MultiHeadAttention, additive_attention, causal_mask, scaled_dot_product_attention,
                        single_query_attention, sinusoidal_positions)
from .classifier import AttentionClassifier, TransformerClassifier
from .training import minibatches, train
from .weights import load_weights, naive_bayes_log_odds

__all__ = ["AttentionClassifier", "MultiHeadAttention", "TransformerClassifier", "additive_attention", "causal_mask",
           "load_weights", "minibatches", "naive_bayes_log_odds", "scaled_dot_product_attention",
           "single_query_attention", "sinusoidal_positions", "train"]
