"""Checks of assignment 15: explanations.py and people.py have its questions."""

from attention_questions.prelude import announce

from .explanations import contrast, effective
from .people import exact, plan, votes

announce("people", [effective, exact, votes, plan, contrast], {"an audit": 18})
