"""
Learn from files, chunk by chunk
================================

A linear `SPLMLL` needs only sums over the rows, so it can read a folder of files once without
keeping them in memory. The model is the same as one fitted on all rows at once.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from splmll import SPLMLL
from splmll.datasets.batches import read_batches

rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 12))
Y = (X[:, :4] + rng.normal(size=(40_000, 4)) > 0.7).astype(int)
names = [*(f"x{k}" for k in range(12)), "oil", "pump", "door", "urgent"]
table = pd.DataFrame(np.hstack([X, Y]), columns=names)
with TemporaryDirectory() as folder:
    for start in range(0, len(table), 5000):
        table[start : start + 5000].to_parquet(Path(folder) / f"{start:05}.parquet")
    streamed = SPLMLL("linear", random_state=0).fit_batches(read_batches(folder, labels=names[12:]))
rows, labels = table[names[:12]], table[names[12:]].astype(int)
whole = SPLMLL("linear", random_state=0).fit(rows, labels)
scores = [model.decision_function(rows[:2000]).ravel() for model in (whole, streamed)]
plt.plot(*scores, ".", alpha=0.2)
plt.gca().set(xlabel="score, all rows at once", ylabel="score, from eight files")

# %%
print(f"largest difference of scores: {abs(scores[0] - scores[1]).max():.0e}")
print(streamed.estimate_cost((10**9, 500), (10**9, 100)))
