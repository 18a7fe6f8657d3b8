"""Small untrained models in place of the real ones that the lectures' online sections fetch: as many layers and heads,
the same formats, few and random numbers. Runs in the notebook's kernel: `install()` before the first cell.
"""

import json
import urllib.request
from pathlib import Path

import torch
import transformers

from coursekit.models import GPT2, HuggingFaceClassifier
from coursekit.text import BytePairTokenizer, WordPieceTokenizer
from coursekit.worlds import handwritten_reviews

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
real_gpt2 = GPT2.from_huggingface
texts = [review.text for review in handwritten_reviews()]
bpe = BytePairTokenizer.train(texts, 400)


def gpt2(name):
    """In place of `GPT2.from_huggingface`."""
    torch.manual_seed(0)
    config = transformers.GPT2Config(vocab_size=len(bpe.tokens), n_positions=256, n_embd=24, n_layer=12, n_head=12)
    return real_gpt2(transformers.GPT2LMHeadModel(config))


def classifier(name):
    """In place of `HuggingFaceClassifier.from_pretrained`."""
    torch.manual_seed(0)
    pieces = [*SPECIAL, *(piece for piece in WordPieceTokenizer.train(texts, 400).vocab if piece not in SPECIAL)]
    tokenizer = transformers.BertTokenizerFast(vocab={piece: i for i, piece in enumerate(pieces)}, model_max_length=128)
    config = transformers.BertConfig(vocab_size=len(pieces), hidden_size=24, intermediate_size=48, num_hidden_layers=12,
                                     num_attention_heads=12, max_position_embeddings=128)
    return HuggingFaceClassifier(transformers.BertForSequenceClassification(config), tokenizer)


def fetch(url, path):
    """In place of `urllib.request.urlretrieve`: the two files of GPT-2's byte pairs."""
    merges = "\n".join(["#version: 0.2", *map(" ".join, bpe.merges), ""])
    Path(path).write_text({"vocab.json": json.dumps(bpe.vocab), "merges.txt": merges}[url.rpartition("/")[2]],
                          encoding="utf-8")


def install():
    """Put the three stand-ins where the notebooks call the real ones."""
    GPT2.from_huggingface, HuggingFaceClassifier.from_pretrained = gpt2, classifier
    urllib.request.urlretrieve = fetch
