"""
Annotate with the fewest questions
==================================

Someone annotates the test rows of yeast and is asked about one label at a time: the label whose
answer is expected to remove the most errors. The model fills in the other labels. For comparison,
the second curve asks about the landmarks in a fixed order.
"""

import numpy as np
import pandas as pd

from splmll import SPLMLL, load_dataset
from splmll.metrics import micro_f1

yeast = load_dataset("yeast")
X, Y, X_test, Y_test = yeast.split()
Y, Y_test = (pd.DataFrame(part, columns=yeast.label_names) for part in (Y, Y_test))
model = SPLMLL("linear", random_state=0).fit(X, Y)
order = list(dict.fromkeys([*model.landmarks_, *Y]))  # the landmarks, then the other labels
answers = pd.DataFrame(np.nan, Y_test.index, Y_test.columns)
reached = {0: (micro_f1(Y_test, model.predict(X_test)),) * 2}
for n_asked in range(1, 9):
    for row, label in enumerate(model.ask(X_test, answers).labels[:, 0]):
        answers.loc[row, label] = Y_test.loc[row, label]  # what a person would answer
    filled = model.complete(X_test, answers), model.complete(X_test, Y_test[order[:n_asked]])
    reached[n_asked] = tuple(micro_f1(Y_test, each) for each in filled)
curves = pd.DataFrame(reached, ["chosen for each row", "landmarks in order"]).T
curves.plot(marker="o", xlabel="questions per row, of 14 labels", ylabel="micro-F1 of all labels")

# %%
for n_asked in (0, 2, 4, 8):
    print(f"{n_asked} questions: {reached[n_asked][0]:.3f}, landmarks {reached[n_asked][1]:.3f}")
