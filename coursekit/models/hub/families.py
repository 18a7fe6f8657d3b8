"""Families of the `transformers` library: what each keeps where, and its attention opened in the middle of a pass.

They are opened by what their own modules return, not by writing them anew; so what is special about a family stands
here once: GPT-2's linear layers are transposed and make queries, keys and values at once (so do ModernBERT's, not
transposed), Llama and its like share values among heads, the layers of an ALBERT are one module whose attention adds
and norms, too, and DeBERTa's maps its output inside.
"""

from contextlib import contextmanager

# Where a family keeps its layers, and in a layer: what returns (mixed, weights), the values' map, the output's map.
_BERT = ("encoder.layer", "attention.self", "attention.self.value", "attention.output.dense")
_LLAMA = ("layers", "self_attn", "self_attn.v_proj", "self_attn.o_proj")
ROBERTAS = dict.fromkeys(("roberta", "xlm-roberta", "camembert"), _BERT)
LLAMAS = dict.fromkeys(("llama", "mistral", "qwen2", "qwen3"), _LLAMA)
FAMILIES = {"bert": _BERT, **ROBERTAS, "electra": _BERT,
            "distilbert": ("transformer.layer", "attention", "attention.v_lin", "attention.out_lin"),
            "deberta-v2": ("encoder.layer", "attention.self", "attention.self.value_proj", "attention.output.dense"),
            "albert": ("encoder.albert_layer_groups", "attention", "attention.value", "attention.dense"),
            "modernbert": ("layers", "attn", "attn.Wqkv", "attn.Wo"),
            "gpt2": ("h", "attn", "attn.c_attn", "attn.c_proj"), **LLAMAS}
DECODERS = ("gpt2", *LLAMAS)
# Of the families that have nothing but layer norms and activations that are modules, as `relevance_rules` needs them.
QUERIES_AND_KEYS = {"bert": ("attention.self.query", "attention.self.key"), "gpt2": ("attn.c_attn",),
                    "electra": ("attention.self.query", "attention.self.key"),
                    "distilbert": ("attention.q_lin", "attention.k_lin")}


def single(x):
    """x, in single precision if it is in half; a copy that gradients flow through.

    >>> import torch
    >>> single(torch.zeros(1, dtype=torch.bfloat16)).dtype, single(torch.zeros(1).double()).dtype
    (torch.float32, torch.float64)
    """
    return x.float() if x.dtype.itemsize < 4 else x


def layers_of(model):
    """The layers of a model of transformers, a list of modules."""
    family = model.config.model_type
    layers = model.base_model.get_submodule(FAMILIES[family][0])
    return [layer for group in layers for layer in group.albert_layers] if family == "albert" else list(layers)


def queries_and_keys_of(model):
    """[(layer, n), …]: the linear layers that make queries or keys, in the first n columns of what they return."""
    family, d_e = model.config.model_type, model.config.hidden_size      # of ELECTRA not that of words
    return [(layer.get_submodule(name), 2 * d_e if family == "gpt2" else d_e)
            for layer in layers_of(model) for name in QUERIES_AND_KEYS[family]]


@contextmanager
def opened(model, sizes, change=None):
    """`with opened(model, sizes, change) as (maps, values)`: a pass inside fills both lists, layer by layer.

    maps: attention weights (…, K, T, T), in the graph of what comes out; values (…, K, T, d_e), what a head writes for
    a token that gets all of its attention; sizes: the (…) of what goes in, which the model sees in one row.
    change(l, A): the weights that layer l is to use in place of its own.

    Attention weights exist only in the "eager" implementation of attention, which is slower and on meanwhile only, and
    those that it hands out per batch are no part of the score's graph one document at a time: here each layer mixes
    once more.
    """
    maps, values, hooks, family = [], [], [], model.config.model_type
    names = FAMILIES[family][1:]
    inside = names[2].startswith(f"{names[0]}.")                         # the output's map is a part of the attention's

    def record(attention, value, output):
        K = model.config.num_attention_heads
        weight = output.weight if family == "gpt2" else output.weight.T                         # (K d_att, d_e)

        def hook(module, inputs, named, result):
            A = single(result[1]).reshape(*sizes, *result[1].shape[1:])                         # (…, K, T, T)
            A = A if change is None else change(len(maps), A)
            states = inputs[0] if inputs else named["hidden_states"]     # (n, T, d_e)
            v = value(states)[..., -len(weight):]                        # the last third of all three
            v = v.unflatten(-1, (-1, len(weight) // K)).transpose(1, 2)
            v = v.repeat_interleave(K // v.shape[1], 1) if v.shape[1] < K else v                # grouped queries
            v = v.reshape(*sizes, *v.shape[1:])                          # (…, K, T, d_att)
            maps.append(A)
            values.append(single(v) @ single(weight).unflatten(0, (K, -1)))
            mixed = (A.to(v) @ v).transpose(-3, -2).flatten(-2)          # (…, T, K d_att)
            mixed = mixed.reshape(*result[0].shape[:-1], -1)             # (n, T, K d_att)
            written = output(mixed) if inside else mixed
            if family == "albert":                                       # whose attention adds and norms, too
                written = module.LayerNorm(states + written)
            return (written, *result[1:])

        hooks.append(attention.register_forward_hook(hook, with_kwargs=True))

    for layer in layers_of(model):                                       # ALBERT's fire several times
        record(*map(layer.get_submodule, names))
    fastest = model.config._attn_implementation                          # as transformers has chosen
    model.set_attn_implementation("eager")
    try:
        yield maps, values
    finally:
        model.set_attn_implementation(fastest)
        for hook in hooks:
            hook.remove()
