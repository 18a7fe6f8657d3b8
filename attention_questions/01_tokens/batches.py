"""Checks of assignment 01: a padded batch and its mask."""

import torch

from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.question import question
from coursegrade.kit.services import back

__all__ = ["pad_batch"]


def _documents_stay(answer, arguments):
    if back(answer, arguments, [0])[1][0] != arguments[0]:
        raise CheckFailed("It changes `documents`, and whoever calls it still needs them. Another list of the same "
                          "documents, [*documents], does not help: `+=` and `.append(…)` change a document wherever it "
                          "stands. Cut with document[:length], and add the padding to that new list.")


@question((1, 2), {"three lengths": ([[5, 0, 3], [7], [4, 4, 1, 9, 2]], 4, 8), "the padding's number is a token too":
                   ([[0, 5, 0], [6, 0]], 4, 0), "an empty document": ([[], [1, 2]], 2, 3)},
          returns="ids (n, length), mask (n, length)", also=_documents_stay,
          otherwise="A row for each document: its first `length` tokens, and behind them what is missing.")
def pad_batch(documents, length, pad_id, *, kept=lambda document, length: document[:length], before=False,
              mask_of=lambda ids, mask, pad_id: mask):
    """pad_batch(documents, length, pad_id): ids (n, length), whole numbers, and mask (n, length), True for tokens."""
    ids = torch.full((len(documents), length), pad_id)
    mask = torch.zeros(len(documents), length, dtype=torch.bool)
    for i, document in enumerate(documents):
        row = kept(document, length)
        place = slice(length - len(row), length) if before else slice(0, len(row))
        ids[i, place], mask[i, place] = torch.tensor(row, dtype=torch.long), True
    return ids, mask_of(ids, mask, pad_id)


pad_batch.mistakes(
    ("Token numbers are names, and whole: dtype=torch.long, or a table cannot be asked for them.",
     lambda *given: (pad_batch.reference(*given)[0].float(), pad_batch.reference(*given)[1])),
    ("The mask is made of True and False: dtype=torch.bool, or mask == 1.",
     dict(mask_of=lambda ids, mask, pad_id: mask.float())),
    ("This pads to the longest document. Pad to `length`, and cut what is longer.",
     lambda documents, length, pad_id: pad_batch.reference(documents, max(map(len, documents)), pad_id)),
    ("The mask says the opposite: True where a token stands, False on padding.",
     dict(mask_of=lambda ids, mask, pad_id: ~mask)),
    ("The mask was read off the numbers (ids != pad_id). But a token may have the padding's number, as [UNK] does in "
     "lecture 01. The length of the document knows better.", dict(mask_of=lambda ids, mask, pad_id: ids != pad_id)),
    ("The padding stands before the tokens. It goes behind them.", dict(before=True)),
    ("What is too long loses its beginning here. Keep the first `length` tokens.",
     dict(kept=lambda document, length: document[-length:])),
    ("The padding is pad_id, an argument, not always 0.",
     lambda documents, length, pad_id: pad_batch.reference(documents, length, 0)),
    ("All rows are one and the same list here: `[[…]] * n` repeats the list, and does not copy it.",
     lambda documents, length, pad_id: tuple(part[-1:].repeat(len(documents), 1) for part in pad_batch.reference(
         documents, length, pad_id))))
