"""The catalogue of named data sets: where each is found, downloaded from, and how it is read.

A set that is on the machine loads without the network.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import numpy as np

from splmll.datasets.arff import read_arff
from splmll.datasets.checks import existing_file
from splmll.datasets.dataset import Dataset
from splmll.datasets.digit_scenes import make_digit_scenes
from splmll.datasets.download import download
from splmll.datasets.hvecs import read_lear
from splmll.datasets.joining import with_test_rows
from splmll.datasets.mat import read_mat
from splmll.datasets.mulan_files import MULAN_FILES, MulanFiles
from splmll.datasets.nominal import with_numbers_only
from splmll.datasets.tabular import read_table
from splmll.datasets.text_sets import read_text_parts
from splmll.exceptions import DatasetError
from splmll.words import enumeration

MULAN_URL = "https://raw.githubusercontent.com/tsoumakas/mulan/master/data/multi-label"
# LEAR publishes its archives without checksums, so they are named but never fetched unseen.
LEAR_PAGE = "https://lear.inrialpes.fr/people/guillaumin/data.php"
MEKA_PAGE = "https://sourceforge.net/projects/meka/files/Datasets/"


def load_dataset(name: str, data_home: str | Path | None = None) -> Dataset:
    """Load a data set by its name.

    Its files are searched for in the folder ``<name>`` of, in this order, `data_home`, the folder
    named by the environment variable ``SPLMLL_DATA``, and the user's cache (``SPLMLL_CACHE`` or the
    platform's). Otherwise, yeast is taken from the package river if it is installed, and Mulan's
    data sets are downloaded into `data_home` or the cache, and checked by their SHA-256. The other
    data sets have to be put there manually; the error says which files.

    Parameters
    ----------
    name : str
        One of `dataset_names`.
    data_home : path-like, optional
        Folder with one folder for each data set.

    Returns
    -------
    Dataset
        The training rows first, then the test rows; `train` and `test` contain their numbers if the
        data set has a standard split.

    Notes
    -----
    =================  =====================  ========  ======  ====================================
    name               rows (train + test)    features  labels  source
    =================  =====================  ========  ======  ====================================
    emotions           391 + 202              72        6       Mulan
    scene              1211 + 1196            294       6       Mulan
    yeast              1500 + 917             103       14      Mulan; all rows are in river
    tmc2007            21519 + 7077           500       22      Mulan's tmc2007-500
    bibtex             4880 + 2515            1836      159     Mulan
    delicious          12920 + 3185           500       983     Mulan
    birds              322 + 323              271       19      Mulan
    genbase            463 + 199              1185      27      Mulan, without the protein's name
    flags              129 + 65               43        7       Mulan
    cal500             502                    68        174     Mulan
    imdb               120919                 1001      28      MEKA
    reuters            7770 + 3019            15165     90      Reuters-21578, ModApte split
    goemotions         43410 + 5427           58338     28      GoEmotions
    espgame            18689 + 2081           1000      268     LEAR, DenseSift
    espgame-densehue   20770                  100       268     LEAR's DenseHue as one MATLAB file
    iaprtc12-densehue  19627                  100       291     LEAR's DenseHue as one MATLAB file
    pascal07           5011 + 4952            1000      20      LEAR, DenseSift
    corel5k            4500 + 499             1000      260     LEAR, DenseSift
    digit-scenes       3000 + 1000            576       10      generated, see `make_digit_scenes`
    =================  =====================  ========  ======  ====================================

    Categories of birds, genbase and flags are zeros and ones: one column if there are two values,
    otherwise one per value.

    The features of reuters (title and body) and goemotions are TF-IDF weights, with logarithmic
    counts, of the words that at least two training texts have, for goemotions also of the pairs of
    words. Weights and vocabulary come from the training rows only. ``texts`` has the texts.

    Examples
    --------
    >>> from splmll.datasets import load_dataset
    >>> load_dataset("digit-scenes")
    <Dataset 'digit-scenes': 4000 rows, 576 features (dense), 10 labels, split 3000 + 1000>
    """
    if name not in _CATALOGUE:
        raise DatasetError(
            f"there is no data set {name!r}; the names are {', '.join(dataset_names())}, and "
            "read_dataset reads your own files"
        )
    dataset = _CATALOGUE[name].load(name, data_home)
    _CATALOGUE[name].check_shape(dataset)
    return dataset


def dataset_names() -> list[str]:
    """Return the names that `load_dataset` accepts.

    Examples
    --------
    >>> from splmll.datasets import dataset_names
    >>> "yeast" in dataset_names()
    True
    """
    return sorted(_CATALOGUE)


@dataclass(frozen=True)
class _Entry:
    """One data set: how it is loaded and the shape (train, test, features, labels) it must have."""

    load: Callable[[str, Any], Dataset]
    shape: tuple[int, int, int, int]

    def check_shape(self, dataset: Dataset) -> None:
        n_train = dataset.X.shape[0] if dataset.train is None else len(dataset.train)
        n_test = 0 if dataset.test is None else len(dataset.test)
        found = (n_train, n_test, dataset.X.shape[1], dataset.Y.shape[1])
        if found != self.shape:
            words = "{} + {} rows, {} features and {} labels"
            raise DatasetError(
                f"its files contain {words.format(*found)}, but the set has "
                f"{words.format(*self.shape)}; put the original files in their place",
                path=dataset.name,
            )


# Mulan -----------------------------------------------------------------------------------------


def _load_mulan(name: str, data_home: Any, *, leave_out: tuple[str, ...] = ()) -> Dataset:
    files = MULAN_FILES[name]
    folder = _find(_folders(name, data_home), files.names)
    if folder is None:
        folder = _download_mulan(name, data_home, files)
    parts = [
        with_numbers_only(
            read_arff(folder / part, labels=folder / files.labels, name=name), leave_out
        )
        for part in files.parts
    ]
    return parts[0] if len(parts) == 1 else _join(*parts)


def _download_mulan(name: str, data_home: Any, files: MulanFiles) -> Path:
    folder = _destination(name, data_home)
    try:
        for file in files.names:
            if not (folder / file).exists():
                _download_first(files.urls(file, MULAN_URL), folder / file, files.sha256[file])
    except DatasetError as error:
        raise DatasetError(
            f"{name} is not on this machine and could not be downloaded ({_reason(error)}); put "
            f"{enumeration(files.names)} into {folder}"
        ) from error
    return folder


def _download_first(urls: list[str], destination: Path, sha256: str) -> None:
    for url in urls:
        try:
            download(url, destination, sha256)
            return
        except DatasetError as error:
            # Only where the file is not, another place may have it.
            elsewhere = isinstance(error.__cause__, HTTPError) and error.__cause__.code == 404
            if not elsewhere or url == urls[-1]:
                raise


def _reason(error: DatasetError) -> str:
    """Return why a download failed, without the advice that only suits a single file."""
    cause = error.__cause__
    return str(error if cause is None else getattr(cause, "reason", None) or cause)


def _load_yeast(name: str, data_home: Any) -> Dataset:
    on_disk = _find(_folders(name, data_home), MULAN_FILES[name].names) is not None
    table = None if on_disk else _river_file()
    if table is None:
        return _load_mulan(name, data_home)
    data = read_table(table, label_prefix="Class", name=name)
    # river's rows are Mulan's test part followed by the training part.
    n_test = 917
    order = np.r_[n_test : len(data.X), :n_test]
    n_train = len(order) - n_test
    return Dataset(
        X=data.X[order],
        Y=data.Y[order],
        feature_names=data.feature_names,
        label_names=[f"Class{label}" for label in data.label_names],
        name=name,
        train=np.arange(n_train),
        test=np.arange(n_train, len(order)),
    )


def _river_file() -> Path | None:
    from importlib.util import find_spec

    spec = find_spec("river")  # does not import it, which would take seconds
    if spec is None or spec.origin is None:
        return None
    table = Path(spec.origin).parent / "datasets" / "yeast.csv.gz"
    return table if table.is_file() else None


# LEAR ------------------------------------------------------------------------------------------


def _load_lear(name: str, data_home: Any) -> Dataset:
    files = _lear_hvecs(name)
    dictionary = f"{name}_dictionary.txt"
    folders = _folders(name, data_home)
    folder = _find(folders, (*files, dictionary))
    if folder is None:
        also = "; the name espgame-densehue loads a smaller variant" if name == "espgame" else ""
        raise _put_by_hand(
            name, (*files, dictionary), data_home, f"get it from {LEAR_PAGE} and ", also
        )
    return _join_lear(name, folder, folder / dictionary)


def _load_corel5k(name: str, data_home: Any) -> Dataset:
    folders = _folders(name, data_home)
    folder = _find(folders, _lear_hvecs(name))
    if folder is not None:
        return _join_lear(name, folder, None)
    matlab = tuple(
        f"{name}_{part}_{what}.mat" for part in ("train", "test") for what in ("DenseSift", "Label")
    )
    folder = _find(folders, matlab)
    if folder is None:
        raise _put_by_hand(name, _lear_hvecs(name), data_home, f"get it from {LEAR_PAGE} and ")
    return _join(
        *(
            read_mat(
                folder / f"{name}_{part}_DenseSift.mat",
                features=f"{name}_{part}_DenseSift_data",
                labels=f"{name}_{part}_Label",
                labels_path=folder / f"{name}_{part}_Label.mat",
                name=name,
            )
            for part in ("train", "test")
        )
    )


def _load_densehue(name: str, data_home: Any, *, files: tuple[str, ...]) -> Dataset:
    collection = name.removesuffix("-densehue")
    folder = _find(_folders(collection, data_home), files)
    if folder is None:
        raise _put_by_hand(collection, files, data_home, f"get it from {LEAR_PAGE} and ")
    features, *names = (folder / file for file in files)
    return read_mat(
        features,
        features="X_all",
        labels="Y_all",
        label_names=names[0] if names else None,
        name=name,
    )


def _lear_hvecs(name: str) -> tuple[str, ...]:
    return tuple(
        f"{name}_{part}_{what}.hvecs"
        for part in ("train", "test")
        for what in ("DenseSift", "annot")
    )


def _join_lear(name: str, folder: Path, dictionary: Path | None) -> Dataset:
    return _join(
        *(
            read_lear(
                folder / f"{name}_{part}_DenseSift.hvecs",
                folder / f"{name}_{part}_annot.hvecs",
                dictionary,
                name=name,
            )
            for part in ("train", "test")
        )
    )


# Others ----------------------------------------------------------------------------------------


def _load_imdb(name: str, data_home: Any) -> Dataset:
    file = "imdb.arff.bz2"
    folder = _find(_folders(name, data_home), [file])
    if folder is None:
        raise _put_by_hand(name, [file], data_home, f"get it from {MEKA_PAGE} and ")
    return read_arff(folder / file, label_count=28, name=name)


def _load_texts(
    name: str,
    data_home: Any,
    *,
    text: tuple[str, ...],
    labels: str,
    ngrams: tuple[int, int] = (1, 1),
    ignore: tuple[str, ...] = (),
) -> Dataset:
    files = (f"{name}-train.csv", f"{name}-test.csv")
    folder = _find(_folders(name, data_home), files)
    if folder is None:
        columns = f" with the columns {enumeration((*ignore, *text, labels))} (separated by ;)"
        raise _put_by_hand(name, files, data_home, "", columns)
    train, test = (folder / file for file in files)
    return _join(
        *read_text_parts(
            train, test, text=text, labels=labels, ngrams=ngrams, ignore=ignore, name=name
        )
    )


def _put_by_hand(
    name: str, files: Iterable[str], data_home: Any, get: str, also: str = ""
) -> DatasetError:
    folder = _destination(name, data_home)
    return DatasetError(
        f"{name} is not on this machine; {get}put {enumeration(files)} into {folder}{also}"
    )


# Folders and parts -----------------------------------------------------------------------------


def _cache() -> Path:
    import platformdirs

    return Path(os.environ.get("SPLMLL_CACHE") or platformdirs.user_cache_dir("splmll"))


def _destination(name: str, data_home: Any) -> Path:
    """Return the folder into which the files of a set are put."""
    return (_cache() if data_home is None else Path(data_home).expanduser()) / name


def _folders(name: str, data_home: Any) -> list[Path]:
    """Return the folders in which the files of a set may be, the first choice first."""
    folders = [] if data_home is None else [_destination(name, data_home)]
    if os.environ.get("SPLMLL_DATA"):
        folders.append(_destination(name, os.environ["SPLMLL_DATA"]))
    return [*folders, _destination(name, None)]


def _find(folders: list[Path], files: Iterable[str]) -> Path | None:
    """Return the first folder that has all the files, so that parts of two copies never mix."""
    names = list(files)
    for folder in folders:
        if all((folder / file).is_file() for file in names):
            for file in names:
                existing_file(folder / file)
            return folder
    return None


def _join(train: Dataset, test: Dataset) -> Dataset:
    """Return the two parts as one data set with its split."""
    for what in ("feature_names", "label_names"):
        if getattr(train, what) != getattr(test, what):
            raise DatasetError(
                f"the {what.replace('_', ' ')} of the training and the test file differ; put the "
                "original files in their place",
                path=train.name,
            )
    return with_test_rows(train, test)


_ESPGAME_DENSEHUE = ("espgame_DenseHue.mat", "espgame_dictionary.txt")

_CATALOGUE: dict[str, _Entry] = {
    "emotions": _Entry(_load_mulan, (391, 202, 72, 6)),
    "scene": _Entry(_load_mulan, (1211, 1196, 294, 6)),
    "yeast": _Entry(_load_yeast, (1500, 917, 103, 14)),
    "tmc2007": _Entry(_load_mulan, (21519, 7077, 500, 22)),
    "bibtex": _Entry(_load_mulan, (4880, 2515, 1836, 159)),
    "delicious": _Entry(_load_mulan, (12920, 3185, 500, 983)),
    "birds": _Entry(_load_mulan, (322, 323, 271, 19)),
    "genbase": _Entry(partial(_load_mulan, leave_out=("protein",)), (463, 199, 1185, 27)),
    "flags": _Entry(_load_mulan, (129, 65, 43, 7)),
    "cal500": _Entry(_load_mulan, (502, 0, 68, 174)),
    "imdb": _Entry(_load_imdb, (120919, 0, 1001, 28)),
    "reuters": _Entry(
        partial(_load_texts, text=("title", "body"), labels="topics", ignore=("id",)),
        (7770, 3019, 15165, 90),
    ),
    "goemotions": _Entry(
        partial(_load_texts, text=("text",), labels="emotions", ngrams=(1, 2)),
        (43410, 5427, 58338, 28),
    ),
    "espgame": _Entry(_load_lear, (18689, 2081, 1000, 268)),
    "espgame-densehue": _Entry(
        partial(_load_densehue, files=_ESPGAME_DENSEHUE), (20770, 0, 100, 268)
    ),
    "iaprtc12-densehue": _Entry(
        partial(_load_densehue, files=("iaprtc12_DenseHue.mat",)), (19627, 0, 100, 291)
    ),
    "pascal07": _Entry(_load_lear, (5011, 4952, 1000, 20)),
    "corel5k": _Entry(_load_corel5k, (4500, 499, 1000, 260)),
    "digit-scenes": _Entry(lambda name, data_home: make_digit_scenes(), (3000, 1000, 576, 10)),
}
