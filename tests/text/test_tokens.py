"""Character, word and word-piece tokenizers: vocabularies, round trips, special tokens, refusals."""

import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coursekit.text import CharTokenizer, WordPieceTokenizer, WordTokenizer
from coursekit.text.wordpiece import bert_words

TEXTS = ["The food was good, the service wasn't.", "Good food! Don't miss the good wine (2019)."]
TOKENIZERS = [CharTokenizer.train(TEXTS, 100), WordTokenizer.train(TEXTS, 100), WordPieceTokenizer.train(TEXTS, 100)]
CLASSES = [type(tokenizer) for tokenizer in TOKENIZERS]
every_tokenizer = pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=lambda t: type(t).__name__)
any_text = st.text(st.characters(), max_size=40)  # lone surrogates and control characters included


@pytest.mark.parametrize("tokenizer, specials", zip(TOKENIZERS, [
    {"pad_id": "[UNK]", "unk_id": "[UNK]"},
    {"pad_id": "[PAD]", "unk_id": "[UNK]", "cls_id": "[CLS]"},
    {"pad_id": "[PAD]", "unk_id": "[UNK]", "cls_id": "[CLS]", "sep_id": "[SEP]", "mask_id": "[MASK]"},
], strict=True))
def test_tokens_vocab_and_special_ids_fit(tokenizer, specials):
    assert tokenizer.vocab == {token: i for i, token in enumerate(tokenizer.tokens)}
    ids = {name: getattr(tokenizer, name) for name in dir(tokenizer) if name.endswith("_id")}
    assert specials == {name: tokenizer.tokens[i] for name, i in ids.items()}


@every_tokenizer
@settings(deadline=None)
@given(text=any_text)
def test_encode_is_tokenize_then_convert(tokenizer, text):
    ids = tokenizer.encode(text)
    assert ids == tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))
    assert all(0 <= i < len(tokenizer.tokens) for i in ids)


@every_tokenizer
@settings(deadline=None)
@given(text=any_text)
def test_what_decode_gives_is_encoded_the_same(tokenizer, text):
    """For any string, with the vocabulary of that string: encode(decode(encode(text))) == encode(text)."""
    assume(tokenizer.tokenize(text))
    tokenizer = type(tokenizer).train([text], vocab_size=200)
    ids = tokenizer.encode(text)
    assert tokenizer.unk_id not in ids
    assert tokenizer.encode(tokenizer.decode(ids)) == ids


@every_tokenizer
@settings(deadline=None)
@given(text=any_text)
def test_no_text_becomes_a_special_token(tokenizer, text):
    """"[CLS]" in a text is brackets and letters."""
    for name in {"[PAD]", "[CLS]", "[SEP]", "[MASK]"} & tokenizer.vocab.keys():
        assert tokenizer.vocab[name] not in tokenizer.encode(text + name)
        assert tokenizer.convert_tokens_to_ids([name]) == [tokenizer.vocab[name]]


@every_tokenizer
def test_empty_text(tokenizer):
    assert tokenizer.encode("") == tokenizer.tokenize("") == tokenizer.convert_tokens_to_ids([]) == []
    assert tokenizer.decode([]) == ""


# characters

@settings(deadline=None)
@given(st.text(string.ascii_uppercase))
def test_letters_are_numbered_from_one_and_come_back(text):
    tokenizer = CharTokenizer(string.ascii_uppercase)
    assert tokenizer.encode(text) == [ord(char) - ord("A") + 1 for char in text]
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_dataia():
    assert CharTokenizer(string.ascii_uppercase).encode("DATAIA") == [4, 1, 20, 1, 9, 1]


@settings(deadline=None)
@given(any_text)
def test_characters_of_the_training_text_come_back(text):
    assume(text)
    tokenizer = CharTokenizer.train([text], vocab_size=100)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_char_vocabulary_keeps_the_most_frequent():
    tokenizer = CharTokenizer.train(["zzz", "bbb", "aa", "cc"], vocab_size=4)
    assert tokenizer.tokens == ["[UNK]", "a", "b", "z"]
    assert tokenizer.encode("abcz") == [1, 2, 0, 3] and tokenizer.pad_id == tokenizer.unk_id == 0


# words

def test_words_and_marks():
    tokenize = TOKENIZERS[1].tokenize
    assert tokenize("Isn't it 'GREAT'?!") == ["isn't", "it", "'", "great", "'", "?", "!"]
    assert tokenize("my_name __init__ 3.5 \n café") == ["my", "name", "init", "3", ".", "5", "café"]
    assert tokenize("[UNK] [CLS]") == ["[", "unk", "]", "[", "cls", "]"]


def test_word_vocabulary_is_by_count_then_alphabet():
    tokenizer = WordTokenizer.train(["b a c b. c d", "d"], vocab_size=7)
    assert tokenizer.tokens == ["[PAD]", "[UNK]", "[CLS]", "b", "c", "d", "."]
    assert tokenizer.encode("A b!") == [1, 3, 1]


def test_words_from_a_list_keep_their_places():
    words = ["[PAD]", "[UNK]", "[CLS]", "the", ".", "film"]
    tokenizer = WordTokenizer(words)
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.cls_id) == (0, 1, 2)
    assert tokenizer.tokens == words and tokenizer.encode("The film.") == [3, 5, 4]
    assert tokenizer.convert_tokens_to_ids(["[CLS]", "the", "dog"]) == [2, 3, 1]


# word pieces

def test_unknown_place_makes_the_whole_word_unknown():
    tokenizer = WordPieceTokenizer([*WordPieceTokenizer.SPECIALS, "a", "##b", "##bc"])
    assert tokenizer.tokenize("abcb abx a") == ["a", "##bc", "##b", "[UNK]", "a"]
    assert tokenizer.tokenize("a" + 99 * "b") == ["a"] + 99 * ["##b"]
    assert tokenizer.tokenize("a" + 100 * "b") == ["[UNK]"]


def test_special_tokens_are_found_wherever_they_stand():
    tokenizer = WordPieceTokenizer(["a", "[MASK]", "[SEP]", "[CLS]", "[UNK]", "[PAD]"])
    ids = [tokenizer.pad_id, tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id]
    assert ids == [5, 4, 3, 2, 1]


@settings(deadline=None)
@given(st.text("abcdefgh ", max_size=30))
def test_words_over_known_characters_are_never_unknown(text):
    tokenizer = WordPieceTokenizer.train(["hag bed cafe"], vocab_size=25)
    assert tokenizer.unk_id not in tokenizer.encode(text)
    assert tokenizer.decode(tokenizer.encode(text)) == " ".join(text.split())


def test_more_pieces_make_shorter_encodings():
    lengths = [len(WordPieceTokenizer.train(TEXTS, size).encode(" ".join(TEXTS))) for size in [57, 65, 80, 200]]
    assert lengths == sorted(lengths, reverse=True) and lengths[0] > lengths[-1] == len(bert_words(" ".join(TEXTS)))


# refusals

@pytest.mark.parametrize("call, error, message", [
    *[(lambda cls=cls: cls.train([], 100), ValueError, "nothing to learn from") for cls in CLASSES],
    *[(lambda cls=cls: cls.train(["", ""], 100), ValueError, "nothing to learn from") for cls in CLASSES],
    *[(lambda cls=cls: cls.train([" \n"], 100), ValueError, "no word in the texts") for cls in CLASSES[1:]],
    *[(lambda cls=cls: cls.train("text", 100), TypeError, r"train\(\[text\]") for cls in CLASSES],
    *[(lambda cls=cls: cls.train(["text", 3], 100), TypeError, "got int 3") for cls in CLASSES],
    *[(lambda cls=cls: cls.train(TEXTS, 1), ValueError, "vocab_size must be at least") for cls in CLASSES],
    *[(lambda t=t: t.encode(["text"]), TypeError, "expected one text") for t in TOKENIZERS],
    *[(lambda t=t: t.decode([10_000]), ValueError, "no token has the id 10000") for t in TOKENIZERS],
    *[(lambda t=t: t.decode([-1]), ValueError, "no token has the id -1") for t in TOKENIZERS],
    *[(lambda t=t: t.decode("text"), TypeError, "list of token ids") for t in TOKENIZERS],
    *[(lambda t=t: t.convert_tokens_to_ids("text"), TypeError, "list of tokens") for t in TOKENIZERS],
    (lambda: CharTokenizer("abca"), ValueError, "'a' is in the vocabulary twice"),
    (lambda: CharTokenizer(["a", "bc"]), ValueError, "single characters"),
    (lambda: WordTokenizer(["the", "film"]), ValueError, "first three words"),
    (lambda: WordTokenizer("the film"), TypeError, "list of tokens"),
    (lambda: WordTokenizer(["[PAD]", "[UNK]", "[CLS]", "a", "a"]), ValueError, "twice"),
    (lambda: WordPieceTokenizer(["[UNK]", "[PAD]", "a"]), ValueError, r"lacks .*\[CLS\], \[SEP\], \[MASK\]"),
])
def test_refusals_are_one_line(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_tokenizers_show_their_sizes():
    texts = ["low login lows"]
    assert [repr(kind.train(texts, size)) for kind, size in ((CharTokenizer, 4), (WordTokenizer, 5))] == [
        "CharTokenizer(4 tokens)", "WordTokenizer(5 tokens)"]
    pieces = WordPieceTokenizer.train(texts, 25)
    assert repr(pieces) == f"WordPieceTokenizer({len(pieces.tokens)} tokens)"
