"""The evidence, hyperprior and price of a version are those that its document and its training rows state."""

import json
from functools import cache
from math import log, pi

import numpy as np
import pytest

from app.exports.formats import RENDERINGS
from relevance_bayes.core.algorithms import Algorithm, Greedy, ReEstimation, Sequential
from relevance_bayes.core.basis import Basis, Bias, Inputs, KernelBasis
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, EvidenceWidth, FixedWidth
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    Categorical,
    GaussianNoise,
    Likelihood,
    LogGaussian,
    OneAgainstRest,
    Poisson,
    StudentT,
)
from relevance_bayes.core.models.model import Model, Prior, Spec
from relevance_bayes.core.models.pool import members_of
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.types import Array
from relevance_bayes.tables.encoding import EncodedNumber, Encoding
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from tests.exports import oracle
from tests.exports.oracle import Json, Members
from tests.exports.trained import encoded_target, exported

N = 40

PRIORS: dict[str, tuple[Prior, Algorithm]] = {
    "sequential": (Independent(), Sequential()),
    "single moves": (Independent(), Sequential("single")),
    "priced": (Independent(price=True), Sequential()),
    "mackay": (Independent(), ReEstimation()),
    "em": (Independent(), ReEstimation("em")),
    "hyperpriors": (Independent(a=0.5, b=0.1), ReEstimation()),
    "process": (GaussianProcess("rows", 1.0, 12), Greedy()),
    "free vectors": (GaussianProcess("optimised", 1.0, 8), Greedy()),
    "power": (GaussianProcess("rows", 1.0, 12, 0.5), Greedy()),
    "fitc": (GaussianProcess("rows", 1.0, 12, 1.0), Greedy()),
}
LIKELIHOODS: dict[str, Likelihood] = {
    "gaussian": GaussianNoise(),
    "known noise": GaussianNoise(0.1),
    "noise by row": GaussianNoise("rows"),
    "log_gaussian": LogGaussian(),
    "student_t": StudentT(),
    "poisson": Poisson(),
    "bernoulli": Bernoulli(),
    "categorical": Categorical(3),
    "one_against_rest": OneAgainstRest(3),
}
SLOW = {
    ("categorical", "em"),
    ("categorical", "mackay"),
    ("categorical", "hyperpriors"),
    ("student_t", "em"),
    ("student_t", "mackay"),
    ("noise by row", "em"),
}
"""Re-estimation creeps for hundreds of steps, in which the sites settle anew: as much as all others together."""

CASES = [
    pytest.param(likelihood, prior, marks=[pytest.mark.thorough] if (likelihood, prior) in SLOW else [])
    for likelihood, one in LIKELIHOODS.items()
    for prior, (two, _) in PRIORS.items()
    if one.is_conjugate or not two.rho
]


def rows_for(likelihood: Likelihood) -> Rows:
    rng = np.random.default_rng(11)
    X = np.column_stack([np.sort(rng.uniform(-2.0, 2.0, N)), rng.uniform(-1.0, 1.0, N)])
    f = np.sin(2.0 * X[:, 0]) + 0.4 * X[:, 1]
    noisy = f + 0.2 * rng.standard_normal(N)
    match likelihood:
        case LogGaussian():
            t = np.exp(noisy)
        case Poisson():
            t = rng.poisson(np.exp(1.0 + f)).astype(np.float64)
        case Bernoulli():
            t = (f + 0.5 * rng.standard_normal(N) > 0.0).astype(np.float64)
        case Categorical() | OneAgainstRest():
            t = np.digitize(noisy, [-0.5, 0.5]).astype(np.float64)
        case _:
            t = noisy
    return Rows(X, t, np.linspace(0.1, 0.4, N) if likelihood.noise_by_row else None)


@cache
def document(name: str, prior: str) -> tuple[Members, Rows]:
    """A version as it is exported, and the rows that it was trained on."""
    likelihood, (weights, algorithm) = LIKELIHOODS[name], PRIORS[prior]
    process = isinstance(weights, GaussianProcess)
    warp = process and likelihood.has_target_units and prior == "process"
    width = EvidencePerInputWidth() if process else FixedWidth(1.2)
    basis: tuple[Basis, ...] = (
        KernelBasis(Gaussian(), width, "evidence" if warp else "none"),
        Bias(),
        *([Inputs()] if process else []),
    )
    rows = rows_for(likelihood)
    spec = Spec(likelihood, basis, weights, algorithm)
    *_, found = train(rows, Selection(spec))
    assert isinstance(found, Trained)
    inputs = tuple(EncodedNumber(name, "number", 0.0, 1.0, fill=None, indicator=False) for name in ("x", "z"))
    predictor = SupervisedPredictor(Encoding(inputs, encoded_target(likelihood)), found.model)
    complete: Members = json.loads(RENDERINGS["json"].render(exported(predictor, spec)))
    return complete, rows


def targets(rows: Rows, likelihood: Members, model: Members) -> Array:
    """As the latents have them, (N,) or (N, K); under a process less the mean of the constant's prior, their own."""
    t = rows.t
    match likelihood["type"]:
        case "log_gaussian":
            t = np.log(t)
        case "one_against_rest":
            t = np.asarray(np.equal.outer(t, np.arange(3.0)), np.float64)
        case _:
            pass
    if model["signal_variance"] is None or likelihood["type"] in {"poisson", "bernoulli", "categorical"}:
        return t
    return np.asarray(t - np.average(t, axis=0, weights=None if rows.noise_sd is None else rows.noise_sd**-2))


def recomputed(complete: Members, rows: Rows, prior: Prior) -> tuple[float, str]:
    """The evidence in the units of t, and its kind."""
    model = complete["model"]
    assert isinstance(model, dict)
    likelihood = model["likelihood"]
    assert isinstance(likelihood, dict)
    K, c = oracle.prior_covariance(rows.X, model)
    t, process = targets(rows, likelihood, model), model["signal_variance"] is not None
    sd = model["noise_sd"]
    match likelihood["type"]:
        case "gaussian" | "log_gaussian" | "one_against_rest":
            noise = np.full(len(t), float(str(sd)) ** 2) if rows.noise_sd is None else rows.noise_sd**2
            value = oracle.gaussian_evidence(t, K, c, noise, prior.rho)
            if likelihood["type"] == "log_gaussian":
                value -= float(np.log(rows.t).sum())
            return value, "lower_bound" if process and prior.rho < 1.0 else "exact"
        case "poisson" | "bernoulli" if not process:
            return oracle.laplace_evidence(t, K, str(likelihood["type"])), "laplace"
        case _:
            scale = None
            if likelihood["type"] == "student_t":
                dof = float(str(likelihood["degrees_of_freedom"]))
                scale = float(str(sd)) * ((dof - 2.0) / dof) ** 0.5
                if process:  # the document's constant has the targets' mean in it
                    model = centred(model, float(rows.t.mean()))
            return oracle.variational_evidence(rows.X, t, model, oracle.Expectation(likelihood, scale)), "lower_bound"


def centred(model: Members, mean: float) -> Members:
    """With the constant's weight less the mean of its prior."""
    parts, weights = model["functions"], np.array(model["mean"], np.float64)
    assert isinstance(parts, list)
    place = 0
    for part in parts:
        assert isinstance(part, dict)
        if part["type"] == "bias":
            weights[place] -= mean
        centres = part.get("centres", part.get("columns", [0]))
        assert isinstance(centres, list)
        place += len(centres)
    reported: list[Json] = weights.tolist()
    return {**model, "mean": reported}


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "prior"), CASES)
def test_the_evidence_is_that_of_the_document_and_its_rows(name: str, prior: str) -> None:
    complete, rows = document(name, prior)
    weights = PRIORS[prior][0]
    model = complete["model"]
    assert isinstance(model, dict)
    evidence = model["evidence"]
    assert isinstance(evidence, dict)
    value, kind = recomputed(complete, rows, weights)
    assert evidence["kind"] == kind
    assert evidence["value"] == pytest.approx(value, rel=1e-6, abs=2e-5)
    functions = np.array(model["alpha"], np.float64)
    expected = oracle.price(int(str(model["candidates"])), len(functions)) if prior == "priced" else 0.0
    assert evidence["price"] == pytest.approx(expected, abs=1e-9)
    if isinstance(weights, Independent):
        hyperprior = oracle.log_gamma_densities(functions, weights.a, weights.b)
        assert evidence["log_hyperprior"] == pytest.approx(hyperprior, abs=1e-9)
    else:
        assert evidence["log_hyperprior"] == pytest.approx(process_hyperprior(model, rows), abs=1e-6)
    assert_in_the_users_units(complete, evidence)


def process_hyperprior(model: Members, rows: Rows) -> float:
    """Exponential in each 1/width, Cauchy in each warp, normal in the log of the linear columns' precision."""
    parts = model["functions"]
    assert isinstance(parts, list)
    total, place = 0.0, 0
    for part in parts:
        assert isinstance(part, dict)
        if part["type"] == "kernel":
            widths = np.array(part["widths"], np.float64)
            total += float(np.sum(log(2.0) - 2.0 / widths))
            if part["skew"] is not None:
                warps = np.concatenate([np.array(part[name], np.float64) for name in ("skew", "tail")])
                total -= float(np.sum(np.log(pi * 0.2 * (1.0 + (warps / 0.2) ** 2))))
            place += len(part["centres"]) if isinstance(part["centres"], list) else 0
        elif part["type"] == "bias":
            place += 1
        else:
            precision = np.array(model["alpha"], np.float64)[place]
            likelihood = model["likelihood"]
            assert isinstance(likelihood, dict)
            square = 1.0
            if likelihood["type"] not in {"poisson", "bernoulli", "categorical"}:
                weights = None if rows.noise_sd is None else rows.noise_sd**-2
                square = float(np.mean(np.average(targets(rows, likelihood, model) ** 2, axis=0, weights=weights)))
            offset = (log(precision * square) - log(2.0)) / 3.0
            total += -0.5 * offset**2 - log(3.0 * (2.0 * pi) ** 0.5)
            place += 2
    return total


def assert_in_the_users_units(complete: Members, evidence: Members) -> None:
    """The report has the evidence of the target as the user has it, of y = scale t + shift."""
    report, target = complete["report"], complete["target"]
    assert isinstance(report, dict)
    assert isinstance(target, dict)
    members = report["members"]
    assert isinstance(members, list)
    (member,) = members
    assert isinstance(member, dict)
    reported = member["evidence"]
    assert isinstance(reported, dict)
    value = float(str(evidence["value"])) - N * log(float(str(target["scale"])))
    assert reported == {**evidence, "value": pytest.approx(value, rel=1e-12)}


def test_a_hyperprior_on_the_noise_is_apart_too() -> None:
    rows, prior = rows_for(GaussianNoise()), Independent(a=0.5, b=0.1, c=2.0, d=0.05)
    *_, found = train(
        rows, Selection(Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(1.2)), Bias()), prior, ReEstimation()))
    )
    assert isinstance(found, Trained)
    model = found.model
    assert model.noise_sd is not None
    expected = oracle.log_gamma_densities(model.alpha, 0.5, 0.1)
    expected += oracle.log_gamma_densities(np.array([model.noise_sd**-2]), 2.0, 0.05)
    assert model.evidence.log_hyperprior == pytest.approx(expected, abs=1e-9)


@cache
def pooled() -> tuple[Trained, Rows]:
    rng = np.random.default_rng(1)
    X = rng.uniform(-2.0, 2.0, (60, 2))
    t = np.sin(2.0 * X[:, 0]) + np.abs(X[:, 1]) + 0.2 * rng.standard_normal(60)
    rows = Rows(X, (t - t.mean()) / t.std())
    bases = [KernelBasis(Gaussian(), width) for width in (EvidencePerInputWidth(), EvidenceWidth())]
    specs = [Spec(GaussianNoise(), (one, Bias(), Inputs()), GaussianProcess("rows"), Greedy()) for one in bases]
    *_, found = train(rows, Selection(specs[0], pool=(specs[1],)))
    assert isinstance(found, Trained)
    return found, rows


def test_the_evidence_of_a_member_is_that_of_its_functions_and_beside_it_the_whole_process() -> None:
    """The unreduced process is at other hyperparameters: what is kept learns on with the functions that are left."""
    found, rows = pooled()
    for member, model in zip(found.members, members_of(found.learned), strict=True):
        complete = one_of(model, member.spec)
        value, kind = recomputed(complete, rows, member.spec.prior)
        assert model.evidence.kind == kind == "lower_bound"
        assert model.evidence.value == pytest.approx(value, rel=1e-6, abs=1e-4)
        assert member.evidence.kind == "exact"
        # Of the same hyperparameters it is above the bound, and at its own greatest above that.
        assert member.evidence.value + member.evidence.log_hyperprior > value + model.evidence.log_hyperprior - 1e-6


def one_of(model: Model, spec: Spec) -> Members:
    inputs = tuple(EncodedNumber(name, "number", 0.0, 1.0, fill=None, indicator=False) for name in ("x", "z"))
    predictor = SupervisedPredictor(Encoding(inputs, encoded_target(spec.likelihood)), model)
    complete: Members = json.loads(RENDERINGS["json"].render(exported(predictor, spec)))
    return complete
