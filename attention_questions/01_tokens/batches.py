"""Checks of assignment 01: a padded batch and its mask."""

from attention_questions.prelude import CheckFailed, Question, services

from . import solution


def _documents_stay(answer, arguments):
    if services.back(answer, arguments, [0])[1][0] != arguments[0]:
        raise CheckFailed("It changes `documents`, and whoever calls it still needs them. Another list of the same "
                          "documents, [*documents], does not help: `+=` and `.append(…)` change a document wherever it "
                          "stands. Cut with document[:length], and add the padding to that new list.")


pad_batch = Question(solution.pad_batch, (1, 2), {
    "three lengths": ([[5, 0, 3], [7], [4, 4, 1, 9, 2]], 4, 8),
    "the padding's number is a token too": ([[0, 5, 0], [6, 0]], 4, 0), "an empty document": ([[], [1, 2]], 2, 3)},
    returns="ids (n, length), mask (n, length)", also=_documents_stay,
    otherwise="A row for each document: its first `length` tokens, and behind them what is missing.")
pad_batch.mistakes(
    ("Token numbers are names, and whole: dtype=torch.long, or a table cannot be asked for them.",
     "return ids → return ids.float()"),
    ("The mask is made of True and False: dtype=torch.bool, or mask == 1.", "ids, mask → ids, mask.float()"),
    ("This pads to the longest document. Pad to `length`, and cut what is longer.",
     "kept = → length = max(map(len, documents))\n    kept ="),
    ("The mask says the opposite: True where a token stands, False on padding.", "ids, mask → ids, ~mask"),
    ("The mask was read off the numbers (ids != pad_id). But a token may have the padding's number, as [UNK] does in "
     "lecture 01. The length of the document knows better.", "ids, mask → ids, ids != pad_id"),
    ("The padding stands before the tokens. It goes behind them.",
     "document + [pad_id] * (length - len(document)) → [pad_id] * (length - len(document)) + document",
     "ids, mask → ids, mask.flip(1)"),
    ("What is too long loses its beginning here. Keep the first `length` tokens.", "[:length] → [-length:]"),
    ("The padding is pad_id, an argument, not always 0.", "[pad_id] → [0]"),
    ("All rows are one and the same list here: `[[…]] * n` repeats the list, and does not copy it.",
     "ids, mask → ids[-1:].expand_as(ids), mask[-1:].expand_as(mask)"))
