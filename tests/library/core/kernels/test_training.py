"""Every kernel under every prior and algorithm that takes it, and what a periodic one learns."""

from itertools import product
from typing import get_args

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Greedy
from relevance_bayes.core.basis import Bias, KernelBasis, KernelFunctions
from relevance_bayes.core.errors import IllegalCombinationError
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.kernels.by_input import Periodic
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.model import Algorithm, Model, Prior, Spec, check
from relevance_bayes.core.models.prediction import NumberPrediction, predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.types import Array

X = np.random.default_rng(1).uniform(0.0, 10.0, (120, 1))
BEYOND = np.linspace(20.0, 30.0, 40)[:, None]
PERIOD = 2.5


def wave(X: Array) -> Array:
    turns: Array = 2.0 * np.pi * X[:, 0] / PERIOD
    return np.sin(turns) + 0.4 * np.cos(2.0 * turns)


T = wave(X) + 0.1 * np.random.default_rng(2).standard_normal(len(X))


def learned(spec: Spec) -> Model:
    *_, found = train(Rows(X, T), Selection(spec))
    assert isinstance(found, Trained)
    assert isinstance(found.learned, Model)
    return found.learned


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", [member() for member in get_args(Kernel)], ids=lambda kernel: kernel.type)
def test_it_is_learned_by_every_prior_and_algorithm_that_takes_it(kernel: Kernel) -> None:
    basis, trained = (KernelBasis(kernel, FixedWidth(PERIOD)), Bias()), 0
    for prior, algorithm in product(get_args(Prior), get_args(Algorithm)):
        spec = Spec(GaussianNoise(), basis, prior(), algorithm())
        try:
            check(spec)
        except IllegalCombinationError:
            continue
        model = learned(spec)
        assert model.size <= len(X) + 1
        assert np.isfinite(model.evidence.value)
        found = predict(model, BEYOND)
        assert isinstance(found, NumberPrediction)
        assert np.isfinite(found.variance).all()
        trained += 1
    assert trained >= (3 if kernel.is_stationary and kernel.is_positive_definite else 2)


def of_a_process(width: FixedWidth | EvidencePerInputWidth) -> Model:
    return learned(Spec(GaussianNoise(), (KernelBasis(Periodic(), width), Bias()), GaussianProcess(), Greedy()))


def error_beyond(model: Model) -> float:
    found = predict(model, BEYOND)
    assert isinstance(found, NumberPrediction)
    return float(np.sqrt(np.mean((found.mean - wave(BEYOND)) ** 2)))


def test_a_period_that_is_given_continues_a_wave_beyond_the_data() -> None:
    assert error_beyond(of_a_process(FixedWidth(PERIOD))) < 0.06


def test_a_period_that_is_learned_may_be_several_of_the_waves() -> None:
    model = of_a_process(EvidencePerInputWidth())
    kernel = model.functions[0]
    assert isinstance(kernel, KernelFunctions)
    periods = float(kernel.input_map.widths[0]) / PERIOD
    assert round(periods) >= 1
    assert abs(periods - round(periods)) < 0.02
    assert error_beyond(model) < 0.5 * np.std(wave(BEYOND))
