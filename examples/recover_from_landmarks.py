"""
Annotate only the landmarks
===========================

People answer questions about five landmarks of yeast, and the model fills in the other nine
labels of each row, even if an answer is missing. The heat map shows what each answer adds to the
score of each label; frames mark each landmark's own label.
"""

import numpy as np
import pandas as pd

from splmll import SPLMLL, load_dataset
from splmll.metrics import micro_f1
from splmll.plots import LandmarkHeatmapDisplay

yeast = load_dataset("yeast")
X, Y, X_test, Y_test = yeast.split()
Y, Y_test = (pd.DataFrame(part, columns=yeast.label_names) for part in (Y, Y_test))
model = SPLMLL("linear", n_landmarks=5, random_state=0).fit(X, Y)
LandmarkHeatmapDisplay.from_estimator(model)

# %%
# The baseline gives every row the labels that most rows have.

answers = Y_test[list(model.landmarks_)].astype(float)
answers = answers.mask(np.random.default_rng(0).random(answers.shape) < 0.1)  # a tenth is missing
others = [name for name in Y if name not in model.landmarks_]
usual = pd.DataFrame(0, Y_test.index, others).assign(**(Y[others].mean() > 0.5).astype(int))
print("landmarks that people annotate:", ", ".join(model.landmarks_))
print(f"micro-F1 of the other {len(others)} labels")
for how, labels in {
    "recovered from the landmarks": model.recover(answers),
    "predicted from the features": model.predict(X_test),
    "by chance": usual,
}.items():
    print(f"  {how}: {micro_f1(Y_test[others], labels[others]):.3f}")
