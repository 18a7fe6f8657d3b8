"""Our tokenizers beside Hugging Face's `tokenizers` and OpenAI's `tiktoken`: same merges, same ids, same encodings."""

import json
import random
import unicodedata
from functools import cache

import pytest
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers, trainers

from coursekit.text import BytePairTokenizer, WordPieceTokenizer, stdlib_english
from coursekit.text.bpe import BYTE_OF, EOS, WORD
from coursekit.text.wordpiece import bert_words

# The three libraries carry tables of different Unicode versions, so the texts are of characters that were there in
# Unicode 3.2 and are still of the same kind. Lone surrogates are left out: the other two take only what UTF-8 can say.
OLD = unicodedata.ucd_3_2_0
settled_text = st.deferred(
    lambda: st.text(st.sampled_from(settled()) | st.sampled_from(" \n\t'aetns.,!-1"), max_size=40))


@cache
def settled():
    """These characters."""
    return [char for char in map(chr, range(0x110000))
            if "Cn" != OLD.category(char) == unicodedata.category(char) != "Cs"]


def peer_bpe(texts, n_merges):
    """A byte-level BPE of `tokenizers`, trained; its merges and its vocabulary."""
    peer = tokenizers.Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=256 + n_merges, initial_alphabet=alphabet, show_progress=False)
    peer.train_from_iterator(texts, trainer)
    merges = [tuple(pair) for pair in json.loads(peer.to_str())["model"]["merges"]]
    return peer, merges, peer.get_vocab()


def peer_tiktoken(tokenizer):
    """tiktoken with the tokenizer's tokens as its ranks."""
    ranks = {bytes(BYTE_OF[char] for char in token): i for token, i in tokenizer.vocab.items() if token != EOS}
    special = {EOS: tokenizer.eos_id}
    return tiktoken.Encoding("ours", pat_str=WORD.pattern, mergeable_ranks=ranks, special_tokens=special)


def without_eos(tokenizer):
    return {token: i for token, i in tokenizer.vocab.items() if token != EOS}


english = cache(stdlib_english)


@cache
def byte_pairs():
    """(ours, that of `tokenizers`, that of tiktoken), trained on every other text."""
    ours = BytePairTokenizer.train(english()[::2], vocab_size=4257)
    return ours, peer_bpe(english()[::2], 4000)[0], peer_tiktoken(ours)


@pytest.mark.parametrize("n_merges", [1000, 4000])
def test_bpe_merges_and_ids_on_english(n_merges):
    ours = BytePairTokenizer.train(english(), vocab_size=257 + n_merges)
    _, merges, vocab = peer_bpe(english(), n_merges)
    assert ours.merges == merges and len(merges) == n_merges
    assert without_eos(ours) == vocab


def test_bpe_merges_and_ids_on_hundreds_of_random_corpora():
    rng = random.Random(0)
    for _ in range(400):
        letters = rng.choice(["a", "ab", "ab ", "abc '", "aé", "ab\n 1", "東京 a", "s't "])
        texts = ["".join(rng.choices(letters, k=rng.randint(1, 40))) for _ in range(rng.randint(1, 12))]
        n_merges = rng.choice([1, 5, 50, 1000])
        ours, (_, merges, vocab) = BytePairTokenizer.train(texts, 257 + n_merges), peer_bpe(texts, n_merges)
        assert ours.merges == merges and without_eos(ours) == vocab, (texts, n_merges)


@settings(deadline=None)
@given(st.lists(settled_text.filter(bool), min_size=1, max_size=5))
def test_bpe_training_on_any_text(texts):
    assert BytePairTokenizer.train(texts, 257 + 60).merges == peer_bpe(texts, 60)[1]


def test_bpe_encodings_of_english_not_seen_in_training():
    ours, peer, openai = byte_pairs()
    for text in english()[1::2]:
        assert ours.encode(text) == openai.encode_ordinary(text) == peer.encode(text).ids


@settings(deadline=None)
@given(settled_text)
def test_bpe_encodings_of_any_text(text):
    ours, peer, openai = byte_pairs()
    assert ours.encode(text) == openai.encode_ordinary(text) == peer.encode(text).ids


@settings(deadline=None)
@given(settled_text)
def test_end_of_text_in_a_text_is_text(text):
    ours, _, openai = byte_pairs()
    assert ours.encode(text + EOS) == openai.encode(text + EOS, disallowed_special=())


# word pieces

def peer_wordpiece(tokenizer):
    """Uncased BERT's pipeline in `tokenizers`, with our vocabulary."""
    model = models.WordPiece(vocab=tokenizer.vocab, unk_token="[UNK]", max_input_chars_per_word=100)
    peer = tokenizers.Tokenizer(model)
    peer.normalizer, peer.pre_tokenizer = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    return peer


@cache
def pieces():
    """(ours, that of `tokenizers`), trained on every other text."""
    ours = WordPieceTokenizer.train(english()[::2], vocab_size=2000)
    return ours, peer_wordpiece(ours)


def peer_words(text):
    """BERT's words of a text."""
    peer = pieces()[1]
    return [word for word, _ in peer.pre_tokenizer.pre_tokenize_str(peer.normalizer.normalize_str(text))]


@settings(deadline=None)
@given(settled_text)
def test_bert_words_of_any_text(text):
    assert bert_words(text) == peer_words(text)


def test_bert_words_of_every_settled_character():
    """Each character between two letters, many to a call (their words stay apart)."""
    for start in range(0, len(settled()), 1000):
        text = " ".join(f"a{char}b" for char in settled()[start:start + 1000])
        assert bert_words(text) == peer_words(text)


def test_wordpiece_encodings_of_english_not_seen_in_training():
    ours, peer = pieces()
    for text in english()[1::2]:
        assert ours.encode(text) == peer.encode(text).ids


@settings(deadline=None)
@given(settled_text, st.text("abcdehinorst", max_size=120))
def test_wordpiece_encodings_of_any_text(text, word):
    ours, peer = pieces()
    assert ours.encode(text + word) == peer.encode(text + word).ids


def test_wordpiece_is_trained_as_by_the_peer():
    """On corpora without ties (`tokenizers` numbers continuations in no fixed order) the joined pieces are the same."""
    trainer = trainers.WordPieceTrainer(vocab_size=60, show_progress=False, special_tokens=WordPieceTokenizer.SPECIALS)
    peer = peer_wordpiece(pieces()[0])
    counts = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    words = [" ".join([word] * times) for word, times in counts.items()]
    peer.train_from_iterator(words, trainer)
    ours = WordPieceTokenizer.train(words, vocab_size=19 + 3)
    joined = [token for token in ours.tokens[5:] if len(token.removeprefix("##")) > 1]
    peers = sorted((i, token) for token, i in peer.get_vocab().items() if i >= 5 and len(token.removeprefix("##")) > 1)
    assert joined == [token for _, token in peers][:len(joined)] and len(joined) == 3
