"""Tag with a budget of landmarks: what it costs to predict only a few of the tags.

With n_landmarks=8 only eight tags are predicted from the text, and all others are recovered from
these. The table shows what each budget costs; then what every landmark carries.

It prints::

    12 of 21 tags predicted: micro-F1 0.933
    10 of 21 tags predicted: micro-F1 0.885
    8 of 21 tags predicted: micro-F1 0.793
    4 of 21 tags predicted: micro-F1 0.607
    2 of 21 tags predicted: micro-F1 0.470
    software (weight 0.51) carries update, licence, not printer
    network (weight 0.48) carries vpn, wifi, not account
    laptop (weight 0.45) carries battery, new starter, not printer
    purchase (weight 0.45) carries toner, new starter, licence
    email (weight 0.44) carries calendar, new starter, not phone
    password (weight 0.44) carries account, vpn, not wifi
    security (weight 0.43) carries phone, not calendar, not account
    urgent (weight 0.40) carries toner, account, not screen
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from tickets import write_tickets

from splmll.tagging import Tagger, read_examples

with TemporaryDirectory() as folder:
    data, _ = read_examples(write_tickets(Path(folder) / "tickets.csv"), ["tags"], ignore=["id"])
taggers = {budget: Tagger.fit(data, n_landmarks=budget) for budget in (12, 10, 8, 4, 2)}
for budget, tagger in taggers.items():
    micro_f1 = tagger.held_out.measures["micro_f1"]
    print(f"{budget} of {len(tagger.label_names)} tags predicted: micro-F1 {micro_f1:.3f}")
for name, line in taggers[8].landmarks().iterrows():
    print(f"{name} (weight {line['weight']:.2f}) carries {', '.join(line['carries'])}")
