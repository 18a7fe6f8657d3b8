"""Which questions of a notebook pass, and for how many points."""

_topics = {}        # topic → {question: points}, in the order of the notebook; a topic enters when it is loaded
_results = {}       # (topic, question, hidden tests?) → what came of the latest run: "passed", "failed" or "empty"

STATES = {"passed": "✓ passes", "failed": "✗ does not pass yet", "empty": "· still empty",
          None: "· its check has not run"}


def announce(topic, questions, written):
    """Tell the score what a topic asks: its questions (see question.py), and {title: points} of what people read."""
    for question in questions:
        question.topic = topic
    _topics[topic] = {question.name: question.points for question in questions} | {
        title: (0, points) for title, points in written.items()}


def points(topic):
    """{question: (points of the check, points of the hidden tests)} of a topic; the first is 0 for what people read."""
    return dict(_topics[topic])


def record(topic, question, result, hidden=False):
    """Keep the result of a check, or of its hidden tests: "passed", "failed" or "empty". The latest counts."""
    _results[topic, question, hidden] = result


def forget():
    """Forget all results."""
    _results.clear()


def score():
    """Print each question of the notebook that was looked at, whether its latest check passed, and its points.

    Where hidden tests have run, that is, where marks are given, their points are counted as well.
    """
    used = [topic for topic in _topics if any(found == topic for found, *_ in _results)]
    if not used:
        print("No check has run here. While you work: run the notebook from the top, then this cell again.\n"
              "In a notebook that was marked, the points stand beside the checks.")
    for topic in used:
        print(f"{topic}\n")
        tests = {question: pair for question, pair in _topics[topic].items() if pair[0]}
        earned, possible, unseen = 0, 0, 0
        for question, (visible, hidden) in tests.items():
            seen, tested = (_results.get((topic, question, which)) for which in (False, True))
            passed, passed_hidden = seen == "passed", tested == "passed"
            text = f"{visible * passed} of {visible} points"
            if tested is None:
                text += f", and {hidden} by tests that you do not see"
                unseen += hidden
            else:
                text += f", {hidden * passed_hidden} of {hidden} by tests with other inputs"
                earned, possible = earned + hidden * passed_hidden, possible + hidden
            earned, possible = earned + visible * passed, possible + visible
            print(f"  {question:<20} {STATES[seen]:<25} {text}")
        read = {title: worth for title, (visible, worth) in _topics[topic].items() if not visible}
        for title, worth in read.items():
            print(f"  {title:<20} {'· read by a person':<25} {worth} points")
        more = f"{unseen} more come from tests with other inputs, and " if unseen else ""
        print(f"\n{earned} of {possible} points so far; {more}{sum(read.values())} from a person who reads your text.")
