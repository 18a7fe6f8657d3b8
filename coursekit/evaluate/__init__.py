"""Are the explanations any good? Curves, erasure, agreement, and how well a surrogate copies its model.

`coursekit.evaluate.debate` has the tests of the debate whether attention is explanation.
"""

from .agreement import Agreement, HumanAgreement, auroc, human_agreement, map_distance, rank_agreement
from .faithfulness import ERASER_BINS, Curve, comprehensiveness, deletion_curve, insertion_curve, sufficiency
from .intervals import Interval, interval
from .measured import Measured, counting
from .surrogates import fidelity

__all__ = ["Agreement", "Curve", "ERASER_BINS", "HumanAgreement", "Interval", "Measured", "auroc", "comprehensiveness",
           "counting", "deletion_curve", "fidelity", "human_agreement", "insertion_curve", "interval", "map_distance",
           "rank_agreement", "sufficiency"]
