"""Are the explanations any good? Faithful to the model: curves, erasure, axioms, expected loss, infidelity, retraining,
recall where the answer is known, and the distance to exact values, by which the others are judged. Plausible to people:
steady, and where they look. How well a surrogate copies its model. All that fits one table: `report`. What these
metrics give says what it cost. Studies that ask people: `human`, their files pooled, and how many people it takes.
`own_model` makes a black box of what people have, `explain_corpus` explains many documents at once.

`coursekit.evaluate.debate` has the tests of the debate whether attention is explanation.
"""

from .adding_up import infidelity
from .agreement import Agreement, HumanAgreement, Skipped, auroc, human_agreement, map_distance, rank_agreement
from .answers import Tally, pool, right_by_person
from .axioms import non_sensitivity, sensitivity_axiom
from .binomial import binomial_power, exact_binomial_test, exact_interval, people_needed
from .black_boxes import own_model
from .cells import remembering
from .compact import Compactness, compactness
from .corpus import explain_corpus
from .expected_loss import effective_complexity, monotonicity
from .faithfulness import ERASER_BINS, Curve, comprehensiveness, deletion_curve, insertion_curve, sufficiency
from .human import ModelChoiceStudy, WordRemovalStudy
from .intervals import Interval, interval
from .line_up import course_explainers, random_scores
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
from .reporting import Report, against_the_best, report
from .retraining import Roar, roar, weight_randomisation
from .surrogates import fidelity
from .truth import distance_to_exact, ranks_as_truth
from .waiting import Afterwards

__all__ = ["Afterwards", "Agreement", "Compactness", "Consistency", "Curve", "ERASER_BINS", "HumanAgreement",
           "Interval", "Lipschitz", "Measured", "ModelChoiceStudy", "Report", "Roar", "Skipped", "Tally",
           "WordRemovalStudy", "against_the_best", "auroc", "binomial_power", "compactness", "comprehensiveness",
           "consistency", "counting", "course_explainers", "deletion_curve", "distance_to_exact",
           "effective_complexity", "exact_binomial_test", "exact_interval", "explain_corpus", "explained", "fidelity",
           "human_agreement", "implementation_invariance", "infidelity", "insertion_curve", "interval",
           "local_lipschitz", "map_distance", "monotonicity", "non_sensitivity", "own_model", "people_needed", "pool",
           "random_scores", "rank_agreement", "ranks_as_truth", "recall_of_important_features", "remembering",
           "report", "right_by_person", "roar", "sensitivity_axiom", "stability", "sufficiency", "takes_seed",
           "weight_randomisation"]
