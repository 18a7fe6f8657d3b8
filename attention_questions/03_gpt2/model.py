"""Checks of assignment 03: the whole model, heads switched off, and a text in which one head decides."""

import types

from attention_questions.gpt2_weights import drawn_weights
from attention_questions.prelude import Question, functools, kind, np, torch
from coursegrade.kit.mistakes import as_answer
from coursekit.models import load_weights

from . import solution
from .parts import to_the_digit

# -- gpt2_logits -----------------------------------------------------------------------------------------------------

def _drawn(D, T_max, d_e, L, seed):
    return drawn_weights(D, T_max, d_e, L, np.random.default_rng(seed))


def _exactly(answer, arguments):
    ids, weights, *others = arguments
    to_the_digit(answer, (ids, {name: w.double() for name, w in weights.items()}, *others), solution.gpt2_logits,
                 "Nearly right: is eps 1e-5 in every norm, and the GELU the one with tanh?")


THREE, TWO = _drawn(7, 6, 4, 3, 101), _drawn(6, 5, 6, 2, 104)

gpt2_logits = Question(solution.gpt2_logits, (2, 3), {
    "three layers, two heads": (torch.tensor([1, 6, 1, 0]), THREE, 2),
    "one layer": (torch.tensor([2, 0, 3]), _drawn(4, 5, 3, 1, 100), 1),
    "one token": (torch.tensor([4]), _drawn(5, 3, 6, 3, 102), 3),
    "eleven layers": (torch.tensor([3, 0, 2]), _drawn(5, 4, 4, 11, 103), 2),
    "head 0.1 is silent": (torch.tensor([1, 6, 1, 0]), THREE, 2, [(0, 1)]),
    "three heads are silent": (torch.tensor([5, 0, 3, 3]), TWO, 3, [(1, 0), (0, 2), (1, 1)])},
    forbidden=("coursekit.models.GPT2", "coursekit.models.gpt2.GPT2Block", "coursekit.models.gpt2.CausalAttention",
               "torch.nn.TransformerEncoderLayer"),
    lend=("layer_norm", "mlp", "causal_attention"), instead="your own functions", tolerance=(1e-3, 1e-4),
    also=_exactly, returns="(T, D)",
    otherwise="Compare with the formulas, line by line: token plus position; for each layer attention and MLP, each "
              "with its own norm; the final norm; the embeddings as the output layer. Is each weight used where its "
              "name says?",
    hints={"empty": "Write it, or use torch's own here.",
           "KeyError": "There is no entry of that name. Is it spelled as in the table, and has this model that many "
                       "layers?",
           "shapes": "The stream is (T, d_e) from the first line to the last; only the logits are (T, D). And W_p may "
                     "have more rows than the text has tokens.",
           "IndexError": "Was a table asked for a row that it does not have? W_e has a row for each word, W_p one for "
                         "each place."})


def _with(**instead):
    """gpt2_logits with other functions than the solution's."""
    return types.FunctionType(solution.gpt2_logits.__code__, vars(solution) | instead, argdefs=((),))


NORM_1, NORM_2, NORM = (f"layer_norm(x, *parts({name}), 1e-5)" for name in (
    'f"{name}.norm_attention"', 'f"{name}.norm_mlp"', '"norm"'))
LAYERS = 'while (name := f"blocks.{l}") + ".attention.qkv.weight" in weights'
SWAPPED_1, SWAPPED_2 = f"attention({NORM_1} → attention({NORM_2}", f"mlp({NORM_2} → mlp({NORM_1}"
gpt2_logits.mistakes(
    ("The positions are missing: W_p has a row for each place, and is added to the embeddings.",
     ' + weights["W_p"][:len(ids)] → '),
    ("W_p was asked for the ids. Its rows are places: 0, 1, 2, …",
     '[:len(ids)] → [ids.clamp(max=len(weights["W_p"]) - 1)]'),
    ("The final norm is missing: \"norm\" comes behind the last block, before the output layer.", f"{NORM} → x"),
    ("The final norm, \"norm\", is applied behind every block. It comes once, behind the last.",
     f"l += 1 → l += 1\n        x = {NORM}"),
    ("The future is seen: which of your functions hides it?",
     _with(causal_attention=as_answer(solution.causal_attention, ".masked_fill(future, -math.inf) → "))),
    ("The norms stand behind the additions: post-norm, as the transformer of 2017 had it. In GPT-2 they stand before "
     "attention and MLP.",
     f"{NORM_1} → x", f"{NORM_2} → x", f"x = x + mlp → x = {NORM_1}\n        x = x + mlp",
     f"l += 1 → x = {NORM_2}\n        l += 1"),
    ("Attention and MLP both read x here. In GPT-2 the MLP reads what attention has left. (Some later models do run "
     "both side by side.)", "x = x + causal_attention → with_attention = x + causal_attention",
     "x = x + mlp → x = with_attention + mlp"),
    ("The skips start from the normalised numbers. The stream itself goes round attention and MLP; only what they read "
     "is normalised.",
     f"x = x + causal_attention({NORM_1} → x = {NORM_1}\n        x = x + causal_attention(x",
     f"x = x + mlp({NORM_2} → x = {NORM_2}\n        x = x + mlp(x"),
    ("The skips are missing: what comes out of attention and MLP is added to the stream.",
     "x + causal_attention → causal_attention", "x + mlp → mlp"),
    *(("Attention and MLP each read through the norm that bears their name. Have the two changed places, or is one of "
       "them used twice?", *swapped) for swapped in ((SWAPPED_1, SWAPPED_2), (SWAPPED_2,), (SWAPPED_1,))),
    ("The layers were sorted as words, in which 10 comes before 2: go by their number.",
     f'{LAYERS} → for name in sorted(key.removesuffix(".attention.qkv.weight") for key in weights if "qkv.w" in key)'),
    ("Only 3 layers are used. How many there are, the weights say.", f"{LAYERS} → {LAYERS} and l < 3"),
    ("Layer 0 is used again and again: each layer has weights of its own.",
     'x = x + causal_attention → name = "blocks.0"\n        x = x + causal_attention'),
    ("K is not used: that is one big head.", '.output"), K → .output"), 1'),
    ("That is the stream, d_e numbers for a token. Each word's score is the product of that row with the word's "
     "embedding.", ' @ weights["W_e"].T → '),
    ("Logits are asked for, as they are, without a softmax.", lambda *given: solution.gpt2_logits(*given).softmax(-1)),
    ("In double precision it comes to another result: does a constant in your function have a dtype of its own?",
     'x = weights["W_e"] → weights = {name: w.float() for name, w in weights.items()}\n    x = weights["W_e"]'),
    ("Nobody is silent here: hand each layer the numbers of its own heads that stand in `silent`.",
     "[i for layer, i in silent if layer == l] → ()"),
    ("A head was silenced in every layer. The pairs are (layer, head).", " if layer == l → "),
    ("Layer and head have changed places: the pairs are (layer, head).", "layer, i in silent → i, layer in silent"))


# -- one_head --------------------------------------------------------------------------------------------------------

@functools.cache
def _model():
    return load_weights("dialogue-gpt")


def _next(words, silent=()):
    """The probabilities (D,) of dialogue-gpt's next word."""
    model = _model()
    ids = torch.tensor([model.tokenizer.cls_id, *model.tokenizer.encode(words)])
    return solution.gpt2_logits(ids, model.state_dict(), model.config.K, silent)[-1].softmax(-1)


one_head = Question(solution.one_head, (1, 1), {"dialogue-gpt": ()}, returns="the text, the layer, the head",
    otherwise="Look at all twelve heads, one by one: what is left of the likeliest word without each?")


@one_head.judge
def _(got):
    if type(got) not in (list, tuple) or [*map(kind, got)] != ["a string", "a whole number", "a whole number"]:
        yield "text, layer, head are due", "A text in quotes and two whole numbers."
    text, layer, head = got
    tokenizer, heads = _model().tokenizer, [(l, i) for l in range(3) for i in range(4)]
    ids = tokenizer.encode(text)
    if (layer, head) not in heads:
        yield "heads are 0.0 to 2.3", "Layers and heads count from 0."
    if (layer, head) == (2, 1):
        yield "head 2.1 is the one that the lecture found: another one is asked for", None
    if unknown := [word for word in tokenizer.tokenize(text) if word not in tokenizer.vocab]:
        yield f"the model does not know the word {unknown[0]!r}", "`names` holds all words that it does know."
    if not 1 <= len(ids) <= 20:
        yield f"the text has {len(ids)} tokens, and may have 1 to 20", "Marks such as ? and , are tokens, too."
    p = _next(text)
    best, without = int(p.argmax()), {one: _next(text, [one]) for one in heads}
    word, left = tokenizer.tokens[best], without[layer, head][best]
    if p[best] < 0.9:
        yield (f"the likeliest next word is {word!r}, but with {p[best]:.2f} only: .9 is asked for",
               "The model is not sure there. Where do grammar or an earlier word leave it no choice?")
    if left > 0.1:
        yield f"without this head {word!r} still has {left:.2f}: .1 or less is asked for", None
    others = [one for one in heads if one != (layer, head) and without[one].argmax() != best]
    if others:
        yield (f"without head {others[0][0]}.{others[0][1]} the likeliest word is not {word!r} either",
               "There two heads are needed at once: look for a text that needs one alone.")
