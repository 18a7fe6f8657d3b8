"""Every experiment runs in small; what was done is not done again; nothing half-written stays behind."""

import doctest
import json
import re
from types import SimpleNamespace

import pytest

from coursekit.results import HERE, recorded, result_of
from experiments import runner
from experiments.__main__ import main
from experiments.runner import experiments, module_of, run

NAMES = experiments()
SMALL = "slalom_by_hand"
TWO_KINDS = "slalom_figure6", "slalom_table10"                 # whose first and last cell go different ways

ALIKE = ("slalom_figure9", "slalom_table2c", "slalom_table6", "slalom_table11",   # run what another one runs, too
         "slalom_table12")


@pytest.fixture(autouse=True)
def build(tmp_path, monkeypatch):
    """Models are trained into the test's own folder."""
    monkeypatch.setenv("COURSEKIT_BUILD", str(tmp_path / "build"))


@pytest.fixture
def undrawn(monkeypatch):
    """The small experiment's figure is a stub, where figures are not what is tested."""
    monkeypatch.setattr(module_of(SMALL), "figure", lambda records: SimpleNamespace(png=b"drawn", text="drawn"))


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ALIKE)) for name in NAMES])
def test_every_experiment_runs_in_small(name, tmp_path, monkeypatch):
    module = module_of(name)
    whole = [cell for cell in module.cells((0,)) if cell.get("model") != "minilm-sentiment"]       # 90 MB, for the same
    few = [whole[0], whole[-1]] if name in TWO_KINDS else whole[-1:]
    monkeypatch.setattr(module, "cells", lambda seeds: few)
    found = run(name, (0,), tmp_path, toy=True, progress=False)
    assert len(found["cells"]) == len({str(cell) for cell in few})
    rows, columns = module.report(found["cells"])
    assert rows and all(len(row) == len(columns) for row in rows)
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_is_readable_small_and_says_nothing_of_the_machine_but_its_kind(name):
    found, path = result_of(name), HERE / f"{name}.json"
    assert found, f"run it, and commit its result: python -m experiments run {name}"
    assert found["size"] == json.loads(json.dumps(module_of(name).SIZE)), "made with another size: run it anew"
    cells = [record["cell"] for record in found["cells"]]
    assert len({str(cell) for cell in cells}) == len(cells)
    assert all(re.match(rf"python -m (coursekit\.)?experiments run {name} ", run["command"]) for run in found["runs"])
    assert not re.search(r'[/\\](home|root|tmp|usr|Users|work)\b', path.read_text())
    assert path.stat().st_size + path.with_suffix(".png").stat().st_size < 300_000
    module = module_of(name)
    rows, columns = module.report(found["cells"])
    assert rows and (found["columns"], found["rows"]) == (columns, json.loads(json.dumps(rows)))
    assert found["title"] == module.__doc__.splitlines()[0] and not doctest.testmod(module).failed


def test_what_was_stopped_goes_on_and_what_was_done_is_not_done_again(tmp_path, monkeypatch, undrawn):
    module, asked = module_of(SMALL), []
    whole, one = module.cells((0, 1)), module.run

    def stops(cell, **size):
        asked.append(cell)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return one(cell, **size)

    monkeypatch.setattr(module, "run", stops)
    with pytest.raises(KeyboardInterrupt):
        run(SMALL, (0, 1), tmp_path, toy=True, progress=False)
    assert {file.name for file in tmp_path.iterdir()} == {f"{SMALL}.json", f"{SMALL}.png"}
    assert len(result_of(SMALL, tmp_path)["cells"]) == 2
    run(SMALL, (0, 1), tmp_path, toy=True, progress=False)
    assert asked == whole[:3] + whole[2:]
    found = run(SMALL, (0, 1), tmp_path, toy=True, progress=False)
    assert len(asked) == len(whole) + 1 and [record["cell"] for record in found["cells"]] == whole
    assert [run["command"] for run in found["runs"]] == [f"python -m experiments run {SMALL} --seeds 0 1"]


@pytest.mark.parametrize("again", [(0, 1), (0,)])
def test_a_write_that_breaks_off_leaves_the_old_file_and_what_was_done(again, tmp_path, monkeypatch, undrawn):
    run(SMALL, (0,), tmp_path, toy=True, progress=False)
    before = (tmp_path / f"{SMALL}.json").read_bytes()

    def breaks(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patched, pytest.raises(OSError):
        patched.setattr(runner.os, "replace", breaks)
        run(SMALL, (0, 1), tmp_path, toy=True, progress=False)
    assert (tmp_path / f"{SMALL}.json").read_bytes() == before
    monkeypatch.setattr(module_of(SMALL), "run", None)
    found = run(SMALL, again, tmp_path, toy=True, progress=False)
    assert [record["cell"]["seed"] for record in found["cells"]] == [0] * 8 + [1] * 8
    assert [run["command"][-3:] for run in found["runs"]] == ["s 0", "0 1"], "what was done by then is taken over"
    assert not (tmp_path / f"{SMALL}.jsonl").exists()


def test_results_of_another_size_are_not_mixed(tmp_path, undrawn):
    run(SMALL, (0,), tmp_path, toy=True, progress=False)
    with pytest.raises(ValueError, match="take it away to begin anew"):
        run(SMALL, (0,), tmp_path, progress=False)


def test_the_same_seed_gives_the_same_numbers():
    module = module_of("slalom_table10")
    one, other = (module.run(dict(text="generated", seed=0), **module.TOY) for _ in range(2))
    assert runner.plain(one) == runner.plain(other)


def test_the_command_line_lists_runs_and_shows(tmp_path, capsys, monkeypatch):
    main([])
    listed = capsys.readouterr().out
    assert all(name in listed for name in NAMES) and "minutes" in listed
    module = module_of(SMALL)
    monkeypatch.setattr(module, "SIZE", module.TOY)
    main(["run", SMALL, "--seeds", "0", "--folder", str(tmp_path)])
    assert "largest error" in capsys.readouterr().out
    for words, said in (["run", "slalom_nothing"], "choose one of"), (["show", "slalom_length"], "is kept"):
        with pytest.raises(SystemExit, match=said):
            main([*words, "--folder", str(tmp_path)])


def test_what_a_lecture_shows_are_the_chosen_rows_and_what_made_them():
    result = recorded("slalom_table2b", ["model", "method", "AUROC"], drawn=False, model="imdb-tame",
                      method=("LIME", "SHAP"), marked_by="grammar")
    title, head, lime, shap, *paper, made = result.text.splitlines()
    assert {line.split()[0] for line in paper} == {"DistilBERT", "BERT", "GPT-2"}       # of no cell, so they stay
    assert head.split() == ["model", "method", "AUROC"] and "<img" not in result.html
    assert lime.split()[:2] == ["imdb-tame", "LIME"] and shap.split()[:2] == ["imdb-tame", "SHAP"]
    found = result_of("slalom_table2b")
    assert "3 cells" in made and found["runs"][0]["command"] in made and found["cells"][0]["date"] in made
    whole = recorded(SMALL)
    assert "<img" in whole.html and whole.text.count("coder, ") == 8
    for bad, said in (dict(model="none"), "no cell or no row"), (dict(method="none"), "no cell or no row"), (
            dict(colour=1), "has no 'colour'"), (dict(columns=["colour"]), "has no 'colour'"), (
            dict(name="none"), "no result named 'none': choose one of cui_transition"):
        with pytest.raises(ValueError, match=said):
            recorded(**{"name": "slalom_table2b"} | bad)


def test_the_papers_rows_stay_and_a_figure_is_what_was_drawn():
    """The words and bytes that the runs left, whatever is installed."""
    real = recorded("slalom_table2c", ["text", "model", "deletion"], text="real", drawn=False).text
    assert "generated" not in real and len(re.findall("^paper ", real, re.M)) == 21 and "9 cells" in real
    with pytest.raises(ValueError, match="no cell or no row"):
        recorded("slalom_table11", model="imdb-6layer")                 # a setting, but the column has more in it
    for name in NAMES:
        drawn = module_of(name).figure(result_of(name)["cells"])
        html = re.sub(' data-letters="[^"]*"', "", drawn.html)           # which a kept figure does not say
        assert html in recorded(name).html and drawn.text == result_of(name)["alt"]


def test_the_old_name_still_gives_what_is_recorded():
    with pytest.warns(FutureWarning, match="is now coursekit.results: from coursekit.results import recorded"):
        from coursekit.experiments import recorded as old
    from coursekit.experiments import cui_unfreezing
    assert old is recorded
    assert cui_unfreezing.report([])[0][0][0] == cui_unfreezing.STARTS[0] == "converged"
