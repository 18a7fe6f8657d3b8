"""What the questions of assignment 06 share: functions of a table, and their slopes, as an answer is given them.

A function f of a table e (T, d_e) stands in a case as its formula, a text, so that a message can show it.
"""

from attention_questions.prelude import kind, torch

OWN = ("coursekit.explain.integrated_gradients", "coursekit.explain.gradients.path_integral")
HEAD = "torch.softmax(e[:, 0], 0) @ e[:, 1]"
E2, E3 = torch.tensor([[1.0, 2.0], [0.0, 3.0]]).double(), torch.tensor([[2.0, 1.0], [-1.0, 3.0], [0.0, -2.0]]).double()
THREE = torch.stack([torch.zeros(3, 2), torch.tensor([[1.0, 0], [0, 1], [1, 1]]), -torch.ones(3, 2)]).double()

TAKES = "slopes takes points of shape (k, T, d_e), here (k, {}, {}), with floating-point numbers, got {}"
ONE_POINT = "; a single point p is p[None]"


def function(f):
    """The function of a table e (T, d_e) that a formula stands for; a function stays what it is."""
    return eval(f"lambda e: {f}", {"torch": torch}) if type(f) is str else f


def slopes_of(f, e, most=None):
    """slopes(points (k, T, d_e)) → (k, T, d_e) of f. It says what it cannot take, and lists in `.asked` each point."""

    def slopes(points):
        if kind(points) != "a tensor" or not points.is_floating_point() or points.shape[1:] != e.shape:
            found = f"a tensor {tuple(points.shape)}, {points.dtype}" if kind(points) == "a tensor" else kind(points)
            single = ONE_POINT * found.startswith(f"a tensor {tuple(e.shape)}")
            raise ValueError(TAKES.format(*e.shape, found + single))
        if most and len(points) > most:
            raise ValueError(f"slopes takes at most {most} points at a time, got {len(points)}")
        slopes.asked += points.detach().double().clone()
        return _slopes_at(f, points).to(points.dtype)

    slopes.asked = []
    return slopes


def _slopes_at(f, points):
    """Slopes (k, T, d_e) of f at points (k, T, d_e), in double precision."""
    if not len(points):
        return points.detach().double()
    leaf, f = points.detach().double().requires_grad_(), function(f)
    with torch.enable_grad():
        return torch.autograd.grad(sum(f(point) for point in leaf), leaf)[0]
