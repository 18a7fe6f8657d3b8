"""Exercises and marks. An assignment says `from coursegrade import check`, `check.<topic>.<question>(answer)`; a
lecture ends with `from coursegrade import quiz`, `quiz("02")`, five questions that nobody marks. Which course it is,
courses.py finds out.

    kit        how a question is asked
    selfcheck  the five questions of a lecture
    sandbox    where student code runs
    marking    from an inbox to a gradebook: `python -m coursegrade`
"""

__all__ = ["check", "quiz"]


def __getattr__(name):
    if name == "check":                                                 # loaded when asked for: NumPy comes with it
        import coursegrade.check
        return coursegrade.check
    if name == "quiz":
        import coursegrade.selfcheck
        return coursegrade.selfcheck.quiz
    raise AttributeError(f"coursegrade has no {name}")
