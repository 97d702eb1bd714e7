"""Running ONNX files, and comparing what they give with what the model gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from contract import dense
from numpy.testing import assert_allclose

from splmll.onnx_export import export_onnx

TOLERANCE = 1e-5


def run(file: Path, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    """Return the outputs of a file by name."""
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def export_and_compare(model: Any, X: np.ndarray, folder: Path, **inputs: np.ndarray) -> None:
    """Export a model of several labels and compare all three outputs on the same rows.

    ``inputs`` are the inputs of the file, where they are not just X as ``features``.
    """
    file = export_onnx(model, folder / "model.onnx")
    assert_same_outputs(model, X, run(file, **(inputs or {"features": X})))


def assert_same_outputs(model: Any, X: Any, found: dict[str, np.ndarray]) -> None:
    scores = model.decision_function(X)
    assert_allclose(found["scores"], scores, rtol=0, atol=TOLERANCE)
    assert_allclose(found["probabilities"], model.predict_proba(X), rtol=0, atol=TOLERANCE)
    assert found["labels"].dtype == np.int64
    expected = dense(model.predict(X))
    assert found["labels"].shape == expected.shape
    changed = found["labels"] != expected
    if changed.any():
        # Only a score that stands on its threshold may fall to the other side.
        distance = scores + model.offset_ - model.thresholds_
        assert np.abs(distance[changed]).max() <= TOLERANCE
