"""Kinds of objects: estimators and their parts, networks, and objects with a state of their own.

Most objects are their attributes. What is not in the attributes of an object (the nodes of a
tree, the cells of an index) or can be made from them (search trees) is named here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from splmll.extras import required
from splmll.persistence.checking import LARGEST_INDEX, is_whole
from splmll.persistence.codec import Kind, Node, Reader, Writer
from splmll.persistence.errors import expect
from splmll.persistence.moved import with_present_words
from splmll.persistence.registry import Registry, full_name

# Attributes that are not written: they belong to one process, or are made from others when needed.
FORGOTTEN = frozenset(
    {
        "_callback_fit_ctx",  # scikit-learn's callbacks watch one fit
        "_parent_callback_ctx",
        "_skl_callbacks",
        "_skl_callbacks_to_teardown",
        "_loss_function_",  # SGDClassifier sets it anew whenever it learns
        "_stop_words_id",  # CountVectorizer: a place in memory
    }
)


class Plain(Kind):
    """Objects that are what their attributes say, of classes that may be named."""

    name = "object"
    shared = True

    def takes(self, cls: type, registry: Registry) -> bool:
        """All classes of the list with attributes and without a built-in base."""
        return registry.name_of_class(cls) is not None and _is_plain(cls)

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write the class and the attributes."""
        left_out = FORGOTTEN.union(*(care.left_out for care in _care_of(type(value))))
        state = {name: item for name, item in vars(value).items() if name not in left_out}
        written = {
            "class": writer.class_name(type(value)),
            "state": writer.attributes(state, type(value)),
        }
        writer.check(value)
        return written

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Make an empty object, without calling anything of it, and set its attributes."""
        name: Any = node["class"]
        convert = reader.registry.conversion_of(name)
        if convert is None:
            cls = reader.registry.class_named(name)
            state = reader.attributes(node["state"], cls)
        else:
            name, state = convert(reader.attributes(node["state"], object))
            if name is None:
                return state
            cls = reader.registry.class_named(name)
        expect(_is_plain(cls) and not _is_module(cls), f"{name} is no plain class")
        state = with_present_words(reader.registry.name_of_class(cls), state)
        value: Any = object.__new__(cls)
        vars(value).update(state)
        reader.check(value)
        for care in _care_of(cls):
            care.finish(value)
        return value


def _is_plain(cls: type) -> bool:
    builtin = (tuple, list, dict, set, str, int, float, type, BaseException, np.ndarray, np.generic)
    return hasattr(cls, "__dict__") and cls.__dictoffset__ != 0 and not issubclass(cls, builtin)


# What classes need beyond their attributes --------------------------------------------------------


@dataclass(frozen=True)
class Care:
    """What is done for a class: attributes that are left out, and a last step after reading."""

    finish: Callable[[Any], None]
    left_out: tuple[str, ...] = ()


def _build_search_tree(neighbours: Any) -> None:
    """Build the tree of a nearest neighbour search, as scikit-learn does."""
    from sklearn.neighbors import BallTree, KDTree

    if not hasattr(neighbours, "_fit_method"):
        return
    tree = {"kd_tree": KDTree, "ball_tree": BallTree}.get(neighbours._fit_method)
    neighbours._tree = None
    if tree is not None:
        neighbours._tree = tree(
            neighbours._fit_X,
            neighbours.leaf_size,
            metric=neighbours.effective_metric_,
            **neighbours.effective_metric_params_,
        )


def _build_interpolation(isotonic: Any) -> None:
    if hasattr(isotonic, "X_thresholds_"):
        isotonic._build_f(isotonic.X_thresholds_, isotonic.y_thresholds_)


def _start_without_cache(binarizer: Any) -> None:
    binarizer._cached_dict = None


def _predict_on_cpu(model: Any) -> None:
    """Networks come back on the CPU: where they were trained may not exist here."""
    model.device = "cpu"


def _predict_on_cpu_if_fitted(embedding: Any) -> None:
    """The same; one that is still to be trained keeps its settings."""
    if hasattr(embedding, "models_"):
        _predict_on_cpu(embedding)


_CARE = {
    "sklearn.isotonic.IsotonicRegression": Care(_build_interpolation, left_out=("f_",)),
    "sklearn.neighbors._base.NeighborsBase": Care(_build_search_tree, left_out=("_tree",)),
    "sklearn.preprocessing._label.MultiLabelBinarizer": Care(
        _start_without_cache, left_out=("_cached_dict",)
    ),
    "splmll.embeddings.network.TorchModule": Care(_predict_on_cpu_if_fitted),
    "splmll.methods.canonical_autoencoder.C2AE": Care(_predict_on_cpu),
}


def _care_of(cls: type) -> list[Care]:
    return [_CARE[full_name(base)] for base in cls.__mro__ if full_name(base) in _CARE]


_LEAF = -1  # in place of a child

# Objects with a state of their own ---------------------------------------------------------------


class DecisionTree(Kind):
    """The nodes of a decision tree of scikit-learn, one array for each of their numbers."""

    name = "decision tree"
    shared = True

    def takes(self, cls: type, registry: Registry) -> bool:
        """scikit-learn's compiled tree."""
        return self.is_one(cls)

    @staticmethod
    def is_one(cls: type) -> bool:
        """Whether a class is scikit-learn's compiled tree."""
        return (cls.__module__, cls.__name__) == ("sklearn.tree._tree", "Tree")

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write its shape and its nodes."""
        _, (n_features, n_classes, n_outputs), state = value.__reduce__()
        return {
            "n_features": int(n_features),
            "n_outputs": int(n_outputs),
            "n_classes": writer.write(np.asarray(n_classes)),
            "max_depth": int(state["max_depth"]),
            "nodes": writer.attributes(
                {name: state["nodes"][name] for name in state["nodes"].dtype.names}
            ),
            "values": writer.write(state["values"]),
        }

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Build the tree after checking that every node leads to a leaf."""
        from sklearn.tree._tree import NODE_DTYPE, Tree

        columns = {name: reader.read(column) for name, column in node["nodes"].items()}
        expect(
            set(columns) == set(NODE_DTYPE.names),
            "a decision tree was written by another scikit-learn, whose trees have other nodes",
        )
        values, n_classes = reader.read(node["values"]), reader.read(node["n_classes"])
        n_features, n_outputs, count = node["n_features"], node["n_outputs"], len(values)
        nodes = np.zeros(count, dtype=NODE_DTYPE)
        for name, column in columns.items():
            expect(column.shape == (count,), "a decision tree has too few nodes")
            expect(column.dtype == NODE_DTYPE[name], "a decision tree has nodes of a wrong type")
            nodes[name] = column
        left, right = nodes["left_child"], nodes["right_child"]
        inner, own = left != _LEAF, np.arange(count)
        fits = (left > own) & (right > own) & (left < count) & (right < count)
        fits &= (nodes["feature"] >= 0) & (nodes["feature"] < n_features)
        expect(count > 0 and (fits | ~inner).all(), "a decision tree has a node without leaves")
        children = np.sort(np.concatenate([left[inner], right[inner]]))
        once = np.array_equal(children, np.arange(1, count))
        expect(once, "a decision tree has a node with no parent, or with two")
        expect(node["max_depth"] == _depth(left, right), "a decision tree has another depth")
        sized = is_whole(n_features, 1, LARGEST_INDEX) and is_whole(n_outputs, 1, LARGEST_INDEX)
        expect(sized, "a decision tree has no features or outputs")
        expect(
            n_classes.shape == (n_outputs,)
            and n_classes.dtype == np.intp
            and n_classes.min(initial=1) >= 1
            and values.dtype == np.float64
            and values.shape == (count, n_outputs, n_classes.max(initial=1)),
            "a decision tree has values of a wrong shape",
        )
        tree = Tree(n_features, n_classes, n_outputs)
        tree.__setstate__(
            {
                "max_depth": node["max_depth"],
                "node_count": count,
                "nodes": nodes,
                "values": np.ascontiguousarray(values),
            }
        )
        return tree


def _depth(left: np.ndarray, right: np.ndarray) -> int:
    """Return the number of steps to the lowest leaf of a tree."""
    depth, level = 0, np.zeros(1, dtype=np.intp)
    while True:
        level = level[left[level] != _LEAF]
        if not len(level):
            return depth
        level = np.concatenate([left[level], right[level]])
        depth += 1


class CellIndex(Kind):
    """The approximate search of faiss: centres of cells, and the rows in each."""

    name = "cell index"
    shared = True

    def takes(self, cls: type, registry: Registry) -> bool:
        """The one form of index that the library builds."""
        return cls.__module__.startswith("faiss") and cls.__name__ == "IndexIVFFlat"

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write centres, sizes of the cells, and numbers and features of their rows."""
        faiss: Any = import_module("faiss")
        sizes = np.array([value.invlists.list_size(k) for k in range(value.nlist)], dtype=np.int64)
        ids = np.empty(value.ntotal, dtype=np.int64)
        vectors = np.empty((value.ntotal, value.d), dtype=np.float32)
        start = 0
        for k, size in enumerate(sizes.tolist()):
            if size:
                part = slice(start, start + size)
                ids[part] = faiss.rev_swig_ptr(value.invlists.get_ids(k), size)
                codes = faiss.rev_swig_ptr(value.invlists.get_codes(k), size * 4 * value.d)
                vectors[part] = codes.view(np.float32).reshape(size, value.d)
            start += size
        centres = value.quantizer.reconstruct_n(0, value.nlist)
        parts = {"centres": centres, "sizes": sizes, "ids": ids, "vectors": vectors}
        return {"searched": int(value.nprobe), "parts": writer.attributes(parts)}

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Build the index cell by cell."""
        faiss = required("faiss", "neighbours", "This model, which searches neighbours,")
        parts = {name: reader.read(part) for name, part in node["parts"].items()}
        centres, sizes = parts["centres"], parts["sizes"]
        ids, vectors = parts["ids"], parts["vectors"]
        (n_cells, width), n_rows = centres.shape, len(ids)
        expect(
            centres.dtype == vectors.dtype == np.float32
            and ids.dtype == sizes.dtype == np.int64
            and vectors.shape == (n_rows, width)
            and sizes.shape == (n_cells,)
            and sizes.min(initial=0) >= 0
            and sizes.sum() == n_rows
            and np.array_equal(np.sort(ids), np.arange(n_rows))
            and is_whole(node["searched"], 1, n_cells)
            and width > 0,
            "the cells of a neighbour search do not fit together",
        )
        quantizer = faiss.IndexFlatL2(width)
        quantizer.add(np.ascontiguousarray(centres))
        index = faiss.IndexIVFFlat(quantizer, width, n_cells)
        quantizer.this.disown()
        index.own_fields = True
        index.is_trained = True
        ends = np.cumsum(sizes)
        for k, (start, end) in enumerate(zip((ends - sizes).tolist(), ends.tolist())):
            if end > start:
                codes = np.ascontiguousarray(vectors[start:end]).view(np.uint8)
                numbers = np.ascontiguousarray(ids[start:end])
                index.invlists.add_entries(
                    k, end - start, faiss.swig_ptr(numbers), faiss.swig_ptr(codes)
                )
        index.ntotal = n_rows
        index.nprobe = node["searched"]
        index.make_direct_map()
        return index


# Networks ----------------------------------------------------------------------------------------


def _torch() -> Any:
    """Return torch where it has been imported: without it there is no network to be written."""
    return sys.modules.get("torch")


def _is_module(cls: type) -> bool:
    torch = _torch()
    return torch is not None and issubclass(cls, torch.nn.Module)


class Tensor(Kind):
    """torch's tensors and parameters; they come back on the CPU."""

    name = "tensor"
    shared = True

    def takes(self, cls: type, registry: Registry) -> bool:
        """Tensors and parameters, no other subclasses."""
        torch = _torch()
        return torch is not None and cls in (torch.Tensor, torch.nn.Parameter)

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write the numbers and whether they can be learnt."""
        try:
            numbers = value.detach().cpu().numpy()
        except TypeError:
            writer.refuse(f"NumPy has no {value.dtype}", "Convert it, for instance with .float().")
        return {
            "numbers": writer.write(numbers),
            "parameter": type(value) is not _torch().Tensor,
            "learnt": bool(value.requires_grad),
        }

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Make a tensor or parameter."""
        import torch

        tensor = torch.from_numpy(reader.read(node["numbers"]))
        if node["parameter"]:
            return torch.nn.Parameter(tensor, requires_grad=bool(node["learnt"]))
        return tensor.requires_grad_(bool(node["learnt"]))


class Module(Kind):
    """torch's modules: attributes, parameters, buffers and parts, without their constructors."""

    name = "module"
    shared = True

    def takes(self, cls: type, registry: Registry) -> bool:
        """Modules of the list, and those the caller trusts."""
        return _is_module(cls) and registry.name_of_class(cls) is not None

    def write(self, value: Any, writer: Writer) -> dict[str, Node]:
        """Write the class, the attributes and what torch knows of."""
        internal = vars(_torch().nn.Module())
        kept = ("training", "_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")
        for name in internal.keys() - set(kept):
            if "hooks" in name and getattr(value, name):
                writer.refuse("it has hooks, which are functions", "Remove the hooks first.")
        writer.check(value)
        state = {name: item for name, item in vars(value).items() if name not in internal}
        return {
            "class": writer.class_name(type(value)),
            "state": writer.attributes(state, type(value)),
            "training": bool(value.training),
            "parameters": writer.attributes(value._parameters),
            "buffers": writer.attributes(value._buffers),
            "passing": sorted(value._non_persistent_buffers_set),
            "modules": writer.attributes(value._modules),
        }

    def read(self, node: dict[str, Node], reader: Reader) -> Any:
        """Make an empty module and give it its parts."""
        import torch

        cls = reader.registry.class_named(node["class"])
        expect(_is_module(cls), f"{node['class']} is no torch module")
        value: Any = object.__new__(cls)
        torch.nn.Module.__init__(value)
        state = reader.attributes(node["state"], cls)
        expect(not state.keys() & vars(value).keys(), "a module replaces what torch needs")
        vars(value).update(state)
        passing = set(reader.items(node["passing"]))
        for name, part in node["parameters"].items():
            value.register_parameter(name, reader.read(part))
        for name, part in node["buffers"].items():
            value.register_buffer(name, reader.read(part), persistent=name not in passing)
        for name, part in node["modules"].items():
            value.add_module(name, reader.read(part))
        value.training = bool(node["training"])
        reader.check(value)
        return value


OBJECT_KINDS: list[Kind] = [DecisionTree(), CellIndex(), Tensor(), Module(), Plain()]
