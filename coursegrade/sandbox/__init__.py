"""Where student code runs, and how the grader talks to it: a process behind walls, and frames of plain data."""
