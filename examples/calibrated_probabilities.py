"""
Probabilities that come true
============================

Of all labels to which a model gives a probability of 0.8, eight in ten should be true. Naive
Bayes is far too confident; `MultilabelCalibrator` learns a calibration curve for every label from
out-of-fold scores. A perfectly calibrated model is on the diagonal.
"""

import matplotlib.pyplot as plt
from sklearn.naive_bayes import GaussianNB

from splmll import load_dataset
from splmll.methods import BinaryRelevance
from splmll.metrics import average_precision
from splmll.model_selection import MultilabelCalibrator
from splmll.plots import ReliabilityDisplay

X, Y, X_test, Y_test = load_dataset("yeast").split()
sure = BinaryRelevance(GaussianNB()).fit(X, Y)
calibrated = MultilabelCalibrator(BinaryRelevance(GaussianNB()), random_state=0).fit(X, Y)
figure, ax = plt.subplots(layout="constrained")
for name, model in {"as it is": sure, "calibrated": calibrated}.items():
    ReliabilityDisplay.from_estimator(model, X_test, Y_test, name=name, ax=ax)

# %%
for name, model in {"as it is": sure, "calibrated": calibrated}.items():
    probabilities = model.predict_proba(X_test)
    gap = ((probabilities - Y_test) ** 2).mean()
    ranked = average_precision(Y_test, probabilities)
    print(f"{name}: Brier score {gap:.3f}, average precision {ranked:.3f}")
