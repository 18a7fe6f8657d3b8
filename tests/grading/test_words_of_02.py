"""Assignment 02's bonus: a test of equivariance that forgives much, or sees one side of 0 alone, is told so."""

import pytest
import torch

from coursegrade import check


def tried(draw, atol):
    """An answer that compares with this tolerance, on inputs that `draw` makes."""
    def is_equivariant(layer, T, d):
        for _ in range(20):
            e, order = draw(T, d), torch.randperm(T)
            if not torch.allclose(layer(e[order]), layer(e)[order], atol=atol):
                return False
        return True

    return is_equivariant


@pytest.mark.parametrize("draw, atol", [(torch.randn, 0.01), (torch.rand, 1e-4)])
def test_a_careless_test_of_equivariance_is_refused(draw, atol):
    with pytest.raises(check.CheckFailed, match="This layer is not equivariant"):
        check.attention.is_equivariant(tried(draw, atol))
    check.attention.is_equivariant(tried(torch.randn, 1e-4))
