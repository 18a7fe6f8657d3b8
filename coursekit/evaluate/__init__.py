"""Are the explanations any good? Curves, erasure, agreement, and how well a surrogate copies its model."""

from .agreement import Agreement, HumanAgreement, auroc, human_agreement, rank_agreement
from .faithfulness import ERASER_BINS, Curve, comprehensiveness, deletion_curve, insertion_curve, sufficiency
from .surrogates import fidelity

__all__ = ["Agreement", "Curve", "ERASER_BINS", "HumanAgreement", "auroc", "comprehensiveness", "deletion_curve",
           "fidelity", "human_agreement", "insertion_curve", "rank_agreement", "sufficiency"]
