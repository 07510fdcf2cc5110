from typing import get_args

from app.tasks.schemas.specification import AnyLikelihood, GaussianLikelihood, NoiseColumn, requested, shown

from relevance_bayes.core.likelihoods import GaussianNoise, LogVariance
from relevance_bayes.core.likelihoods import TargetLikelihood as Likelihood


def test_every_likelihood_of_the_core_can_be_requested() -> None:
    of_targets = set(get_args(Likelihood)) - {LogVariance}
    assert {*get_args(AnyLikelihood), GaussianNoise} - {GaussianLikelihood} == of_targets


def test_what_is_requested_is_shown_as_it_was() -> None:
    gaussian: list[AnyLikelihood] = [
        GaussianLikelihood(sd) for sd in ("learned", "heteroscedastic", 0.5, NoiseColumn("sd"))
    ]
    others: list[AnyLikelihood] = [kind() for kind in get_args(AnyLikelihood) if kind is not GaussianLikelihood]
    for likelihood in (*gaussian, *others):
        meant, column = requested(likelihood)
        assert meant is not None
        assert shown(meant, column) == likelihood
    assert requested(None) == (None, None)
