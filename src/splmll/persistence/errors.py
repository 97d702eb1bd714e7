"""The error of everything that is wrong with a model file, or with a model to be written to one."""


class ModelFileError(ValueError):
    """A model cannot be written to a file, or a file is not one that can be loaded.

    Examples
    --------
    >>> from splmll.persistence import ModelFileError, load
    >>> try:
    ...     load("no-such-model")
    ... except ModelFileError as error:
    ...     print(error)
    no-such-model: there is no such file or folder. Give the path that save() was given.
    """
