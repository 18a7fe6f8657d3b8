"""Checks of assignment 15, one file a question."""

from attention_questions.prelude import announce

from .length import effective
from .luck import exact
from .people import votes
from .planning import plan
from .rather import contrast

announce("people", [effective, exact, votes, plan, contrast], {"an audit": 18})
