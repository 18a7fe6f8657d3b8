"""A corpus explained: what each document alone gets, however it is computed, stopped or not."""

import json
import os
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest
import torch

from coursekit.compare import jobs, report
from coursekit.compare.fingerprints import settings
from coursekit.explain import Attribution, kernel_shap, leave_one_out, lime
from coursekit.models import load_weights
from coursekit.own import Corpus, explain_corpus
from coursekit.worlds import reviews

LIME = partial(lime, n_samples=50, bow=True)


@pytest.fixture(scope="module")
def model():
    return load_weights("imdb-tame")


@pytest.fixture(scope="module")
def documents(model):
    return [model.tokenizer.tokenize(review.text)[:12] for review in reviews(4, seed=5)]


def told(found):
    """What was found, to the last digit."""
    return [json.dumps(attribution.to_dict()) for attribution in found]


@pytest.fixture(scope="module")
def alone(model, documents):
    return told(LIME(model, document, seed=3) for document in documents)


@pytest.mark.parametrize("where", ["here", "two processes", "a scheduler"])
def test_workers_give_what_each_document_alone_gets(model, documents, alone, where):
    explain = partial(explain_corpus, LIME, model, documents, seed=3, progress=False)
    if where != "a scheduler":
        assert told(explain(workers=1 + (where == "two processes"))) == alone
        return
    from dask.distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster:
        assert told(explain(workers=cluster.scheduler_address)) == alone


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere"])
def test_a_scheduler_that_does_not_answer_gets_one_line(address, monkeypatch):
    monkeypatch.setattr(jobs, "PATIENCE", "0.1s")
    with pytest.raises(ConnectionError, match=f"no dask scheduler answers at '{address}' .* start one") as caught:
        explain_corpus(leave_one_out, len, [["a"]], workers=address, progress=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("workers", [0, 1.5, True, None])
def test_workers_are_a_whole_number(workers):
    for call in (partial(explain_corpus, leave_one_out, likes, FIVE), partial(report, likes, FIVE, scores="log-odds")):
        with pytest.raises(ValueError, match=f"^workers must be a whole number, at least 1, got {workers}$"):
            call(workers=workers, progress=False)


def test_a_stopped_corpus_goes_on_and_may_grow(model, documents, tmp_path):
    path, log = tmp_path / "kept" / "corpus.jsonl", tmp_path / "log"

    def asked():
        return log.read_text().count("\n")

    def stops(model, document):
        with open(log, "a") as file:
            file.write("asked\n")
        if log.read_text().count("\n") == 4:
            raise KeyboardInterrupt
        return leave_one_out(model, document)

    explain = partial(explain_corpus, stops, model, path=path, progress=False)
    with pytest.raises(KeyboardInterrupt):
        explain(documents)
    with open(path, "ab") as file:
        file.write(b'[["a", "fi')                                                # the power went off
    found = explain([*documents, ["new"], documents[0]])
    assert told(found) == told(leave_one_out(model, d) for d in [*documents, ["new"], documents[0]])
    assert asked() == 4 + 2, "three were kept, and the first stands there twice"
    assert told(explain(documents[::-1])) == told(found[3::-1]) and asked() == 6, "in any order"
    with pytest.raises(ValueError, match="corpus.jsonl keeps results by other seed: take another path"):
        explain(documents, seed=1)


def test_texts_are_cut_by_the_models_own_tokenizer(model):
    found, = explain_corpus(leave_one_out, model, ["A good film."], progress=False)
    assert found.tokens == ("a", "good", "film", ".")


def test_what_is_no_attribution_is_refused():
    with pytest.raises(TypeError, match="this explainer returns int"):
        explain_corpus(lambda model, document: 3, len, [["a"]], progress=False)
    with pytest.raises(TypeError, match="got one text: "):
        explain_corpus(leave_one_out, len, "one text", progress=False)


def likes(documents):
    return [float(d.count("good")) for d in documents]


def likes_until_the_last(documents):
    """Agrees with `likes` on all documents but those with "awful" in them."""
    return [float(d.count("good")) - 2.0 * d.count("awful") for d in documents]


FIVE = [["good", "film"], ["a", "film"], ["good", "good"], ["so", "good"], ["awful", "film"]]


def test_results_of_another_model_are_never_taken(tmp_path):
    """Neither of one that agrees on all but the last document, nor, with weights, of one that agrees on all."""
    path = tmp_path / "corpus.jsonl"
    explain = partial(explain_corpus, leave_one_out, documents=FIVE, path=path, progress=False)
    explain(likes)
    with pytest.raises(ValueError, match=r"another model, whose score of document 4 is 0.0 and not -2.0: take another"):
        explain(likes_until_the_last)
    tame, other = load_weights("imdb-tame"), load_weights("imdb-tame")
    with torch.no_grad():
        other.W_e[tame.tokenizer.convert_tokens_to_ids(["soup"])[0]] += 1         # a word that no document has
    np.testing.assert_array_equal(tame.predict(FIVE), other.predict(FIVE))
    explain(tame, path=tmp_path / "tame.jsonl")
    with pytest.raises(ValueError, match="tame.jsonl keeps results by other weights: take another path"):
        explain(other, path=tmp_path / "tame.jsonl")


def test_a_report_is_never_of_another_model_or_of_other_settings(tmp_path):
    path = tmp_path / "report.jsonl"
    one, more = (lambda model, document, n=n: lime(model, document, n_samples=n) for n in (2, 50))

    def calls(model, explainer, **how):
        rows = report(model, FIVE, {"LIME": explainer}, path=path, progress=False, scores="log-odds", **how).rows
        return rows["LIME"]["calls"].mean

    few = calls(likes, one)
    assert calls(likes, more) > few and calls(likes, one) == few
    with pytest.raises(ValueError, match="another model, whose score of document 4"):
        calls(likes_until_the_last, one)
    with pytest.raises(ValueError, match="report.jsonl keeps results by other settings"):
        calls(likes, one, n_seeds=3)


SAMPLES = 10


def by_a_constant():
    return lambda model, document: lime(model, document, n_samples=SAMPLES)


def by_what_is_around(n):
    def explainer(model, document):
        return (lambda: lime(model, document, n_samples=n))()
    return explainer


class Caller:
    def __init__(self, n):
        self.n = n

    def __call__(self, model, document):
        return lime(model, document, n_samples=self.n)

    def explain(self, model, document):
        return self(model, document)


def test_explainers_without_a_name_are_told_apart(tmp_path, monkeypatch):
    """By what they are made of and what they take from around; made anew, each is what it was."""
    def pairs():
        yield by_a_constant(), "SAMPLES"
        yield by_what_is_around(10), by_what_is_around(11)
        yield Caller(10), Caller(11)
        yield Caller(10).explain, Caller(11).explain
        yield partial(by_what_is_around(10)), partial(by_what_is_around(11))
        yield partial(partial(lime, n_samples=10), bow=True), partial(partial(lime, n_samples=11), bow=True)
        yield (lambda m, d: lime(m, d, n_samples=10)), (lambda m, d: lime(m, d, n_samples=11))
        yield (lambda m, d, n=10: lime(m, d, n)), (lambda m, d, n=11: lime(m, d, n))
        yield (lambda m, d: lime(m, d, 10)), (lambda m, d: kernel_shap(m, d, 10))
        yield partial(lime, x=np.zeros(2000)), partial(lime, x=np.eye(1, 2000, 1000)[0])
        yield partial(lime, x=torch.zeros(2000)), partial(lime, x=torch.eye(2000)[1000])

    for (one, other), (again, _) in zip(pairs(), pairs(), strict=True):
        assert settings(one) == settings(again)
        if other == "SAMPLES":
            kept = settings(one)
            monkeypatch.setattr(sys.modules[__name__], "SAMPLES", 11)
            assert settings(one) != kept
            monkeypatch.undo()
        else:
            assert settings(one) != settings(other)
    assert settings(lambda m, d: d in ({"a", "b", "c"}, {"d"})) == settings(lambda m, d: d in ({"a", "b", "c"}, {"d"}))
    code = ("from coursekit.compare.fingerprints import settings\n"
            "print(settings(lambda d: d[0] in {'a', 'b', 'c', 'd'}))")
    said = {subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, check=True,
                           capture_output=True, text=True).stdout for seed in "12"}
    assert len(said) == 1, "the same in every process"
    lock = threading.Lock()
    with pytest.raises(ValueError, match="cannot be told from others of its kind, .* leave out path") as caught:
        explain_corpus(lambda m, d: lock and leave_one_out(m, d), likes, FIVE, path=tmp_path / "x", progress=False)
    assert "\n" not in str(caught.value)
    assert len(explain_corpus(lambda m, d: lock and leave_one_out(m, d), likes, FIVE, progress=False)) == 5


def test_a_file_of_an_earlier_version_is_not_taken(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps({"explainer": "leave_one_out {}", "seed": 0, "model": [1.0, 0.0, 2.0]}) + "\n"
                    + json.dumps([FIVE[0], leave_one_out(likes, FIVE[0]).to_dict()]) + "\n")
    with pytest.raises(ValueError, match="was kept by an earlier version, .* take another path") as caught:
        explain_corpus(leave_one_out, likes, FIVE, path=path, progress=False)
    assert "\n" not in str(caught.value)


def stumbles(documents):
    return [float("nan") if "awful" in d else float(len(d)) for d in documents]


def cannot(model, document):
    if "awful" in document:
        raise OSError(28, "no space")
    return leave_one_out(model, document)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_document_that_goes_wrong_is_named_or_left_out(workers, tmp_path):
    path, documents = tmp_path / "corpus.jsonl", [*FIVE[:2], FIVE[4], *FIVE[2:]]
    explain = partial(explain_corpus, leave_one_out, documents=documents, path=path, workers=workers, progress=False)
    with pytest.raises(ValueError, match="^document 2: what predict returns must be finite, got nan at index 0$"):
        explain(stumbles)
    with pytest.raises(OSError) as caught:
        explain_corpus(cannot, likes, documents, progress=False)
    assert "document 2" in caught.value.__notes__
    with pytest.warns(UserWarning, match="left out 1 document, such as document 2: ValueError: what predict returns"):
        found = explain(stumbles, on_error="skip")
    assert [i for i, one in enumerate(found) if one is None] == [2, 5]
    assert told(found[:2] + found[3:5]) == told(leave_one_out(stumbles, d) for d in documents[:2] + documents[3:5])
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + 5 and sum('"error": "ValueError: what' in line for line in lines) == 1
    with pytest.warns(UserWarning, match="left out 1 document"):
        explain(stumbles, on_error="skip")
    assert path.read_text().splitlines() == lines, "what went wrong is not asked again"
    with pytest.raises(ValueError, match="^document 2: "):
        explain(stumbles, workers=1)
    with pytest.raises(ValueError, match="on_error must be"):
        explain(stumbles, on_error="ignore")


def test_an_error_that_was_skipped_is_tried_again_by_a_call_that_raises(tmp_path):
    well = tmp_path / "well"

    def sometimes(model, document):
        if "awful" in document and not well.exists():
            raise RuntimeError("out of memory")
        return leave_one_out(model, document)

    explain = partial(explain_corpus, sometimes, likes, FIVE, tmp_path / "corpus.jsonl", progress=False)
    with pytest.warns(UserWarning, match="document 4: RuntimeError: out of memory"):
        explain(on_error="skip")
    well.touch()
    assert told(explain()) == told(leave_one_out(likes, d) for d in FIVE) == told(explain())


def attribution(text, scores, **more):
    return Attribution(text.split(), scores, "by hand", **more)


def test_words_of_a_corpus_are_counted_and_averaged():
    found = Corpus([attribution("un ##watch ##able , not good", [1, 2, 3, 0, -1, 2]), None,
                    attribution("good good film", [4.0, -3, 0])])
    words = found.by_word()
    assert list(words) == ["unwatchable", ",", "not", "good", "film"]
    assert words["unwatchable"] == (6, 6, 1, 1) and words["good"] == (1, 3, 3, 2)
    assert [word for word, _ in found.top(3)] == ["unwatchable", "good", "not"]
    assert found.top(documents=2) == [("good", words["good"])]
    assert "Bar chart of mean |score| with 2 bars: unwatchable 6, good 3." in found.plot(2).text
    everything = sum(a.scores.sum() for a in found if a)
    assert sum(of.mean * of.count for of in words.values()) == pytest.approx(everything)
    assert Corpus().by_word() == {} == Corpus([None]).by_word()


def test_words_of_distinct_tokens_count_once_a_document(model, documents):
    found = explain_corpus(LIME, model, documents, progress=False)
    for word, of in found.by_word().items():
        having = [a.on([word]).scores[0] for a in found if word in a.tokens]
        assert of.count == of.documents == len(having) and of.mean == pytest.approx(np.mean(having))
    assert isinstance(found, Corpus)


def test_words_of_several_classes_are_not_averaged():
    with pytest.raises(ValueError, match=r"explanations of 2 classes, .* partial\(explainer, target=0\)$"):
        Corpus([attribution("a", [1], target=0), attribution("a", [1], target=1)]).by_word()
