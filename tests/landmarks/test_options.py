"""Every option of SPLMLL does what it says, and a wrong value is named with its remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from landmark_problems import QUICK_NETWORK, make_problem
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.svm import SVR
from torch import nn

from splmll import SPLMLL, evaluate
from splmll.landmarks.embedding import (
    BlendEmbedding,
    KernelEmbedding,
    LinearEmbedding,
    NetworkEmbedding,
    RegressorEmbedding,
)
from splmll.neural import Logistic
from splmll.thresholds import RULES, GlobalThreshold


def average_precision(model: SPLMLL, n_rows: int = 200) -> float:
    X, Y = make_problem(n_rows)
    X_test, Y_test = make_problem(300, seed=1)
    model.fit(X, Y)
    scores = model.decision_function(X_test)
    return evaluate(Y_test, scores, None, ["average_precision"])["average_precision"]


# Embeddings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("embedding", "kind"),
    [
        ("linear", LinearEmbedding),
        ("kernel", KernelEmbedding),
        ("mlp", NetworkEmbedding),
        ("blend", BlendEmbedding),
        (torch.nn.Linear(10, 8), NetworkEmbedding),
        (Ridge(), RegressorEmbedding),
        (SVR(), RegressorEmbedding),
        ([Ridge(), "kernel", torch.nn.Linear(10, 8)], BlendEmbedding),
    ],
    ids=["linear", "kernel", "mlp", "blend", "module", "Ridge", "SVR", "list"],
)
def test_every_embedding_learns(embedding: Any, kind: type) -> None:
    model = SPLMLL(embedding, **{**QUICK_NETWORK, "cv": 2, "max_epochs": 25})
    if embedding == "blend":
        model.set_params(max_epochs=5)  # the trees take their time as well
    score = average_precision(model)
    assert type(model.embedding_) is kind
    rng = np.random.default_rng(0)
    _, Y_test = make_problem(300, seed=1)
    by_chance = evaluate(Y_test, rng.random(Y_test.shape), None, ["average_precision"])
    assert score > by_chance["average_precision"] + 0.15


def test_a_list_holds_what_it_was_given() -> None:
    X, Y = make_problem()
    module = torch.nn.Linear(10, 8)
    model = SPLMLL(["linear", module, ExtraTreesRegressor(5)], **QUICK_NETWORK).fit(X, Y)
    linear, network, trees = model.embedding_.members
    assert type(linear) is LinearEmbedding
    assert all(type(part) is torch.nn.Linear for part in network.models)
    assert all(type(part) is ExtraTreesRegressor for part in trees.models)
    assert len(trees.models) == 3
    # One weight per landmark and member; they share the whole.
    assert_allclose(model.embedding_.weights.sum(axis=0), 1.0)
    assert (model.embedding_.weights >= 0).all()


def test_the_fold_networks_are_averaged() -> None:
    X, Y = make_problem()
    model = SPLMLL("mlp", **{**QUICK_NETWORK, "selection": "all"}).fit(X, Y)
    assert len(model.embedding_.models) == 3
    x = torch.as_tensor(X[:9], dtype=torch.float32)
    with torch.no_grad():
        outputs = [part(x).numpy() for part in model.embedding_.models]
    assert_allclose(model.transform(X[:9]), np.mean(outputs, axis=0), atol=1e-6)
    twice = SPLMLL("mlp", **{**QUICK_NETWORK, "n_repeats": 2}).fit(X, Y)
    assert len(twice.embedding_.models) == 6


def test_folds_are_drawn_again_for_small_data() -> None:
    X, Y = make_problem()
    quick = {**QUICK_NETWORK, "n_repeats": "auto", "max_epochs": 1}
    assert len(SPLMLL("mlp", **quick).fit(X, Y).embedding_.models) == 9


def test_the_network_is_built_as_asked() -> None:
    X, Y = make_problem()
    asked = {**QUICK_NETWORK, "hidden_layer_sizes": (7, 5), "dropout": 0.25, "scale": False}
    layers = list(SPLMLL("mlp", **asked).fit(X, Y).embedding_.models[0].logits)
    widths = [(p.in_features, p.out_features) for p in layers if isinstance(p, torch.nn.Linear)]
    assert widths == [(10, 7), (7, 5), (5, 8)]
    assert [p.p for p in layers if isinstance(p, torch.nn.Dropout)] == [0.25, 0.25]


def test_early_stopping() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(120, 10)), rng.integers(0, 2, (120, 3))
    epochs = []

    class Counter(SPLMLL):
        def _report(self, progress: Any) -> Any:
            return lambda fold, epoch, loss, module: bool(epochs.append((fold, epoch)))

    # Noise cannot be learned: the held rows stop training long before its end.
    quick = {**QUICK_NETWORK, "max_epochs": 200, "patience": 3, "cv": 2}
    from splmll.callbacks import FitProgress

    model = Counter("mlp", **quick)
    progress = FitProgress(model, X, Y)
    progress.active = True
    f = model._make_embedding(0, progress)
    f.fit(X, Y.astype(float), np.arange(120)[None] % 2, True)
    assert {fold for fold, _ in epochs} == {0, 1}
    assert len(epochs) < 100


@pytest.mark.parametrize("embedding", ["linear", "kernel"])
def test_alpha(embedding: str) -> None:
    X, Y = make_problem()
    weak, strong = (
        SPLMLL(embedding, alpha=alpha, selection="all", random_state=0).fit(X, Y).transform(X)
        for alpha in (1e-4, 1e3)
    )
    assert np.ptp(strong, axis=0).max() < 0.1 * np.ptp(weak, axis=0).max()
    chosen = SPLMLL(embedding, random_state=0)
    assert average_precision(chosen) >= average_precision(
        SPLMLL(embedding, alpha=1e3, random_state=0)
    )


def test_gamma_and_components_of_the_kernel() -> None:
    X, Y = make_problem()
    narrow = SPLMLL("kernel", gamma=1e3, random_state=0).fit(X, Y)
    # A kernel that sees every row alone knows nothing of others.
    assert narrow.predictability_.max() < 0.05
    few = SPLMLL("kernel", n_components=7, random_state=0).fit(X, Y)
    assert few.embedding_.features.components_.shape == (7, 10)
    assert SPLMLL("kernel").fit(X, Y).embedding_.features.components_.shape == (200, 10)


# Selection, recovery, penalties ----------------------------------------------------------------


@pytest.mark.parametrize("selection", ["soft", "hard"])
@pytest.mark.parametrize("recovery", ["labels", "crossfit"])
@pytest.mark.parametrize("n_landmarks", [1, 3, 8])
def test_a_budget_is_kept(selection: str, recovery: str, n_landmarks: int) -> None:
    X, Y = make_problem()
    model = SPLMLL(
        "linear", selection=selection, recovery=recovery, n_landmarks=n_landmarks, random_state=0
    ).fit(X, Y)
    assert len(model.landmarks_) == n_landmarks
    assert np.count_nonzero(model.selection_) == n_landmarks
    if selection == "hard":
        assert set(model.selection_) <= {0.0, 1.0}


def test_a_budget_may_be_a_share() -> None:
    X, Y = make_problem()
    for share, expected in ((0.5, 4), (1.0, 8), (0.01, 1), (0.3, 2)):
        assert len(SPLMLL("linear", n_landmarks=share).fit(X, Y).landmarks_) == expected


def test_a_budget_for_algorithm1() -> None:
    X, Y = make_problem()
    model = SPLMLL.as_published(linear=True, n_landmarks=3, max_epochs=10, random_state=0)
    model.fit(X, Y)
    assert len(model.landmarks_) == np.count_nonzero(model.selection_) == 3


def test_soft_weights_are_real_numbers() -> None:
    X, Y = make_problem()
    weights = SPLMLL("linear", lambda2=1.0, random_state=0).fit(X, Y).selection_
    chosen = weights[weights != 0]
    assert 0 < len(chosen) < 8
    assert len(np.unique(chosen)) == len(chosen)
    assert (np.abs(chosen - 1) > 1e-6).all()


def test_more_sparsity_means_fewer_landmarks() -> None:
    X, Y = make_problem()
    counts = [
        len(SPLMLL("linear", lambda2=value, random_state=0).fit(X, Y).landmarks_)
        for value in (0.0, 0.5, 1.0, 100.0)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 8
    assert counts[-1] == 0


def test_without_landmarks_every_row_gets_the_means() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", lambda2=100.0, random_state=0).fit(X, Y)
    assert len(model.landmarks_) == 0
    assert model.recovery_.shape == (0, 8)
    assert model.transform(X).shape == (200, 0)
    expected = np.tile(Y.mean(axis=0), (200, 1))
    assert_allclose(model.decision_function(X) + model.offset_, expected, atol=1e-12)
    assert_allclose(model.explain(X[:3]).scores, expected[:3])


def test_crossfitted_recovery_knows_the_errors_it_is_fed() -> None:
    # Three predicted landmarks stand for eight labels: a recovery that believes them as if
    # they were true labels is worse on new rows.
    settings: dict[str, Any] = {"n_landmarks": 3, "random_state": 0}
    honest = average_precision(SPLMLL("linear", recovery="crossfit", **settings))
    believing = average_precision(SPLMLL("linear", recovery="labels", **settings))
    assert honest > believing


def test_shrinkage_pulls_to_the_own_prediction() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", shrinkage=1e6, random_state=0).fit(X, Y)
    # B A = I on the landmarks, and nothing for the others.
    mixing = model.selection_[model.landmarks_][:, None] * model.recovery_
    assert_allclose(mixing, np.eye(8)[model.landmarks_], atol=1e-4)


def test_penalties_are_relative_to_the_label_variance() -> None:
    X, Y = make_problem()
    unit = Y.var(axis=0).mean()
    relative = SPLMLL("linear", lambda1=0.2, lambda2=0.4, rho=0.05, random_state=0).fit(X, Y)
    absolute = SPLMLL(
        "linear",
        lambda1=0.2 * unit,
        lambda2=0.4 * unit,
        rho=0.05 * unit,
        penalty_scale="absolute",
        random_state=0,
    ).fit(X, Y)
    assert_allclose(absolute.selection_, relative.selection_, atol=1e-9)
    # Every label twice as rare halves the unit with it: the same labels are chosen.
    assert_array_equal(
        SPLMLL("linear", random_state=0)
        .fit(np.vstack([X, X]), np.vstack([Y, Y]))
        .selection_.nonzero()[0],
        SPLMLL("linear", random_state=0).fit(X, Y).selection_.nonzero()[0],
    )


# Thresholds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [*RULES, 0.3])
def test_every_threshold_rule(rule: Any) -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", threshold=rule, random_state=0).fit(X, Y)
    X_test, Y_test = make_problem(300, seed=1)
    predicted = model.predict(X_test)
    assert evaluate(Y_test, model.decision_function(X_test), predicted)["micro_f1"] > 0.6
    assert model.thresholds_.shape == (8,)
    if rule == "per-label":
        assert len(np.unique(model.thresholds_)) > 1
    elif rule in ("top-r", "linear"):
        assert np.isnan(model.thresholds_).all()
    else:
        assert_allclose(model.thresholds_, model.offset_)
        assert_array_equal(predicted == 1, model.decision_function(X_test) > 0)
    if rule == 0.3:
        assert model.offset_ == 0.3


def test_a_tuned_threshold_is_better_than_a_fixed_one() -> None:
    X, Y = make_problem(400)
    X_test, Y_test = make_problem(2000, seed=1)
    measured = {}
    for rule in ("micro-f1", 0.5):
        model = SPLMLL("linear", threshold=rule, random_state=0).fit(X, Y)
        measured[rule] = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    assert measured["micro-f1"]["micro_f1"] > measured[0.5]["micro_f1"]


def test_too_few_rows_keep_the_default_threshold() -> None:
    X, Y = make_problem(49)
    assert SPLMLL("linear").fit(X, Y).threshold_ == GlobalThreshold(0.5)
    X, Y = make_problem(60)
    assert SPLMLL("linear", random_state=0).fit(X, Y).threshold_ != GlobalThreshold(0.5)


# As published ----------------------------------------------------------------------------------


def test_the_published_settings() -> None:
    model = SPLMLL.as_published()
    assert (model.embedding, model.solver, model.selection) == ("mlp", "algorithm1", "soft")
    assert (model.lambda1, model.lambda2, model.rho) == (0.1, 0.1, 0.0)
    assert (model.hidden_layer_sizes, model.batch_size) == ((512, 64), 64)
    assert (model.recovery, model.penalty_scale, model.cv) == ("labels", "absolute", None)
    assert model.center is False
    assert SPLMLL.as_published(linear=True).embedding == "linear"
    assert SPLMLL.as_published(lambda1=0.7).lambda1 == 0.7


@pytest.mark.parametrize("linear", [True, False], ids=["linear", "network"])
def test_as_published_the_score_is_exactly_f_b_a(linear: bool) -> None:
    X, Y = make_problem()
    model = SPLMLL.as_published(
        linear=linear, hidden_layer_sizes=(16,), max_epochs=20, random_state=0
    ).fit(X, Y)
    B = np.diag(model.selection_)[model.landmarks_][:, model.landmarks_]
    scores = model.decision_function(X) + model.offset_
    assert_allclose(scores, model.transform(X) @ B @ model.recovery_, atol=1e-10)
    assert not model.intercept_.any()
    assert model.offset_ == 0.5


def test_without_centring_the_exact_score_is_exactly_f_b_a() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", center=False, cv=None, recovery="labels", threshold=0.5).fit(X, Y)
    weights = model.selection_[model.landmarks_]
    scores = model.decision_function(X) + model.offset_
    assert_allclose(scores, (model.transform(X) * weights) @ model.recovery_, atol=1e-10)


def test_a_full_selection_keeps_the_off_diagonal() -> None:
    X, Y = make_problem()
    model = SPLMLL.as_published(linear=True, full_selection=True, max_epochs=20, random_state=0)
    model.fit(X, Y)
    B = model.selection_
    assert B.shape == model.recovery_.shape == (8, 8)
    assert np.abs(B - np.diag(np.diag(B))).max() > 1e-3
    # transform gives the rows of B that are not zero, in the order of landmarks_.
    f = np.zeros((200, 8))
    f[:, model.landmarks_] = model.transform(X)
    assert_allclose(model.decision_function(X) + model.offset_, f @ B @ model.recovery_, atol=1e-10)


# Wrong values ----------------------------------------------------------------------------------


class NotARegressor(BaseEstimator):
    pass


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "newton"}, r"solver='newton' must be one of \('exact', 'algorithm1'\)"),
        ({"selection": "firm"}, r"selection='firm' must be one of \('soft', 'hard', 'all'\)"),
        ({"recovery": "luck"}, r"recovery='luck' must be one of \('crossfit', 'labels'\)"),
        ({"penalty_scale": "big"}, r"penalty_scale='big' must be one of"),
        ({"embedding": "cubic"}, r"embedding='cubic' must be .* a torch module, a regressor or"),
        ({"embedding": ["linear", "cubic"]}, r"embedding='cubic' must be"),
        ({"embedding": NotARegressor()}, r"embedding=NotARegressor\(\) must be"),
        ({"threshold": "best"}, r"threshold='best' must be a number or one of .*micro-f1"),
        ({"threshold": None}, "Unknown threshold rule None: pass a number or one of"),
        ({"threshold": float("nan")}, "must be a finite number"),
        ({"lambda1": -0.1}, "must not be negative"),
        ({"lambda2": -0.1}, "must not be negative"),
        ({"rho": -0.1}, "must not be negative"),
        ({"shrinkage": -0.1}, "must not be negative"),
        ({"cv": 1}, "cv=1: give at least 2 folds, or None"),
        ({"n_repeats": 0}, 'n_repeats=0 must be "auto" or at least 1'),
        ({"cv": None, "threshold": 0.5}, r'recovery="crossfit" needs out-of-fold .* set cv'),
        ({"cv": None, "recovery": "labels"}, r"threshold='micro-f1' is tuned on .* set cv"),
        ({"solver": "algorithm1", "selection": "hard"}, 'selection="hard" needs solver="exact"'),
        ({"solver": "algorithm1", "embedding": "kernel"}, r'"mlp", "linear" or a torch module'),
        ({"solver": "algorithm1", "embedding": Ridge()}, r'"mlp", "linear" or a torch module'),
        ({"full_selection": True}, 'full_selection=True needs solver="algorithm1"'),
        ({"full_selection": True, "solver": "algorithm1"}, 'recovery="labels"'),
        ({"n_landmarks": 9}, r"asks for 9 landmarks, but there are 8 labels: .* from 1 to 8"),
        ({"n_landmarks": 0}, "asks for 0 landmarks"),
        ({"n_landmarks": -0.5}, "asks for 0 landmarks"),
        ({"n_landmarks": 1.5}, "asks for 12 landmarks"),
    ],
    ids=str,
)
def test_wrong_values_are_named(parameters: dict[str, Any], message: str) -> None:
    X, Y = make_problem(30)
    model = SPLMLL(**{"embedding": "linear", "max_epochs": 1, **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


def test_a_blend_without_folds_is_refused() -> None:
    X, Y = make_problem(30)
    model = SPLMLL(["linear", "kernel"], cv=None, recovery="labels", threshold=0.5)
    with pytest.raises(ValueError, match="give cv at least 2 folds"):
        model.fit(X, Y)


class Fussy(RegressorMixin, BaseEstimator):
    """Refuses everything, with words of its own."""

    def fit(self, X: Any, y: Any) -> Any:
        raise ValueError("I only take Tuesdays")

    def predict(self, X: Any) -> Any:
        raise NotImplementedError


def test_an_error_of_the_regressor_is_passed_on() -> None:
    X, Y = make_problem(30)
    with pytest.raises(ValueError, match="only take Tuesdays"):
        SPLMLL(Fussy()).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"max_epochs": 0}, "max_epochs"),
        ({"patience": 1.5}, "patience"),
        ({"alpha": -1.0}, "alpha"),
        ({"gamma": "wide"}, "gamma"),
        ({"dropout": 1.0}, "dropout"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"hidden_layer_sizes": 64}, "hidden_layer_sizes"),
        ({"n_repeats": 0}, "n_repeats"),
    ],
)
def test_training_options_that_make_no_sense_are_named(settings, named):
    X, Y = np.eye(4), np.eye(4)[:, :2]
    with pytest.raises(ValueError, match=named):
        SPLMLL(**settings).fit(X, Y)


def test_who_is_trained_by_which_loss() -> None:
    X, Y = make_problem(120)

    def kinds(model: SPLMLL) -> list[bool]:
        return [isinstance(part, Logistic) for part in model.fit(X, Y).embedding_.models]

    twice = {**QUICK_NETWORK, "n_repeats": 2}
    assert kinds(SPLMLL("mlp", **twice)) == [True] * 3 + [False] * 3
    assert not any(kinds(SPLMLL("mlp", loss="squared", **twice)))
    assert all(kinds(SPLMLL("mlp", loss="cross-entropy", **twice)))
    module = nn.Linear(X.shape[1], Y.shape[1])
    assert not any(kinds(SPLMLL(module, **QUICK_NETWORK)))
    assert all(kinds(SPLMLL(module, loss="cross-entropy", **QUICK_NETWORK)))
    published = SPLMLL.as_published(hidden_layer_sizes=(8,), max_epochs=5, random_state=0)
    assert not any(kinds(published))
    with pytest.raises(ValueError, match=r'Algorithm 1 .* loss="squared"'):
        SPLMLL.as_published(loss="cross-entropy").fit(X, Y)
    with pytest.raises(ValueError, match="loss='hinge' must be one of"):
        SPLMLL(loss="hinge").fit(X, Y)
