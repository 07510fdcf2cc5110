from dataclasses import replace

import numpy as np

from app.sparse_bayes.basis import Bias, ConstantFunction, Functions, KernelBasis, KernelFunctions
from app.sparse_bayes.kernels import Gaussian
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.scales import FixedWidth, InputMap
from app.sparse_bayes.selection import Rows, Trained
from app.sparse_bayes.spec import Spec
from app.worker.report import _widths
from tests.worker.trainers import model_of

SPEC = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(2.0)), Bias()))
X = np.arange(6.0).reshape(3, 2)


def trained(*functions: Functions) -> Trained:
    model = model_of(Rows(X, np.arange(3.0)), SPEC)
    return Trained(replace(model, functions=functions), SPEC, {})


def kernels(*widths: float) -> KernelFunctions:
    return KernelFunctions(Gaussian(), InputMap(np.array(widths)), X[:2], np.arange(2))


def test_one_width_is_one_number_and_one_for_each_input_are_as_many() -> None:
    assert _widths(trained(kernels(2.0), ConstantFunction())) == (2.0,)
    assert _widths(trained(kernels(0.5, 3.0), ConstantFunction())) == (0.5, 3.0)
    assert _widths(trained(kernels(0.5, 3.0), kernels(4.0))) == (0.5, 3.0, 4.0)


def test_a_model_without_kernels_names_the_width_that_was_asked_for() -> None:
    assert _widths(trained(ConstantFunction())) == (2.0,)
