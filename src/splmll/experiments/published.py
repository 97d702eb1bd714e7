"""The numbers printed in the paper: its Tables 1 to 4, and under which protocol they were measured.

They stand beside measured numbers and are never mixed with them. The paper names neither the base
learners nor the thresholds of the compared methods. Its numbers of tmc2007 belong to training rows:
measured there, ML-kNN agrees with its printed row, and on test rows it is far from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

# Rows, features, labels, cardinality, domain.
_TABLE_1 = """
emotions | 593   72   6   1.9 music
scene    | 2407  294  6   1.1 image
yeast    | 2417  103  14  4.2 biology
tmc2007  | 28596 500  22  2.2 text
espgame  | 20770 1000 268 4.7 image
pascal07 | 9963  1000 20  1.5 image
"""

# Ranking loss, Hamming loss, average precision, micro-F1, macro-F1.
_TABLE_2 = """
emotions | BR               | .309±.021 .265±.015 .687±.017 .592±.025 .590±.016
emotions | LP               | .345±.022 .277±.010 .661±.018 .533±.016 .504±.019
emotions | ML-kNN           | .173±.015 .209±.021 .794±.016 .650±.031 .607±.033
emotions | EPS              | .183±.014 .208±.010 .780±.017 .664±.012 .655±.018
emotions | ECC              | .198±.021 .228±.022 .766±.014 .617±.013 .597±.019
emotions | RAkEL            | .217±.026 .219±.013 .766±.031 .634±.023 .618±.036
emotions | CLR              | .199±.024 .255±.012 .762±.024 .614±.037 .601±.038
emotions | MLML             | .184±.015 .197±.013 .719±.018 .661±.039 .650±.047
emotions | MLFE             | .181±.012 .217±.020 .782±.013 .674±.026 .663±.021
emotions | HNOML            | .173±.012 .192±.005 .784±.011 .672±.014 .660±.029
emotions | SPL-MLL (linear) | .172±.006 .184±.015 .798±.011 .686±.013 .675±.031
emotions | SPL-MLL          | .170±.004 .175±.021 .815±.014 .698±.021 .687±.024
yeast    | BR               | .322±.011 .253±.004 .614±.008 .569±.014 .386±.011
yeast    | LP               | .408±.008 .282±.005 .566±.008 .519±.023 .361±.025
yeast    | ML-kNN           | .171±.006 .218±.004 .757±.011 .636±.012 .357±.021
yeast    | EPS              | .205±.003 .214±.005 .731±.017 .625±.015 .372±.014
yeast    | ECC              | .187±.007 .209±.009 .745±.012 .618±.013 .369±.017
yeast    | RAkEL            | .250±.005 .232±.005 .710±.009 .632±.009 .430±.012
yeast    | CLR              | .187±.005 .222±.005 .745±.008 .628±.012 .400±.018
yeast    | MLML             | .178±.002 .224±.005 .757±.009 .641±.014 .443±.025
yeast    | MLFE             | .169±.021 .227±.010 .754±.012 .646±.013 .415±.011
yeast    | HNOML            | .179±.007 .222±.004 .757±.011 .648±.006 .421±.016
yeast    | SPL-MLL (linear) | .172±.003 .210±.008 .769±.006 .659±.012 .443±.016
yeast    | SPL-MLL          | .171±.004 .201±.006 .786±.005 .667±.011 .451±.023
scene    | BR               | .236±.017 .136±.004 .715±.011 .609±.014 .616±.025
scene    | LP               | .219±.010 .149±.006 .722±.010 .585±.016 .592±.011
scene    | ML-kNN           | .093±.009 .095±.008 .851±.016 .718±.015 .719±.024
scene    | EPS              | .113±.007 .103±.017 .825±.013 .686±.018 .688±.018
scene    | ECC              | .103±.010 .104±.012 .832±.015 .668±.017 .671±.016
scene    | RAkEL            | .106±.005 .106±.005 .829±.007 .636±.023 .644±.019
scene    | CLR              | .106±.003 .138±.003 .817±.006 .612±.026 .620±.025
scene    | MLML             | .079±.004 .098±.013 .862±.010 .728±.029 .729±.029
scene    | MLFE             | .079±.002 .094±.003 .858±.013 .732±.021 .734±.019
scene    | HNOML            | .103±.005 .110±.003 .832±.108 .733±.011 .736±.013
scene    | SPL-MLL (linear) | .073±.003 .083±.006 .861±.005 .738±.012 .742±.021
scene    | SPL-MLL          | .067±.003 .074±.004 .884±.005 .746±.016 .753±.024
espgame  | BR               | .266±.003 .019±.002 .221±.001 .205±.004 .116±.001
espgame  | LP               | .496±.003 .031±.001 .055±.004 .109±.003 .060±.002
espgame  | ML-kNN           | .238±.001 .017±.002 .255±.003 .039±.002 .020±.001
espgame  | EPS              | .380±.001 .017±.001 .200±.003 .083±.002 .065±.001
espgame  | ECC              | .230±.001 .020±.002 .282±.001 .245±.004 .123±.001
espgame  | RAkEL            | .343±.001 .019±.001 .211±.003 .150±.003 .059±.001
espgame  | CLR              | .196±.001 .019±.001 .305±.003 .266±.004 .143±.001
espgame  | MLML             | .317±.000 .019±.003 .086±.002 .103±.003 .060±.002
espgame  | MLFE             | .312±.012 .020±.001 .268±.011 .260±.003 .134±.004
espgame  | HNOML            | .221±.001 .019±.003 .271±.003 .263±.006 .132±.004
espgame  | SPL-MLL (linear) | .223±.002 .017±.001 .289±.002 .269±.002 .143±.002
espgame  | SPL-MLL          | .220±.003 .016±.001 .291±.002 .276±.004 .149±.001
tmc2007  | BR               | .037±.007 .031±.004 .899±.025 .834±.014 .719±.011
tmc2007  | LP               | .324±.018 .041±.006 .594±.012 .791±.008 .721±.004
tmc2007  | ML-kNN           | .031±.006 .058±.004 .844±.017 .682±.003 .493±.002
tmc2007  | EPS              | .021±.004 .033±.005 .927±.007 .829±.009 .722±.010
tmc2007  | ECC              | .017±.006 .026±.003 .925±.006 .862±.014 .763±.007
tmc2007  | RAkEL            | .038±.008 .024±.002 .923±.005 .870±.011 .756±.006
tmc2007  | CLR              | .018±.005 .034±.004 .923±.011 .825±.013 .711±.011
tmc2007  | MLML             | .018±.001 .021±.001 .921±.002 .865±.011 .769±.008
tmc2007  | MLFE             | .021±.002 .022±.001 .924±.013 .873±.015 .771±.011
tmc2007  | HNOML            | .023±.002 .017±.001 .919±.003 .858±.014 .762±.016
tmc2007  | SPL-MLL (linear) | .015±.003 .013±.002 .937±.007 .912±.008 .781±.005
tmc2007  | SPL-MLL          | .012±.004 .011±.001 .945±.007 .944±.007 .792±.010
"""

# Micro-F1, macro-F1. C2AE is called DC2AE there.
_TABLE_3 = """
tmc2007  | MOPLMS           | .556±.012 .421±.013
tmc2007  | ML-CSSP          | .604±.014 .432±.015
tmc2007  | PBR              | .602±.034 .422±.025
tmc2007  | CPLST            | .643±.027 .437±.031
tmc2007  | FaIE             | .605±.011 .458±.015
tmc2007  | Deep CPLST       | .786±.021 .601±.031
tmc2007  | Deep FaIE        | .604±.016 .435±.029
tmc2007  | LEML             | .704±.013 .616±.022
tmc2007  | SLEEC            | .607±.031 .586±.011
tmc2007  | C2AE             | .808±.017 .757±.027
tmc2007  | SPL-MLL          | .944±.007 .792±.010
espgame  | MOPLMS           | .032±.006 .025±.005
espgame  | ML-CSSP          | .035±.004 .023±.006
espgame  | PBR              | .021±.008 .014±.003
espgame  | CPLST            | .042±.005 .023±.004
espgame  | FaIE             | .072±.008 .026±.003
espgame  | Deep CPLST       | .074±.004 .016±.002
espgame  | Deep FaIE        | .121±.011 .024±.003
espgame  | LEML             | .148±.004 .082±.001
espgame  | SLEEC            | .226±.016 .108±.009
espgame  | C2AE             | .256±.013 .121±.009
espgame  | SPL-MLL          | .276±.004 .149±.001
"""

# As Table 2, on Pascal VOC 2007; the last four are the keys of ABLATIONS.
_TABLE_4 = """
pascal07 | MLFE           | .232±.013 .162±.012 .565±.022 .436±.026 .357±.011
pascal07 | HNOML          | .227±.012 .123±.008 .593±.023 .443±.024 .368±.019
pascal07 | NN-embeddings  | .324±.016 .266±.011 .431±.013 .308±.011 .287±.016
pascal07 | NN + separated | .243±.014 .194±.015 .521±.024 .384±.009 .311±.017
pascal07 | joint + linear | .192±.011 .095±.012 .608±.021 .516±.025 .422±.024
pascal07 | joint + NN     | .184±.012 .083±.013 .616±.018 .586±.018 .495±.017
"""

_FIVE = ("ranking_loss", "hamming_loss", "average_precision", "micro_f1", "macro_f1")


@dataclass(frozen=True)
class StandIn:
    """The printed data set that another one stands for, and how the two differ.

    Examples
    --------
    >>> from splmll.experiments.published import STAND_INS
    >>> STAND_INS["espgame-densehue"].data
    'espgame'
    """

    data: str
    caveat: str = ""


#: Data sets at hand in place of printed ones that are not to be had.
STAND_INS: dict[str, StandIn] = {
    "espgame-densehue": StandIn(
        "espgame", "features: printed for 1000 DenseSift features, here 100 of DenseHue"
    ),
    "corel5k": StandIn("pascal07", "data: printed for pascal07, here another set of pictures"),
}

#: The paper's rows of SPL-MLL belong to its own system; this library's has no printed row.
PRINTED_NAMES: dict[str, str] = {
    "SPL-MLL as published": "SPL-MLL",
    "SPL-MLL (linear) as published": "SPL-MLL (linear)",
    "SPL-MLL as released": "SPL-MLL",
    "SPL-MLL": "",
    "SPL-MLL (linear)": "",
}

# Data sets whose printed rows of compared methods are results on the test rows of Mulan's split.
_ON_MULANS_TEST_ROWS = ("emotions", "scene", "yeast")
# Protocols that test on the test rows of the standard split.
_ON_TEST_ROWS = ("held-out", "paper")


def published() -> pd.DataFrame:
    """Return every number of the paper's Tables 2, 3 and 4.

    Returns
    -------
    numbers : DataFrame
        One line for each, with the columns table, data, method, measure, mean, std and protocol.
        Methods have the names of :data:`splmll.methods.METHODS`, measures those of
        :data:`splmll.metrics.MEASURES`. The protocol is the one that was established by measuring:
        "held-out" (the test rows of the standard split), "resubstitution" (the training rows) or
        "unknown".

    Examples
    --------
    >>> from splmll.experiments.published import published
    >>> numbers = published().set_index(["table", "data", "method", "measure"])
    >>> float(numbers.loc[(2, "scene", "ML-kNN", "average_precision"), "mean"])
    0.851
    >>> numbers.loc[(2, "tmc2007", "ML-kNN", "average_precision"), "protocol"]
    'resubstitution'
    """
    columns = ["table", "data", "method", "measure", "mean", "std", "protocol"]
    lines: list[tuple[int, str, str, str, float, float, str]] = []
    for number, text, measures in (
        (2, _TABLE_2, _FIVE),
        (3, _TABLE_3, ("micro_f1", "macro_f1")),
        (4, _TABLE_4, _FIVE),
    ):
        for line in text.strip().splitlines():
            data, method, values = (part.strip() for part in line.split("|"))
            protocol = _established_protocol(number, data, method)
            for measure, value in zip(measures, values.split(), strict=True):
                mean, std = map(float, value.split("±"))
                lines.append((number, data, method, measure, mean, std, protocol))
    return pd.DataFrame(lines, columns=columns)


def published_datasets() -> pd.DataFrame:
    """Return the paper's Table 1, the statistics of its data sets.

    Returns
    -------
    statistics : DataFrame
        One line for each data set, by its name in :func:`splmll.datasets.load_dataset`, with the
        columns rows, features, labels, cardinality and domain. The features of espgame and
        pascal07 are DenseSift.

    Examples
    --------
    >>> from splmll.experiments.published import published_datasets
    >>> table = published_datasets()
    >>> int(table.loc["yeast", "labels"]), table.loc["yeast", "domain"]
    (14, 'biology')
    """
    lines = {}
    for line in _TABLE_1.strip().splitlines():
        data, values = (part.strip() for part in line.split("|"))
        rows, features, labels, cardinality, domain = values.split()
        lines[data] = {
            "rows": int(rows),
            "features": int(features),
            "labels": int(labels),
            "cardinality": float(cardinality),
            "domain": domain,
        }
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis("data")


def printed_beside(cells: pd.DataFrame, numbers: pd.DataFrame, protocol: str) -> pd.DataFrame:
    """Return measured cells with the printed number that stands beside each.

    Parameters
    ----------
    cells : DataFrame
        One line for each cell, with the columns data, method and measure.
    numbers : DataFrame
        Printed numbers, as `published` returns them.
    protocol : str
        How the cells were measured.

    Returns
    -------
    cells : DataFrame
        A copy with the columns printed and printed_std, NaN where nothing is printed, and caveat:
        in which way the printed number was measured otherwise, empty if it was not or is unknown.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.published import printed_beside, published
    >>> cell = {"data": "tmc2007", "method": "SPL-MLL as published", "measure": "micro_f1"}
    >>> line = printed_beside(pd.DataFrame([cell]), published(), "held-out").iloc[0]
    >>> float(line["printed"]), line["caveat"]
    (0.944, 'protocol: printed for training rows')
    """
    key = ["data", "method", "measure"]
    wanted = [*key, "mean", "std", "protocol"]
    absent = [column for column in wanted if column not in numbers.columns]
    if absent:
        raise ValueError(
            f"The printed numbers have no column {absent[0]!r}; pass what published() returns."
        )
    known = numbers[wanted].drop_duplicates()
    if known.duplicated(key).any():
        twice = known[known.duplicated(key)].iloc[0]
        raise ValueError(
            f"Two different numbers are printed for {twice['method']} on {twice['data']}, "
            f"{twice['measure']}; pass the numbers of one table."
        )
    looked_up = {tuple(line[:3]): line[3:] for line in known.itertuples(index=False, name=None)}
    found = []
    for data, method, measure in cells[key].itertuples(index=False, name=None):
        stand_in = _stand_in(data)
        row = (stand_in.data, PRINTED_NAMES.get(method, method), measure)
        mean, std, printed_protocol = looked_up.get(row, (float("nan"), float("nan"), ""))
        caveats = [_protocol_caveat(protocol, printed_protocol), stand_in.caveat]
        caveat = "; ".join(filter(None, caveats)) if row in looked_up else ""
        found.append((mean, std, caveat))
    beside = pd.DataFrame(found, columns=["printed", "printed_std", "caveat"], index=cells.index)
    return pd.concat([cells, beside], axis=1)


def _stand_in(data: str) -> StandIn:
    """Return the printed data set that this one stands for; it may also be a sample of one."""
    whole, _, sample = data.partition(", ")
    stand_in = STAND_INS.get(whole, StandIn(whole))
    if not sample:
        return stand_in
    caveat = f"rows: printed for the whole data set, here a sample of {sample}"
    return StandIn(stand_in.data, "; ".join(filter(None, [stand_in.caveat, caveat])))


def _established_protocol(table: int, data: str, method: str) -> str:
    """Under which protocol a printed row was measured, as far as it could be established."""
    ours = method.startswith("SPL-MLL")
    # Table 3 repeats our row of Table 2; the protocol of its other rows could not be established.
    if data == "tmc2007" and (table == 2 or ours):
        return "resubstitution"
    if table == 2 and data in _ON_MULANS_TEST_ROWS and not ours:
        return "held-out"
    return "unknown"


def _protocol_caveat(measured: str, printed: str) -> str:
    """What is different about the rows a printed number was measured on, if that is known."""
    if printed == "resubstitution" and measured != "resubstitution":
        return "protocol: printed for training rows"
    if printed == "held-out" and measured not in _ON_TEST_ROWS:
        return "protocol: printed for the test rows of the standard split"
    return ""
