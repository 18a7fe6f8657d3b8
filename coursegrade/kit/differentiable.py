"""Do gradients get through an answer, and are they right? For questions whose answer is a part of a model."""

import torch

from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.same import same
from coursegrade.kit.services import vjp


def gradients_get_through(answer, arguments, reference, cotangent):
    """Raise CheckFailed unless the gradient of Σ answer(*arguments) · cotangent at the first argument is right.

    reference: the function of the first argument that the answer should be; cotangent: a tensor of its output's shape.
    """
    leaf = arguments[0].clone().requires_grad_()
    expected, = torch.autograd.grad((reference(leaf) * cotangent).sum(), leaf)
    try:
        got = vjp(answer, arguments, cotangent)[0]
    except Exception:
        raise CheckFailed("No gradient can be taken through it. Does it leave torch (NumPy, math), or change a tensor "
                          "in place? Use torch's operations, and make new tensors.") from None
    if got is None:
        raise CheckFailed("No gradient gets through it, so nothing in front of it could learn. NumPy, math, .detach(), "
                          ".item(), .tolist() and torch.tensor(…) cut gradients off.")
    if not got.isfinite().all():
        raise CheckFailed("The result is right, its gradient is not a number: there is an ∞ · 0 or ∞ − ∞ on the way "
                          "back. Is exp taken of something large, whose result is thrown away or divided by later?")
    if not same(got, expected, (1e-3, 1e-4)):
        raise CheckFailed("The gradient that gets through it is wrong. Was a part cut off, by .detach(), .item() or "
                          "torch.tensor(…), or a number held fast by clamp?")
