"""
Rare labels
===========

Labels are rarely balanced: in yeast, one label applies to three quarters of all rows, another to
one in a hundred. Micro-F1 hardly notices the rare labels, macro-F1 counts all labels equally, and
the threshold rule trades one for the other.
"""

import pandas as pd

from splmll import SPLMLL, load_dataset
from splmll.metrics import macro_f1, micro_f1
from splmll.plots import LabelPrecisionRecallDisplay

yeast = load_dataset("yeast")
X, Y, X_test, Y_test = yeast.split()
Y, Y_test = (pd.DataFrame(part, columns=yeast.label_names) for part in (Y, Y_test))
models = {
    rule: SPLMLL("linear", threshold=rule, random_state=0).fit(X, Y)
    for rule in ("micro_f1", "macro_f1", "per_label")
}
LabelPrecisionRecallDisplay.from_estimator(models["per_label"], X_test, Y_test)

# %%
description = yeast.describe()
print(f"mean imbalance ratio {description.mean_imbalance:.1f}, most rows have {Y.mean().idxmax()}")
for rule, model in models.items():
    micro, macro = (measure(Y_test, model.predict(X_test)) for measure in (micro_f1, macro_f1))
    print(f"{rule}: micro-F1 {micro:.3f}, macro-F1 {macro:.3f}")
