"""What answers say about open labels: the mathematics of ``complete`` and ``ask``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from landmark_problems import NAMES, make_problem
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone

from splmll import SPLMLL
from splmll.landmarks.answering import AnswerModel
from splmll.landmarks.asking import best_questions, weighted_errors
from splmll.landmarks.belief import (
    Belief,
    LabelCorrelations,
    latent_correlations,
    nearest_correlations,
)
from splmll.landmarks.calibration_curve import CalibrationCurve
from splmll.persistence import load, save
from splmll.thresholds import fit_threshold

seeds = st.integers(0, 2**32 - 1)


def correlations(seed: int, C: int = 4) -> LabelCorrelations:
    factors = np.random.default_rng(seed).normal(size=(C, 3))
    covariance = factors @ factors.T + 0.5 * np.eye(C)
    scale = np.sqrt(np.diag(covariance))
    return LabelCorrelations(np.arange(C), covariance / np.outer(scale, scale), C)


def chance_of(signs: np.ndarray, mean: np.ndarray, matrix: np.ndarray) -> float:
    """How likely normal variables have these signs, by numerical integration."""
    turned = signs * mean, np.outer(signs, signs) * matrix
    return float(multivariate_normal(-turned[0], turned[1]).cdf(np.zeros(len(mean))))


# Correlations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "correlation"),
    [(0.1, 0.3, 0.4), (0.1, 0.3, -0.4), (0.02, 0.02, 0.5), (0.5, 0.5, 0.5)],
)
def test_correlations_behind_rare_and_frequent_labels(
    first: float, second: float, correlation: float
) -> None:
    """Rows in the proportions of a bivariate normal distribution, so that no chance is left."""
    cuts = norm.ppf([first, second])
    both = multivariate_normal(cov=[[1, correlation], [correlation, 1]]).cdf(cuts)
    shares = np.array([both, first - both, second - both, 1 - first - second + both])
    Y = np.repeat([[1.0, 1], [1, 0], [0, 1], [0, 0]], np.round(2e5 * shares).astype(int), axis=0)
    found = latent_correlations(np.tile([first, second], (len(Y), 1)), Y)
    assert found[0, 1] == pytest.approx(correlation, abs=0.005)


# One answer, several answers -------------------------------------------------------------------


@given(seed=seeds, answer=st.integers(0, 1))
@settings(max_examples=30, deadline=None)
def test_after_one_answer_means_are_the_gaussian_conditional(seed: int, answer: int) -> None:
    matrix = correlations(seed)
    P = np.random.default_rng(seed).uniform(0.05, 0.95, (1, 4))
    belief = Belief(P, matrix)
    belief.tell(np.array([0]), np.array([1]), np.array([float(answer)]))
    # E[z_u | sign of z_1] = m_u + r_u1 (E[z_1 | sign] - m_1), exactly.
    m = norm.ppf(P[0])
    side = 1 if answer else -1
    own = m[1] + side * norm.pdf(m[1]) / norm.cdf(side * m[1])
    expected = m + matrix.matrix[:, 1] * (own - m[1])
    assert_allclose(belief.mean[0], expected, atol=1e-9)
    # Probabilities are close to those of the bivariate normal distribution.
    for u in (0, 2, 3):
        pair = matrix.matrix[np.ix_([u, 1], [u, 1])]
        both = chance_of(np.array([1, side]), m[[u, 1]], pair)
        assert belief.probabilities()[0, u] == pytest.approx(both / norm.cdf(side * m[1]), abs=0.03)


def test_several_answers_are_close_to_the_exact_posterior() -> None:
    errors, moved = [], []
    for seed in range(12):
        matrix = correlations(seed)
        rng = np.random.default_rng(seed)
        P, answers = rng.uniform(0.1, 0.9, (1, 4)), np.full((1, 4), np.nan)
        answers[0, :3] = rng.integers(0, 2, 3)
        belief = Belief(P, matrix)
        belief.take_in(answers)
        m, side = norm.ppf(P[0]), np.where(answers[0, :3] == 1, 1, -1)
        given_these = chance_of(side, m[:3], matrix.matrix[:3, :3])
        exact = chance_of(np.append(side, 1), m, matrix.matrix) / given_these
        errors.append(abs(belief.probabilities()[0, 3] - exact))
        moved.append(abs(P[0, 3] - exact))
    assert np.mean(errors) < 0.25 * np.mean(moved)
    assert max(errors) < 0.12


@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_rows_do_not_know_of_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, matrix = rng.uniform(0.02, 0.98, (6, 4)), correlations(seed)
    answers = rng.integers(0, 2, (6, 4)).astype(float)
    answers[rng.random((6, 4)) < 0.5] = np.nan
    together = Belief(P, matrix)
    together.take_in(answers)
    for row in range(6):
        alone = Belief(P[[row]], matrix)
        alone.take_in(answers[[row]])
        assert_allclose(together.probabilities()[row], alone.probabilities()[0], atol=1e-12)
    answered = ~np.isnan(answers)
    assert_array_equal(together.probabilities()[answered], answers[answered])
    nothing = ~answered.any(axis=1)
    assert_allclose(together.probabilities()[nothing], P[nothing], atol=1e-9)


def test_labels_without_correlations_stand_for_themselves() -> None:
    some = LabelCorrelations(np.array([1, 3]), np.array([[1, 0.9], [0.9, 1]]), 5)
    belief = Belief(np.full((2, 5), 0.3), some)
    belief.tell(np.array([0, 1]), np.array([3, 2]), np.ones(2))
    assert belief.probabilities()[0, 1] > 0.7
    changed = np.abs(belief.probabilities() - 0.3) > 1e-9
    assert_array_equal(np.argwhere(changed), [[0, 1], [0, 3], [1, 2]])


def test_correlations_are_found_again_whatever_the_features_say() -> None:
    rng = np.random.default_rng(0)
    true = np.array([[1, 0.7, -0.4], [0.7, 1, 0], [-0.4, 0, 1]])
    mean = rng.normal(-0.5, 0.8, (8000, 3))
    Y = (mean + rng.multivariate_normal(np.zeros(3), true, 8000) > 0) * 1.0
    P = norm.cdf(mean)
    assert_allclose(latent_correlations(P, Y), true, atol=0.07)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    assert_allclose(latent_correlations(P, Y), true, atol=0.1)


def test_correlations_that_do_not_fit_together_are_made_to() -> None:
    impossible = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    found = nearest_correlations(impossible.copy())
    assert np.linalg.eigvalsh(found)[0] > 0
    assert_allclose(np.diag(found), 1)
    fine = correlations(3).matrix
    assert_allclose(nearest_correlations(fine.copy()), fine)


# From scores to probabilities and back ---------------------------------------------------------


def test_the_curve_finds_probabilities_and_goes_back() -> None:
    rng = np.random.default_rng(0)
    scores = rng.uniform(-1, 2, (4000, 3))
    true = 1 / (1 + np.exp(-(3 * scores - 1 + np.array([-1, 0, 1]))))
    curve = CalibrationCurve.learned(scores, (rng.random(scores.shape) < true) * 1.0)
    P = curve.probabilities(scores)
    assert np.abs(P - true).mean() < 0.03
    target = rng.uniform(0.01, 0.99, scores.shape)
    moved = curve.moved(scores, P, target)
    assert_allclose(curve.probabilities(moved), target, atol=1e-6)
    assert_allclose(curve.moved(scores, P, P), scores, atol=1e-12)


# Which label to ask about ----------------------------------------------------------------------


@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_the_question_is_the_best_by_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, cut = correlations(seed, 5), rng.uniform(0.2, 0.6)
    P, first = rng.uniform(0.02, 0.98, (1, 5)), int(rng.integers(5))
    told = np.full((1, 5), np.nan)
    told[0, first] = 1.0
    belief = Belief(P, matrix)
    belief.take_in(told)
    found = best_questions(belief, np.array([cut]), "expected errors")[0]
    left = np.full(5, np.inf)
    for j in set(range(5)) - {first}:
        left[j] = 0
        for answer in (0.0, 1.0):
            then = Belief(P, matrix)
            then.take_in(told)
            chance = then.probabilities()[0, j]
            then.tell(np.array([0]), np.array([j]), np.array([answer]))
            errors = weighted_errors(then.probabilities(), np.array(cut))[then.open].sum()
            left[j] += (chance if answer else 1 - chance) * errors
    assert left[found] <= left.min() + 1e-6


def test_an_answer_that_settles_many_labels_is_asked_for_first() -> None:
    # A hub that four labels follow, and a more uncertain label that nothing follows.
    matrix = np.eye(6)
    matrix[0, 1:5] = matrix[1:5, 0] = 0.9
    matrix[1:5, 1:5] = 0.82
    np.fill_diagonal(matrix, 1.0)
    belief = Belief(
        np.array([[0.4, 0.4, 0.4, 0.4, 0.4, 0.5]]), LabelCorrelations(np.arange(6), matrix, 6)
    )
    cut = np.array([0.5])
    assert best_questions(belief, cut, "expected errors")[0] == 0
    assert best_questions(belief, cut, "most uncertain")[0] == 5


def two_pairs(n_rows: int, second_pair: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels: an unsure pair that goes together, and a surer one that may not."""
    rng = np.random.default_rng(seed)
    scores = rng.normal([0.0, 0.0, -1.0, -1.0], 0.1, (n_rows, 4))
    matrix = np.eye(4)
    matrix[[0, 1, 2, 3], [1, 0, 3, 2]] = [0.8, 0.8, second_pair, second_pair]
    return scores, (scores + rng.multivariate_normal(np.zeros(4), matrix, n_rows) > 0) * 1.0


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 3, 0, 1), (3, 1, 2, 0)])
def test_what_is_least_sure_is_told_first_when_correlations_are_judged(
    order: tuple[int, ...],
) -> None:
    """Of the rows that judge, the surer pair contradicts the correlations that the others found.

    Whoever asks about it first would believe in no correlations at all. Asking about what is least
    sure finds the other pair, wherever its columns stand.
    """
    judging, others = two_pairs(300, -0.8, 0), two_pairs(300, 0.8, 1)
    scores, Y = (np.vstack(both)[:, order] for both in zip(judging, others, strict=True))
    fold = np.repeat([0, 1], 300)
    threshold = fit_threshold("hamming", Y, scores)
    model = AnswerModel.learned(scores, Y, fold, np.arange(2), "hamming", threshold, 1.0)
    first, second = order.index(0), order.index(1)
    assert model.correlations.matrix[first, second] > 0.7


def test_what_correlations_make_likelier_in_vain_counts_against_them() -> None:
    """Among the rows that judge, one label always holds and tells nothing of the other.

    Correlations that the other rows found would raise the other with it: right for the few rows
    that have it, wrong for the many that do not.
    """
    rng = np.random.default_rng(0)
    scores = rng.normal([0.0, -0.5], 0.1, (600, 2))
    matrix = [[1.0, 0.9], [0.9, 1.0]]
    Y = (scores + rng.multivariate_normal([-1.2, 0.0], matrix, 600) > 0) * 1.0
    Y[:300] = np.column_stack([np.ones(300), scores[:300, 1] + rng.normal(size=300) > 0])
    fold = np.repeat([0, 1], 300)
    threshold = fit_threshold("hamming", Y, scores)
    model = AnswerModel.learned(scores, Y, fold, np.arange(1), "hamming", threshold, 1.0)
    assert len(model.correlations.labels) == 0


# The estimator ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> SPLMLL:
    X, Y = make_problem(500)
    return SPLMLL("linear", n_landmarks=5, random_state=0).fit(X, pd.DataFrame(Y, columns=NAMES))


def test_without_answers_it_is_the_prediction(model: SPLMLL) -> None:
    X, _ = make_problem(100, seed=1)
    nothing = np.full((100, 8), np.nan)
    assert_array_equal(model.complete(X, nothing), model.predict(X))
    assert_allclose(model.complete(X, nothing, return_scores=True), model.predict_proba(X))
    assert_array_equal(model.complete(X, pd.DataFrame(index=range(100))), model.predict(X))


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_answers_are_never_changed(model: SPLMLL, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, _ = make_problem(30, seed=2)
    answers = rng.integers(0, 2, (30, 8)).astype(float)  # unlikely combinations as well
    answers[rng.random(answers.shape) < rng.random()] = np.nan
    before = answers.copy()
    completed = model.complete(X, answers).to_numpy()
    given_ = ~np.isnan(answers)
    assert_array_equal(completed[given_], answers[given_])
    assert_array_equal(answers, before)
    values = model.complete(X, answers, return_scores=True)
    assert_array_equal(values >= 0.5, completed == 1)


def test_answers_by_name_in_any_order(model: SPLMLL) -> None:
    X, Y = make_problem(40, seed=3)
    frame = pd.DataFrame(Y, columns=NAMES, index=[f"row {k}" for k in range(40)])
    whole = np.full((40, 8), np.nan)
    whole[:, [0, 5]] = Y[:, [0, 5]]
    found = model.complete(X, frame[["fern", "amber"]])
    assert_array_equal(found.to_numpy(), model.complete(X, whole).to_numpy())
    assert list(found.columns) == NAMES
    assert list(found.index) == list(frame.index)
    with pytest.raises(ValueError, match=r"no label 'oak'.*such as 'amber'"):
        model.complete(X, frame[["fern"]].assign(oak=1))
    with pytest.raises(ValueError, match=r"answers for 3 labels, but the model has 8.*NaN"):
        model.complete(X, Y[:, :3])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.complete(X, Y[:5])


def test_answers_help_labels_that_nobody_was_asked_about(model: SPLMLL) -> None:
    X, Y = make_problem(600, seed=4)
    answers = np.full(Y.shape, np.nan)
    answers[:, :3] = Y[:, :3]  # what the four followers follow from
    wrong_before = (model.predict(X).to_numpy() != Y)[:, 3:7].mean()
    wrong_after = (model.complete(X, answers).to_numpy() != Y)[:, 3:7].mean()
    assert wrong_after < 0.75 * wrong_before


def test_questions_come_by_name_and_stop(model: SPLMLL) -> None:
    X, Y = make_problem(60, seed=5)
    questions = model.ask(X)
    assert questions.labels.shape == (60, 1)
    assert set(questions.labels.ravel()) <= set(NAMES)
    assert list(questions.to_frame().columns) == ["question", "expected_errors"]
    limit = float(np.median(questions.expected_errors))
    stopped = model.ask(X, enough=limit)
    assert_array_equal(stopped.labels[:, 0] == None, questions.expected_errors < limit)  # noqa: E711
    three = model.ask(X, n=3).labels
    assert all(len(set(row)) == 3 for row in three)
    assert_array_equal(three[:, 0], questions.labels[:, 0])
    known = Y.astype(float)
    known[:, 6] = np.nan
    assert set(model.ask(X, known, n=2).labels[:, 0]) == {"grove"}
    assert set(model.ask(X, known, n=2).labels[:, 1]) == {None}
    with pytest.raises(ValueError, match="at least one"):
        model.ask(X, n=0)


def test_expected_errors_come_true(model: SPLMLL) -> None:
    X, Y = make_problem(2000, seed=6)
    answers = np.full(Y.shape, np.nan)
    for _ in range(3):
        expected = model.ask(X, answers).expected_errors
        wrong = (model.complete(X, answers).to_numpy() != Y).sum(axis=1)
        assert expected.mean() == pytest.approx(wrong.mean(), rel=0.3)
        sure = expected < np.median(expected)
        assert wrong[sure].mean() < wrong[~sure].mean()
        labels = [NAMES.index(name) for name in model.ask(X, answers).labels[:, 0]]
        answers[np.arange(len(Y)), labels] = Y[np.arange(len(Y)), labels]


def test_strangers_tell_nothing_of_each_other() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    Y = (X + rng.normal(size=(600, 5)) > 0).astype(int)
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    answers = np.full((200, 5), np.nan)
    answers[:, 0] = 1 - Y[:200, 0]  # whatever is answered
    before, after = model.predict(X[:200]), model.complete(X[:200], answers)
    assert (before[:, 1:] != after[:, 1:]).mean() < 0.06


@pytest.mark.parametrize("rule", ["hamming", "per_label", "top_r", "linear", 0.4])
def test_every_threshold_rule_completes(rule: str | float) -> None:
    X, Y = make_problem(300)
    model = SPLMLL("linear", threshold=rule, random_state=0).fit(X, Y)
    answers = np.full(Y.shape, np.nan)
    answers[:, 2] = Y[:, 2]
    completed = model.complete(X, answers)
    assert_array_equal(completed[:, 2], Y[:, 2])
    assert model.ask(X, answers).labels.shape == (300, 1)


@pytest.mark.parametrize("form", ["sparse", "one label", "constant", "few rows", "unknown"])
def test_odd_labels(form: str) -> None:
    X, Y = make_problem(200)
    given_: object = Y
    if form == "sparse":
        given_ = sparse.csr_array(Y)
    elif form == "one label":
        given_ = Y[:, :1]
    elif form == "constant":
        Y[:, 3], Y[:, 5] = 0, 1
    elif form == "few rows":
        X, given_ = X[:20], Y[:20]
    else:
        given_ = np.where(np.random.default_rng(0).random(Y.shape) < 0.3, np.nan, Y)
    model = SPLMLL("linear", random_state=0).fit(X, given_)
    n_labels = model.label_format_.n_labels
    answers = np.full((len(X), n_labels), np.nan)
    answers[::2, 0] = Y[: len(X) : 2, 0]
    completed = model.complete(X, answers)
    assert sparse.issparse(completed) == (form == "sparse")
    assert completed.shape == (len(X), n_labels)
    assert model.ask(X, answers).expected_errors.min() >= 0


def test_a_saved_model_answers_the_same(model: SPLMLL, tmp_path) -> None:
    X, Y = make_problem(50, seed=7)
    answers = np.where(np.arange(8) < 2, Y, np.nan)
    save(model, tmp_path / "model.zip")
    again = load(tmp_path / "model.zip")
    assert_array_equal(again.complete(X, answers), model.complete(X, answers))
    assert_array_equal(again.ask(X, answers).labels, model.ask(X, answers).labels)


def test_models_that_kept_nothing_for_answers_take_them_as_they_are(model: SPLMLL) -> None:
    old = clone(model)
    vars(old).update({k: v for k, v in vars(model).items() if k != "answer_model_"})
    X, Y = make_problem(50, seed=8)
    answers = np.where(np.arange(8) < 2, 1.0 - Y, np.nan)
    expected = model.predict(X).to_numpy().copy()
    expected[:, :2] = answers[:, :2]
    assert_array_equal(old.complete(X, answers), expected)
    assert set(old.ask(X, answers).labels.ravel()) <= set(NAMES[2:])


def test_very_many_labels_keep_correlations_of_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splmll.landmarks.answering.MOST_LABELS", 3)
    X, Y = make_problem(300)
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    assert model.answer_model_.correlations.matrix.shape in ((3, 3), (0, 0))
    answers = np.full(Y.shape, np.nan)
    for label in range(8):
        answers[:, label] = Y[:, label]
        assert_array_equal(model.complete(X, answers)[:, label], Y[:, label])
