"""Experiments: several methods on several data sets, with everything else alike.

What is done is a list of units; each runs in a process of its own, on this machine through joblib
or on a cluster through Dask, and goes into a store. A run can be stopped or killed at any moment:
the next one does what is missing.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import joblib
import pandas as pd

from splmll.catalogue import METHODS
from splmll.datasets import Dataset, dataset_names, read_dataset
from splmll.experiments._child import told
from splmll.experiments.contestants import CONTESTANTS
from splmll.experiments.limits import CallFailed, LimitedProcess
from splmll.experiments.progress import RunProgress
from splmll.experiments.protocol import PROTOCOLS, Protocol
from splmll.experiments.search import Search
from splmll.experiments.store import Store
from splmll.experiments.unit import Unit, UnitResult, now, run_unit
from splmll.extras import required
from splmll.names import known_name

BACKENDS = ("joblib", "dask")
# Seconds between two looks at how many units there is room for.
LOOK_AGAIN = 0.5
# Units sent to a Dask cluster before they are needed, for each that can run: no worker waits.
AHEAD = 2

Method = str | tuple[str, Any]
Data = str | os.PathLike[str] | Dataset
Limits = Mapping[str, float | None]


class Experiment:
    """A comparison of methods in which only the method differs.

    Parameters
    ----------
    data : str, path, Dataset, or a list of them
        Names for :func:`splmll.datasets.load_dataset`, files for
        :func:`splmll.datasets.read_dataset`, or data sets.
    methods : list or mapping, optional
        Names of ``splmll.experiments.contestants.CONTESTANTS`` and pairs ``(name, estimator)``,
        or a mapping of names to estimators. By default all compared methods and SPL-MLL.
    protocol : str or Protocol, default="held-out"
        A key of ``splmll.experiments.protocol.PROTOCOLS``, or one with other options, such as
        ``CrossValidation(n_folds=10)``.
    repetitions : int, optional
        How often, each time with another seed; by default what is usual for the protocol. A
        method without randomness runs once where all repetitions have the same rows.
    preprocessing : {"none", "standard", "minmax", "suited"}, default="none"
        What is done with the features of all methods, fitted on the training rows; "suited" leaves
        sparse features and those of 0 and 1 as they are.
    threshold : float or str, default="own"
        ``"own"`` leaves each method its own threshold; otherwise a rule of
        :data:`splmll.thresholds.RULES` or a number for all of them.
    search : str or Search, default="none"
        How settings are searched for, see :class:`splmll.experiments.search.Search`.
    seed : int, default=0
        The seed from which all others are derived.
    time_limit : float, optional
        Seconds that a unit may take.
    memory_limit : float, optional
        Megabytes that a unit may hold, with all that its process has imported (some 400).
    processor_limit : float, optional
        Seconds of CPU time that a unit may take; a busy machine changes them less than the clock.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.experiments.runner import Experiment
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> data = Dataset(X, (X > 0).astype(int), ["a", "b"], ["right", "up"], name="corners")
    >>> experiment = Experiment(data, ["ML-kNN", "PLST"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = experiment.run(folder, isolate=False)
    >>> results[["data", "method", "status", "n_train"]]
          data  method status  n_train
    0  corners  ML-kNN   done      180
    1  corners    PLST   done      180
    """

    # Threads of numerical libraries in a unit; None deals the cores out to the units that run.
    n_threads: int | None = None

    def __init__(
        self,
        data: Data | Sequence[Data],
        methods: Sequence[Method] | Mapping[str, Any] | None = None,
        protocol: str | Protocol = "held-out",
        repetitions: int | None = None,
        *,
        preprocessing: str = "none",
        threshold: float | str = "own",
        search: str | Search = "none",
        seed: int = 0,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        processor_limit: float | None = None,
    ) -> None:
        self.data = _find_data(data)
        self.methods = _find_methods([*METHODS, "SPL-MLL"] if methods is None else methods)
        self.protocol = _find_protocol(protocol, repetitions)
        self.preprocessing = preprocessing
        self.threshold = str(threshold)
        self.search = Search(search) if isinstance(search, str) else search
        self.seed = seed
        self.limits = {
            "time_limit": time_limit,
            "memory_limit": memory_limit,
            "processor_limit": processor_limit,
        }
        self.units()  # refuses impossible options now and not after hours

    def units(self) -> list[Unit]:
        """Return all units of work, the first repetition of all methods first."""
        places = product(
            self.data, range(self.protocol.repetitions), range(self.protocol.folds), self.methods
        )
        units = [
            Unit(
                name,
                data,
                self.protocol,
                repetition,
                fold,
                estimator=self.methods[name],
                preprocessing=self.preprocessing,
                threshold=self.threshold,
                search=self.search,
                base_seed=self.seed,
            )
            for data, repetition, fold, name in places
        ]
        return [u for u in units if u.repetition == 0 or not u.same_in_every_repetition]

    def wants(self, unit: Unit) -> bool:
        """Return whether a unit is worth running, asked when its turn comes; here always."""
        return True

    def learn(self, unit: Unit, result: UnitResult) -> None:
        """Take in what came out of a unit, before the next one is chosen; here nothing."""

    def run(
        self,
        out: str | os.PathLike[str],
        n_jobs: int = 1,
        *,
        backend: str = "joblib",
        scheduler: str | None = None,
        retry_failed: bool = False,
        isolate: bool = True,
    ) -> pd.DataFrame:
        """Do all units that are not done yet; a live line in a terminal says how far it is.

        Parameters
        ----------
        out : path-like
            Folder or SQLite file of the store, see :class:`splmll.experiments.store.Store`. One
            run at a time can work on it.
        n_jobs : int, default=1
            How many units run at the same time, as in joblib.
        backend : {"joblib", "dask"}, default="joblib"
            ``"dask"`` starts a Dask cluster of `n_jobs` processes on this machine
            (``pip install "splmll[distributed]"``; a script then needs the line
            ``if __name__ == "__main__":``).
        scheduler : str, optional
            Address of a Dask scheduler that runs already, such as ``"tcp://10.0.0.1:8786"``. Its
            workers need this library, and named data sets in their ``SPLMLL_DATA``.
        retry_failed : bool, default=False
            Do units again that failed or exceeded a limit in an earlier run.
        isolate : bool, default=True
            Run units in processes of their own, which can be stopped at a limit and whose crash
            harms nothing else. False runs them here, one after the other, for a debugger.

        Returns
        -------
        results : DataFrame
            One row for every unit, see :meth:`splmll.experiments.store.Store.results`.
        """
        known_name(backend, BACKENDS, "backend", f"Use one of {', '.join(BACKENDS)}.")
        on_cluster = backend == "dask" or scheduler is not None
        limited = any(limit is not None for limit in self.limits.values())
        if not isolate and (on_cluster or limited or n_jobs != 1):
            raise ValueError(
                "isolate=False runs units in this process, one after the other: leave n_jobs at 1, "
                "use no cluster and set no limits."
            )
        units, store = self.units(), Store(out)
        with _recording(self, store, units, retry_failed) as work:
            if on_cluster:
                with _dask_client(n_jobs, scheduler) as client:
                    cluster = client.get_executor(pure=False)
                    work.through(
                        cluster,
                        self.limits,
                        lambda: AHEAD * sum(client.nthreads().values()),
                        self.n_threads,
                    )
            elif isolate:
                n_workers = joblib.effective_n_jobs(n_jobs)
                n_threads = self.n_threads or max(1, joblib.cpu_count() // n_workers)
                with _threads_with_processes(n_workers, n_threads) as threads:
                    work.through(threads, self.limits, lambda: n_workers)
            else:
                work.here()
        return store.results([unit.key for unit in units])


@contextmanager
def _recording(
    experiment: Experiment, store: Store, units: Sequence[Unit], retry_failed: bool
) -> Iterator[_Work]:
    """Give what is left to do and where results go, while nobody else works on the store."""
    with store.at_work():
        over = store.statuses()
        if retry_failed:
            over = {key: status for key, status in over.items() if status == "done"}
        left = [unit for unit in units if unit.key not in over]
        with RunProgress(len(units)) as progress:
            done = sum(over.get(unit.key) == "done" for unit in units)
            progress.count(done=done, failed=len(units) - len(left) - done)
            yield _Work(experiment, store, left, progress)


@dataclass(frozen=True)
class _Work:
    """Units to do, where their results go, and the line that says how far it is."""

    experiment: Experiment
    store: Store
    units: Sequence[Unit]
    progress: RunProgress

    def here(self) -> None:
        """Do all units in this process, one after the other."""
        for unit in self._wanted():
            self.progress.count(running=1)
            self._end(unit, _attempt(unit))

    def through(
        self,
        executor: Executor,
        limits: Limits,
        room: Callable[[], int],
        n_threads: int | None = None,
    ) -> None:
        """Do all units, no more of them under way than there is room: a unit can hold its data."""
        waiting = self._wanted()
        running: dict[Future[UnitResult], Unit] = {}
        while True:
            for unit in islice(waiting, max(0, max(1, room()) - len(running))):
                running[executor.submit(_attempt, unit, limits, n_threads)] = unit
                self.progress.count(running=1)
            if not running:
                return
            # A cluster may grow before a unit ends.
            for future in wait(running, LOOK_AGAIN, FIRST_COMPLETED).done:
                self._end(running.pop(future), _result_of(future))

    def _wanted(self) -> Iterator[Unit]:
        """Give the units that are wanted when their turn comes."""
        for unit in self.units:
            if self.experiment.wants(unit):
                yield unit
            else:
                self.progress.leave_out()

    def _end(self, unit: Unit, result: UnitResult) -> None:
        self.store.record(unit, result)
        self.experiment.learn(unit, result)
        done = result.status == "done"
        self.progress.count(running=-1, done=done, failed=not done)


@contextmanager
def _threads_with_processes(n_workers: int, n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that only wait: each has a process that does the work, and that ends first."""
    processes = [LimitedProcess(n_threads) for _ in range(n_workers)]
    idle = iter(processes)
    with (
        ThreadPoolExecutor(
            n_workers, initializer=lambda: setattr(_OF_THREAD, "process", next(idle))
        ) as threads,
        ExitStack() as ending,
    ):
        for process in processes:
            ending.enter_context(process)
        yield threads


# What a thread has to itself. A worker of a cluster keeps its process between units, too.
_OF_THREAD = threading.local()


def _attempt(unit: Unit, limits: Limits | None = None, n_threads: int | None = None) -> UnitResult:
    """Run a unit, with limits in another process; whatever goes wrong is a result too."""
    started = now()
    try:
        if limits is None:
            return run_unit(unit)
        if not hasattr(_OF_THREAD, "process"):
            _OF_THREAD.process = LimitedProcess(n_threads)
        elif n_threads not in (None, _OF_THREAD.process.n_threads):
            _OF_THREAD.process.close()
            _OF_THREAD.process = LimitedProcess(n_threads)
        return _OF_THREAD.process.call(run_unit, unit, **limits)
    except CallFailed as failure:
        return UnitResult.failure(failure.status, failure.error, failure.traceback, started)
    except Exception as error:
        return UnitResult.failure(**told(error), started=started)


def _result_of(future: Future[UnitResult]) -> UnitResult:
    """Return what a worker sent, or a failure where it could not even fail by itself."""
    if future.cancelled():
        raise ConnectionError("The connection to the Dask scheduler was lost: run it again.")
    error = future.exception()
    return future.result() if error is None else UnitResult.failure(**told(error))


@contextmanager
def _dask_client(n_jobs: int, scheduler: str | None) -> Iterator[Any]:
    distributed = required("distributed", "distributed", "Running on a cluster")
    with ExitStack() as stack:
        place = scheduler
        if place is None:
            cluster = distributed.LocalCluster(
                n_workers=joblib.effective_n_jobs(n_jobs),
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
            place = stack.enter_context(cluster)
        try:
            client = stack.enter_context(distributed.Client(place))
        except OSError as error:
            raise ConnectionError(
                f"There is no Dask scheduler at {scheduler}: start one with `dask scheduler`, or "
                'leave out the address and use backend="dask".'
            ) from error
        yield client


# What the caller asked for ------------------------------------------------------------------------


def _find_data(data: Data | Sequence[Data]) -> list[str | Dataset]:
    sources = [data] if isinstance(data, str | os.PathLike | Dataset) else list(data)
    found: list[str | Dataset] = []
    for source in sources:
        if isinstance(source, Dataset) or source in dataset_names():
            found.append(source)
        elif Path(source).exists():
            found.append(read_dataset(Path(source)))
        else:
            raise ValueError(
                f"There is neither a data set nor a file {str(source)!r}; the names are "
                f"{', '.join(dataset_names())}."
            )
    _refuse_twice([each if isinstance(each, str) else each.name for each in found], "data set")
    return found


def _find_methods(methods: Sequence[Method] | Mapping[str, Any]) -> dict[str, Any]:
    """Return name -> estimator, or None for a method that is known by name."""
    given = list(methods.items()) if isinstance(methods, Mapping) else list(methods)
    if not given or isinstance(methods, str):
        raise ValueError("Give a list of methods, such as ['BR', 'SPL-MLL'].")
    there = f"There are {', '.join(CONTESTANTS)}; give one of your own as a pair (name, estimator)."
    found = [
        (known_name(each, CONTESTANTS, "method", there), None) if isinstance(each, str) else each
        for each in given
    ]
    _refuse_twice([name for name, _ in found], "method")
    return dict(found)


def _find_protocol(protocol: str | Protocol, repetitions: int | None) -> Protocol:
    if isinstance(protocol, str):
        there = f"There are {', '.join(PROTOCOLS)}."
        protocol = PROTOCOLS[known_name(protocol, PROTOCOLS, "protocol", there)]
    return protocol if repetitions is None else replace(protocol, repetitions=repetitions)


def _refuse_twice(names: list[str], what: str) -> None:
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(
            f"The {what} {min(twice)!r} is named twice: leave one out, or give it another name."
        )
