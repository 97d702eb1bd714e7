"""
Save, load, and run without this library
========================================

A model file contains a JSON manifest and arrays. There is no pickle, and loading it runs no code
from the file. The ONNX file runs wherever onnxruntime does: in a browser, in C++, on a phone. By
default, onnxruntime sends usage data to its vendor; the first line turns that off.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime

from splmll import SPLMLL, load_dataset
from splmll.onnx_export import export_onnx
from splmll.persistence import load, save

X, Y, X_test, _ = load_dataset("yeast").split()
model = SPLMLL("linear", n_landmarks=8, random_state=0).fit(X, Y)
with TemporaryDirectory() as folder:
    save(model, Path(folder) / "model.zip")
    again = load(Path(folder) / "model.zip")
    file = export_onnx(model, Path(folder) / "model.onnx")
    session = onnxruntime.InferenceSession(file)
    sizes = {path.name: path.stat().st_size // 1024 for path in sorted(Path(folder).iterdir())}
scores, labels = session.run(["scores", "labels"], {"features": X_test})
plt.plot(model.decision_function(X_test).ravel(), scores.ravel(), ".", alpha=0.1)
plt.gca().set(xlabel="score of the model", ylabel="score of the ONNX file")

# %%
print(", ".join(f"{name} {size} kB" for name, size in sizes.items()))
print("loaded: same labels", np.array_equal(again.predict(X_test), model.predict(X_test)))
print("ONNX: same labels", np.array_equal(labels, model.predict(X_test)))
print(f"ONNX: largest difference {abs(scores - model.decision_function(X_test)).max():.1e}")
