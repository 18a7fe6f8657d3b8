"""Generated dialogues: grammatical, their tones hidden, persistent and recognised, their probabilities exact."""

import math
import re
from collections import Counter
from functools import cache
from itertools import pairwise, product

import pytest

from coursekit.text import WordTokenizer
from coursekit.worlds.generated.dialogues import (
    KEEP,
    TONES,
    _agree,
    _sentences,
    _table,
    dialogues,
    fits,
    is_grammatical,
    log_probability,
    split_sentences,
    tone_of,
)
from coursekit.worlds.generated.grammars import grammar

CONTEXTS = list(product(_table("topics"), _table("owners")))


@cache
def many():
    return dialogues(3000, seed=5)


@cache
def every():
    """All sentences of each kind."""
    return {kind: set().union(*(_sentences(kind, *context) for context in CONTEXTS)) for kind in ("request", *TONES)}


def test_every_sentence_that_the_grammar_can_write_has_its_tone_and_no_other():
    for tone in TONES:
        assert all(tone_of(sentence) == tone and is_grammatical(sentence) for sentence in every()[tone])
    assert all(tone_of(request) is None and is_grammatical(request) for request in every()["request"])


def test_other_sentences_are_refused():
    for wrong in ("The rhymes is lovely and lovely.", "Your poem are dull and weak.", "What a elegant poem.", "", ".",
                  "Your essay needs a stronger sauce.", "C'est un image claire.", "C'est une poème clair.",
                  "La histoire commence bien, mais la fin est claire.", "Your poem is lovely and weak.",
                  "Your poem is lovely and lovely.", "You is truly a star.", "She must hide his poem tonight.",
                  "Your poem has two rhymes", "Il faut garder cet histoire."):
        assert tone_of(wrong) is None and not is_grammatical(wrong), wrong


def test_case_and_blanks_do_not_count():
    tokenizer = WordTokenizer.train([dialogue.text for dialogue in many()], 256)
    for dialogue in many()[:300]:
        again = split_sentences(tokenizer.decode(tokenizer.encode(dialogue.text)))
        assert is_grammatical(again[0]) and [tone_of(sentence) for sentence in again[1:]] == list(dialogue.tones)


def test_a_dialogue_says_what_it_is():
    for dialogue in many():
        assert split_sentences(dialogue.text) == [dialogue.request, *dialogue.answer]
        assert dialogue.request.endswith("?") and 3 <= len(dialogue.answer) == len(dialogue.tones) <= 6
        assert f"{dialogue.owner} {dialogue.topic}" in dialogue.request
        assert all(fits(dialogue.request, sentence) for sentence in dialogue.answer)
        assert dialogue.tones.count(dialogue.tone) == max(Counter(dialogue.tones).values())


def test_every_sentence_keeps_the_thing_and_the_owner():
    assert fits("Is my plan ready?", "You must burn your plan alone.")
    assert fits("Is my plan ready?", "C'est un plan clair.")
    assert not fits("Is my plan ready?", "You must burn your song alone.")
    assert not fits("Is my brother's plan ready?", "You must burn your plan alone.")
    assert not fits("Is my plan ready?", "Is my plan ready?")
    assert not fits("You are truly a star.", "You are truly a star.")


def test_topics_owners_and_lengths_are_even_and_the_request_does_not_tell_the_tone():
    n = len(many())
    for seen, share in ((Counter(d.topic for d in many()), 1 / 8), (Counter(d.owner for d in many()), 1 / 4),
                        (Counter(len(d.answer) for d in many()), 1 / 4)):
        assert len(seen) == round(1 / share)
        assert all(abs(count / n - share) < 4 * math.sqrt(share / n) for count in seen.values()), seen
    first = Counter((d.request.split()[0], d.tones[0]) for d in many())
    words = Counter(d.request.split()[0] for d in many())
    for (word, tone), count in first.items():
        expected = words[word] * TONES[tone]
        assert abs(count - expected) < 5 * math.sqrt(expected), (word, tone, count, expected)


def test_tones_have_their_shares_and_persist():
    tones = Counter(tone for d in many() for tone in d.tones)
    assert all(abs(tones[tone] / tones.total() - share) < 0.02 for tone, share in TONES.items()), tones
    for tone, share in TONES.items():
        after = [next_ == tone for d in many() for before, next_ in pairwise(d.tones) if before == tone]
        assert abs(sum(after) / len(after) - (KEEP + (1 - KEEP) * share)) < 0.04, tone


def test_probabilities():
    for kind, (topic, owner) in product(("request", *TONES), CONTEXTS[:9]):
        assert sum(_sentences(kind, topic, owner).values()) == pytest.approx(1)
    d = next(d for d in many() if d.tones == ("praise", "praise", "french"))
    by_hand = math.log(1 / 8 / 4 / 4 * 0.2 * (0.7 + 0.3 * 0.2) * 0.3 * 0.15)
    by_hand += sum(math.log(_sentences(kind, d.topic, d.owner)[sentence])
                   for kind, sentence in zip(("request", *d.tones), (d.request, *d.answer), strict=True))
    assert log_probability(d) == pytest.approx(by_hand)
    assert _sentences("praise", "poem", "my")["What a lovely poem."] == pytest.approx(1 / 9 / 8)


def test_drawn_sentences_have_the_probabilities_that_are_claimed():
    drawn = Counter(s for d in many() for s, tone in zip(d.answer, d.tones, strict=True)
                    if tone == "praise" and d.owner == "my")
    expected = drawn.total() / 9  # one of nine templates, the same for all topics
    assert abs(drawn["You are truly a star."] + drawn["You are truly a genius."] + drawn["You are truly a master."]
               - expected) < 4 * math.sqrt(expected)


def test_256_tokens_are_enough_and_no_sentence_dominates():
    tokens = {token for d in many() for token in re.findall(WordTokenizer.PATTERN, d.text.lower())}
    assert 240 <= len(tokens) <= 256 - len(WordTokenizer.SPECIALS)
    sentences = Counter(sentence for d in many() for sentence in d.answer)
    assert len(sentences) > 6000 and max(sentences.values()) < 0.01 * sentences.total()
    assert len({d.text for d in many()}) == len(many())


def test_english_agrees():
    plurals = {word for row in _table("topics").values() for word in row["parts"]}
    singulars = {word for row in _table("topics").values() for word in row["part"] + row["poem"]} | {"author"}
    for sentence in set().union(*every().values()) - every()["french"]:
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", sentence), sentence
        for noun, verb in re.findall(r"^(?:The|Your|His|Her|This) (\w+) (is|are|has|needs|comes)\b", sentence):
            assert noun in (plurals if verb == "are" else singulars), sentence
        assert all(word in plurals for word in re.findall(r"\b(?:two|three|four|five|six|seven) (\w+)", sentence))


MASCULINE, FEMININE = {"poème", "programme", "essai", "plan", "début", "style"}, {"histoire", "recette", "chanson",
                                                                                   "image", "fin", "idée"}
VOWEL = {"histoire", "essai", "image", "idée"}


def test_french_agrees_and_elides():
    nouns = "|".join(MASCULINE | FEMININE)
    pairs = dict(option.split("/") for option in grammar("dialogue")["clair"] if "/" in option)
    for sentence in every()["french"]:
        assert "/" not in sentence and "_" not in sentence and sentence[-1] == "."
        text = sentence.lower()
        found = re.findall(rf"\b(le|la|un|une|son|sa|ce|cet|cette|votre) ({nouns})\b|\bl'({nouns})\b", text)
        for article, noun, elided in found:
            assert elided in VOWEL | {""}
            if elided or article == "votre":
                continue
            assert noun not in VOWEL or article in ("un", "une", "son", "cet", "cette"), sentence
            assert noun in (MASCULINE if article in ("le", "un", "ce", "cet") else
                            FEMININE if article in ("la", "une", "sa", "cette") else
                            MASCULINE | VOWEL), sentence
            assert article != "cet" or noun in VOWEL, sentence
        assert len(found) == len(re.findall(nouns, text)), sentence  # no noun without its article
        noun = None
        for word in re.findall(r"[^\W_]+", text):
            noun = word if word in MASCULINE | FEMININE else noun
            assert word not in pairs or noun in MASCULINE, sentence
            assert word not in pairs.values() or noun in FEMININE, sentence


def test_agreement_by_example():
    assert _agree("son/sa histoire_f est clair/claire") == "Son histoire est claire"
    assert _agree("ce/cette essai_m, ce/cette plan_m et ce/cette image_f") == "Cet essai, ce plan et cette image"
    assert _agree("le/la idée_f est clair/claire, le/la style_m clair/claire") == "L'idée est claire, le style clair"
    assert _agree("a ordinary plan with a star") == "An ordinary plan with a star"


def test_a_seed_fixes_the_dialogues_and_a_longer_list_opens_with_the_shorter():
    assert dialogues(40, seed=1) == dialogues(41, seed=1)[:40]
    assert dialogues(40, seed=1) != dialogues(40, seed=2)
    assert dialogues(0) == []
    with pytest.raises(ValueError, match="n is -1"):
        dialogues(-1)


def test_splitting_keeps_an_unfinished_sentence():
    assert split_sentences("is it good ? it is poor . plan. and") == ["is it good ?", "it is poor .", "plan.", "and"]
    assert split_sentences(" ") == []


def test_the_grammar_has_every_symbol_that_it_names():
    symbols = grammar("dialogue")
    columns = {column for table in ("topics", "owners") for row in _table(table).values() for column in row}
    for options in symbols.values():
        for slot in re.findall(r"\{([^}]+)\}", " ".join(options)):
            assert slot in symbols or slot in columns, slot
