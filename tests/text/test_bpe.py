"""BytePairTokenizer: the fast trainer against merging by hand, round trips of any string, GPT-2's files, refusals."""

import json
import random
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.text import BytePairTokenizer, merge_steps
from coursekit.text.bpe import BYTE_OF, CHARS, EOS

TEXTS = ["low lower lowest, login logins logged", "the theory thence; that's they'll",
         "naïve Straße 東京 👩‍🚀 \n\t x"]
TRAINED = BytePairTokenizer.train(TEXTS, vocab_size=300)
any_text = st.text(st.characters(), max_size=40)  # lone surrogates and control characters included


def by_hand(words, n):
    return [pair for _, _, pair in islice(merge_steps(words), n)]


def test_low_login_by_hand():
    steps = list(islice(merge_steps(["low", "login"]), 2))
    words, counts, pair = steps[0]
    assert words == [["l", "o", "w"], ["l", "o", "g", "i", "n"]]
    assert counts == {("l", "o"): 2, ("o", "w"): 1, ("o", "g"): 1, ("g", "i"): 1, ("i", "n"): 1}
    assert pair == ("l", "o")
    assert steps[1][0] == [["lo", "w"], ["lo", "g", "i", "n"]]
    assert [pair for _, _, pair in merge_steps(["low", "login"])] == [
        ("l", "o"), ("g", "i"), ("lo", "w"), ("lo", "gi"), ("logi", "n")]


@settings(deadline=None)
@given(st.lists(st.text("ab", min_size=1, max_size=9), min_size=1, max_size=8), st.integers(1, 20))
def test_fast_trainer_merges_as_by_hand(words, n):
    """Two letters make many ties, and overlaps such as aaa."""
    assert BytePairTokenizer.train(words, vocab_size=257 + n).merges == by_hand(words, n)


def test_merges_on_many_random_corpora_are_those_by_hand_and_never_make_a_token_twice():
    rng = random.Random(0)
    for _ in range(200):
        letters = "abcdef"[:rng.randint(1, 6)]
        words = ["".join(rng.choices(letters, k=rng.randint(1, 12))) for _ in range(rng.randint(1, 30))]
        merges = BytePairTokenizer.train(words, vocab_size=257 + 40).merges
        assert merges == by_hand(words, 40)
        assert len({a + b for a, b in merges}) == len(merges)


def test_vocabulary_is_bytes_merges_end_of_text():
    assert TRAINED.tokens[:256] == CHARS == sorted(CHARS)
    assert TRAINED.tokens[256:-1] == [a + b for a, b in TRAINED.merges]
    assert TRAINED.tokens[-1] == EOS and TRAINED.eos_id == TRAINED.pad_id == len(TRAINED.vocab) - 1 == 299
    assert [TRAINED.vocab[token] for token in TRAINED.tokens] == list(range(300))


def test_training_stops_when_no_pair_is_left():
    assert BytePairTokenizer.train(["abc"], vocab_size=10_000).merges == [("a", "b"), ("ab", "c")]
    assert BytePairTokenizer.train(["a"], vocab_size=10_000).merges == []


@settings(deadline=None)
@given(any_text)
def test_every_string_comes_back(text):
    assert TRAINED.decode(TRAINED.encode(text)) == text


@settings(deadline=None)
@given(any_text)
def test_tokens_and_ids_tell_the_same(text):
    tokens = TRAINED.tokenize(text)
    assert TRAINED.convert_tokens_to_ids(tokens) == TRAINED.encode(text)
    assert bytes(BYTE_OF[char] for token in tokens for char in token) == text.encode("utf-8", "surrogatepass")


@settings(deadline=None)
@given(st.lists(st.integers(0, 299), max_size=20))
def test_every_list_of_ids_has_a_text(ids):
    assert isinstance(TRAINED.decode(ids), str)


def test_half_a_character_is_shown_as_replacement():
    ids = TRAINED.encode("é")
    assert len(ids) == 2 and TRAINED.decode(ids[:1]) == "\ufffd"


@settings(deadline=None)
@given(any_text, any_text)
def test_no_text_becomes_the_special_token(before, after):
    assert TRAINED.eos_id not in TRAINED.encode(before + EOS + after)
    assert TRAINED.decode([TRAINED.eos_id]) == EOS


def test_ids_may_be_numpy_or_torch_integers():
    import numpy as np
    import torch

    ids = TRAINED.encode("the lowest")
    assert TRAINED.decode(np.array(ids)) == TRAINED.decode(torch.tensor(ids)) == "the lowest"


def gpt2_files(folder, tokenizer):
    """Write a vocabulary in the two files of GPT-2's format."""
    encoder_json, vocab_bpe = folder / "encoder.json", folder / "vocab.bpe"
    encoder_json.write_text(json.dumps(tokenizer.vocab), encoding="utf-8")
    lines = ["#version: 0.2", *map(" ".join, tokenizer.merges), ""]
    vocab_bpe.write_text("\n".join(lines), encoding="utf-8")
    return encoder_json, vocab_bpe


def test_gpt2_files_give_the_same_tokenizer(tmp_path):
    read = BytePairTokenizer.from_gpt2(*gpt2_files(tmp_path, TRAINED))
    assert (read.merges, read.vocab, read.eos_id) == (TRAINED.merges, TRAINED.vocab, TRAINED.eos_id)
    assert all(read.encode(text) == TRAINED.encode(text) for text in TEXTS)


def test_gpt2_files_may_number_the_tokens_otherwise(tmp_path):
    shuffled = random.Random(0).sample(TRAINED.tokens, 300)
    files = gpt2_files(tmp_path, BytePairTokenizer(TRAINED.merges, shuffled))
    read = BytePairTokenizer.from_gpt2(*files)
    assert read.vocab == {token: i for i, token in enumerate(shuffled)}
    for text in TEXTS:
        assert read.tokenize(text) == TRAINED.tokenize(text) and read.decode(read.encode(text)) == text


@pytest.mark.parametrize("vocab, lines, message", [
    ("not json", "", "is not a vocabulary"),
    ("[1, 2]", "", "is not a vocabulary"),
    ('{"a": 0, "b": 2}', "", "not 0 to 1"),
    ('{"a": 0, "b": 1}', "", "missing from the vocabulary"),
    ('{"a": 0, "b": 1}', "#version: 0.2\na b c\n", "has the line 'a b c'"),
])
def test_broken_gpt2_files_get_one_line(tmp_path, vocab, lines, message):
    (tmp_path / "encoder.json").write_text(vocab)
    (tmp_path / "vocab.bpe").write_text(lines)
    with pytest.raises(ValueError, match=message) as error:
        BytePairTokenizer.from_gpt2(tmp_path / "encoder.json", tmp_path / "vocab.bpe")
    assert "\n" not in str(error.value)


def test_an_empty_file_of_merges_is_no_gpt2(tmp_path):
    """All words would be cut into bytes."""
    vocab, merges = gpt2_files(tmp_path, TRAINED)
    merges.write_text("#version: 0.2\n")
    with pytest.raises(ValueError, match=f"vocab.bpe has no merges, and .* has {len(TRAINED.tokens)} tokens"):
        BytePairTokenizer.from_gpt2(vocab, merges)
    bytes_alone = BytePairTokenizer([])
    assert BytePairTokenizer.from_gpt2(*gpt2_files(tmp_path, bytes_alone)).tokens == bytes_alone.tokens
    assert repr(TRAINED) == f"BytePairTokenizer({len(TRAINED.tokens)} tokens, {len(TRAINED.merges)} merges)"


@pytest.mark.parametrize("call, error, message", [
    (lambda: BytePairTokenizer.train(TEXTS, 256), ValueError, "at least 257"),
    (lambda: BytePairTokenizer.train([], 300), ValueError, "nothing to learn from"),
    (lambda: BytePairTokenizer.train([""], 300), ValueError, "nothing to learn from"),
    (lambda: BytePairTokenizer.train("one text", 300), TypeError, r"train\(\[text\]"),
    (lambda: BytePairTokenizer.train([b"bytes"], 300), TypeError, "got bytes"),
    (lambda: BytePairTokenizer.train(7, 300), TypeError, "got int"),
    (lambda: TRAINED.encode(["a"]), TypeError, "expected one text"),
    (lambda: TRAINED.encode(None), TypeError, "expected one text"),
    (lambda: TRAINED.decode([300]), ValueError, "0 to 299"),
    (lambda: TRAINED.decode([-1]), ValueError, "no token has the id -1"),
    (lambda: TRAINED.decode("ab"), TypeError, "list of token ids"),
    (lambda: TRAINED.decode(3), TypeError, "list of token ids"),
    (lambda: TRAINED.convert_tokens_to_ids(["東京"]), ValueError, "no token"),
    (lambda: TRAINED.convert_tokens_to_ids("low"), TypeError, "list of tokens"),
    (lambda: BytePairTokenizer([("a", "b"), ("a", "b")]), ValueError, "twice"),
    (lambda: BytePairTokenizer([("a", "bc"), ("a", "bd")]), ValueError, "^2 tokens are missing .* the first is 'bc':"),
    (lambda: BytePairTokenizer([], [*CHARS, EOS, "a b"]), ValueError, "stands for no byte"),
])
def test_refusals_are_one_line(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
