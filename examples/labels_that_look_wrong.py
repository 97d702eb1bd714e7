"""
Find labels that look wrong
===========================

One in twenty labels of yeast is flipped on purpose. `audit` judges every label with models that
have not seen its row, and by the row's other labels. How many of the labels at the top of its
list are really wrong?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from splmll import SPLMLL, load_dataset

yeast = load_dataset("yeast")
X, Y, _, _ = yeast.split()
Y = pd.DataFrame(Y, columns=yeast.label_names)
flipped = np.random.default_rng(0).random(Y.shape) < 0.05
suspects = SPLMLL("linear", random_state=0).audit(X, Y.mask(flipped, 1 - Y))
wrong = flipped[suspects["row"], Y.columns.get_indexer(suspects["label"])]
looked_at = np.arange(1, len(wrong) + 1)
plt.plot(looked_at, np.cumsum(wrong) / looked_at)
plt.axhline(flipped.mean(), color="0.6", linestyle="--")
plt.gca().set(xlabel="labels looked at, most suspicious first", ylabel="share wrong", ylim=(0, 1))

# %%
# The dashed line is what checking random labels would find. Every suspect comes with a reason.

print(f"{flipped.sum()} of {flipped.size} labels were flipped, {len(suspects)} are suspected")
print(f"of the first 200, {wrong[:200].mean():.0%} are really wrong")
print(suspects.head(3).round(2).to_string())
