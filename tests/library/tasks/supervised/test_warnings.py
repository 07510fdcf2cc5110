from pathlib import Path

import numpy as np
import pytest

from relevance_bayes.core.basis import ConstantFunction
from relevance_bayes.core.integrated import LogEvidence
from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood, StudentT
from relevance_bayes.core.model import Model
from relevance_bayes.core.types import Array
from relevance_bayes.tables.encoding import EncodedNumber, EncodedTarget, Encoding
from relevance_bayes.tasks.supervised.materialise import Materialised
from relevance_bayes.tasks.supervised.warnings import outliers
from relevance_bayes.types.reports import Outlier

ENCODING = Encoding(
    (EncodedNumber("x", "number", 0.0, 1.0, None, False),), EncodedTarget("y", "number", 50.0, 10.0, ())
)
DOF, NOISE_SD, MEAN, VARIANCE = 4.0, 0.5, 2.0, 0.01
FIRST_ROW = 1000.0


def constant(likelihood: Likelihood) -> Model:
    """A model that expects MEAN everywhere, up to VARIANCE."""
    one = np.ones(1)
    return Model(
        likelihood=likelihood,
        functions=(ConstantFunction(),),
        mean=MEAN * one,
        covariance=VARIANCE * np.eye(1),
        alpha=one,
        gamma=one,
        noise_sd=NOISE_SD,
        evidence=LogEvidence(0.0, "exact"),
        inputs=1,
        rows=10,
        candidates=1,
        termination="converged",
    )


def written(path: Path, t: Array, held_out: int = 0) -> Materialised:
    """A file of rows with these targets, whose dataset rows are numbered backwards from FIRST_ROW."""
    rows = np.zeros((len(t), 5))
    rows[:, 1], rows[:, 4] = t, FIRST_ROW - np.arange(len(t))
    (path / "rows.f64").write_bytes(rows.tobytes())
    return Materialised(path / "rows.f64", ENCODING, len(t) - held_out, held_out, 0, 1)


def typicality(t: float) -> float:
    """E tau of the definition: (dof + 1)/(dof + beta E r^2), beta = dof/(dof - 2)/noise_sd^2."""
    beta = DOF / (DOF - 2.0) / NOISE_SD**2
    return (DOF + 1.0) / (DOF + beta * ((t - MEAN) ** 2 + VARIANCE))


def test_rows_that_count_less_than_a_quarter_are_outliers_by_their_dataset_numbers(tmp_path: Path) -> None:
    t = np.full(30, MEAN)
    t[[3, 17, 20, 25]] = 5.0, -7.0, 3.0, 12.0
    found = outliers(constant(StudentT(DOF)), written(tmp_path, t))
    assert [outlier.row for outlier in found] == [975, 983, 997]
    assert [outlier.weight for outlier in found] == pytest.approx([typicality(y) for y in (12.0, -7.0, 5.0)])


def test_a_row_on_either_side_of_a_quarter(tmp_path: Path) -> None:
    beta = DOF / (DOF - 2.0) / NOISE_SD**2
    away = (((DOF + 1.0) / 0.25 - DOF) / beta - VARIANCE) ** 0.5
    t = MEAN + np.array([0.0, away * 1.001, away * 0.999])
    assert [outlier.row for outlier in outliers(constant(StudentT(DOF)), written(tmp_path, t))] == [999]


def test_rows_held_out_are_no_outliers(tmp_path: Path) -> None:
    made = written(tmp_path, np.array([MEAN, 100.0, MEAN, 200.0]), held_out=1)
    assert [outlier.row for outlier in outliers(constant(StudentT(DOF)), made)] == [999]


def test_the_hundred_least_typical_are_reported(tmp_path: Path) -> None:
    t = MEAN + 10.0 + np.arange(200.0)
    found = outliers(constant(StudentT(DOF)), written(tmp_path, t))
    assert [outlier.row for outlier in found] == [1000 - place for place in range(199, 99, -1)]


@pytest.mark.parametrize("likelihood", [GaussianNoise(), GaussianNoise(NOISE_SD)])
def test_without_heavy_tails_there_are_none(tmp_path: Path, likelihood: Likelihood) -> None:
    found: tuple[Outlier, ...] = outliers(constant(likelihood), written(tmp_path, np.array([MEAN, 1e6])))
    assert found == ()
