"""Predictions in the user's units: each row's own, what goes together, and what they are made of."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from app.prediction import PredictRequest, ServedVersion, predict
from relevance_bayes.core.inference.posterior import Augmentation
from relevance_bayes.core.likelihoods import LogGaussian
from relevance_bayes.core.models.effects import joint
from relevance_bayes.core.models.model import KernelFunctions
from relevance_bayes.core.models.prediction import ClassPrediction, Ready, RealPrediction, latent
from relevance_bayes.core.models.prediction import predict as core_predict
from relevance_bayes.core.priors import GaussianProcess, Independent, Prior
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.values import Task
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import encode_inputs
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised import prediction as under_test
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, RegressionPrediction
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.served_versions import served
from tests.small_models import AMPLITUDE, small_version, version_of_known_noise
from tests.small_tables import numbers, texts

BLOCK: Block = {"x": numbers(0.5, 1.0, 3.0), "colour": texts("red", "blue", "red")}
FAR: Block = {"x": numbers(-1e6, 1e6), "colour": texts("red", "blue")}
MIXED: Block = {"x": numbers(0.5, None, 1.0, 3.0, 3.0), "colour": texts("red", "blue", "blue", "green", "red")}
REFUSING = PredictOptions(unknown_categories="error", nulls="error")
PRIORS: list[Prior] = [Independent(), GaussianProcess()]


def augmented(made: NewSupervisedVersion) -> NewSupervisedVersion:
    """The same with what error bars under independent precisions are made of."""
    model = made.predictor.model
    functions, *_ = model.functions
    assert isinstance(functions, KernelFunctions)
    model = replace(model, augmentation=Augmentation(functions, 0.9))
    return replace(made, predictor=replace(made.predictor, learned=model))


def of_data(
    version: ServedVersion,
    block: Block,
    options: PredictOptions = PredictOptions(),  # noqa: B008
) -> RegressionPrediction | ClassificationPrediction:
    found = predict(version, PredictRequest(block, options))
    assert isinstance(found, RegressionPrediction | ClassificationPrediction)
    return found


USUAL = PredictOptions()


def reals(made: NewSupervisedVersion, block: Block, required: PredictOptions = USUAL) -> RegressionPrediction:
    found = predict(served(made), PredictRequest(block, required))
    assert isinstance(found, RegressionPrediction)
    return found


@pytest.mark.parametrize("prior", PRIORS)
def test_numbers_are_in_the_users_units(prior: Prior) -> None:
    made = small_version(prior=prior)
    found = reals(made, BLOCK, PredictOptions(interval=0.9))
    inputs, _ = encode_inputs(made.predictor.encoding, BLOCK)
    core = core_predict(made.predictor.model, inputs)
    assert isinstance(core, RealPrediction)
    assert_allclose(found.mean, 10 + 2 * core.mean, rtol=1e-12)
    assert_allclose(found.noise, 4 * core.noise, rtol=1e-12)
    assert_allclose(found.weights, 4 * core.weights, rtol=1e-12)
    assert_allclose(found.residual, 4 * core.residual, rtol=1e-12)
    assert np.all(found.residual > 0.0) == isinstance(prior, GaussianProcess)
    assert_allclose(found.total, found.noise + found.weights + found.residual, rtol=1e-12)
    assert_allclose(found.sd, np.sqrt(found.total), rtol=1e-12)
    assert_allclose(found.lower, norm.ppf(0.05, found.mean, found.sd), rtol=1e-12)
    assert_allclose(found.upper, norm.ppf(0.95, found.mean, found.sd), rtol=1e-12)


def test_far_from_the_data_all_of_a_process_is_beyond_its_functions() -> None:
    narrow, wide = (reals(small_version(prior=prior), FAR) for prior in PRIORS)
    assert_allclose(narrow.residual, 0.0)
    assert_allclose(wide.residual, 4 * AMPLITUDE, rtol=1e-12)
    assert_allclose(wide.total - narrow.total, 4 * AMPLITUDE, rtol=1e-12)
    assert_allclose(wide.mean, narrow.mean, rtol=1e-12)


def test_far_from_the_data_independent_weights_have_the_targets_variance() -> None:
    found = reals(augmented(small_version()), FAR)
    assert_allclose(found.noise + found.residual, 4 * 0.9, rtol=1e-12)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_the_support_is_the_cores_and_none_where_it_is_not_known(task: Task) -> None:
    known = small_version(task, prior=GaussianProcess())
    found = of_data(served(known), BLOCK).support
    inputs, _ = encode_inputs(known.predictor.encoding, BLOCK)
    expected = latent(known.predictor.model, inputs).support
    assert found is not None
    assert expected is not None
    assert_allclose(found, expected, rtol=1e-12)
    away = of_data(served(known), FAR).support
    assert away is not None
    assert_allclose(away, 0.0)
    assert of_data(served(small_version(task)), BLOCK).support is None


def test_independent_weights_know_the_support_where_they_are_augmented() -> None:
    found, away = (reals(augmented(small_version()), block).support for block in (BLOCK, FAR))
    assert found is not None
    assert away is not None
    assert_allclose(away, 0.0)
    assert found.max() > 0.99


@pytest.mark.parametrize("prior", PRIORS)
def test_classes_have_the_cores_probabilities(prior: Prior) -> None:
    made = small_version("classification", classes=("no", "yes"), prior=prior)
    found = predict(served(made), PredictRequest(BLOCK))
    inputs, _ = encode_inputs(made.predictor.encoding, BLOCK)
    core = core_predict(made.predictor.model, inputs)
    assert isinstance(core, ClassPrediction)
    assert isinstance(found, ClassificationPrediction)
    assert found.classes == ("no", "yes")
    assert_allclose(found.probabilities, core.probabilities, rtol=1e-12)
    assert_allclose(found.latent_mean, core.latent_mean, rtol=1e-12)
    assert_allclose(found.latent_variance, core.latent_variance, rtol=1e-12)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_bad_row_changes_no_other(task: Task) -> None:
    version = served(small_version(task, prior=GaussianProcess()))
    sound = of_data(version, BLOCK, PredictOptions(explain=2))
    found = of_data(version, MIXED, replace(REFUSING, explain=2))
    assert [fault.row for fault in found.faults] == [1, 3]
    one, other = (
        (found.mean, sound.mean)
        if isinstance(found, RegressionPrediction) and isinstance(sound, RegressionPrediction)
        else (found.probabilities[:, 1], sound.probabilities[:, 1])
        if isinstance(found, ClassificationPrediction) and isinstance(sound, ClassificationPrediction)
        else (np.zeros(1), np.ones(1))
    )
    assert found.support is not None
    assert sound.support is not None
    assert found.explanation is not None
    assert sound.explanation is not None
    for mine, theirs in (
        (one, other),
        (found.support, sound.support),
        (found.explanation.added, sound.explanation.added),
        (found.explanation.shares, sound.explanation.shares),
    ):
        assert_allclose(mine[[0, 2, 4]], theirs, rtol=1e-12)
        assert np.isnan(mine[[1, 3]]).all()
    np.testing.assert_array_equal(found.explanation.functions[[0, 2, 4]], sound.explanation.functions)


def test_a_batch_with_bad_rows_alone_gets_a_response() -> None:
    found = reals(
        small_version(), {"x": numbers(1.0), "colour": texts("green")}, replace(REFUSING, covariance=True, explain=2)
    )
    assert np.isnan(found.mean).all()
    assert len(found.faults) == 1
    assert found.covariance is not None
    assert np.isnan(found.covariance).all()


def test_a_batch_cut_up_inside_gets_the_same_responses(monkeypatch: pytest.MonkeyPatch) -> None:
    block: Block = {"x": numbers(*np.linspace(-2, 4, 50)), "colour": texts(*["red", "blue"] * 25)}
    complete = reals(augmented(small_version()), block)
    monkeypatch.setattr(under_test, "ROWS_AT_ONCE", 7)
    pieces = reals(augmented(small_version()), block)
    assert_allclose(pieces.mean, complete.mean, rtol=1e-12)
    assert_allclose(pieces.upper, complete.upper, rtol=1e-12)
    assert pieces.support is not None
    assert complete.support is not None
    assert_allclose(pieces.support, complete.support, atol=1e-14)


@pytest.mark.parametrize("made", [small_version(), augmented(small_version()), small_version(prior=GaussianProcess())])
def test_the_covariance_is_the_cores_in_the_users_units_squared(made: NewSupervisedVersion) -> None:
    found = reals(made, BLOCK, PredictOptions(covariance=True))
    inputs, _ = encode_inputs(made.predictor.encoding, BLOCK)
    _, expected = joint(Ready.of(made.predictor.model), inputs)
    assert found.covariance is not None
    assert_allclose(found.covariance, 4 * expected, rtol=1e-12)
    assert_allclose(found.covariance.diagonal(), found.total, rtol=1e-9)


def test_bad_rows_have_no_covariance_with_others() -> None:
    sound = reals(small_version(), BLOCK, PredictOptions(covariance=True)).covariance
    found = reals(small_version(), MIXED, replace(REFUSING, covariance=True)).covariance
    assert sound is not None
    assert found is not None
    assert_allclose(found[np.ix_([0, 2, 4], [0, 2, 4])], sound, rtol=1e-12)
    assert np.isnan(found[[1, 3]]).all()
    assert np.isnan(found[:, [1, 3]]).all()


def test_a_covariance_that_there_can_not_be_is_refused() -> None:
    made = small_version()
    logarithms = replace(made.predictor.model, likelihood=LogGaussian())
    many: Block = {"x": numbers(*np.zeros(1_001)), "colour": texts(*["red"] * 1_001)}
    cases = (
        (small_version("classification"), BLOCK, "Classes have no covariance"),
        (replace(made, predictor=replace(made.predictor, learned=logarithms)), BLOCK, '"log_gaussian"'),
        (made, many, "at most 1,000 rows for a covariance, got 1,001"),
    )
    for version, block, given in cases:
        with pytest.raises(InvalidRequestError, match=given) as refused:
            predict(served(version), PredictRequest(block, PredictOptions(covariance=True)))
        assert [fault.pointer for fault in refused.value.faults] == ["/covariance"]


def test_contributions_are_in_the_targets_units_and_with_the_average_the_mean() -> None:
    found = reals(small_version(), BLOCK, PredictOptions(explain=3))
    assert found.explanation is not None
    assert found.explanation.functions.shape == (3, 3)
    assert_allclose(found.explanation.added.sum(axis=1) + 10.0, found.mean, rtol=1e-12)
    assert reals(small_version(), BLOCK).explanation is None


@pytest.mark.parametrize("logarithmic", [False, True])
def test_what_is_added_to_a_logarithm_or_a_class_is_in_its_own_units(logarithmic: bool) -> None:
    made = small_version("regression" if logarithmic else "classification")
    if logarithmic:
        encoding = made.predictor.encoding
        encoding = replace(encoding, target=replace(encoding.target, shift=0.0, logarithmic=True))
        model = replace(made.predictor.model, likelihood=LogGaussian())
        made = replace(made, predictor=replace(made.predictor, encoding=encoding, learned=model))
    found = of_data(served(made), BLOCK, PredictOptions(explain=20)).explanation
    inputs, _ = encode_inputs(made.predictor.encoding, BLOCK)
    assert found is not None
    assert_allclose(found.added.sum(axis=1), latent(made.predictor.model, inputs).mean, rtol=1e-12)


def test_rows_are_predicted_with_their_own_noise_or_that_of_the_training_rows() -> None:
    made = version_of_known_noise()
    plain, own = (reals(made, block) for block in (BLOCK, {**BLOCK, "sd": numbers(0.2, 4.0, 1.0)}))
    assert_allclose(plain.noise, np.full(3, 0.04), rtol=1e-12)
    assert_allclose(own.noise, [0.04, 16.0, 1.0], rtol=1e-12)
    assert_allclose(own.mean, plain.mean, rtol=1e-12)
    assert_allclose(own.total - own.noise, plain.total - plain.noise, rtol=1e-12)
    assert_allclose(own.upper - own.lower, 2.0 * float(norm.ppf(0.975)) * np.sqrt(own.total), rtol=1e-9)


def test_a_row_without_noise_among_rows_that_bring_it_has_no_prediction() -> None:
    block: Block = {**MIXED, "sd": numbers(0.2, 1.0, None, 1.0, -2.0)}
    found = predict(served(version_of_known_noise()), PredictRequest(block, replace(REFUSING, covariance=True)))
    assert isinstance(found, RegressionPrediction)
    assert [(fault.row, fault.column) for fault in found.faults] == [(1, "x"), (2, "sd"), (3, "colour"), (4, "sd")]
    assert_allclose(found.noise, [0.04, np.nan, np.nan, np.nan, np.nan])
    assert found.covariance is not None
    assert found.covariance[0, 0] == pytest.approx(found.total[0])


def test_many_rows_keep_each_its_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "ROWS_AT_ONCE", 2)
    own = reals(version_of_known_noise(), {**BLOCK, "sd": numbers(0.2, 4.0, 1.0)})
    assert_allclose(own.noise, [0.04, 16.0, 1.0], rtol=1e-12)
