"""The page of what reproduces: made of its data and the kept results, and it leaves nothing of the two papers out."""

import re
import tomllib

import pytest

from coursekit.results import result_of
from tools import reproduced

DATA = tomllib.loads(reproduced.DATA.read_text(encoding="utf8"))
CLAIMS = [(part["title"].partition(":")[0], claim) for part in DATA["part"] for claim in part.get("claim", [])]

# What the papers have; where one thing makes two claims, both.
PAPERS = {
    "Attention meets post-hoc interpretability": {
        *(f"Figure {n}" for n in range(1, 7)), *(f"Lemma D.{n}" for n in range(1, 6)), "Theorem 4.1", "Appendix A",
        "Theorem 5.1, the factor (Eq. 19)", "Theorem 5.1, the centring", "Theorem 5.1, the remainder", "Eq. 17",
        "Comments on Theorem 4.1", "Comments on Theorem 5.1", "Proposition B.1", "Section 6, the distance",
        "Section 6, repeated words", "Section 6, skip connections", "Appendices E and F, accuracy"},
    "Attention mechanisms don't learn additive models": {
        *(f"Figure {n}" for n in range(1, 12) if n != 4), "Figure 4 (a, b)", "Figure 4 (c)", "Figure 4 (d)",
        *(f"Table {n}" for n in range(1, 13) if n != 2), "Table 2a", "Table 2b", "Table 2c", "Table 11, second part",
        "Table 13, BLOOM", "Table 13, Mamba", "Proposition 4.1", "Corollary 4.2", "Corollary B.2", "Proposition 5.1",
        "Proposition 5.2", "Section 4.3, [CLS] and positions", "Section 4.3, the counting argument", "Eq. 65",
        "Eqs. 66–68", "Appendix C.1", "Algorithm 1"},
}


def test_the_page_is_that_of_its_data_and_of_the_results():
    """Every reference is to one cell, or one section of a lecture as it is: what is not is an error."""
    told = reproduced.PAGE.read_text(encoding="utf8")
    assert told == reproduced.page(), "write it anew: python -m tools.reproduced"


@pytest.mark.parametrize("paper", PAPERS)
def test_everything_of_a_paper_is_told_once(paper):
    listed = [name for of, claim in CLAIMS if of == paper for name in claim["of"]]
    assert sorted(listed) == sorted(PAPERS[paper])
    assert {of for of, _ in CLAIMS} == {*PAPERS}


def test_each_verdict_is_a_known_one_and_has_its_reason():
    for _, claim in CLAIMS:
        assert claim["verdict"] in reproduced.VERDICTS and {"of", "says", "paper", "verdict", "why"} <= {*claim}, claim
        assert claim.keys() <= {"of", "says", "paper", "ours", "code", "verdict", "why"}, claim
        assert ("ours" in claim) or claim["verdict"] == "out of reach", claim
    assert all(f"| **{verdict}** | " in DATA["intro"] for verdict in reproduced.VERDICTS), "the legend"


def test_tables_are_even_and_short():
    for part in DATA["part"]:
        for one in part.get("table", []):
            assert {len(row) for row in one["rows"]} == {len(one["columns"])} and len(one["rows"]) <= 12, one["title"]
    rows = re.findall(r"^\|.*\|$", reproduced.PAGE.read_text(encoding="utf8"), re.M)
    assert not [row for row in rows if re.search(r"[{][\w ]+: ", row)], "a reference that was not read"


def test_a_number_is_looked_up_by_labels_and_column():
    [text] = reproduced.cell("slalom_table6", ["bert, 1", "SLALOM"], "usual")
    rows = result_of("slalom_table6")["rows"]
    assert text == next(row[2] for row in rows if row[:2] == ["bert, 1", "SLALOM"])
    assert reproduced.filled("{slalom_table6: bert, 1 | SLALOM | usual}") == text
    found = [float(row[2].split()[0]) for row in rows if row[1] == "SLALOM"]
    assert reproduced.filled("{range of slalom_table6: SLALOM | usual}") == f"{min(found):.2f} to {max(found):.2f}"


@pytest.mark.parametrize("reference, said", [
    ("{slalom_table99: bert, 1 | usual}", "no such result"),
    ("{slalom_table6: bert, 1 | SLALOM | unusual}", "its columns are"),
    ("{slalom_table6: SLALOM | usual}", "9 rows"),
    ("{slalom_table6: bert, 99 | SLALOM | usual}", "0 rows"),
    ("{lecture 09: Take-away in verse}", "0 of its sections")])
def test_what_is_not_there_is_an_error_in_one_line(reference, said):
    with pytest.raises(ValueError, match=said) as error:
        reproduced.filled(reference)
    assert "\n" not in str(error.value)
