"""Tag a text table: learn from rows with tags, then tag rows without.

The table is a CSV file with a text, a category and a column of tags such as "network;vpn". The
tagger finds out what the columns are, learns from all rows, and measures itself out of fold: on
each row by models that had not seen it.

It prints::

    400 tickets, 21 tags
    micro-F1 on 400 tickets, out of fold: 0.974
    my laptop finds no wifi in the canteen: laptop, network, wifi
    the licence of my mail program is over, please renew it: email, licence, purchase, software
    my battery is dead and the screen has a crack: battery, laptop, screen
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from tickets import write_tickets

from splmll.tagging import Tagger, read_examples

with TemporaryDirectory() as folder:
    table = write_tickets(Path(folder) / "tickets.csv")
    data, reading = read_examples(table, ["tags"], text=["body"], ignore=["id"])
tagger = Tagger.fit(data, reading=reading)
print(f"{tagger.n_rows} tickets, {len(tagger.label_names)} tags")
measured = tagger.measured
micro_f1 = measured.measures["micro_f1"]
print(f"micro-F1 on {measured.n_rows} tickets, {measured.how}: {micro_f1:.3f}")
new = [
    "my laptop finds no wifi in the canteen",
    "the licence of my mail program is over, please renew it",
    "my battery is dead and the screen has a crack",
]
for body, tags in zip(new, tagger.tags(pd.DataFrame({"body": new, "site": "north"}))):
    print(f"{body}: {', '.join(tags)}")
