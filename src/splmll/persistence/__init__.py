"""Models in files: save a fitted model, load it again, without executing anything from the file.

A model is a folder, or one zip file, with a JSON manifest, a JSON description of the objects and
their arrays in safetensors. Nothing is pickled; only classes from a list are built.

Why no library: skops 0.16 looks at classes and not at values. It loads a ``CountVectorizer`` with
one number of its vocabulary set to 2,000,000,000 without objection, and what that transforms ends
the process with a segmentation fault when it is made dense.
"""

from splmll.persistence.errors import ModelFileError
from splmll.persistence.files import load, read_manifest, save

__all__ = ["ModelFileError", "load", "read_manifest", "save"]
