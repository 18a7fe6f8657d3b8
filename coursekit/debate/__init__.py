"""Is attention explanation? The tests of the debate, for any white box.

    permuted    permuted_attention, uniform_attention, decision_flips: the model run with other weights
    adversary   adversarial_attention: other weights, the same prediction
    ranks       attention_agreement: do the weights order tokens as their importances do?
    heads       prune_heads, effective_attention, patch_activations: what heads, weights and states cause
    trained     reads_like, against, train_probe: models whose attention was trained to be something

`coursekit.evaluate.interval` gives means over documents and seeds with intervals.
"""

from coursekit.moved import forwarding

from .adversary import adversarial_attention
from .heads import Patched, Pruned, effective_attention, heads_kept, patch_activations, patch_attention, prune_heads
from .permuted import Swap, decision_flips, given_attention, permuted_attention, swap, uniform_attention
from .ranks import attention_agreement
from .trained import against, leaky, reads_like, scores_and_weights, train_probe

__all__ = ["Patched", "Pruned", "Swap", "adversarial_attention", "against", "attention_agreement", "decision_flips",
           "effective_attention", "given_attention", "heads_kept", "leaky", "patch_activations", "patch_attention",
           "permuted_attention", "prune_heads", "reads_like", "scores_and_weights", "swap", "train_probe",
           "uniform_attention"]

__getattr__ = forwarding(__name__)
