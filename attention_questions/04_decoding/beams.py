"""Check of assignment 04 on a beam search. What a language model is here, generating.py says."""

import itertools

import torch

from coursegrade.kit.question import question

from .generating import LOOPS, as_function

__all__ = ["beam_search"]

FORK = torch.log(torch.tensor([[0.1, 0.5, 0.4], [0.35, 0.4, 0.25], [0.04, 0.06, 0.9]]))
LATE = torch.tensor([[-1.2, -0.3, 0.5], [0.2, 0.9, 0.7], [0.4, 0.5, -2.5]])
LONG = torch.tensor([[1.0, 2.2, 0.4, 2.0], [1.5, 0.3, 2.1, 2.4], [2.2, 1.0, 0.2, 1.1], [0.9, 1.6, 1.3, 0.1]])


def _told_apart(scores):
    return all(abs(one - other) > 1e-4 for one, other in itertools.combinations(scores, 2))


@question((1, 0), {"width 1 is greedy": (FORK, [0], 2, 1), "greedy is beaten": (FORK, [0], 2, 2),
                   "logits that are no logarithms": (LONG, [2, 0], 3, 3),
                   "an end": (FORK, [0], 3, 2, 1),
                   "an end that is overtaken": (FORK, [1, 0], 2, 3, 0),
                   "an end that is overtaken later": (LATE, [0], 3, 2, 1),
                   "an end, and α = 2": (LONG, [0, 0], 3, 3, 1, 2.0), "an end, and α = 1": (FORK, [2, 0], 2, 2, 1, 1.0),
                   "the prompt opens with the end": (LONG, [0, 1], 4, 3, 0, 0.5),
                   "wider than there are tokens": (LONG, [1], 1, 5),
                   "large logits": (300 * LATE.double(), [2], 2, 9),
                   "a vocabulary of one": (torch.tensor([[2.0]]), [0], 4, 3)},
          forbidden=LOOPS, instead="a loop around next_logits", given=as_function,
          otherwise="Do two steps by hand. Each step: all beams, continued by all tokens, and of these the `width` "
                    "with the largest sum of log p.",
          promises={"No two scores are equal in the tests": lambda *case: _told_apart(
                        [score for _, score in beam_search.reference(*as_function(*case))]),
                    r"$n \geq 1$": lambda rows, prompt, n, *more: n >= 1})
def beam_search(next_logits, prompt, n, width, eos=None, alpha=0.0, *, what=torch.log_softmax, each=False,
                ended="compete", rank=lambda p, l: p, score=lambda p, l, start, alpha: p / l ** alpha, order=True):
    """beam_search(next_logits, prompt, n, width, eos, alpha): pairs (new ids, log p / length^alpha), the best first.

    ended: what beams do that have ended: "compete", "go on", are "lost", "stop" the search if one of them is the best,
    or are set "aside" until the search is over.
    """
    beams, aside = [(0.0, [])], []
    for _ in range(n):
        longer, done = [], [(total, ids) for total, ids in beams if ids and ids[-1] == eos and ended != "go on"]
        if done and ended == "stop" and done[0] == beams[0]:
            break
        aside += done if ended == "aside" else []
        for total, ids in beams:
            if (total, ids) in done:
                longer += [(total, ids)] if ended in ("compete", "stop") else []
                continue
            log_p = what(next_logits(prompt + ids), -1).tolist()
            best = [(total + share, ids + [token]) for token, share in enumerate(log_p)]
            longer += sorted(best, key=lambda beam: -beam[0])[:width] if each else best
        longer.sort(key=lambda beam: -rank(beam[0], len(beam[1])))
        beams = longer if each else longer[:width]
    beams = sorted(aside + beams, key=lambda beam: -beam[0])[:width] if ended == "aside" else beams
    pairs = [(ids, score(total, len(ids), len(prompt), alpha)) for total, ids in beams]
    return sorted(pairs, key=lambda pair: -pair[1]) if order else pairs


def _then(change):
    """An answer that changes the list of pairs in the end: change(pairs, prompt, eos)."""
    return lambda next_logits, prompt, n, width, eos=None, alpha=0.0: change(beam_search.reference(
        next_logits, prompt, n, width, eos, alpha), prompt, eos)


def _penalty_inside(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return beam_search.reference(next_logits, prompt, n, width, eos, alpha, rank=lambda p, l: p / l ** alpha)


ENDED = "A beam that has ended was continued. It stays as it is, in the race with the others."

beam_search.mistakes(
    ("Logits were added up. They have to become log-probabilities first: logits of different rows cannot be compared.",
     dict(what=lambda row, axis: row)),
    ("Probabilities were added up. The probability of a text is a product, its logarithm a sum of logarithms.",
     dict(what=torch.softmax)),
    ("More than `width` beams are kept. The continuations of *all* beams compete for the places.", dict(each=True)),
    ("Only beams that have ended came back. All beams are asked for, at most `width`, the best score first.",
     _then(lambda pairs, prompt, eos: [pair for pair in pairs if pair[0][-1] == eos] or pairs)),
    ("Only the best came back. All beams are asked for, at most `width`, the best first.",
     _then(lambda pairs, prompt, eos: pairs[:1])),
    ("The prompt came back as well. Only the new ids are asked for.",
     _then(lambda pairs, prompt, eos: [(prompt + ids, score) for ids, score in pairs])),
    ("In a pair the new ids come first, a plain list, and then the score.",
     _then(lambda pairs, prompt, eos: [(score, ids) for ids, score in pairs])),
    ("Return a list of pairs, one for each beam, also when there is a single one.",
     _then(lambda pairs, prompt, eos: pairs[0])),
    (ENDED, dict(ended="go on")),
    ("The penalty was used inside the search. Beams are kept by log-probability; only in the end are they ranked by "
     "score.", _penalty_inside),
    ("Beams that have ended are lost. Such a beam stays in the race, as it is.", dict(ended="lost")),
    ("There is a beam that has ended and was overtaken since: `width` others are likelier. It has no place of its own, "
     "neither aside nor among the beams. Beams that have ended compete with all others, in every step.",
     dict(ended="aside")),
    ("The search stopped too early, with the first end. It goes on, n times, as long as there is a beam that has not "
     "ended.", dict(ended="stop")),
    ("The end itself is missing: the token `eos` is the last of the new ids of a beam that has ended.",
     _then(lambda pairs, prompt, eos: [([token for token in ids if token != eos], score) for ids, score in pairs])),
    ("The scores are not divided by lengthᵅ.", dict(score=lambda p, l, start, alpha: p)),
    ("The length counts the new tokens, without those of the prompt.",
     dict(score=lambda p, l, start, alpha: p / (l + start) ** alpha)),
    ("The beams are right, but in another order: the best *score* first, after the division.", dict(order=False)),
    ("The token `eos` stands in the prompt. Only a *new* token ends a text.",
     _then(lambda pairs, prompt, eos: [([], 0.0)] if eos in prompt else pairs)))


@beam_search.suspect
def _(got, rows, prompt, n, width, eos=None, alpha=0.0):
    right = beam_search.reference(*beam_search.given(rows, prompt, n, width, eos, alpha))
    if any(len(ids) > n + len(prompt) for ids, _ in got):
        return ("There are far more than n ids in a beam. `ids.append(…)` and `+=` change the one list that all "
                "continuations of a beam share: `ids + [token]` makes a new one for each.")
    if eos is not None and any(eos in list(ids)[:-1] for ids, _ in got):
        return ENDED
    if _texts(got) == _texts(right):
        return "The texts are right, the scores are not: the sum of log p over the new tokens, divided by lengthᵅ."
    if len(got) < len(right):
        return f"There are {len(got)} beams, expected {len(right)}. Is each beam continued by *every* token?"
    return None


def _texts(pairs):
    """The ids of pairs (ids, score), in an order that does not depend on the scores."""
    return sorted([int(token) for token in ids] for ids, _ in pairs)
