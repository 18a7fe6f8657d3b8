"""Checks of assignment 03: the whole model, heads switched off, and a text in which one head decides."""

import functools

import numpy as np
import torch

from attention_questions.gpt2_weights import drawn_weights, n_layers
from coursegrade.kit.question import question
from coursegrade.kit.same import kind
from coursekit.models import load_weights

from .causal import causal_attention
from .parts import layer_norm, mlp, to_the_digit

__all__ = ["gpt2_logits", "one_head"]


# -- gpt2_logits -----------------------------------------------------------------------------------------------------

def _drawn(D, T_max, d_e, L, seed):
    return drawn_weights(D, T_max, d_e, L, np.random.default_rng(seed))


def _exactly(answer, arguments):
    ids, weights, *others = arguments
    to_the_digit(answer, (ids, {name: w.double() for name, w in weights.items()}, *others), gpt2_logits.reference,
                 "Nearly right: is eps 1e-5 in every norm, and the GELU the one with tanh?")


def _pre_norm(x, attention, mlp, norm_1, norm_2):
    x = x + attention(norm_1(x))
    return x + mlp(norm_2(x))


THREE, TWO = _drawn(7, 6, 4, 3, 101), _drawn(6, 5, 6, 2, 104)


@question((2, 3), {"three layers, two heads": (torch.tensor([1, 6, 1, 0]), THREE, 2),
                   "one layer": (torch.tensor([2, 0, 3]), _drawn(4, 5, 3, 1, 100), 1),
                   "one token": (torch.tensor([4]), _drawn(5, 3, 6, 3, 102), 3),
                   "eleven layers": (torch.tensor([3, 0, 2]), _drawn(5, 4, 4, 11, 103), 2),
                   "head 0.1 is silent": (torch.tensor([1, 6, 1, 0]), THREE, 2, [(0, 1)]),
                   "three heads are silent": (torch.tensor([5, 0, 3, 3]), TWO, 3, [(1, 0), (0, 2), (1, 1)])},
          forbidden=("coursekit.models.GPT2", "coursekit.models.gpt2.GPT2Block",
                     "coursekit.models.gpt2.CausalAttention", "torch.nn.TransformerEncoderLayer"),
          lend=("layer_norm", "mlp", "causal_attention"), instead="your own functions", tolerance=(1e-3, 1e-4),
          also=_exactly, returns="(T, D)",
          otherwise="Compare with the formulas, line by line: token plus position; for each layer attention and MLP, "
                    "each with its own norm; the final norm; the embeddings as the output layer. Is each weight used "
                    "where its name says?",
          hints={"empty": "Write it, or use torch's own here.",
                 "KeyError": "There is no entry of that name. Is it spelled as in the table, and has this model that "
                             "many layers?",
                 "shapes": "The stream is (T, d_e) from the first line to the last; only the logits are (T, D). And "
                           "W_p may have more rows than the text has tokens.",
                 "IndexError": "Was a table asked for a row that it does not have? W_e has a row for each word, W_p "
                               "one for each place."})
def gpt2_logits(ids, weights, K, silent=(), *, order=None, place=lambda ids, last: torch.arange(len(ids)), final=True,
                causal=True, block=_pre_norm, norms=("norm_attention", "norm_mlp"), each=False,
                hears=lambda l, i, silent: (l, i) in silent, out=True):
    """gpt2_logits(ids, weights, K, silent): (T, D), the logits of a GPT-2 with these weights and K heads for the text
    ids, with the heads (layer, number) in silent switched off."""
    def layer(name):
        return weights[f"{name}.weight"], weights[f"{name}.bias"]

    def norm(name):
        return lambda x: layer_norm.reference(x, *layer(name), 1e-5)

    def attention(x, name, l):
        return causal_attention.reference(x, *layer(f"{name}.qkv"), *layer(f"{name}.output"), K,
                                          [i for i in range(K) if hears(l, i, silent)],
                                          **({} if causal else dict(allowed=lambda s: s == s)))

    x, at = weights["W_e"][ids], place(ids, len(weights["W_p"]) - 1)
    x = x if at is None else x + weights["W_p"][at]
    for l in order(n_layers(weights)) if order else range(n_layers(weights)):
        x = block(x, lambda x, l=l: attention(x, f"blocks.{l}.attention", l),
                  lambda x, l=l: mlp.reference(x, *layer(f"blocks.{l}.mlp.0"), *layer(f"blocks.{l}.mlp.2")),
                  *(norm(f"blocks.{l}.{its}") for its in norms))
        x = norm("norm")(x) if each else x
    x = norm("norm")(x) if final else x
    return x @ weights["W_e"].T if out else x


def _post_norm(x, attention, mlp, norm_1, norm_2):
    x = norm_1(x + attention(x))
    return norm_2(x + mlp(x))


def _side_by_side(x, attention, mlp, norm_1, norm_2):
    return x + attention(norm_1(x)) + mlp(norm_2(x))


def _from_the_norms(x, attention, mlp, norm_1, norm_2):
    x = norm_1(x) + attention(norm_1(x))
    return norm_2(x) + mlp(norm_2(x))


def _no_skips(x, attention, mlp, norm_1, norm_2):
    return mlp(norm_2(attention(norm_1(x))))


NAMED = ("Attention and MLP each read through the norm that bears their name. Have the two changed places, or is one "
         "of them used twice?")

gpt2_logits.mistakes(
    ("The positions are missing: W_p has a row for each place, and is added to the embeddings.",
     dict(place=lambda ids, last: None)),
    ("W_p was asked for the ids. Its rows are places: 0, 1, 2, …", dict(place=lambda ids, last: ids.clamp(max=last))),
    ("The final norm is missing: \"norm\" comes behind the last block, before the output layer.", dict(final=False)),
    ("The final norm, \"norm\", is applied behind every block. It comes once, behind the last.", dict(each=True)),
    ("The future is seen: which of your functions hides it?", dict(causal=False)),
    ("The norms stand behind the additions: post-norm, as the transformer of 2017 had it. In GPT-2 they stand before "
     "attention and MLP.", dict(block=_post_norm)),
    ("Attention and MLP both read x here. In GPT-2 the MLP reads what attention has left. (Some later models do run "
     "both side by side.)", dict(block=_side_by_side)),
    ("The skips start from the normalised numbers. The stream itself goes round attention and MLP; only what they read "
     "is normalised.", dict(block=_from_the_norms)),
    ("The skips are missing: what comes out of attention and MLP is added to the stream.", dict(block=_no_skips)),
    *((NAMED, dict(norms=norms))
      for norms in (("norm_mlp", "norm_attention"), ("norm_attention",) * 2, ("norm_mlp",) * 2)),
    ("The layers were sorted as words, in which 10 comes before 2: go by their number.",
     dict(order=lambda L: sorted(range(L), key=str))),
    ("Only 3 layers are used. How many there are, the weights say.", dict(order=lambda L: range(min(L, 3)))),
    ("Layer 0 is used again and again: each layer has weights of its own.", dict(order=lambda L: [0] * L)),
    ("K is not used: that is one big head.",
     lambda ids, weights, K, silent=(): gpt2_logits.reference(ids, weights, 1, silent)),
    ("That is the stream, d_e numbers for a token. Each word's score is the product of that row with the word's "
     "embedding.", lambda ids, weights, K, silent=(): gpt2_logits.reference(ids, weights, K, silent, out=False)),
    ("Logits are asked for, as they are, without a softmax.",
     lambda *arguments: gpt2_logits.reference(*arguments).softmax(-1)),
    ("In double precision it comes to another result: does a constant in your function have a dtype of its own?",
     lambda ids, weights, *others: gpt2_logits.reference(
         ids, {name: w.float() for name, w in weights.items()}, *others)),
    ("Nobody is silent here: hand each layer the numbers of its own heads that stand in `silent`.",
     dict(hears=lambda l, i, silent: False)),
    ("A head was silenced in every layer. The pairs are (layer, head).",
     dict(hears=lambda l, i, silent: i in [head for _, head in silent])),
    ("Layer and head have changed places: the pairs are (layer, head).",
     dict(hears=lambda l, i, silent: (i, l) in silent)))


# -- one_head --------------------------------------------------------------------------------------------------------

@functools.cache
def _model():
    return load_weights("dialogue-gpt")


def _next(words, silent=()):
    """The probabilities (D,) of dialogue-gpt's next word."""
    model = _model()
    ids = torch.tensor([model.tokenizer.cls_id, *model.tokenizer.encode(words)])
    return gpt2_logits.reference(ids, model.state_dict(), model.config.K, silent)[-1].softmax(-1)


@question((1, 1), {"dialogue-gpt": ()}, returns="the text, the layer, the head",
          otherwise="Look at all twelve heads, one by one: what is left of the likeliest word without each?")
def one_head():
    """one_head(): (text, layer, head) for which this head alone decides the next word, and it is not head 2.1."""
    return "do you like this story", 2, 0


def _judged(got):
    """What is wrong, and what to do about it; None for the second is `otherwise`, for both that nothing is wrong."""
    if type(got) not in (list, tuple) or [*map(kind, got)] != ["a string", "a whole number", "a whole number"]:
        return "text, layer, head are due", "A text in quotes and two whole numbers."
    text, layer, head = got
    tokenizer, heads = _model().tokenizer, [(l, i) for l in range(3) for i in range(4)]
    ids = tokenizer.encode(text)
    if (layer, head) not in heads:
        return "heads are 0.0 to 2.3", "Layers and heads count from 0."
    if (layer, head) == (2, 1):
        return "head 2.1 is the one that the lecture found: another one is asked for", None
    if unknown := [word for word in tokenizer.tokenize(text) if word not in tokenizer.vocab]:
        return f"the model does not know the word {unknown[0]!r}", "`names` holds all words that it does know."
    if not 1 <= len(ids) <= 20:
        return f"the text has {len(ids)} tokens, and may have 1 to 20", "Marks such as ? and , are tokens, too."
    p = _next(text)
    best, without = int(p.argmax()), {one: _next(text, [one]) for one in heads}
    word, left = tokenizer.tokens[best], without[layer, head][best]
    if p[best] < 0.9:
        return (f"the likeliest next word is {word!r}, but with {p[best]:.2f} only: .9 is asked for",
                "The model is not sure there. Where do grammar or an earlier word leave it no choice?")
    if left > 0.1:
        return f"without this head {word!r} still has {left:.2f}: .1 or less is asked for", None
    others = [one for one in heads if one != (layer, head) and without[one].argmax() != best]
    if others:
        return (f"without head {others[0][0]}.{others[0][1]} the likeliest word is not {word!r} either",
                "There two heads are needed at once: look for a text that needs one alone.")
    return None, None


one_head.judge(lambda got: _judged(got)[0])
one_head.suspect(lambda got: _judged(got)[1])
