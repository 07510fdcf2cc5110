"""Explanations add up to what is predicted, and weights are in the units of that, under every likelihood and prior."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from app.identity import BUILT_IN_OWNER as OWNER
from app.registry.catalogue import Catalogue
from app.tasks import weight_unit
from relevance_bayes.core.basis import Basis, Bias, Inputs, KernelBasis, evaluate
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import LogGaussian, LogitGaussian, TargetLikelihood
from relevance_bayes.core.likelihoods.counts import CountLikelihood
from relevance_bayes.core.models.classes import PerClass
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pool import members_of, n_functions
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.priors import GaussianProcess, Independent, Prior
from relevance_bayes.core.types import Array
from relevance_bayes.records.functions import ClassWeight, RelevanceVector
from relevance_bayes.records.models import Reference
from relevance_bayes.tables.encoding import EncodedTarget, encode_inputs
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.training import listed_terms
from relevance_bayes.tasks.listing import FunctionLocation
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, Explanation, RegressionPrediction
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.exports.trained import LIKELIHOODS, MIXED, block, version
from tests.narrowing import of_kind
from tests.small_database import SmallDatabase
from tests.small_models import small_version, version_of_three_classes

BASIS: tuple[Basis, ...] = (KernelBasis(Gaussian(), FixedWidth(3.0)), Bias(), Inputs())
PRIORS: tuple[Prior, ...] = (Independent(), GaussianProcess("rows", 3.0, 12))
NEW = block(MIXED, 30, 5, gaps=False)

each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=str)
each_prior = pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.type)


def predicting(likelihood: TargetLikelihood, prior: Prior) -> SupervisedModel:
    made = version(likelihood, BASIS, prior)
    return SupervisedModel.of(made.predictor, made.report)


def latent_mean(known: SupervisedModel, response: RegressionPrediction | ClassificationPrediction) -> Array:
    """That of the prediction, by another way than through its functions one by one."""
    if isinstance(response, ClassificationPrediction):
        if response.latent_mean.ndim == 1:
            return response.latent_mean
        return response.latent_mean[np.arange(len(response.latent_mean)), response.most_probable]
    inputs, _ = encode_inputs(known.predictor.encoding, NEW)
    ready = known.ready
    assert isinstance(ready, Ready)
    found = ready.latent(inputs)
    match known.predictor.model.likelihood:
        case LogGaussian():  # the logarithm of the median
            prediction, _ = known.ready.predict(inputs)
            return np.log(known.predictor.encoding.target.scale * prediction.quantile(0.5))  # type: ignore[union-attr]
        case LogitGaussian():  # the logit of the median
            prediction, _ = known.ready.predict(inputs)
            median = prediction.quantile(0.5)  # type: ignore[union-attr]
            return np.log(median) - np.log1p(-median)
        case CountLikelihood():  # a log-normal rate has the mean exp(m + v/2)
            return np.log(response.mean) - 0.5 * found.variance
        case _:
            return response.mean


def assert_adds_up(found: Explanation, mean: Array) -> None:
    size = np.abs(found.baseline) + np.abs(found.added).sum(axis=1) + np.abs(found.others) + np.abs(mean)
    assert np.all(np.abs(found.mean - mean) <= 1e-9 * size)
    full = found.baseline + found.added.sum(axis=1) + found.others
    assert np.all(np.abs(full - mean) <= 1e-9 * size)


@pytest.mark.thorough
@each_likelihood
@each_prior
@pytest.mark.parametrize("max_functions", [1, 20])
def test_a_baseline_the_contributions_and_the_others_are_the_mean(
    likelihood: TargetLikelihood, prior: Prior, max_functions: int
) -> None:
    known = predicting(likelihood, prior)
    response = known.predict(NEW, PredictOptions(explain=max_functions))
    assert isinstance(response, RegressionPrediction | ClassificationPrediction)
    assert response.explanation is not None
    assert_adds_up(response.explanation, latent_mean(known, response))
    if max_functions >= n_functions(known.predictor.learned):
        assert_allclose(response.explanation.others, 0.0, atol=1e-9 * np.abs(response.explanation.mean).max())
    elif max_functions == 1 and isinstance(prior, GaussianProcess):
        assert np.abs(response.explanation.others).max() > 1e-3


@each_likelihood
def test_weights_times_functions_are_what_is_added(likelihood: TargetLikelihood) -> None:
    made = version(likelihood, BASIS)
    learned, target = made.predictor.learned, made.predictor.encoding.target
    response = SupervisedModel.of(made.predictor, made.report).predict(NEW, PredictOptions(explain=20))
    assert isinstance(response, RegressionPrediction | ClassificationPrediction)
    found = response.explanation
    assert found is not None
    inputs, _ = encode_inputs(made.predictor.encoding, NEW)
    if isinstance(learned, Model) and learned.mean.ndim > 1:
        return
    terms = np.hstack([added(model, inputs, target) for model in members_of(learned)])
    if isinstance(learned, PerClass):
        assert isinstance(response, ClassificationPrediction)
        of_class = np.repeat(np.arange(3), [len(model.mean) for model in learned.members])
        terms = np.where(of_class == response.most_probable[:, None], terms, 0.0)
    assert_allclose(found.added, np.take_along_axis(terms, found.functions, axis=1), rtol=1e-9)


def added(model: Model, inputs: Array, target: EncodedTarget) -> Array:
    weights = [of_kind(float, vector(weight).in_units(target.latent_unit).weight_mean) for weight in model.mean]
    return np.asarray(evaluate(model.functions, inputs) * np.array(weights))


def vector(weight: float) -> RelevanceVector:
    return RelevanceVector(
        number=1, kind="bias", row=None, inputs=None, weight_mean=float(weight), weight_sd=0.5, alpha=4.0, gamma=0.9
    )


def test_a_vector_in_other_units_is_the_same_gaussian_and_prior() -> None:
    reported = vector(-1.5).in_units(10.0)
    assert (reported.weight_mean, reported.weight_sd, reported.gamma) == (-15.0, 5.0, 0.9)
    assert reported.alpha == pytest.approx(0.04)
    several = replace(vector(0.0), weight_mean=None, weight_means=(ClassWeight("a", 2.0),)).in_units(10.0)
    assert (several.weight_mean, several.weight_means) == (None, (ClassWeight("a", 20.0),))
    assert vector(1e300).in_units(1e300).weight_mean == np.finfo(np.float64).max


@pytest.mark.parametrize(
    ("made", "unit"),
    [(small_version(), 2.0), (small_version("classification", name="classes"), 1.0), (version_of_three_classes(), 1.0)],
    ids=["a number", "two classes", "three classes"],
)
def test_a_versions_functions_are_listed_in_the_targets_units(
    stored: SmallDatabase, made: NewSupervisedVersion, unit: float
) -> None:
    stored.put_version(OWNER, made, number=1)
    catalogue = Catalogue(stored.transaction, weight_unit)
    page = catalogue.vectors(OWNER, Reference(made.report.plan.model, 1), limit=10, after=None, sort="number")
    assert page.items == tuple(one.in_units(unit) for one in made.vectors)
    assert [one.weight_sd for one in page.items] == pytest.approx([unit * one.weight_sd for one in made.vectors])


def test_the_terms_of_a_known_function_add_up_with_its_constant() -> None:
    draw = np.random.default_rng(3)
    terms = replace(KernelExpansion.of_width(0.8, draw.normal(size=(4, 2)), draw.normal(size=4)), constant=1.5)
    weights = [one.weight_mean for one in listed_terms(terms, ("x", "z"), [FunctionLocation("gaussian")] * 4)]
    places = draw.normal(size=(20, 2))
    away = ((places[:, None] - terms.centres) / terms.widths) ** 2
    assert_allclose(terms(places), 1.5 + np.exp(-away.sum(axis=2)) @ np.array(weights, np.float64), rtol=1e-9)
