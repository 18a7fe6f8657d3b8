"""Checks of assignment 01 on what goes in with the tokens, positions as waves, a padded batch and its mask; and an
experiment of the student's own."""

from attention_questions.prelude import CheckFailed, Question, services, torch
from coursegrade.kit.experiment import experiment

from . import solution

# -- waves -----------------------------------------------------------------------------------------------------------

waves = Question(solution.waves, (1, 1), {
    "base 10,000": (torch.tensor([0, 1, 2, 3]), 6, 10_000), "base 64": (torch.tensor([1, 2, 64]), 4, 64),
    "places in any order": (torch.tensor([7, 0, 7]), 2, 100)},
    returns="P (T, d)", forbidden=("coursekit.models.sinusoidal_positions",), instead="torch.sin and torch.cos",
    tolerance=(1e-3, 1e-4),
    hints={"shapes": "Do the positions stand in a column, (T, 1), where they meet the d/2 speeds?"},
    otherwise="One entry by hand: row r, column 2i is sin(t_r / base^(2i/d)), the column behind it the cosine.",
    why="All angles are one matrix, a column of positions over a row of powers; every second column is filled with its "
        "sines, the others with its cosines.",
    promises={"an even $d$": lambda t, d, base: d % 2 == 0})
waves.mistakes(
    ("All sines first, then all cosines. Here the two of a frequency stand side by side: columns 2i and 2i + 1.",
     "P[:, 0::2], P[:, 1::2] → P[:, :d // 2], P[:, d // 2:]"),
    ("Sine and cosine have changed places: the even columns, counted from 0, are sines.",
     "angles.sin(), angles.cos() → angles.cos(), angles.sin()"),
    ("The exponent is 2i/d with i = 0 … d/2 − 1: the 2 is missing.", "(0, d, 2) → (d // 2)"),
    ("The sine and the cosine of a pair have one frequency. The exponent counts pairs (2i), not columns.",
     "(0, d, 2) → (d)", "angles.sin(), angles.cos() → angles[:, 0::2].sin(), angles[:, 1::2].cos()"),
    ("The base is an argument of the function. Is 10,000 written in somewhere?", "base ** → 10_000 **"),
    *(("The positions are off by one. They are in t already: nothing is added to them or taken away.",
       f"t[:, None] → ({shifted})[:, None]") for shifted in ("t + 1", "t - 1")),
    ("Two neighbouring columns are equal. One is a sine, the other a cosine.", "angles.cos() → angles.sin()"),
    ("These are the first positions. Asked for are the positions in t, whatever they are.",
     "t[:, None] → torch.arange(len(t))[:, None]"),
    ("The clocks get faster from left to right. They get slower: t is divided by base^(2i/d).", "/ base → * base"),
    ("The exponent is 2i/d: the division by d is missing.", "(0, d, 2) / d → (0.0, d, 2)"),
    ("The counting starts too late: i is 0 in the first pair of columns, which turns fastest.",
     "(0, d, 2) → (2, d + 2, 2)"),
    ("All pairs of columns turn equally fast. Is 2i/d a fraction, with `/` and not with `//`?", "/ d) → // d)"),
    ("The values are right. Positions have single precision: end with .float().", "return P → return P.double()"),
    ("This has a row for every position up to the largest. Asked for are those in t, a row for each, in their order.",
     "angles = → t = torch.arange(int(t.max()) + 1)\n    angles ="),
    ("The waves were cut to whole numbers: is the tensor that you fill one of floats?",
     "torch.zeros(len(t), d) → torch.zeros(len(t), d, dtype=torch.long)"))


# -- pad_batch -------------------------------------------------------------------------------------------------------

def _documents_stay(answer, arguments):
    if services.back(answer, arguments, [0])[1][0] != arguments[0]:
        raise CheckFailed("It changes `documents`, and whoever calls it still needs them. Another list of the same "
                          "documents, [*documents], does not help: `+=` and `.append(…)` change a document wherever it "
                          "stands. Cut with document[:length], and add the padding to that new list.")


pad_batch = Question(solution.pad_batch, (1, 2), {
    "three lengths": ([[5, 0, 3], [7], [4, 4, 1, 9, 2]], 4, 8),
    "the padding's number is a token too": ([[0, 5, 0], [6, 0]], 4, 0), "an empty document": ([[], [1, 2]], 2, 3)},
    returns="ids (n, length), mask (n, length)", also=_documents_stay,
    otherwise="A row for each document: its first `length` tokens, and behind them what is missing.",
    why="The mask is made from the lengths alone: a column of them, compared with the row 0, 1, 2, … of places. The "
        "numbers in the row could not tell.")


def _one_row(documents, length, pad_id):
    ids, mask = [[pad_id] * length] * len(documents), [[False] * length] * len(documents)
    for i, document in enumerate(documents):
        for j, token in enumerate(document[:length]):
            ids[i][j], mask[i][j] = token, True
    return torch.tensor(ids), torch.tensor(mask)


pad_batch.mistakes(
    ("Token numbers are names, and whole: dtype=torch.long, or a table cannot be asked for them.",
     "return ids → return ids.float()"),
    ("The mask is made of True and False: dtype=torch.bool, or mask == 1.", "ids, mask → ids, mask.float()"),
    ("This pads to the longest document. Pad to `length`, and cut what is longer.",
     "kept = → length = max(map(len, documents))\n    kept ="),
    ("The mask says the opposite: True where a token stands, False on padding.", "ids, mask → ids, ~mask"),
    *(("The mask was read off the numbers (ids != pad_id). But a token may have the padding's number, as [UNK] does in "
       "lecture 01. The length of the document knows better.", f"ids, mask → ids, {mask}") for mask in (
           "ids != pad_id", "(ids != pad_id).long().cumprod(1).bool()",
           "(ids != pad_id).flip(1).long().cummax(1).values.flip(1).bool()")),
    *(("The mask was read off the numbers (0 or not). But 0 may be a token, and the padding has the number pad_id. The "
       "length of the document knows better.", f"ids, mask → ids, {mask}") for mask in ("ids != 0", "ids > 0")),
    ("Tokens that have the padding's number were left out. They are tokens like all others.",
     "document[:length] → [token for token in document if token != pad_id][:length]"),
    *((f"The mask is one place too {which}: the places of n tokens are 0, …, n - 1, those before n.", mask)
      for which, mask in (("long", "< torch.tensor → <= torch.tensor"), ("short", "[:, None] → [:, None] - 1"),
                           ("short", "[len(document) for document in kept] → "
                                     "[len(document) - 1 for document in documents]"))),
    *(("One token too few is kept: the first `length` tokens are document[:length].", f"[:length] → [:{end}]")
      for end in ("length - 1", "length - (len(document) > length)", "length - (len(document) >= length)")),
    ("The padding stands before the tokens. It goes behind them.",
     "document + [pad_id] * (length - len(document)) → [pad_id] * (length - len(document)) + document",
     "ids, mask → ids, mask.flip(1)"),
    ("What is too long loses its beginning here. Keep the first `length` tokens.", "[:length] → [-length:]"),
    ("The padding is pad_id, an argument, not always 0.", "[pad_id] → [0]"),
    *(("All rows are one and the same list here: `[[…]] * n` repeats the list, and does not copy it.", done)
      for done in ("ids, mask → ids[-1:].expand_as(ids), mask[-1:].expand_as(mask)", _one_row)))


@pad_batch.suspect
def _(got, documents, length, pad_id):
    if type(got) in (list, tuple) and len(got) == 2 and type(got[0]) is list:
        yield "These are lists. torch.tensor(…) makes a tensor of rows of numbers, torch.stack(…) one of tensors."


# -- my_experiment ---------------------------------------------------------------------------------------------------

my_experiment = experiment(solution.my_experiment, (2, 0), hints={
    "'list' object has no attribute 'items'": "learn_merges and per_word want a corpus first: `corpus(texts)` makes "
                                              "one of texts.",
    "[Ss]ample larger than population": "More texts were asked for than there are: films have 46, restaurants 10, "
                                        "books 4 and hotels 4, and another spelling of a topic has none."},
    why="Both numbers come from the same two dozen reviews. Only what is learned from differs: a word as often as it "
        "occurs, or once. So nothing else can explain the difference. Yours must be another one.")
