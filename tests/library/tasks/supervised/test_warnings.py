from pathlib import Path

import numpy as np
import pytest
import scipy

from relevance_bayes.core.basis import Bias, ConstantFunction
from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood, StudentT
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import Measured
from relevance_bayes.core.selection import Trained
from relevance_bayes.core.selection.scoring import HeldOutFigures
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.reports import Evidence, Outlier
from relevance_bayes.tables.encoding import EncodedNumber, EncodedTarget, Encoding
from relevance_bayes.tasks.supervised.diagnostics import outliers, warnings
from relevance_bayes.tasks.supervised.materialise import Materialised

ENCODING = Encoding(
    (EncodedNumber("x", "number", 0.0, 1.0, fill=None, indicator=False),), EncodedTarget("y", "number", 50.0, 10.0, ())
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
        evidence=Evidence(0.0, "exact", 0.0, 0.0),
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


def left_out(t: Array, mean: Array, sd: float, rows: Indices | None = None) -> Trained:
    """A training whose folds predicted targets t (N,), of these training rows, with such means (N,) and sd."""
    none = np.zeros(len(t))
    measured = Measured.of(RealPrediction(mean, np.full(len(t), sd**2), none, none), t)
    validation = HeldOutFigures.of(measured, np.arange(len(t)) if rows is None else rows)
    spec = Spec(GaussianNoise(), (Bias(),))
    return Trained(constant(GaussianNoise()), spec, {}, {}, left_out=validation.left_out)


def details(trained: Trained, made: Materialised) -> dict[str, str]:
    return {one.kind: one.detail for one in warnings(trained, made)}


def test_rows_that_are_missed_by_far_are_named_by_their_dataset_numbers(tmp_path: Path) -> None:
    t = np.random.default_rng(0).standard_normal(200)
    mean = t.copy()
    mean[[3, 50]] += 40.0
    order = np.random.default_rng(1).permutation(200)  # folds measure rows in another order
    found = details(left_out(t[order], mean[order], 0.5, order), written(tmp_path, t))
    assert found == {
        "clipped_log_density": "2 of 200 held-out rows lie more than 20 nats below one normal distribution and count as"
        " 20: rows 951, 998 of the data. The score is an upper bound."
    }


def test_one_row_that_is_missed_by_far_is_named_in_the_singular(tmp_path: Path) -> None:
    t = np.random.default_rng(0).standard_normal(200)
    found = details(left_out(t, t + 30.0 * (np.arange(200) == 4), 0.5), written(tmp_path, t))
    assert found["clipped_log_density"].startswith("1 of 200 held-out rows lies more than 20 nats below")
    assert found["clipped_log_density"].endswith("and counts as 20: row 997 of the data. The score is an upper bound.")


def test_many_rows_that_are_missed_by_far_are_counted(tmp_path: Path) -> None:
    t = np.random.default_rng(0).standard_normal(200)
    found = details(left_out(t, t + 90.0 * (np.arange(200) < 25), 0.5), written(tmp_path, t))
    assert "25 of 200 held-out rows lie" in found["clipped_log_density"]
    assert (
        "rows 977, 978, 979, 980, 981, 982, 983, 984, 985, 986 and 15 more of the data." in found["clipped_log_density"]
    )


@pytest.mark.parametrize(
    ("sd", "missed", "is_worse"), [(0.5, 2.2, True), (0.1, 0.6, True), (1.0, 0.0, False), (1.2, 0.3, False)]
)
def test_a_score_is_compared_with_that_of_one_normal_distribution(
    tmp_path: Path, sd: float, missed: float, is_worse: bool
) -> None:
    """Against the density of the fitted normal distribution, in the target's units."""
    t = np.random.default_rng(2).standard_normal(300)
    mean = t + missed * np.where(np.arange(300) % 2, 1.0, -1.0)
    one = np.mean(scipy.stats.norm.logpdf(t, t.mean(), t.std()))
    each = np.asarray(scipy.stats.norm.logpdf(t, mean, sd))
    assert each.min() > one - 19.0
    found = details(left_out(t, mean, sd), written(tmp_path, t))
    assert list(found) == ["worse_than_constant"] * is_worse
    if is_worse:
        score, constant = each.mean() - np.log(10.0), one - np.log(10.0)
        assert found["worse_than_constant"].startswith(
            f"The score, {score:.4g} nats, is below the {constant:.4g} of one normal distribution"
        )


def test_a_version_without_held_out_rows_has_no_warning_of_its_score(tmp_path: Path) -> None:
    t = np.random.default_rng(0).standard_normal(20)
    trained = Trained(constant(GaussianNoise()), Spec(GaussianNoise(), (Bias(),)), {}, {})
    assert warnings(trained, written(tmp_path, t)) == ()
