"""Progress and monitoring through scikit-learn's callbacks, where it has them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from landmark_problems import make_problem, quick_network
from numpy.testing import assert_array_equal
from sklearn.base import clone

from splmll import SPLMLL
from splmll.embeddings import Trees

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")


def network_model(max_epochs: int = 4, **settings: Any) -> SPLMLL:
    embedding = quick_network(max_epochs=max_epochs)
    return SPLMLL(embedding, **{"cv": 2, "random_state": 0, **settings})


class Recorder:
    """Writes down every task, and asks for a stop after some epochs."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.states: list[Any] = []
        self.set_up = self.torn_down = 0
        self.stop_after = stop_after

    def setup(self, estimator: Any, context: Any) -> None:
        self.set_up += 1

    def teardown(self, estimator: Any, context: Any) -> None:
        self.torn_down += 1

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.begun.append(context.task_name)

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, fitted_estimator: Any = None
    ) -> bool:
        self.ended.append(context.task_name)
        if context.task_name == "epoch":
            self.states.append(fitted_estimator)
        return (
            self.stop_after is not None
            and context.task_name == "epoch"
            and context.task_id + 1 >= self.stop_after
        )


def test_folds_and_epochs_are_reported() -> None:
    X, Y = make_problem(80)
    recorder = Recorder()
    network_model().set_callbacks(recorder).fit(X, Y)
    epochs = ["epoch"] * 4
    assert recorder.begun == ["fit", "fold 0", *epochs, "fold 1", *epochs]
    assert recorder.ended == [*epochs, "fold 0", *epochs, "fold 1", "fit"]
    assert (recorder.set_up, recorder.torn_down) == (1, 1)


def test_a_monitor_sees_models_that_predict() -> None:
    X, Y = make_problem(80)
    recorder = Recorder()
    model = network_model().set_callbacks(recorder).fit(X, Y)
    scores = [state.decision_function(X) for state in recorder.states]
    assert all(s.shape == Y.shape for s in scores)
    # Each state is that epoch's network, not a view of the last one.
    assert np.abs(scores[0] - scores[3]).max() > 1e-3
    assert all(np.isin(state.predict(X), (0, 1)).all() for state in recorder.states)
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize("stop_after", [1, 3])
def test_a_callback_can_stop_training(stop_after: int) -> None:
    X, Y = make_problem(80)
    recorder = Recorder(stop_after=stop_after)
    model = network_model().set_callbacks(recorder).fit(X, Y)
    assert recorder.ended.count("epoch") == 2 * stop_after
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("embedding", "epochs"),
    [
        ("linear", 0),
        ("svm", 0),
        ("kernel", 0),
        (Trees(n_estimators=3), 0),
        ([quick_network(max_epochs=4), "linear"], 8),
    ],
    ids=["linear", "svm", "kernel", "trees", "blend"],
)
def test_every_embedding_may_have_callbacks(embedding: Any, epochs: int) -> None:
    X, Y = make_problem(60)
    recorder = Recorder()
    SPLMLL(embedding, cv=2, random_state=0).set_callbacks(recorder).fit(X, Y)
    assert recorder.begun[0] == recorder.ended[-1] == "fit"
    assert recorder.ended.count("epoch") == epochs


def test_callbacks_do_not_change_the_result() -> None:
    X, Y = make_problem(80)
    plain = network_model().fit(X, Y)
    watched = network_model(n_jobs=2).set_callbacks(Recorder()).fit(X, Y)
    assert_array_equal(plain.decision_function(X), watched.decision_function(X))


def test_teardown_after_an_error() -> None:
    X, Y = make_problem(60)
    recorder = Recorder()
    model = SPLMLL(quick_network(learning_rate=1e30), cv=2).set_callbacks(recorder)
    with pytest.raises(FloatingPointError):
        model.fit(X, Y)
    assert (recorder.set_up, recorder.torn_down) == (1, 1)


def test_a_watched_model_can_be_pickled_and_cloned() -> None:
    X, Y = make_problem(80)
    model = network_model().set_callbacks(Recorder()).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    clone(model).fit(X, Y)


@pytest.mark.parametrize("one_label", [False, True], ids=["matrix", "vector"])
def test_the_scoring_monitor_records_every_epoch(one_label: bool) -> None:
    X, Y = make_problem(120)
    y = Y[:, 0] if one_label else Y
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = network_model(max_epochs=12).set_callbacks(monitor).fit(X, y)
    table = monitor.get_logs(select="most_recent").data_as_pandas
    epochs = table[table["task_name"] == "epoch"]
    assert len(epochs) == 24
    scores = epochs["accuracy"].to_numpy()
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[11] > scores[0]
    final = table[table["task_name"] == "fit"]
    assert final["accuracy"].iloc[-1] == pytest.approx(model.score(X, y))


def test_the_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    X, Y = make_problem(60)
    network_model().set_callbacks(callback.ProgressBar()).fit(X, Y)
    shown = capsys.readouterr()
    assert "SPLMLL" in shown.out + shown.err


def test_fitting_is_silent_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    X, Y = make_problem(60)
    for model in (
        network_model(),
        SPLMLL("linear"),
        SPLMLL("kernel"),
        SPLMLL("svm"),
        SPLMLL([quick_network(max_epochs=2), "kernel"], cv=2),
    ):
        model.fit(X, Y).predict(X)
    SPLMLL("linear").landmark_path(X, Y, counts=[2])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == ""
