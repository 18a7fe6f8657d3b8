"""What nearly every question needs, in one line of import; and full names of what libraries have ready, for questions
that ask to write it oneself (`forbidden`)."""

import functools
import itertools
import math

import numpy as np
import torch

from coursegrade.kit import services
from coursegrade.kit.cases import numbers, rounded
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.question import Question
from coursegrade.kit.same import difference, kind, same
from coursegrade.kit.score import announce

__all__ = ["ATTENTIONS", "SOFTMAXES", "CheckFailed", "Question", "announce", "difference", "functools", "itertools",
           "kind", "math", "np", "numbers", "rounded", "same", "services", "torch"]

SOFTMAXES = ("torch.softmax", "torch.log_softmax", "torch.softmin", "torch.special_softmax", "torch.nn.Softmax",
             "torch.nn.LogSoftmax", "torch.nn.Softmin", "scipy.special.softmax")
ATTENTIONS = ("coursekit.models.scaled_dot_product_attention", "coursekit.models.single_query_attention",
              "coursekit.models.MultiHeadAttention", "torch.nn.functional.scaled_dot_product_attention",
              "torch.nn.functional.multi_head_attention_forward", "torch.nn.MultiheadAttention")
