"""Checks of assignment 06 on integrated gradients from several baselines, and what trapezoids.py shares with them.

A function f of a table e (T, d_e) stands in a case as its formula, a text, so that a message can show it. What an
answer gets in its place is `slopes`, points (k, T, d_e) → the slopes of f at each of them.
"""

import torch

from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same

__all__ = ["function", "integrated"]

AT_ONCE = 16        # points that `slopes` takes in question 4
OWN = ("coursekit.explain.integrated_gradients", "coursekit.explain.gradients.path_integral")

asked = []          # the points (k, T, d_e) of each call of the latest `slopes`


def function(f):
    """The function of a table e (T, d_e) that a formula stands for; a function stays what it is."""
    return eval(f"lambda e: {f}", {"torch": torch}) if type(f) is str else f


def slopes_of(f, e, most=None):
    """slopes(points (k, T, d_e)) → (k, T, d_e) of f, says what it cannot take, keeps the points in `asked`."""
    asked.clear()

    def slopes(points):
        if kind(points) != "a tensor" or not points.is_floating_point() or points.shape[1:] != e.shape:
            found = f"a tensor {tuple(points.shape)}, {points.dtype}" if kind(points) == "a tensor" else kind(points)
            found += "; a single point p is p[None]" if found.startswith(f"a tensor {tuple(e.shape)}") else ""
            raise ValueError(f"slopes takes points of shape (k, T, d_e), here (k, {e.shape[0]}, {e.shape[1]}), with "
                             f"floating-point numbers, got {found}")
        if most and len(points) > most:
            raise ValueError(f"slopes takes at most {most} points at a time, got {len(points)}")
        asked.append(points.detach().double().clone())
        return slopes_at(f, points).to(points.dtype)

    return slopes


def slopes_at(f, points):
    """Slopes (k, T, d_e) of f at points (k, T, d_e), in double precision."""
    if not len(points):
        return points.detach().double()
    leaf = points.detach().double().requires_grad_()
    with torch.enable_grad():
        return torch.autograd.grad(sum(function(f)(point) for point in leaf), leaf)[0]


def mean_slopes(f, e, start, nodes, weights):
    """Σ weight · slopes (T, d_e) over the nodes of the straight path from start to e."""
    return torch.tensordot(weights, slopes_at(f, start + nodes[:, None, None] * (e - start)), 1).to(e.dtype)


# -- integrated ------------------------------------------------------------------------------------------------------

HEAD = "torch.softmax(e[:, 0], 0) @ e[:, 1]"
E2, E3 = torch.tensor([[1.0, 2.0], [0.0, 3.0]]).double(), torch.tensor([[2.0, 1.0], [-1.0, 3.0], [0.0, -2.0]]).double()
ONE, TWO = torch.zeros(1, 2, 2).double(), torch.tensor([[[0.0, 0], [0, 0]], [[0, 1], [4, 1]]]).double()
THREE = torch.stack([torch.zeros(3, 2), torch.tensor([[1.0, 0], [0, 1], [1, 1]]), -torch.ones(3, 2)]).double()


@question((2, 2), {"one baseline": ("(e ** 3).sum()", E2, ONE, 3), "two baselines": ("(e ** 3).sum()", E2, TWO, 1),
                   "three baselines, an attention head": (HEAD, E3, THREE, 5),
                   "sixteen points": ("(e ** 3).sum()", E2, ONE, 16),
                   "one token, three hundred points": ("(e ** 4).sum()", torch.tensor([[2.0, 1.0]]),
                                                       torch.tensor([[[0.0, 0.0]]]), 300),
                   "a baseline that is the input": (HEAD, E2, torch.stack([E2, TWO[1]]), 3)},
          forbidden=OWN, instead="`slopes` and a mean",
          prepare=lambda f, e, starts, n: (slopes_of(f, e, AT_ONCE), e, starts, n),
          hints={"shapes": "slopes takes (k, T, d_e): the numbers a become (k, 1, 1) before they meet (T, d_e)."})
def integrated(f, e, starts, n):
    """integrated(slopes, e, starts, n): (T,), integrated gradients with n midpoints, averaged over the baselines."""
    return _integrated(f, e, starts, n)


def _integrated(f, e, starts, n, first=0.5, nodes=None):
    nodes = nodes_of(n, first) if nodes is None else nodes
    return torch.stack([((e - s) * mean_slopes(f, e, s, nodes, even(len(nodes)))).sum(1) for s in starts]).mean(0)


def nodes_of(n, first):
    """Places (n,) in n equal steps from 0 to 1: `first` 0.5 are the midpoints, 1 the right ends, 0 the left ends."""
    return (torch.arange(n, dtype=torch.float64) + first) / n


def even(n):
    return torch.full((n,), 1 / n, dtype=torch.float64)


def from_0_to_1(n):
    return torch.linspace(0, 1, n, dtype=torch.float64)


@integrated.suspect
def _(got, f, e, starts, n):
    if kind(got) != "a tensor":
        return "The result is a tensor (T,), one number for each token."
    if got.dtype != e.dtype:
        return "The result has the dtype of e. Were the numbers a made in another one? dtype=e.dtype"
    if got.isnan().any():
        return ("Something is not a number. Was a mean taken of an empty portion? 16 points are one portion, and no "
                "second one.")
    steps = torch.stack([e - s for s in starts])                        # (m, T, d_e)
    means = torch.stack([mean_slopes(f, e, s, nodes_of(n, 0.5), even(n)) for s in starts])
    products = (steps * means).mean(0)                                  # (T, d_e)
    right = products.sum(1)
    if got.dim() == 2 and same(got.mean(0), right):
        return "That is a row for each baseline. Asked for is their mean."
    words = first_match(got, [
        (products, "One number for each token: a token's products are still to be added up over its d_e coordinates."),
        (products.sum(0), "The products were added up over the tokens. A token's products are added up over its d_e "
                          "coordinates."),
        (right.sum(), "That is one number for the whole document. Each token has its own: add up its row."),
        *((_integrated(f, e, starts, n, nodes=nodes), words) for nodes, words in (
            (nodes_of(n, 1), "These are the right ends of the steps, 1/n, 2/n, …, 1. Asked for are the midpoints."),
            (nodes_of(n, 0), "These are the left ends of the steps, 0, 1/n, …: asked for are the midpoints."),
            (nodes_of(n, -0.5), "The midpoints are a step too early: the first is a = ½/n. (i begins with 1.)"),
            (nodes_of(n, 1.5), "The midpoints are a step too late: the first is a = ½/n. (`arange(n)` begins with 0.)"),
            (from_0_to_1(n), "Here a runs from 0 to 1, both ends included. The midpoints stay away from the ends."),
            (from_0_to_1(n + 1), "Here a runs from 0 to 1, both ends included, n + 1 points in all. There are n "
                                  "midpoints."),
            (nodes_of(1, 1), "The slopes were only taken at e, the end of the path."),
            *((nodes, ANEW) for nodes in _anew(n) if sum(map(len, asked)) >= n * len(starts)))),
        (right * len(starts) if len(starts) > 1 else None, "The baselines' scores were added up. Asked for is their "
                                                           "mean."),
        (right * n if n > 1 else None, "The slopes were added up along the path. An integral over a from 0 to 1 is "
                                       "their *mean*."),
        (-right, "The sign is turned round: the step leads *from* the baseline *to* e, e − e⁰."),
        (right / e.shape[1], "A token's products were averaged over its coordinates. They are added up."),
        ((e * means).sum(-1).mean(0), "The mean slopes were multiplied by e. It is the step, e − e⁰."),
        (means.sum(-1).mean(0), "The slopes were averaged along the path, but not multiplied by the step e − e⁰."),
        *((value, "The baselines were averaged first, and one path walked from their mean. Each baseline has a path "
                  "of its own.") for value in [_integrated(f, e, starts.mean(0)[None], n)] if len(starts) > 1),
        *((value, "The slopes and the steps were each averaged over the baselines, and then multiplied. The mean of "
                  "products is not the product of means: multiply for each baseline.")
          for value in [(steps.mean(0) * means.mean(0)).sum(-1)] if len(starts) > 1),
        *((_integrated(f, e, starts[i:i + 1], n), "Only one of the baselines came in.")
          for i in (0, -1 % len(starts)) if len(starts) > 1),
        *((_along(f, e, starts, n, where), words) for where, words in (
            (lambda s, a: a * e, "The path starts at zero here, whatever the baseline: a·e. It leads from e⁰ to e."),
            (lambda s, a: a * (e - s), "The points of the path are a·(e − e⁰): the baseline itself is missing."),
            (lambda s, a: e + a * (e - s), "The path starts at e and leads away from the baseline."))),
        *((_along(f, e, starts, n, mean=mean), words) for mean, words in PORTIONS if n > AT_ONCE)])
    if words:
        return words
    if tuple(got.shape) != (len(e),):
        return "The result has one number for each token, (T,)."
    due = torch.cat([s + nodes_of(n, 0.5)[:, None, None] * (e - s) for s in starts])
    if words := points_asked(due, "midpoints of all paths"):
        return words + " The first midpoint of a path is e⁰ + a(e − e⁰) with a = ½/n."
    return ("`slopes` was asked about the right points. For each baseline: the mean of the slopes over the n points of "
            "its path, times e − e⁰, added up for each token. At the end the mean over the baselines.")


def _along(f, e, starts, n, where=None, mean=lambda found: found.mean(0)):
    """As _integrated, at the points where(start, a), with mean(slopes (n, T, d_e))."""
    a, where = nodes_of(n, 0.5)[:, None, None], where or (lambda s, a: s + a * (e - s))
    return torch.stack([((e - s) * mean(slopes_at(f, where(s, a)))).sum(1) for s in starts]).mean(0).to(e.dtype)


def _anew(n):
    """Nodes (n,) that begin anew in each portion: with the step 1/n, and with that of the portion."""
    return [torch.arange(n) % AT_ONCE / n + 0.5 / n,
            torch.cat([nodes_of(len(part), 0.5) for part in nodes_of(n, 0).split(AT_ONCE)])]


ANEW = "In each portion a begins anew. The midpoints are numbered from 1 to n, through all portions of a path."
ONE = "Only one portion of the points came in. All of them do, and each of the n points counts the same."
PORTIONS = [        # (what is made of the slopes (n, T, d_e), words), if they come in several portions
    (lambda found: torch.stack([part.mean(0) for part in found.split(AT_ONCE)]).mean(0),
     "The mean of the portions' means: the last portion is shorter, and its points count too much. Each of the n "
     "points counts the same."),
    (lambda found: sum(part.mean(0) for part in found.split(AT_ONCE)),
     "The portions' means were added up. Asked for is the mean over all n points, in which each counts the same."),
    *((lambda found, of=of: found[:len(found) // AT_ONCE * AT_ONCE].sum(0) / of(len(found)),
       "The last, shorter portion did not come in. Each of the n points counts the same.")
      for of in (lambda n: n, lambda n: n // AT_ONCE * AT_ONCE)),
    *((lambda found, i=i: found.split(AT_ONCE)[i].mean(0), ONE) for i in (0, -1)),
    *((lambda found, i=i: found.split(AT_ONCE)[i].sum(0) / len(found), ONE) for i in (0, -1)),
]


def points_asked(due, name):
    """What is wrong with the points that slopes was asked about, in words; "" if they are the points `due`."""
    due, got = due.double().flatten(1), torch.cat(asked or [due[:0].double()]).flatten(1)
    near = torch.cdist(due, got) < 1e-4
    missing, others = (len(axis) - axis.sum().item() for axis in (near.any(1), near.any(0)))
    words = [f"`slopes` was never asked about {missing} of the {len(due)} {name}."] * bool(missing)
    words += [f"{others} of the {len(got)} points that `slopes` was asked about {'is' if others == 1 else 'are'} not "
              f"among {'them' if missing else f'the {len(due)} {name}'}."] * bool(others)
    return " ".join(words)
