"""Tag with a budget of landmarks: what it costs to predict only a few of the tags.

With n_landmarks=8 only eight tags are predicted from the text, and all others are recovered from
these. The table shows what each budget costs; then, of every landmark, the share of the variance of
all tags that it adds to those before it, and the tags that it carries most.

It prints::

    12 of 21 tags predicted: micro-F1 0.933
    10 of 21 tags predicted: micro-F1 0.888
    8 of 21 tags predicted: micro-F1 0.805
    4 of 21 tags predicted: micro-F1 0.624
    2 of 21 tags predicted: micro-F1 0.482
    network (adds 12.3%) carries vpn, wifi, not account
    software (adds 11.3%) carries update, licence, not printer
    purchase (adds 8.9%) carries toner, new starter, licence
    laptop (adds 8.0%) carries battery, new starter, not printer
    email (adds 6.5%) carries calendar, new starter, account
    password (adds 6.3%) carries account, vpn, not wifi
    security (adds 5.8%) carries phone, not calendar, not account
    urgent (adds 5.8%) carries nothing else
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from tickets import write_tickets

from splmll.tagging import Tagger, read_examples

with TemporaryDirectory() as folder:
    data, _ = read_examples(write_tickets(Path(folder) / "tickets.csv"), ["tags"], ignore=["id"])
taggers = {budget: Tagger.fit(data, n_landmarks=budget) for budget in (12, 10, 8, 4, 2)}
for budget, tagger in taggers.items():
    micro_f1 = tagger.measured.measures["micro_f1"]
    print(f"{budget} of {len(tagger.label_names)} tags predicted: micro-F1 {micro_f1:.3f}")
for name, line in taggers[8].landmarks().iterrows():
    carried = ", ".join(line["carries"]) or "nothing else"
    print(f"{name} (adds {line['strength']:.1%}) carries {carried}")
