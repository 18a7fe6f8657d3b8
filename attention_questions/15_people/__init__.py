"""Checks of assignment 15, one file a question."""

from coursegrade.kit.score import announce

from .length import effective
from .luck import exact
from .people import votes
from .planning import plan
from .rather import contrast

__all__ = ["effective", "exact", "votes", "plan", "contrast"]

announce("people", [effective, exact, votes, plan, contrast], {"an audit": 18})
