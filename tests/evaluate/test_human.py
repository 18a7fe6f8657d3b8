"""The two studies: driven by their buttons, stopped and resumed, pooled, and what their pages show and do not."""

import re
import sys
import zipfile

import ipywidgets
import numpy as np
import pytest

from coursekit.debate import leaky
from coursekit.explain import leave_one_out
from coursekit.models.bag_of_words import BagOfWords
from coursekit.people import Afterwards, ModelChoiceStudy, WordRemovalStudy, pool, right_by_person, study_widget
from coursekit.people.study_files import read_answers, write_answers
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


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Whoever presses here waits before."""
    now = iter(range(10 ** 6))
    monkeypatch.setattr(study_widget.time, "monotonic", lambda: next(now))


def press(study, words):
    button, = [b for b in found(study.widget, ipywidgets.Button) if words in b.description]
    button.click()


def expert(study):
    """Answers as one who knows which model is which."""
    while not study.done:
        study.answer("left" if study._now(study.step)[2][0] == study.better else "right")


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


def scores_on(line):
    return re.findall(r"(\S+)\(([^)]*)\)", line.partition(": ")[2])


def test_sides_are_recorded_and_controls_have_the_same_colours_shuffled(tmp_path):
    true = {"leaky": {"monday": "+2", "<b>": "-1"}, "clean": {"good": "+1"}}
    shuffled, where = 0, []
    for seed in range(20):
        study = choice(tmp_path / f"{seed}.csv", seed=seed)
        study.agree()
        while not study.done:
            page, (i, explained, names) = study.static(), study._now(study.step)
            assert "shuffled" not in page.text, "nobody is told which pages these are"
            assert f"soup{i}" in page.text and "<b>monday" not in page.html and "&lt;b&gt;" in page.html
            for name, line in zip(names, page.text.splitlines()[-2:], strict=True):
                shown = {word: score for word, score in scores_on(line) if score != "0"}
                assert sorted(shown.values()) == sorted(true[name].values()), "as many and as strong"
                if explained == "shuffled":
                    shuffled += shown != true[name]
                else:
                    assert shown == true[name]
            study.answer("left")
            assert [study.rows[-1][name] for name in ("left", "right", "explained")] == [*names, explained]
            assert (study.rows[-1]["correct"] == "yes") == (names[0] == "clean")
        where.append([step for step in range(6) if study._now(step)[1] == "shuffled"])
        assert len(where[-1]) == 2
    assert shuffled > 40 and len(set(map(tuple, where))) > 5, "of 80; and they come in any order"


def test_a_placebo_is_told_before_the_consent(tmp_path):
    assert "shuffled" in choice(tmp_path / "a.csv").static().text
    assert "shuffled" not in choice(tmp_path / "b.csv", controls=0).static().text


def test_while_a_study_runs_its_file_tells_no_answer(tmp_path):
    path = tmp_path / "mine.csv"
    study = choice(path, seed=2)
    study.agree()
    while not study.done:
        study.answer("right")
        lines = path.read_text().splitlines()
        if not study.done:
            assert not re.search("leaky|clean|yes|no\\b|shuffled", "\n".join(lines)), "nothing of it in clear"
            assert len({len(line) for line in lines[2:]}) == 1, "nor by how long it is"
            assert len(set(re.findall("[0-9a-f]{64}", lines[-1]))) == 4
        assert read_answers(path) == study.rows == choice(path).rows
    assert {"left", "correct"} <= set(lines[0].split(",")) and re.search("leaky,clean|clean,leaky", lines[-1])


def test_a_forged_seal_is_damage(tmp_path):
    path = tmp_path / "mine.csv"
    study = choice(path)
    study.agree()
    rows = [study.rows[0], study.rows[0] | {"step": "1"}]
    for forged in ("no hex", "ff" * 32):
        write_answers(path, [{name.replace("left", "sealed left"): value for name, value in row.items()} | (
            {"sealed left": forged} if row["step"] == "1" else {}) for row in rows])
        with pytest.raises(ValueError, match="mine.csv is damaged") as said:
            pool([path])
        assert "\n" not in str(said.value)


OLD = """material,person,nickname,seed,step,document,explained,left,right,answer,correct,check
8f6f7a0d0f5e,1a2b3c4d,Ada,3,0,,,,,,,b858b7f5
8f6f7a0d0f5e,1a2b3c4d,Ada,3,1,4,no,raw,cleaned,left,no,a63e2190
8f6f7a0d0f5e,1a2b3c4d,Ada,3,2,1,yes,cleaned,raw,left,yes,a0438a33
"""


def test_files_of_earlier_versions_are_read(tmp_path):
    path = tmp_path / "trust.csv"
    path.write_text(OLD)
    assert [tuple(t) for t in right_by_person(pool([path]), "no").values()] == [(0, 1, 0)]
    assert [tuple(t) for t in right_by_person(pool([path]), "yes").values()] == [(1, 0, 0)]
    with pytest.raises(ValueError, match="another study"):
        choice(path)


def test_the_second_of_two_quick_clicks_is_no_answer(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(study_widget.time, "monotonic", lambda: now[0])
    study = choice(tmp_path / "mine.csv")
    press(study, "agree")
    press(study, "left")
    assert study.step == 0 and "too soon" in found(study.widget, ipywidgets.HTML)[-1].value
    now[0] += 0.5
    press(study, "left")
    press(study, "left")
    assert study.step == 1 and "too soon" in found(study.widget, ipywidgets.HTML)[-1].value
    now[0] += 0.5
    press(study, "right")
    assert study.step == 2 and found(study.widget, ipywidgets.HTML)[-1].value == ""


def test_a_paper_version_has_every_page_and_the_key_apart(tmp_path):
    study = choice(tmp_path / "mine.csv", seed=5)
    key = study.paper(tmp_path / "sheet.html")
    html = (tmp_path / "sheet.html").read_text("utf8")
    assert not study.rows and not (tmp_path / "mine.csv").exists()
    sheets = html.split("<section>")[1:]
    assert len(sheets) == 7 and "break-after:page" in html and "Write no name" in sheets[0]
    assert all(sheet.count("☐") == 3 and "Seed 5" in sheet for sheet in sheets[1:])
    assert not re.search("leaky|correct|explained|<script|http", html), "nothing tells the answers, nothing is loaded"
    right = [line.split()[-1] for line in key.text.splitlines()[-6:]]
    study.agree()
    for side in right:
        page = study.static().html
        assert all(part in sheets[study.step + 1] for part in re.findall("<div style.*?</div>", page, re.S)[:1])
        study.answer(side)
    assert [row["correct"] for row in study.rows[1:]] == ["yes"] * 6


@pytest.fixture
def handed_in(tmp_path):
    """A folder with the files of three people, as a class hands them in, and what systems put beside."""
    folder = tmp_path / "class"
    for k, name in enumerate(("Ada Lovelace_12/choice.csv", "b/choice (1).CSV", "c.csv")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        study = choice(path, seed=k)
        study.agree()
        study.answer("left")
        if k:
            expert(study)
    (folder / "__MACOSX").mkdir()
    (folder / "__MACOSX" / "._c.csv").write_bytes(b"\0\1")
    (folder / "readme.txt").write_text("mine")
    (folder / "more.csv").mkdir()
    return folder


def zipped(folder):
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for path in folder.rglob("*"):
            archive.write(path, path.relative_to(folder))
    return folder.with_suffix(".zip")


def test_a_folder_and_a_zip_are_pooled_whatever_the_names(handed_in):
    rows = pool(handed_in)
    assert len(rows) == 1 + 6 + 6 and len({row["person"] for row in rows}) == 3
    assert pool(str(handed_in)) == pool(zipped(handed_in)) == pool(str(zipped(handed_in))) == rows
    assert pool(handed_in / "c.csv") == pool([handed_in / "c.csv"]) and len(pool(str(handed_in / "c.csv"))) == 6
    with pytest.raises(FileNotFoundError):
        pool(handed_in / "none.zip")


def test_files_of_both_studies_may_lie_together(handed_in, parts):
    words = WordRemovalStudy(*parts, handed_in / "words.csv", rounds=2, offered=4, seed=0)
    words.agree()
    words.answer(words.offered[:1])
    assert not re.search("clean_", (handed_in / "words.csv").read_text().replace("sealed clean_", ""))
    with pytest.raises(ValueError, match="another study"):
        pool(handed_in)
    assert len(pool(zipped(handed_in), ModelChoiceStudy)) == 13
    assert pool(handed_in, WordRemovalStudy) == words.rows[1:] == pool(zipped(handed_in), WordRemovalStudy)


def test_hostile_archives_are_refused_in_one_line(handed_in, tmp_path):
    whole = zipped(handed_in)
    huge = tmp_path / "huge.zip"
    with zipfile.ZipFile(huge, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../bomb.csv", b"material,person,nickname,seed\n" + b"0" * 10 ** 8)
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(broken, "w") as archive:
        archive.write(handed_in / "c.csv", "c.csv")
    broken.write_bytes(broken.read_bytes().replace(b",left,", b",rite,", 1))
    locked = tmp_path / "locked.zip"
    data = bytearray(whole.read_bytes())
    for mark, at in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        place = -1
        while (place := data.find(mark, place + 1)) >= 0:
            data[place + at] |= 1                                       # "has a password"
    locked.write_bytes(data)
    field = tmp_path / "field.csv"
    field.write_text("material,person,nickname,seed\n" + "a" * 200_000)
    for wrong in (huge, broken, locked, field):
        with pytest.raises(ValueError, match=wrong.stem) as said:
            pool(wrong)
        assert "\n" not in str(said.value) and len(str(said.value)) < 400
    assert not list(tmp_path.rglob("*bomb*"))


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
    assert "sealed clean_after" in (tmp_path / "mine.csv").read_text()
    row = {name: float(study.rows[1][name]) for name in study.columns[2:]}
    assert row["before"] > row["after"] and row["clean_before"] < row["clean_after"]
    again = WordRemovalStudy(*parts, tmp_path / "mine.csv", rounds=2, offered=8)
    assert again.offered == study.offered and again.static() == study.static()
    with pytest.raises(ValueError, match="words of this round"):
        again.answer(["grumble"])
    press(again, "Remove")                                              # none ticked: nothing changes
    assert again.done and again.rows[2]["before"] == again.rows[2]["after"] == f"{row['after']:.4f}"
    assert "elsewhere" in again.static().text and len(pool([tmp_path / "mine.csv"])) == 2


def test_blind_readers_tick_as_many_by_lot(parts, tmp_path):
    study = WordRemovalStudy(*parts, tmp_path / "mine.csv", rounds=2, offered=8, seed=0)
    assert study.blind((0, 0), 3).tolist() == [0, 0, 0] and len(set(study.blind((8, 8), 4))) == 1
    assert study.blind((8, 99), 1) == study.blind((8, 8), 1), "no more than is on offer"
    assert study.blind((2, 1), 9).tolist() == study.blind((2, 1), 9).tolist() != study.blind((2, 1), 9, 1).tolist()
    study.agree()
    study.answer(study.weighs_most(()))
    study.answer(study.weighs_most(study.removed))
    gained = float(study.rows[-1]["clean_after"]) - float(study.rows[1]["clean_before"])
    assert study.blind((8, 8), 1) == pytest.approx(gained, abs=1e-4), "all that is on offer: nothing is left to chance"


@pytest.mark.parametrize("ticks", [(1,), (2, 1), (8, 8)])
def test_somebody_blind_is_above_the_median_of_blind_readers_half_of_the_time(parts, tmp_path, ticks):
    """However many they tick, if who is level goes up or down by lot."""
    study = WordRemovalStudy(*parts, tmp_path / "mine.csv", rounds=2, offered=8, seed=0)
    gains = np.concatenate([study.blind(ticks, 10, seed) for seed in range(16)]).reshape(16, 10)  # one and nine
    rng = np.random.default_rng(0)
    people = rng.permuted(np.repeat(gains.reshape(1, -1), 30, 0), axis=1).reshape(-1, 10)       # regrouped by lot
    for tens, least in ((gains, 0.1), (people, 0.42)):
        jittered = tens + 1e-9 * rng.random(tens.shape)
        share = (jittered[:, 0] > np.median(jittered[:, 1:], axis=1)).mean()
        assert least <= share <= 1 - least


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
