"""docs/library.md: whoever pastes what stands there, line by line, gets what it says."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from coursekit.explain import Attribution
from coursekit.models import HuggingFaceClassifier
from tests.models.test_huggingface import theirs, tokenizer

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/library.md").read_text(encoding="utf8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
TASKS = re.findall(r"^## \d\. .*?^```python\n", PAGE, re.M | re.S)


def test_there_are_six_tasks_and_none_is_long():
    assert len(TASKS) == 6
    assert all(len([line for line in block.splitlines() if line.strip()]) <= 5 for block in BLOCKS)


def test_the_table_names_what_there_is_and_lectures_that_show_it():
    rows = re.findall(r"^\| [^|]+ \| `(\w+)` \| ([^|]+) \| ([^|]*) \|$", PAGE, re.M)
    assert len(rows) > 10
    for room, functions, lectures in rows:
        lectures = [(ROOT / "docs" / path).read_text(encoding="utf8") for path in re.findall(r"\((.+?)\)", lectures)]
        for name in re.findall(r"`(\w+)`", functions):
            assert name in import_module(f"coursekit.{room}").__all__
            assert all(name in lecture for lecture in lectures), f"no lecture of the row shows {name}"


@pytest.mark.filterwarnings("ignore:.*tokens are unknown to the tokenizer")
def test_the_page_runs_as_it_stands(tmp_path, monkeypatch):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    monkeypatch.chdir(tmp_path)
    pieces = tokenizer("bert")
    pieces.model_max_length = 16
    for part in (theirs("bert"), pieces):
        part.save_pretrained("my-model")
    texts = ["The film is good!", "a film not bad, not good"]
    here = {"texts": texts, "my_pipeline": make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, [1, 0])}
    for block in BLOCKS:
        exec(block, here)
    assert isinstance(here["model"], HuggingFaceClassifier)
    np.testing.assert_allclose(here["any_family"]([["good"]]), here["model"].predict([["good"]]), atol=1e-5)
    assert all(isinstance(one, Attribution) for one in (here["found"], *here["kept"]))
    assert here["of_sentences"].tokens == ("the film is good .", "not bad !")
    assert here["spelled"].tokens == ("The", "film", "is", "UNWATCHABLE", "!")
    assert here["model"].labels == here["any_family"].labels == ["LABEL_0", "LABEL_1"]
    assert here["of_both"].tokens[3:7] == ("GOOD", "?", "[SEP]", "The")
    assert all(word in Path("both.html").read_text(encoding="utf8") for word in ("leave-one-out", "film", "utf-8"))
    assert Path("lime.pdf").read_bytes().startswith(b"%PDF")
    assert len(Path("lime.jsonl").read_text().splitlines()) == 1 + len(texts)
    assert here["kept"].by_word()["good"].documents == 2 and Path("words.pdf").exists()
    assert len(here["drop"]) == len(here["floor"]) == len(texts)
    assert "integrated gradients" in here["table"].names and "gradient × attention" in Path("report.csv").read_text()
