"""Checks of assignment 03: the whole model, heads switched off, an experiment, and a text in which one head decides."""

import types

from attention_questions.gpt2_weights import drawn_weights
from attention_questions.prelude import Question, functools, kind, np, torch
from coursegrade.kit.experiment import experiment
from coursegrade.kit.mistakes import as_answer
from coursekit.models import load_weights

from . import solution
from .parts import as_lists, to_the_digit

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
                         "each place."},
    why="One loop over the layers, two lines in it, as in the formulas: the stream is added to, never replaced. How "
        "many layers there are is asked of the names, so that any GPT-2 fits.")


def _with(**instead):
    """gpt2_logits with other functions than the solution's."""
    return types.FunctionType(solution.gpt2_logits.__code__, vars(solution) | instead, argdefs=((),))


NORM_1, NORM_2, NORM = (f"layer_norm(x, *parts({name}), 1e-5)" for name in (
    'f"{name}.norm_attention"', 'f"{name}.norm_mlp"', '"norm"'))
LAYERS = 'while (name := f"blocks.{l}") + ".attention.qkv.weight" in weights'
MLP = f'x = x + mlp({NORM_2}, *parts(f"{{name}}.mlp.0", f"{{name}}.mlp.2"))'
SWAPPED_1, SWAPPED_2 = f"attention({NORM_1} → attention({NORM_2}", f"mlp({NORM_2} → mlp({NORM_1}"
gpt2_logits.mistakes(
    ("The positions are missing: W_p has a row for each place, and is added to the embeddings.",
     ' + weights["W_p"][:len(ids)] → '),
    ("W_p was asked for the ids. Its rows are places: 0, 1, 2, …",
     '[:len(ids)] → [ids.clamp(max=len(weights["W_p"]) - 1)]'),
    *(("The places count from 0: token 0 has row 0 of W_p, token 1 row 1.", f"[:len(ids)] → {rows}")
      for rows in ("[1:len(ids) + 1]", "[-len(ids):]")),
    ("The embeddings were multiplied by √d_e, as the transformer of 2017 did. GPT-2 takes them as they are.",
     'weights["W_e"][ids] → weights["W_e"][ids] * len(weights["W_e"][0]) ** 0.5'),
    ("The final norm is missing: \"norm\" comes behind the last block, before the output layer.", f"{NORM} → x"),
    ("The final norm, \"norm\", is applied behind every block. It comes once, behind the last.",
     f"l += 1 → l += 1\n        x = {NORM}"),
    ("The final norm, \"norm\", is applied behind every block. It comes once, behind the last.",
     f"return {NORM} → return x", f"l += 1 → l += 1\n        x = {NORM}"),
    ("A norm's `.weight` is the gain, its `.bias` the shift: have the two changed places?",
     _with(layer_norm=lambda x, gain, shift, eps: solution.layer_norm(x, shift, gain, eps))),
    *(("In one of the norms gain and shift have changed places: `.weight` is the gain, `.bias` the shift.",
       f"{norm} → {norm.replace(', 1e', '[::-1], 1e')}") for norm in (NORM, NORM_1, NORM_2)),
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
    *((f"The skip around {what} starts from the normalised numbers. It carries the stream as it was before the norm.",
       f"x = x + {call}({norm} → x = {norm}\n        x = x + {call}(x")
      for what, call, norm in (("attention", "causal_attention", NORM_1), ("the MLP", "mlp", NORM_2))),
    ("The skips are missing: what comes out of attention and MLP is added to the stream.",
     "x + causal_attention → causal_attention", "x + mlp → mlp"),
    ("The skip around attention is missing: what comes out of attention is added to the stream.",
     "x + causal_attention → causal_attention"),
    ("The skip around the MLP is missing: what comes out of the MLP is added to the stream.", "x + mlp → mlp"),
    ("Attention and the MLP read the stream as it is. In front of each comes the norm that bears its name.",
     f"{NORM_1} → x", f"{NORM_2} → x"),
    ("Attention reads the stream as it is. In front of it comes the norm that bears its name.", f"{NORM_1} → x"),
    ("The MLP reads the stream as it is. In front of it comes the norm that bears its name.", f"{NORM_2} → x"),
    ("The MLP reads what attention has read. Its own norm is still to come, of the stream that attention has left.",
     f"x = x + causal_attention → read = {NORM_1}\n        x = x + causal_attention", f"mlp({NORM_2} → mlp(read"),
    ("The MLP comes before attention here. In a block attention is first.",
     f"{MLP} → ", f"x = x + causal_attention → {MLP}\n        x = x + causal_attention"),
    ("There is no attention in the blocks.", "x = x + causal_attention → causal_attention"),
    ("There is no MLP in the blocks.", "x = x + mlp → mlp"),
    *(("A norm stands there without its gain and shift, its `.weight` and `.bias`.",
       f"{norm} → layer_norm(x, 1, 0, 1e-5)") for norm in (NORM, NORM_1, NORM_2)),
    ("The heads' outputs got mixed on the way back: from (K, T, d_e/K), T comes to the front (transpose) before the "
     "heads are put side by side.", _with(causal_attention=as_answer(
         solution.causal_attention, "torch.cat(outputs, 1) → torch.stack(outputs).reshape(len(x), -1)"))),
    *(("Attention and MLP each read through the norm that bears their name. Have the two changed places, or is one of "
       "them used twice?", *swapped) for swapped in ((SWAPPED_1, SWAPPED_2), (SWAPPED_2,), (SWAPPED_1,))),
    ("The layers were sorted as words, in which 10 comes before 2: go by their number.",
     f'{LAYERS} → for name in sorted(key.removesuffix(".attention.qkv.weight") for key in weights if "qkv.w" in key)'),
    *((f"Only {most} used. How many there are, the weights say.", f"{LAYERS} → {LAYERS} and l < {most[0]}")
      for most in ("1 layer is", "3 layers are")),
    ("Only the layers 0 to 9 are used: a layer's number may have two digits.", f"{LAYERS} → {LAYERS} and l < 10"),
    ("The last layer is missing: they count from 0, so there is one more than the largest number.",
     f'{LAYERS} → {LAYERS} and f"blocks.{{l + 1}}.mlp.0.weight" in weights'),
    ("Layer 0 is left out: they count from 0.", "l = 0 → l = 1"),
    ("Layer 0 is used again and again: each layer has weights of its own.",
     'x = x + causal_attention → name = "blocks.0"\n        x = x + causal_attention'),
    ("K is not used: that is one big head.", '.output"), K → .output"), 1'),
    ("That is the stream, d_e numbers for a token. Each word's score is the product of that row with the word's "
     "embedding.", ' @ weights["W_e"].T → '),
    ("Logits are asked for, as they are, without a softmax.", lambda *given: solution.gpt2_logits(*given).softmax(-1)),
    ("In double precision it comes to another result: does a constant in your function have a dtype of its own?",
     'x = weights["W_e"] → weights = {name: w.float() for name, w in weights.items()}\n    x = weights["W_e"]'),
    ("The logits were divided by √d_e. That belongs to the scores of an attention.",
     lambda ids, weights, *others: solution.gpt2_logits(ids, weights, *others) / len(weights["W_e"][0]) ** 0.5),
    ("Logits are asked for, as they are, without a softmax or its logarithm.",
     lambda *given: solution.gpt2_logits(*given).log_softmax(-1)),
    ("The logits of *every* row are asked for, (T, D), not only of the last.",
     lambda *given: solution.gpt2_logits(*given)[-1]),
    *as_lists(solution.gpt2_logits),
    ("Nobody is silent here: hand each layer the numbers of its own heads that stand in `silent`.",
     "[i for layer, i in silent if layer == l] → ()"),
    ("A head was silenced in every layer. The pairs are (layer, head).", " if layer == l → "),
    ("Layer and head have changed places: the pairs are (layer, head).", "layer, i in silent → i, layer in silent"),
    ("Only the first of the pairs is silent: there may be several.", "layer, i in silent → layer, i in [*silent][:1]"),
    ("A layer may have several silent heads. A dictionary keeps one head for each layer.",
     "layer, i in silent → layer, i in dict(silent).items()"),
    ("The whole layer is silent. Only the head of the pair is.", "[i for layer → [head for head in range(K) for layer"),
    ("Layers count from 0: the pair (0, 1) is head 1 of layer 0.", "layer == l → layer == l + 1"))


# -- my_experiment ---------------------------------------------------------------------------------------------------

my_experiment = experiment(
    solution.my_experiment, (2, 0), hints={
        "nothing": "Two numbers are due: `return before, changed`.",
        "'weights' is not defined": "They are `load_weights(\"dialogue-gpt\").state_dict()`, in the function."},
    why="Learned positions are numbers of places. Each text is moved by eight places, and nothing else is changed: if "
        "only distances mattered, the loss would stay.")


# -- one_head --------------------------------------------------------------------------------------------------------

@functools.cache
def _model():
    return load_weights("dialogue-gpt")


def _next(words, silent=()):
    """The probabilities (D,) of dialogue-gpt's next word."""
    model = _model()
    ids = torch.tensor([model.tokenizer.cls_id, *model.tokenizer.encode(words)])
    return solution.gpt2_logits(ids, model.state_dict(), model.config.K, silent)[-1].softmax(-1)


one_head = Question(solution.one_head, (0, 1), {"dialogue-gpt": ()}, returns="the text, the layer, the head",
    otherwise="Look at all twelve heads, one by one: what is left of the likeliest word without each?",
    why="In front of the question mark one head is all there is: found by the loop of hint 3, over the beginnings of "
        "100 dialogues.")


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
        yield (f"the model does not know the word {unknown[0]!r}",
               "`names` holds all words that it does know. (`[CLS]` is put in front by itself: leave it out.)")
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
