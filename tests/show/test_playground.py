"""What the playground carries, and what a notebook keeps of it. tests/browser/test_playground.py types into it."""

import base64
import html
import json
import re

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from coursekit.models import AttentionClassifier, load_weights
from coursekit.show import playground
from coursekit.show.views import playground as ours
from coursekit.text import WordTokenizer
from coursekit.worlds import handwritten_reviews
from tools.book import right_by_hand
from tools.normalise import normalise

TAME = load_weights("imdb-tame")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "good", "</script><!--", "film"]


def tiny(words=WORDS, **sizes):
    return AttentionClassifier(WordTokenizer(words), **dict(T_max=8, d_e=4, d_att=2, d_out=2, K=2) | sizes).eval(
        ).requires_grad_(False)


def data(models):
    return json.loads(re.fullmatch(r"const PLAYGROUND = (.*);\n", ours.packed(models), re.S)[1])


def numbers(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


@pytest.mark.parametrize("model", [TAME, tiny()])
def test_what_the_page_carries_are_the_models_numbers(model):
    packed = data({"one": model})["models"]["one"]
    words, places, directions = model.folded()
    K, T = packed["K"], packed["T"]
    got = numbers(packed["words"], "<u2").reshape(-1, 2 * K) * np.array(packed["step"]) + packed["low"]
    assert (abs(got - words).max(0) <= 0.51 * np.ptp(words, 0) / 65535).all()
    assert np.allclose(numbers(packed["places"], "<f4").reshape(T, 2 * K), places, rtol=1e-6)
    mean, other = np.array(packed["turn"])
    half = len(directions) // 2
    assert np.allclose(mean, directions.mean(0)) and np.allclose(mean + other, directions[:half].sum(0) / half)


def test_no_word_ends_the_script_it_stands_in():
    assert "</script" not in ours.packed({"one": tiny()}) and data({"one": tiny()})["vocabulary"].split("\n") == WORDS


def test_it_says_what_the_cards_say():
    two = data({"imdb-tame": TAME, "mine": TAME})["models"]
    card = (ours._FOLDER.parent.parent / "weights" / "imdb-tame.md").read_text(encoding="utf-8")
    assert f"25,000 test reviews | {two['imdb-tame']['right']}%" in card and two["mine"]["right"] == ""


def test_what_it_says_of_hand_written_reviews_is_counted():
    films = [review for review in handwritten_reviews() if review.topic == "film"]
    right = sum((TAME.predict([TAME.tokenizer.tokenize(film.text)])[0] > 0) == film.label for film in films)
    assert len(films) == 46 and right_by_hand(TAME) == f"{right} of the 46"


@pytest.mark.parametrize("models", [{}, {"one": tiny(), "other": tiny([*WORDS, "more"])}])
def test_models_that_share_no_vocabulary_are_refused(models):
    with pytest.raises(ValueError, match="models that share one vocabulary: make one for each"):
        playground(models)


def test_the_frame_reaches_nothing_outside():
    shown = playground({"imdb-tame": TAME})
    frame, page = re.fullmatch(r'(<iframe [^>]*) srcdoc="([^"]*)"></iframe>', shown.html).groups()
    assert 'sandbox="allow-scripts"' in frame and 'title="Playground' in frame
    page = html.unescape(page)
    assert "default-src 'none'" in page and not re.search(r"(src|href)=\"(?!#)|@import|url\(|https?:", page)


def test_a_notebook_keeps_a_picture_with_a_text():
    shown = playground({"one": tiny()})
    notebook = new_notebook(cells=[new_code_cell("view", outputs=[new_output(
        "execute_result", data=shown._repr_mimebundle_(), execution_count=1)])])
    [output] = normalise(nbformat.from_dict(notebook)).cells[0].outputs
    kept = output.data["text/html"]
    assert kept.startswith(f'<img alt="{ours.ALT}" src="data:image/png;base64,') and len(kept) < 200_000
    assert output.data["text/plain"] == "The playground with one: run this cell to type a review."


def test_its_files_are_short_and_ask_nothing_of_anybody():
    scripts = [path for path in ours._FOLDER.iterdir() if re.fullmatch(r"playground.*\.(js|css)", path.name)]
    lines = [line for path in scripts for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(scripts) == 3 and len(lines) <= 700 and max(map(len, lines)) <= 120
    assert not re.search(r"\b(fetch|import|XMLHttpRequest|sendBeacon|localStorage|cookie)\b", " ".join(lines))
