"""Five questions at the end of a lecture, answered in the notebook by a widget and on a page by unfolding.

The questions stand in quizzes/NN.toml of the course's package, a file a lecture; CONTRIBUTING.md says how one is
written.

    questions.py   reads the file of a lecture, and says what is wrong in it
    answers.py     judges a reply to a question, and says why
    words.py       Markdown and formulas as HTML
    page.py        the quiz without a kernel: each answer a text to unfold
    widget.py      the quiz in a notebook
    export.py      all quizzes for Moodle and Canvas
"""

from coursegrade.selfcheck.questions import load

__all__ = ["quiz"]


def quiz(number):
    """The five questions of a lecture, to be answered where they stand; nothing is sent.

    number: the lecture's, a string such as "03b". Returns a widget; a page without a kernel shows its `static()`.
    Raises FileNotFoundError for a lecture that has no quiz, ValueError for one whose file has a fault,
    ModuleNotFoundError without ipywidgets (the extra `lab`), each in one line.

    >>> len(quiz("02").asked)
    5
    """
    questions = load(number)
    try:
        from coursegrade.selfcheck.widget import Quiz
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"quiz needs {error.name}, which comes with the extra `lab` of this project: "
                                  "pip install -e '.[lab]'") from None
    return Quiz(number, questions)
