"""Exercises and marks. An assignment says `from coursekit.grade import check`, `check.<topic>.<question>(answer)`; a
lecture ends with `from coursekit.grade import quiz`, `quiz("02")`, five questions that nobody marks."""

__all__ = ["check", "quiz"]


def __getattr__(name):
    if name == "check":                                                 # loaded when asked for: NumPy comes with it
        import coursekit.grade.checks
        return coursekit.grade.checks
    if name == "quiz":
        import coursekit.grade.selfcheck
        return coursekit.grade.selfcheck.quiz
    raise AttributeError(f"coursekit.grade has no {name}")
