"""Checks of a tagger: useless landmarks, labels it never predicts, thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from splmll.doctor.finding import ERROR, NOTE, WARNING, Finding
from splmll.landmarks import SPLMLL
from splmll.landmarks.recovery import logarithm
from splmll.names import listed
from splmll.tagging import Measured, Tagger
from splmll.words import counted

CARRIES_NOTHING = 0.05  # a landmark that is there or not changes a score by less


def check_tagger(tagger: Tagger) -> Iterator[Finding]:
    """Yield what is wrong with a tagger, by itself and on the rows it was measured on."""
    if tagger.has_landmarks:
        yield from _landmarks(tagger)
    yield from _thresholds(tagger)
    yield from check_predictions(tagger.measured, "the rows it was measured on")


def check_predictions(measured: Measured, rows: str) -> Iterator[Finding]:
    """Yield labels that are always or never predicted.

    Parameters
    ----------
    measured : Measured
        How a tagger did on some rows.
    rows : str
        Which rows those are, for messages.
    """
    if "predicted" not in measured.labels:
        return  # of a model that was written before this was counted
    predicted, present = measured.labels["predicted"], measured.labels["rows"]
    n_rows, remedy = measured.n_rows, "Fit again with another --threshold, such as per_label."
    for extreme, words in ((0, "nothing"), (n_rows, "every label")):
        if (predicted == extreme).all() and (present != extreme).any():
            yield Finding(
                ERROR,
                "edge-predictions",
                f"For each of {rows} {words} is predicted.",
                remedy,
                [str(name) for name in predicted.index],
            )
            return
    never = list(predicted.index[(predicted == 0) & (present > 0)])
    if never:
        yield Finding(
            WARNING,
            "never-predicted",
            f"{counted(len(never), 'label is', 'labels are')} in {rows}, but predicted for none of "
            f"them: {listed(never)}.",
            "Add rows that have them, or fit again with --threshold per_label.",
            never,
        )
    always = list(predicted.index[(predicted == n_rows) & (present < n_rows)])
    if always:
        yield Finding(
            WARNING,
            "always-predicted",
            f"{counted(len(always), 'label is', 'labels are')} predicted for each of {rows}: "
            f"{listed(always)}.",
            remedy,
            always,
        )


def _landmarks(tagger: Tagger) -> Iterator[Finding]:
    model: SPLMLL = tagger.pipeline[-1]
    names, landmarks = tagger.label_names, tagger.landmark_names
    if not landmarks:
        yield Finding(
            ERROR,
            "no-landmarks",
            "There are no landmarks, so every row gets the same labels.",
            "Either no label can be predicted from these columns, or all are constant: check the "
            "file with `splmll doctor FILE`, or set a number with --landmarks 5.",
        )
        return
    if len(landmarks) == len(names):
        yield Finding(
            NOTE,
            "all-landmarks",
            f"All {len(names)} labels are landmarks: nothing is saved.",
            f"To use fewer, give --landmarks {max(1, len(names) // 2)}; `splmll landmarks MODEL "
            "--figure path.png --data FILE` shows what that costs.",
            landmarks,
        )
    strength = np.abs(model.landmark_weights_).max(axis=0)
    constant = [
        name
        for name, largest in zip(names, strength)
        if largest < CARRIES_NOTHING and name not in landmarks
    ]
    if constant:
        yield Finding(
            WARNING,
            "not-carried",
            f"No landmark carries {counted(len(constant), 'label')}, so every row gets nearly "
            f"the same score: {listed(constant)}.",
            "Add rows that have them, allow more --landmarks, or leave them out.",
            constant,
        )


def _thresholds(tagger: Tagger) -> Iterator[Finding]:
    method: Any = tagger.pipeline[-1]
    # Only these score labels from 0 to 1; for others 0 is in the middle.
    if not (tagger.has_landmarks or method.capabilities.probabilities):
        return
    lowest = 0.0
    if tagger.has_landmarks:
        # The logarithm of an unlikely landmark's prediction takes its score below zero.
        lowest = method.learned_.setting.tail * float(logarithm(np.zeros(1))[0])
    thresholds = np.asarray(method.thresholds_, dtype=float)
    edge = np.flatnonzero((thresholds <= lowest) | (thresholds >= 1))
    if len(edge):
        names = [tagger.label_names[k] for k in edge]
        shown = ", ".join(f"{value:.3g}" for value in np.unique(thresholds[edge])[:3])
        yield Finding(
            WARNING,
            "edge-thresholds",
            f"The threshold of {counted(len(edge), 'label')} is at the edge of the scores "
            f"({shown}): {listed(names)}.",
            "Nearly all rows or nearly none get them; fit again with another --threshold, or add "
            "rows that have them.",
            names,
        )
