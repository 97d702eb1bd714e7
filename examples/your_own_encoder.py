"""
Bring your own encoder
======================

A language or image model turns each row into a vector; from then on, the vectors are ordinary
features. Here, a projection of word counts stands in for the encoder. Replace `encode` with your
own, compute the vectors once, and learn from them as often as you like.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from tickets import write_tickets

from splmll import SPLMLL, read_dataset

with TemporaryDirectory() as folder:
    data = read_dataset(write_tickets(Path(folder) / "tickets.csv"), label_column="tags")
texts, Y = data.X["body"], pd.DataFrame(data.Y, columns=data.label_names)
encode = make_pipeline(TfidfVectorizer(), TruncatedSVD(50, random_state=0)).fit(texts).transform
vectors = encode(texts)
model = SPLMLL("kernel", random_state=0).fit(vectors, Y)
colours = Y["network"].map({0: "0.8", 1: "tab:red"})
plt.scatter(vectors[:, 0], vectors[:, 1], c=colours, s=12)
plt.xlabel("first direction of the encoder")
plt.ylabel("second direction")
plt.title("tickets, those tagged network in red")

# %%
print(f"{vectors.shape[0]} texts as vectors of {vectors.shape[1]} numbers")
print(model.measures_.round(3))
new = encode(pd.Series(["the wifi is slow and the printer is out of toner"]))
print("tags:", ", ".join(Y.columns[model.predict(new).iloc[0] == 1]))
