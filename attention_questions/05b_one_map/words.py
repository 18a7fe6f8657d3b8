"""Check of assignment 05b: words out of pieces."""

from attention_questions.prelude import Question, numbers

from . import solution

SELF = numbers("0.5 0.25 0.125 0.125  0.25 0.25 0.375 0.125  0 0.5 0.25 0.25  0.125 0.125 0.25 0.5", 4, 4)
CROSS = numbers("0.5 0.25 0.25  0.125 0.125 0.75   0.25 0 0.75  0.375 0.5 0.125", 2, 2, 3)


word_map = Question(solution.word_map, (1, 2), {
    "one text, the second word has two pieces": (SELF, [[0], [1, 2], [3]], [[0], [1, 2], [3]]),
    "two heads, a word of two pieces looks at another text": (CROSS, [[0, 1]], [[0, 1], [2]]),
    "words whose pieces stand apart": (SELF, [[1], [0, 3], [2]], [[2, 0], [1, 3]]),
    "two layers of one head, two words look at one word": (CROSS[:, None], [[0], [1]], [[0, 2]]),
    "places that belong to no word, double precision": (SELF.double(), [[1, 2]], [[1, 2], [3]])},
    returns="map (..., W_q, W)",
    forbidden=("coursekit.explain.word_attention",), instead="a sum over columns and a mean over rows",
    otherwise="One entry by hand: in each row of the word that asks, the columns of the other word; then these "
              "rows together. (Axes in front of the last two stay as they are in A.)",
    hints={"shapes": "The rows of A belong to `looking`, its columns to `seen`; there may be axes in front of them.",
           "IndexError": "Axes may stand in front of rows and columns: A[rows] takes entries of the *first* one, "
                         "A[..., rows, :] rows wherever they are. Rows belong to `looking`, columns to `seen`. "
                         "And two lists in one bracket make pairs of places, not a block."})
word_map.mistakes(
    ("The wrong way round: what goes *to* a word is the sum over its pieces (columns), what comes *from* it the mean "
     "over them (rows).", "sum(-1) → mean(-1)", "mean(-2) → sum(-2)"),
    ("Rows were added up as well. What comes *from* a word is the mean over its pieces.", "mean(-2) → sum(-2)"),
    ("Columns were averaged as well. What goes *to* a word is the sum over its pieces: a word gets no less for being "
     "cut.", "sum(-1) → mean(-1)"),
    ("Only the first piece of a word that is looked at counts here. All are added up.",
     "A[..., places] → A[..., places[:1]]"),
    ("Only the first piece of a word that looks counts here. Take the mean of all.",
     "B[..., places, :] → B[..., places[:1], :]"),
    ("Rows were rescaled to sum to one. Leave them: what is missing went to places that belong to no word.",
     "return → words =", "looking], -2) → looking], -2)\n    return words / words.sum(-1, keepdim=True)"),
    *(("Everything from a word's first to its last piece was taken. Only the places in its list belong to it.",
       f"A[..., places] → A[..., {word}]", f"B[..., places, :] → B[..., {word}, :]")
      for word in ("min(places):max(places) + 1", "places[0]:places[-1] + 1")),
    ("Rows and columns have changed places: `looking` groups the rows, A[…, s, t] goes from s to t.",
     "B = → A = A.mT if A.shape[-1] == A.shape[-2] else A\n    B ="),
    ("The result is transposed: words that look are its rows, words that are looked at its columns.",
     "looking], -2) → looking], -2).mT"),
    ("A has an axis of heads in front, and it stays: there is a word map for each head.",
     "B = → A = A[0] if A.dim() == 3 else A\n    B ="),
    *(("Two lists in one bracket, `A[..., rows, columns]`, make pairs of places, not a block. Take columns first, "
       "then rows.",
       f"B[..., places, :].mean(-2) → torch.stack([A[..., places, columns].sum(-1){mean} for columns in seen], -1)")
      for mean in ("", " / len(places)")))
