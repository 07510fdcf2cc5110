"""One row in scalars is what `Ready.predict` and `ReadyPool.predict` make of it, for all options."""

import numpy as np
import pytest

from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, StudentT
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.pool import AnyReady, Pool, one_row, ready_of
from relevance_bayes.core.models.prediction import Ready, RealPrediction
from tests.library.core.drawn import process_spec, ripley, sinc
from tests.library.core.models.test_pool import pool

NEW = np.linspace(-16.0, 16.0, 23)[:, None]


def ready(name: str) -> AnyReady:
    X, t = sinc(40, 0)
    match name:
        case "pool":
            return ready_of(pool())
        case "pool of one":
            return ready_of(Pool((fit(X, t, process_spec(GaussianNoise())),), np.ones(1)))
        case "warped":
            return Ready.of(fit(X, t, process_spec(GaussianNoise(), kernel=Gaussian(), warp="evidence")))
        case "known noise":
            return Ready.of(fit(X, t, process_spec(GaussianNoise(0.1), kernel=Matern32())))
        case _:
            return Ready.of(fit(X, t, process_spec(GaussianNoise(), kernel=Matern32(), inputs=True)))


@pytest.mark.parametrize("name", ["pool", "pool of one", "warped", "known noise", "inputs"])
def test_one_row_is_predicted_as_among_others(name: str) -> None:
    found, predicted = ready(name), one_row(ready(name))
    assert predicted is not None
    many, support = found.predict(NEW)
    assert isinstance(many, RealPrediction)
    assert support is not None
    for n, x in enumerate(NEW):
        one = predicted(x)
        expected = [many.mean[n], many.noise[n], many.weights[n], many.residual[n], support[n]]
        np.testing.assert_allclose(np.array(one, np.float64), expected, rtol=1e-9, atol=1e-12)


def test_other_likelihoods_have_no_scalars() -> None:
    assert one_row(Ready.of(fit(*ripley(40, 0), process_spec(Bernoulli())))) is None
    assert one_row(Ready.of(fit(*sinc(40, 0), process_spec(StudentT())))) is None
