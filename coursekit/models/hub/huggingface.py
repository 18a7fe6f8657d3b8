"""Classifiers of the `transformers` library behind the course's protocols (`protocols.py`), and how to use any other.

What a family keeps where, and how its attention is opened, is in families.py. Needs `transformers` 5, which is loaded
only when a model is fetched by name. Four traps are dealt with here:

- A decoder (GPT-2, Llama, …) reads its score from the last token. transformers finds that token by its id, "the
  last that is no padding": it fails where no padding token is set, and reads from another place where a document ends
  with the padding's id (GPT-2 often pads with <|endoftext|>, which is its [UNK] too). Here it is the last place of the
  document, always.
- RoBERTa counts positions from the padding's id + 1, and gives a padding token inside a document none. Here every token
  has its place, so that ids and embeddings give one score.
- BERT and ELECTRA mark the second of two texts by segments, which embeddings do not carry: here the first row that is
  the separator's embedding ends the first text.
- A checkpoint without a trained classification layer gets a random one and a warning. Here it is refused.
"""

import warnings
from functools import partial

import numpy as np
import torch
from torch import nn

from coursekit.models.attention import Trace
from coursekit.models.documents import as_document, as_embeddings, predict_in_chunks

from .families import DECODERS, FAMILIES, QUERIES_AND_KEYS, ROBERTAS, layers_of, opened, queries_and_keys_of, single

CHECKED = "not a good film", "the plot is fine , but the acting is really bad .", "good"
TOKENIZER = ("the tokenizer's files (tokenizer.json, or vocab.txt, or vocab.json and merges.txt) are missing in the "
             "model's folder, or belong to another model")


def kind_of_scores(config):
    """What the outputs of a classifier of transformers are, by its configuration: "log-odds", "multi-label" or
    "regression", which it is with one label where nothing is said, as transformers trains it then.

    >>> from types import SimpleNamespace
    >>> kind_of_scores(SimpleNamespace(problem_type=None, num_labels=1))
    'regression'
    """
    one, kind = config.num_labels == 1, config.problem_type
    if kind == "regression" or kind is None and one:
        return "regression"
    return "multi-label" if kind == "multi_label_classification" and not one else "log-odds"


def scores_of_labels(logits, gives):
    """Scores (n,) or (n, C) of logits (n, C), an array or a tensor: one column as it is, of two their difference, but
    where the labels are independent.

    >>> scores_of_labels(np.array([[1.0, 3.0]]), "log-odds"), scores_of_labels(np.array([[1.0, 3.0]]), "multi-label")
    (array([2.]), array([[1., 3.]]))
    """
    if logits.shape[1] == 1:
        return logits[:, 0]
    return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 and gives == "log-odds" else logits


def _classifies(model):
    """Is it a …ForSequenceClassification, or a subclass of one?"""
    return any(kind.__name__.endswith("ForSequenceClassification") for kind in type(model).__mro__)


class HuggingFaceClassifier(nn.Module):
    """A sequence classifier of transformers, as black and as white box: BERT, RoBERTa, XLM-RoBERTa,
    CamemBERT, ELECTRA, DistilBERT, ALBERT, DeBERTa-v2 (and -v3), ModernBERT, GPT-2, Llama, Mistral, Qwen2 and Qwen3.

    model: a …ForSequenceClassification of these families, on any device, where it stays; it is switched to evaluation
    mode and, unless `half`, from half to single precision. tokenizer: the one it was trained with. T_max: the longest
    input, special tokens included, at most the model's positions (by default what both can take). half: leave a model
    that is in half precision there, for want of memory; what comes out is in single precision all the same, but
    bfloat16 has three digits: expect scores and explanations within some percent.
    Scores of documents: with two labels the log-odds of the second (n,), with one label its output (n,), with C > 2
    labels the logits (n, C). `gives` says what they are: "log-odds", "multi-label" (independent labels: logits (n, C),
    also of two) or "regression", see `kind_of_scores`. A document is a list of pieces, `tokenizer.tokenize(text)`. Two
    texts are one document, `[*tokenizer.tokenize(first), *model.separator, *tokenizer.tokenize(second)]`: perturbations
    leave the separator.

    Embeddings are those of the words alone, the `inputs_embeds` of transformers: positions are added inside the model.
    Decoders have no class token: their score is read from the last row (`readout`); an empty document is one
    <|endoftext|> (or what else their tokenizer begins a text with). A ModernBERT that reads its score from the mean of
    all rows has no `readout`, and so no attention as an explanation.
    The token "[UNK]" stands for what is unknown whatever the tokenizer calls it, and, where it has no such token (Llama
    3), for what ends a text, which becomes its `unk_token`, as it is GPT-2's; a warning names other tokens that it does
    not know, which become the same.
    check: ask model and wrapper the same three texts first, and refuse a model whose own forward pass says something
    else, such as a subclass with a head of its own, an adapter, or a pooling that somebody has replaced.
    Raises TypeError or ValueError, in one line, for other models, a tokenizer of another one, and tokens without an id.
    """

    chunk = 32

    def __init__(self, model, tokenizer, T_max=None, half=False, check=True):
        super().__init__()
        model = getattr(model, "_orig_mod", model)                      # of torch.compile
        if hasattr(model, "peft_config"):                               # whose modules are wrapped, their weights not
            raise TypeError("an adapter (LoRA) lies over this model's layers: pass model.merge_and_unload()")
        self.family = getattr(getattr(model, "config", None), "model_type", type(model).__name__)
        if self.family not in FAMILIES or not _classifies(model):
            how = ("own_model(pipeline('text-classification', model=model, tokenizer=tokenizer)) makes it a black box"
                   if _classifies(model) else "load one with AutoModelForSequenceClassification; one with a head of "
                   "its own is a black box: own_model(a function from documents, lists of words, to scores)")
            raise TypeError(f"expected a sequence classifier of the families {', '.join(FAMILIES)}, got "
                            f"{type(model).__name__}: {how}")
        if any(callable(getattr(layer, "weight", None)) for layer in model.modules()):
            raise TypeError("this model's layers are quantised, without weights that have gradients: take the model as "
                            "it was before, or own_model(pipeline('text-classification', model=model, "
                            "tokenizer=tokenizer), check=False), a black box")
        D, positions = model.get_input_embeddings().num_embeddings, model.config.max_position_embeddings
        self.first = model.config.pad_token_id + 1 if self.family in ROBERTAS else 0      # the position of place 0
        positions -= self.first
        self._check_tokenizer(tokenizer, D)
        if model.get_input_embeddings().weight.is_meta:
            raise ValueError("the model's weights are not in memory (device 'meta'): load it onto the CPU or a GPU")
        too_coarse = model.dtype.itemsize < 4 and not half              # to tell small differences
        self.model, self.tokenizer = (model.float() if too_coarse else model).eval(), tokenizer
        if tokenizer.unk_token is None:                                 # of Llama 3; that of GPT-2 is so by itself
            tokenizer.unk_token = tokenizer.eos_token
        self.decodes = self.family in DECODERS
        if self.decodes:
            start = tokenizer.bos_token or tokenizer.eos_token or tokenizer.unk_token
            begins = tokenizer("")["input_ids"] == tokenizer.convert_tokens_to_ids([start])
            self.around, self.empty, self.separator, self.segments = ([start] * begins, []), [start], [], False
        else:
            self.around, self.empty = ([tokenizer.cls_token], [tokenizer.sep_token]), []
            self.segments = ("token_type_ids" in tokenizer.model_input_names
                             and getattr(model.config, "type_vocab_size", 0) > 1)
            self.separator = [tokenizer.sep_token] * (2 if self.family in ROBERTAS else 1)
        least = 1 + sum(map(len, self.around))                  # [CLS], one token, [SEP]
        if T_max is not None and not (hasattr(T_max, "__index__") and T_max in range(least, positions + 1)):
            raise ValueError(f"T_max must be a whole number from {least} to {positions}, the model's positions, "
                             f"got {T_max!r}")
        self.T_max = min(tokenizer.model_max_length, positions) if T_max is None else int(T_max)
        self._warned = set()                                              # the unknown tokens that were warned of
        if getattr(model.config, "classifier_pooling", "cls") == "cls":
            self.readout = -1 if self.decodes else 0
        self.gives = kind_of_scores(model.config)
        C = model.num_labels
        self.outputs = () if C == 1 or C == 2 and self.gives == "log-odds" else (C,)
        if check:
            self._check_scores()

    def _check_tokenizer(self, tokenizer, D):
        """TypeError or ValueError unless this can be the tokenizer of a model of this family with D embeddings."""
        if not hasattr(tokenizer, "convert_tokens_to_ids") or not hasattr(tokenizer, "model_max_length"):
            raise TypeError(f"expected the model's tokenizer, got {type(tokenizer).__name__}: "
                            "AutoTokenizer.from_pretrained(the model's name or folder) has it")
        if self.family not in DECODERS and None in (tokenizer.cls_token, tokenizer.sep_token):
            raise ValueError(f"this tokenizer has no [CLS] and [SEP], which {self.family} models read: it belongs to "
                             "another model, load both from one name or folder")
        if len(tokenizer) <= max(len(tokenizer.all_special_tokens), D // 2):
            raise ValueError(f"the tokenizer knows {len(tokenizer)} tokens, the model {D}: {TOKENIZER}")

    @torch.no_grad()
    def _check_scores(self):
        """ValueError unless the model's own pass over three texts says what is said here: alone, in a batch, inside."""
        with warnings.catch_warnings():                                 # of tokens that a small vocabulary lacks
            warnings.simplefilter("ignore")
            documents = [self.tokenizer.tokenize(text) for text in CHECKED]
            together = self.predict(documents)
            for text, document, batched in zip(CHECKED, documents, together, strict=True):
                inputs = self.tokenizer(text, truncation=True, max_length=self.T_max, return_tensors="pt",
                                        return_token_type_ids=self.segments)
                if self.decodes and self.model.config.pad_token_id in inputs["input_ids"][0].tolist():
                    continue                                            # transformers would read from another place
                logits = self.model(**inputs.to(self._words.weight.device))[0]
                expected = scores_of_labels(single(logits), self.gives)[0].cpu().numpy()
                inside = self.from_embeddings(self.embed(document)).cpu().numpy()
                near = max(1e-4, 8 * self.rounding) * max(1, abs(logits).max().item())
                for how, score in (("alone", self.predict([document])[0]), ("in a batch", batched),
                                   ("by its embeddings", inside)):
                    if not np.abs(score - expected).max() <= near:
                        raise ValueError(
                            f"of {text!r} the model's own forward pass says {np.round(expected, 3)}, and {how} it says "
                            f"{np.round(score, 3)} here, where it is read as {self.family} models are: its forward, "
                            "head or pooling is its own, or what its tokenizer puts around a text. Explain it as a "
                            "black box, own_model(pipeline('text-classification', model=model, tokenizer=tokenizer)); "
                            "check=False takes it as it is")
        self._warned = set()

    @classmethod
    def from_pretrained(cls, name, T_max=None, half=False, check=True):
        """The classifier in a folder, or by its name on the Hugging Face hub (downloaded once, then from the cache).

        Raises FileNotFoundError where it cannot be had, ValueError where it is no trained classifier, in one line.
        """
        from huggingface_hub import snapshot_download
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        def load(**options):
            try:
                tokenizer = AutoTokenizer.from_pretrained(name, **options)
            except ValueError as error:                                 # eight lines on what might be installed
                raise ValueError(f"transformers finds no tokenizer: {TOKENIZER}") from error
            return (tokenizer,
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
        return cls(model, tokenizer, T_max, half, check)

    # -- tokens -------------------------------------------------------------------------------------------------------

    def tokens(self, document):
        """The T tokens that the model reads: [CLS], the document, [SEP]; of a decoder the document, after what its
        tokenizer begins every text with. T_max in all."""
        before, after = self.around
        return [*before, *self._cut(as_document(document), self.T_max - len(before) - len(after)), *after] or self.empty

    def _cut(self, document, n):
        """The first n tokens; of two texts, of both, the longer one being cut first, as by `truncation=True`."""
        k, end = len(self.separator), 0
        if len(document) > n > k > 0 and self.separator[0] in document:
            end = document.index(self.separator[0])
        if [*document[end:end + k]] != self.separator:
            return document[:n]
        first, second, n = document[:end], document[end + k:], n - k
        least = min(len(first), len(second), n // 2)
        if len(first) > len(second):
            return [*first[:n - least], *self.separator, *second[:least]]
        return [*first[:least], *self.separator, *second[:n - least]]

    def own(self, document):
        """The rows of the document's own tokens: all but those that the tokenizer puts around it."""
        first, others = len(self.around[0]), sum(map(len, self.around))
        return list(range(first, first + min(len(document), self.T_max - others)))

    def ids(self, document):
        """Token ids (T,) of a document, on the CPU."""
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
            warnings.warn(f"{len(strange)} of {len(document)} tokens are unknown to the tokenizer and read as [UNK], "
                          f"such as {strange[0]!r}: its own pieces are tokenizer.tokenize(text)", stacklevel=2)
        return torch.tensor(ids)

    def _check_id(self, i):
        """ValueError unless the model has an embedding for this id."""
        D = self._words.num_embeddings
        if i >= D:
            token = self.tokenizer.convert_ids_to_tokens(i)
            raise ValueError(f"the tokenizer gives {token!r} the id {i}, but the model has {D} embeddings: they do not "
                             "belong together, or the token was added later")

    # -- the score ----------------------------------------------------------------------------------------------------

    def forward(self, lengths, **inputs):
        """Scores (n,) or (n, C) of padded inputs, whose first `lengths` (n,) places are the document."""
        if self.model.training:
            raise ValueError("the model is in training mode, where dropout makes its scores random: call eval() on it")
        if self.decodes:                                                # the first trap above
            states = self.model.base_model(**inputs).last_hidden_state  # (n, T, d_e)
            logits = self.model.score(states[torch.arange(len(states)), torch.as_tensor(lengths) - 1])
        else:
            logits = self.model(**inputs).logits                        # (n, C)
        return scores_of_labels(single(logits), self.gives)

    def score(self, documents):
        """Scores (n,) or (n, C) of documents as a tensor."""
        rows = [self.ids(document) for document in documents]
        lengths = torch.tensor([len(row) for row in rows])
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)         # (n, T)
        seen = torch.arange(ids.shape[1]) < lengths[:, None]
        inputs = dict(input_ids=ids, attention_mask=seen.long(), **self._places(ids == self.tokenizer.sep_token_id))
        return self(lengths, **{name: value.to(self._words.weight.device) for name, value in inputs.items()})

    def _places(self, separates):
        """What else the model reads, (n, T), of inputs whose separators are these (n, T): segments and positions."""
        more = {}
        if self.segments:
            more["token_type_ids"] = (separates.cumsum(1) - separates.long()).clamp(max=1)
        if self.first:
            more["position_ids"] = self.first + torch.arange(separates.shape[1], device=separates.device)[None]
        return more

    @property
    def labels(self):
        """The names of its classes, C strings, as `target` takes them; of one score the last is what it speaks for."""
        return [self.model.config.id2label[i] for i in range(self.model.num_labels)]

    @property
    def rounding(self):
        """What a score may be off by, relatively: four times the precision of the model's own pass."""
        return 4 * torch.finfo(self.model.dtype).eps

    @property
    def _words(self):
        """The layer of word embeddings (D, d_e)."""
        return self.model.get_input_embeddings()

    def predict(self, documents):
        """Log-odds (n,), or logits (n, C) of more than two labels, for a list of documents, as a NumPy array."""
        scores = predict_in_chunks(self, documents, self.chunk)
        return scores if len(scores) else np.zeros((0, *self.outputs), scores.dtype)

    # -- the white box ------------------------------------------------------------------------------------------------

    def embed(self, document):
        """Word embeddings (T, d_e) of the tokens, without positions."""
        return single(self._words(self.ids(document).to(self._words.weight.device)))

    def baseline(self, document, kind="unk"):
        """Embeddings (T, d_e) of a document as long that says nothing: each own token is [UNK] ("unk"), padding ("pad")
        or the zero vector ("zero"). Special tokens and separators stay, and so do positions."""
        if kind not in ("unk", "pad", "zero"):
            raise ValueError(f"baseline must be 'unk', 'pad' or 'zero', got {kind!r}")
        e, tokens, nothing = self.embed(document).clone(), self.tokens(document), 0.0
        if kind != "zero":
            token = getattr(self.tokenizer, f"{kind}_token_id")
            if token is None:
                raise ValueError(f"this tokenizer has no {kind} token: choose another baseline, such as 'zero'")
            self._check_id(token)
            nothing = single(self._words.weight[token])
        e[[row for row in self.own(document) if tokens[row] not in self.separator]] = nothing
        return e

    def from_embeddings(self, e, **options):
        """Score (…) or (…, C) of word embeddings e (…, T, d_e); differentiable. options: for the model's forward."""
        words = self._words.weight
        T, d_e = as_embeddings(e, self.T_max, words.shape[1]).shape[-2:]
        flat = e.reshape(-1, T, d_e).to(words)
        separates = torch.zeros(flat.shape[:2], dtype=torch.bool, device=flat.device)
        if self.separator:
            separates = (flat == words[self.tokenizer.sep_token_id]).all(-1)
        scores = self(T, inputs_embeds=flat, **self._places(separates), **options)
        return scores.reshape(e.shape[:-2] + self.outputs)

    def trace(self, e, change=None):
        """One pass over embeddings e (…, T, d_e) with each layer's attention weights (…, K, T, T) and values (…, K, T,
        d_e). change(l, A): the weights that layer l is to use in place of its own."""
        options = {"output_attentions": True} if self.family == "deberta-v2" else {}     # others do not wait for it
        with opened(self.model, e.shape[:-2], change) as (maps, values):
            return Trace(self.from_embeddings(e, **options), maps, values)

    def layers(self):
        """The L modules whose first output is the residual stream (…, T, d_e). TypeError for ALBERT, whose layers are
        one module: what is put into one is put into all."""
        if self.family == "albert":
            raise TypeError("the layers of an ALBERT share one module: they cannot be opened one by one")
        return layers_of(self.model)

    @property
    def queries_and_keys(self):
        """A function without arguments: the layers of queries and of keys, with the number of columns in which their
        output is that: all, or of GPT-2's one layer for queries, keys and values the first two thirds. AttributeError
        for families to which the rules of relevance do not apply, such as RoBERTa, ALBERT, DeBERTa, Llama."""
        if self.family not in QUERIES_AND_KEYS:
            raise AttributeError("queries_and_keys")
        return partial(queries_and_keys_of, self.model)

    def attentions(self, document):
        """Attention weights (L, K, T, T); every row sums to one. A decoder's tokens see only what came before."""
        return torch.stack(self.trace(self.embed(document)).attentions)

    def cls_attention(self, document):
        """The last layer's attention weights (K, T) in the row that the score is read from: [CLS], or the last one."""
        return self.attentions(document)[-1, :, self.readout]
