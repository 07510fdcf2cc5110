"""Options, weights, known noise, attributes, and what scikit-learn does with the estimators."""

import math
import re
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.kernels import Matern32
from relevance_bayes.core.models.pool import degrees_of_freedom_of
from relevance_bayes.core.types import Array
from relevance_bayes.estimators import RelevanceRegressor, SparseKernelPCA
from relevance_bayes.estimators.fitting import blocks_of
from relevance_bayes.tables.columns import NumberArray, NumberBlock

RANDOM = np.random.default_rng(3)
X = RANDOM.uniform(-5.0, 5.0, (60, 2))
Y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + RANDOM.normal(0.0, 0.1, 60)
COUNTS = RANDOM.poisson(np.exp(0.2 * X[:, 1] + 1.0)).astype(np.float64)


def quick(**options: object) -> RelevanceRegressor:
    model: RelevanceRegressor = RelevanceRegressor(effort="quick").set_params(**options)
    return model


def test_a_weight_of_two_is_a_row_given_twice_and_of_none_a_row_left_out() -> None:
    weights = RANDOM.integers(0, 3, 60)
    poisson = {"type": "poisson"}
    weighted = quick(likelihood=poisson).fit(X, COUNTS, sample_weight=weights)
    repeated = quick(likelihood=poisson).fit(X.repeat(weights, axis=0), COUNTS.repeat(weights))
    once = quick(likelihood=poisson).fit(X, COUNTS)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    assert weighted.report_.rows == weights.sum()
    assert abs(weighted.predict(X) - once.predict(X)).max() > 1e-3


def test_weights_that_do_not_count_are_warned_of() -> None:
    weights = np.where(X[:, 0] > 0.0, 5, 1)
    with pytest.warns(UserWarning, match="sample weights above 1 count once") as warned:
        weighted = quick().fit(X, Y, sample_weight=weights)
    assert [one.filename for one in warned] == [__file__]
    assert weighted.report_.warnings[0].kind == "duplicates"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick().fit(X, Y, sample_weight=np.minimum(weights, 1))
        quick(likelihood={"type": "poisson"}).fit(X, COUNTS, sample_weight=weights)
        quick().fit(X.repeat(2, axis=0), Y.repeat(2))


def test_rows_of_functions_are_those_of_the_table_that_was_given() -> None:
    weights = RANDOM.integers(0, 3, 60)
    model = quick(likelihood={"type": "poisson"}).fit(X, COUNTS, sample_weight=weights)
    centred = [one for one in model.relevance_vectors_ if one.row is not None]
    assert centred
    for one in centred:
        assert one.inputs == dict(zip(("x0", "x1"), X[one.row].tolist(), strict=True))
        assert weights[one.row] > 0


@pytest.mark.parametrize(
    ("weights", "detail"),
    [(np.full(60, 0.5), "integers of 0 and above"), (np.full(60, -1), "integers"), (np.full(60, 10.0**6), "at most")],
    ids=["half", "negative", "many"],
)
def test_weights_that_are_no_repetitions_are_refused(weights: Array, detail: str) -> None:
    with pytest.raises(ValueError, match=detail):
        quick().fit(X, Y, sample_weight=weights)


def test_a_known_noise_precision_is_kept() -> None:
    model = quick().fit(X, Y, noise_precision=1.0 / 0.1**2)
    assert model.members_[0].hyperparameters.noise_sd == pytest.approx(0.1)
    sds = np.where(X[:, 0] > 0.0, 0.02, 2.0)
    by_row = quick().fit(X, Y, noise_precision=1.0 / np.square(sds))
    assert by_row.report_.plan.noise_column == "noise_sd"
    error = np.abs(by_row.predict(X) - Y)
    assert error[sds < 1.0].mean() < error[sds > 1.0].mean()
    with pytest.raises(ValueError, match="leave out `likelihood`"):
        quick(likelihood={"type": "student_t"}).fit(X, Y, noise_precision=1.0)
    with pytest.raises(ValueError, match="precisions above 0"):
        quick().fit(X, Y, noise_precision=0.0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("options", "likelihood"),
    [
        ({"likelihood": {"type": "student_t"}}, "student_t"),
        ({"prior": {"type": "independent"}, "algorithm": {"type": "sequential"}}, "gaussian"),
        ({"basis": [{"type": "kernel", "width": {"type": "fixed", "value": 1.5}}, {"type": "bias"}]}, "gaussian"),
        ({"holdout": 0.2, "seed": 7, "validation": {"folds": 2}}, "gaussian"),
        ({"inputs": ["x0"], "standardise": False, "local": {"type": "none"}, "prefer": "small"}, "gaussian"),
    ],
    ids=["likelihood", "prior", "basis", "measured", "inputs"],
)
def test_options_have_the_names_and_the_json_of_the_api(options: Mapping[str, object], likelihood: str) -> None:
    model = quick(**options).fit(X, Y)
    plan = model.report_.plan
    assert plan.spec.likelihood.type == likelihood
    assert plan.holdout == options.get("holdout", 0.0)
    assert [column.name for column in plan.inputs] == options.get("inputs", ["x0", "x1"])
    assert np.isfinite(model.predict(X)).all()
    assert clone(model).get_params() == model.get_params()


def test_an_option_that_the_api_refuses_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match=re.escape("/likelihood")):
        quick(likelihood={"type": "gauss"}).fit(X, Y)
    with pytest.raises(ValueError, match="There is no column 'z'"):
        quick(inputs=["z"]).fit(X, Y)


def test_records_of_the_library_are_options_too() -> None:
    by_record = quick(basis={"type": "kernel", "kernel": Matern32()}).fit(X, Y)
    by_json = quick(basis={"type": "kernel", "kernel": {"type": "matern_3_2"}}).fit(X, Y)
    np.testing.assert_array_equal(by_record.predict(X), by_json.predict(X))
    assert by_record.members_[0].kernel == Matern32()


@pytest.mark.parametrize(("kernel", "peer"), [("gaussian", RBF), ("matern_3_2", Matern)])
def test_length_scales_are_those_of_scikit_learn(kernel: str, peer: type[RBF]) -> None:
    process = {"type": "gaussian_process"}
    basis = {"type": "kernel", "kernel": {"type": kernel}, "width": {"type": "evidence_per_input"}, "warp": "none"}
    model = quick(basis=basis, prior=process).fit(X, Y)
    learned = model._fitted.exported.predictor.model
    (functions,) = [one for one in learned.functions if isinstance(one, KernelFunctions)]
    ours = functions.kernel(functions.input_map(functions.centres), functions.input_map(functions.centres))
    order = [int(column.name.removeprefix("x")) for column in model._fitted.exported.predictor.encoding.inputs]
    theirs = peer(model.lengthscales_[order])(functions.centres)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert model.evidence_ == learned.evidence.value - 60 * math.log(Y.std())


def test_length_scales_of_warped_inputs_are_refused() -> None:
    skewed = np.exp(RANDOM.normal(0.0, 1.2, (120, 1)))
    y = np.sin(2.0 * np.log(skewed[:, 0])) + RANDOM.normal(0.0, 0.05, 120)
    model = quick().fit(skewed, y)
    assert any(one.skew or one.tail for one in model.members_[0].hyperparameters.warps)
    with pytest.raises(AttributeError, match=re.escape("of warped inputs (x0")):
        _ = model.lengthscales_
    assert quick(basis={"type": "kernel", "warp": "none"}).fit(skewed, y).lengthscales_.shape == (1,)


def test_evidence_and_length_scales_are_of_one_member() -> None:
    model = quick().fit(X, Y)
    several = (*model.members_, *model.members_)
    object.__setattr__(model._fitted.exported.report, "members", several)
    for name in ("evidence_", "lengthscales_"):
        with pytest.raises(AttributeError, match=f"`{name}` is of one member, and 2 predict together"):
            getattr(model, name)


def test_an_array_of_row_numbers_is_an_input_and_a_constant_is_none() -> None:
    rows = np.column_stack([np.arange(60.0), np.ones(60)])
    model = quick().fit(rows, np.sin(rows[:, 0] / 10.0))
    assert [column.name for column in model.report_.plan.inputs] == ["x0"]
    assert model.n_features_in_ == 2
    assert model.score(rows, np.sin(rows[:, 0] / 10.0)) > 0.99


@pytest.mark.parametrize(
    ("y", "name"),
    [
        (np.arange("2026-01-01", "2026-03-02", dtype="datetime64[D]"), "values of type datetime64"),
        (Y.astype(str), "texts"),
        (np.array([*Y[:59], "a"], object), "texts"),
        (np.array([*Y[:59], datetime(2026, 1, 1, tzinfo=UTC)], object), "values of type datetime"),
    ],
    ids=["days", "texts", "one text", "one point in time"],
)
def test_targets_that_are_no_numbers_are_refused(y: Array, name: str) -> None:
    assert len(y) == 60
    with pytest.raises(ValueError, match=f"Expected numbers in y, got {name}."):
        quick().fit(X, y)


def test_targets_of_objects_are_numbers() -> None:
    model = quick().fit(X, Y)
    np.testing.assert_array_equal(quick().fit(X, Y.astype(object)).predict(X), model.predict(X))
    exact = quick().fit(X, np.array([Decimal(one) for one in Y.tolist()], object))
    np.testing.assert_array_equal(exact.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="infinity"):
        quick().fit(X, np.array([*Y[:59], math.inf], object))


@pytest.mark.parametrize("gap", [None, math.nan], ids=["none", "nan"])
def test_a_gap_in_the_targets_is_refused_with_its_row(gap: float | None) -> None:
    with pytest.raises(ValueError, match="y has a missing value in row 4 of the data"):
        quick().fit(X, np.array([*Y[:3], gap, *Y[4:]], object))


def test_a_column_of_noise_precisions_is_one_for_each_row() -> None:
    precisions = np.linspace(50.0, 200.0, 60)
    by_row = quick().fit(X, Y, noise_precision=precisions)
    np.testing.assert_array_equal(quick().fit(X, Y, noise_precision=precisions[:, None]).predict(X), by_row.predict(X))
    with pytest.raises(ValueError, match="should be a 1d array"):
        quick().fit(X, Y, noise_precision=np.ones((60, 2)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        quick().fit(X, Y, noise_precision=np.ones(3))


@pytest.mark.parametrize(("components", "error"), [(0, ValueError), (2.5, TypeError), ("2", TypeError)])
def test_components_are_an_integer_above_zero(components: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="components"):
        SparseKernelPCA().set_params(components=components).fit(X)


@pytest.mark.thorough
def test_pipelines_searches_and_cross_validation_take_it() -> None:
    pipeline = make_pipeline(StandardScaler(), SparseKernelPCA(components=3), quick())
    pipeline.set_output(transform="default").fit(X, Y)
    assert pipeline.predict(X).shape == (60,)
    assert pipeline[:-1].get_feature_names_out().tolist() == [f"sparsekernelpca{number}" for number in range(3)]
    likelihoods = [{"type": "gaussian"}, {"type": "student_t"}]
    search = GridSearchCV(quick(), {"likelihood": likelihoods}, cv=2).fit(X, Y)
    assert search.best_params_["likelihood"] in likelihoods
    assert (cross_val_score(quick(), X, Y, cv=3) > 0.5).all()


def test_an_interval_is_a_probability() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        quick().fit(X, Y).predict(X, return_interval=95)


def test_a_document_is_of_one_task() -> None:
    document = SparseKernelPCA().fit(X).document_
    assert SparseKernelPCA.from_document(document).transform(X).shape[0] == 60
    with pytest.raises(ValueError, match="got one of the task components"):
        RelevanceRegressor.from_document(document)
    with pytest.raises(ValueError, match="can't be read as a version in npz"):
        RelevanceRegressor.from_document(document[:100])


def test_a_large_table_is_read_in_the_blocks_of_the_service() -> None:
    matrix = np.arange(600_000.0).reshape(200_000, 3)
    blocks = [*blocks_of(NumberBlock(("a", "b", "c"), matrix))]
    assert [first for first, _ in blocks] == [0, 174_762]
    columns = [block["b"] for _, block in blocks]
    values = np.concatenate([column.values for column in columns if isinstance(column, NumberArray)])
    np.testing.assert_array_equal(values, matrix[:, 1])


def test_numbers_of_numpy_are_options() -> None:
    model = quick(holdout=np.float64(0.2), seed=np.int64(3), inputs=np.array(["x1"])).fit(X, Y)
    assert (model.report_.plan.holdout, model.report_.plan.spec.seed) == (0.2, 3)


def test_new_rows_have_the_mean_variance_of_known_noise() -> None:
    variances = RANDOM.uniform(0.01, 0.5, 60)
    model = quick().fit(X, Y, noise_precision=1.0 / variances)
    assert model.members_[0].hyperparameters.noise_sd == pytest.approx(math.sqrt(variances.mean()))


@pytest.fixture(scope="module")
def wave() -> RelevanceRegressor:
    X = np.linspace(-5.0, 5.0, 60)[:, None]
    return RelevanceRegressor(effort="quick").fit(X, np.sin(X[:, 0]) + np.random.default_rng(0).normal(0.0, 0.1, 60))


def test_a_covariance_has_the_variances_and_equal_rows_share_all_but_the_noise(wave: RelevanceRegressor) -> None:
    rows = np.array([[0.3], [0.3], [0.4], [9.0], [9.1]])
    mean, covariance = wave.predict(rows, return_cov=True)
    expected, sd, interval = wave.predict(rows, return_std=True, return_interval=0.9)
    np.testing.assert_array_equal(mean, expected)
    np.testing.assert_allclose(covariance.diagonal(), sd**2, rtol=1e-12)
    np.testing.assert_array_equal(covariance, covariance.T)
    noise = wave._predicted(rows, None).noise
    np.testing.assert_allclose(covariance[0, 1], sd[0] ** 2 - noise[0], rtol=1e-9)
    assert 0.0 < covariance[0, 2] < covariance[0, 1]
    assert covariance[3, 4] > 0.9 * (covariance[3, 3] - noise[3])
    np.testing.assert_array_equal(wave.predict(rows, return_interval=0.9, return_cov=True)[2], interval)
    with pytest.raises(RuntimeError, match="At most one of return_std and return_cov"):
        wave.predict(rows, return_std=True, return_cov=True)


def test_samples_have_the_mean_and_the_covariance_of_their_distribution(wave: RelevanceRegressor) -> None:
    rows = np.array([[0.3], [0.5], [9.0]])
    mean, covariance = wave.predict(rows, return_cov=True)
    samples = wave.sample_y(rows, 40_000)
    tails = degrees_of_freedom_of(wave._version.exported.predictor.learned)
    assert tails is not None
    sd = np.sqrt(covariance.diagonal())
    np.testing.assert_allclose((samples.mean(axis=1) - mean) / sd, 0.0, atol=0.02)
    scaled = np.cov(samples) * (tails - 2.0) / tails / np.outer(sd, sd)
    np.testing.assert_allclose(scaled, covariance / np.outer(sd, sd), atol=0.03)
    assert wave.sample_y(rows).shape == (3, 1)
    np.testing.assert_array_equal(wave.sample_y(rows, 2, random_state=7), wave.sample_y(rows, 2, random_state=7))
    assert (wave.sample_y(rows, 2, random_state=7) != wave.sample_y(rows, 2)).all()


def test_samples_of_counts_and_of_too_many_rows_are_refused(wave: RelevanceRegressor) -> None:
    with pytest.raises(ValueError, match="at most 1,000 rows for a covariance, got 1,001"):
        wave.sample_y(np.zeros((1_001, 1)))
    X = np.arange(30.0)[:, None]
    counts = RelevanceRegressor(effort="quick", likelihood={"type": "poisson"}).fit(X, np.arange(30) % 7)
    with pytest.raises(ValueError, match="Expected a model with Gaussian noise for a covariance"):
        counts.predict(X, return_cov=True)
