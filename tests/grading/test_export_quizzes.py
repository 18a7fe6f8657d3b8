"""The quizzes for Moodle and Canvas, read back: nothing is lost, one answer is right, numbers keep their distance."""

import re
import xml.etree.ElementTree as ET
import zipfile

import pytest

from coursegrade import courses
from coursegrade.__main__ import main
from coursegrade.selfcheck import export, load
from coursegrade.selfcheck.questions import kind, within
from coursegrade.selfcheck.words import rendered

QUIZZES = {path.stem: load(path.stem) for path in sorted((courses.folder() / "quizzes").glob("*.toml"))}
ODD = [{"ask": "What is `{a: 1}`, if $\\frac{a}{b} = 2$ ~ #1?\n\nSay: it = so.", "choices": [
           {"text": "$\\{a\\}$ = `x:y`", "right": True, "why": "Yes: `\\n` = {}.\n\n```\na = {1: 2}\n```"},
           {"text": "~b", "why": "No # 1."}, {"text": "c\\", "why": "No }."}]},
       {"ask": "Sort.", "order": ["x = 1", "y~", "{z}"], "why": "As in the alphabet."}]


def read_gift(text):
    """[(title, what is asked, [(sign, answer, feedback)])] of a GIFT file, by its signs alone."""
    found = []
    for part in re.split(r"\n\s*\n", text):
        if not part.strip() or part.startswith("$CATEGORY"):
            continue
        title, asked, inside = re.fullmatch(r"::(.*?)::\[html\]((?:\\.|[^{\\])*)\{(.*)\}\s*", part, re.S).groups()
        number = inside.startswith("#")
        answers = re.findall(r"([=~])((?:\\.|[^=~#\\])*)#((?:\\.|[^=~#\\])*)", inside[number:], re.S)
        found.append((plain(title), plain(asked), [(sign, plain(given).strip(), plain(said).strip())
                                                   for sign, given, said in answers]))
    return found


def plain(text):
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text)


@pytest.mark.parametrize("questions", [*QUIZZES.values(), ODD], ids=[*QUIZZES, "odd signs"])
def test_gift_is_read_back(questions):
    found = read_gift(export.gift({"Quiz": questions}))
    assert [title for title, *_ in found] == [f"Quiz {place}" for place in range(1, len(questions) + 1)]
    for (_, asked, answers), question in zip(found, questions, strict=True):
        assert asked == export.asked(question) and asked.startswith(rendered(question["ask"]))
        wanted = export.answers(question)
        assert [said for *_, said in answers] == [why for *_, why in wanted]
        if kind(question) == "number":
            assert [given for _, given, _ in answers] == ["%0%" * (not right) + f"{given}:{within(question)}"
                                                          for given, right, _ in wanted]
        else:
            assert [given for _, given, _ in answers] == [given for given, *_ in wanted]
            assert [sign for sign, *_ in answers] == ["~="[right] for _, right, _ in wanted]
            assert len({given for given, *_ in wanted}) == len(wanted) >= 3
        assert sum(right for _, right, _ in wanted) == 1


def test_qti_is_read_back(tmp_path):
    export.write_qti(tmp_path / "q.zip", QUIZZES | {"odd <&\"> signs": ODD})
    name = {"q": "http://www.imsglobal.org/xsd/ims_qtiasiv1p2", "m": "http://www.imsglobal.org/xsd/imscp_v1p1"}
    with zipfile.ZipFile(tmp_path / "q.zip") as archive:
        manifest = ET.fromstring(archive.read("imsmanifest.xml"))
        files = [file.get("href") for file in manifest.iterfind(".//m:file", name)]
        assert sorted([*files, "imsmanifest.xml"]) == sorted(archive.namelist())
        made = [ET.fromstring(archive.read(file)) for file in files]
    for root, (title, questions) in zip(made, (QUIZZES | {"odd <&\"> signs": ODD}).items(), strict=True):
        assert root.find("q:assessment", name).get("title") == title
        for item, question in zip(root.iterfind(".//q:item", name), questions, strict=True):
            wanted, said = export.answers(question), item.findall("q:itemfeedback", name)
            assert item.find("q:presentation/q:material/q:mattext", name).text == export.asked(question)
            assert [one.find(".//q:mattext", name).text for one in said] == [why for *_, why in wanted]
            rules = item.findall(".//q:respcondition", name)
            assert [rule.find("q:setvar", name) is not None for rule in rules] == [right for _, right, _ in wanted]
            assert [rule.find("q:displayfeedback", name).get("linkrefid") for rule in rules] == [
                one.get("ident") for one in said]
            if kind(question) == "number":
                for rule, (given, *_) in zip(rules, wanted, strict=True):
                    low, high = (float(rule.find(f".//q:{name_}", name).text) for name_ in ("vargte", "varlte"))
                    assert (low, high) == pytest.approx((given - within(question), given + within(question)))
            else:
                assert [one.text for one in item.iterfind(".//q:response_label//q:mattext", name)] == [
                    given for given, *_ in wanted]


def test_the_command_writes_both(tmp_path, capsys):
    assert main(["quizzes", "--to", str(tmp_path / "out")]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"quizzes.gift", "quizzes-qti.zip"}
    assert f"{len(QUIZZES)} quizzes" in capsys.readouterr().out
    written = read_gift((tmp_path / "out" / "quizzes.gift").read_text(encoding="utf-8"))
    assert len(written) == sum(map(len, QUIZZES.values())) == 125
