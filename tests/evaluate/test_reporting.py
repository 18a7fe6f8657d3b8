"""The one table: the same numbers however they are computed, stopped or not, and tests that are corrected."""

import csv
import json
from functools import partial

import numpy as np
import pytest
from scipy.stats import ttest_rel

from coursekit.compare import Report, against_the_best, course_explainers, report
from coursekit.evaluate import comprehensiveness
from coursekit.explain import gradient, leave_one_out, lime
from coursekit.explain.asking import remembering
from coursekit.models import load_weights
from coursekit.worlds import reviews, stand_in

REVIEWS = [stand_in(review) for review in reviews(3, seed=5)]
EXPLAINERS = {"leave-one-out": leave_one_out, "LIME": partial(lime, n_samples=60, bow=True), "gradient": gradient}
TIMED = "seconds"


@pytest.fixture(scope="module")
def model():
    return load_weights("imdb-tame")


@pytest.fixture(scope="module")
def documents(model):
    return [model.tokenizer.tokenize(review.text)[:14] for review in REVIEWS]


@pytest.fixture(scope="module")
def made(model, documents):
    return told(model, documents)


def told(model, documents, explainers=EXPLAINERS, **more):
    return report(model, documents, explainers, reviews=REVIEWS, n_seeds=2, n_neighbours=2, progress=False, **more)


def assert_same(one, other):
    assert one.names == other.names
    for metric in set(one.values) - {TIMED}:
        np.testing.assert_array_equal(one.values[metric], other.values[metric], metric)


def test_numbers_are_those_of_the_metrics(model, documents, made):
    want = [comprehensiveness(model, d, leave_one_out(model, d)) for d in documents]
    assert made.values["comprehensiveness"][0] == pytest.approx(want, abs=1e-12)
    assert made.rows["leave-one-out"]["calls"].mean == 15 and made.rows["LIME"]["calls"].mean == 60
    assert made.rows["gradient"]["VSI"].mean == 1 and made.rows["LIME"]["spread"].mean > 0
    assert {name for name, values in made.values.items() if np.isnan(values).any()} <= {"AUROC"}
    assert made.best["comprehensiveness"] in made.names
    assert made.differences[made.best["AUROC"]]["AUROC"] == (0, 0, 0, 1)


@pytest.mark.parametrize("where", ["two processes", "a scheduler"])
def test_workers_give_the_same_numbers(model, documents, made, where):
    if where == "two processes":
        assert_same(made, told(model, documents, workers=2))
        return
    from dask.distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster:
        assert_same(made, told(model, documents, workers=cluster.scheduler_address))


def test_a_stopped_report_goes_on_where_it_was(model, documents, made, tmp_path):
    path, log = tmp_path / "report.jsonl", tmp_path / "log"

    def asked():
        return log.read_text().count("\n")

    def stops(model, document):
        with open(log, "a") as file:
            file.write("asked\n")
        if log.read_text().count("\n") == 6:
            raise KeyboardInterrupt
        return leave_one_out(model, document)

    with pytest.raises(KeyboardInterrupt):
        told(model, documents, EXPLAINERS | {"leave-one-out": stops}, path=path)
    with open(path, "ab") as file:
        file.write(b'{"document": 1, "expl')                                     # the power went off
    assert_same(made, told(model, documents, EXPLAINERS | {"leave-one-out": stops}, path=path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 1 + 9 and len({tuple(cell) for cell, *_ in lines[1:]}) == 9
    before = asked()
    told(model, documents, EXPLAINERS | {"leave-one-out": stops}, path=path)
    assert asked() == before, "all cells are there"
    with pytest.raises(ValueError, match="report.jsonl keeps results by other settings"):
        report(model, documents, EXPLAINERS, path=path, progress=False)


def test_another_setting_of_an_explainer_is_another_cell(model, documents, tmp_path):
    path = tmp_path / "report.jsonl"
    few, more = (report(model, documents[:1], {"LIME": partial(lime, n_samples=n)}, path=path, progress=False)
                 for n in (50, 80))
    assert [one.rows["LIME"]["calls"].mean for one in (few, more)] == [50, 80]


def test_what_cannot_be_done_is_refused(model, documents):
    with pytest.raises(ValueError, match="got 3 for 1"):
        told(model, documents[:1])
    with pytest.raises(TypeError, match="functions of a module"):
        told(model, documents, {"mine": lambda model, document: None}, workers=2)


def test_a_black_box_has_no_embeddings_and_no_terms():
    def likes(documents):
        return [2.0 * ("good" in d) - 3.0 * ("bad" in d) for d in documents]

    found = report(likes, [["a", "good", "film"], ["bad"]], {"leave-one-out": leave_one_out}, progress=False)
    row = found.rows["leave-one-out"]
    assert row["calls"].mean == 3 and np.isnan([row[name].mean for name in ("distance", "AUROC", "Lipschitz")]).all()
    assert "Lipschitz" not in str(found) and found.best["Lipschitz"] is None


def test_the_table_names_the_best_and_the_csv_reads_back(made, tmp_path):
    made.to_csv(tmp_path / "report.csv")
    with open(tmp_path / "report.csv", newline="", encoding="utf8") as file:
        read = {(line["explainer"], line["metric"]): line for line in csv.DictReader(file)}
    for name, row in made.rows.items():
        for metric, found in row.items():
            line = read[name, metric]
            assert tuple(float(line[part]) for part in found._fields) == found
            told_apart = made.differences[name][metric]
            assert tuple(float(line[part]) for part in ("difference", "from", "to", "p")) == told_apart
    assert str(made).count("●") >= 1 + len(made.values)                          # one a column, one in the title
    assert made.table(intervals=True).html.count("[") == 1 + 2 * len(made.values)
    assert "leave-one-out" in made.plot(["AUROC", "calls"]).text


def test_paired_tests_see_what_intervals_over_documents_hide():
    random = np.random.default_rng(0)
    hard = random.normal(size=40)                                                # what documents have in common
    a, b = hard + 0.1 * random.normal(size=40), hard + 0.1 * random.normal(size=40) + 0.05
    one, best = against_the_best([a, b], 1)
    want = ttest_rel(a, b)
    assert best == (0, 0, 0, 1) and one.p == pytest.approx(want.pvalue, abs=0.01)        # of two rows: Student's t
    assert (one.low, one.high) == pytest.approx(tuple(want.confidence_interval()), abs=0.002)
    found = against_the_best([a, b, hard, hard + 1], 3)
    assert max(d.p for d in found[:3]) < 0.001 and found[2].mean == pytest.approx(-1)
    assert all((d.p < 0.05) == (not d.low <= 0 <= d.high) for d in found + [one])
    assert {d.p for d in against_the_best([a, a + 1e-17, a], 0)} == {1}, "rounding tells nothing apart"
    assert np.isnan(against_the_best([a, np.full(40, np.nan)], 0)[1].p)
    assert against_the_best([[1], [0]], 0)[1][1:] == (-np.inf, np.inf, 1)                # one document


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize(("M", "n"), [(9, 24), (9, 8), (9, 6), (4, 6)])
def test_of_equal_rows_one_is_told_apart_in_five_columns_of_a_hundred(M, n, skewed):
    noise = np.random.default_rng(M + n).normal(size=(400, M, n))
    columns = np.exp(noise) if skewed else noise
    alarms = [min(d.p for d in against_the_best(x, int(x.mean(1).argmax()))) < 0.05 for x in columns]
    assert np.mean(alarms) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 400)


def test_the_table_says_who_is_level_and_who_is_better_by_chance():
    good, wobble = 0.5 + np.random.default_rng(0).normal(size=12) / 10, 0.05 * (-1.0) ** np.arange(12)
    table = Report(("random", "a", "b", "c", "d"), {
        "Lipschitz": np.array([0 * good, good, good + 1e-9, good + wobble + 0.01, good + 1]),
        "AUROC": np.array([good - 0.4, good, good, good + wobble - 0.01, good - 0.2])})
    lines = {line.split()[0]: line for line in str(table).splitlines()[2:]}
    assert [lines[name].count(sign) for name, sign in zip("abcd", "●●○○", strict=True)] == [2, 2, 2, 0]
    assert "▲" in lines["random"] and "●" not in lines["random"] and "▲" not in "".join(lines[name] for name in "abcd")
    assert "[-0.2, -0.2]" in str(table.table(intervals=True)), "the interval is that of the difference"


def test_remembering_asks_once_and_changes_nothing(model, documents):
    want, before = model.predict(documents), dict(vars(model))
    with remembering(model) as same:
        got = [same.predict(documents), same.predict(documents[::-1])[::-1]]
    assert all(np.allclose(one, want, atol=1e-5) for one in got) and vars(model) == before


def test_every_explainer_of_the_course_runs(model, documents):
    names = course_explainers(model, samples=50)
    found = report(model, [documents[0][:6]], names, n_seeds=2, n_neighbours=2, progress=False)
    assert list(found.names) == list(names) and {"random", "relevance × attention", "LIME, exact"} < set(names)
    assert found.rows["Shapley values, exact"]["distance"].mean == pytest.approx(0, abs=1e-12)


def test_a_model_without_terms_has_the_process_in_place_of_exact_values(model, documents):
    """And it has four calls a word at least, however few samples are wished."""
    deep, process = load_weights("imdb-6layer"), "Shapley values, process"
    names = course_explainers(deep, samples=20)
    assert names.keys() - course_explainers(model).keys() == {process}
    found = report(deep, documents[:1], {process: names[process]}, n_seeds=2, n_neighbours=2, progress=False)
    row = found.rows[process]
    assert row["calls"].mean == 4 * len(documents[0]) == 56 and 0 < row["spread"].mean < 1
