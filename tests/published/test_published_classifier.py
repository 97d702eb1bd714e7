"""PublishedSPLMLL: what it learns, what it refuses, and what its settings mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from published_problems import QUICK, make_problem
from scipy import sparse

from splmll import evaluate, load_dataset
from splmll.neural import forward
from splmll.published import PublishedSPLMLL
from splmll.published.classifier import fit_ridge, label_moments

EXACT: dict[str, Any] = {"linear": True, "solver": "exact", "rho": 1.0, "random_state": 0}
VARIANTS: dict[str, dict[str, Any]] = {
    "network": QUICK,
    "linear": {"linear": True, "learning_rate": 0.05, "max_epochs": 30, "random_state": 0},
    "full": {**QUICK, "selection": "full"},
    "all": {**QUICK, "selection": "all"},
    "separated": {**QUICK, "max_epochs": 30, "joint": False},
    "simultaneous": {**QUICK, "max_epochs": 30, "solver": "simultaneous"},
    "exact": EXACT,
    "exact, hard": {**EXACT, "selection": "hard"},
    "exact, network": {**QUICK, "solver": "exact", "rho": 1.0},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_score_is_f_b_a(name: str) -> None:
    """The fitted attributes say what is computed: f(x) B A, the landmarks' rows of it."""
    X, Y = make_problem()
    model = PublishedSPLMLL(**VARIANTS[name]).fit(X, Y)
    F = forward(model.embedding_, X).numpy()
    B = model.selection_ if model.selection_.ndim == 2 else np.diag(model.selection_)
    A = np.zeros((6, 6))
    rows = slice(None) if name == "full" else model.landmarks_
    A[rows] = model.recovery_
    scores = model.decision_function(X) + model.threshold
    assert_allclose(scores, F @ B @ A, atol=1e-6)
    assert_allclose(model.landmark_weights_, (B @ A)[model.landmarks_], atol=1e-9)
    strengths = np.abs(model.landmark_strengths_)
    assert (np.diff(strengths) <= 0).all()
    assert_allclose(strengths, np.linalg.norm(B[model.landmarks_], axis=1))
    for label in range(2):
        assert np.corrcoef(scores[:, label], Y[:, label])[0, 1] > 0.3


@pytest.mark.parametrize("name", VARIANTS)
def test_the_table_of_the_objective_adds_up(name: str) -> None:
    X, Y = make_problem()
    table = PublishedSPLMLL(**VARIANTS[name]).fit(X, Y).objective_
    terms = ["predictability", "representativeness", "identity", "sparsity", "ridge"]
    assert_allclose(table[terms].sum(axis=1), table["objective"], rtol=1e-9)
    assert table["objective"].iloc[-1] < table["objective"].iloc[0]


# The held-out tenth ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["network", "linear"])
def test_a_tenth_is_held_out_and_only_decides_when_to_stop(name: str) -> None:
    """With the labels of the held-out rows turned around, every step is the same."""
    X, Y = make_problem()
    steps = {**VARIANTS[name], "max_epochs": 12, "patience": 12}
    model = PublishedSPLMLL(**steps).fit(X, Y)
    held_out = np.random.default_rng(
        np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    ).permutation(200)[:20]
    turned = Y.copy()
    turned[held_out] = 1 - turned[held_out]
    other = PublishedSPLMLL(**steps).fit(X, turned)
    one, two = model.objective_, other.objective_
    assert_array_equal(one["objective"], two["objective"])
    assert (one["validation_loss"][1:] < two["validation_loss"][1:]).all()
    assert one["validation_loss"].idxmin() > two["validation_loss"].idxmin()
    # Any other row is learned from.
    seen = np.setdiff1d(np.arange(200), held_out)[:20]
    turned = Y.copy()
    turned[seen] = 1 - turned[seen]
    third = PublishedSPLMLL(**steps).fit(X, turned).objective_
    assert (third["objective"] != one["objective"]).all()


def test_training_to_the_end() -> None:
    X, Y = make_problem()
    model = PublishedSPLMLL(**QUICK, validation_fraction=None).fit(X, Y)
    assert model.n_iter_ == 12
    assert "validation_loss" not in model.objective_
    # Too few rows to spare any.
    assert "validation_loss" not in PublishedSPLMLL(**QUICK).fit(X[:49], Y[:49]).objective_
    assert "validation_loss" in PublishedSPLMLL(**QUICK).fit(X[:50], Y[:50]).objective_


# Budgets -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "all"])
def test_a_budget_is_met_exactly(name: str) -> None:
    X, Y = make_problem()
    for k in (1, 3, 6):
        model = PublishedSPLMLL(**VARIANTS[name], n_landmarks=k).fit(X, Y)
        assert len(model.landmarks_) == k
        assert np.isfinite(model.decision_function(X)).all()


def test_gradient_steps_keep_the_largest_and_go_on() -> None:
    X, Y = make_problem()
    free = PublishedSPLMLL(**QUICK).fit(X, Y)
    bound = PublishedSPLMLL(**QUICK, n_landmarks=2).fit(X, Y)
    assert set(bound.landmarks_) == set(free.landmarks_[:2])
    assert bound.n_iter_ > free.n_iter_
    assert (bound.selection_ != 0).sum() == 2
    # The two recover the others better than when they had the help of all labels.
    left = [
        np.sum((Y - Y[:, model.landmarks_[:2]] @ model.landmark_weights_[:2]) ** 2)
        for model in (free, bound)
    ]
    assert left[1] < 0.9 * left[0]


def test_more_landmarks_than_labels_are_refused() -> None:
    X, Y = make_problem()
    with pytest.raises(ValueError, match=r"n_landmarks=7.*only 6 labels"):
        PublishedSPLMLL(**QUICK, n_landmarks=7).fit(X, Y)
    Y[:, 2:] = 0  # of which only two can be landmarks
    assert len(PublishedSPLMLL(**EXACT, n_landmarks=3).fit(X, Y).landmarks_) == 2


# Variants ----------------------------------------------------------------------------------------


def test_the_released_variant() -> None:
    model = PublishedSPLMLL.as_released()
    assert (model.hidden_layer_sizes, model.dropout, model.output) == ((128, 64), 0.5, "sigmoid")
    assert (model.solver, model.selection, model.batch_size) == ("simultaneous", "full", None)
    assert (model.learning_rate, model.max_epochs, model.threshold) == (1e-4, 12_000, 0.4)
    assert PublishedSPLMLL.as_released(dropout=0.2).dropout == 0.2
    X, Y = make_problem()
    quick = {"hidden_layer_sizes": (16,), "learning_rate": 0.01, "max_epochs": 20}
    fitted = PublishedSPLMLL.as_released(**quick, random_state=0).fit(X, Y)
    off_diagonal = fitted.selection_ - np.diag(np.diag(fitted.selection_))
    assert np.abs(off_diagonal).max() > 1e-3
    # Adam moves B by at most its step, ten times in an epoch.
    assert np.abs(fitted.selection_ - np.eye(6)).max() < 0.01 * 10 * fitted.n_iter_


def test_parts_can_be_left_out() -> None:
    X, Y = make_problem()
    alone = PublishedSPLMLL(**QUICK, selection="all").fit(X, Y)
    assert_array_equal(alone.landmark_weights_, np.eye(6))
    separated = PublishedSPLMLL(**QUICK, joint=False, patience=12)
    shuffled = np.random.default_rng(0).permutation(X)
    one, two = (separated.fit(x, Y).selection_.copy() for x in (X, shuffled))
    assert_array_equal(one, two)  # chosen without a look at the features


def test_separated_exact_selection_does_not_look_at_the_features() -> None:
    X, Y = make_problem()
    shuffled = np.random.default_rng(0).permutation(X)
    for joint in (True, False):
        settings = {**EXACT, "joint": joint, "lambda2": 5.0}
        seen, blind = (PublishedSPLMLL(**settings).fit(x, Y).selection_ for x in (X, shuffled))
        assert np.allclose(seen, blind) is not joint


def test_the_exact_solver_minimises_what_algorithm_1_descends_on() -> None:
    """From the exact B and A, many steps with small batches go nowhere; they start far above."""
    X, Y = make_problem(400)
    settings = {"linear": True, "rho": 1.0, "batch_size": 100, "random_state": 0}
    exact = PublishedSPLMLL(**settings, solver="exact").fit(X, Y)
    steps = PublishedSPLMLL(
        **settings, learning_rate=0.01, max_epochs=100, validation_fraction=None
    ).fit(X, Y)
    last, start = steps.objective_["objective"].iloc[[-1, 0]]
    # f of Algorithm 1 is fitted to these rows, that of the exact solver measured on others.
    assert exact.objective_["objective"].iloc[-1] == pytest.approx(last, rel=0.1)
    assert start > 3 * last


def test_hard_selection_avoids_what_cannot_be_predicted() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    seen = (X[:, 0] > 0).astype(int)
    unseen = rng.integers(0, 2, 400)
    # Labels 0 and 1 are equally representative: each has a copy with a few errors.
    copies = [label ^ (rng.random(400) < 0.1) for label in (seen, unseen)]
    Y = np.column_stack([seen, unseen, *copies])
    model = PublishedSPLMLL(**EXACT, selection="hard", n_landmarks=1).fit(X, Y)
    assert model.landmarks_[0] in (0, 2)
    assert model.predictability_[0] > 0.5 > 0.1 > model.predictability_[1]


# Labels ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_constant_labels_are_predicted_as_what_they_were(name: str) -> None:
    X, Y = make_problem()
    Y[:, 1], Y[:, 3] = 0, 1
    model = PublishedSPLMLL(**VARIANTS[name]).fit(X, Y)
    assert_array_equal(model.predict(X)[:, [1, 3]], Y[:, [1, 3]])
    assert not {1, 3} & set(model.landmarks_) or name == "all"
    assert_array_equal(model.intercept_, [0, 0, 0, 1, 0, 0])


@pytest.mark.parametrize("name", VARIANTS)
def test_unknown_labels(name: str) -> None:
    X, Y = make_problem()
    partly = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    partly[:, 5] = np.nan  # never known
    model = PublishedSPLMLL(**VARIANTS[name]).fit(X, partly)
    scores = model.decision_function(X)
    for label in range(2):
        assert np.corrcoef(scores[:, label], Y[:, label])[0, 1] > 0.3
    assert not model.predict(X)[:, 5].any()


def test_moments_of_partly_known_labels_are_over_the_rows_where_both_are_known() -> None:
    rng = np.random.default_rng(0)
    Y = (rng.random((2000, 3)) < 0.5).astype(float)
    Y[:, 1] = Y[:, 0]
    hidden = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
    assert_allclose(label_moments(hidden), label_moments(Y), atol=0.03)
    assert np.linalg.eigvalsh(label_moments(hidden)).min() > -1e-12


def test_names() -> None:
    X, Y = make_problem()
    frame = pd.DataFrame(Y, columns=list("uvwxyz"))
    model = PublishedSPLMLL(**EXACT, selection="hard", n_landmarks=2).fit(X, frame)
    assert set(model.landmarks_) < set("uvwxyz")
    assert list(model.predict(X).columns) == list("uvwxyz")


@pytest.mark.parametrize("name", ["network", "exact"])
def test_sparse_features(name: str) -> None:
    X, Y = make_problem()
    X[X < 0.5] = 0
    dense = PublishedSPLMLL(**VARIANTS[name]).fit(X, Y)
    stored = PublishedSPLMLL(**VARIANTS[name]).fit(sparse.csr_array(X), Y)
    assert_allclose(stored.decision_function(X), dense.decision_function(X), atol=2e-3)


def test_errors_of_ridge_regression_are_those_of_rows_it_did_not_see() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 50))  # nearly as many features as rows: any label can be fitted
    Y = (rng.random((60, 1)) < 0.5).astype(float)
    module, errors = fit_ridge(X, Y, seed=0)
    fitted = np.mean((forward(module.float(), X).numpy() - Y) ** 2)
    assert fitted < 0.25 < errors[0] * 1.05


# Refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"solver": "adam"},
        {"selection": "some"},
        {"lambda1": -0.1},
        {"rho": "auto"},
        {"n_landmarks": 0},
        {"n_landmarks": 0.5},
        {"dropout": 1.0},
        {"output": "softmax"},
        {"threshold": "micro_f1"},
        {"validation_fraction": 0},
        {"validation_fraction": 1.0},
        {"hidden_layer_sizes": (0,)},
        {"hidden_layer_sizes": 5},
        {"batch_size": 0},
        {"device": None},
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any]) -> None:
    X, Y = make_problem(20)
    with pytest.raises(ValueError, match=next(iter(settings))):
        PublishedSPLMLL(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "idle"),
    [
        ({"linear": True, "hidden_layer_sizes": (8,)}, "hidden_layer_sizes"),
        ({"linear": True, "dropout": 0.5}, "dropout"),
        ({"linear": True, "solver": "exact", "output": "identity"}, "output"),
        ({"linear": True, "solver": "exact", "learning_rate": 0.1}, "learning_rate"),
        ({"linear": True, "solver": "exact", "validation_fraction": None}, "validation_fraction"),
        ({"linear": True, "solver": "exact", "device": "cpu"}, "device"),
        ({"selection": "all", "lambda1": 1.0}, "lambda1"),
        ({"selection": "all", "n_landmarks": 1}, "n_landmarks"),
        ({"selection": "all", "joint": False}, "joint"),
        ({"selection": "all", "solver": "exact"}, "solver"),
        ({"validation_fraction": None, "patience": 3}, "patience"),
        ({"solver": "simultaneous", "joint": False}, "joint"),
    ],
)
def test_what_would_do_nothing_is_refused(settings: dict[str, Any], idle: str) -> None:
    X, Y = make_problem(20)
    with pytest.raises(ValueError, match=f"^{idle}=.* does nothing with"):
        PublishedSPLMLL(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"selection": "hard"}, 'needs solver="exact"'),
        ({"selection": "hard", "solver": "simultaneous"}, 'needs solver="exact"'),
        ({"selection": "full", "solver": "exact"}, "needs gradient steps"),
    ],
)
def test_forms_of_B_that_a_solver_cannot_find(settings: dict[str, Any], words: str) -> None:
    X, Y = make_problem(20)
    with pytest.raises(ValueError, match=words):
        PublishedSPLMLL(**settings).fit(X, Y)


# Callbacks ---------------------------------------------------------------------------------------


def test_callbacks_see_every_epoch_and_may_stop() -> None:
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    X, Y = make_problem()

    class Recorder:
        def __init__(self) -> None:
            self.scores: list[float] = []

        def setup(self, estimator: Any, context: Any) -> None: ...

        def teardown(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_end(
            self, estimator: Any, context: Any, *, fitted_estimator: Any = None
        ) -> bool:
            if context.task_name != "epoch":
                return False
            self.scores.append(np.mean(fitted_estimator.predict(X) == Y))
            return len(self.scores) == 7

    recorder = Recorder()
    model = PublishedSPLMLL(**QUICK, validation_fraction=None)
    model.set_callbacks(recorder).fit(X, Y)
    assert model.n_iter_ == 7
    assert recorder.scores[-1] == np.mean(model.predict(X) == Y) > recorder.scores[0]


# Real data ---------------------------------------------------------------------------------------


def test_emotions(data_home: Any) -> None:
    """The paper's protocol on a held-out test part, far from its printed .170 in ranking loss."""
    X, Y, X_test, Y_test = load_dataset("emotions", data_home=data_home).split()
    model = PublishedSPLMLL(random_state=0).fit(X, Y)
    measures = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    assert measures["ranking_loss"] < 0.165
    assert measures["average_precision"] > 0.80
    assert measures["micro_f1"] > 0.68


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("emotions", ["quiet-still", "amazed-suprised"]),
        ("scene", ["Sunset", "FallFoliage", "Field"]),
    ],
)
def test_figure_3(name: str, expected: list[str], data_home: Any) -> None:
    """Trained to the end, the linear map gives the paper's landmarks the largest weights."""
    data = load_dataset(name, data_home=data_home)
    X, Y, _, _ = data.split()
    labels = pd.DataFrame(Y, columns=data.label_names)
    model = PublishedSPLMLL(linear=True, validation_fraction=None, random_state=0).fit(X, labels)
    assert set(expected) <= set(model.landmarks_[:3])
