"""The rows of Table 4: the names that are printed, and what is left out in each."""

from splmll.experiments.contestants import ABLATIONS
from splmll.experiments.published import published


def test_every_printed_row_of_ours_is_there() -> None:
    numbers = published()
    printed = numbers.loc[numbers["table"] == 4, "method"].unique()
    assert list(ABLATIONS) == [name for name in printed if name not in ("MLFE", "HNOML")]


def test_what_is_left_out() -> None:
    made = {name: method.make() for name, method in ABLATIONS.items()}
    assert made["NN-embeddings"].selection == "all"
    assert not made["NN + separated"].joint
    assert made["joint + linear"].linear
    assert repr(made["joint + NN"]) == "PublishedSPLMLL()"
