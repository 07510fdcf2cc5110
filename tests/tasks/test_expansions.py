"""Versions as sums of Gaussians: which are none, and why."""

from dataclasses import replace

import numpy as np
import pytest

from app.errors import ConflictError
from relevance_bayes.core.likelihoods import Bernoulli, BernoulliPerClass, LogGaussian
from relevance_bayes.core.models.classes import PerClass
from relevance_bayes.core.models.pool import LearnedModel, Pool
from relevance_bayes.tasks.components.training import NewComponentsVersion
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.served_versions import served
from tests.small_components import version_of_components
from tests.small_models import small_version, version_of_three_classes


def of_numbers() -> NewSupervisedVersion:
    """A version that reads `x` alone, as far as its encoding goes."""
    made = small_version()
    encoding = replace(made.predictor.encoding, inputs=made.predictor.encoding.inputs[:1])
    return replace(made, predictor=replace(made.predictor, encoding=encoding))


def under_logarithms() -> NewSupervisedVersion:
    made = of_numbers()
    model = replace(made.predictor.model, likelihood=LogGaussian())
    return replace(made, predictor=replace(made.predictor, learned=model))


def without_kernels() -> NewSupervisedVersion:
    made = of_numbers()
    model = replace(made.predictor.model, functions=made.predictor.model.functions[1:])
    return replace(made, predictor=replace(made.predictor, learned=model))


def of_several(learned: LearnedModel) -> NewSupervisedVersion:
    made = of_numbers()
    return replace(made, predictor=replace(made.predictor, learned=learned))


ONE = of_numbers().predictor.model
POOLED = Pool((ONE, ONE), np.array([0.5, 0.5]))
BY_CLASS = PerClass((replace(ONE, likelihood=Bernoulli(), noise_sd=None),) * 3, BernoulliPerClass(3))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (small_version(), "some inputs are texts"),
        (version_of_three_classes(), "some inputs are texts"),
        (under_logarithms(), "under log_gaussian"),
        (without_kernels(), "it is a constant"),
        (of_several(POOLED), "several models predict together"),
        (of_several(BY_CLASS), "several models predict together"),
        (version_of_components(), "it finds components of rows"),
    ],
    ids=["texts", "classes", "logarithms", "a constant", "a pool", "a model for each class", "components"],
)
def test_what_is_no_sum_of_gaussians_states_why(made: NewSupervisedVersion | NewComponentsVersion, words: str) -> None:
    with pytest.raises(ConflictError) as refused:
        served(made).model.expansion()
    assert words in refused.value.detail
    assert "train with" in refused.value.detail
