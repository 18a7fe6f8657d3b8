"""Generated reviews keep their own rule; hand-written ones are many, balanced and readable."""

import random
import re
from collections import Counter
from functools import cache

import pytest

from coursekit.worlds.generated.grammars import grammar
from coursekit.worlds.generated.review_grammar import write
from coursekit.worlds.generated.reviews import Review, handwritten_reviews, reviews

TOKEN = r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]"
ROLES = {"sentiment+", "sentiment-", "negation", "intensifier", "downtoner", "contrast", "aspect", "filler",
         "punctuation"}


@cache
def many():
    return reviews(600, seed=3)


def words(review):
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", review.text)


def sentences(review):
    """The review as lists of (token, role, weight), cut after each full stop."""
    cut = [[]]
    for row in zip(review.tokens, review.roles, review.weights, strict=True):
        cut[-1].append(row)
        if row[0] == ".":
            cut.append([])
    return cut[:-1]


def test_roles_and_weights_align_with_the_tokens_of_the_text():
    for review in many():
        assert list(review.tokens) == re.findall(TOKEN, review.text.lower())
        assert len(review.tokens) == len(review.roles) == len(review.weights)
        assert set(review.roles) <= ROLES


def test_the_label_is_the_sign_of_the_weights_with_a_margin():
    for review in many():
        score = sum(review.weights)
        assert abs(score) >= 1.5 and review.label == (score > 0), review.text


def test_weights_follow_the_roles():
    for review in many():
        for token, role, weight in zip(review.tokens, review.roles, review.weights, strict=True):
            if role in ("filler", "aspect", "punctuation"):
                assert weight == 0, (token, review.text)
            else:
                assert weight != 0, (token, review.text)
            if role.startswith("sentiment"):
                assert (weight > 0) == (role == "sentiment+"), (token, review.text)


def test_one_clause_follows_the_arithmetic_of_the_rule():
    seen = Counter()
    for sentence in (sentence for review in many() for sentence in sentences(review)):
        roles = {role for _, role, _ in sentence}
        values = [weight for _, role, weight in sentence if role.startswith("sentiment")]
        if len(values) == 1 and "contrast" not in roles:
            factor = 1.5 ** ("intensifier" in roles) * 0.5 ** ("downtoner" in roles) * (-0.5) ** ("negation" in roles)
            assert sum(weight for _, _, weight in sentence) == values[0] * factor, sentence
            seen["intensifier" in roles, "negation" in roles] += 1
    assert len(seen) == 4 and min(seen.values()) >= 5, seen


def test_a_contrast_takes_back_half_of_what_it_concedes():
    checked = 0
    for review in many():
        for sentence in sentences(review):
            tokens, roles, weights = zip(*sentence, strict=True)
            if "but" in tokens and roles.count("contrast") == 1:
                but = tokens.index("but")
                assert weights[but] == -0.5 * sum(weights[:but]), sentence
                checked += 1
    assert checked > 50


def test_a_seed_fixes_the_reviews_and_a_longer_list_opens_with_the_shorter():
    assert reviews(40, seed=1) == reviews(41, seed=1)[:40]
    assert reviews(40, seed=1) != reviews(40, seed=2)
    assert reviews(0) == []
    with pytest.raises(ValueError, match="n is -1"):
        reviews(-1)


def test_both_labels_and_both_topics_are_balanced():
    for size in (2, 10, 600):
        assert sum(review.label for review in many()[:size]) == size / 2
    assert 200 < sum(review.topic == "film" for review in many()) < 400


def test_lengths_and_variety():
    lengths = [sum(token[0].isalnum() for token in review.tokens) for review in many()]
    assert min(lengths) >= 15 and max(lengths) <= 80 and max(lengths) - min(lengths) > 50
    assert len({review.text for review in many()}) == len(many())
    assert len({review.roles for review in many()}) > 0.95 * len(many())  # skeletons: the order of the roles
    repeated = Counter(tuple(sentence) for review in many() for sentence in sentences(review))
    assert max(repeated.values()) < 0.03 * len(many())


def test_counting_sentiment_words_is_not_enough():
    """The modifiers matter: the sign of (praising − blaming words) misses the label of many reviews, not of most."""
    counts = [sum((role == "sentiment+") - (role == "sentiment-") for role in review.roles) for review in many()]
    missed = sum((count > 0) != review.label for count, review in zip(counts, many(), strict=True))
    assert 0.1 < missed / len(many()) < 0.4


def test_typography():
    for review in many():
        assert re.fullmatch(r"[A-Z].*\.", review.text), review.text
        assert not re.search(r" [,.;']|\.\.|  |[{}\[\]_]|[.] [a-z]", review.text), review.text
        assert not re.search(r"\b[Aa] [aeiouAEIOU]|\b[Aa]n [^aeiouhAEIOU]", review.text), review.text
        assert not re.search(r"\b(\w+) \1\b", review.text), review.text


def test_the_grammar_has_every_symbol_that_it_names():
    symbols = grammar("review")
    slots = {slot for options in symbols.values() for option in options for slot in re.findall(r"\{([^}]+)\}", option)}
    filled_by_the_writer = set("C P V X Y np be bent seem one adj adj2 adj3 opp down".split())
    for slot in slots - filled_by_the_writer:
        assert {slot, f"film.{slot}", f"restaurant.{slot}"} & set(symbols), slot
    for topic in ("film", "restaurant"):
        for aspect in symbols[f"{topic}.aspects"]:
            for side in "+-":  # each aspect has a plain word and a strong one for both directions
                values = {option[-2] for option in symbols[f"{topic}.{aspect}{side}"]}
                assert {"2", "3"} <= values, (aspect, side)


def test_the_writer_takes_its_randomness_from_the_generator_alone():
    assert write(random.Random(5), 1) == write(random.Random(5), 1)


def test_handwritten_reviews():
    written = handwritten_reviews()
    assert len(written) >= 60 and abs(sum(r.label for r in written) * 2 - len(written)) <= 2
    assert all(20 <= len(words(review)) <= 120 for review in written)
    assert {review.topic for review in written} == {"film", "restaurant", "book", "hotel"}
    assert all(review.tag and review.text.isascii() and "\n" not in review.text for review in written)
    assert len({review.text for review in written}) == len(written) == len({review.name for review in written})
    assert {"irony", "negation", "double-negation", "mixed", "plain", "reversal"} <= {review.tag for review in written}
    assert written[0].label == 0 and written[0].text.startswith("I wanted to love this film. The acting is brilliant")
    assert isinstance(written[0], Review) and written[0].tokens == ()


def test_the_list_of_handwritten_reviews_is_the_callers_own():
    handwritten_reviews().clear()
    assert handwritten_reviews()
