"""Data sets: readers for the usual file formats, a catalogue of named sets, their statistics."""

from splmll.datasets.arff import read_arff
from splmll.datasets.catalogue import dataset_names, load_dataset
from splmll.datasets.dataset import Dataset
from splmll.datasets.description import DatasetDescription
from splmll.datasets.digit_scenes import make_digit_scenes
from splmll.datasets.extreme import read_extreme
from splmll.datasets.hvecs import read_hvecs, read_lear
from splmll.datasets.libsvm import read_libsvm
from splmll.datasets.mat import read_mat
from splmll.datasets.openml import read_openml
from splmll.datasets.reading import read_dataset
from splmll.datasets.tabular import read_table
from splmll.datasets.writers import write_dataset
from splmll.exceptions import DatasetError

__all__ = [
    "Dataset",
    "DatasetDescription",
    "DatasetError",
    "dataset_names",
    "load_dataset",
    "make_digit_scenes",
    "read_arff",
    "read_dataset",
    "read_extreme",
    "read_hvecs",
    "read_lear",
    "read_libsvm",
    "read_mat",
    "read_openml",
    "read_table",
    "write_dataset",
]
