"""The worked examples in the statements of the questions are what the reference answers give, to the digits printed.

An example is a call and what it gives, `draw(p, 0.2)   →   0      said of it`, in a code block of the statement. Lines
without an arrow set things up; what follows three blanks, outside of brackets, is a remark.
"""

import math
import re

import numpy as np
import pytest
import torch

from tests.grading.bank.assignments import ASSIGNMENTS, NAMES

# Blocks that only draw what comes out, in words or with dots for what would be too long, or one answer of many.
DRAWN = {"01_tokens": 1, "02_attention": 1, "03_gpt2": 2, "03b_families": 2, "06_gradients": 1, "09_slalom": 1,
         "11_histogram": 2}
BLOCK = re.compile(r"^```\n(.*?)^```", re.S | re.M)
NUMBER = re.compile(r"(?<![\w\"'])-?\d+(?:\.\d*)?")


def depth(text):
    """How many brackets are open at the end of a text, those in strings not counted."""
    text = re.sub(r'"[^"]*"', "", text)
    return sum(text.count(one) for one in "([{") - sum(text.count(one) for one in ")]}")


def without_remark(line, inside):
    """A line up to the first three blanks that stand outside of all brackets, arrows and what they lead to kept."""
    kept = ""
    for part in re.split(r"(\s{3,})", line.rstrip()):
        if kept.strip() and part.strip() and inside + depth(kept) == 0 and not (
                part.startswith("→") or kept.rstrip().endswith("→")):
            break
        kept += part
    return kept.rstrip()


def examples(block):
    """[(line, what it gives or None)] of a block: lines joined where brackets, a comma or an arrow say so."""
    lines = []
    for line in block.splitlines():
        line = line.partition("  # ")[0] if not line.startswith("# ") else ""
        goes_on = lines and (depth(lines[-1]) > 0 or lines[-1].endswith(",") or line.strip().startswith("→"))
        if goes_on:
            lines[-1] += " " + without_remark(line.strip(), depth(lines[-1]))
        elif line.strip():
            lines.append(without_remark(line, 0))
    return [(left.strip(), right.strip() if arrow else None)
            for left, arrow, right in (line.partition("→") for line in lines)]


def flat(value):
    """Numbers and words of a nested result, in order."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return value.reshape(-1).tolist()
    if isinstance(value, dict):
        return [one for pair in value.items() for part in pair for one in flat(part)]
    return [one for part in value for one in flat(part)] if isinstance(value, (list, tuple)) else [value]


def agree(got, printed, names):
    """Is a result what is printed, to the digits that are printed? (Dots behind a number: cut, not rounded.)"""
    due, got = flat(eval(printed.replace("...", ""), names)), flat(got)
    shown = iter(NUMBER.findall(printed))
    for one, other in zip(got, due, strict=True):
        if isinstance(other, (bool, str)) or other is None or math.isinf(other):
            if one != other:
                return False
        else:
            last = 10.0 ** -len(next(shown).partition(".")[2])
            if abs(one - other) > (last if "..." in printed else last / 2) + 1e-6 * abs(other):
                return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_examples_in_statements_are_true(name):
    assignment, seen, drawn = ASSIGNMENTS[name], 0, []
    for cell in assignment.statements:
        for block in BLOCK.findall(re.sub(r"<details>.*?</details>", "", cell, flags=re.S)):
            if "→" not in block:
                continue
            names = assignment.reference | {"array": np.array, "tensor": torch.tensor, "inf": math.inf}
            try:
                for line, printed in examples(block):
                    if printed is None:
                        exec(line, names)
                    elif line.endswith("()"):                           # an open task: one answer of many
                        raise NameError(line)
                    elif not agree(eval(line, names), printed, names):
                        raise AssertionError(f"{line} gives {eval(line, names)}, and the statement says {printed}")
                    else:
                        seen += 1
            except (NameError, SyntaxError) as error:
                drawn.append((block, error))
    assert seen > 3, f"{seen} examples, `call → result`, stand in the statements: two for each question are few enough"
    assert len(drawn) == DRAWN.get(name, 0), drawn
