"""The course's examinations, `midterm` (lectures 00 to 07) and `final` (08 to 15), and what their templates share.

A template stands in the file of its topic, and says in its docstring how many steps of arithmetic and how many words it
takes. Its **minutes** follow by one rule, the same for all:

    reading          the words and numbers of the text and of what is asked, 150 a minute
    each part        half a minute: what is wanted, and which rule it needs
    each step        10 seconds: one sum, product, quotient or look-up of small numbers, or a formula, written down
    each word        4 seconds: thought and written, 15 a minute, where a reason is asked for

A point is about a minute. Numbers are drawn so that nobody needs a calculator and nothing is a tie by chance.
"""

from attention_questions.exams import final, midterm

__all__ = ["final", "midterm"]
