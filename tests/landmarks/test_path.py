"""The landmark path: what every number of landmarks achieves, measured out of fold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from landmark_problems import NAMES, make_problem, quick_network
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from splmll import SPLMLL, evaluate
from splmll.embeddings import Linear, Trees
from splmll.landmarks.path import LandmarkPath
from splmll.metrics import PAPER_MEASURES


@pytest.fixture(scope="module")
def path() -> LandmarkPath:
    X, Y = make_problem(300)
    return SPLMLL("linear", random_state=0).landmark_path(X, Y)


def test_every_number_of_landmarks_has_a_line(path: LandmarkPath) -> None:
    assert_array_equal(path.counts, np.arange(1, 9))
    assert [len(landmarks) for landmarks in path.landmarks] == list(range(1, 9))
    frame = path.to_frame()
    assert frame.index.name == "n_landmarks"
    assert list(frame.columns) == list(PAPER_MEASURES)
    assert list(frame.index) == list(range(1, 9))
    assert set(path.without) == set(PAPER_MEASURES)


def test_more_landmarks_do_better(path: LandmarkPath) -> None:
    assert path.measures["average_precision"][3:].min() > path.measures["average_precision"][0]
    assert path.measures["ranking_loss"][3:].max() < path.measures["ranking_loss"][0]


def test_chosen_numbers() -> None:
    X, Y = make_problem()
    path = SPLMLL("linear", random_state=0).landmark_path(X, Y, counts=[2, 5])
    assert_array_equal(path.counts, [2, 5])
    assert [len(landmarks) for landmarks in path.landmarks] == [2, 5]
    model = SPLMLL("linear", random_state=0)
    for wrong in ([0, 2], [3, 9]):
        with pytest.raises(ValueError, match="between 1 and 8, the number of varying labels"):
            model.landmark_path(X, Y, counts=wrong)
    with pytest.raises(ValueError, match="Every label is constant"):
        model.landmark_path(X, np.zeros_like(Y))


def test_default_numbers_with_many_labels() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    Y = (X @ rng.normal(size=(6, 40)) + rng.normal(size=(150, 40)) > 0).astype(int)
    Y[:, 7] = 0
    path = SPLMLL("linear", random_state=0).landmark_path(X, Y)
    assert_array_equal(path.counts[:10], np.arange(1, 11))
    assert path.counts[-1] == 39  # the constant label cannot be a landmark
    assert len(path.counts) < 26
    assert (np.diff(path.counts) > 0).all()


def test_the_path_agrees_with_fits_of_the_same_budget() -> None:
    X, Y = make_problem()
    path = SPLMLL("linear", random_state=0).landmark_path(X, Y, counts=[3])
    model = SPLMLL("linear", n_landmarks=3, random_state=0).fit(X, Y)
    assert_array_equal(path.landmarks[0], model.landmarks_)
    found = path.to_frame().loc[3]
    # Here the measures of all rows, there the mean over groups of rows.
    for name in ("average_precision", "ranking_loss"):
        assert found[name] == pytest.approx(model.measures_.loc["with landmarks", name], abs=1e-3)


def test_the_measures_are_honest() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 60)), (rng.random((100, 4)) < 0.4).astype(int)
    # Sixty features fit a hundred rows of noise; out of fold nothing remains of it.
    path = SPLMLL(Linear(ridge=1e-6), random_state=0).landmark_path(X, Y)
    frequencies = np.tile(Y.mean(axis=0), (100, 1))
    of_frequencies = evaluate(Y, frequencies, None, ["ranking_loss"], ties="half")["ranking_loss"]
    assert path.measures["ranking_loss"].min() > of_frequencies - 0.05
    assert path.without["ranking_loss"] > of_frequencies - 0.05


@pytest.mark.parametrize(
    "model",
    [
        SPLMLL(quick_network(max_epochs=3), cv=2, random_state=0),
        SPLMLL("svm", random_state=0),
        SPLMLL("linear", pull=1.0, n_landmarks=2, random_state=0),
        SPLMLL(["linear", Trees(n_estimators=5)], cv=2, random_state=0),
    ],
    ids=["network", "svm", "given pull", "blend"],
)
def test_every_kind_of_model_has_a_path(model: SPLMLL) -> None:
    X, Y = make_problem(120)
    path = model.landmark_path(X, Y, counts=[1, 4, 8])
    assert [len(landmarks) for landmarks in path.landmarks] == [1, 4, 8]
    assert np.isfinite(path.to_frame().to_numpy()).all()


def test_labels_in_every_form() -> None:
    X, Y = make_problem(120)
    expected = SPLMLL("linear", random_state=0).landmark_path(X, Y, counts=[2])
    named = SPLMLL("linear", random_state=0).landmark_path(
        X, pd.DataFrame(Y, columns=NAMES), counts=[2]
    )
    assert list(named.landmarks[0]) == [NAMES[j] for j in expected.landmarks[0]]
    stored = SPLMLL("linear", random_state=0).landmark_path(X, sparse.csr_array(Y), counts=[2])
    assert_allclose(stored.to_frame(), expected.to_frame(), atol=1e-8)


def test_unknown_labels_count_nowhere() -> None:
    X, Y = make_problem(120)
    labels = Y.astype(float)
    labels[np.random.default_rng(0).random(Y.shape) < 0.1] = np.nan
    path = SPLMLL("linear", random_state=0).landmark_path(X, labels, counts=[3])
    full = SPLMLL("linear", random_state=0).landmark_path(X, Y, counts=[3])
    assert abs(path.measures["micro_f1"][0] - full.measures["micro_f1"][0]) < 0.1


def test_the_estimator_is_not_changed() -> None:
    X, Y = make_problem(120)
    model = SPLMLL("linear", n_landmarks=5, cv=3, random_state=0).fit(X, Y)
    before, parameters = dict(vars(model)), repr(model)
    scores = model.decision_function(X)
    model.landmark_path(X[:, :6], Y[:, :4])
    assert repr(model) == parameters
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert_array_equal(model.decision_function(X), scores)
    unfitted = SPLMLL("linear")
    unfitted.landmark_path(X, Y, counts=[1])
    assert not hasattr(unfitted, "landmarks_")


def test_the_figure(path: LandmarkPath) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    figure = path.plot()
    try:
        shown = [ax for ax in figure.axes if ax.get_visible()]
        for ax, name in zip(shown, PAPER_MEASURES, strict=True):
            curve, dashes = ax.lines
            assert_array_equal(curve.get_xdata(), path.counts)
            assert_array_equal(curve.get_ydata(), path.measures[name])
            assert dashes.get_ydata()[0] == path.without[name]
        figure.canvas.draw()
        _, axes = plt.subplots(2, 3)
        assert path.plot(axes) is axes[0, 0].figure
    finally:
        plt.close("all")
