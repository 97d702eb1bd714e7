"""
Tag a text table
================

This example starts from a CSV file with a text, a category and a column of tags such as
"network;vpn", and ends with tags for new texts. The tagger detects the kinds of columns, learns
from all rows, and measures itself out of fold: each row is scored by models that have not seen
it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import pandas as pd
from tickets import write_tickets

from splmll.tagging import Tagger, read_examples

with TemporaryDirectory() as folder:
    table = write_tickets(Path(folder) / "tickets.csv")
    data, reading = read_examples(table, ["tags"], text=["body"], ignore=["id"])
tagger = Tagger.fit(data, reading=reading)
new = [
    "my laptop finds no wifi in the canteen",
    "the licence of my mail program is over, please renew it",
    "my battery is dead and the screen has a crack",
]
rows = pd.DataFrame({"body": new, "site": "north"})
scores = tagger.scores(rows).set_axis(new)
figure, axes = plt.subplots(3, figsize=(7, 6), layout="constrained", sharex=True)
for ax, (body, line) in zip(axes, scores.iterrows()):
    line.nlargest(5)[::-1].plot.barh(ax=ax, title=body)

# %%
# A tag is predicted if its score reaches the threshold, which was tuned out of fold.

measured = tagger.measured
print(f"{tagger.n_rows} tickets, {len(tagger.label_names)} tags")
print(f"micro-F1, {measured.how}: {measured.measures['micro_f1']:.3f}")
for body, tags in zip(new, tagger.tags(rows)):
    print(f"{body}: {', '.join(tags)}")
