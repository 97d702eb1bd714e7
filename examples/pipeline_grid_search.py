"""
In a Pipeline with GridSearchCV
===============================

Pandas in, pandas out. Scaling and projection are learned inside the pipeline, only from the
training rows of each fold. Labels are passed as a DataFrame, and predictions are returned as one,
with the names of the labels and the index of the rows.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll import SPLMLL, load_dataset
from splmll.metrics import SCORERS
from splmll.model_selection import MultilabelStratifiedKFold

yeast = load_dataset("yeast")
genes = pd.Index([f"gene {number}" for number in range(len(yeast.X))])
X = pd.DataFrame(yeast.X, genes, yeast.feature_names)
Y = pd.DataFrame(yeast.Y, genes, yeast.label_names)
pipeline = make_pipeline(StandardScaler(), PCA(), SPLMLL("linear", random_state=0))
search = GridSearchCV(
    pipeline.set_output(transform="pandas"),
    {"pca__n_components": [20, 60], "splmll__n_landmarks": [4, 8]},
    scoring=SCORERS["micro_f1"],
    cv=MultilabelStratifiedKFold(3, shuffle=True, random_state=0),
).fit(X.iloc[yeast.train], Y.iloc[yeast.train])
tried = pd.DataFrame(search.cv_results_)
bars = tried.pivot(
    index="param_pca__n_components",
    columns="param_splmll__n_landmarks",
    values="mean_test_score",
)
bars.plot.bar(ylim=(0.6, 0.68), rot=0, xlabel="components of PCA", ylabel="micro-F1, three folds")
plt.legend(title="landmarks")

# %%
test = X.iloc[yeast.test]
print("best settings:", search.best_params_)
print(f"micro-F1 on {len(test)} other genes: {search.score(test, Y.loc[test.index]):.3f}")
print(search.predict(test.head(3)).iloc[:, :5])
