from dataclasses import replace

import numpy as np

from app.domain.encoding import EncodedCategory, EncodedNumber, EncodedTarget, Encoding
from app.domain.models import InputWarp, InputWidth
from app.sparse_bayes.basis import Bias, ConstantFunction, Functions, KernelBasis, KernelFunctions
from app.sparse_bayes.kernels import Gaussian
from app.sparse_bayes.likelihoods import GaussianNoise, StudentT
from app.sparse_bayes.scales import FixedWidth, InputMap
from app.sparse_bayes.selection import Rows, Trained
from app.sparse_bayes.spec import Spec
from app.worker.report import _degrees_of_freedom, _warps, _widths
from tests.worker.trainers import model_of

SPEC = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(2.0)), Bias()))
X = np.arange(6.0).reshape(2, 3)
ENCODING = Encoding(
    (EncodedNumber("size", "number", 0.0, 1.0, None, False), EncodedCategory("colour", ("red", "blue"), None, False)),
    EncodedTarget("y", "number", 0.0, 1.0, ()),
)


def trained(*functions: Functions) -> Trained:
    model = model_of(Rows(X, np.arange(2.0)), SPEC)
    return Trained(replace(model, functions=functions), SPEC, {}, {})


def kernels(*widths: float, skew: list[float] | None = None, tail: list[float] | None = None) -> KernelFunctions:
    bent = InputMap(np.array(widths), *(None if warp is None else np.array(warp) for warp in (skew, tail)))
    return KernelFunctions(Gaussian(), bent, X, np.arange(2))


def test_a_shared_width_has_no_name_and_others_are_named() -> None:
    each = (InputWidth("size", 0.5), InputWidth("colour=red", 3.0), InputWidth("colour=blue", 1.0))
    assert _widths(trained(kernels(2.0), ConstantFunction()), ENCODING) == (InputWidth(None, 2.0),)
    assert _widths(trained(kernels(0.5, 3.0, 1.0), ConstantFunction()), ENCODING) == each
    assert _widths(trained(kernels(0.5, 3.0, 1.0), kernels(4.0)), ENCODING) == (*each, InputWidth(None, 4.0))


def test_a_model_without_kernels_names_the_width_that_was_asked_for() -> None:
    assert _widths(trained(ConstantFunction()), ENCODING) == (InputWidth(None, 2.0),)


def test_warps_are_named_where_there_are_some() -> None:
    assert _warps(trained(kernels(2.0), ConstantFunction()).model, ENCODING) == ()
    bent = kernels(2.0, skew=[0.1, 0.0, -0.2])
    assert _warps(trained(bent).model, ENCODING) == (
        InputWarp("size", 0.1, 0.0),
        InputWarp("colour=red", 0.0, 0.0),
        InputWarp("colour=blue", -0.2, 0.0),
    )
    assert _warps(trained(kernels(2.0, tail=[1.0, 2.0, 3.0])).model, ENCODING)[2] == InputWarp("colour=blue", 0.0, 3.0)


def test_degrees_of_freedom_are_told_where_noise_has_some() -> None:
    assert _degrees_of_freedom(StudentT(2.5)) == 2.5
    assert _degrees_of_freedom(GaussianNoise()) is None


def test_the_width_of_an_only_input_has_its_name() -> None:
    alone = Encoding(ENCODING.inputs[:1], ENCODING.target)
    assert _widths(trained(kernels(2.0), ConstantFunction()), alone) == (InputWidth("size", 2.0),)
