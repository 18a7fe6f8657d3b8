"""Checks of assignment 03: the loss, the whole model; blocks.py, causal.py and checkpoint.py have the rest."""

import numpy as np
import torch
from torch.nn import functional as F

from coursekit.grade.kit.differentiable import gradients_get_through
from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind
from coursekit.grade.kit.score import announce
from coursekit.models import GPT2, GPT2Config, gelu_exact, next_token_loss

from .blocks import block, layer_norm, mlp, to_the_digit
from .causal import causal_attention
from .checkpoint import NO_ENTRY, as_stored, drawn_weights, from_checkpoint

__all__ = ["layer_norm", "mlp", "block", "causal_attention", "text_loss", "drawn_weights", "as_stored",
           "from_checkpoint", "gpt2_logits"]


# -- text_loss -------------------------------------------------------------------------------------------------------

LOGITS = torch.tensor([[2.0, 0.3, 1.1, -0.5], [0.2, 2.6, 0.7, -1.0], [1.0, 1.4, 0.1, 1.9]])
UNLIKE = torch.tensor([[1000.0, 999.0, 998.0], [0.0, 1.0, -1.0], [-1000.0, -998.0, -999.0], [0.0, 0.0, 0.0]])
GREAT = 1000 * torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, -1.0], [1.0, 1.0, 1.0]])


def _teaches(answer, arguments):
    logits, ids = arguments
    gradients_get_through(answer, arguments, lambda leaf: next_token_loss(leaf[None, :-1], ids[None, 1:]),
                          torch.tensor(1.0, dtype=logits.dtype))


@question((2, 2), {"three tokens": (LOGITS, torch.tensor([0, 2, 1])), "another text": (LOGITS, torch.tensor([3, 0, 3])),
                   "two tokens": (LOGITS[:2], torch.tensor([1, 2])),
                   "a model that knows nothing": (torch.zeros(5, 4), torch.tensor([0, 1, 2, 3, 0])),
                   "logits of a thousand": (GREAT, torch.tensor([2, 1, 2])),
                   "rows of very different size": (UNLIKE, torch.tensor([0, 2, 1, 0])),
                   "double precision": (LOGITS.double(), torch.tensor([0, 2, 1]))},
          forbidden=("torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss", "torch.log_softmax",
                     "torch.special_log_softmax", "torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss",
                     "torch.nn.LogSoftmax", "torch.distributions.Categorical", "coursekit.models.next_token_loss"),
          instead="a maximum, exp, sum and log, or torch.logsumexp", also=_teaches,
          hints={"shapes": "A text of T tokens has T − 1 next tokens, and T − 1 rows of logits score them. And does a "
                           "sum over the words keep its axis (keepdim=True)?"})
def text_loss(logits, ids):
    """text_loss(logits, ids): one number, the mean of −log softmax(logits[t])[ids[t + 1]] over t = 0 … T − 2."""
    return next_token_loss(logits[None, :-1], ids[None, 1:])


@text_loss.suspect
def _(got, logits, ids):
    if kind(got) in ("a number", "a whole number"):
        return "A loss stays a tensor, without dimensions: gradients get through nothing else."
    if kind(got) != "a tensor":
        return None
    if tuple(got.shape) != ():
        return "One number is asked for: the mean over the tokens that have one before them."
    if got.dtype != logits.dtype:
        return "Logits and loss have one dtype. Does a constant in your function have another one?"
    if not got.isfinite():
        return ("exp(1000) is infinite, and the log of a probability that was rounded to 0 is −∞. The logarithm of a "
                "softmax is a difference, u_i − log Σ exp(u), and there the maximum of *each row* can be taken out "
                "first.")
    log_p = logits.log_softmax(-1)
    T, ones = len(ids), torch.arange(len(ids))
    chosen = log_p[ones[:-1], ids[1:]]
    following = ids.roll(-1)
    return first_match(got, [
        (-log_p[ones, ids].mean(), "Row t is held against token t, which the model has already read. It scores token "
                                   "t + 1: where is the shift?"),
        (-log_p[ones[:-1], ids[:-1]].mean(), "Row t is held against token t, which the model has already read. It "
                                             "scores token t + 1: where is the shift?"),
        (-log_p[ones[1:], ids[1:]].mean(), "Row t is held against token t: both lost their first entry. It scores "
                                           "token t + 1."),
        (-log_p[ones[1:], ids[:-1]].mean(), "The shift goes the wrong way: row t + 1 is held against token t. Row t "
                                            "scores token t + 1."),
        *((-log_p[ones, following].sum() / n, "The last row is held against the first token (roll). Nothing follows "
                                              "the last token: its row has no target.") for n in (T, T - 1)),
        (chosen.mean(), "The sign is missing: log-probabilities are negative, a loss is not."),
        (-chosen.sum(), "That is the sum. The mean over the T − 1 next tokens is asked for."),
        (-chosen.sum() / T, "Divided by T. There are T − 1 next tokens in a text of T."),
        (-chosen.sum() / logits.numel(), "Divided by the number of logits. There are T − 1 next tokens."),
        (-chosen[ids[1:] != 0].mean(), "Token 0 was left out. Here it is a word like any other: all T − 1 next tokens "
                                       "count."),
        (-(chosen + logits.amax(-1)[:-1]).mean(), "The maximum was taken out before exp, and never came back: it is "
                                                  "taken from the logits, too, or added again behind the logarithm."),
        (-chosen.mean() / torch.tensor(2.0).log(), "That is in bits. The natural logarithm is asked for."),
        (-chosen.exp().mean().log(), "The mean was taken before the logarithm. Each token has a −log p of its own, and "
                                     "their mean is the loss."),
        (1 - chosen.exp().mean(), "That is 1 − p, on average. The loss is −log p."),
        (-chosen.exp().mean(), "The logarithm is missing."),
        (chosen.mean().neg().exp(), "That is the perplexity, exp of the loss."),
        (-logits[ones[:-1], ids[1:]].mean(), "These are logits, not log-probabilities: log Σ exp is still to be "
                                             "subtracted."),
        (-log_p[:-1].flatten()[ids[1:]].mean(), "Which entry of each row is picked? One for each token: row t, column "
                                                "ids[t + 1]."),
        (-log_p[:-1][:, ids[1:]].mean(), "log_p[:, ids] is a table: every row at every id. Row and column go together, "
                                         "pair by pair: log_p[torch.arange(T − 1), ids[1:]], or gather."),
        *((-table.log_softmax(0)[ones[:-1], ids[1:]].mean(), "The softmax runs over the tokens. Each row is a "
                                                             "distribution over the words: axis −1.")
          for table in (logits, logits[:-1])),
        (-(log_p.exp() * log_p).sum(-1)[:-1].mean(), "That is the entropy of the model's own distributions: the tokens "
                                                     "that did come do not count in it."),
    ]) or _bounded(got, -chosen.mean())


def _bounded(got, right):
    if got < right and right > 50:
        return ("The loss stops growing somewhere: was a small number added to the probability, or was it clamped? The "
                "logarithm of a softmax needs neither: u_i − log Σ exp(u), with a maximum taken out.")
    return ("Write out T = 2 by hand: one row of logits counts, the first; one token is its target, the second; the "
            "loss is −log of that token's probability.")


# -- gpt2_logits -----------------------------------------------------------------------------------------------------

def _drawn(D, T_max, d_e, L, seed):
    return drawn_weights(D, T_max, d_e, L, np.random.default_rng(seed))


def _exactly(answer, arguments):
    ids, weights, K = arguments
    to_the_digit(answer, (ids, {name: w.double() for name, w in weights.items()}, K), gpt2_logits.__wrapped__,
                 "Nearly right: is eps 1e-5 in every norm, and the GELU the one with tanh?")


@question((2, 2), {"three layers, two heads": (torch.tensor([1, 6, 1, 0]), _drawn(7, 6, 4, 3, 101), 2),
                   "one layer": (torch.tensor([2, 0, 3]), _drawn(4, 5, 3, 1, 100), 1),
                   "one token": (torch.tensor([4]), _drawn(5, 3, 6, 3, 102), 3),
                   "eleven layers": (torch.tensor([3, 0, 2]), _drawn(5, 4, 4, 11, 103), 2)},
          forbidden=("coursekit.models.GPT2", "coursekit.models.gpt2.GPT2Block",
                     "coursekit.models.gpt2.CausalAttention", "torch.nn.TransformerEncoderLayer"),
          instead="your own functions", tolerance=(1e-3, 1e-4), also=_exactly,
          hints={"empty": "Write it, or use torch's own here.", "KeyError": NO_ENTRY,
                 "shapes": "The stream is (T, d_e) from the first line to the last; only the logits are (T, D). And "
                           "W_p may have more rows than the text has tokens.",
                 "IndexError": "Was a table asked for a row that it does not have? W_e has a row for each word, W_p "
                               "one for each place.",
                 "AttributeError": "If something is None there: does each function that you call end with `return …`?"})
def gpt2_logits(ids, weights, K):
    """gpt2_logits(ids, weights, K): (T, D), the logits of a GPT-2 with these weights and K heads for the text ids."""
    (D, d_e), T_max = weights["W_e"].shape, len(weights["W_p"])
    with torch.device("meta"):
        model = GPT2(GPT2Config(D, T_max, d_e, K, _layers(weights)))
    model.load_state_dict(weights, assign=True)
    return model(ids[None])[0].detach()


def _layers(weights):
    return sum(name.endswith("qkv.weight") for name in weights)


def _forward(ids, weights, K, order=None, place=lambda T: torch.arange(T), final=True, act=None, eps=1e-5, causal=True,
             post=False, norms=("norm_attention", "norm_mlp"), correction=0, each=False):
    """gpt2_logits with one thing done in another way."""
    def norm(x, name):
        scaled = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, correction=correction) + eps)
        return weights[f"{name}.weight"] * scaled + weights[f"{name}.bias"]

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def attention(x, name):
        q, k, v = (part.unflatten(-1, (K, -1)).transpose(0, 1) for part in linear(x, f"{name}.qkv").chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return linear(mixed.transpose(0, 1).flatten(1), f"{name}.output")

    def mlp(x, name):
        return linear((act or (lambda h: F.gelu(h, approximate="tanh")))(linear(x, f"{name}.0")), f"{name}.2")

    x, at = weights["W_e"][ids], place(len(ids))
    x = x if at is None else x + weights["W_p"][at]
    for l in range(_layers(weights)) if order is None else order:
        name = f"blocks.{l}"
        for part, layer, its in ((attention, "attention", norms[0]), (mlp, "mlp", norms[1])):
            before = x if post else norm(x, f"{name}.{its}")
            x = x + part(before, f"{name}.{layer}")
            x = norm(x, f"{name}.{its}") if post else x
        x = norm(x, "norm") if each else x
    return (norm(x, "norm") if final else x) @ weights["W_e"].T


@gpt2_logits.suspect
def _(got, ids, weights, K):
    if kind(got) != "a tensor":
        return None
    L, (D, d_e), last = _layers(weights), weights["W_e"].shape, len(weights["W_p"]) - 1
    if tuple(got.shape) == (len(ids), d_e) and d_e != D:
        return ("That is the stream, d_e numbers for a token. Each word's score is the product of that row with the "
                "word's embedding.")
    if tuple(got.shape) == (D,):
        return "One row of logits is asked for at every token, (T, D), not only at the last."
    if tuple(got.shape) != (len(ids), D):
        return "There is one text, and no batch: a row of D logits for each of its tokens, (T, D)."
    if got.dtype != weights["W_e"].dtype:
        return "Logits and weights have one dtype. Does a constant in your function have another one?"
    orders = [(sorted(range(L), key=str), "The layers were sorted as words, in which 10 comes before 2: "
                                          "go by their number."),
              ([], "The blocks were not used."), ([0], "Only layer 0 is used. How many layers there are, the weights "
                                                       "say."),
              *((range(min(L, n)), f"Only {n} layers are used. How many there are, the weights say.")
                for n in (10, *range(2, L - 1))),
              (range(L - 1), "The last layer is missing. How many there are, the weights say."),
              (range(1, L), "Layer 0 is missing."),
              ([0] * L, "Layer 0 is used again and again: each layer has weights of its own."),
              ([L - 1] * L, "The last layer is used again and again: a lambda looks its names up when it is called."),
              (range(L)[::-1], "The layers run backwards.")]
    variants = [
        ({"place": lambda T: None}, "The positions are missing: W_p has a row for each place, and is added to the "
                                    "embeddings."),
        ({"place": lambda T: torch.arange(1, T + 1).clamp(max=last)}, "The positions start from 0."),
        ({"place": lambda T: ids.clamp(max=last)}, "W_p was asked for the ids. Its rows are places: 0, 1, 2, …"),
        ({"final": False}, "The final norm is missing: \"norm\" comes behind the last block, before the output layer."),
        *(({"each": True, "final": final}, "The final norm, \"norm\", is applied behind every block. It comes once, "
                                           "behind the last.") for final in (True, False)),
        ({"correction": 1}, "The variance is divided by d − 1 in a norm. A layer norm divides by d."),
        ({"act": gelu_exact}, "Nearly right: the MLP has the exact GELU here, and GPT-2 the tanh form."),
        ({"act": torch.relu}, "The MLP has a ReLU here, and GPT-2 the tanh form of GELU."),
        ({"causal": False}, "The future is seen: which of your functions hides it?"),
        ({"post": True}, "The norms stand behind the additions. In GPT-2 they stand before attention and MLP."),
        *(({"eps": eps}, f"Nearly right: eps is {eps} here. GPT-2 has 1e-5.") for eps in (1e-3, 1e-4, 1e-6)),
        *(({"norms": norms}, "Attention and MLP each read through the norm that bears their name. Have the two changed "
                             "places, or is one of them used twice?")
          for norms in (("norm_mlp", "norm_attention"), ("norm_attention",) * 2, ("norm_mlp",) * 2)),
        *(({"order": order}, words) for order, words in orders if list(order) != list(range(L)))]
    right = _forward(ids, weights, K)
    return first_match(got, [*((_forward(ids, weights, K, **change), words) for change, words in variants),
                             (_forward(ids, weights, 1), "K is not used: that is one big head."),
                             (_forward(ids, weights, d_e), "There are d_e heads here, of one number each, not K."),
                             *((function(right, -1), "Logits are asked for, as they are, without a softmax.")
                               for function in (torch.softmax, torch.log_softmax))]) or (
        "Compare with the figure of the lecture, line by line: token plus position; for each layer attention and MLP, "
        "each with its own norm; the final norm; the embeddings as the output layer. Is each weight used where its "
        "name says? And do the checks of questions 1 to 4 pass? Where one does not, torch's own version will do here.")


announce("gpt2", [layer_norm, mlp, block, causal_attention, text_loss, from_checkpoint, gpt2_logits],
         {"inside a small GPT": 6})
