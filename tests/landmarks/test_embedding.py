"""f(x): closed forms against scikit-learn, out-of-fold predictions against refits, blends."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from torch import nn

from splmll.landmarks.embedding import (
    ALPHAS,
    BlendEmbedding,
    KernelEmbedding,
    LinearEmbedding,
    NetworkEmbedding,
    RegressorEmbedding,
)
from splmll.landmarks.moments import Moments
from splmll.landmarks.statistics import Statistics
from splmll.neural import Logistic, Training, forward


def data(seed=0, n=90, D=6, C=3, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * np.geomspace(0.1, 10, D) + rng.normal(size=D)
    signal = ((X - X.mean(0)) / X.std(0)) @ rng.normal(size=(D, C))
    Y = (signal + noise * rng.normal(size=(n, C)) > 0.3).astype(float)
    folds = rng.permutation(np.arange(n) % 3)[None]  # drawn once
    return X, Y, folds


def ridge(X, Y, alpha):
    """scikit-learn's ridge on standardised features; its penalty counts rows, ours does not."""
    scaler = StandardScaler().fit(X)
    model = Ridge(alpha=alpha * len(X)).fit(scaler.transform(X), Y)
    return lambda new: model.predict(scaler.transform(new))


@given(seed=st.integers(0, 2**32 - 1), alpha=st.sampled_from([1e-3, 0.1, 3.0]))
@settings(max_examples=20, deadline=None)
def test_linear_is_ridge_regression_with_a_free_intercept(seed, alpha):
    X, Y, folds = data(seed)
    f = LinearEmbedding(alpha=alpha).fit(X, Y, folds, center=True)
    new = data(seed + 1)[0]
    np.testing.assert_allclose(f.predict(new), ridge(X, Y, alpha)(new), atol=1e-8)
    for k in range(3):
        rest, held = folds[0] != k, folds[0] == k
        expected = ridge(X[rest], Y[rest], alpha)(X[held])
        np.testing.assert_allclose(f.out_of_fold[held], expected, atol=1e-8)


def test_much_ridge_leaves_the_label_means():
    X, Y, folds = data()
    f = LinearEmbedding(alpha=1e9).fit(X, Y, folds, center=True)
    np.testing.assert_allclose(f.predict(X), np.tile(Y.mean(axis=0), (90, 1)), atol=1e-6)


def test_unscaled_ridge_is_relative_to_the_mean_variance_of_a_feature():
    X, Y, folds = data()
    X[:, 2] = 4.0  # a constant feature: its variance is 0, not 1
    f = LinearEmbedding(alpha=0.3, scale=False).fit(X, Y, folds, center=True)
    model = Ridge(alpha=0.3 * len(X) * X.var(axis=0).mean()).fit(X, Y)
    np.testing.assert_allclose(f.predict(X), model.predict(X), atol=1e-8)


def test_scaled_features_may_come_in_any_unit():
    X, Y, folds = data()
    plain = LinearEmbedding(alpha=0.1).fit(X, Y, folds, center=True)
    moved = LinearEmbedding(alpha=0.1).fit(1e3 * X - 50, Y, folds, center=True)
    np.testing.assert_allclose(moved.predict(1e3 * X - 50), plain.predict(X), atol=1e-8)


def test_the_moments_of_the_linear_map_are_those_of_its_out_of_fold_predictions():
    X, Y, folds = data()
    f = LinearEmbedding().fit(X, Y, folds, center=True)
    expected = Moments.of(f.out_of_fold, Y, center=True)
    for name in ("G", "FF", "FY", "E", "f_mean", "y_mean", "frequency"):
        np.testing.assert_allclose(getattr(f.moments, name), getattr(expected, name), atol=1e-9)


def test_statistics_are_enough():
    """Fitted from the sums of the folds, without the rows."""
    X, Y, folds = data()
    parts = [Statistics.of(X[folds[0] == k], Y[folds[0] == k]) for k in range(3)]
    from_sums = LinearEmbedding().fit_statistics(parts, center=True)
    from_rows = LinearEmbedding().fit(X, Y, folds, center=True)
    np.testing.assert_allclose(from_sums.map, from_rows.map, rtol=1e-10)
    assert from_sums.out_of_fold is None


def test_the_ridge_that_is_chosen_predicts_best_out_of_fold():
    """Best up to scale, since recovery rescales: mean squared correlation, weighted by variance."""
    for seed, noise in ((0, 0.1), (1, 2.0), (2, 10.0)):
        X, Y, folds = data(seed, n=60, D=15, noise=noise)
        quality = []
        for alpha in ALPHAS:
            F = LinearEmbedding(alpha=alpha).fit(X, Y, folds, center=True).out_of_fold
            quality.append(
                sum(np.corrcoef(F[:, j], Y[:, j])[0, 1] ** 2 * Y[:, j].var() for j in range(3))
            )
        chosen = LinearEmbedding().fit(X, Y, folds, center=True).alpha_
        assert chosen == ALPHAS[int(np.argmax(quality))]


def test_more_noise_wants_more_ridge():
    chosen = [
        LinearEmbedding().fit(*data(0, n=60, D=15, noise=noise), center=True).alpha_
        for noise in (0.1, 5.0)
    ]
    assert chosen[0] < chosen[1]


@pytest.mark.parametrize("unknown", [False, True])
def test_sparse_features_and_labels_are_dense_ones(unknown):
    X, Y, folds = data()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    if unknown:
        Y[::7, 1] = np.nan
    dense = LinearEmbedding().fit(X, Y, folds, center=True)
    for features, labels in ((sparse.csr_array(X), Y), (sparse.csr_array(X), sparse.csr_array(Y))):
        f = LinearEmbedding().fit(features, labels, folds, center=True)
        assert f.alpha_ == dense.alpha_
        np.testing.assert_allclose(f.predict(features), dense.predict(X), atol=1e-9)
        np.testing.assert_allclose(f.out_of_fold, dense.out_of_fold, atol=1e-9)


def kernel_ridge(X, Y, new, gamma, alpha):
    """Kernel ridge regression with a free intercept: the kernel is centred in feature space."""
    n = len(X)
    K, k = rbf_kernel(X, X, gamma), rbf_kernel(new, X, gamma)
    J = np.eye(n) - 1 / n
    Kc = J @ K @ J
    kc = (k - K.mean(axis=0)) @ J
    unit = np.trace(Kc) / n / n  # mean variance of the n kernel features
    dual = np.linalg.solve(Kc + alpha * unit * n * np.eye(n), Y - Y.mean(axis=0))
    return Y.mean(axis=0) + kc @ dual


@pytest.mark.parametrize("n_components", [90, 500])
def test_as_many_components_as_rows_is_kernel_ridge_regression(n_components):
    X, Y, _ = data()
    new = X[:30] + 0.3 * X.std(axis=0) * np.random.default_rng(1).normal(size=(30, 6))
    f = KernelEmbedding(gamma=0.2, alpha=3.0, n_components=n_components)
    f.fit(X, Y, None, center=True)
    scaler = StandardScaler().fit(X)
    expected = kernel_ridge(scaler.transform(X), Y, scaler.transform(new), 0.2, 3.0)
    np.testing.assert_allclose(f.predict(new), expected, atol=1e-5)
    assert expected.std() > 0.1


def test_the_width_of_the_kernel_is_the_mean_squared_distance_of_two_rows():
    X, Y, folds = data(n=40)
    for features in (X, sparse.csr_array(X)):
        f = KernelEmbedding(scale=False).fit(features, Y, folds, center=True)
        distances = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
        assert f.features.gamma == pytest.approx(1 / distances.mean())


def test_fewer_components_approximate_and_are_reproducible():
    X, Y, folds = data(n=150)
    full = KernelEmbedding(alpha=0.1).fit(X, Y, folds, center=True).predict(X)
    near = [
        KernelEmbedding(alpha=0.1 * k / 150, n_components=k, seed=1).fit(X, Y, folds, center=True)
        for k in (20, 120)
    ]
    errors = [np.mean((f.predict(X) - full) ** 2) for f in near]
    assert errors[1] < errors[0]
    assert near[0].linear.map.shape == (21, 3)
    again = KernelEmbedding(alpha=0.1 * 20 / 150, n_components=20, seed=1)
    np.testing.assert_array_equal(
        again.fit(X, Y, folds, center=True).predict(X), near[0].predict(X)
    )


def test_kernel_out_of_fold_predictions_come_from_the_other_folds():
    X, Y, folds = data()
    f = KernelEmbedding(alpha=0.1).fit(X, Y, folds, center=True)
    changed = Y.copy()
    changed[folds[0] == 0] = 1 - changed[folds[0] == 0]
    other = KernelEmbedding(alpha=0.1).fit(X, changed, folds, center=True)
    np.testing.assert_allclose(
        other.out_of_fold[folds[0] == 0], f.out_of_fold[folds[0] == 0], atol=1e-8
    )
    assert np.abs(other.out_of_fold[folds[0] == 1] - f.out_of_fold[folds[0] == 1]).max() > 0.05


@pytest.mark.parametrize(
    "regressor", [LinearRegression(), SVR(), GradientBoostingRegressor(max_depth=2)]
)
def test_any_regressor_is_fitted_per_fold_and_averaged(regressor):
    """SVR and boosting take one target at a time: one model per label."""
    X, Y, folds = data()
    f = RegressorEmbedding(regressor=regressor, seed=3).fit(X, Y, folds, center=True)
    assert len(f.models) == 3
    for k in range(3):
        rest, held = folds[0] != k, folds[0] == k
        for j in range(3):
            model = type(regressor)(**regressor.get_params())
            if "random_state" in model.get_params():
                model.set_params(random_state=3 + k)
            model.fit(X[rest], Y[rest, j])
            np.testing.assert_allclose(f.out_of_fold[held, j], model.predict(X[held]), atol=1e-8)
    mean = np.mean([f._predict_one(model, X) for model in f.models], axis=0)
    np.testing.assert_allclose(f.predict(X), mean)
    np.testing.assert_allclose(f.moments.E, np.mean((f.out_of_fold - Y) ** 2, axis=0))


def test_one_label_and_a_regressor():
    X, Y, folds = data(C=1)
    f = RegressorEmbedding(regressor=SVR()).fit(X, Y, folds, center=True)
    assert f.predict(X).shape == (90, 1)
    assert f.out_of_fold.shape == (90, 1)


def test_a_regressor_sees_the_mean_where_a_label_is_not_known():
    X, Y, _ = data()
    hidden = np.random.default_rng(0).random(Y.shape) < 0.3
    labels = np.where(hidden, np.nan, Y)
    f = RegressorEmbedding(regressor=LinearRegression()).fit(X, labels, None, center=True)
    filled = np.where(hidden, np.nanmean(labels, axis=0), Y)
    np.testing.assert_allclose(f.predict(X), LinearRegression().fit(X, filled).predict(X))


def small_network(**options):
    training = Training(learning_rate=0.01, batch_size=16, max_epochs=10, patience=3)
    return NetworkEmbedding(hidden=(8,), dropout=0.2, training=training, **options)


def test_networks_of_folds_are_averaged_and_do_not_see_their_fold():
    X, Y, folds = data()
    f = small_network(seed=1).fit(X, Y, folds, center=True)
    outputs = [forward(model, X).numpy().astype(float) for model in f.models]
    np.testing.assert_allclose(f.predict(X), np.mean(outputs, axis=0), atol=1e-6)
    for k in range(3):
        np.testing.assert_allclose(
            f.out_of_fold[folds[0] == k], outputs[k][folds[0] == k], atol=1e-6
        )
        # Features are standardised by the rows of the other folds.
        np.testing.assert_allclose(f.models[k][0].mean, X[folds[0] != k].mean(axis=0), rtol=1e-5)
    again = small_network(seed=1).fit(X, Y, folds, center=True)
    np.testing.assert_array_equal(again.predict(X), f.predict(X))


def test_cross_entropy_gives_logistic_outputs():
    X, Y, folds = data()
    f = small_network(seed=1, loss="cross-entropy").fit(X, Y, folds, center=True)
    assert all(isinstance(model, Logistic) for model in f.models)
    assert 0 < f.out_of_fold.min() < f.out_of_fold.max() < 1
    # Trained by another loss from the same start: other weights, not another reading of them.
    plain = small_network(seed=1).fit(X, Y, folds, center=True)
    for model, other in zip(f.models, plain.models, strict=True):
        assert not torch.allclose(model.logits[1][-1].weight, other[1][-1].weight, atol=1e-3)


def test_both_losses_take_turns_with_the_draws_of_the_folds():
    X, Y, folds = data()
    twice = np.vstack([folds, np.roll(folds, 1, axis=1)])
    f = small_network(seed=1, loss="turns").fit(X, Y, twice, center=True)
    assert [isinstance(model, Logistic) for model in f.models] == [True] * 3 + [False] * 3
    mixed = small_network(seed=1, loss="once").fit(X, Y, twice, center=True)
    assert not any(isinstance(model, Logistic) for model in mixed.models)
    alone = small_network(seed=1, loss="once").fit(X, Y, folds, center=True)
    assert all(isinstance(model, Logistic) for model in alone.models)
    once = small_network(seed=1, loss="cross-entropy").fit(X, Y, folds, center=True)
    for model, other in zip(f.models[:3], once.models, strict=True):
        np.testing.assert_array_equal(forward(model, X), forward(other, X))


def test_a_warm_start_continues_behind_the_logistic_function():
    X, Y, folds = data()
    first = small_network(seed=1, loss="cross-entropy").fit(X, Y, folds, center=True)
    again = small_network(seed=1, loss="cross-entropy", previous=first.models)
    again.training = Training(learning_rate=0.0, weight_decay=0.0, max_epochs=1, averaging=0.0)
    again.fit(X, Y, folds, center=True)
    np.testing.assert_allclose(again.predict(X), first.predict(X), atol=1e-6)


def test_folds_drawn_twice_are_all_used_by_networks_only():
    X, Y, folds = data()
    twice = np.vstack([folds, np.roll(folds, 1, axis=1)])
    f = small_network(seed=1).fit(X, Y, twice, center=True)
    outputs = np.stack([forward(model, X).numpy().astype(float) for model in f.models])
    assert len(outputs) == 6
    np.testing.assert_allclose(f.predict(X), outputs.mean(axis=0), atol=1e-6)
    for row in range(0, 90, 7):
        of_row = [outputs[twice[0, row], row], outputs[3 + twice[1, row], row]]
        np.testing.assert_allclose(f.out_of_fold[row], np.mean(of_row, axis=0), atol=1e-6)
    for make in (LinearEmbedding, lambda: RegressorEmbedding(regressor=LinearRegression())):
        once = make().fit(X, Y, folds, center=True)
        again = make().fit(X, Y, twice, center=True)
        np.testing.assert_array_equal(again.out_of_fold, once.out_of_fold)


def test_jobs_do_not_change_the_result():
    X, Y, folds = data(n=40)
    one = small_network(seed=1).fit(X, Y, folds, center=True)
    with parallel_config("threading"):  # the hard case: threads share torch's random state
        two = small_network(seed=1, n_jobs=3).fit(X, Y, folds, center=True)
    np.testing.assert_array_equal(one.out_of_fold, two.out_of_fold)


def test_a_module_of_one_s_own_is_copied_not_trained():
    X, Y, folds = data()
    module = nn.Linear(6, 3)
    before = module.weight.detach().clone()
    f = small_network(module=module, seed=1).fit(X, Y, folds, center=True)
    assert torch.equal(module.weight, before)
    assert all(isinstance(model, nn.Linear) for model in f.models)
    assert not torch.equal(f.models[0].weight, before)


class Fixed(RegressorEmbedding):
    """An embedding whose out-of-fold predictions are given."""

    def __init__(self, predictions):
        super().__init__()
        self.given = predictions

    def fit(self, X, Y, folds, center):
        self.out_of_fold = self.given
        self.moments = Moments.of(self.given, Y, center)
        return self

    def predict(self, X):
        return self.given if self.columns is None else self.given[:, self.columns]


def blend_of(*predictions, Y, shrinkage=0.1):
    blend = BlendEmbedding(members=[Fixed(part) for part in predictions], shrinkage=shrinkage)
    return blend.fit(np.zeros((len(Y), 1)), Y, np.arange(len(Y))[None] % 2, center=True)


@given(seed=st.integers(0, 2**32 - 1), M=st.integers(1, 4), unknown=st.booleans())
@settings(max_examples=30, deadline=None)
def test_weights_are_shares(seed, M, unknown):
    rng = np.random.default_rng(seed)
    Y = (rng.random((60, 4)) < 0.4).astype(float)
    parts = [rng.normal() * Y + rng.normal(size=Y.shape) for _ in range(M)]
    Y[:, 3] = 0.0  # nothing to learn from
    if unknown:
        Y[rng.random(Y.shape) < 0.3] = np.nan
        Y[:, 2] = np.nan
    blend = blend_of(*parts, Y=Y)
    assert blend.weights.shape == (M, 4)
    assert (blend.weights >= 0).all()
    np.testing.assert_allclose(blend.weights.sum(axis=0), 1)
    np.testing.assert_allclose(blend.weights[:, 3], 1 / M)
    mixed = sum(weights * part for weights, part in zip(blend.weights, parts))
    np.testing.assert_allclose(blend.out_of_fold, mixed)
    np.testing.assert_allclose(blend.predict(None), mixed)


def test_learned_weights_are_better_than_the_mean_and_the_useless_get_little():
    rng = np.random.default_rng(1)
    Y = (rng.random((300, 3)) < 0.4).astype(float)
    good = Y + 0.3 * rng.normal(size=Y.shape)
    fair = Y + 0.5 * rng.normal(size=Y.shape)
    useless = rng.normal(size=Y.shape)
    parts = [good, fair, useless]
    blend = blend_of(*parts, Y=Y)

    def error(F):
        return np.mean((F - Y) ** 2, axis=0)

    assert (error(blend.out_of_fold) < error(np.mean(parts, axis=0))).all()
    assert (error(blend.out_of_fold) < error(good)).all()  # different errors cancel
    assert (blend.weights[0] > blend.weights[1]).all()
    assert (blend.weights[2] < 0.1).all()
    np.testing.assert_allclose(blend.moments.E, error(blend.out_of_fold))


def test_each_label_has_its_own_weights():
    rng = np.random.default_rng(2)
    Y = (rng.random((300, 2)) < 0.4).astype(float)
    first, second = Y + rng.normal(size=Y.shape), Y + rng.normal(size=Y.shape)
    first[:, 0], second[:, 1] = Y[:, 0], Y[:, 1]
    weights = blend_of(first, second, Y=Y).weights
    assert weights[0, 0] > 0.8
    assert weights[1, 1] > 0.8


def test_shrinkage_pulls_the_weights_to_the_mean():
    rng = np.random.default_rng(3)
    Y = (rng.random((100, 1)) < 0.4).astype(float)
    parts = [Y + 0.2 * rng.normal(size=Y.shape), Y + rng.normal(size=Y.shape)]
    shares = [blend_of(*parts, Y=Y, shrinkage=s).weights[0, 0] for s in (0.0, 1.0, 1e6)]
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] == pytest.approx(0.5, abs=1e-4)
    # Without shrinkage the shares are those of least squares, found on a grid.
    grid = np.linspace(0, 1, 1001)
    errors = [np.mean((w * parts[0] + (1 - w) * parts[1] - Y) ** 2) for w in grid]
    assert shares[0] == pytest.approx(grid[np.argmin(errors)], abs=0.05)


def test_a_blend_without_folds_says_what_to_do():
    X, Y, _ = data()
    with pytest.raises(ValueError, match="at least 2 folds"):
        BlendEmbedding(members=[LinearEmbedding()]).fit(X, Y, None, center=True)


@pytest.mark.parametrize(
    "make",
    [
        LinearEmbedding,
        KernelEmbedding,
        small_network,
        lambda: RegressorEmbedding(regressor=ExtraTreesRegressor(n_estimators=5)),
        lambda: BlendEmbedding(members=[LinearEmbedding(), KernelEmbedding()]),
    ],
)
def test_kept_labels_are_predicted_in_the_order_asked_for(make):
    X, Y, folds = data(C=4)
    f = make().fit(X, Y, folds, center=True)
    everything = f.predict(X)
    f.keep(np.array([2, 0]))
    np.testing.assert_allclose(f.predict(X), everything[:, [2, 0]], atol=1e-12)


@pytest.mark.parametrize(
    "make", [LinearEmbedding, KernelEmbedding, small_network,
             lambda: RegressorEmbedding(regressor=LinearRegression())],
)  # fmt: skip
def test_what_the_caller_gave_is_left_alone(make):
    X, Y, folds = data()
    Y[3, 1] = np.nan
    copies = X.copy(), Y.copy(), folds.copy()
    make().fit(X, Y, folds, center=True)
    for given_array, copied in zip((X, Y, folds), copies):
        np.testing.assert_array_equal(given_array, copied)
