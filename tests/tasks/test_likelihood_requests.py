from typing import get_args
from uuid import UUID

from relevance_bayes.core.likelihoods import GaussianNoise, LogVariance
from relevance_bayes.core.likelihoods import TargetLikelihood as Likelihood
from relevance_bayes.tasks.supervised.request import (
    AnyLikelihood,
    GaussianLikelihood,
    NoiseColumn,
    SupervisedRequest,
    named_likelihood,
)
from relevance_bayes.tasks.supervised.target import core_likelihood, noise_column


def test_every_likelihood_of_the_core_can_be_requested() -> None:
    of_targets = set(get_args(Likelihood)) - {LogVariance}
    assert {*get_args(AnyLikelihood), GaussianNoise} - {GaussianLikelihood} == of_targets


def test_a_job_shows_the_likelihood_of_its_request() -> None:
    gaussian: list[AnyLikelihood] = [
        GaussianLikelihood(sd) for sd in ("learned", "heteroscedastic", 0.5, NoiseColumn("sd"))
    ]
    others: list[AnyLikelihood] = [kind() for kind in get_args(AnyLikelihood) if kind is not GaussianLikelihood]
    for likelihood in (*gaussian, *others):
        meant = core_likelihood(likelihood)
        assert meant is not None
        column = noise_column(SupervisedRequest(UUID(int=0), "y", likelihood=likelihood))
        assert named_likelihood(meant, column) == likelihood
    assert core_likelihood(None) is None
