"""
Labels that are not known
=========================

Often nobody has checked every label of every row. NaN in Y means "not known", which is not the
same as 0. The curves show what a growing share of unknown labels costs, and what it costs to
treat them as 0 instead.
"""

import numpy as np
import pandas as pd

from splmll import SPLMLL, load_dataset
from splmll.metrics import micro_f1

X, Y, X_test, Y_test = load_dataset("yeast").split()
draws = np.random.default_rng(0).random(Y.shape)
shares = [0.0, 0.4, 0.8]
reached = pd.DataFrame(index=shares, columns=["left unknown (NaN)", "treated as 0"], dtype=float)
for share in shares:
    known = np.where(draws < share, np.nan, Y)
    models = [SPLMLL("linear", random_state=0).fit(X, part) for part in (known, known == 1)]
    reached.loc[share] = [micro_f1(Y_test, model.predict(X_test)) for model in models]
reached.plot(marker="o", xlabel="share of unknown training labels", ylabel="micro-F1 on test rows")

# %%
print(reached.round(3))
