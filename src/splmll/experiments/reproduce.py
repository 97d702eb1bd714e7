"""Every table and figure of the paper, measured here, with the printed numbers beside them.

The units of all tables share one store, so that a run that was stopped goes on where it was, and a
table that needs what another one has measured does not measure it again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import joblib
import pandas as pd

from splmll.datasets import Dataset, load_dataset
from splmll.exceptions import DatasetError
from splmll.experiments.contestants import ABLATIONS, CONTESTANTS
from splmll.experiments.differences import difference_table
from splmll.experiments.figures import (
    company_figure,
    convergence_figure,
    parts,
    predictions_figure,
    selection_figure,
)
from splmll.experiments.published import published, published_datasets
from splmll.experiments.report import (
    Figure,
    FittedModel,
    Section,
    build_page,
    write_page,
    write_report,
)
from splmll.experiments.runner import Experiment
from splmll.experiments.search import Search
from splmll.experiments.table_format import FormattedTable
from splmll.experiments.tables import comparison_table
from splmll.experiments.writing import ranks_and_tests, write_figure, write_table, write_text
from splmll.landmarks import SPLMLL
from splmll.metrics import PAPER_MEASURES
from splmll.names import known_name

OURS = ["SPL-MLL", "SPL-MLL (linear)", "SPL-MLL as published", "SPL-MLL (linear) as published"]
TABLE_2_METHODS = [
    *(name for name, method in CONTESTANTS.items() if method.group in ("general", "reference")),
    *OURS,
]
TABLE_3_METHODS = [
    *(name for name, method in CONTESTANTS.items() if method.group == "label space"),
    "SPL-MLL",
    "SPL-MLL as published",
]
TABLE_4_METHODS = ["MLFE", "HNOML", *ABLATIONS]

SMALL_DATA = ["emotions", "scene", "yeast"]
ALL_DATA = [*SMALL_DATA, "tmc2007", "espgame-densehue", "corel5k"]
TABLE_DATA = {
    "table2": [*SMALL_DATA, "tmc2007", "espgame-densehue"],
    "table3": ["tmc2007", "espgame-densehue"],
}
PASCAL_ELSEWHERE = "corel5k (DenseSift): pascal07 is not on this machine"
REPETITIONS = 5
# SPL-MLL chooses its ridge on rows that were not trained on; so may the others.
RIDGE_SEARCH = Search("grid", n_candidates=7, parameters=("ridge",))
# The quick run draws so many training rows of each data set, of which four folds of five are two
# batches of a network, and gives up on a unit after so many seconds.
QUICK_ROWS = 160
QUICK_SECONDS = 100.0


class Reproduction:
    """The paper's tables and figures, written into a folder, with a page that shows them all.

    Parameters
    ----------
    out : path-like
        Folder for tables, figures, the report and the store.
    quick : bool, default=False
        One seed, 160 training rows of each data set, and a limit of time for every unit: minutes in
        place of days. What is a sample is called so in every table.
    data : sequence of str, optional
        Only these data sets in the tables of methods; by default all of each table.
    n_jobs : int or None, default=None
        How many units run at the same time; None for one on every core.
    scheduler : str, optional
        Address of a Dask scheduler to run the units.
    seed : int, default=0
        The seed from which all others are derived.

    Examples
    --------
    >>> from splmll.experiments.reproduce import Reproduction
    >>> Reproduction("out", quick=True).run(["table1"])  # doctest: +SKIP
    [PosixPath('out/table1.txt'), ...]
    """

    def __init__(
        self,
        out: str | os.PathLike[str],
        *,
        quick: bool = False,
        data: Sequence[str] | None = None,
        n_jobs: int | None = None,
        scheduler: str | None = None,
        seed: int = 0,
    ) -> None:
        self.out = Path(out)
        self.quick = quick
        self.data = None if data is None else check_data(data)
        self.n_jobs = joblib.cpu_count() if n_jobs is None else n_jobs
        self.scheduler = scheduler
        self.seed = seed
        self._results: list[pd.DataFrame] = []
        self._loaded: dict[str, Dataset] = {}
        self._models: dict[str, SPLMLL] = {}
        self._shown: list[Section] = []

    def run(self, items: Sequence[str] = ("all",)) -> list[Path]:
        """Make some of the items.

        Parameters
        ----------
        items : sequence of str, default=("all",)
            Keys of ``ITEMS``, or "all" for all of them.

        Returns
        -------
        files : list of Path
            What was written.
        """
        wanted = check_items(items)
        self._check_tables(items)
        self.out.mkdir(parents=True, exist_ok=True)
        files = [file for item in wanted for file in ITEMS[item](self)]
        return [*files, *self._write_report()]

    # Tables --------------------------------------------------------------------------------------

    def table1(self) -> list[Path]:
        """Statistics of the data sets, counted and printed."""
        counts = ["rows", "features", "labels", "cardinality"]
        found = [load_dataset(name).describe() for name in ALL_DATA]
        counted = pd.DataFrame(
            [(each.n_rows, each.n_features, each.n_labels, each.cardinality) for each in found],
            pd.Index(ALL_DATA, name="data"),
            counts,
        )
        printed = published_datasets()[counts].add_suffix(", printed")
        originals = counted.index.str.removesuffix("-densehue")
        frame = counted.join(printed.reindex(originals).set_axis(counted.index))
        whole = [column for column in frame.columns if not column.startswith("cardinality")]
        frame = frame.astype(dict.fromkeys(whole, "Int64"))
        caption = (
            "Statistics of the data sets: counted here and printed in the paper. The paper's "
            "espgame has 1000 DenseSift features; here it has 100 of DenseHue. corel5k stands for "
            "pascal07, which is not at hand."
        )
        table = FormattedTable.from_frame(frame, caption)
        self._shown.append(Section("Table 1", [table]))
        return write_table(table, self.out / "table1")

    def table2(self) -> list[Path]:
        """The compared methods and ours, five measures."""
        title = "Table 2: compared methods and SPL-MLL"
        return self._comparison("table2", title, _data_of("table2"), TABLE_2_METHODS)

    def table3(self) -> list[Path]:
        """The methods that reduce the label space, their ridge chosen by folds, and ours."""
        title = "Table 3: methods that reduce the label space, and SPL-MLL"
        data = _data_of("table3")
        return self._comparison("table3", title, data, TABLE_3_METHODS, RIDGE_SEARCH)

    def table4(self) -> list[Path]:
        """The published system with parts left out."""
        (data,) = _data_of("table4")
        where = "pascal07" if data == "pascal07" else PASCAL_ELSEWHERE
        return self._comparison("table4", f"Table 4: ablations on {where}", [data], TABLE_4_METHODS)

    # Figures -------------------------------------------------------------------------------------

    def figure3(self) -> list[Path]:
        """The weights of labels in B, and the order of our landmarks."""
        data = [self._load("emotions"), self._load("scene")]
        drawn = selection_figure(data, [self._model(each) for each in data], self.seed)
        return self._figure("Figure 3", drawn, "figure3")

    def figure4(self) -> list[Path]:
        """How often labels stand with the landmarks."""
        return self._figure("Figure 4", company_figure(load_dataset("emotions")), "figure4")

    def figure5(self) -> list[Path]:
        """Example predictions."""
        files = []
        for name in ("scene", "espgame-densehue"):
            data = self._load(name)
            drawn = predictions_figure(data, self._model(data), self.seed)
            files += self._figure(f"Figure 5, {name}", drawn, f"figure5-{name}")
        return files

    def figure6(self) -> list[Path]:
        """The objective against the epochs."""
        data = [self._load(name) for name in ("emotions", "yeast", "tmc2007")]
        return self._figure("Figure 6", convergence_figure(data, self.seed), "figure6")

    # Parts of these ------------------------------------------------------------------------------

    def _check_tables(self, items: Sequence[str]) -> None:
        """Refuse a table that was asked for by name and has none of the data sets asked for."""
        if self.data is None:
            return
        for item in items:
            there = _data_of(item)
            if there and not set(there) & set(self.data):
                raise ValueError(
                    f"{item} has none of these data sets: {', '.join(self.data)}; it has "
                    f"{', '.join(there)}."
                )

    def _figure(self, title: str, drawn: tuple[Any, str], name: str) -> list[Path]:
        self._shown.append(Section(title, [Figure(*drawn)]))
        return write_figure(*drawn, self.out / name)

    def _load(self, name: str) -> Dataset:
        """Return a data set; in a quick run a sample of it."""
        if name not in self._loaded:
            data = load_dataset(name)
            self._loaded[name] = data.sample(QUICK_ROWS, self.seed) if self.quick else data
        return self._loaded[name]

    def _comparison(
        self,
        name: str,
        title: str,
        data: list[str],
        methods: list[str],
        search: str | Search = "none",
    ) -> list[Path]:
        """Measure methods on held-out rows; where training rows are printed also on those."""
        data = [each for each in data if self.data is None or each in self.data]
        files = self._measured(name, title, data, methods, "held-out", search) if data else []
        if "tmc2007" in data:
            on_training_rows = f"{name}-resubstitution", title, ["tmc2007"], methods
            files += self._measured(*on_training_rows, "resubstitution", search)
        return files

    def _measured(
        self,
        name: str,
        title: str,
        data: list[str],
        methods: list[str],
        protocol: str,
        search: str | Search,
    ) -> list[Path]:
        # Resubstitution only stands beside printed numbers: one seed shows what it shows.
        once = self.quick or protocol == "resubstitution"
        experiment = Experiment(
            # By name where it is whole: then every process reads it by itself.
            [self._load(each) if self.quick else each for each in data],
            methods,
            protocol,
            1 if once else REPETITIONS,
            search=search,
            seed=self.seed,
            time_limit=QUICK_SECONDS if self.quick else None,
        )
        results = experiment.run(self.out / "store", self.n_jobs, scheduler=self.scheduler)
        self._results.append(results)
        table = comparison_table(results, PAPER_MEASURES, published(), title=title)
        differences = difference_table(results, published())
        return [
            *write_table(table, self.out / name),
            *write_table(differences, self.out / f"{name}-differences"),
        ]

    def _model(self, data: Dataset) -> SPLMLL:
        """Return a model for the figures and the report to look at."""
        if data.name not in self._models:
            X, Y, _, _ = parts(data, self.seed)
            model = SPLMLL("linear" if self.quick else "auto", random_state=self.seed)
            self._models[data.name] = model.fit(X, Y)
        return self._models[data.name]

    def _write_report(self) -> list[Path]:
        title, place = "SPL-MLL: the paper's tables and figures, measured", self.out / "report.html"
        if not self._results:
            return [write_page(place, build_page(title, self._shown))]
        results = pd.concat(self._results, ignore_index=True)
        # A unit may stand in two tables.
        conditions = ["data", "method", "protocol", "search", "repetition", "fold"]
        results = results.drop_duplicates(conditions, ignore_index=True)
        models = {}
        for name in SMALL_DATA[:2]:
            data = self._load(name)
            X, Y, X_test, Y_test = parts(data, self.seed)
            model = self._model(data)
            path = model.landmark_path(X, Y)
            models[name] = FittedModel(model, X_test, Y_test, data.label_names, path)
        report = write_report(
            results, place, published=published(), models=models, title=title, more=self._shown
        )
        held_out = results[results["protocol"] == "held-out"]
        words = [ranks_and_tests(runs) for _, runs in held_out.groupby("search", sort=False)]
        return [report, write_text(self.out / "ranks.txt", "\n".join(words))]


ITEMS: dict[str, Callable[[Reproduction], list[Path]]] = {
    f"{kind}{number}": getattr(Reproduction, f"{kind}{number}")
    for kind, numbers in (("table", (1, 2, 3, 4)), ("figure", (3, 4, 5, 6)))
    for number in numbers
}


def _data_of(item: str) -> list[str]:
    """Return the data sets of a table; none for other items."""
    if item != "table4":
        return TABLE_DATA.get(item, [])
    try:
        load_dataset("pascal07")
    except DatasetError:
        return ["corel5k"]
    return ["pascal07"]


def check_items(items: Sequence[str]) -> list[str]:
    """Return the items that were asked for, or all of ``ITEMS``, in the order of the paper."""
    there = f"There are {', '.join(ITEMS)}."
    asked = [known_name(item, [*ITEMS, "all"], "item of the paper", there) for item in items]
    return [item for item in ITEMS if item in asked or "all" in asked]


def check_data(data: Sequence[str]) -> list[str]:
    """Refuse data sets that no table has."""
    known = [*ALL_DATA, "pascal07"]
    there = f"The tables have {', '.join(known)}."
    return [known_name(name, known, "data set", there) for name in data]
