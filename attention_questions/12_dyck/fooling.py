"""The check of assignment 12 on a string of the language in which a model with perfect test accuracy errs."""

from attention_questions.prelude import Question, functools, torch
from coursekit.models import load_weights
from coursekit.worlds import dyck

from . import solution

LONGEST, WANTED = dyck.T, 3.0           # brackets; logits


@functools.cache
def _model():
    return load_weights("dyck-minimal")


def error(text):
    """The largest amount by which the wrong closing bracket's logit is above the right one's, where one closes."""
    ids = dyck.encode(text)
    with torch.no_grad():
        z = _model()(ids[None])[0, :-1, 1::2]                                       # (T, 2): round, square
    over = (z[:, 0] - z[:, 1]) * torch.where(ids[1:] == 3, 1.0, -1.0)
    return over[dyck.closings(ids[None])[0]].max().item()


def allowed(text):
    """Is it a string of the language that the model was trained on, of at most 28 brackets?"""
    return type(text) is str and 0 < len(text) <= LONGEST and set(text) <= {*dyck.BRACKETS} and (
        dyck.pushdown(text).accepted)


fool = Question(solution.fool, (2, 0), {"your text": ()},
                otherwise="The model weighs equal brackets alike, however many there are. Which ones could drown the "
                          "top?")


@fool.judge
def _(text):
    if not allowed(text):
        yield f"a balanced text of ()[] is due, of at most {LONGEST} brackets, no deeper than {dyck.D}"
    over = error(text)
    if over < WANTED:
        yield (f"where a bracket closes, the wrong one's logit is at most {over:+.2f} above the right one's; "
               f"{WANTED} is due")


@fool.suspect
def _(text):
    if type(text) is not str or not text or not set(text) <= {*dyck.BRACKETS}:
        yield 'Return a text of round and square brackets, a string such as "[()]".'
    if len(text) > LONGEST:
        yield f"At most {LONGEST} brackets: that is the length of the texts that it was trained on."
    if not dyck.pushdown(text, None).accepted:
        yield "The brackets do not match. Your own `read` says where."
    if not dyck.pushdown(text).accepted:
        yield f"Deeper than {dyck.D}. The model has never seen that, so nobody claims that it can."
    if error(text) > 0:
        yield ("It errs already, but it is not sure enough. More of the same, a level deeper or less deep, or another "
               "kind around it?")
