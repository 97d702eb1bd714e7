"""
Why these labels are landmarks
==============================

A landmark should be predictable from the features *and* say something about other labels. Each
dot is a label of yeast; the landmarks are red. The first landmarks are far to the right or near
the top. Later ones add information that the earlier ones do not have.
"""

import matplotlib.pyplot as plt
import pandas as pd

from splmll import SPLMLL, load_dataset

yeast = load_dataset("yeast")
X, Y, X_test, _ = yeast.split()
Y = pd.DataFrame(Y, columns=yeast.label_names)
model = SPLMLL("linear", n_landmarks=6, random_state=0).fit(X, Y)
across, up = model.predictability_, model.representativeness_
plt.scatter(across, up, c=["tab:red" if on else "0.6" for on in model.selection_])
for name, *place in zip(Y, across, up):
    plt.annotate(name, place, xytext=(4, 4), textcoords="offset points", fontsize=8)
plt.gca().set(xlabel="predictability, out of fold", ylabel="representativeness")

# %%
# The landmarks in the order in which they were added, and what each of them added:

print(pd.Series(model.landmark_strengths_, model.landmarks_).round(3).to_string())

# %%
# Why did the first test row get its labels? The base and the contributions add up to the score.

print(model.explain(X_test[:1]).to_frame().round(2).to_string())
