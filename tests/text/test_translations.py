"""The toy languages: every pair is right word by word, nothing repeats, the same seed gives the same pairs."""


import pytest

from coursekit.worlds.generated.translations import (
    ADJECTIVES,
    DETERMINERS,
    ENGLISH,
    FRENCH,
    LETTERS,
    NOUNS,
    PREPOSITIONS,
    VERBS,
    reversals,
    translations,
)

FORMS = ({e: set(f) for e, f in (DETERMINERS | ADJECTIVES | VERBS).items()} | {e: {f} for e, (f, _) in NOUNS.items()}
         | {e: {f} for e, f in PREPOSITIONS.items()} | {"often": {"souvent"}, "not": {"ne", "pas"},
                                                        "cannot": {"ne", "peut", "pas"}})


def base(word):
    """washes → wash, sees → see, any other word as it is."""
    return word if word in FORMS else word[:-1] if word[:-1] in VERBS else word[:-2]


def test_every_target_word_is_a_form_of_the_word_it_is_aligned_with():
    for pair in translations(500, seed=1):
        assert len(pair.alignment) == len(pair.target)
        for word, place in zip(pair.target, pair.alignment, strict=True):
            assert word in FORMS[base(pair.source[place])]
        left_out = set(range(len(pair.source))) - set(pair.alignment)
        assert {pair.source[place] for place in left_out} <= {"does"}
        assert set(pair.source) <= set(ENGLISH) and set(pair.target) <= set(FRENCH)


def test_determiners_and_adjectives_agree_with_their_noun():
    genders = {french: gender for french, gender in NOUNS.values()}
    feminine = {f: 1 for m, f in (DETERMINERS | ADJECTIVES).values() if m != f}
    masculine = {m: 0 for m, f in (DETERMINERS | ADJECTIVES).values() if m != f}
    marked = feminine | masculine
    seen = 0
    for pair in translations(500, seed=2):
        for t, word in enumerate(pair.target):
            if word in genders:
                phrase = [pair.target[t - 1]]
                for after in pair.target[t + 1:]:
                    if after not in {f for forms in ADJECTIVES.values() for f in forms}:
                        break
                    phrase.append(after)
                agreeing = [marked[w] == genders[word] for w in phrase if w in marked]
                seen += len(agreeing)
                assert all(agreeing), pair
    assert seen > 1000


def test_what_makes_it_hard_is_there():
    pairs = translations(500, seed=3)
    assert any(list(p.alignment) != sorted(p.alignment) for p in pairs)
    assert any(p.alignment.count(place) == 3 for p in pairs for place in p.alignment)
    assert any("does" in p.source for p in pairs) and any(len(p.source) != len(p.target) for p in pairs)
    assert max(len(p.source) for p in pairs) < 24 and max(len(p.target) for p in pairs) < 24


@pytest.mark.parametrize("make", [translations, reversals])
def test_seeds_and_repetitions(make):
    pairs = make(300, seed=5)
    assert pairs == make(300, seed=5) != make(300, seed=6)
    assert make(100, seed=5) == pairs[:100]
    assert len({p.source for p in pairs}) == 300


def test_reversals():
    for pair in reversals(200, length=(2, 5)):
        assert pair.target == pair.source[::-1] == tuple(pair.source[place] for place in pair.alignment)
        assert 2 <= len(pair.source) <= 5 and set(pair.source) <= set(LETTERS[3:])
    with pytest.raises(ValueError, match="too few words"):
        reversals(200, length=(1, 2))


def test_vocabularies_and_examples():
    for words in (ENGLISH, FRENCH, LETTERS):
        assert len(set(words)) == len(words) and words[:3] == ["[PAD]", "[START]", "[END]"]
