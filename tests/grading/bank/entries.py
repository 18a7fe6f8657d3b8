"""How an answer gets into the bank: `@wrong(question, words)` and `@right(question, idiom)` above a function."""

WRONG, RIGHT = [], []       # (question, words, at_once, function) and (question, idiom, function)


def wrong(question, words, at_once=True):
    """A plausible wrong answer. The check's message must contain the words; with at_once=False only the hidden tests
    see it, and it is their message that must contain them."""
    return lambda function: WRONG.append((question, words, at_once, function)) or function


def right(question, idiom):
    """A right answer that is written in an unusual way."""
    return lambda function: RIGHT.append((question, idiom, function)) or function
