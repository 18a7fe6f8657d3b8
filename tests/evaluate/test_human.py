"""The two studies: driven by their buttons, stopped and resumed, pooled, and what their pages show and do not."""

import re
import sys

import ipywidgets
import pytest

from coursekit.debate import leaky
from coursekit.explain import leave_one_out
from coursekit.models.bag_of_words import BagOfWords
from coursekit.people import Afterwards, ModelChoiceStudy, WordRemovalStudy, pool, right_by_person
from coursekit.show import table
from coursekit.worlds import Review, reviews

MODELS = {"leaky": BagOfWords({"monday": 2.0, "<b>": -1.0}), "clean": BagOfWords({"good": 1.0, "dull": -1.0})}
SEEN = [Review("", 1, tokens=("good", f"soup{i}", "monday", "<b>")) for i in range(6)]


def choice(path, **more):
    return ModelChoiceStudy(MODELS, SEEN, leave_one_out, path, **{"better": "clean", "controls": 2} | more)


def found(box, kind):
    """The widgets of a kind that are shown."""
    inside = [part for child in getattr(box, "children", ()) for part in found(child, kind)]
    return inside + [box] * isinstance(box, kind)


def press(study, words):
    button, = [b for b in found(study.widget, ipywidgets.Button) if words in b.description]
    button.click()


def expert(study):
    """Answers as one who knows which model is which."""
    while not study.done:
        study.answer("left" if study._now()[2][0] == study.better else "right")


def test_nothing_is_written_before_consent_and_no_name_unless_typed(tmp_path):
    path = tmp_path / "mine.csv"
    study = choice(path, seed=3)
    assert "nowhere else" in study.static().text and "soup" not in study.static().text and not path.exists()
    assert not any("trust" in b.description for b in found(study.widget, ipywidgets.Button))
    with pytest.raises(ValueError, match="agree"):
        study.answer("left")
    press(study, "agree")
    head, first = path.read_text().splitlines()
    assert re.fullmatch(r"[0-9a-f]{12},[0-9a-f]{8},,3,0,{7}[0-9a-f]{8}", first) and head.startswith("material,person")
    study.withdraw()
    assert not path.exists() and found(study.widget, ipywidgets.Text)
    nickname, = found(study.widget, ipywidgets.Text)
    nickname.value = "=HYPERLINK(1) Zoë, 2"
    press(study, "agree")
    assert study.rows[0]["nickname"] == "HYPERLINK1 Zoë 2"


def test_buttons_answer_and_a_restart_goes_on(tmp_path):
    path = tmp_path / "mine.csv"
    study = choice(path)
    press(study, "agree")
    made_anew = []
    study.widget.observe(lambda change: made_anew.append(change), "children")
    for side in ("left", "right", "cannot"):
        press(study, side)
    assert not made_anew, "the keyboard keeps its place"
    again = choice(path)                                                # a kernel that knows nothing of the first
    assert again.rows == study.rows and again.step == 3 and again.static() == study.static()
    assert [row["answer"] for row in again.rows[1:]] == ["left", "right", "unsure"]
    for _ in range(3):
        press(again, "left")
    assert again.done and not found(again.widget, ipywidgets.Button)
    assert "Done" in found(again.widget, ipywidgets.HTML)[0].value
    assert sorted(row["document"] for row in again.rows[1:]) == list("012345")
    with pytest.raises(ValueError, match="all are"):
        again.answer("left")
    with pytest.raises(ValueError, match="another study"):
        choice(path, better="leaky")


def test_sides_are_recorded_and_controls_show_no_explanation(tmp_path):
    study = choice(tmp_path / "mine.csv", seed=1)
    study.agree()
    while not study.done:
        page, (i, explained, names) = study.static(), study._now()
        assert explained == (study.step >= 2) == ("monday(+2)" in page.text) and f"soup{i}" in page.text
        assert "<b>monday" not in page.html and "&lt;b&gt;" in page.html
        study.answer("left")
        assert [study.rows[-1]["left"], study.rows[-1]["right"]] == names
        assert (study.rows[-1]["correct"] == "yes") == (names[0] == "clean")
    assert {row["left"] for row in study.rows[1:]} == {"leaky", "clean"}


def test_a_file_that_cannot_be_written_is_said_and_loses_nothing(tmp_path):
    study = choice(tmp_path / "folder" / "mine.csv")
    press(study, "agree")
    assert "No such file" in found(study.widget, ipywidgets.HTML)[-1].value and not study.rows
    (tmp_path / "folder").mkdir()
    press(study, "agree")
    assert study.step == 0 and found(study.widget, ipywidgets.HTML)[-1].value == ""


def test_a_class_is_pooled(tmp_path):
    paths = [tmp_path / f"{i}.csv" for i in range(4)]
    for path in paths:
        study = choice(path)
        study.agree()
        expert(study)
    pooled = pool(paths)
    assert len(pooled) == 24 and [t.right for t in right_by_person(pooled, "yes").values()] == [4] * 4
    assert [tuple(t) for t in right_by_person(pooled).values()] == [(6, 0, 0)] * 4


def test_damaged_foreign_and_copied_files_are_refused(tmp_path):
    mine, other, damaged = (tmp_path / f"{name}.csv" for name in ("mine", "other", "damaged"))
    for path, better in ((mine, "clean"), (other, "leaky")):
        study = choice(path, better=better)
        study.agree()
        expert(study)
    text = mine.read_text()
    lines = text.splitlines(keepends=True)
    for wrong in [text.replace(",clean,", ",leaky,", 1), "".join(lines[:3] + lines[4:]), text[:-30],
                  text + lines[-1], text.replace(",", ";"), "", "a picture"]:
        damaged.write_text(wrong)
        with pytest.raises(ValueError, match="damaged.csv(, line . is damaged| has no answers)") as said:
            pool([mine, damaged])
        assert "\n" not in str(said.value)
    damaged.write_text("\ufeff" + text.replace("\n", "\r\n"))            # what a spreadsheet's editor may do, and may
    assert pool([damaged]) == pool([mine])
    for path, words in ((other, "another study"), (damaged, "a copy")):
        with pytest.raises(ValueError, match=words):
            pool([mine, path])


@pytest.fixture(scope="module")
def parts():
    return [leaky(reviews(150, seed=s), share, seed=s) for s, share in ((0, .95), (1, .95), (2, .5))]


def test_words_are_removed_and_the_model_is_trained_again(parts, tmp_path):
    study = WordRemovalStudy(*parts, tmp_path / "mine.csv", rounds=2, offered=8, seed=0)
    press(study, "agree")
    boxes = found(study.widget, ipywidgets.Checkbox)
    assert [box.description for box in boxes] == study.offered and len(boxes) == 8
    assert {"grumble", "applause"} <= set(study.offered) and "grumble(" in study.static().text
    for box in boxes:
        box.value = box.description in ("grumble", "applause")
    press(study, "Remove")
    assert set(study.removed) == {"grumble", "applause"} and not set(study.removed) & set(study.offered)
    row = {name: float(study.rows[1][name]) for name in study.columns[2:]}
    assert row["before"] > row["after"] and row["clean_before"] < row["clean_after"]
    again = WordRemovalStudy(*parts, tmp_path / "mine.csv", rounds=2, offered=8)
    assert again.offered == study.offered and again.static() == study.static()
    with pytest.raises(ValueError, match="words of this round"):
        again.answer(["grumble"])
    press(again, "Remove")                                              # none ticked: nothing changes
    assert again.done and again.rows[2]["before"] == again.rows[2]["after"] == f"{row['after']:.4f}"
    assert "elsewhere" in again.static().text and len(pool([tmp_path / "mine.csv"])) == 2


def test_without_widgets_the_page_says_how_to_get_them(tmp_path, monkeypatch):
    study = choice(tmp_path / "mine.csv")
    data = study._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == study.widget.model_id
    assert data["text/html"] == study.static().html and data["text/plain"] == study.static().text
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    data = choice(tmp_path / "mine.csv")._repr_mimebundle_()
    assert "install ipywidgets" in data["text/html"] and len(data) == 2


def test_what_gives_answers_away_waits_for_them_or_for_a_no(tmp_path):
    first, second = choice(tmp_path / "a.csv"), choice(tmp_path / "b.csv")
    waiting = Afterwards(table([["leaky", 1]], ["program", "right"]), first, second)

    def seen():
        return "leaky" in found(waiting.widget, ipywidgets.HTML)[0].value

    assert "leaky" in waiting._repr_mimebundle_()["text/html"], "a page without a kernel reads on"
    first.agree()
    expert(first)
    assert first.over and not second.over and not seen()
    press(waiting, "not take part")
    assert seen() and second.over and not second.done and not (tmp_path / "b.csv").exists()
    assert not found(waiting.widget, ipywidgets.Button)
    second.agree()
    fresh = Afterwards(waiting.shown, first, choice(tmp_path / "b.csv"))
    assert found(fresh.widget, ipywidgets.Button), "a no is not kept"
    expert(fresh.studies[1])
    assert not found(fresh.widget, ipywidgets.Button)


def test_what_is_no_study_is_refused(tmp_path):
    for more in (dict(better="none"), dict(controls=7), dict(controls=-1), dict(seed=-1)):
        with pytest.raises(ValueError):
            choice(tmp_path / "mine.csv", **more)
    study = choice(tmp_path / "mine.csv")
    study.agree()
    with pytest.raises(ValueError, match="'left', 'right', 'unsure'"):
        study.answer("up")
