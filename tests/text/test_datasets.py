"""The loaders on small files in the official layouts, and their download from a server on this machine."""

import functools
import hashlib
import http.server
import tarfile
import threading
import zipfile

import pytest

from coursekit.own import datasets
from coursekit.worlds.generated.reviews import Review

pytestmark = pytest.mark.filterwarnings("ignore:.*the official archive 25,000")
SENTENCES = ["a warm , funny film", "it 's long", "naïve and \u2028 unsure , « non »"]


@pytest.fixture
def imdb_root(tmp_path):
    """A folder with aclImdb in the official layout: three reviews a side, and files that are no labelled reviews."""
    for split in ("train", "test"):
        for side, stars in (("neg", 2), ("pos", 9)):
            folder = tmp_path / "imdb" / "aclImdb" / split / side
            folder.mkdir(parents=True)
            for number in (10, 2, 0):
                text = f"{split} {side} {number}: très<br /><br />long"
                (folder / f"{number}_{stars}.txt").write_bytes(text.encode())
    unlabelled = tmp_path / "imdb" / "aclImdb" / "train" / "unsup"
    unlabelled.mkdir()
    (unlabelled / "0_0.txt").write_text("who knows")
    (tmp_path / "imdb" / "aclImdb" / "train" / "urls_pos.txt").write_text("http://example.org/")
    return tmp_path / "imdb"


@pytest.fixture
def sst2_root(tmp_path):
    """A folder with GLUE's SST-2: tabs, a header, a space before the tab, labels in train and dev only."""
    folder = tmp_path / "glue" / "SST-2"
    folder.mkdir(parents=True)
    for split in ("train", "dev"):
        rows = [f"{text} \t{i % 2}\n" for i, text in enumerate(SENTENCES)]
        (folder / f"{split}.tsv").write_bytes("".join(["sentence\tlabel\n", *rows]).encode())
    (folder / "test.tsv").write_text("index\tsentence\n0\tno movement\n")
    return tmp_path / "glue"


@pytest.fixture
def serve(tmp_path):
    """serve() -> the address of a server on this machine for the files of tmp_path / "served"."""
    (tmp_path / "served").mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path / "served"))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def md5(file):
    return "md5:" + hashlib.md5(file.read_bytes()).hexdigest()


def one_line(caught):
    return "\n" not in str(caught.value) and str(caught.value)


def test_imdb_reads_the_official_layout_in_a_fixed_balanced_order(imdb_root):
    reviews = datasets.imdb(imdb_root, "test")
    assert [review.name for review in reviews] == [
        "test/neg/0_2.txt", "test/pos/0_9.txt", "test/neg/2_2.txt", "test/pos/2_9.txt",
        "test/neg/10_2.txt", "test/pos/10_9.txt"]
    assert [review.label for review in reviews] == [0, 1] * 3
    assert reviews[0] == Review("test neg 0: très\n\nlong", 0, topic="film", name="test/neg/0_2.txt")
    assert [r.text[:5] for r in datasets.imdb(imdb_root)] == ["train"] * 6


@pytest.mark.parametrize("load, fixture, name", [("imdb", "imdb_root", "aclImdb"), ("sst2", "sst2_root", "SST-2")])
def test_the_folder_itself_its_parent_and_the_cache_all_work(load, fixture, name, request, monkeypatch):
    root, load = request.getfixturevalue(fixture), getattr(datasets, load)
    monkeypatch.setenv("COURSEKIT_DATA", str(root))
    assert load(root) == load(root / name) == load(str(root)) == load() != []


def test_sst2_reads_glues_layout(sst2_root):
    reviews = datasets.sst2(sst2_root, "dev")
    assert [review.text for review in reviews] == SENTENCES
    assert [review.label for review in reviews] == [0, 1, 0]
    assert reviews[2].name == "dev/2"


def test_windows_line_ends_are_read_as_well(sst2_root):
    file = sst2_root / "SST-2" / "dev.tsv"
    expected = datasets.sst2(sst2_root, "dev")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert datasets.sst2(sst2_root, "dev") == expected


def test_a_wrong_split_names_the_right_ones(imdb_root, sst2_root):
    with pytest.raises(ValueError, match="unknown split 'dev': use 'train' or 'test'"):
        datasets.imdb(imdb_root, "dev")
    with pytest.raises(ValueError, match="unknown split 'test'; GLUE's test.tsv has no labels: use 'train' or 'dev'"):
        datasets.sst2(sst2_root, "test")


@pytest.mark.parametrize("load, name", [("imdb", "aclImdb"), ("sst2", "SST-2")])
def test_nothing_there_says_what_to_put_where_and_makes_nothing(load, name, tmp_path):
    for root in (tmp_path / "nowhere", tmp_path / "nowhere" / name):
        with pytest.raises(FileNotFoundError, match="unpack https://.* or call again with download=True") as caught:
            getattr(datasets, load)(root)
        assert f"no folder {tmp_path / 'nowhere' / name}: " in one_line(caught)
    assert list(tmp_path.iterdir()) == []


def test_an_incomplete_folder_is_named(imdb_root, sst2_root):
    for file in (imdb_root / "aclImdb" / "train" / "pos").iterdir():
        file.unlink()
    with pytest.raises(FileNotFoundError, match="no reviews in .*train.pos: expected <number>_<stars>.txt") as caught:
        datasets.imdb(imdb_root)
    assert one_line(caught)
    (sst2_root / "SST-2" / "dev.tsv").unlink()
    with pytest.raises(FileNotFoundError, match="dev.tsv is missing") as caught:
        datasets.sst2(sst2_root, "dev")
    assert one_line(caught)


@pytest.mark.parametrize("content, line", [
    (b"label\tsentence\n0\tdull\n", 1),  # columns the other way round
    (b"sentence\tlabel\n", 1),  # no sentence
    (b"", 1),
    (b"sentence\tlabel\ngood\t1\nbad\t2\n", 3),
    (b"sentence\tlabel\ngood\t1\nbad\t0\ngoo", 4),  # cut off
])
def test_a_damaged_sst2_file_names_the_line(sst2_root, content, line):
    (sst2_root / "SST-2" / "train.tsv").write_bytes(content)
    with pytest.raises(ValueError, match=f"train.tsv, line {line}: expected GLUE's layout") as caught:
        datasets.sst2(sst2_root)
    assert one_line(caught)


def test_a_split_that_is_not_whole_is_told(imdb_root):
    with pytest.warns(UserWarning, match="aclImdb.train has 6 reviews, the official archive 25,000: if that is not"):
        datasets.imdb(imdb_root)


def test_copies_and_strange_names_are_left_out(imdb_root):
    folder = imdb_root / "aclImdb" / "train" / "pos"
    for name in ("2_9 (1).txt", "2_9 copy.txt", "a_9.txt", "2_9_1.txt", "2.txt"):
        (folder / name).write_text("twice")
    assert len(datasets.imdb(imdb_root)) == 6


@pytest.mark.parametrize("side, name, message", [("pos", "3_2.txt", "names 2 stars, and pos/ has reviews of 7 to 10"),
                                                 ("neg", "3_8.txt", "names 8 stars, and neg/ has reviews of 1 to 4"),
                                                 ("neg", "3_5.txt", "names 5 stars"), ("pos", "3_99.txt", "names 99")])
def test_stars_on_the_wrong_side_are_refused(imdb_root, side, name, message):
    (imdb_root / "aclImdb" / "train" / side / name).write_text("a film")
    with pytest.raises(ValueError, match=f"{name} {message}") as caught:
        datasets.imdb(imdb_root)
    assert one_line(caught)


def test_a_folder_in_place_of_a_review_is_named(imdb_root):
    (imdb_root / "aclImdb" / "train" / "pos" / "6_9.txt").mkdir()
    with pytest.raises(ValueError, match=r"6_9.txt is damaged \(a folder\): unpack") as caught:
        datasets.imdb(imdb_root)
    assert one_line(caught)


def test_a_byte_order_mark_is_no_text(sst2_root):
    expected, file = datasets.sst2(sst2_root, "dev"), sst2_root / "SST-2" / "dev.tsv"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert datasets.sst2(sst2_root, "dev") == expected


def test_a_file_that_is_not_text_is_named(imdb_root):
    (imdb_root / "aclImdb" / "test" / "neg" / "2_2.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="2_2.txt is damaged") as caught:
        datasets.imdb(imdb_root, "test")
    assert one_line(caught)


def test_imdb_downloads_unpacks_and_reads(imdb_root, tmp_path, serve, monkeypatch):
    archive = tmp_path / "served" / "aclImdb_v1.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(imdb_root / "aclImdb", "aclImdb")
    monkeypatch.setattr(datasets, "IMDB", (f"{serve}/{archive.name}", md5(archive)))
    cache = tmp_path / "cache" / "deep"
    assert datasets.imdb(cache, "test", download=True) == datasets.imdb(imdb_root, "test")
    assert [path.name for path in cache.iterdir()] == ["aclImdb"]  # no archive, no scratch folder
    assert not (cache / "aclImdb" / "train" / "unsup").exists()
    archive.unlink()  # what is there is not fetched again
    assert datasets.imdb(cache, "train", download=True) == datasets.imdb(imdb_root, "train")


def test_sst2_downloads_unpacks_and_reads(sst2_root, tmp_path, serve, monkeypatch):
    archive = tmp_path / "served" / "SST-2.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for file in (sst2_root / "SST-2").iterdir():
            zipped.write(file, f"SST-2/{file.name}")
    monkeypatch.setattr(datasets, "SST2", (f"{serve}/{archive.name}", md5(archive)))
    assert datasets.sst2(tmp_path / "cache", download=True) == datasets.sst2(sst2_root)


@pytest.mark.parametrize("damage", ["another hash", "cut off", "not an archive", "another folder", "not found"])
def test_a_bad_download_is_one_line_and_leaves_nothing(damage, imdb_root, tmp_path, serve, monkeypatch):
    archive = tmp_path / "served" / "aclImdb_v1.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(imdb_root / "aclImdb", "elsewhere" if damage == "another folder" else "aclImdb")
    if damage == "cut off":
        archive.write_bytes(archive.read_bytes()[:-40])
    if damage == "not an archive":
        archive.write_text("<html>moved</html>")
    known_hash = "md5:" + "0" * 32 if damage == "another hash" else md5(archive)
    if damage == "not found":
        archive.unlink()
    monkeypatch.setattr(datasets, "IMDB", (f"{serve}/{archive.name}", known_hash))
    cache = tmp_path / "cache"
    with pytest.raises(OSError, match="could not fetch http://127.0.0.1.*: try again, or unpack it into") as caught:
        datasets.imdb(cache, download=True)
    assert one_line(caught)
    assert list(cache.iterdir()) == []
