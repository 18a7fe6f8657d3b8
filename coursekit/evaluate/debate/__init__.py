"""Is attention explanation? The tests of the debate, for any white box.

    given       permuted_attention, uniform_attention, decision_flips: the model run with other weights
    adversary   adversarial_attention: other weights, the same prediction
    ranks       attention_agreement: do the weights order tokens as their importances do?
    heads       prune_heads, effective_attention, patch_activations: what heads, weights and states cause
    trained     train_reader, train_adversary, train_probe: models whose attention is trained to be something

`coursekit.evaluate.interval` gives means over documents and seeds with intervals.
"""

from .adversary import adversarial_attention
from .given import Swap, decision_flips, given_attention, js_divergence, permuted_attention, swap, uniform_attention
from .heads import Patched, Pruned, effective_attention, heads_kept, patch_activations, patch_attention, prune_heads
from .ranks import attention_agreement
from .trained import against, entropy, leaky, reads_like, scores_and_weights, train_adversary, train_probe, train_reader

__all__ = ["Patched", "Pruned", "Swap", "adversarial_attention", "against", "attention_agreement", "decision_flips",
           "effective_attention", "entropy", "given_attention", "heads_kept", "js_divergence", "leaky",
           "patch_activations", "patch_attention", "permuted_attention", "prune_heads", "reads_like",
           "scores_and_weights", "swap", "train_adversary", "train_probe", "train_reader", "uniform_attention"]
