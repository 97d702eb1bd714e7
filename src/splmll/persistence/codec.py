"""From objects to a JSON tree with arrays beside it, and back.

What JSON has is written as it is. Everything else is a JSON object ``{"is": kind, ...}``, and for
each kind one class below knows how to write and to read it. What is used in several places is
written once, with a number, and named by that number afterwards.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn

import numpy as np

from splmll.persistence.checks import misfit
from splmll.persistence.errors import ModelFileError, expect
from splmll.persistence.registry import Registry, full_name

Node = Any  # a JSON value

DEEPEST = 100  # levels of objects within objects
_LONGEST_RANGE = 2**20  # numbers that a range may stand for in a small file
_SAME = "same"


class Kind(ABC):
    """How values of some types are written and read.

    A subclass says which types it takes, writes a value as a dictionary and reads it back. Whether
    it takes a value is decided by the type alone.
    """

    name: str
    #: Whether two places may hold one and the same object, which stays one.
    shared: ClassVar[bool] = False

    @abstractmethod
    def takes(self, cls: type, registry: Registry) -> bool:
        """Whether values of this type are of this kind."""

    @abstractmethod
    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Return the value as JSON, with arrays handed to the writer."""

    @abstractmethod
    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Return the value."""

    def identity(self, value: Any) -> Any:
        """Return what tells whether two values are one and the same."""
        return id(value)


class Writer:
    """Writes a tree.

    Parameters
    ----------
    registry : Registry
        The classes and functions that may be named.
    kinds : list of Kind
        Tried in this order.
    root : str
        What the model is called in error messages.

    Attributes
    ----------
    arrays : dict of str to ndarray
        The arrays of the tree by their names in it.
    classes : set of str
        Names of the classes in the tree.
    """

    def __init__(self, registry: Registry, kinds: list[Kind], root: str) -> None:
        self.registry, self.kinds = registry, kinds
        self.arrays: dict[str, np.ndarray] = {}
        self.classes: set[str] = set()
        self._kind_of: dict[type, Kind | None] = {}
        self._numbers: dict[Any, int] = {}
        self._open: set[Any] = set()
        self._alive: list[Any] = []  # identities hold only as long as the objects live
        self._path = [root]

    def write(self, value: Any) -> Node:
        """Return a value as JSON."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float and math.isfinite(value):
            return value
        if len(self._path) > DEEPEST:
            self.refuse(f"objects are nested more than {DEEPEST} deep", "Make the model simpler.")
        if type(value) is list:
            return [self.at(f"[{k}]", item) for k, item in enumerate(value)]
        kind = self._find_kind(type(value))
        if kind is None:
            self._refuse_value(value)
        if not kind.shared:
            return {"is": kind.name, **kind.write(value, self)}
        identity = (kind.name, kind.identity(value))
        if identity in self._numbers:
            return {"is": _SAME, "number": self._numbers[identity]}
        if identity in self._open:
            self.refuse("it refers back to itself", "Remove the circle before saving.")
        self._open.add(identity)
        self._alive.append(value)
        written = kind.write(value, self)
        self._open.remove(identity)
        self._numbers[identity] = len(self._numbers)
        return {"is": kind.name, "number": self._numbers[identity], **written}

    def at(self, step: str, value: Any) -> Node:
        """Write a value that lies one step further, for instance at an attribute."""
        with self._step(step):
            return self.write(value)

    def check(self, value: Any) -> None:
        """Refuse an object that would be refused when it is read again."""
        names, trusted = self.registry.checked_as(type(value))
        wrong = misfit(value, names, trusted=trusted)
        if wrong is not None:
            self.refuse(wrong, "Change that, or fit it again.")

    def attributes(self, state: dict[str, Any], cls: type = object) -> dict[str, Node]:
        """Write the attributes of an object, none of which takes the place of a method."""
        for name in state:
            if not _is_data(name, cls):
                self.refuse(f"its attribute {name!r} hides a method", "Give it another name.")
        return {name: self.at(f".{name}", value) for name, value in state.items()}

    def add_array(self, array: np.ndarray) -> str:
        """Keep an array and return its name."""
        name = str(len(self.arrays))
        self.arrays[name] = array
        return name

    def class_name(self, cls: type) -> str:
        """Return the name of a class that may be in a file, and note it."""
        name = self.registry.name_of_class(cls)
        if name is None:
            self.refuse(
                f"the class {full_name(cls)} is not allowed in a model file",
                f"Use another one, or pass trusted=[{cls.__name__}] to save and to load.",
            )
        self.classes.add(name)
        return name

    def refuse(self, what: str, remedy: str) -> NoReturn:
        """Refuse the value at the present place."""
        raise ModelFileError(f"{''.join(self._path)} cannot be saved: {what}. {remedy}")

    def _refuse_value(self, value: Any) -> NoReturn:
        if hasattr(value, "best_estimator_"):
            self.refuse("a search is not kept in a model file", "Save its best_estimator_.")
        self.class_name(type(value))
        self.refuse(f"a {type(value).__name__} is more than its attributes", "Use another class.")

    def _find_kind(self, cls: type) -> Kind | None:
        if cls not in self._kind_of:
            self._kind_of[cls] = next((k for k in self.kinds if k.takes(cls, self.registry)), None)
        return self._kind_of[cls]

    @contextmanager
    def _step(self, step: str) -> Iterator[None]:
        self._path.append(step)
        yield
        self._path.pop()


class Reader:
    """Reads a tree.

    Parameters
    ----------
    registry : Registry
        The classes and functions that may be named.
    kinds : list of Kind
        The kinds a tree may hold.
    arrays : dict of str to ndarray
        The arrays of the tree by their names in it. Each is handed out once.
    n_bytes : int, default=0
        Size of the file. Nothing that a file can say in few words may grow beyond it.
    """

    def __init__(
        self, registry: Registry, kinds: list[Kind], arrays: dict[str, Any], n_bytes: int = 0
    ) -> None:
        self.registry, self._arrays = registry, dict(arrays)
        self._longest = max(_LONGEST_RANGE, n_bytes)
        self._kinds = {kind.name: kind for kind in kinds}
        self._shared: dict[int, Any] = {}

    def read(self, node: Node) -> Any:
        """Return the value of a JSON node."""
        if isinstance(node, list):
            return [self.read(item) for item in node]
        if not isinstance(node, dict):
            return node
        if node["is"] == _SAME:
            return self._shared[node["number"]]
        kind = self._kinds.get(node["is"])
        if kind is None:
            raise ModelFileError(f"Unknown kind of value: {node['is']!r}.")
        value = kind.read(node, self)
        if kind.shared:
            self._shared[node["number"]] = value
        return value

    def items(self, nodes: Node) -> list[Any]:
        """Return the values of a list that stands in the file item by item."""
        expect(isinstance(nodes, list), "a list is none")
        return [self.read(node) for node in nodes]

    def array(self, name: Node) -> np.ndarray:
        """Return an array of the file; two places that share one name it by its number."""
        expect(isinstance(name, str) and name in self._arrays, "an array is missing")
        return self._arrays.pop(name)

    def check_length(self, length: int) -> None:
        """Refuse a range that would be longer than the file if it were written out."""
        expect(length <= self._longest, f"a range of {length} numbers is too long")

    def check(self, value: Any) -> None:
        """Refuse an object whose attributes do not fit together."""
        names, trusted = self.registry.checked_as(type(value))
        wrong = misfit(value, names, trusted=trusted)
        expect(wrong is None, str(wrong))

    def attributes(self, state: dict[str, Node], cls: type) -> dict[str, Any]:
        """Return the attributes of an object, none of which takes the place of a method."""
        for name in state:
            if not _is_data(name, cls):
                raise ModelFileError(f"{cls.__name__} has no data attribute {name!r}.")
        return {name: self.read(node) for name, node in state.items()}


def _is_data(name: str, cls: type) -> bool:
    return not callable(getattr(cls, name, None))
