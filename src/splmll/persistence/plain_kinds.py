"""Kinds of plain Python and NumPy values: containers, numbers, types, functions, random states."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from splmll.persistence.checking import LARGEST_INDEX, is_whole
from splmll.persistence.codec import Kind, Node, Reader, Writer
from splmll.persistence.errors import expect
from splmll.persistence.registry import VALUE_TYPES, Registry, full_name

# Booleans, numbers, times and texts; no structures and nothing that points elsewhere.
_DTYPE = re.compile(r"[<>|=]?([biufcSU]\d+|[mM]8(\[\d*[A-Za-z]+\])?)")
_OBJECT = "|O"
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_LARGEST_POOL = 64  # numbers in a seed; NumPy takes 4
_LONGEST_SEED = 1024  # numbers that a seed is made from
_TWISTER = 624  # numbers in the table of the Mersenne Twister


def write_dtype(dtype: np.dtype, writer: Writer) -> str:
    """Return the short name of a type of array elements."""
    name = dtype.str
    if not _DTYPE.fullmatch(name) and name != _OBJECT:
        writer.refuse(f"a model file cannot hold arrays of {dtype}", "Convert the array.")
    return name


def read_dtype(name: Any) -> np.dtype:
    """Return the type of array elements with a short name."""
    known = isinstance(name, str) and (_DTYPE.fullmatch(name) or name == _OBJECT)
    expect(known, f"{name!r} is no type of array elements")
    return np.dtype(name)


class Special(Kind):
    """NaN and infinite floats, which JSON does not have."""

    name = "float"

    def takes(self, cls: type, registry: Registry) -> bool:
        """Floats; finite ones never come here."""
        return cls is float

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write its name."""
        return {"value": repr(value)}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read one of three names."""
        expect(node["value"] in ("nan", "inf", "-inf"), "a float has no value")
        return float(node["value"])


class Complex(Kind):
    """Complex numbers."""

    name = "complex"

    def takes(self, cls: type, registry: Registry) -> bool:
        """Python's own."""
        return cls is complex

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write both parts."""
        return {"parts": [writer.write(value.real), writer.write(value.imag)]}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read both parts."""
        return complex(*reader.items(node["parts"]))


class Collection(Kind):
    """Tuples and sets."""

    def __init__(self, cls: type) -> None:
        self.cls, self.name = cls, cls.__name__

    def takes(self, cls: type, registry: Registry) -> bool:
        """The type itself, no subclasses: they have a behaviour of their own."""
        return cls is self.cls

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write the items."""
        items = [writer.at(f"[{k}]", item) for k, item in enumerate(value)]
        # A set has no order, but the same model should give the same file.
        return {"items": items if self.cls is tuple else sorted(items, key=json.dumps)}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read the items."""
        return self.cls(reader.items(node["items"]))


class Mapping(Kind):
    """Dictionaries with keys of any kind, in their order."""

    def __init__(self, cls: type, name: str) -> None:
        self.cls, self.name = cls, name

    def takes(self, cls: type, registry: Registry) -> bool:
        """The type itself, no subclasses: they have a behaviour of their own."""
        return cls is self.cls

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write pairs of keys and values."""
        return {
            "items": [[writer.at("[key]", k), writer.at(f"[{k!r}]", v)] for k, v in value.items()]
        }

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read pairs of keys and values."""
        expect(isinstance(node["items"], list), "a dictionary is none")
        mapping = self.cls()
        mapping.update((reader.read(key), reader.read(value)) for key, value in node["items"])
        return mapping


class Steps(Kind):
    """Slices and ranges."""

    def __init__(self, cls: type) -> None:
        self.cls, self.name = cls, cls.__name__

    def takes(self, cls: type, registry: Registry) -> bool:
        """The type itself."""
        return cls is self.cls

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write start, stop and step."""
        return {"parts": [writer.write(p) for p in (value.start, value.stop, value.step)]}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read start, stop and step."""
        steps = self.cls(*reader.items(node["parts"]))
        if isinstance(steps, range):
            reader.check_length(len(steps))
        return steps


class Scalar(Kind):
    """NumPy's numbers and texts."""

    name = "scalar"

    def takes(self, cls: type, registry: Registry) -> bool:
        """All NumPy scalars."""
        return issubclass(cls, np.generic)

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write the type and the value as Python's own."""
        dtype = write_dtype(value.dtype, writer)
        if value.dtype.kind not in "biufU" or (
            value.dtype.itemsize > 8 and value.dtype.kind == "f"
        ):
            writer.refuse(f"a model file cannot hold a scalar of {value.dtype}", "Convert it.")
        return {"dtype": dtype, "value": writer.write(value.item())}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read the value and check that it is one of the type."""
        value, dtype = reader.read(node["value"]), read_dtype(node["dtype"])
        if dtype.kind == "U":
            return np.str_(value)
        expect(isinstance(value, (bool, int, float)), "a number is none")
        return dtype.type(value)


class DataType(Kind):
    """Types of array elements."""

    name = "dtype"

    def takes(self, cls: type, registry: Registry) -> bool:
        """All of NumPy's."""
        return issubclass(cls, np.dtype)

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write its short name."""
        return {"name": write_dtype(value, writer)}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read its short name."""
        return read_dtype(node["name"])


class ValueType(Kind):
    """Types as values, such as ``dtype=numpy.float64``."""

    name = "type"

    def takes(self, cls: type, registry: Registry) -> bool:
        """All classes."""
        return issubclass(cls, type)

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write its name."""
        name = full_name(value)
        if name not in VALUE_TYPES:
            writer.refuse(f"a model file cannot hold the type {name}", "Use a NumPy type.")
        return {"name": name}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read its name."""
        expect(node["name"] in VALUE_TYPES, f"the type {node['name']!r} is not known")
        return VALUE_TYPES[node["name"]]


class Function(Kind):
    """Functions of the list, and those the caller trusts."""

    name = "function"

    def takes(self, cls: type, registry: Registry) -> bool:
        """All forms of functions."""
        forms = (FunctionType, BuiltinFunctionType, np.ufunc)
        return issubclass(cls, forms) or cls is type(np.sum)

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write its name."""
        name = writer.registry.name_of_function(value)
        if name is None:
            short = getattr(value, "__name__", "the_function")
            writer.refuse(
                f"the function {full_name(value)} is not allowed in a model file",
                "Use one of NumPy, or define it in a module and pass "
                f"trusted=[{short}] to save and to load.",
            )
        return {"name": name}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Look its name up."""
        return reader.registry.function_named(node["name"])


class Random(Kind):
    """NumPy's sources of random numbers, which go on where they were."""

    name = "random"
    shared = True

    def takes(self, cls: type, registry: Registry) -> bool:
        """The old and the new source."""
        return cls in (np.random.RandomState, np.random.Generator)

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write the state, and the seed from which further sources are spawned."""
        bits = value._bit_generator if self._is_old(value) else value.bit_generator
        if type(bits).__name__ not in _BIT_GENERATORS:
            writer.refuse(f"{type(bits).__name__} is not one of NumPy's", "Use default_rng.")
        seed = bits.seed_seq
        parts = {"state": value.get_state(legacy=False) if self._is_old(value) else bits.state}
        if isinstance(seed, np.random.SeedSequence):
            parts["seed"] = {**seed.state, "pool_size": int(seed.pool_size)}
        return {"old": self._is_old(value), "parts": writer.write(parts)}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Make a source and set its state."""
        parts = reader.read(node["parts"])
        name = parts["state"]["bit_generator"]
        expect(name in _BIT_GENERATORS, f"{name!r} is no source of random numbers")
        _check_random_state(name, parts["state"])
        seed = _read_seed(parts["seed"]) if "seed" in parts else 0  # replaced by the state
        bits = getattr(np.random, name)(seed)
        if not node["old"]:
            bits.state = parts["state"]
            return np.random.Generator(bits)
        source = np.random.RandomState(bits)
        source.set_state(parts["state"])
        return source

    @staticmethod
    def _is_old(value: Any) -> bool:
        return isinstance(value, np.random.RandomState)


def _read_seed(seed: dict[str, Any]) -> np.random.SeedSequence:
    """Return the seed from which further sources are spawned."""
    for name in ("entropy", "spawn_key"):
        numbers = seed[name] if isinstance(seed[name], (list, tuple)) else [seed[name] or 0]
        whole = all(type(number) is int and number >= 0 for number in numbers)
        expect(whole and len(numbers) <= _LONGEST_SEED, "a seed is no number")
    children, pool = seed["n_children_spawned"], seed["pool_size"]
    expect(is_whole(pool, 4, _LARGEST_POOL), "a seed is too large")
    expect(is_whole(children, 0, LARGEST_INDEX), "a seed has lost count")
    return np.random.SeedSequence(
        seed["entropy"], spawn_key=seed["spawn_key"], pool_size=pool, n_children_spawned=children
    )


def _check_random_state(name: str, state: dict[str, Any]) -> None:
    """Check what NumPy takes as it is: places in tables of numbers, and the tables."""
    inner = state["state"]
    if name == "MT19937":
        # A state of zeros only gives zeros, and some distributions would wait for others forever.
        expect(_is_table(inner["key"], np.uint32, _TWISTER) and inner["key"].any(), "no state")
        expect(is_whole(inner["pos"], 0, _TWISTER), "a source of random numbers is out of place")
    elif name == "Philox":
        tables = _is_table(inner["counter"], np.uint64, 4) and _is_table(inner["key"], np.uint64, 2)
        expect(tables and _is_table(state["buffer"], np.uint64, 4), "no state")
        expect(is_whole(state["buffer_pos"], 0, 4), "a source of random numbers is out of place")
    elif name == "SFC64":
        expect(_is_table(inner["state"], np.uint64, 4), "no state")
    else:
        numbers = inner["state"], inner["inc"]
        expect(all(is_whole(n, 0, 2**128 - 1) for n in numbers), "no state")


def _is_table(table: Any, dtype: type, length: int) -> bool:
    return isinstance(table, np.ndarray) and table.dtype == dtype and table.shape == (length,)


PLAIN_KINDS: list[Kind] = [
    Special(),
    Complex(),
    Collection(tuple),
    Collection(set),
    Collection(frozenset),
    Mapping(dict, "dict"),
    Mapping(OrderedDict, "ordered dict"),
    Mapping(Bunch, "bunch"),
    Steps(slice),
    Steps(range),
    Scalar(),
    DataType(),
    ValueType(),
    Function(),
    Random(),
]
