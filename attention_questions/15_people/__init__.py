"""Checks of assignment 15: explanations.py, people.py and own.py have its questions."""

from attention_questions.prelude import announce

from .explanations import contrast, effective
from .own import my_experiment
from .people import exact, plan, votes

announce("people", [effective, exact, votes, plan, contrast, my_experiment], {"a study": 6, "an audit": 18})
