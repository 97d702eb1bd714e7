"""The error of models, or parts of them, that ONNX cannot hold faithfully."""


class CannotExportError(ValueError):
    """A model, or a step of it, has no faithful form in ONNX; the message says what has one.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import MLkNN
    >>> from splmll.onnx_export import CannotExportError, export_onnx
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> try:
    ...     export_onnx(MLkNN().fit(X, X > 9), "model.onnx")
    ... except CannotExportError as error:
    ...     print(str(error)[:33])
    ML-kNN (MLkNN) cannot be exported
    """
