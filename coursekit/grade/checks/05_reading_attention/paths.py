"""Checks of assignment 05, third part: attention with gradients, and the widest path down through the layers."""

import torch

from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same

from .maps import DTYPE, TOGETHER, numbers, unlike

__all__ = ["guided", "widest"]


# -- guided ----------------------------------------------------------------------------------------------------------

def _slopes(C, L, K, T, seed):
    """A (L, K, T, T) in quarters that sum to one in each row, and G (C, L, K, T, T) of small whole numbers."""
    draw = torch.Generator().manual_seed(seed)
    A = torch.nn.functional.one_hot(torch.randint(T, (L * K * T, 4), generator=draw), T).sum(1).reshape(L, K, T, T) / 4
    return A, torch.randint(-9, 10, (C, L, K, T, T), generator=draw).float()


ONE = numbers("0.25 0.75  0.5 0.5   0.75 0.25  0.5 0.5", 1, 2, 2, 2), numbers(
    "8 -8  6 -2   4 16  0 6     4 8  2 2   -8 4  -2 0", 2, 1, 2, 2, 2)
DEEP = _slopes(C=2, L=2, K=1, T=3, seed=0)


@question((2, 2), {"one layer, class 0": (*ONE, 0, 0), "one layer, class 0 rather than 1": (*ONE, 0, 0, 1),
                   "two layers of two heads, the last row": (*_slopes(C=2, L=2, K=2, T=2, seed=5), -1, 1),
                   "two layers, class 1": (*DEEP, 1, 1),
                   "class 1 rather than 0, double precision": (DEEP[0].double(), DEEP[1].double(), 2, 1, 0)},
          forbidden=("coursekit.explain.gradient_attention", "coursekit.explain.relevance._self_relevance"),
          instead="products of matrices and clamp",
          hints={"shapes": "G[c] has the shape of A, (L, K, T, T); after the mean over heads a layer is (T, T)."})
def guided(A, G, row, target, other=None):
    """guided(A, G, row, target, other=None): (T,), row `row` of the relevance R, without the identity."""
    return _guided(A, _chosen(G, target, other), row)


def _chosen(G, target, other):
    return G[target] if other is None else G[target] - G[other]


def _guided(A, slopes, row, heads="mean", left=True, weigh=True, part="clamp", identity=True, product=True):
    strengths = slopes * A if weigh else slopes
    positive = {"clamp": lambda x: x.clamp(min=0), "abs": torch.abs, "all": lambda x: x,
                "negative": lambda x: (-x).clamp(min=0)}[part]
    if heads == "late":
        layers = positive(strengths.mean(1))
    else:
        layers = TOGETHER[heads](positive(strengths), 1)
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    R = I
    for layer in layers:
        R = R + ((layer @ R if left else R @ layer) if product else layer)
    return (R - I if identity else R)[row]


IGNORED = "`other` changes nothing here. If it is given, f is the difference of two logits."


@guided.suspect
def _(got, A, G, row, target, other=None):
    if kind(got) != "a tensor":
        return None
    (L, K, T, _), slopes = A.shape, _chosen(G, target, other)
    right = _guided(A, slopes, row)
    if tuple(got.shape) == (T, T):
        return "That is the whole matrix. Asked for is its row `row` alone."
    if tuple(got.shape) != (T,):
        return "The result has one number for each token that is looked at, (T,)."
    if got.dtype != A.dtype:
        return DTYPE
    if not got.any():
        return ("Everything is 0. Did R begin as the identity, and is it not another name for it? After `R = I` both "
                "are one tensor, and `R += …` changes both.")

    def changed(**change):
        return _guided(A, slopes, row, **change)

    transposed = _guided(A.mT, slopes.mT, row)
    column = torch.stack([_guided(A, slopes, s)[row] for s in range(T)])
    one = torch.eye(T, dtype=A.dtype)[row]
    variants = [
        (changed(identity=False), "The 1 with which R began is still in it: take the identity out at the end."),
        (right + one - 1, "1 was taken from every entry. Only one of them began with it: take the identity out."),
        (right * (1 - one), "The token's own entry was set to 0. Only the 1 with which it began is taken out of it."),
        (changed(heads="late"), "The mean over heads was taken first, then what is negative was dropped. One head's "
                                "plus then pays for another's minus: drop first."),
        (changed(part="all"), "Nothing was dropped. What is negative, entry by entry, becomes 0."),
        (changed(part="abs"), "Absolute values were taken. What is negative speaks against f and becomes 0."),
        (changed(part="negative"), "The sign is turned round: what is left over is what *lowers* f."),
        (changed(heads="sum") if K > 1 else None, "The heads were added up. Take their mean."),
        (changed(heads="max") if K > 1 else None, "The largest of the heads was taken. Take their mean."),
        (changed(weigh=False), "The gradients alone came in. They are multiplied by the attention, entry by entry."),
        (_guided(A, torch.ones_like(A), row), "The gradients have no part in it: attention alone was multiplied."),
        (changed(left=False), "The order is turned round: R ← R + Ā R, the later layer stands to the left."),
        (changed(product=False), "The layers were added up. Each of them acts on what came through those before: Ā R."),
        (_guided(A, slopes, 0) if row else None, "Row 0 was read. It is `row` that says which one (−1 is the last)."),
        *((value, "Rows and columns have changed places: row s, of a map and of R, holds what token s draws "
                  "from.") for value in (column, transposed)),
        *((_only(A, slopes, row) - start, "This is the product Ā ⋯ Ā alone. The skip connections are the R in R + Ā R.")
          for start in (0, one))]
    if other is not None:
        apart = _guided(A, G[target], row) - _guided(A, G[other], row)
        variants += [
            (_guided(A, G[target], row), IGNORED + " (Does `if other` ask for it? Class 0 is given, too: `is not None` "
                                                   "asks that.)" * (other == 0)),
            *((value, "Two results were subtracted. f is the difference of the logits, and so its gradient is "
                      "G[target] − G[other], *before* anything is dropped.") for value in (apart, apart.clamp(min=0))),
            (_guided(A, G[target] + G[other], row), "The two gradients were added up. f is a difference.")]
    else:
        variants += [(_guided(A, slopes - G[c], row), "Another class was subtracted, and `other` was not given.")
                     for c in range(len(G)) if c != target]
    variants += [(_guided(A, G[c], row), f"Those are the gradients of class {c}, and `target` is {target}.")
                 for c in range(len(G)) if c != target]
    return first_match(got, unlike(right, variants)) or (
        "One layer by hand: in each head, the gradient of f times the weight, 0 where that is negative; then the mean "
        "of the heads." if L == 1 else
        "Two layers by hand: R is I plus what layer 0 adds; for layer 1 the R on both sides of the + is this one.")


def _only(A, slopes, row):
    R = torch.eye(A.shape[-1], dtype=A.dtype)
    for layer in (slopes * A).clamp(min=0).mean(1):
        R = layer @ R
    return R[row]


# -- widest ----------------------------------------------------------------------------------------------------------

PIPES = numbers("5 2 1 9  2 3 6 8  2 5 3 2  3 5 9 8    1 7 1 1  2 2 5 2  7 9 6 7  1 6 4 2", 2, 4, 4) / 16
TRAPS = numbers("8 9 12  5 11 2  6 2 2    4 3 11  1 8 11  6 5 1    10 6 4  11 9 12  9 1 6", 3, 3, 3) / 16
WIDE = numbers("3 1  2 5    4 2  1 6", 2, 2, 2)
CAUSAL = numbers("1 0 0  0.5 0.5 0  0.25 0.25 0.5    1 0 0  0.75 0.25 0  0.125 0.375 0.5", 2, 3, 3)
TALL = torch.randint(1, 64, (10, 12, 12), generator=torch.Generator().manual_seed(0)) / 64


@question((2, 2), {"two layers": (PIPES, 2, 3), "three layers": (TRAPS, 2, 1), "one layer": (CAUSAL[1:], 2, 1),
                   "edges wider than 1": (WIDE, 0, 1), "a token of the future, behind a mask": (CAUSAL, 1, 2),
                   "skips alone, to another token": (torch.eye(3).repeat(2, 1, 1), 2, 1),
                   "ten layers of twelve tokens": (TALL, 3, 7)},
          forbidden=("networkx.Graph", "networkx.DiGraph", "coursekit.explain.flow_graph",
                     "coursekit.explain.attention_flow"),
          instead="a sweep from layer to layer",
          hints={"shapes": "Widths are (T,), one layer (T, T). `minimum(widths[:, None], layer)` puts widths beside "
                           "rows.",
                 "endless": "How many paths are there? With T tokens and L layers T to the power L − 1: too many to "
                            "try. What must you know of a layer's tokens to go on to the next layer?"})
def widest(layers, row, t):
    """widest(layers, row, t): (width, path), of the path from `row` at the top to t whose narrowest edge is widest."""
    return _widest(layers, row, t)


def _widest(layers, row, t, best=torch.amax, along=torch.minimum, start=float("inf"), others=0.0):
    T = layers.shape[-1]
    value, came = torch.full((T,), others, dtype=layers.dtype), []
    value[row] = start
    for A in layers.flip(0):                                            # from the top down
        through = along(value[:, None].expand(T, T), A)
        came.append(through.max(0).indices)
        value = best(through, 0)
    path = [t]
    for places in came[::-1]:
        path.append(int(places[path[-1]]))
    return value[t].item(), path[::-1]


def _width(layers, path, of=min):
    """The narrowest edge of a path, or their sum; None if it is no path."""
    if not all(kind(s) == "a whole number" and 0 <= s < layers.shape[-1] for s in path):
        return None
    return of(layers[-1 - i, s, t].item() for i, (s, t) in enumerate(zip(path, path[1:])))


def _of(got):
    """(width, path as a list) of a result; None if it is no such pair."""
    if type(got) not in (list, tuple) or len(got) != 2:
        return None
    width, path = got
    if kind(path) in ("a tensor", "a NumPy array") and len(path.shape) == 1:
        path = path.tolist()
    if type(path) not in (list, tuple):
        return None
    return width, [s.item() if kind(s) == "a tensor" and s.dim() == 0 else s for s in path]


@widest.judge
def _(got, layers, row, t):
    if (pair := _of(got)) is None:
        return "the result is a pair: the width, a number, and the path, a list"
    width, path = pair
    if len(path) != len(layers) + 1:
        return f"the path has {len(path)} tokens; through L layers it has L + 1, both ends included"
    if _width(layers, path) is None:
        return "the path is a list of tokens, whole numbers from 0 to T − 1"
    if (path[0], path[-1]) != (row, t):
        return "the path does not lead from `row`, its first entry, to `t`, its last one"
    right = _widest(layers, row, t)[0]
    if not same(width, right):
        return f"the widest path is {right:.4g} wide"
    if not same(_width(layers, path), right):
        return f"the width is right, but this path is only {_width(layers, path):.4g} wide"
    return None


@widest.suspect
def _(got, layers, row, t):
    if type(got) not in (list, tuple) or len(got) != 2:
        return "Return both: the width and the path."
    if got[1] is None:
        return "There is no path in it. A path from `row` to `t` is always due, also one of width 0."
    if kind(got[0]) in ("a list", "a tuple"):
        return "The two have changed places: first the width, a number, then the path."
    (width, path), right, L = _of(got), _widest(layers, row, t)[0], len(layers)
    if any(type(s) in (list, tuple) for s in path):
        return "A path is a list of tokens alone. Which layer each belongs to follows from its place in the list."
    if len(path) == L + 1 and (path[-1], path[0]) == (row, t) != (t, row):
        return "The path is turned round: it begins at the top, with `row`, and ends at the bottom, with `t`."
    if same(width, right) and right == 0:
        return ("The width is right, and a path from `row` to `t` is due all the same. In your sweep, does a token "
                "that has not been reached yet look like one that was reached over an edge of width 0?")
    if len(path) != L + 1:
        return ("Both ends belong to the path: `row` first, `t` last." if len(path) in (L - 1, L) else
                "Each layer adds one token to a path. Is `row` or `t` in it twice? (In a loop, keep the old paths "
                "until the layer is done.)")
    if same(width, float("inf")):
        return "The width is that with which you began. Is it lowered to the width of each edge on the way?"
    if path[-1] != t:
        return "The path is to end at `t`, and the width to be that of a path to `t`."
    if same(width, 1.0) and right > 1:
        return "The width 1 is that with which you began. Edges can be wider: begin with ∞."
    if same(width, right):
        return ("The width is right. To find the path, remember for every token of every layer from which token above "
                "it was reached best, and go back from t.")
    if (same(width, 0.0) or same(width, -1.0)) and layers.min() > 0:
        return ("Nothing arrives. Do the widths of the tokens above stand beside the *rows* of the layer, and is the "
                "largest taken of each of its *columns*?")
    if path[0] != row:
        return ("This path does not begin at `row`. Before the first edge only `row` is reached: does another token "
                "have a width then? (In a loop, keep the old widths until the layer is done.)")
    found = same(_width(layers, path), right)
    product, strongest = _widest(layers, row, t, along=torch.mul, start=1.0)
    longest = _widest(layers, row, t, along=torch.add, start=0.0, others=-float("inf"))[1]

    def of(other):                                                      # the width of this path, if it was taken
        return _width(layers, other) if path == other else None

    def through(others):                                                # the widest path of these, if it was taken
        width, other = _widest(others, row, t)
        return width if path == other else None

    variants = [
        (_width(layers, path, sum), "The edges were added up. A path is as wide as its narrowest edge: a minimum, and "
                                    "no sum."),
        (product, "That is the largest *product* along a path. Asked for is the narrowest edge of a path: a minimum."),
        (_widest(layers, row, t, best=torch.sum, along=torch.mul, start=1.0)[0],
         "That is rollout: products along paths, added up over all of them. Here a path is as wide as its narrowest "
         "edge, and the widest path counts."),
        (_widest(layers, row, t, best=torch.sum)[0],
         "Widths were added up over the paths. Only the widest path counts."),
        (through(layers.flip(0)),
         "The layers were passed in the wrong order: the path begins at the top, in layers[-1], and layers[0] leads to "
         "the input."),
        (through(layers.mT), "Rows and columns have changed places: layers[l, s, t] leads from s down to t."),
        (of(strongest), "That is the width of the path with the largest *product*. Another path has a smaller product, "
                        "and is wider."),
        (of(longest), "That is the width of the path with the largest *sum*. Another path has a smaller sum, and is "
                      "wider."),
        *((of(_greedy(layers, row, t, up)),
          "At each step the widest edge was taken. It can lead to a token from which only narrow ones go on: keep the "
          "best width for *every* token of a layer.") for up in (False, True))]
    if words := first_match(width, unlike(right, variants)):
        return words
    if found:
        return "The path is right, and the width is not that of this path: its narrowest edge."
    return "That is a path and its width, and there is a wider one. " * same(width, _width(layers, path)) + (
        "One layer by hand: for a token t, take min(width of s, edge from s to t) for every s, and the largest of "
        "these. (In a loop, keep the old widths until the layer is done.)")


def _greedy(layers, row, t, up):
    """The path that takes the widest edge at each step, from the top down or from the bottom up."""
    path = [t] if up else [row]
    if up:
        for A in layers[:-1]:
            path.append(int(A[:, path[-1]].argmax()))
        return [row, *path[::-1]]
    for A in layers[1:].flip(0):
        path.append(int(A[path[-1]].argmax()))
    return [*path, t]
