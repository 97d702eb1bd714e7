"""
Tag the installed Python packages
=================================

Every Python package has a one-line summary and usually a few Trove classifiers. This is real text
with real tags, and it needs no download: `importlib.metadata` reads both from the environment in
which this page was built. The model sees only the name and the summary of each package.

In the figure, curves lead from each landmark, inside the ring, to the tags it helps to predict.
The tags depend on what is installed.
"""

from importlib.metadata import distributions

import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

from splmll import SPLMLL
from splmll.plots import LabelGraphDisplay

KINDS = ("Topic ::", "Intended Audience ::", "Framework ::", "Environment ::")
found = [each.metadata for each in distributions() if each.metadata.get("Summary")]
texts = pd.Series({each["Name"]: f"{each['Name']} {each['Summary']}" for each in found})
tags = pd.Series(
    {
        each["Name"]: {
            part
            for line in each.get_all("Classifier", [])
            if line.startswith(KINDS)
            for part in line.split(" :: ")[1:]
        }
        for each in found
    }
)
texts, tags = texts[tags.astype(bool)], tags[tags.astype(bool)]
Y = tags.map("|".join).str.get_dummies()
Y = Y.loc[:, Y.sum() >= 8]
words = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, min_df=2)
X = words.fit_transform(texts)
model = SPLMLL("svm", n_landmarks=10, random_state=0).fit(X, Y)
LabelGraphDisplay.from_estimator(model)

# %%
# How good is it? Each package is scored by models that have not seen it.

print(f"{len(texts)} packages, {Y.shape[1]} tags in at least 8 of them")
print(model.measures_.round(3))

# %%
# Here is a summary that nobody has published yet:

new = "sphinxtags A Sphinx extension that draws plots of scientific data"
scores = pd.Series(model.decision_function(words.transform([new]))[0], Y.columns)
print(scores.nlargest(5).round(2))
