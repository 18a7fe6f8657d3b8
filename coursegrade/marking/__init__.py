"""From what was handed in to marks and feedback: a course folder, its inbox, the runs, the tables."""
