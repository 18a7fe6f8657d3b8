"""The final, on lectures 08 to 15: two to four templates for each of eight places, all of the same points. They lie by
topic in curves.py (08, 08b), means.py (09 to 10b), mechanisms.py (11 to 13b) and judges.py (14 to 15)."""

from attention_questions.exams import curves, judges, means, mechanisms
from coursegrade.exam import paper

__all__ = ["curves", "judges", "means", "mechanisms"]

paper("final", "Attention, explained? Final", [
    ("one_curve", "loud_and_silent"),
    ("asked_in_pairs", "sizes_of_copies"),
    ("answers_to_documents", "softly_taken_away", "two_fits", "trained_rivals"),
    ("two_orders", "other_weights", "shuffled_weights"),
    ("a_mix_of_letters", "lent_maps", "open_brackets"),
    ("one_state", "a_knob", "three_kinds", "a_name"),
    ("words_go", "most_important_first", "promised_and_lost", "learned_again"),
    ("marked_by_people", "people_in_rows")])
