"""Which questions of a notebook pass, and for how many points."""

import json
import re
from pathlib import Path

from coursegrade.kit import guesses

_topics = {}        # topic → (folder, [questions], {title of what people read: points}); it enters when it is loaded
_results = {}       # (topic, question, hidden tests?) → what came of the latest run: "passed", "failed" or "empty"

STATES = {"passed": "✓ passes", "failed": "✗ does not pass yet", "empty": "· still empty",
          None: "· its check has not run"}
UNWRITTEN = "YOUR ANSWER HERE"


def announce(topic, questions, written):
    """Tell the score what a topic asks: its questions (see question.py), in the order of the notebook, and {title:
    points} of what people read."""
    for question in questions:
        question.topic = topic
    folder = next((part for part in questions[0].__module__.split(".") if re.match(r"\d\d", part)), topic)
    _topics[topic] = folder, list(questions), dict(written)


def questions(topic):
    """The questions of a topic, in the order of the notebook."""
    return list(_topics[topic][1])


def points(topic):
    """{question: (points of the check, points of the hidden tests)} of a topic; the first is 0 for what people read."""
    _, asked, written = _topics[topic]
    return {question.name: question.points for question in asked} | {
        title: (0, worth) for title, worth in written.items()}


def record(topic, question, result, hidden=False):
    """Keep the result of a check, or of its hidden tests: "passed", "failed" or "empty". The latest counts."""
    _results[topic, question, hidden] = result


def passed(topic, question):
    """Did its latest check pass, on the inputs that students see?"""
    return _results.get((topic, question, False)) == "passed"


def failed(topic, question):
    """Did its latest check fail, or its hidden tests?"""
    return any(_results.get((topic, question, hidden)) in ("failed", "empty") for hidden in (False, True))


def forget():
    """Forget all results, and guesses."""
    _results.clear()
    guesses.forget()


def score():
    """Print each question of the notebook that was looked at, whether its latest check passed, and its points.

    Where hidden tests have run, that is, where marks are given, their points are counted as well.
    """
    used = [topic for topic in _topics if any(found == topic for found, *_ in _results)]
    if not used:
        print("No check has run here. While you work: run the notebook from the top, then this cell again.\n"
              "In a notebook that was marked, the points stand beside the checks.")
    for topic in used:
        folder, asked, written = _topics[topic]
        print(f"Assignment {folder.partition('_')[0]} · {topic.replace('_', ' ')}\n")
        earned, unseen = map(sum, zip(*(_line(topic, *entry) for entry in enumerate(asked, 1)), strict=True))
        names = [question.name for question in asked]                   # an experiment and its text are one question
        first = names.index("my_experiment") + 1 if "my_experiment" in names else len(asked) + 1
        empties = _unwritten(folder, len(written))
        for number, ((title, worth), empty) in enumerate(zip(written.items(), empties, strict=True), first):
            state = "· empty in the saved file" if empty else "· read by a person"
            print(f"  {number:>2}  {title:<20} {state:<25} {worth} points")
        possible, by_hand = sum(sum(question.points) for question in asked), sum(written.values())
        print(f"\n{earned} of {possible - unseen} points so far"
              + f"; {unseen} more come when it is marked" * bool(unseen)
              + f"; {by_hand} from a person who reads your text. Together {possible + by_hand}.")
    made, right, asked = guesses.counted()
    if asked:
        print(f"{made} of {asked} guessed, {right} right. Nobody marks that.")


def _line(topic, number, question):
    """Print the line of a question; return its points that were earned, and those that nobody has tested yet."""
    visible, hidden = question.points
    seen, tested = (_results.get((topic, question.name, which)) for which in (False, True))
    earned = visible * (seen == "passed") + hidden * (tested == "passed")
    if not visible + hidden:
        text = "a bonus, for no points"
    else:
        how = "near the best known" if question.known else (
            "by tests that you do not see" if tested is None else "by tests with other inputs")
        text = f"{visible * (seen == 'passed')} of {visible} points" + (
            "" if not hidden else f", and {hidden} {how}" if tested is None else
            f", {hidden * (tested == 'passed')} of {hidden} {how}")
    print(f"  {number:>2}  {question.name:<20} {STATES[seen]:<25} {text}")
    return earned, hidden * (tested is None)


def _unwritten(folder, n):
    """Of each of n texts, in the order of the notebook as it is saved beside the kernel: is its answer still due?"""
    try:
        cells = json.loads(Path(f"{folder}.ipynb").read_text(encoding="utf-8"))["cells"]
        due = [UNWRITTEN in "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
               and cell["metadata"].get("nbgrader", {}).get("solution")]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # run elsewhere, or not readable now
        due = []
    return due if len(due) == n else [False] * n
