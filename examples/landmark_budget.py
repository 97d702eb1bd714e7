"""
Tag with a budget of landmarks
==============================

How much accuracy do you lose if you predict only a few of the tags? With `n_landmarks=8`, eight
tags are predicted from the text, and all others are recovered from these eight.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from tickets import write_tickets

from splmll.tagging import Tagger, read_examples

with TemporaryDirectory() as folder:
    data, _ = read_examples(write_tickets(Path(folder) / "tickets.csv"), ["tags"], ignore=["id"])
taggers = {budget: Tagger.fit(data, n_landmarks=budget) for budget in (2, 4, 8, 10, 12)}
reached = pd.Series({count: each.measured.measures["micro_f1"] for count, each in taggers.items()})
reached.plot(marker="o", xlabel="landmarks, of 21 tags", ylabel="micro-F1, out of fold")
for budget, value in reached.items():
    print(f"{budget} of {len(data.label_names)} tags predicted: micro-F1 {value:.3f}")

# %%
# For each landmark, the share of the variance of all tags that it explains in addition to those
# before it, and the tags it helps to predict.

for name, line in taggers[8].landmarks().iterrows():
    carried = ", ".join(line["carries"]) or "nothing else"
    print(f"{name} (adds {line['strength']:.1%}) carries {carried}")
