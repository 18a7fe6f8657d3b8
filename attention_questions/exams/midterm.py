"""The midterm, on lectures 00 to 07: eight exercises, 83 points."""

from attention_questions.exams import attention, decoding, gradients, models, perturbation
from coursegrade.exam import paper

__all__ = ["attention", "decoding", "gradients", "models", "perturbation"]

paper("midterm", "Attention, explained? Midterm", [
    ("three_inputs", "one_row_masked"),
    ("merges", "block_size", "norm_of_a_row", "two_perplexities"),
    ("greedy_and_beams", "hot_and_cut"),
    ("heads_taken_away", "place_to_rest"),
    ("two_layers", "pieces_to_words", "curve_of_deletions"),
    ("slopes_by_hand", "flat_at_the_end", "product_of_two"),
    ("three_words", "how_many_go", "line_and_kernel"),
    ("what_the_table_says", "two_faces")])
