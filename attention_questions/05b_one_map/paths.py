"""Check of assignment 05b: the widest path down through the layers."""

from attention_questions.prelude import Question, kind, numbers, same, torch

from . import solution

PIPES = numbers("5 2 1 9  2 3 6 8  2 5 3 2  3 5 9 8    1 7 1 1  2 2 5 2  7 9 6 7  1 6 4 2", 2, 4, 4) / 16
TRAPS = numbers("8 9 12  5 11 2  6 2 2    4 3 11  1 8 11  6 5 1    10 6 4  11 9 12  9 1 6", 3, 3, 3) / 16
WIDE = numbers("3 1  2 5    4 2  1 6", 2, 2, 2)
CAUSAL = numbers("1 0 0  0.5 0.5 0  0.25 0.25 0.5    1 0 0  0.75 0.25 0  0.125 0.375 0.5", 2, 3, 3)
TALL = torch.randint(1, 64, (10, 12, 12), generator=torch.Generator().manual_seed(0)) / 64

widest = Question(solution.widest, (1, 1), {
    "two layers": (PIPES, 2, 3), "three layers": (TRAPS, 2, 1), "one layer": (CAUSAL[1:], 2, 1),
    "edges wider than 1": (WIDE, 0, 1), "a token of the future, behind a mask": (CAUSAL, 1, 2),
    "skips alone, to another token": (torch.eye(3).repeat(2, 1, 1), 2, 1), "ten layers of twelve tokens": (TALL, 3, 7)},
    returns="width, path",
    forbidden=("networkx.Graph", "networkx.DiGraph", "coursekit.explain.flow_graph",
               "coursekit.explain.attention_flow"), instead="a sweep from layer to layer",
    otherwise="One layer by hand: for a token t, take min(width of s, edge from s to t) for every s, and the "
              "largest of these. (In a loop, keep the old widths until the layer is done.)",
    hints={"shapes": "Widths are (T,), one layer (T, T). `minimum(widths[:, None], layer)` puts widths beside rows.",
           "endless": "How many paths are there? With T tokens and L layers T to the power L − 1: too many to "
                      "try. What must you know of a layer's tokens to go on to the next layer?"},
    promises={"its entries are not negative": lambda layers, row, t: layers.min() >= 0},
    why="One sweep with T widths does the work of T^(L−1) paths, because the best way on from a token does not depend "
        "on how one got there. Widths begin at −1: a token not yet reached differs from one reached over width 0.")


def _width(layers, path):
    """The narrowest edge of a path; None if it is none."""
    if not all(kind(s) == "a whole number" and 0 <= s < layers.shape[-1] for s in path):
        return None
    return min(layers[-1 - i, s, t].item() for i, (s, t) in enumerate(zip(path, path[1:], strict=False)))


def _greedy_down(layers, row, t):
    path = [row]
    for layer in layers[1:].flip(0):
        path.append(int(layer[path[-1]].argmax()))
    return _width(layers, [*path, t]), [*path, t]


def _swept_in_place(layers, row, t):
    widths, paths = layers[-1][row].tolist(), [[row, u] for u in range(len(layers[0]))]
    for layer in layers[:-1].flip(0).tolist():
        for u in range(len(widths)):
            s = max(range(len(widths)), key=lambda s: min(widths[s], layer[s][u]))
            widths[u], paths[u] = min(widths[s], layer[s][u]), [*paths[s], u]
    return widths[t], paths[t]


UNREACHED = ("The width is right, and a path from `row` to `t` is due all the same. In your sweep, does a token that "
             "has not been reached yet look like one that was reached over an edge of width 0?")
BEGINS = ("This path does not begin at `row`. Before the first edge only `row` is reached: does another token have a "
          "width then? (In a loop, keep the old widths until the layer is done.)")
PLACES = ("Each layer adds one token to a path, and both ends belong to it. Is `row` or `t` in it twice, or not at "
          "all? (In a loop, keep the old paths until the layer is done.)")
TRACED = ("The width is right. To find the path, remember for every token of every layer from which token above it was "
          "reached best, and go back from t.")
NARROWEST = "The path is right, and the width is not that of this path: its narrowest edge."
NARROWER, RESULT = "torch.minimum(widths[:, None], layer)", "widths[t].item(), path"
widest.mistakes(
    (UNREACHED, "-torch.ones → torch.zeros"),
    ("That is the largest *product* along a path. Asked for is the narrowest edge of a path: a minimum.",
     "-torch.ones → torch.zeros", "torch.inf → 1", f"{NARROWER} → (widths[:, None] * layer)"),
    ("The edges were added up. A path is as wide as its narrowest edge: a minimum, and no sum.",
     "torch.inf → 0", "-torch.ones → -torch.inf * torch.ones", f"{NARROWER} → (widths[:, None] + layer)"),
    ("That is rollout: products along paths, added up over all of them. Here a path is as wide as its narrowest edge, "
     "and the widest path counts.", "-torch.ones → torch.zeros", "torch.inf → 1",
     f"{NARROWER}.max(0) → widths @ layer, (widths[:, None] * layer).argmax(0)"),
    ("The layers were passed in the wrong order: the path begins at the top, in layers[-1], and layers[0] leads to the "
     "input.", "layers.flip(0) → layers"),
    ("Rows and columns have changed places: layers[l, s, t] leads from s down to t.",
     "layers.flip(0) → layers.mT.flip(0)"),
    *(("Nothing arrives. Do the widths of the tokens above stand beside the *rows* of the layer, and is the largest "
       "taken of each of its *columns*?", edit) for edit in ("widths[:, None] → widths", "max(0) → max(1)")),
    ("The width 1 is that with which you began. Edges can be wider: begin with ∞.", "torch.inf → 1"),
    ("At each step the widest edge was taken. It can lead to a token from which only narrow ones go on: keep the best "
     "width for *every* token of a layer.", _greedy_down),
    (BEGINS, "-torch.ones → torch.inf * torch.ones"),
    ("In a loop over a layer's tokens, keep the old widths until the layer is done: those that have been changed "
     "belong to the layer below.", _swept_in_place),
    (PLACES, f"{RESULT} → widths[t].item(), [row, *path]"),
    ("Both ends belong to the path: `row` first, `t` last.", f"{RESULT} → widths[t].item(), path[1:-1]"),
    ("The path is turned round: it begins at the top, with `row`, and ends at the bottom, with `t`.",
     f"{RESULT} → widths[t].item(), path[::-1]"),
    (TRACED, f"{RESULT} → widths[t].item(), [row] * len(layers) + [t]"),
    ("The width is that with which you began. Is it lowered to the width of each edge on the way?",
     f"{RESULT} → torch.inf, path"),
    (NARROWEST, f"{RESULT} → layers[0, path[-2], t].item(), path"),
    ("Return both: the width and the path.", f"{RESULT} → widths[t].item()"),
    ("The two have changed places: first the width, a number, then the path.", f"{RESULT} → path, widths[t].item()"),
    ("There is no path in it. A path from `row` to `t` is always due, also one of width 0.",
     f"{RESULT} → widths[t].item(), path if widths[t] else None"))


@widest.judge
def _(got, layers, row, t):
    width, path = got if type(got) in (list, tuple) and len(got) == 2 else (None, None)
    if kind(path) in ("a tensor", "a NumPy array") and len(path.shape) == 1:
        path = path.tolist()
    if type(path) not in (list, tuple):
        yield "the result is a pair: the width, a number, and the path, a list"
    path = [s.item() if kind(s) == "a tensor" and s.dim() == 0 else s for s in path]
    if len(path) != len(layers) + 1:
        yield f"the path has {len(path)} tokens; through L layers it has L + 1, both ends included", PLACES
    own, right = _width(layers, path), solution.widest(layers, row, t)[0]
    traced = TRACED if same(width, right) else None
    if own is None:
        yield "the path is a list of tokens, whole numbers from 0 to T − 1", traced
    if (path[0], path[-1]) != (row, t):
        yield ("the path does not lead from `row`, its first entry, to `t`, its last one", traced if path[0] == row else
               UNREACHED if traced and right == 0 else BEGINS)
    if not same(width, right):
        wider = "That is a path and its width, and there is a wider one. Did you keep the best width for *every* token?"
        yield f"the widest path is {right:.4g} wide", (
            NARROWEST if same(own, right) else wider if same(width, own) else None)
    if not same(own, right):
        yield f"the width is right, but this path is only {own:.4g} wide", TRACED
