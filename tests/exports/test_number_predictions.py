"""Predictions of every likelihood of numbers: the generated source on wide grids, beside the core."""

from typing import get_args

import numpy as np
import pytest

from app.exports.onnx_file.functions import is_writable
from app.exports.python_file.functions import number_members
from app.exports.python_file.writing import Program, needed
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.likelihoods.base import LatentGaussian, NumberLikelihood
from relevance_bayes.core.tracing import TRACING, Traced

MEMBERS = [member() for member in get_args(Likelihood) if issubclass(member, NumberLikelihood)]

each_likelihood = pytest.mark.parametrize("likelihood", MEMBERS, ids=lambda member: member.type)


def has_ends(likelihood: NumberLikelihood) -> bool:
    """Return whether there is a formula for them."""
    m, v, n = (Traced("parameter") for _ in range(3))
    return likelihood.ends(TRACING, m, v, n, 1.96) is not None


@each_likelihood
def test_generated_source_computes_the_prediction(likelihood: NumberLikelihood) -> None:
    rng = np.random.default_rng(1)
    sd = np.repeat([0.0, 0.1, 1.0, 5.0], 30)
    mean, weights, residual = rng.normal(size=120), 0.3 * sd**2, 0.7 * sd**2
    noise_sd = np.exp(rng.uniform(-3.0, 2.0, 120))
    program = Program()
    members = number_members(program, likelihood, "3.0, 2.0")
    constants = "\n".join(f"{name} = {text}" for name, text in program.constants.items())
    functions = "\n".join(program.functions.values())
    assert max(map(len, functions.splitlines()), default=0) <= 140
    source = f"import math\n{constants}\n{functions}\nreported = {members}"
    known: dict[str, object] = {"np": np, "Array": np.ndarray, "mean": mean, "weights": weights, "residual": residual}
    known["noise_sd"] = noise_sd
    exec("\n".join([*needed(source), source]), known)
    reported = known["reported"]
    assert isinstance(reported, dict)
    expected = likelihood.predictive(LatentGaussian(mean, weights, residual), noise_sd)
    required = {"mean": 3.0 + 2.0 * expected.mean, "variance": 4.0 * expected.variance}
    required |= {"variance_weights": 4.0 * expected.weights, "variance_residual": 4.0 * expected.residual}
    if has_ends(likelihood):
        lower, upper = expected.interval(0.95)
        required |= {"lower": 3.0 + 2.0 * lower, "upper": 3.0 + 2.0 * upper}
    assert set(reported) == {*required, "variance_noise"}
    for name, values in required.items():
        np.testing.assert_allclose(reported[name], values, rtol=1e-10, atol=1e-10, err_msg=name)


def test_an_iteration_is_written_as_a_loop_that_onnx_leaves_out() -> None:
    m, v, n = (Traced("parameter") for _ in range(3))
    writable = {
        likelihood.type: is_writable(ends)
        for likelihood in MEMBERS
        if (ends := likelihood.ends(TRACING, m, v, n, 1.96)) is not None
    }
    assert writable == {"gaussian": True, "student_t": False, "log_gaussian": True, "logit_gaussian": True}
