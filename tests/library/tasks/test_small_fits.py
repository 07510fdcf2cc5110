"""Small default fits predict as stored: a change of a prediction is stated by the one who makes it."""

from typing import get_args

import numpy as np
import pytest

from relevance_bayes.core.likelihoods import LogVariance, TargetLikelihood
from tests.library.tasks.small_fits import FITS, SmallFit, approximation, components, image, stored, supervised

RENEWAL = (
    "{} predicts otherwise than stored. Where that is intended, store all again by"
    " `python -m tests.library.tasks.small_fits` and list in the changelog which predictions change and why."
)


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: fit.name)
def test_a_small_fit_has_the_functions_and_predictions_that_are_stored(fit: SmallFit) -> None:
    expected, got = stored()[fit.name], fit.figures()
    assert {**got}.keys() == expected.keys(), RENEWAL.format(fit.name)
    assert got["functions"] == tuple(expected["functions"]), RENEWAL.format(fit.name)
    for name, values in got.items():
        np.testing.assert_allclose(
            values, expected[name], rtol=fit.tolerance, err_msg=f"{RENEWAL.format(fit.name)} ({name})"
        )


def test_every_task_and_likelihood_has_a_small_fit() -> None:
    likelihoods = {str(one.type) for one in get_args(TargetLikelihood)} - {LogVariance.type, "gaussian", "bernoulli"}
    names = {fit.name for fit in FITS}
    assert likelihoods | {"curve", "heteroscedastic", "two classes"} < names
    assert {fit.fit for fit in FITS} == {supervised, approximation, components, image}
    assert stored().keys() == names
