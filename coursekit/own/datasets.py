"""Public sentiment data sets, two of them with the words that people marked, read from the files as published.

Where they lie: `root`, or, with root=None, the folder named by the environment variable COURSEKIT_DATA (default: the
platform's cache folder for "coursekit"). Nothing is downloaded unless `download=True` asks for it; a download is
checked against its published hash, unpacked beside its final place and moved there whole.
"""

import csv
import html
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
import warnings
import zipfile
import zlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

from coursekit.worlds.annotated import AnnotatedReview
from coursekit.worlds.generated.reviews import Review

# The MD5 sums as torchtext (datasets/imdb.py, sst2.py) and PaddlePaddle (dataset/imdb.py, glue.py) publish them, the
# SHA-256 as TensorFlow Datasets (url_checksums/movie_rationales.txt) and Hugging Face (movie_rationales) do.
IMDB = ("https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz", "md5:7c2ac02c03563afcf9b574c7e56c153a")
SST2 = ("https://dl.fbaipublicfiles.com/glue/data/SST-2.zip", "md5:9f81648d4199384278b86e315dac217c")
MOVIES = ("http://www.eraserbenchmark.com/zipped/movies.tar.gz",
          "sha256:66e18d4e6c9df9e9f5544572b0bfe92a39673f74ecbfc3859b46cedb2f5b2dee")
MOVIES_IN = {"train": 1600, "val": 200, "test": 199}                    # reviews of a split
YELP_HAT = "https://github.com/cansusen/Human-Attention-for-Text-Classification"


def imdb(root=None, split="train", download=False) -> list[Review]:
    """The Large Movie Review Dataset: 25,000 reviews a split, label 1 from 7 stars up, 0 up to 4 stars.

    root: the folder `aclImdb` or the one that holds it, in the official layout
    `aclImdb/{train,test}/{pos,neg}/<number>_<stars>.txt`; split: "train" or "test"; download: fetch and unpack the
    84 MB archive under root where it is missing.

    Sorted by number, a negative before a positive one, so that every slice is balanced; `name` is the file's path
    ("train/neg/0_3.txt"). The files write line breaks as `<br />`; here each becomes a newline.

    Source: Maas et al., Learning Word Vectors for Sentiment Analysis, ACL 2011.
    Files with other names, such as copies ("5_9 (1).txt"), are left out; a warning says so if there are not 25,000.
    Raises ValueError for an unknown split, a damaged file or stars on the wrong side, FileNotFoundError (what to put
    where) for missing ones.
    """
    _check_split(split, ("train", "test"))
    folder = _find(root, "aclImdb", IMDB, download)
    files = []
    for label, side in enumerate(("neg", "pos")):
        paths = [f for f in (folder / split / side).glob("*.txt") if re.fullmatch(r"\d+_\d+", f.stem, re.ASCII)]
        if wrong := [f for f in paths if int(f.stem.split("_")[1]) not in (range(1, 5), range(7, 11))[label]]:
            raise ValueError(f"{wrong[0]} names {wrong[0].stem.split('_')[1]} stars, and {side}/ has reviews of "
                             f"{('1 to 4', '7 to 10')[label]}: unpack the archive there once more")
        if not paths:
            raise FileNotFoundError(f"no reviews in {folder / split / side}: expected <number>_<stars>.txt as in "
                                    "aclImdb_v1.tar.gz; unpack the archive there once more")
        files += [(int(f.stem.split("_")[0]), label, f) for f in paths]
    _tell_size(folder / split, len(files), 25_000)
    return [Review(_text_of(f).replace("<br />", "\n"), label, topic="film", name=f.relative_to(folder).as_posix())
            for _, label, f in sorted(files)]


def sst2(root=None, split="train", download=False) -> list[Review]:
    """The Stanford Sentiment Treebank as GLUE cuts it in two classes: 67,349 phrases ("train"), 872 sentences ("dev").

    root: the folder `SST-2` or the one that holds it, with GLUE's `train.tsv` and `dev.tsv` (a header, then
    `sentence<TAB>label`); download: fetch and unpack the 7 MB archive under root where it is missing. GLUE publishes
    test.tsv without labels, so "test" is refused. In file order; `name` is "dev/0", "dev/1" …

    Source: Socher et al., EMNLP 2013; Wang et al., GLUE, ICLR 2019.
    Raises ValueError for an unknown split or a damaged file, FileNotFoundError (what to put where) for missing ones.
    """
    _check_split(split, ("train", "dev"), "; GLUE's test.tsv has no labels" if split == "test" else "")
    file = _find(root, "SST-2", SST2, download) / f"{split}.tsv"
    if not file.is_file():
        raise FileNotFoundError(f"{file} is missing: unpack GLUE's SST-2.zip there once more")
    text = _text_of(file).removeprefix("\ufeff").rstrip("\n")
    header, *lines = text.split("\n")  # not splitlines(): sentences may hold other line breaks
    rows = [line.rstrip("\r").split("\t") for line in lines]
    wrong = [] if header.rstrip("\r") == "sentence\tlabel" and rows else [1]
    wrong += [i for i, row in enumerate(rows, 2) if len(row) != 2 or row[1] not in ("0", "1")]
    if wrong:
        raise ValueError(f"{file}, line {wrong[0]}: expected GLUE's layout, a header and then "
                         "sentence<TAB>0 or 1; unpack SST-2.zip once more")
    return [Review(text.strip(), int(label), topic="film", name=f"{split}/{i}") for i, (text, label) in enumerate(rows)]


def yelp_hat(root=None) -> list[AnnotatedReview]:
    """Yelp-HAT: Yelp reviews in which people marked the words that tell praise from blame, mostly three a review.

    root: the folder of the files `ham_part*.csv`, or of the unpacked repository, or the one that holds it. Each row is
    one annotator's: Input.label (0 or 1), Input.text, Answer.Q1Answer (praise? "yes", "no", "idk" or nothing) and
    Answer.html_output, a span for each word of text.split(), class="active" where it is marked. The rows of one text
    become one review, in the order of the files (1(50words) … 8(200words)); `name` is that of its first row,
    "ham_part7.csv/1". Nothing can be downloaded: the authors publish no archive whose hash is fixed.

    Source: Sen et al., Human Attention Maps for Text Classification, ACL 2020. A few reviews have two or four
    annotators; whoever took the label for another one (`answers`) is kept as well.
    Rows whose spans are not the words, that have no map, or whose label is unreadable or not that of the review's other
    rows, are left out; a warning counts them. Raises FileNotFoundError (what to put where) where there are no files,
    ValueError for a damaged one.

    >>> [(r.text, r.label, r.maps, r.answers) for r in yelp_hat("here")]                              # doctest: +SKIP
    [('Good, cheap food.', 1, ((True, True, False), (True, False, False)), ('yes', 'yes'))]
    """
    folder = _root(root)
    places = ("", "raw_data/", "*/", "*/raw_data/")
    files = next((found for place in places if (found := sorted(folder.glob(place + "ham_part*.csv")))), [])
    if not files:
        raise FileNotFoundError(f"no ham_part*.csv in {folder}: put the folder raw_data of {YELP_HAT} there")
    reviews, left_out, n = {}, [], 0
    for file in (f for f in files if f.parent == files[0].parent):
        try:
            rows = list(csv.DictReader(io.StringIO(_text_of(file).removeprefix("\ufeff"), newline=""), strict=True))
            fields = [[row[c] or "" for c in ("Input.label", "Input.text", "Answer.Q1Answer", "Answer.html_output")]
                      for row in rows]
        except (csv.Error, KeyError) as error:
            raise ValueError(f"{file} is damaged ({error}): expected columns Input.label, Input.text, Answer.Q1Answer, "
                             f"Answer.html_output; take it from {YELP_HAT} once more") from None
        for i, (label, text, answer, spans) in enumerate(fields, 1):
            words, marks = _marked(spans)
            review = reviews.get(text) or AnnotatedReview(text, label, name=f"{file.name}/{i}", tokens=words)  # type: ignore
            why = ("the label is not 0 or 1" if label not in ("0", "1") else
                   "there is no map" if not words else
                   "the spans are not the words of the text" if list(words) not in (
                       text.split(), html.unescape(text).split()) else
                   "the label is not that of the review's other rows" if review.label != label else "")
            if why:
                left_out.append((why, f"{file.name}/{i}"))
            else:
                reviews[text] = replace(review, maps=(*review.maps, marks), answers=(*review.answers, answer))
        n += len(fields)
    _tell(left_out, n, files[0].parent)
    return [replace(review, label=int(review.label)) for review in reviews.values()]


def _marked(spans):
    """The words of one annotator's html (tags inside of a word and empty spans are the browser's), and their marks."""
    pairs = [(html.unescape(re.sub("<[^>]*>", "", word)).strip(), 'class="active"' in attributes)
             for attributes, word in re.findall(r"<span([^>]*)>(.*?)</span>", spans, re.DOTALL)]
    words = [(word, mark) for word, mark in pairs if word]
    return tuple(word for word, _ in words), tuple(mark for _, mark in words)


def eraser_movies(root=None, split="train", download=False) -> list[AnnotatedReview]:
    """ERASER's movie reviews with the passages that a person marked as the reason: 1,600 train, 200 val, 199 test.

    root: the folder `movies` or the one that holds it, with `train.jsonl`, `val.jsonl`, `test.jsonl` and the documents,
    one file each in `docs/` or a line each in `docs.jsonl`; download: fetch and unpack the 4 MB archive under root
    where it is missing. A line of a split has annotation_id (the document's name), classification (NEG or POS) and
    evidences, groups of passages (docid, start_token, end_token), which count the document's words from 0, the end
    not included. Words are what stands between blanks or line ends; one map, of all passages, perhaps none. An empty
    passage marks no word.

    Source: DeYoung et al., ERASER, ACL 2020, on the reviews of Pang & Lee, 2004, and the marks of Zaidan et al., 2007.
    Lines of another form, without a document or with passages outside of it are left out; a warning counts them, and
    another says so if there are not as many as above.
    Raises ValueError for an unknown split, FileNotFoundError (what to put where) for missing files.

    >>> [(r.tokens, r.label, r.maps) for r in eraser_movies("here", "val")]                          # doctest: +SKIP
    [(('a', 'dull', 'mess'), 0, ((False, True, True),))]
    """
    _check_split(split, MOVIES_IN)
    folder = _find(root, "movies", MOVIES, download)
    file = folder / f"{split}.jsonl"
    if not file.is_file():
        raise FileNotFoundError(f"{file} is missing: unpack ERASER's movies.tar.gz there once more")
    lines = [line for line in _text_of(file).split("\n") if line.strip()]
    _tell_size(file, len(lines), MOVIES_IN[split])
    texts, reviews, left_out = _documents(folder), [], []
    for i, line in enumerate(lines, 1):
        try:
            reviews.append(_annotation(line, texts, split))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = str(error) if type(error) is ValueError else "it is not of the form that ERASER describes"
            left_out.append((why, f"{file.name}/{i}"))
    _tell(left_out, len(lines), folder)
    return reviews


def _documents(folder):
    """A function from a document's name to its text, None where there is none."""
    if (packed := folder / "docs.jsonl").is_file():
        try:
            rows = [json.loads(line) for line in _text_of(packed).split("\n") if line.strip()]
            return {row["docid"]: row["document"] for row in rows}.get
        except (json.JSONDecodeError, KeyError, TypeError):
            raise ValueError(f"{packed} is damaged: expected docid and document in each line; unpack ERASER's "
                             "movies.tar.gz once more") from None
    files = {file.name: file for file in (folder / "docs").glob("*")}
    if not files:
        raise FileNotFoundError(f"no documents in {folder / 'docs'}: unpack ERASER's movies.tar.gz there once more")
    return lambda name: _text_of(files[name]) if name in files else None


def _annotation(line, text_of, split):
    """One line of a split as a review; ValueError, KeyError or TypeError where it is none."""
    row = json.loads(line)
    text = text_of(row["annotation_id"])
    if text is None:
        raise ValueError("its document is missing")
    # as the benchmark's own reader cuts: str.split() would also cut at rarer blanks, and move what is behind them
    words = tuple(word for part in re.split("[\r\n]", text) for word in part.strip().split(" ") if word)
    passages = [(passage["docid"], range(passage["start_token"], passage["end_token"]))
                for group in row["evidences"] for passage in group]
    if any(name != row["annotation_id"] or span.start > span.stop or span.start < 0 or span.stop > len(words)
           for name, span in passages):
        raise ValueError("a passage lies outside of its document")
    marked = set().union(*(span for _, span in passages))
    return AnnotatedReview(text, {"NEG": 0, "POS": 1}[row["classification"]], topic="film",
                           name=f"{split}/{row['annotation_id']}", tokens=words,
                           maps=(tuple(i in marked for i in range(len(words))),))


def _tell_size(place, n, official):
    """A warning if there are more reviews or fewer than in the official archive."""
    if n != official:
        warnings.warn(f"{place} has {n:,} reviews, the official archive {official:,}: "
                      "if that is not meant, unpack it once more", stacklevel=3)


def _tell(left_out, n, folder):
    """A warning that counts the rows left out, (why, where) each, by their reasons."""
    if left_out:
        first = {why: where for why, where in reversed(left_out)}
        counts = Counter(why for why, _ in left_out).most_common()
        reasons = "; ".join(f"{count} because {why} (first: {first[why]})" for why, count in counts)
        warnings.warn(f"{folder}: {len(left_out)} of {n} rows are left out: {reasons}", stacklevel=3)


def _check_split(split, splits, why=""):
    if split not in splits:
        raise ValueError(f"unknown split {split!r}{why}: use {' or '.join(map(repr, splits))}")


def _text_of(file):
    try:
        return file.read_bytes().decode("utf-8")
    except (UnicodeDecodeError, OSError) as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "a folder" if file.is_dir() else error.strerror
        raise ValueError(f"{file} is damaged ({why}): unpack the official archive once more") from None


def _root(root):
    return Path(root or os.environ.get("COURSEKIT_DATA") or _pooch().os_cache("coursekit")).expanduser()


def _find(root, name, source, download):
    """The data set's folder `name`: root itself, or inside root, or downloaded into root."""
    root = _root(root)
    if root.name == name and not (root / name).is_dir():
        root = root.parent
    if not (root / name).is_dir():
        if not download:
            raise FileNotFoundError(f"no folder {root / name}: unpack {source[0]} into {root}, "
                                    "or call again with download=True")
        _download(*source, root, name)
    return root / name


def _download(url, known_hash, root, name):
    """Fetch an archive and move the folder `name` that it holds into root; whole or not at all."""
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix="unpacking-") as scratch:
        try:
            archive = _pooch().retrieve(url, known_hash, Path(url).name, scratch, progressbar=True)
            _unpack(archive, scratch)
            (Path(scratch) / name).rename(root / name)
        except (OSError, EOFError, ValueError, zlib.error, tarfile.TarError, zipfile.BadZipFile) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise OSError(f"could not fetch {url} ({reason}): try again, or unpack it into {root} by hand") from None


def _unpack(archive, folder):
    if archive.endswith(".zip"):
        return shutil.unpack_archive(archive, folder)
    with tarfile.open(archive) as tar:  # IMDB's 50,000 unlabelled reviews stay packed
        members = [member for member in tar if "/unsup" not in member.name]
        tar.extractall(folder, members, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def _pooch():
    try:
        import pooch  # here, because only a reader of data sets needs it
    except ModuleNotFoundError:
        raise ModuleNotFoundError("pooch is missing: pip install 'coursekit[data]', or pass root=") from None
    return pooch
