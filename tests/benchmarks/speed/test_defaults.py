"""Default trainings beside peers, on few rows: their error, and how often they factorize the covariance of all rows."""

import pytest

from benchmarks.speed.defaults import AUTOMATIC, DEFAULTS, DRAWN_TABLES, SPECTRA
from benchmarks.speed.racing import Race
from relevance_bayes.core.inference.exact_process import ExactProcess
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters

ROWS = 150


def error(race: Race, name: str, rows: int) -> float:
    split = race.split(rows, 0)
    return race.error(race.entrant(name).learn(split).predict(split.X_test), split.t_test)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("race", "rows", "bound"), [(DEFAULTS, ROWS, 1.1), (DRAWN_TABLES, SPECTRA, 1.3)], ids=["Friedman 1", "100 inputs"]
)
def test_defaults_err_about_as_an_exact_process_and_less_than_trees(race: Race, rows: int, bound: float) -> None:
    ours = error(race, AUTOMATIC.name, rows)
    assert ours <= bound * error(race, "GP", rows)
    assert ours < error(race, "boosted trees, searched", rows)


def test_a_default_training_factorizes_as_many_rows_as_two_hundred_covariances_of_all_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original, work = ExactProcess.of, 0.0

    def counted(rows: ProcessRows, kernel: Covariance, h: Hyperparameters, *, with_slopes: bool = True) -> ExactProcess:
        nonlocal work
        work += (len(rows.t) / ROWS) ** 3
        return original(rows, kernel, h, with_slopes=with_slopes)

    monkeypatch.setattr(ExactProcess, "of", counted)
    AUTOMATIC.learn(DEFAULTS.split(ROWS, 0))
    assert 50.0 < work <= 200.0
