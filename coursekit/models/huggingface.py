"""Classifiers of the `transformers` library behind the course's protocols (`protocols.py`): BERT, DistilBERT and GPT-2.

Needs `transformers` 5, which is loaded only when a model is fetched by name. Three traps are dealt with here:

- GPT-2 reads its score from the last token. transformers finds that token by its id, "the last that is no padding": it
  fails where no padding token is set, and reads from another place where a document ends with the padding's id (GPT-2
  often pads with <|endoftext|>, which is its [UNK] too). Here it is the last place of the document, always.
- Attention weights exist only in the "eager" implementation of attention, and those that are handed out per batch are
  no part of the score's graph one document at a time: `trace` puts them there.
- A checkpoint without a trained classification layer gets a random one and a warning. Here it is refused.
"""

import warnings

import numpy as np
import torch
from torch import nn

from .attention import Trace
from .documents import as_document, as_embeddings, predict_in_chunks

# Where a family keeps its layers, and in a layer: what returns (mixed, weights), the values' map, the output's map.
FAMILIES = {"bert": ("encoder.layer", "attention.self", "attention.self.value", "attention.output.dense"),
            "distilbert": ("transformer.layer", "attention", "attention.v_lin", "attention.out_lin"),
            "gpt2": ("h", "attn", "attn.c_attn", "attn.c_proj")}
QUERIES_AND_KEYS = {"bert": ("attention.self.query", "attention.self.key"), "gpt2": ("attn.c_attn",),
                    "distilbert": ("attention.q_lin", "attention.k_lin")}


class HuggingFaceClassifier(nn.Module):
    """A BERT, DistilBERT or GPT-2 sequence classifier of transformers, as black and as white box.

    model: a Bert-, DistilBert- or GPT2ForSequenceClassification; it is switched to evaluation mode and to eager
    attention, and from half to single precision. tokenizer: the one it was trained with. T_max: the longest input,
    special tokens included, at most the model's positions (by default what both can take). Scores of documents: with
    two labels the log-odds of the second (n,), with one label its output (n,), with C > 2 labels the logits (n, C). A
    document is a list of pieces, `tokenizer.tokenize(text)`.

    Embeddings are those of the words alone, the `inputs_embeds` of transformers: positions are added inside the model.
    GPT-2 has no class token: its score is read from the last row (`readout`); an empty document is one <|endoftext|>.
    The token "[UNK]" stands for what is unknown whatever the tokenizer calls it; a warning names other tokens that it
    does not know, which become the same.
    Raises TypeError or ValueError, in one line, for other models, a tokenizer of another one, and tokens without an id.
    """

    chunk = 32

    def __init__(self, model, tokenizer, T_max=None):
        super().__init__()
        self.family = getattr(getattr(model, "config", None), "model_type", type(model).__name__)
        if self.family not in FAMILIES or not type(model).__name__.endswith("ForSequenceClassification"):
            advice = ("load it with AutoModelForSequenceClassification" if self.family in FAMILIES else "any other "
                      "model is a black box: pass a function from documents to scores to lime or kernel_shap")
            raise TypeError(f"expected a sequence classifier of the families {', '.join(FAMILIES)}, got "
                            f"{type(model).__name__}: {advice}")
        D, positions = model.get_input_embeddings().num_embeddings, model.config.max_position_embeddings
        self._check_tokenizer(tokenizer, D)
        half = model.dtype in (torch.float16, torch.bfloat16)           # too coarse to tell small differences
        self.model, self.tokenizer = (model.float() if half else model).eval(), tokenizer
        model.set_attn_implementation("eager")
        least = 1 if self.family == "gpt2" else 3                       # [CLS], one token, [SEP]
        if T_max is not None and not (hasattr(T_max, "__index__") and T_max in range(least, positions + 1)):
            raise ValueError(f"T_max must be a whole number from {least} to {positions}, the model's positions, "
                             f"got {T_max!r}")
        self.T_max = min(tokenizer.model_max_length, positions) if T_max is None else int(T_max)
        self._warned = set()                                              # the unknown tokens that were warned of
        self.readout = -1 if self.family == "gpt2" else 0
        self.outputs = (model.num_labels,) if model.num_labels > 2 else ()

    def _check_tokenizer(self, tokenizer, D):
        """TypeError or ValueError unless this can be the tokenizer of a model of this family with D embeddings."""
        if not hasattr(tokenizer, "convert_tokens_to_ids") or not hasattr(tokenizer, "model_max_length"):
            raise TypeError(f"expected the model's tokenizer, got {type(tokenizer).__name__}: "
                            "AutoTokenizer.from_pretrained(the model's name or folder) has it")
        if self.family != "gpt2" and None in (tokenizer.cls_token, tokenizer.sep_token):
            raise ValueError(f"this tokenizer has no [CLS] and [SEP], which {self.family} models read: it belongs to "
                             "another model, load both from one name or folder")
        if len(tokenizer) <= max(len(tokenizer.all_special_tokens), D // 2):
            raise ValueError(f"the tokenizer knows {len(tokenizer)} tokens, the model {D}: the tokenizer's files "
                             "(tokenizer.json, or vocab.txt, or vocab.json and merges.txt) are missing in the model's "
                             "folder, or belong to another model")

    @classmethod
    def from_pretrained(cls, name, T_max=None):
        """The classifier in a folder, or by its name on the Hugging Face hub (downloaded once, then from the cache).

        Raises FileNotFoundError where it cannot be had, ValueError where it is no trained classifier, in one line.
        """
        from huggingface_hub import snapshot_download
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        def load(**options):
            return (AutoTokenizer.from_pretrained(name, **options),
                    *AutoModelForSequenceClassification.from_pretrained(name, output_loading_info=True, **options))

        try:
            tokenizer, model, info = load(local_files_only=True)
        except OSError:
            try:
                snapshot_download(name, allow_patterns="config.json")   # without a network fails at once, unlike load
            except (OSError, ValueError) as error:
                raise FileNotFoundError(
                    f"{str(name)!r} is no folder with a classifier, is not in the Hugging Face cache, and cannot be "
                    f"downloaded ({type(error).__name__}): get config.json, model.safetensors, the tokenizer's files "
                    f"from https://huggingface.co/{name}/tree/main into one folder, and pass that folder") from error
            tokenizer, model, info = load()
        if info["missing_keys"]:
            raise ValueError(f"{str(name)!r} has no trained {', '.join(sorted(info['missing_keys']))}, which would be "
                             "random: choose a model that was fine-tuned for classification")
        return cls(model, tokenizer, T_max)

    # -- tokens -------------------------------------------------------------------------------------------------------

    def tokens(self, document):
        """The T tokens that the model reads: [CLS], the document, [SEP]; for GPT-2 the document. T_max in all."""
        if self.family == "gpt2":
            return list(as_document(document))[:self.T_max] or [self.tokenizer.bos_token]
        return [self.tokenizer.cls_token, *as_document(document)[:self.T_max - 2], self.tokenizer.sep_token]

    def own(self, document):
        """The rows of the document's own tokens: all but those of [CLS] and [SEP]."""
        first = 0 if self.family == "gpt2" else 1
        return list(range(first, first + min(len(document), self.T_max - 2 * first)))

    def ids(self, document):
        """Token ids (T,) of a document."""
        tokens, unknown = self.tokens(document), ("[UNK]", self.tokenizer.unk_token)
        ids = self.tokenizer.convert_tokens_to_ids(tokens)
        if None in ids:
            raise ValueError(f"{tokens[ids.index(None)]!r} is not in the vocabulary and this tokenizer has no [UNK]: "
                             "use its own pieces, tokenizer.tokenize(text)")
        self._check_id(max(ids))
        unk_id = self.tokenizer.unk_token_id                              # a slow look-up
        strange = [t for t, i in zip(tokens, ids, strict=True) if i == unk_id and t not in unknown]
        if not self._warned.issuperset(strange):                          # perturbed copies do not repeat it
            self._warned.update(strange)
            warnings.warn(f"{len(strange)} of {len(document)} tokens are unknown to the tokenizer, such as "
                          f"{strange[0]!r}: its own pieces are tokenizer.tokenize(text)", stacklevel=2)
        return torch.tensor(ids)

    def _check_id(self, i):
        """ValueError unless the model has an embedding for this id."""
        D = self.model.get_input_embeddings().num_embeddings
        if i >= D:
            token = self.tokenizer.convert_ids_to_tokens(i)
            raise ValueError(f"the tokenizer gives {token!r} the id {i}, but the model has {D} embeddings: they do not "
                             "belong together, or the token was added later")

    # -- the score ----------------------------------------------------------------------------------------------------

    def forward(self, lengths, **inputs):
        """Scores (n,) or (n, C) of padded inputs, whose first `lengths` (n,) places are the document."""
        if self.model.training:
            raise ValueError("the model is in training mode, where dropout makes its scores random: call eval() on it")
        if self.family == "gpt2":                                       # the first trap above
            states = self.model.base_model(**inputs).last_hidden_state  # (n, T, d_e)
            logits = self.model.score(states[torch.arange(len(states)), lengths - 1])
        else:
            logits = self.model(**inputs).logits                        # (n, C)
        if logits.shape[1] == 1:
            return logits[:, 0]
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def score(self, documents):
        """Scores (n,) or (n, C) of documents as a tensor."""
        rows = [self.ids(document) for document in documents]
        lengths = torch.tensor([len(row) for row in rows])
        seen = torch.arange(int(lengths.max())) < lengths[:, None]      # (n, T)
        return self(lengths, input_ids=nn.utils.rnn.pad_sequence(rows, batch_first=True), attention_mask=seen.long())

    def predict(self, documents):
        """Log-odds (n,), or logits (n, C) of more than two labels, for a list of documents, as a NumPy array."""
        scores = predict_in_chunks(self, documents, self.chunk)
        return scores if len(scores) else np.zeros((0, *self.outputs), scores.dtype)

    # -- the white box ------------------------------------------------------------------------------------------------

    def embed(self, document):
        """Word embeddings (T, d_e) of the tokens, without positions."""
        return self.model.get_input_embeddings()(self.ids(document))

    def baseline(self, document, kind="unk"):
        """Embeddings (T, d_e) of a document as long that says nothing: each own token is [UNK] ("unk"), padding ("pad")
        or the zero vector ("zero"). Special tokens stay, and so do positions."""
        e, own = self.embed(document).clone(), self.own(document)
        if kind not in ("unk", "pad", "zero"):
            raise ValueError(f"baseline must be 'unk', 'pad' or 'zero', got {kind!r}")
        if kind != "zero":
            token = getattr(self.tokenizer, f"{kind}_token_id")
            if token is None:
                raise ValueError(f"this tokenizer has no {kind} token: choose another baseline, such as 'zero'")
            self._check_id(token)
            token = self.model.get_input_embeddings()(torch.tensor(token))
        e[own] = token if kind != "zero" else 0.0
        return e

    def from_embeddings(self, e):
        """Score (…) or (…, C) of word embeddings e (…, T, d_e); differentiable."""
        T, d_e = as_embeddings(e, self.T_max, self.model.get_input_embeddings().embedding_dim).shape[-2:]
        flat = e.reshape(-1, T, d_e)
        scores = self(torch.full((len(flat),), T), inputs_embeds=flat)
        return scores.reshape(e.shape[:-2] + self.outputs)

    def trace(self, e, change=None):
        """One pass over embeddings e (…, T, d_e) with each layer's attention weights (…, K, T, T) and values (…, K, T,
        d_e). change(l, A): the weights that layer l is to use in place of its own."""
        maps, values, hooks = [], [], []

        def record(attention, value, output):
            K = self.model.config.num_attention_heads
            weight = output.weight if self.family == "gpt2" else output.weight.T                # (K d_att, d_e)

            def hook(module, inputs, result):                            # mixes once more, so that A is in the graph
                A = result[1].reshape(*e.shape[:-2], *result[1].shape[1:])          # (…, K, T, T)
                A = A if change is None else change(len(maps), A)
                v = value(inputs[0])[..., -len(weight):].unflatten(-1, (K, -1)).transpose(1, 2)
                v = v.reshape(*e.shape[:-2], *v.shape[1:])               # (…, K, T, d_att)
                maps.append(A)
                values.append(v @ weight.unflatten(0, (K, -1)))
                mixed = (A @ v).transpose(-3, -2).flatten(-2).reshape(result[0].shape)      # (n, T, K d_att)
                return (mixed if self.family == "bert" else output(mixed), *result[1:])

            hooks.append(attention.register_forward_hook(hook))

        for layer in self.layers():
            record(*map(layer.get_submodule, FAMILIES[self.family][1:]))
        try:
            return Trace(self.from_embeddings(e), maps, values)
        finally:
            for hook in hooks:
                hook.remove()

    def layers(self):
        """The L modules whose first output is the residual stream (…, T, d_e)."""
        return list(self.model.base_model.get_submodule(FAMILIES[self.family][0]))

    def queries_and_keys(self):
        """The layers of queries and of keys, with the number of columns in which their output is that: all, or of
        GPT-2's one layer for queries, keys and values the first two thirds."""
        names = QUERIES_AND_KEYS[self.family]
        d_e = self.model.get_input_embeddings().embedding_dim
        return [(layer.get_submodule(name), 2 * d_e if self.family == "gpt2" else d_e)
                for layer in self.layers() for name in names]

    def attentions(self, document):
        """Attention weights (L, K, T, T); every row sums to one. GPT-2's tokens see only what came before."""
        return torch.stack(self.trace(self.embed(document)).attentions)

    def cls_attention(self, document):
        """The last layer's attention weights (K, T) in the row that the score is read from: [CLS], or the last one."""
        return self.attentions(document)[-1, :, self.readout]
