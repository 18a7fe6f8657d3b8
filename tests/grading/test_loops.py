"""What only shows where an answer gets a model's very tensors, in one process: in a sandbox it gets copies."""

import math

import pytest
import torch

from coursegrade import check
from tests.grading.bank.assignments import ASSIGNMENTS

reference = ASSIGNMENTS["04_decoding"].reference["greedy"]


def test_greedy_must_not_write_into_the_logits_of_the_model():
    def banned(ids, m):
        return [ids[i + m - 1] for i in range(len(ids) - m + 1) if ids[i:i + m - 1] == ids[len(ids) - m + 1:]]

    def greedy(next_logits, prompt, n, eos=None, m=None, times=1):
        ids = list(prompt)
        for _ in range(n):
            logits = next_logits(ids)
            if m:
                logits[banned(ids, m)] = -math.inf
            if logits.max() == -math.inf:
                break
            ids.append(int(logits.argmax()))
            if ids[-1] == eos:
                break
        return ids[len(prompt):]

    with pytest.raises(check.CheckFailed, match="`.clone\\(\\)` makes a copy that you may change"):
        check.decoding.greedy(greedy)
    check.decoding.greedy(reference)                                    # the check's own tables are as they were


def test_a_copy_of_the_logits_may_be_changed(capsys):
    def greedy(next_logits, prompt, n, eos=None, m=None, times=1):
        return reference(lambda ids: next_logits(ids).clone().mul_(torch.tensor(2.0)), prompt, n, eos, m, times)

    check.decoding.greedy(greedy)
    assert capsys.readouterr().out.startswith("✓ greedy")
