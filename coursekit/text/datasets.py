"""Two public sentiment data sets, read from the files as their authors publish them.

Where they lie: `root`, or, with root=None, the folder named by the environment variable COURSEKIT_DATA (default: the
platform's cache folder for "coursekit"). Nothing is downloaded unless `download=True` asks for it; a download is
checked against its published hash, unpacked beside its final place and moved there whole.
"""

import os
import re
import shutil
import tarfile
import tempfile
import warnings
import zipfile
import zlib
from pathlib import Path

from coursekit.text.generated.reviews import Review

# The MD5 sums as torchtext (datasets/imdb.py, sst2.py) and PaddlePaddle (dataset/imdb.py, glue.py) publish them.
IMDB = ("https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz", "md5:7c2ac02c03563afcf9b574c7e56c153a")
SST2 = ("https://dl.fbaipublicfiles.com/glue/data/SST-2.zip", "md5:9f81648d4199384278b86e315dac217c")


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
        found = [f for f in (folder / split / side).glob("*.txt") if re.fullmatch(r"\d+_\d+", f.stem, re.ASCII)]
        if wrong := [f for f in found if int(f.stem.split("_")[1]) not in (range(1, 5), range(7, 11))[label]]:
            raise ValueError(f"{wrong[0]} names {wrong[0].stem.split('_')[1]} stars, and {side}/ has reviews of "
                             f"{('1 to 4', '7 to 10')[label]}: unpack the archive there once more")
        if not found:
            raise FileNotFoundError(f"no reviews in {folder / split / side}: expected <number>_<stars>.txt as in "
                                    "aclImdb_v1.tar.gz; unpack the archive there once more")
        files += [(int(f.stem.split("_")[0]), label, f) for f in found]
    if len(files) != 25_000:
        warnings.warn(f"{folder / split} has {len(files):,} reviews, the official archive 25,000: "
                      "if that is not meant, unpack it once more", stacklevel=2)
    return [Review(_read(f).replace("<br />", "\n"), label, topic="film", name=f.relative_to(folder).as_posix())
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
    text = _read(file).removeprefix("\ufeff").rstrip("\n")
    header, *lines = text.split("\n")  # not splitlines(): sentences may hold other line breaks
    rows = [line.rstrip("\r").split("\t") for line in lines]
    wrong = [] if header.rstrip("\r") == "sentence\tlabel" and rows else [1]
    wrong += [i for i, row in enumerate(rows, 2) if len(row) != 2 or row[1] not in ("0", "1")]
    if wrong:
        raise ValueError(f"{file}, line {wrong[0]}: expected GLUE's layout, a header and then "
                         "sentence<TAB>0 or 1; unpack SST-2.zip once more")
    return [Review(text.strip(), int(label), topic="film", name=f"{split}/{i}") for i, (text, label) in enumerate(rows)]


def _check_split(split, known, why=""):
    if split not in known:
        raise ValueError(f"unknown split {split!r}{why}: use {' or '.join(map(repr, known))}")


def _read(file):
    try:
        return file.read_bytes().decode("utf-8")
    except (UnicodeDecodeError, OSError) as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "a folder" if file.is_dir() else error.strerror
        raise ValueError(f"{file} is damaged ({why}): unpack the official archive once more") from None


def _find(root, name, source, download):
    """The data set's folder `name`: root itself, or inside root, or downloaded into root."""
    root = Path(root or os.environ.get("COURSEKIT_DATA") or _pooch().os_cache("coursekit")).expanduser()
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
