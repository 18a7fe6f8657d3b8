"""A corpus explained: what each document alone gets, however it is computed, stopped or not."""

import json
from functools import partial

import pytest

from coursekit.evaluate import cells, explain_corpus
from coursekit.explain import leave_one_out, lime
from coursekit.models import load_weights
from coursekit.text import reviews

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
    monkeypatch.setattr(cells, "PATIENCE", "0.1s")
    with pytest.raises(ConnectionError, match=f"no dask scheduler answers at '{address}' .* start one") as caught:
        explain_corpus(leave_one_out, len, [["a"]], workers=address, progress=False)
    assert "\n" not in str(caught.value)


def test_a_stopped_corpus_goes_on_and_may_grow(model, documents, tmp_path):
    path, asked = tmp_path / "kept" / "corpus.jsonl", []

    def stops(model, document):
        asked.append(document)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return leave_one_out(model, document)

    explain = partial(explain_corpus, stops, model, path=path, progress=False)
    with pytest.raises(KeyboardInterrupt):
        explain(documents)
    with open(path, "ab") as file:
        file.write(b'[["a", "fi')                                                # the power went off
    found = explain([*documents, ["new"], documents[0]])
    assert told(found) == told(leave_one_out(model, d) for d in [*documents, ["new"], documents[0]])
    assert len(asked) == 4 + 2, "three were kept, and the first stands there twice"
    for other in (dict(seed=1), dict(documents=documents[::-1])):
        with pytest.raises(ValueError, match="another model, other documents or settings"):
            explain(**dict(documents=documents) | other)


def test_texts_are_cut_by_the_models_own_tokenizer(model):
    found, = explain_corpus(leave_one_out, model, ["A good film."], progress=False)
    assert found.tokens == ("a", "good", "film", ".")


def test_what_is_no_attribution_is_refused():
    with pytest.raises(TypeError, match="this explainer returns int"):
        explain_corpus(lambda model, document: 3, len, [["a"]], progress=False)
    with pytest.raises(TypeError, match="got one text: "):
        explain_corpus(leave_one_out, len, "one text", progress=False)
