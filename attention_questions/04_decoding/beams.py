"""Check of assignment 04 on a beam search. What a language model is here, generating.py says."""

from attention_questions.prelude import Question, itertools, torch

from . import solution
from .generating import LOOPS, as_function

FORK = torch.log(torch.tensor([[0.1, 0.5, 0.4], [0.35, 0.4, 0.25], [0.04, 0.06, 0.9]]))
LATE = torch.tensor([[-1.2, -0.3, 0.5], [0.2, 0.9, 0.7], [0.4, 0.5, -2.5]])
LONG = torch.tensor([[1.0, 2.2, 0.4, 2.0], [1.5, 0.3, 2.1, 2.4], [2.2, 1.0, 0.2, 1.1], [0.9, 1.6, 1.3, 0.1]])


def _told_apart(*case):
    scores = [score for _, score in solution.beam_search(*as_function(*case))]
    return all(abs(one - other) > 1e-4 for one, other in itertools.combinations(scores, 2))


beam_search = Question(solution.beam_search, (1, 0), {
    "width 1 is greedy": (FORK, [0], 2, 1), "greedy is beaten": (FORK, [0], 2, 2),
    "logits that are no logarithms": (LONG, [2, 0], 3, 3),
    "an end": (FORK, [0], 3, 2, 1),
    "an end that is overtaken": (FORK, [1, 0], 2, 3, 0), "an end that is overtaken later": (LATE, [0], 3, 2, 1),
    "an end, and α = 2": (LONG, [0, 0], 3, 3, 1, 2.0), "an end, and α = 1": (FORK, [2, 0], 2, 2, 1, 1.0),
    "the prompt opens with the end": (LONG, [0, 1], 4, 3, 0, 0.5),
    "wider than there are tokens": (LONG, [1], 1, 5),
    "large logits": (300 * LATE.double(), [2], 2, 9),
    "a vocabulary of one": (torch.tensor([[2.0]]), [0], 4, 3)},
    forbidden=LOOPS, instead="a loop around next_logits", given=as_function,
    otherwise="Do two steps by hand. Each step: all beams, continued by all tokens, and of these the `width` "
              "with the largest sum of log p.",
    promises={"No two scores are equal in the tests": _told_apart,
              r"$n \geq 1$": lambda rows, prompt, n, *more: n >= 1})
ENDED = "A beam that has ended was continued. It stays as it is, in the race with the others."
beam_search.mistakes(
    ("Logits were added up. They have to become log-probabilities first: logits of different rows cannot be compared.",
     ".log_softmax(-1) → "),
    ("Probabilities were added up. The probability of a text is a product, its logarithm a sum of logarithms.",
     ".log_softmax → .softmax"),
    ("More than `width` beams are kept. The continuations of *all* beams compete for the places.",
     "[:width] → ", "enumerate(log_p) → sorted(enumerate(log_p), key=lambda each: -each[1])[:width]"),
    ("Only beams that have ended came back. All beams are asked for, at most `width`, the best score first.",
     "return → pairs = [pair for pair in pairs if pair[0][-1] == eos] or pairs\n    return"),
    ("Only the best came back. All beams are asked for, at most `width`, the best first.",
     "pair[1], reverse=True) → pair[1], reverse=True)[:1]"),
    ("The prompt came back as well. Only the new ids are asked for.", "[(ids, total → [(prompt + ids, total"),
    ("In a pair the new ids come first, a plain list, and then the score.",
     "(ids, total / len(ids) ** alpha) → (total / len(ids) ** alpha, ids)", "pair[1] → pair[0]"),
    ("Return a list of pairs, one for each beam, also when there is a single one.",
     "pair[1], reverse=True) → pair[1], reverse=True)[0]"),
    (ENDED, "if ids and ids[-1] == eos → if False"),
    ("The penalty was used inside the search. Beams are kept by log-probability; only in the end are they ranked by "
     "score.", "beam[0], reverse → beam[0] / len(beam[1]) ** alpha, reverse"),
    ("Beams that have ended are lost. Such a beam stays in the race, as it is.", "longer.append((total, ids)) → pass"),
    ("There is a beam that has ended and was overtaken since: `width` others are likelier. It has no place of its own, "
     "neither aside nor among the beams. Beams that have ended compete with all others, in every step.",
     "beams = [(0.0, [])] → beams, aside = [(0.0, [])], []", "longer.append → aside.append",
     "pairs = → beams = sorted(aside + beams, key=lambda beam: beam[0], reverse=True)[:width]\n    pairs ="),
    ("The search stopped too early, with the first end. It goes on, n times, as long as there is a beam that has not "
     "ended.", "longer = [] → if beams[0][1][-1:] == [eos]:\n            break\n        longer = []"),
    ("The end itself is missing: the token `eos` is the last of the new ids of a beam that has ended.",
     "[(ids, total → [([token for token in ids if token != eos], total"),
    ("The scores are not divided by lengthᵅ.", " / len(ids) ** alpha → "),
    ("The length counts the new tokens, without those of the prompt.", "len(ids) → len(prompt + ids)"),
    ("The beams are right, but in another order: the best *score* first, after the division.",
     "sorted(pairs, key=lambda pair: pair[1], reverse=True) → pairs"),
    ("The token `eos` stands in the prompt. Only a *new* token ends a text.",
     "return sorted → return [([], 0.0)] if eos in prompt else sorted"))


@beam_search.suspect
def _(got, rows, prompt, n, width, eos=None, alpha=0.0):
    right = solution.beam_search(*beam_search.given(rows, prompt, n, width, eos, alpha))
    if any(len(ids) > n + len(prompt) for ids, _ in got):
        yield ("There are far more than n ids in a beam. `ids.append(…)` and `+=` change the one list that all "
               "continuations of a beam share: `ids + [token]` makes a new one for each.")
    if eos is not None and any(eos in list(ids)[:-1] for ids, _ in got):
        yield ENDED
    if _texts(got) == _texts(right):
        yield "The texts are right, the scores are not: the sum of log p over the new tokens, divided by lengthᵅ."
    if len(got) < len(right):
        yield f"There are {len(got)} beams, expected {len(right)}. Is each beam continued by *every* token?"


def _texts(pairs):
    """The ids of pairs (ids, score), in an order that does not depend on the scores."""
    return sorted([int(token) for token in ids] for ids, _ in pairs)
