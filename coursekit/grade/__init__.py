"""Exercises and marks. An assignment says `from coursekit.grade import check`, `check.<topic>.<question>(answer)`."""

__all__ = ["check"]


def __getattr__(name):
    if name == "check":                                                 # loaded when asked for: NumPy comes with it
        import coursekit.grade.checks
        return coursekit.grade.checks
    raise AttributeError(f"coursekit.grade has no {name}")
