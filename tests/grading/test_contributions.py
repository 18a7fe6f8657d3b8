"""What each part of a GPT-2 adds to a logit: together it is the logit, but for the biases that are left out."""

import importlib

import pytest
import torch

from attention_questions.gpt2_weights import contributions
from coursekit.models import load_weights


def test_contributions_add_up_to_the_logit():
    solution = importlib.import_module("attention_questions.03_gpt2.solution")
    model, text = load_weights("dialogue-gpt"), "do you like my sister's story ? her"
    with torch.no_grad():
        model.norm.bias.zero_()
        for block in model.blocks:
            block.attention.output.bias.zero_()
        found = contributions(model, text, "story", solution.layer_norm, solution.mlp, solution.causal_attention)
        logits = model(torch.tensor([[model.tokenizer.cls_id, *model.tokenizer.encode(text)]]))[0, -1]
    assert len(found) == 1 + 3 * 5
    assert sum(found.values()) == pytest.approx(logits[model.tokenizer.vocab["story"]] - logits.mean(), abs=1e-3)
