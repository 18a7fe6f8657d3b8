"""Are the explanations any good? Curves, erasure, agreement, and how well a surrogate copies its model.

`coursekit.evaluate.debate` has the tests of the debate whether attention is explanation.
"""

from .agreement import Agreement, HumanAgreement, auroc, human_agreement, map_distance, rank_agreement
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
from .surrogates import fidelity

__all__ = ["Agreement", "Consistency", "Curve", "ERASER_BINS", "HumanAgreement", "Interval", "Lipschitz", "Measured",
           "auroc", "comprehensiveness", "consistency", "counting", "deletion_curve", "explained", "fidelity",
           "human_agreement", "implementation_invariance", "insertion_curve", "interval", "local_lipschitz",
           "map_distance", "rank_agreement", "stability", "sufficiency", "takes_seed"]
