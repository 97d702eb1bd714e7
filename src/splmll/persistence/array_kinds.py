"""Kinds of arrays and tables: NumPy arrays, SciPy's sparse matrices, pandas' tables and names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.persistence.codec import Kind, Node, Reader, Writer
from splmll.persistence.errors import expect
from splmll.persistence.plain_kinds import read_dtype, write_dtype
from splmll.persistence.registry import Registry

# safetensors has booleans, integers and floats. Others are stored as what they consist of, with
# one more axis: texts as code points, complex numbers as two floats.
_CARRIERS = {"U": "<u4", "S": "|u1", "M": "<i8", "m": "<i8"}
_LAST_CODE_POINT = 0x10FFFF

_SPARSE_CLASSES = {
    f"{layout}_{form}": getattr(sparse, f"{layout}_{form}")
    for layout in ("csr", "csc", "coo", "dia")
    for form in ("array", "matrix")
}
# pandas' own types of texts, beside those of NumPy.
_TEXT_TYPES = ("str", "string")


class Array(Kind):
    """NumPy arrays; those of Python objects item by item."""

    name = "array"
    shared = True

    def takes(self, cls: type, registry: Registry) -> bool:
        """Arrays, in memory or in a mapped file; not masked arrays or matrices."""
        return cls in (np.ndarray, np.memmap)

    def identity(self, value: Any) -> Any:
        """Two views of the same numbers are one array."""
        if value.dtype.hasobject or value.size == 0:
            return id(value)
        place = value.__array_interface__["data"][0]
        return place, value.shape, value.strides, value.dtype.str

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Hand the numbers to the writer, with their order in memory."""
        written: dict[str, Node] = {
            "dtype": write_dtype(value.dtype, writer),
            "shape": list(value.shape),
        }
        if value.dtype.hasobject:
            items = [writer.at(f"[{k}]", item) for k, item in enumerate(value.ravel().tolist())]
            return {**written, "items": items}
        # Products of a matrix and of its transpose round differently: the order stays.
        if value.flags.f_contiguous and not value.flags.c_contiguous:
            written["order"], value = "F", value.T
        value = np.ascontiguousarray(value).reshape(value.shape)
        carrier = _carrier(value.dtype)
        if carrier is None:
            writer.refuse(f"a model file cannot hold arrays of {value.dtype}", "Convert it.")
        if carrier != value.dtype:
            value = value.astype(value.dtype.newbyteorder("<"), copy=False)
            width = value.dtype.itemsize // carrier.itemsize
            value = np.frombuffer(value.tobytes(), carrier).reshape(*value.shape, width)
        return {**written, "data": writer.add_array(value)}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Take the numbers and check that they are those described."""
        dtype, shape = read_dtype(node["dtype"]), tuple(node["shape"])
        expect(all(type(n) is int and n >= 0 for n in shape), "an array has an impossible shape")
        if dtype.hasobject:
            items = reader.items(node["items"])
            expect(len(items) == math.prod(shape), "an array is incomplete")
            flat = np.empty(len(items), dtype=object)
            for k, item in enumerate(items):
                flat[k] = item
            return flat.reshape(shape)
        array = reader.array(node["data"])
        stored_shape = shape[::-1] if node.get("order") == "F" else shape
        carrier = _carrier(dtype)
        expect(carrier is not None, f"it cannot hold arrays of {dtype}")
        if carrier != dtype:
            stored_shape = (*stored_shape, dtype.itemsize // carrier.itemsize)
        expect(
            array.shape == stored_shape and array.dtype == carrier,
            f"an array has shape {array.shape}, type {array.dtype} instead of "
            f"{stored_shape}, {carrier}",
        )
        if carrier != dtype:
            in_range = dtype.kind != "U" or array.max(initial=0) <= _LAST_CODE_POINT
            expect(in_range, "a text has impossible characters")
            little = dtype.newbyteorder("<")
            array = (
                np.frombuffer(bytearray(array.tobytes()), little)
                if array.size
                else (np.zeros(math.prod(shape), little))
            )
            array = array.reshape(stored_shape[:-1]).astype(dtype, copy=False)
        return array.T if node.get("order") == "F" else array


def _carrier(dtype: np.dtype) -> Any:
    """Return the type in which safetensors stores elements of a type, None where it cannot."""
    if dtype.kind in _CARRIERS:
        return np.dtype(_CARRIERS[dtype.kind])
    if dtype.kind == "c":
        dtype = np.dtype(f"<f{dtype.itemsize // 2}")
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        return None
    return dtype.newbyteorder("<") if dtype.itemsize > 1 else dtype


class Sparse(Kind):
    """SciPy's sparse arrays and matrices."""

    name = "sparse"
    shared = True

    def takes(self, cls: type, registry: Registry) -> bool:
        """The layouts that consist of a few arrays."""
        return cls in _SPARSE_CLASSES.values()

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write the arrays it consists of."""
        parts = {name: getattr(value, name) for name in _sparse_parts(value.format)}
        return {
            "class": type(value).__name__,
            "shape": list(value.shape),
            "parts": writer.attributes(parts),
        }

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Build it and check that its numbers of rows and columns are possible ones."""
        cls, shape = _SPARSE_CLASSES[node["class"]], tuple(node["shape"])
        layout = node["class"].partition("_")[0]
        parts = [reader.read(node["parts"][name]) for name in _sparse_parts(layout)]
        whole = all(isinstance(part, np.ndarray) and part.dtype.kind in "biufc" for part in parts)
        expect(whole and len(shape) == 2, "a sparse matrix is incomplete")
        if layout == "coo":
            return cls((parts[0], (parts[1], parts[2])), shape=shape)
        matrix = cls(tuple(parts), shape=shape)
        if layout in ("csr", "csc"):
            matrix.check_format(full_check=True)
        return matrix


def _sparse_parts(layout: str) -> tuple[str, ...]:
    return {"dia": ("data", "offsets"), "coo": ("data", "row", "col")}.get(
        layout, ("data", "indices", "indptr")
    )


class Names(Kind):
    """pandas' Index: names of rows or columns."""

    name = "index"

    def takes(self, cls: type, registry: Registry) -> bool:
        """Plain ones and ranges."""
        return cls in (pd.Index, pd.RangeIndex)

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write the names, or the three numbers of a range."""
        title = writer.at(".name", value.name)
        if isinstance(value, pd.RangeIndex):
            return {"range": [value.start, value.stop, value.step], "title": title}
        return {**_write_column(value, writer), "title": title}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read the names."""
        title = reader.read(node["title"])
        if "range" in node:
            start, stop, step = node["range"]
            reader.check_length(len(range(start, stop, step)))
            return pd.RangeIndex(start, stop, step, name=title)
        values, dtype = _read_column(node, reader)
        return pd.Index(values, dtype=dtype, name=title)


class Column(Kind):
    """pandas' Series."""

    name = "series"

    def takes(self, cls: type, registry: Registry) -> bool:
        """The type itself."""
        return cls is pd.Series

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write values, names of rows and title."""
        return {
            **_write_column(value, writer),
            "rows": writer.at(".index", value.index),
            "title": writer.at(".name", value.name),
        }

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read values, names of rows and title."""
        values, dtype = _read_column(node, reader)
        rows, title = reader.read(node["rows"]), reader.read(node["title"])
        return pd.Series(values, dtype=dtype, index=rows, name=title)


class Table(Kind):
    """pandas' DataFrame, column by column."""

    name = "table"

    def takes(self, cls: type, registry: Registry) -> bool:
        """The type itself."""
        return cls is pd.DataFrame

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write names and columns."""
        columns = [_write_column(value.iloc[:, k], writer) for k in range(value.shape[1])]
        return {
            "rows": writer.at(".index", value.index),
            "names": writer.at(".columns", value.columns),
            "columns": columns,
        }

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Read names and columns."""
        rows, names = reader.read(node["rows"]), reader.read(node["names"])
        expect(isinstance(node["columns"], list), "a table has no columns")
        columns = [_read_column(column, reader) for column in node["columns"]]
        expect(len(columns) == len(names), "a table has too few or too many columns")
        series = {
            k: pd.Series(values, dtype=dtype, index=rows)
            for k, (values, dtype) in enumerate(columns)
        }
        return pd.DataFrame(series, index=rows).set_axis(names, axis=1)


def _write_column(values: Any, writer: Writer) -> dict[str, Node]:
    """Write the values of an Index or Series and their type."""
    if str(values.dtype) in _TEXT_TYPES:
        return {"values": writer.write(values.to_numpy(dtype=object)), "text": str(values.dtype)}
    if not isinstance(values.dtype, np.dtype):
        writer.refuse(
            f"a model file cannot hold a column of type {values.dtype}", "Convert it to NumPy."
        )
    return {"values": writer.write(values.to_numpy())}


def _read_column(node: dict[str, Node], reader: Reader) -> tuple[np.ndarray, Any]:
    """Return the values of an Index or Series and their type."""
    values, text = reader.read(node["values"]), node.get("text")
    expect(isinstance(values, np.ndarray) and values.ndim == 1, "a column is no array")
    expect(text is None or text in _TEXT_TYPES, f"a column has the unknown type {text!r}")
    return values, text or values.dtype


ARRAY_KINDS: list[Kind] = [Array(), Sparse(), Names(), Column(), Table()]
