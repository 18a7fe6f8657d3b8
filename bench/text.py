"""Byte-pair training and encoding: beside a plain pair-count loop, `tokenizers`, and `tiktoken`.

The text is the running Python's docstrings, about half a megabyte. All run on one thread
(TOKENIZERS_PARALLELISM=false). For encoding, one half of the texts is trained on and the other encoded, one text a
call. "Warm" means that each tokenizer has met these texts before: ours and `tokenizers` remember the pieces of words.
"""

import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # read when tokenizers is first used

import json
from collections import Counter
from functools import partial
from itertools import pairwise

import tiktoken
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bench import best_of, compare, in_turns, table
from coursekit.text import BytePairTokenizer, stdlib_english
from coursekit.text.bpe import BYTE_OF, CHAR_OF, EOS, WORD, merge


def plain_training(texts, n_merges):
    """The textbook loop: count all pairs of neighbours, join the most frequent everywhere, and count again."""
    words = Counter(word for text in texts for word in WORD.findall(text))
    words = [([CHAR_OF[byte] for byte in word.encode()], times) for word, times in words.items()]
    age = {char: i for i, char in enumerate(sorted(BYTE_OF))}
    merges = []
    for _ in range(n_merges):
        counts = Counter()
        for word, times in words:
            for pair in pairwise(word):
                counts[pair] += times
        pair = min(counts, key=lambda pair: (-counts[pair], age[pair[0]], age[pair[1]]))
        merges.append(pair)
        age[pair[0] + pair[1]] = len(age)
        words = [(merge(word, pair) if pair[0] in word else word, times) for word, times in words]
    return merges


def peer_training(texts, n_merges):
    """The same training by `tokenizers`."""
    peer = Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    peer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=256 + n_merges, initial_alphabet=alphabet, show_progress=False))
    return peer


def peer_merges(peer):
    return [tuple(pair) for pair in json.loads(peer.to_str())["model"]["merges"]]


def training_rows(texts, plain_merges=300):
    """Our trainer against `tokenizers`, and against the plain loop with fewer merges, since that takes so long."""
    for n_merges in (1000, 4000):
        def ours():
            return BytePairTokenizer.train(texts, 257 + n_merges)

        def theirs():
            return peer_training(texts, n_merges)

        agreed = agreement(ours().merges, peer_merges(theirs()))
        yield compare(f"train, {n_merges} merges", "tokenizers", *in_turns([ours, theirs], 15), agreed, 1)
    plain = []
    plain_s = best_of(lambda: plain.extend(plain_training(texts, plain_merges)), 1)
    ours_s = best_of(lambda: BytePairTokenizer.train(texts, 257 + plain_merges), 7)
    merges = BytePairTokenizer.train(texts, 257 + plain_merges).merges
    yield compare(f"train, {plain_merges} merges", "plain loop", ours_s, plain_s, agreement(merges, plain), 50)


def encoding_rows(seen, unseen):
    """Our encoder with 4000 merges learned on `seen`, on texts `unseen` in training, one text a call."""
    ours = BytePairTokenizer.train(seen, 4257)
    ranks = {bytes(BYTE_OF[char] for char in token): i for token, i in ours.vocab.items() if token != EOS}
    tik = tiktoken.Encoding("ours", pat_str=WORD.pattern, mergeable_ranks=ranks, special_tokens={EOS: ours.eos_id})
    peer = peer_training(seen, 4000)
    encoders = {"ours": ours.encode, "tokenizers": lambda text: peer.encode(text).ids, "tiktoken": tik.encode_ordinary}

    def ids(name):
        return [encoders[name](text) for text in unseen]

    first_s = {name: best_of(lambda: ids(name), 1) for name in encoders}
    warm_s = dict(zip(encoders, in_turns([partial(ids, name) for name in encoders], 9), strict=True))
    for name, target in [("tokenizers", 1), ("tiktoken", None)]:
        yield compare("encode, warm", name, warm_s["ours"], warm_s[name], agreement(ids("ours"), ids(name)), target)
    for name in ["tokenizers", "tiktoken"]:
        yield compare("encode, first time", name, first_s["ours"], first_s[name], agreement(ids("ours"), ids(name)))


def agreement(ours, theirs):
    """How many of two lists' items are the same, in words; what the longer list has more is not."""
    return f"{sum(a == b for a, b in zip(ours, theirs, strict=False))} of {max(len(ours), len(theirs))} the same"


def main():
    """One table for training, on all texts, and encoding, on the half that was not trained on."""
    texts = stdlib_english()
    print(f"{len(texts)} docstrings, {sum(map(len, texts)) / 1000:.0f} thousand characters, one thread")
    table([*training_rows(texts), *encoding_rows(texts[::2], texts[1::2])])


if __name__ == "__main__":
    main()
