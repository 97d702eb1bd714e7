"""ReliabilityDisplay: the numbers it draws, where it draws them, and what it refuses."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import calibration_curve
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from splmll.plots import ReliabilityDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    probabilities = rng.beta(0.5, 1.5, size=(500, 4))
    return (rng.random((500, 4)) < probabilities).astype(int), probabilities


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_curve_is_that_of_scikit_learn_over_pooled_cells(strategy, predictions):
    Y, probabilities = predictions
    display = ReliabilityDisplay.from_predictions(Y, probabilities, n_bins=7, strategy=strategy)
    observed, predicted = calibration_curve(
        Y.ravel(), probabilities.ravel(), n_bins=7, strategy=strategy
    )
    np.testing.assert_allclose(display.observed, observed)
    np.testing.assert_allclose(display.predicted, predicted)
    assert display.counts.sum() == Y.size
    np.testing.assert_allclose(display.line_.get_xydata(), np.column_stack([predicted, observed]))


def test_expected_calibration_error_by_hand():
    Y = np.array([[1, 0], [1, 1]])
    probabilities = np.array([[0.9, 0.3], [0.7, 0.4]])
    display = ReliabilityDisplay.from_predictions(Y, probabilities, n_bins=2)
    # Lower half: predicted 0.35, observed 0.5; upper half: predicted 0.8, observed 1.
    assert display.expected_calibration_error == pytest.approx((0.15 + 0.2) / 2)


def test_true_probabilities_have_a_small_error_and_sharpened_ones_a_large(predictions):
    Y, probabilities = predictions
    honest = ReliabilityDisplay.from_predictions(Y, probabilities)
    sharp = ReliabilityDisplay.from_predictions(Y, (probabilities > 0.5).astype(float))
    assert honest.expected_calibration_error < 0.03
    assert sharp.expected_calibration_error > 0.15


def test_it_draws_curve_histogram_and_legend_where_it_is_told(predictions):
    Y, probabilities = predictions
    figure, ax = plt.subplots()
    display = ReliabilityDisplay.from_predictions(Y, probabilities, name="mine", ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_allclose(heights, display.counts / Y.size)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [
        "perfectly calibrated",
        f"mine (ECE = {display.expected_calibration_error:.3f})",
    ]
    ReliabilityDisplay.from_predictions(Y, np.sqrt(probabilities), name="other", ax=ax)
    assert len(ax.get_legend().get_texts()) == 3  # the diagonal only once
    assert display.plot().ax_ is not ax


def test_unknown_cells_are_left_out(predictions):
    Y, probabilities = predictions
    hidden = Y.astype(float)
    hidden[:, 0] = np.nan
    display = ReliabilityDisplay.from_predictions(hidden, probabilities)
    expected = ReliabilityDisplay.from_predictions(Y[:, 1:], probabilities[:, 1:])
    np.testing.assert_array_equal(display.counts, expected.counts)
    np.testing.assert_array_equal(display.observed, expected.observed)


def test_sparse_labels(predictions):
    Y, probabilities = predictions
    compact = ReliabilityDisplay.from_predictions(sparse.csr_array(Y), probabilities)
    dense = ReliabilityDisplay.from_predictions(Y, probabilities)
    np.testing.assert_array_equal(compact.observed, dense.observed)


def test_equal_probabilities_share_a_quantile_bin():
    display = ReliabilityDisplay.from_predictions(
        np.arange(20).reshape(10, 2) % 2, np.full((10, 2), 0.25), strategy="quantile"
    )
    assert display.counts.sum() == 20
    assert display.expected_calibration_error == pytest.approx(0.25)


def test_from_estimator_reads_lists_of_probabilities_and_vectors():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    Y = (X[:, :2] > 0).astype(int)
    forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(X, Y)
    display = ReliabilityDisplay.from_estimator(forest, X, Y)
    stacked = np.column_stack([p[:, 1] for p in forest.predict_proba(X)])
    expected = ReliabilityDisplay.from_predictions(Y, stacked)
    np.testing.assert_array_equal(display.observed, expected.observed)
    assert display.name == "RandomForestClassifier"
    y = Y[:, 0]
    logistic = LogisticRegression().fit(X, y)
    display = ReliabilityDisplay.from_estimator(logistic, X, y)
    expected = ReliabilityDisplay.from_predictions(y, logistic.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(display.observed, expected.observed)


def test_errors_say_what_to_do(predictions):
    Y, probabilities = predictions
    with pytest.raises(ValueError, match="one column per label"):
        ReliabilityDisplay.from_predictions(Y[:, :2], probabilities)
    with pytest.raises(ValueError, match="between 0 and 1"):
        ReliabilityDisplay.from_predictions(Y, probabilities * 3)
    with pytest.raises(ValueError, match="0/1 matrix"):
        ReliabilityDisplay.from_predictions(Y * 2, probabilities)
    with pytest.raises(ValueError, match="uniform, quantile"):
        ReliabilityDisplay.from_predictions(Y, probabilities, strategy="log")
    with pytest.raises(ValueError, match="at least one bin"):
        ReliabilityDisplay.from_predictions(Y, probabilities, n_bins=0)
    with pytest.raises(ValueError, match="nothing to compare"):
        ReliabilityDisplay.from_predictions(np.full(Y.shape, np.nan), probabilities)
    ridge = RidgeClassifier().fit(probabilities, Y)
    with pytest.raises(ValueError, match="no predict_proba"):
        ReliabilityDisplay.from_estimator(ridge, probabilities, Y)


def test_importing_plots_does_not_load_matplotlib():
    code = "import sys, splmll.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
