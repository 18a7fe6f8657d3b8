"""A table at the end of the test run: what each lecture took, beside the budgets."""

SECONDS, MEGABYTES = 60, 1000


def pytest_terminal_summary(terminalreporter):
    """Print what tests/notebooks/test_lectures.py measured (its tests may have run in other processes)."""
    measured = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            found = dict(getattr(report, "user_properties", []))
            if getattr(report, "when", "") == "call" and "lecture" in found:
                measured[found["lecture"]] = found
    if not measured:
        return
    terminalreporter.section(f"lectures (budgets: {SECONDS} s, {MEGABYTES} MB)")
    for name, found in sorted(measured.items()):
        notes = ["over its seconds"] * (found["seconds"] > SECONDS) + ["over its memory"] * (found["peak"] > MEGABYTES)
        notes += ["run WITH a network: no namespaces here"] * (not found["offline"])
        line = f"{name:<28}{found['seconds']:>8.1f} s{found['peak']:>8.0f} MB  {', '.join(notes)}"
        terminalreporter.write_line(line.rstrip())
