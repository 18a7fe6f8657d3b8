"""Are the explanations any good? Faithful to the model: curves, erasure, axioms, expected loss, infidelity, retraining,
recall where the answer is known, and the distance to exact values, by which the others are judged. Plausible to people:
steady, and where they look. How well a surrogate copies its model. All that fits one table: `report`. What these
metrics give says what it cost.

`coursekit.evaluate.debate` has the tests of the debate whether attention is explanation.
"""

from .adding_up import infidelity
from .agreement import Agreement, HumanAgreement, auroc, human_agreement, map_distance, rank_agreement
from .axioms import non_sensitivity, sensitivity_axiom
from .cells import remembering
from .expected_loss import effective_complexity, monotonicity
from .faithfulness import ERASER_BINS, Curve, comprehensiveness, deletion_curve, insertion_curve, sufficiency
from .intervals import Interval, interval
from .measured import Measured, counting
from .plausibility import (
    Consistency,
    Lipschitz,
    consistency,
    explained,
    implementation_invariance,
    local_lipschitz,
    stability,
    takes_seed,
)
from .recall import recall_of_important_features
from .reporting import Report, against_the_best, course_explainers, random_scores, report
from .retraining import Roar, roar, weight_randomisation
from .surrogates import fidelity
from .truth import distance_to_exact, ranks_as_truth

__all__ = ["Agreement", "Consistency", "Curve", "ERASER_BINS", "HumanAgreement", "Interval", "Lipschitz", "Measured",
           "Report", "Roar", "against_the_best", "auroc", "comprehensiveness", "consistency", "counting",
           "course_explainers", "deletion_curve", "distance_to_exact", "effective_complexity", "explained", "fidelity",
           "human_agreement", "implementation_invariance", "infidelity", "insertion_curve", "interval",
           "local_lipschitz", "map_distance", "monotonicity", "non_sensitivity", "random_scores", "rank_agreement",
           "ranks_as_truth", "recall_of_important_features", "remembering", "report", "roar", "sensitivity_axiom",
           "stability", "sufficiency", "takes_seed", "weight_randomisation"]
