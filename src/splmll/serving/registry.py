"""The models of a service by name, and how one replaces another while both answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from splmll.names import listed, suggestion
from splmll.persistence.storage import MANIFEST
from splmll.serving.errors import ServiceError
from splmll.serving.limits import Limits
from splmll.serving.metrics import Metrics
from splmll.serving.model import ServedModel
from splmll.tagging import Tagger

Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class Reloaded:
    """The result of reloading models.

    Attributes
    ----------
    reloaded, unchanged : list of str
        Names of models.
    failed : dict of str to str
        Name -> why it could not be read; the earlier model stays in use.
    """

    reloaded: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


class ModelRegistry:
    """All models of a service; the first one is the default.

    A request keeps the model it started with, so a model can be replaced at any time. The old model
    is dropped when its last request has been answered.

    Parameters
    ----------
    places : mapping of str to path-like
        Name -> folder or zip file with a tagger.
    limits : Limits
        Bounds of the service.
    metrics : Metrics
        Counts loads and batches.
    """

    def __init__(self, places: Mapping[str, Path], limits: Limits, metrics: Metrics) -> None:
        if not places:
            raise ValueError("There are no models to serve; give at least one.")
        self._places = {name: Path(place) for name, place in places.items()}
        self._limits, self._metrics = limits, metrics
        self._models: dict[str, ServedModel] = {}
        self._stamps: dict[str, Stamp | None] = {}
        self._reloading = asyncio.Lock()
        for name in self._places:
            self._put(name, *self._read(name))
            metrics.watch_waiting(name, partial(self._waiting, name))

    @property
    def names(self) -> list[str]:
        """Names of the models, the default first."""
        return list(self._models)

    @property
    def models(self) -> list[ServedModel]:
        """The models, the default first."""
        return list(self._models.values())

    def place(self, name: str) -> Path:
        """Return the folder or file from which a model is read."""
        return self._places[self.get(name).name]

    def get(self, name: str | None) -> ServedModel:
        """Return a model by name; None: the default."""
        if name is None:
            return next(iter(self._models.values()))
        if name not in self._models:
            raise ServiceError(
                404,
                "unknown_model",
                f"There is no model {name!r}.{suggestion(name, self.names)} The models are "
                f"{listed(self.names)}.",
                {"model": name, "models": self.names},
            )
        return self._models[name]

    def _waiting(self, name: str) -> float:
        """Return how many requests wait for the model that has this name now."""
        return self._models[name].batcher.waiting

    async def reload(self, name: str | None = None) -> Reloaded:
        """Reload models whose files have changed; the old ones answer meanwhile.

        Parameters
        ----------
        name : str, optional
            Only this model.

        Returns
        -------
        found : Reloaded
        """
        wanted = self.names if name is None else [self.get(name).name]
        found = Reloaded()
        async with self._reloading:
            for each in wanted:
                if _stamp(self._places[each]) == self._stamps[each] is not None:
                    found.unchanged.append(each)
                    continue
                try:
                    model, stamp = await asyncio.to_thread(self._read, each)
                except Exception as error:  # whatever is wrong with it, the old one goes on
                    self._metrics.load(each, "failed")
                    found.failed[each] = str(error)
                else:
                    self._put(each, model, stamp)
                    found.reloaded.append(each)
        return found

    def _read(self, name: str) -> tuple[ServedModel, Stamp | None]:
        # Taken before reading: a model that is written meanwhile counts as changed.
        stamp = _stamp(self._places[name])
        tagger = Tagger.load(self._places[name])
        model = ServedModel(name, tagger, self._limits, self._metrics)
        model.warm_up()
        return model, stamp

    def _put(self, name: str, model: ServedModel, stamp: Stamp | None) -> None:
        self._models[name], self._stamps[name] = model, stamp
        self._metrics.load(name, "loaded")


def _stamp(place: Path) -> Stamp | None:
    """Return what changes when a model is written; None where there is none."""
    try:
        state = (place / MANIFEST if place.is_dir() else place).stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino
