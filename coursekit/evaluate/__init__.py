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

    consistency, stability                     the same for other seeds: a Consistency
    local_lipschitz, implementation_invariance alike for alike documents (a Lipschitz), and for equal functions
    human_agreement, auroc                     with people's marks: a HumanAgreement, and what it Skipped
    rank_agreement, map_distance, compactness  two explanations (an Agreement), two maps; how short (a Compactness)

And around them:

    report, against_the_best                   explainers beside one another, in one table: a Report
    course_explainers, random_scores           who is in it, and the floor; explained, takes_seed: how each is called
    interval                                   a mean over documents or seeds: an Interval
    Measured, counting, remembering            a number that says what it cost; a model that is asked nothing twice
    own_model, explain_corpus                  a black box of what people have; many documents at once
    ModelChoiceStudy, WordRemovalStudy         studies that ask people; Afterwards, pool, right_by_person: a Tally
    exact_binomial_test, exact_interval        of right answers; binomial_power, people_needed: how many people it takes
    write_audit, written_answers               an audit on two pages

`coursekit.explain.away` says what is there when a token is gone; `coursekit.evaluate.debate` has the tests of the
debate whether attention is explanation.
"""

from coursekit.explain.asking import remembering

from .adding_up import infidelity
from .agreement import Agreement, HumanAgreement, Skipped, auroc, human_agreement, map_distance, rank_agreement
from .answers import Tally, pool, right_by_person
from .axioms import non_sensitivity, sensitivity_axiom
from .binomial import binomial_power, exact_binomial_test, exact_interval, people_needed
from .black_boxes import own_model
from .compact import Compactness, compactness
from .corpus import explain_corpus
from .expected_loss import effective_complexity, monotonicity
from .faithfulness import ERASER_BINS, Curve, comprehensiveness, deletion_curve, insertion_curve, sufficiency
from .human import ModelChoiceStudy, WordRemovalStudy
from .intervals import Interval, interval
from .line_up import course_explainers, random_scores
from .measured import Measured
from .plausibility import Consistency, Lipschitz, consistency, implementation_invariance, local_lipschitz
from .recall import recall_of_important_features
from .reporting import Report, against_the_best, report
from .retraining import Roar, roar, weight_randomisation
from .surrogates import fidelity
from .truth import distance_to_exact, ranks_as_truth
from .waiting import Afterwards

__all__ = ["Afterwards", "Agreement", "Compactness", "Consistency", "Curve", "ERASER_BINS", "HumanAgreement",
           "Interval", "Lipschitz", "Measured", "ModelChoiceStudy", "Report", "Roar", "Skipped", "Tally",
           "WordRemovalStudy", "against_the_best", "auroc", "binomial_power", "compactness", "comprehensiveness",
           "consistency", "course_explainers", "deletion_curve", "distance_to_exact", "effective_complexity",
           "exact_binomial_test", "exact_interval", "explain_corpus", "fidelity", "human_agreement",
           "implementation_invariance", "infidelity", "insertion_curve", "interval", "local_lipschitz", "map_distance",
           "monotonicity", "non_sensitivity", "own_model", "people_needed", "pool", "random_scores", "rank_agreement",
           "ranks_as_truth", "recall_of_important_features", "remembering", "report", "right_by_person", "roar",
           "sensitivity_axiom", "sufficiency", "weight_randomisation"]
