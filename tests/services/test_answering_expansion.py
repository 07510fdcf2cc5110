"""Versions as sums of Gaussians: which are none, and why."""

from dataclasses import replace

import pytest

from app.domain.errors import ConflictError
from app.domain.models import NewComponentsVersion, NewSupervisedVersion
from app.services.answering import expansion_of
from app.sparse_bayes.likelihoods import LogGaussian
from tests.services.small_components import version_of_components
from tests.services.small_models import small_version, version_of_three_classes
from tests.services.test_answering import served


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


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (small_version(), "some inputs are texts"),
        (version_of_three_classes(), "some inputs are texts"),
        (under_logarithms(), "under log_gaussian"),
        (without_kernels(), "it is a constant"),
        (version_of_components(), "it tells components of rows"),
    ],
    ids=["texts", "classes", "logarithms", "a constant", "components"],
)
def test_what_is_no_sum_of_gaussians_says_why(made: NewSupervisedVersion | NewComponentsVersion, words: str) -> None:
    with pytest.raises(ConflictError) as refused:
        expansion_of(served(made))
    assert words in refused.value.detail
    assert "train with" in refused.value.detail
