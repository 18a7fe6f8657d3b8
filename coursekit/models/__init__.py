"""What is explained: attention, the classifiers built from it, how they are trained, and the trained ones that ship.

The same mechanism stands here several times, each time as its paper has it. Which is which:

    attention   scaled_dot_product_attention, single_query_attention, additive_attention: the formulas, on tensors
                MultiHeadAttention    K heads as a layer, over itself or over a context (Vaswani et al., 2017)
                CausalAttention       the same to the past alone, with a cache, as GPT2 has it
                AttentionClassifier   K heads of matrices without biases, for one query: [CLS]'s (Lopardo et al., 2024)
    blocks      Block                 attention and MLP over a whole text: TransformerClassifier, Encoder
                GPT2Block             the same to the past, with a cache: GPT2
                DecoderBlock          attention to the past, to the encoder's states, and MLP: EncoderDecoder

All blocks are pre-norm. `protocols` says what an explainer needs of a model.
"""

from coursekit.moved import forwarding

from .attention import (
                        MultiHeadAttention,
                        additive_attention,
                        causal_mask,
                        scaled_dot_product_attention,
                        single_query_attention,
                        sinusoidal_positions,
)
from .bag_of_words import train_bag_of_words
from .beam import beam_search
from .classifier import AttentionClassifier, TransformerClassifier
from .decoding import (
                        generate,
                        greedy,
                        keep_nucleus,
                        keep_top_k,
                        log_probabilities,
                        next_token_distribution,
                        repetition,
                        sample,
                        tempered_softmax,
)
from .encoder_decoder import (
                        EncoderDecoder,
                        EncoderOnly,
                        alignment_accuracy,
                        as_one_sequence,
                        exact_match,
                        target_loss,
                        to_ids,
)
from .gpt2 import GPT2, GPT2Config, KVCache, gelu, layer_norm
from .hub.huggingface import HuggingFaceClassifier
from .hub.minilm import has_encoder, pretrained_encoder
from .protocols import BlackBox, WhiteBox
from .sparse.features import (
                        by_length,
                        clamp_feature,
                        collect_activations,
                        correlations,
                        logit_effects,
                        loss_recovered,
                        stream_of,
                        top_activating,
)
from .sparse.sae import SparseAutoencoder, max_cosine_similarity, reconstruction_quality, train_sae
from .training import minibatches, train
from .weights import load_weights, naive_bayes_log_odds

__all__ = ["AttentionClassifier", "BlackBox", "EncoderDecoder", "EncoderOnly", "GPT2", "GPT2Config",
           "HuggingFaceClassifier", "KVCache", "MultiHeadAttention", "SparseAutoencoder", "TransformerClassifier",
           "WhiteBox", "additive_attention", "alignment_accuracy", "as_one_sequence", "beam_search", "by_length",
           "causal_mask", "clamp_feature", "collect_activations", "correlations", "exact_match", "gelu", "generate",
           "greedy", "has_encoder", "keep_nucleus", "keep_top_k", "layer_norm", "load_weights", "log_probabilities",
           "logit_effects", "loss_recovered", "max_cosine_similarity", "minibatches", "naive_bayes_log_odds",
           "next_token_distribution", "pretrained_encoder", "reconstruction_quality", "repetition", "sample",
           "scaled_dot_product_attention", "single_query_attention", "sinusoidal_positions", "stream_of",
           "target_loss", "tempered_softmax", "to_ids", "top_activating", "train", "train_bag_of_words", "train_sae"]

__getattr__ = forwarding(__name__)
