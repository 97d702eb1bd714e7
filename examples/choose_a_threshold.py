"""
From scores to labels: choose a threshold
=========================================

Different rules turn the same scores into labels. A threshold tuned for F1 predicts more labels
than a threshold of one half and raises Hamming loss, so compare methods under the same rule. Dots
mark the best thresholds on these test rows; the dashed line is the threshold that was tuned out
of fold.
"""

import pandas as pd

from splmll import SPLMLL, evaluate, load_dataset
from splmll.plots import ThresholdCurveDisplay

X, Y, X_test, Y_test = load_dataset("yeast").split()
models = {
    rule: SPLMLL("linear", threshold=rule, random_state=0).fit(X, Y)
    for rule in (0.5, "micro_f1", "per_label", "hamming", "top_r")
}
ThresholdCurveDisplay.from_estimator(models["micro_f1"], X_test, Y_test)

# %%
measured = {
    rule: evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    for rule, model in models.items()
}
print(pd.DataFrame(measured).T[["hamming_loss", "micro_f1", "macro_f1"]].round(3))
