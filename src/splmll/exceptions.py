"""The errors and warnings of the library that are not scikit-learn's own."""


class DatasetError(ValueError):
    """A data set could not be read: the message names the file, the place and the remedy.

    Parameters
    ----------
    message : str
        What is wrong and what to do about it.
    path : str or path-like, optional
        The file in which it is wrong.
    line : int, optional
        Line of the file, counted from 1.

    Examples
    --------
    >>> from splmll.exceptions import DatasetError
    >>> print(DatasetError("row has 2 values, expected 3", path="a.csv", line=7))
    a.csv, line 7: row has 2 values, expected 3
    """

    def __init__(self, message: str, *, path: object = None, line: int | None = None) -> None:
        self.path = None if path is None else str(path)
        self.line = line
        place = "" if self.path is None else self.path
        if line is not None:
            place = f"{place}, line {line}" if place else f"line {line}"
        super().__init__(f"{place}: {message}" if place else message)
