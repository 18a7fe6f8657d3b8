"""Small BERTs, DistilBERTs and GPT-2s, trained from scratch on synthetic documents of single words.

What the paper trains has 31 to 124 million parameters (Table 5); these have the same architecture and fifty thousand a
layer, so that three seeds of each take minutes. A trained model is kept in build/experiments (or the folder that
COURSEKIT_BUILD names) for the experiments that ask for the same.
"""

import itertools
import json
import os
import time
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from coursekit.explain import Slalom, random_sequences
from coursekit.models import HuggingFaceClassifier, minibatches, train
from coursekit.worlds import LINEAR_WORDS, linear_documents, slalom_documents, slalom_words

FAMILIES = "bert", "distilbert", "gpt2"
LENGTHS = 1, 2, 5, 10, 15, 30
SPECIAL = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"


def untrained(family, words, layers, seed=0, d_e=64, heads=4, longest=62):
    """A HuggingFaceClassifier with random weights whose tokens are words; reads `longest` of them.

    family: "bert", "distilbert" or "gpt2". No dropout, so that it says the same in training and in evaluation mode.

    >>> untrained("gpt2", ["good", "film"], layers=1, d_e=8, heads=2).predict([["good", "film"]]).shape
    (1,)
    """
    import transformers

    vocab = {token: i for i, token in enumerate([*SPECIAL, *words])}
    tokenizer = transformers.BertTokenizerFast(vocab=vocab, bos_token="[CLS]", model_max_length=longest + 2)
    common = dict(vocab_size=len(vocab), hidden_size=d_e, num_attention_heads=heads, num_hidden_layers=layers,
                  max_position_embeddings=longest + 2, pad_token_id=0)
    own = {"bert": dict(intermediate_size=4 * d_e, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0),
           "distilbert": dict(hidden_dim=4 * d_e, dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0),
           "gpt2": dict(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=2, eos_token_id=2)}[family]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = transformers.AutoConfig.for_model(family, **common, **own)
        model = transformers.AutoModelForSequenceClassification.from_config(config)
    return HuggingFaceClassifier(model, tokenizer, check=False)          # whose [SEP] a GPT-2 does not read here


def trained(name, family, words, layers, seed, data, n, epochs, batch=64, lr=1e-3, **sizes):
    """(model, CPU seconds that its training took): a classifier trained on labels, or the same from the cache.

    data(n, seed) -> (documents, log-odds, labels) draws what it is trained on, `name` tells one such function from
    others. Raises what `train` raises.
    """
    model = untrained(family, words, layers, seed, **sizes)
    about = dict(data=name, words=list(words), layers=layers, n=n, epochs=epochs, batch=batch, lr=lr, **sizes)
    about = json.dumps(about, sort_keys=True)
    folder = Path(os.environ.get("COURSEKIT_BUILD", "build")) / "experiments"
    path = folder / f"{name}-{family}-{layers}-{seed}.safetensors"
    if path.exists():
        with safe_open(path, "pt") as file:
            kept = file.metadata()
            if kept["about"] == about:
                model.load_state_dict({key: file.get_tensor(key) for key in file.keys()})
                return model, float(kept["seconds"])
    documents, _, labels = data(n, seed)
    y, started = torch.tensor(labels).float(), time.process_time()

    def loss(model, rows):
        score = model.eval().score([documents[i] for i in rows])        # no dropout: evaluation mode is the same
        return nn.functional.binary_cross_entropy_with_logits(score, y[rows])

    train(model, loss, lambda generator: minibatches(n, batch, generator), epochs, lr, seed=seed, progress=False)
    seconds = time.process_time() - started
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".tmp")
    save_file({key: value.contiguous() for key, value in model.state_dict().items()}, part,
              {"about": about, "seconds": f"{seconds:.1f}"})
    os.replace(part, path)
    return model.eval(), seconds


def network(features, documents, labels, widths, epochs, seed):
    """predict(documents) -> (n,) log-odds: ReLUs of these widths on features(documents) (n, d), trained on labels."""
    X, y = features(documents), torch.tensor(labels).float()
    sizes = [X.shape[1], *widths]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        hidden = [layer for pair in itertools.pairwise(sizes) for layer in (nn.Linear(*pair), nn.ReLU())]
        model = nn.Sequential(*hidden, nn.Linear(sizes[-1], 1))
    train(model, lambda model, rows: nn.functional.binary_cross_entropy_with_logits(model(X[rows])[:, 0], y[rows]),
          lambda generator: minibatches(len(X), 64, generator), epochs, 1e-3, seed=seed, progress=False)
    return lambda documents: model(features(documents))[:, 0].detach().double().numpy()


def on_linear(family, layers, seed, n, epochs):
    """`trained` on the linear documents of appendix E.1: (model, CPU seconds)."""
    return trained("linear", family, list(LINEAR_WORDS), layers, seed, linear_documents, n, epochs)


def on_slalom(family, layers, seed, n, epochs, n_words, longest):
    """`trained` on a SLALOM's documents (appendix E.2), words by the seed: (model, CPU seconds, the Slalom)."""
    words = slalom_words(n_words, seed)
    truth = Slalom(list(words), *np.transpose(list(words.values())))

    def data(n, seed):
        return slalom_documents(n, seed, words, longest)

    return *trained(f"slalom-{n_words}-{longest}-{n}", family, list(words), layers, seed, data, n, epochs), truth


def held_out(words, n, usual, seed):
    """{"usual": the documents given, length: n random sequences of it, …}: what a fit is judged on."""
    return {"usual": usual} | {length: random_sequences(words, n, length, 10_000 + seed) for length in LENGTHS}
