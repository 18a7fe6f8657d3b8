"""Attributions out: explanations that give each token of a document one number.

Black boxes, anything with predict(documents), are enough for leave_one_out, lime, kernel_shap, shapley_values,
gp_shapley and fit_slalom; the others look inside and need a white box: coursekit.models.protocols has the list of who
needs what.

What is there when a token is gone belongs to the model that is asked: away(model, token="[MASK]") is the same model,
and whatever takes a model takes it.

Where a model offers its terms, exact_lime, exact_shapley and exact_interactions give what lime and shapley_values
estimate, lime_limit the approximations of the literature, gradient_closed_form what autograd gives.

Slalom is a surrogate that is no sum of words: fit_slalom makes one near a document, fit_slalom_data from any scores.

Under other names elsewhere: leave_one_out is occlusion, or erasure; gradient(…, "l1") sums what Saliency gives each
coordinate; integrated_gradients' n_nodes are n_steps; gradient_attention is Chefer, Gur and Wolf (ICCV 2021, "generic
attention"), relevance_attention Chefer, Gur and Wolf (CVPR 2021); norm_attention is Kobayashi et al. (2020).
"""

from coursekit.moved import forwarding

from .attention import attention_max, attention_mean, attention_sum, norm_attention, word_attention
from .attribution import Attribution
from .closed_form import gradient_closed_form
from .exact import exact_interactions, exact_lime, exact_shapley
from .gradients import gradient, gradient_x_input, integrated_gradients
from .heads import head_patterns
from .limits import lime_limit
from .masks import away, by_spans, evaluate_masks, leave_one_out
from .paths import attention_flow, flow_graph, rollout
from .process import gp_shapley
from .relevance import cross_gradient_attention, gradient_attention, relevance_attention, relevance_rules
from .shapley import kernel_shap, shapley_values
from .slalom import Slalom
from .slalom_fit import fit_slalom, fit_slalom_data, random_sequences
from .surrogate import lime

__all__ = ["Attribution", "Slalom", "attention_flow", "attention_max", "attention_mean", "attention_sum", "away",
           "by_spans", "cross_gradient_attention", "evaluate_masks", "exact_interactions", "exact_lime",
           "exact_shapley", "fit_slalom", "fit_slalom_data", "flow_graph", "gp_shapley", "gradient",
           "gradient_attention", "gradient_closed_form", "gradient_x_input", "head_patterns", "integrated_gradients",
           "kernel_shap",
           "leave_one_out", "lime", "lime_limit", "norm_attention", "random_sequences", "relevance_attention",
           "relevance_rules", "rollout", "shapley_values", "word_attention"]

__getattr__ = forwarding(__name__)
