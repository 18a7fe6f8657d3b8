"""Reviews in which words are marked: read from small files in the official layouts, and laid over a model's tokens."""

import csv
import json
import tarfile
import warnings

import pytest

from coursekit.own import datasets
from coursekit.text import BytePairTokenizer, WordPieceTokenizer, WordTokenizer
from coursekit.worlds import AnnotatedReview, Review, reviews, stand_in

pytestmark = pytest.mark.filterwarnings("ignore:.*the official archive 200")
COLUMNS = ["Input.label", "Input.text", "Answer.Q1Answer", "Answer.html_output"]


def spans(marked):
    """What the authors' page stores: a span a word, and an empty one at the end. *: marked, ~: no longer."""
    made = {"*": '<span class="active">{}</span>', "~": '<span class="">{}</span>'}
    return " ".join(made.get(w[0], "<span>{}</span>").format(w.lstrip("*~")) for w in marked.split()) + " <span></span>"


@pytest.fixture
def yelp(tmp_path):
    """write(rows, name) puts a file into raw_data of the repository, as GitHub's archive unpacks it."""
    folder = tmp_path / "Human-Attention-for-Text-Classification-master" / "raw_data"
    folder.mkdir(parents=True)

    def write(rows, name="ham_part1(50words).csv", columns=COLUMNS):
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([columns, *rows])
        return tmp_path

    return write


GOOD = "Good,  cheap\n\nfood."


def test_yelp_hat_gathers_the_annotators_of_a_review(yelp):
    root = yelp([(1, GOOD, "yes", spans("*Good, ~cheap *food.")), (1, GOOD, "", spans("*Good, cheap food.")),
                 (0, 'A "mess"', "idk", spans('A *"mess"')), (1, GOOD, "no", spans("*Good, *cheap food."))])
    yelp([(7, 0, "Slow.", "no", spans("*Slow."))], "ham_part7.csv", ["index", *COLUMNS])
    with warnings.catch_warnings():
        warnings.simplefilter("error")                                      # nothing is left out, nothing is told
        good, mess, slow = datasets.yelp_hat(root)
    assert good == AnnotatedReview(
        GOOD, 1, name="ham_part1(50words).csv/1", tokens=("Good,", "cheap", "food."), answers=("yes", "", "no"),
        maps=((True, False, True), (True, False, False), (True, True, False)))
    assert good.tokens == tuple(good.text.split()) and good.consensus == (True, False, False)
    assert (mess.text, mess.label, mess.maps, mess.marked_by) == ('A "mess"', 0, ((False, True),), "people")
    assert slow.name == "ham_part7.csv/1"
    folder = root / "Human-Attention-for-Text-Classification-master"
    assert datasets.yelp_hat(folder) == datasets.yelp_hat(folder / "raw_data") == [good, mess, slow]


@pytest.mark.parametrize("text, html", [
    ("R&B <3 it", "<span>R&amp;B</span> <span>&lt;3</span> <span class=\"active\">it</span> <span></span>"),
    ("R&amp;B &lt;3 it", "<span>R&amp;B</span> <span>&lt;3</span> <span class=\"active\">it</span> <span></span>"),
    ("R&B <3 it", "<span>R&amp;B</span><span><font>&lt;3</font></span>\n<span class=\"active\" style=\"\">it</span>"
                  "<span data-vivaldi-spatnav-clickable=\"1\"></span>"),
])
def test_what_browsers_wrote_is_read(yelp, text, html):
    review, = datasets.yelp_hat(yelp([(1, text, "yes", html)]))
    assert review.tokens == ("R&B", "<3", "it") and review.maps == ((False, False, True),)


def test_rows_that_cannot_be_read_are_counted(yelp):
    root = yelp([(1, "good food", "yes", spans("*good food")), (1, "good food", "yes", spans("*good")),
                 (1, "good food", "yes", "{}"), (1, "good food"), (2, "so so", "idk", spans("so so")),
                 (0, "good food", "no", spans("*good food")), (1, "fine", "yes", spans("*fine<br>ly"))])
    with pytest.warns(UserWarning) as told:
        review, = datasets.yelp_hat(root)
    assert review.maps == ((True, False),)
    assert str(told[0].message).endswith(
        "raw_data: 6 of 7 rows are left out: 2 because the spans are not the words of the text (first: "
        "ham_part1(50words).csv/2); 2 because there is no map (first: ham_part1(50words).csv/3); 1 because the label "
        "is not 0 or 1 (first: ham_part1(50words).csv/5); 1 because the label is not that of the review's other rows "
        "(first: ham_part1(50words).csv/6)")
    assert told[0].filename == __file__


def test_yelp_hat_says_what_to_put_where(yelp, tmp_path):
    with pytest.raises(FileNotFoundError, match="no ham_part.*csv in .*: put the folder raw_data of https:") as e:
        datasets.yelp_hat(tmp_path / "nowhere")
    assert "\n" not in str(e.value)
    with pytest.raises(ValueError, match=r"damaged \('Input.label'\): expected columns Input.label, Input.text"):
        datasets.yelp_hat(yelp([(1, "a")], columns=["label", "text"]))
    (yelp([]) / "Human-Attention-for-Text-Classification-master/raw_data/ham_part1(50words).csv").write_text(
        ",".join(COLUMNS) + '\n1,"cut o')
    with pytest.raises(ValueError, match=r"damaged \(unexpected end of data\)"):
        datasets.yelp_hat(tmp_path)


def passage(start, end, name="negR_000.txt"):
    return {"docid": name, "start_token": start, "end_token": end, "start_sentence": -1, "end_sentence": -1, "text": ""}


def line(name="negR_000.txt", label="NEG", evidences=()):
    return {"annotation_id": name, "classification": label, "evidences": list(evidences), "docids": None,
            "query": "What is the sentiment of this review?", "query_type": None}


@pytest.fixture
def movies(tmp_path):
    """write(lines) puts val.jsonl beside two documents; one has a blank that str.split() would cut at."""
    folder = tmp_path / "movies"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "negR_000.txt").write_text("a dull\xa0film , \nand  a mess .\n", encoding="utf-8")
    (folder / "docs" / "posR_000.txt").write_text("fun movie\n")

    def write(lines):
        (folder / "val.jsonl").write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
        return tmp_path

    return write


def test_eraser_movies_marks_the_passages(movies):
    root = movies([line(evidences=[[passage(1, 2)], [passage(4, 6), passage(5, 6)]]), line("posR_000.txt", "POS")])
    dull, fun = datasets.eraser_movies(root, "val")
    assert dull.tokens == ("a", "dull\xa0film", ",", "and", "a", "mess", ".")
    assert dull.maps == ((False, True, False, False, True, True, False),) and dull.consensus == dull.maps[0]
    assert (dull.label, dull.name, dull.topic, dull.marked_by) == (0, "val/negR_000.txt", "film", "people")
    assert (fun.label, fun.tokens, fun.maps) == (1, ("fun", "movie"), ((False, False),))
    assert datasets.eraser_movies(root / "movies", "val") == [dull, fun]
    docs = root / "movies" / "docs"
    (root / "movies" / "docs.jsonl").write_text("".join(
        json.dumps({"docid": f.name, "document": f.read_text("utf-8")}) + "\n" for f in docs.iterdir()))
    for file in docs.iterdir():
        file.unlink()
    assert datasets.eraser_movies(root, "val") == [dull, fun]


@pytest.mark.filterwarnings("error:.*are left out")
def test_an_empty_passage_marks_nothing_and_its_review_stays(movies):
    """Also at the end of the document, and where it is the only one."""
    root = movies([line(evidences=[[passage(1, 2), passage(3, 3)], [passage(7, 7)]]),
                   line(evidences=[[passage(2, 2)]])])
    some, none = datasets.eraser_movies(root, "val")
    assert some.maps == ((False, True, *[False] * 5),) and none.maps == ((False,) * 7,)


def test_as_many_reviews_as_the_archive_has_get_no_warning(movies):
    with pytest.warns(UserWarning, match="val.jsonl has 201 reviews, the official archive 200: if that is not meant"):
        datasets.eraser_movies(movies([line()] * 201), "val")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(datasets.eraser_movies(movies([line()] * 200), "val")) == 200


def test_lines_that_cannot_be_read_are_counted(movies):
    root = movies([
        line("posR_000.txt", "POS"), "{", "[]", line(label="MAYBE"), {"annotation_id": "negR_000.txt"},
        line("gone.txt"), line(evidences=[[passage(6, 8)]]), line(evidences=[[passage(3, 2)]]),
        line(evidences=[[passage(-2, 2)]]),
        line(evidences=[[passage(0, 1, "posR_000.txt")]]), line(evidences=[[passage("0", 1)]]), line(["x"])])
    with pytest.warns(UserWarning) as told:
        assert len(datasets.eraser_movies(root, "val")) == 1
    assert str(told[0].message).endswith("val.jsonl has 12 reviews, the official archive 200: if that is not meant, "
                                         "unpack it once more")
    assert str(told[1].message).endswith(
        "movies: 11 of 12 rows are left out: 6 because it is not of the form that ERASER describes (first: val.jsonl/2)"
        "; 4 because a passage lies outside of its document (first: val.jsonl/7); 1 because its document "
        "is missing (first: val.jsonl/6)")


def test_eraser_movies_says_what_to_put_where(movies, tmp_path):
    with pytest.raises(FileNotFoundError, match="unpack http://www.eraserbenchmark.com.* or call again with download"):
        datasets.eraser_movies(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="unknown split 'dev': use 'train' or 'val' or 'test'"):
        datasets.eraser_movies(movies([]), "dev")
    with pytest.raises(FileNotFoundError, match="train.jsonl is missing: unpack"):
        datasets.eraser_movies(movies([]))
    (tmp_path / "movies" / "docs.jsonl").write_text('{"docid": "a"}\n')
    with pytest.raises(ValueError, match="docs.jsonl is damaged: expected docid and document in each line"):
        datasets.eraser_movies(movies([]), "val")
    (tmp_path / "movies" / "docs.jsonl").unlink()
    for file in (tmp_path / "movies" / "docs").iterdir():
        file.unlink()
    with pytest.raises(FileNotFoundError, match="no documents in .*docs: unpack"):
        datasets.eraser_movies(movies([]), "val")


def test_an_archive_of_the_movies_is_unpacked(movies, tmp_path):
    root = movies([line()])
    with tarfile.open(tmp_path / "movies.tar.gz", "w:gz") as tar:
        tar.add(root / "movies", "movies")
    datasets._unpack(str(tmp_path / "movies.tar.gz"), tmp_path / "new")
    assert datasets.eraser_movies(tmp_path / "new", "val") == datasets.eraser_movies(root, "val")


TEXT = "Naïve café_s — it's 😀😀 <3 AT&T's £34… snake_case\n\nEnd™ of it.😀did"


def test_every_tokenizers_tokens_get_the_marks_of_their_words():
    words = tuple(TEXT.split())
    odd = tuple(i % 2 == 1 for i in range(len(words)))
    review = AnnotatedReview(TEXT, 1, tokens=words, maps=(tuple(not mark for mark in odd), odd))
    for tokenizer in (WordTokenizer.train([TEXT], 99), BytePairTokenizer.train([TEXT], 300),
                      WordPieceTokenizer.train([TEXT.replace("😀", "")], 99)):
        tokens = tokenizer.tokenize(TEXT)
        laid = review.on(tokens)
        assert laid.tokens == tuple(tokens)
        blank = [token in ("Ġ", "Ċ") for token in tokens]
        assert [a + b for a, b in zip(*laid.maps, strict=True)] == [not b for b in blank], "each lies in one word"
        changes = sum(a != b for a, b in zip(laid.maps[0], laid.maps[0][1:], strict=False))
        assert any(blank) or changes == len(words) - 1, "in the order of the words"
        assert review.on(tokens[:5]).maps[0] == laid.maps[0][:5]
    assert review.on(words) is review


def test_unknown_tokens_stand_for_the_rest_of_their_word():
    review = AnnotatedReview("xx xx. i xx'i a", 1, tokens=("xx", "xx.", "i", "xx'i", "a"),
                             maps=((True, False, True, False, True),))
    tokens = ["[UNK]", "[UNK]", ".", "i", "[UNK]", "'", "i", "a"]
    assert review.on(tokens).maps == ((True, False, False, True, False, False, False, True),)
    with pytest.raises(ValueError, match="token 'b' does not follow in the text .*: expected the tokens of this text"):
        review.on([*tokens, "b"])


def test_a_stand_in_is_marked_by_the_grammar_and_says_so():
    for review in reviews(50, seed=3):
        made = stand_in(review)
        assert (made.text, made.tokens, made.marked_by) == (review.text, review.tokens, "grammar")
        assert all(mark for mark, weight in zip(made.consensus, review.weights, strict=True) if weight)
        assert not any(weight for mark, weight in zip(made.consensus, review.weights, strict=True) if not mark)
    with pytest.raises(ValueError, match="this review has no roles: expected a generated one"):
        stand_in(Review("Fine.", 1))
