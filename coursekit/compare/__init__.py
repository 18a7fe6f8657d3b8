"""Many explainers, many metrics, many documents: one table, kept as it is computed.

    report            all metrics of all explainers on all documents, with circles for the best; against_the_best
    the line-up       course_explainers, random_scores
    jobs.py           `compute`: cells that are kept in a file, go on after a stop, also in processes or on dask
"""

from .explainers import course_explainers, random_scores
from .reporting import Report, against_the_best, report

__all__ = ["Report", "against_the_best", "course_explainers", "random_scores", "report"]
