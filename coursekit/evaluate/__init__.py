"""Are the explanations any good? What a metric cannot see stands in its docstring. Faithful to the model:

    deletion_curve, insertion_curve            the score as tokens go or come: a Curve
    comprehensiveness, sufficiency             probability lost without the top tokens (ERASER_BINS), or with them alone
    sensitivity_axiom, non_sensitivity         influence without attribution, and the reverse
    monotonicity, effective_complexity         against the loss without a token
    infidelity                                 do the scores add up to what the model's score loses?
    roar, weight_randomisation                 retrained without the top tokens (a Roar); weights shuffled
    recall_of_important_features               where it is known what the model uses
    distance_to_exact, ranks_as_truth          from the exact values; does a metric judge as this distance does?
    fidelity                                   of a surrogate, on documents that it was not fitted to

Plausible to people, which is something else:

    consistency                                the same for other seeds: a Consistency
    local_lipschitz, implementation_invariance alike for alike documents (a Lipschitz), and for equal functions
    human_agreement, auroc                     with people's marks: a HumanAgreement, and what it Skipped
    rank_agreement, map_distance               of two explanations (an Agreement), of two maps

Of both: `interval` is a mean over documents or seeds (an Interval); a metric's number is a Measured, which says what it
cost. Beside this room, `compare` puts explainers and metrics into one table, `debate` tests whether attention is
explanation, `people` asks people, and `coursekit.explain.away` says what is there when a token is gone.
"""

from coursekit.moved import forwarding

from .agreement import Agreement, auroc, human_agreement, map_distance, rank_agreement
from .axioms import non_sensitivity, sensitivity_axiom
from .calls import Measured
from .exact_values import distance_to_exact, ranks_as_truth
from .expected_loss import effective_complexity, monotonicity
from .faithfulness import comprehensiveness, deletion_curve, insertion_curve, sufficiency
from .infidelities import infidelity
from .intervals import Interval, interval
from .plausibility import Lipschitz, consistency, implementation_invariance, local_lipschitz
from .recall import recall_of_important_features
from .retraining import roar, weight_randomisation
from .surrogates import fidelity

__all__ = ["Agreement", "Interval", "Lipschitz", "Measured", "auroc", "comprehensiveness", "consistency",
           "deletion_curve", "distance_to_exact", "effective_complexity", "fidelity", "human_agreement",
           "implementation_invariance", "infidelity", "insertion_curve", "interval", "local_lipschitz", "map_distance",
           "monotonicity", "non_sensitivity", "rank_agreement", "ranks_as_truth", "recall_of_important_features",
           "roar", "sensitivity_axiom", "sufficiency", "weight_randomisation"]

__getattr__ = forwarding(__name__)
