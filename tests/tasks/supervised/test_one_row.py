"""Few rows take short cuts; what comes out is the same to the bit, and in another batch to the twelfth digit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.prediction import PredictRequest, ServedVersion, predict
from app.prediction.predict import USUAL
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.models.model import ConstantFunction, KernelFunctions
from relevance_bayes.core.priors import GaussianProcess, Independent, Prior
from relevance_bayes.core.types import Array
from relevance_bayes.records.predictions import MissingValue
from relevance_bayes.tables.columns import Block, NumberArray, NumberBlock
from relevance_bayes.tables.encoding import EncodedNumber, EncodedTarget, Encoding, encode_inputs
from relevance_bayes.tables.encoding import table as encoding_inputs
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.prediction import figures_of, figures_of_one
from relevance_bayes.tasks.supervised.predictions import RegressionPrediction
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.prediction.test_predict import augmented
from tests.served_versions import served
from tests.small_models import member_of, small_version

NAMES = ("a", "b", "c", "d", "e")
FIGURES = ("mean", "sd", "total", "noise", "weights", "residual", "lower", "upper", "support")
PRIORS: list[Prior] = [Independent(), GaussianProcess()]

any_number = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=0.0, allow_nan=False, allow_infinity=False)
probability = st.floats(min_value=1e-9, max_value=1.0 - 1e-9)


def version_of_numbers(prior: Prior, *, vectors: int = 20) -> NewSupervisedVersion:
    """A version that reads five numbers."""
    rng = np.random.default_rng(7)
    made = small_version(prior=prior)
    centres, root = rng.normal(size=(vectors, len(NAMES))), rng.normal(size=(vectors + 1, vectors + 1))
    inputs = [
        EncodedNumber(name, "number", k - 1.0, 0.5 + k, fill=None, indicator=False) for k, name in enumerate(NAMES)
    ]
    model = replace(
        made.predictor.model,
        functions=(
            KernelFunctions(Gaussian(), InputMap.isotropic(2.5), centres, np.arange(vectors)),
            ConstantFunction(),
        ),
        mean=rng.normal(size=vectors + 1),
        covariance=0.01 * (root @ root.T + np.eye(vectors + 1)),
        alpha=rng.uniform(0.5, 2.0, vectors + 1),
        gamma=rng.uniform(0.1, 0.9, vectors + 1),
        inputs=len(NAMES),
    )
    encoding = Encoding(tuple(inputs), made.predictor.encoding.target)
    columns = tuple(replace(made.report.plan.inputs[0], name=name) for name in NAMES)
    plan = replace(made.report.plan, inputs=columns)
    report = replace(
        made.report, plan=plan, members=(member_of(model, encoding.target, width=2.5),), functions=vectors + 1
    )
    return replace(made, report=report, predictor=replace(made.predictor, encoding=encoding, learned=model))


def reals(version: ServedVersion, block: Block, options: PredictOptions = USUAL) -> RegressionPrediction:
    found = predict(version, PredictRequest(block, options))
    assert isinstance(found, RegressionPrediction)
    return found


def figures(found: RegressionPrediction) -> Array:
    """(9, N), NaN where the model does not know."""
    each = [getattr(found, name) for name in FIGURES]
    return np.array([np.full(len(found.mean), np.nan) if one is None else one for one in each])


@pytest.fixture(params=["independent", "augmented", "process"])
def version(request: pytest.FixtureRequest) -> ServedVersion:
    match request.param:
        case "independent":
            return served(version_of_numbers(Independent()))
        case "augmented":
            return served(augmented(version_of_numbers(Independent())))
        case _:
            return served(version_of_numbers(GaussianProcess()))


def test_a_row_alone_is_predicted_as_among_others(version: ServedVersion) -> None:
    rows = np.random.default_rng(3).normal(size=(300, len(NAMES)))
    together = figures(reals(version, NumberBlock(NAMES, rows)))
    alone = np.hstack([figures(reals(version, NumberBlock(NAMES, rows[[n]]))) for n in range(len(rows))])
    np.testing.assert_allclose(alone, together, rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 2, 300])
def test_a_matrix_is_predicted_as_its_columns_to_the_bit(version: ServedVersion, rows: int) -> None:
    values = np.random.default_rng(4).normal(size=(rows, len(NAMES)))
    columns: Block = {name: NumberArray(column.copy()) for name, column in zip(NAMES, values.T, strict=True)}
    np.testing.assert_array_equal(figures(reals(version, NumberBlock(NAMES, values))), figures(reals(version, columns)))


@given(
    mean=any_number,
    parts=st.tuples(positive, positive, positive),
    unit=st.floats(min_value=1e-300, max_value=1e300),
    shift=any_number,
    interval=probability,
    nu=st.none() | st.floats(min_value=1.0, max_value=400.0),
)
def test_the_figures_of_one_row_are_those_of_many_to_the_bit(
    mean: float, parts: tuple[float, float, float], unit: float, shift: float, interval: float, nu: float | None
) -> None:
    target = EncodedTarget("y", "number", shift, unit, ())
    noise, weights, residual = (np.array([part]) for part in parts)
    part = RealPrediction(np.array([mean]), noise, weights, residual, nu)
    with np.errstate(over="ignore", invalid="ignore"):
        of_many = figures_of(target, part, interval)
        of_one = figures_of_one(target, mean, *parts, interval, nu)
    np.testing.assert_array_equal(np.array(of_one), of_many[:, 0])


@given(
    row=st.lists(any_number, min_size=5, max_size=5),
    shift=any_number,
    scale=st.floats(min_value=1e-300, max_value=1e300),
)
def test_one_row_is_encoded_as_among_others_to_the_bit(row: list[float], shift: float, scale: float) -> None:
    inputs = [EncodedNumber(name, "number", shift, scale, fill=None, indicator=False) for name in NAMES]
    encoding = Encoding(tuple(inputs), EncodedTarget("y", "number", 0.0, 1.0, ()))
    alone, faults = encode_inputs(encoding, NumberBlock(NAMES, np.array([row])))
    twice, of_twice = encode_inputs(encoding, NumberBlock(NAMES, np.array([row, row])))
    np.testing.assert_array_equal(alone[0], twice[0])
    assert [fault.detail for fault in faults] == [fault.detail for fault in of_twice if fault.row == 0]
    if not faults:
        assert np.abs(alone).max() <= encoding_inputs.MAX_SCALED


def test_a_gap_in_a_matrix_is_a_fault_of_its_row(version: ServedVersion) -> None:
    gap = NumberBlock(NAMES, np.array([[1.0, 2.0, np.nan, 0.0, 0.0]]))
    found = reals(version, gap, PredictOptions(nulls="error"))
    (fault,) = found.faults
    assert (fault.row, fault.column) == (0, "c")
    assert np.isnan(found.mean).all()
    assert reals(version, gap).nulls == (MissingValue(0, "c"),)
