"""Trees: one forest per fold, averaged."""

from __future__ import annotations

import numpy as np
from embedding_problems import data
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor

from splmll.embeddings import FitContext, Trees


def test_one_forest_for_each_fold_and_their_mean() -> None:
    X, Y, fold = data()
    f = Trees(n_estimators=5, min_samples_leaf=3).fit(X, Y, fold, FitContext(seed=7))
    forests = [
        ExtraTreesRegressor(5, min_samples_leaf=3, max_features="sqrt", random_state=7 + k).fit(
            X[fold != k], Y[fold != k]
        )
        for k in range(3)
    ]
    for k, forest in enumerate(forests):
        assert_allclose(f.out_of_fold_[fold == k], forest.predict(X[fold == k]))
    f.finish(X, Y, np.array([1]))
    mean = np.mean([forest.predict(X)[:, 1] for forest in forests], axis=0)
    assert_allclose(f.predict(X)[:, 0], mean)


def test_where_a_label_is_unknown_its_mean_says_nothing_either_way() -> None:
    X, Y, fold = data()
    hidden = np.random.default_rng(0).random(90) < 0.3
    partly = np.where(hidden[:, None], np.nan, Y)
    filled = Y.copy()
    for k in range(3):
        rest = fold != k
        filled[:] = np.where(hidden[:, None], np.nanmean(partly[rest], axis=0), Y)
        forest = ExtraTreesRegressor(
            5, min_samples_leaf=2, max_features="sqrt", random_state=k
        ).fit(X[rest], filled[rest])
        found = Trees(n_estimators=5).fit(X, partly, fold).out_of_fold_[fold == k]
        assert_allclose(found, forest.predict(X[fold == k]))


def test_sparse_features() -> None:
    X, Y, fold = data()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = Trees(n_estimators=5).fit(X, Y, fold).out_of_fold_
    assert_allclose(Trees(n_estimators=5).fit(sparse.csr_array(X), Y, fold).out_of_fold_, dense)
