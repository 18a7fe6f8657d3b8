"""Studies that ask people, and what comes of them.

    studies       ModelChoiceStudy, WordRemovalStudy; Afterwards: a question that comes a while later
    study files   pool, right_by_person, Tally: the answers of many
    statistics    exact_binomial_test, exact_interval, binomial_power, people_needed
    what to ask   contrastive_gradient, generated_attributions: why this and not that; compactness: how short
"""

from .afterwards import Afterwards
from .binomial import binomial_power, exact_binomial_test, exact_interval, people_needed
from .compact import Compactness, compactness
from .contrastive import GeneratedAttributions, contrastive_gradient, generated_attributions
from .studies import ModelChoiceStudy, WordRemovalStudy
from .study_files import Tally, pool, right_by_person

__all__ = ["Afterwards", "Compactness", "GeneratedAttributions", "ModelChoiceStudy", "Tally", "WordRemovalStudy",
           "binomial_power", "compactness", "contrastive_gradient", "exact_binomial_test", "exact_interval",
           "generated_attributions", "people_needed", "pool", "right_by_person"]
