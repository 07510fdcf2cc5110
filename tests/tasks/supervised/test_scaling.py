"""One rule of scaling: a change of units of target or inputs changes the predictions by the same change of units.

t -> a t + b under Gaussian noise and Student's t, t -> a t under log-Gaussian noise, and x -> a x + b of each input
under every likelihood; from the table to the version and its predictions, under every prior and algorithm.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from app.errors import TrainingFailedError
from app.jobs.child import run
from relevance_bayes.core.algorithms import Algorithm, ReEstimation, Sequential, re_estimation
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
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
from relevance_bayes.core.models.model import Prior, _learns_noise
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.selection import train
from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tables.columns import Block, NumberArray
from relevance_bayes.tasks.fit import Fitted, Limits
from relevance_bayes.tasks.listing import Learned
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.materialise import materialise
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.report import SupervisedPredictor, SupervisedReport
from relevance_bayes.tasks.supervised.request import (
    GaussianLikelihood,
    GroupSplit,
    KernelChoice,
    SupervisedRequest,
    named_likelihood,
)
from relevance_bayes.tasks.supervised.target import core_likelihood
from relevance_bayes.tasks.supervised.training import SupervisedTraining
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, cut_up, dataset_of, texts

ROWS = 30
MANY = 10**9

Version: TypeAlias = tuple[SupervisedReport, SupervisedPredictor]

PRIORS: dict[str, tuple[Prior, Algorithm | None]] = {
    "process": (GaussianProcess("rows"), None),
    "sequential": (Independent(), Sequential()),
    "single moves": (Independent(), Sequential("single")),
    "priced": (Independent(price=True), Sequential()),
    "mackay": (Independent(), ReEstimation()),
    "em": (Independent(), ReEstimation("em")),
    "hyperpriors": (Independent(a=1e-3, b=1e-3, c=1e-3, d=1e-3), ReEstimation()),
}
IN_TARGET_UNITS: dict[str, Likelihood] = {
    "learned": GaussianNoise(),
    "known": GaussianNoise(0.1),
    "rows": GaussianNoise("rows"),
    "student t": StudentT(),
}
OTHERS: dict[str, Likelihood] = {
    "logarithm": LogGaussian(),
    "counts": Poisson(),
    "two classes": Bernoulli(),
    "three classes": Categorical(3),
    "one against rest": OneAgainstRest(3),
}
LIKELIHOODS = IN_TARGET_UNITS | OTHERS
CLASSES = ("two classes", "three classes", "one against rest")

ROUNDING = 1e-5
"""Of the target's standard deviation: iterations end where their gains vanish, and rounding decides which is the last.
Where the factors are powers of two nothing is rounded, and all is the same to the last bit."""

ROUNDING_OF_BOUNDS = 1e-4
"""The same where sites that depend on the latents are at rest once a step promises less than 1e-13 (1 + |L|) nats:
rounding decides whether the last is taken. Nats are quadratic in the latents, so that at the L of -152 nats where
re-estimation begins these are known to 5e-6 of their posterior sd. MacKay's gamma/mu^2 multiplies that where a weight
is near 0, and without a hyperprior nothing holds it: after 8 steps 1e-5 of the target's sd are left."""

SLOW = set(product(("student t", "three classes"), [prior for prior in PRIORS if prior != "process"]))
"""Likelihood and prior whose sites settle in a hundred rounds a step, in tens of steps: thorough."""

VARIANTS = {"single moves", "priced", "em", "hyperpriors"}
"""Priors and algorithms beside a member of the same family: those but of the noise that is learned are thorough, slow
ones are long."""

TARGET_UNITS = [(0.003, -40.0), (1.0, 1000.0), (-3.7e4, 12.5)]
"""a and b of a v + b; likelihoods and priors have them in turn, each all of them in `make long`."""

FOLDS = 10
"""Groups of rows for the temperature of classes."""


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """EM creeps for thousands of steps, each of which is in the same units."""
    monkeypatch.setattr(re_estimation, "MAX_ITERATIONS", 8)


def thorough(*, when: bool) -> list[pytest.MarkDecorator]:
    return [pytest.mark.thorough] if when else []


def long(*, when: bool) -> list[pytest.MarkDecorator]:
    return [pytest.mark.long] if when else []


def is_slow(name: str, prior: str) -> bool:
    return (name, prior) in SLOW or (prior in VARIANTS and name != "learned")


def each(names: Iterable[str]) -> pytest.MarkDecorator:
    """A case for each of these likelihoods and each prior."""
    pairs = list(product(names, PRIORS))
    return pytest.mark.parametrize(
        ("name", "prior"),
        [
            pytest.param(
                *pair, marks=[*thorough(when=is_slow(*pair)), *long(when=pair in SLOW and pair[1] in VARIANTS)]
            )
            for pair in pairs
        ],
    )


each_target_unit = pytest.mark.parametrize(
    ("name", "prior", "a", "b"),
    [
        pytest.param(*pair, *unit, marks=long(when=place != number % len(TARGET_UNITS)))
        for number, pair in enumerate(product(IN_TARGET_UNITS, PRIORS))
        for place, unit in enumerate(TARGET_UNITS)
    ],
)


def table(likelihood: Likelihood) -> dict[str, NumberArray]:
    """A curve in one input and a line in another, which are correlated with nothing else."""
    rng = np.random.default_rng(3)
    x, z = np.sort(rng.uniform(-6.0, 6.0, ROWS)), rng.uniform(-1.0, 1.0, ROWS)
    f = np.sinc(x / np.pi) + 0.3 * z
    noisy = f + 0.1 * rng.standard_normal(ROWS)
    match likelihood:
        case LogGaussian():
            y = np.exp(noisy)
        case Poisson():
            y = rng.poisson(np.exp(1.0 + f)).astype(np.float64)
        case Bernoulli():
            y = (noisy > 0.1).astype(np.float64)
        case Categorical() | OneAgainstRest():
            y = np.digitize(noisy, [-0.1, 0.25]).astype(np.float64)
        case _:
            y = noisy
    columns = {"x": NumberArray(x), "z": NumberArray(z), "y": NumberArray(y)}
    return columns | ({"sd": NumberArray(np.linspace(0.05, 0.2, ROWS))} if likelihood.noise_by_row else {})


def request(likelihood: Likelihood, prior: Prior, algorithm: Algorithm | None) -> SupervisedRequest:
    width = FixedWidth(0.6) if isinstance(prior, Independent) else None
    classes = not likelihood.has_target_units and not isinstance(likelihood, Poisson)
    return SupervisedRequest(
        DATASET_ID,
        "y",
        task="classification" if classes or isinstance(likelihood, OneAgainstRest) else "regression",
        basis=KernelChoice(width=width),
        likelihood=named_likelihood(likelihood, "sd"),
        prior=prior,
        algorithm=algorithm,
        standardise=True,
    )


def learned(requested: SupervisedRequest, block: Block, directory: Path) -> Version:
    """The version of a table, as a worker makes it."""
    dataset = dataset_of(block)
    planned = plan(requested, dataset)
    made = materialise(planned, lambda: iter(cut_up(block)), directory, max_cells=MANY)
    training = SupervisedTraining(planned, dataset, made)
    *_, last = run(training.fit, train, Limits())
    assert isinstance(last, Fitted)
    version = training.version(last.result, seconds=1.0, holding=lambda _: (0, block))
    assert isinstance(version, Learned)
    return version.report, version.predictor


@pytest.fixture(scope="module")
def in_own_units(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Version]:
    """The version of the table of a likelihood without classes, under a prior: one for all changes of units."""

    @cache
    def version(name: str, prior: str) -> Version:
        likelihood, (weights, algorithm) = LIKELIHOODS[name], PRIORS[prior]
        requested = request(likelihood, fitting(weights, likelihood), algorithm)
        return learned(requested, table(likelihood), tmp_path_factory.mktemp("version"))

    return version


def predicted(report: SupervisedReport, predictor: SupervisedPredictor, block: Block) -> dict[str, Array]:
    response = SupervisedModel.of(predictor, report).predict(block, PredictOptions())
    names = ("mean", "sd", "lower", "upper", "probabilities")
    return {name: value for name in names if isinstance(value := getattr(response, name, None), np.ndarray)}


def noise_sd(report: SupervisedReport) -> float:
    found = report.hyperparameters.noise_sd
    assert found is not None
    return found


def new_rows(likelihood: Likelihood) -> dict[str, NumberArray]:
    """Among those learned from, and beyond them."""
    x = np.linspace(-9.0, 9.0, 25)
    block = {"x": NumberArray(x), "z": NumberArray(np.cos(x))}
    return block | ({"sd": NumberArray(np.full(25, 0.1))} if likelihood.noise_by_row else {})


def changed(block: Mapping[str, NumberArray], **units: tuple[float, float]) -> dict[str, NumberArray]:
    """Columns in other units: a and b of a v + b."""
    scaled = {name: NumberArray(a * block[name].values + b) for name, (a, b) in units.items() if name in block}
    return {**block, **scaled}


def known(likelihood: Likelihood, factor: float) -> Likelihood:
    """In other units of the target."""
    if isinstance(likelihood, GaussianNoise) and not isinstance(likelihood.noise_sd, str):
        return replace(likelihood, noise_sd=factor * likelihood.noise_sd)
    return likelihood


def fitting(prior: Prior, likelihood: Likelihood) -> Prior:
    """Without a hyperprior on a noise precision where none is learned."""
    if isinstance(prior, Independent) and not _learns_noise(likelihood):
        return replace(prior, c=0.0, d=0.0)
    return prior


def in_units(prior: Prior, factor: float) -> Prior:
    if isinstance(prior, Independent):
        return replace(prior, b=prior.b * factor**2, d=prior.d * factor**2)
    return prior


@pytest.mark.thorough
@each_target_unit
def test_a_target_in_other_units_is_predicted_in_these(
    name: str, prior: str, a: float, b: float, in_own_units: Callable[[str, str], Version], tmp_path: Path
) -> None:
    before = in_own_units(name, prior)
    likelihood, (weights, algorithm) = IN_TARGET_UNITS[name], PRIORS[prior]
    weights = fitting(weights, likelihood)
    here, there = table(likelihood), changed(table(likelihood), y=(a, b), sd=(abs(a), 0.0))
    rows = new_rows(likelihood)
    requested = request(known(likelihood, abs(a)), in_units(weights, a), algorithm)
    after = learned(requested, there, tmp_path)
    one, other = predicted(*before, rows), predicted(*after, changed(rows, sd=(abs(a), 0.0)))
    rounding = ROUNDING_OF_BOUNDS if (name, prior) == ("student t", "mackay") else ROUNDING
    tolerance = rounding * float(here["y"].values.std()) * max(1.0, 1e-4 * abs(b / a))
    np.testing.assert_allclose((other["mean"] - b) / a, one["mean"], atol=tolerance)
    np.testing.assert_allclose(other["sd"] / abs(a), one["sd"], rtol=100.0 * ROUNDING)
    lower, upper = ("lower", "upper") if a > 0.0 else ("upper", "lower")
    np.testing.assert_allclose((other[lower] - b) / a, one["lower"], atol=100.0 * tolerance)
    np.testing.assert_allclose((other[upper] - b) / a, one["upper"], atol=100.0 * tolerance)
    assert after[0].functions == before[0].functions
    assert noise_sd(after[0]) == pytest.approx(abs(a) * noise_sd(before[0]), rel=100.0 * ROUNDING)
    # What was requested is reported as it was requested, to the last bit.
    assert after[0].plan.spec.likelihood == core_likelihood(requested.likelihood)
    assert after[0].plan.spec.prior == requested.prior or isinstance(weights, GaussianProcess)


@pytest.mark.thorough
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("a", [2.0**12, 0.003])
def test_a_positive_target_times_a_factor_is_predicted_so(
    prior: str, a: float, in_own_units: Callable[[str, str], Version], tmp_path: Path
) -> None:
    before = in_own_units("logarithm", prior)
    weights, algorithm = PRIORS[prior]
    there = changed(table(LogGaussian()), y=(a, 0.0))
    after = learned(request(LogGaussian(), fitting(weights, LogGaussian()), algorithm), there, tmp_path)
    one, other = (predicted(*found, new_rows(LogGaussian())) for found in (before, after))
    for name in ("mean", "sd", "lower", "upper"):
        np.testing.assert_allclose(other[name] / a, one[name], rtol=100.0 * ROUNDING, err_msg=name)
    assert noise_sd(after[0]) == pytest.approx(noise_sd(before[0]), rel=100.0 * ROUNDING)


INPUT_UNITS = {"x": (2.7e5, 31.0), "z": (-0.004, -3.0)}


def assert_alike(one: Mapping[str, Array], other: Mapping[str, Array]) -> None:
    assert one.keys() == other.keys()
    assert one
    for figure, values in one.items():
        np.testing.assert_allclose(other[figure], values, rtol=100.0 * ROUNDING, atol=ROUNDING, err_msg=figure)


@pytest.mark.thorough
@each([name for name in LIKELIHOODS if name not in CLASSES])
def test_inputs_in_other_units_change_nothing(
    name: str, prior: str, in_own_units: Callable[[str, str], Version], tmp_path: Path
) -> None:
    before = in_own_units(name, prior)
    likelihood, (weights, algorithm) = LIKELIHOODS[name], PRIORS[prior]
    requested, rows = request(likelihood, fitting(weights, likelihood), algorithm), new_rows(likelihood)
    after = learned(requested, changed(table(likelihood), **INPUT_UNITS), tmp_path)
    assert_alike(predicted(*before, rows), predicted(*after, changed(rows, **INPUT_UNITS)))


@pytest.mark.thorough
@each(CLASSES)
def test_inputs_in_other_units_change_no_probability(
    name: str, prior: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    likelihood, (weights, algorithm) = OTHERS[name], PRIORS[prior]
    coupled = isinstance(likelihood, Categorical)
    if coupled:
        monkeypatch.setattr(re_estimation, "MAX_ITERATIONS", 4)
    weights = fitting(weights, likelihood)
    requested, rows = request(likelihood, weights, algorithm), new_rows(likelihood)
    here = {name: NumberArray(column.values[:: 1 + coupled]) for name, column in table(likelihood).items()}
    # Random folds are dealt by the bits of the inputs, which other units round: groups are the same in all units.
    here["group"] = NumberArray(np.arange(len(here["y"].values), dtype=np.float64) % FOLDS)
    requested = replace(requested, split=GroupSplit("group"))
    before, after = learned(requested, here, tmp_path), learned(requested, changed(here, **INPUT_UNITS), tmp_path)
    assert_alike(predicted(*before, rows), predicted(*after, changed(rows, **INPUT_UNITS)))


@each(["known", "student t"])
def test_powers_of_two_change_no_bit(
    name: str, prior: str, in_own_units: Callable[[str, str], Version], tmp_path: Path
) -> None:
    likelihood, (weights, algorithm) = LIKELIHOODS[name], PRIORS[prior]
    before = in_own_units(name, prior)
    here, rows = table(likelihood), new_rows(likelihood)
    units = {"x": (2.0**20, 0.0), "z": (2.0**-7, 0.0), "y": (2.0**9, 0.0)}
    weights = fitting(weights, likelihood)
    requested = request(known(likelihood, 2.0**9), in_units(weights, 2.0**9), algorithm)
    after = learned(requested, changed(here, **units), tmp_path)
    one, other = predicted(*before, rows), predicted(*after, changed(rows, **units))
    for figure, values in one.items():
        np.testing.assert_array_equal(other[figure] / 2.0**9, values)


@pytest.mark.parametrize(
    "name", ["two classes", "one against rest", pytest.param("three classes", marks=pytest.mark.thorough)]
)
def test_powers_of_two_of_the_inputs_change_no_bit_of_probabilities(name: str, tmp_path: Path) -> None:
    """The temperature among them, by random folds."""
    likelihood, (weights, algorithm) = OTHERS[name], PRIORS["process"]
    requested, here, rows = request(likelihood, weights, algorithm), table(likelihood), new_rows(likelihood)
    units = {"x": (2.0**20, 0.0), "z": (2.0**-7, 0.0)}
    before, after = learned(requested, here, tmp_path), learned(requested, changed(here, **units), tmp_path)
    one, other = predicted(*before, rows), predicted(*after, changed(rows, **units))
    np.testing.assert_array_equal(other["probabilities"], one["probabilities"])


def test_independent_weights_of_known_noise_predict_a_target_far_from_0(tmp_path: Path) -> None:
    """A sinc on 1,000: with the noise known, all of it was to be explained by functions of prior mean 0."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-10.0, 10.0, 100))
    block = {"x": NumberArray(x), "y": NumberArray(1000.0 + np.sinc(x / np.pi) + 0.1 * rng.standard_normal(100))}
    requested = SupervisedRequest(
        DATASET_ID, "y", likelihood=GaussianLikelihood(0.1), prior=Independent(), effort="quick"
    )
    version = learned(requested, block, tmp_path)
    new = np.linspace(-10.0, 10.0, 500)
    mean = predicted(*version, {"x": NumberArray(new)})["mean"]
    assert np.sqrt(np.mean((mean - 1000.0 - np.sinc(new / np.pi)) ** 2)) < 0.06
    far = predicted(*version, {"x": NumberArray(np.array([40.0, -60.0]))})
    np.testing.assert_allclose(far["mean"], 1000.0, atol=1.0)


def test_a_target_of_any_size_goes_with_a_noise_that_is_known(tmp_path: Path) -> None:
    here = table(GaussianNoise())
    requested = request(GaussianNoise(1e99), Independent(), None)
    report, predictor = learned(requested, changed(here, y=(1e100, 3e100)), tmp_path)
    assert noise_sd(report) == pytest.approx(1e99)
    mean = predicted(report, predictor, {name: here[name] for name in ("x", "z")})["mean"]
    assert np.corrcoef(mean, here["y"].values)[0, 1] > 0.9


@pytest.mark.parametrize("noise_sd", [1e-80, 1e80])
def test_a_noise_too_far_from_the_targets_scale_is_refused(noise_sd: float) -> None:
    with pytest.raises(InvalidRequestError, match="too far from that of `y`"):
        plan(
            SupervisedRequest(DATASET_ID, "y", likelihood=GaussianLikelihood(noise_sd)),
            dataset_of(table(GaussianNoise())),
        )


def test_a_noise_too_far_from_the_scale_of_the_rows_that_are_left_ends_the_training(tmp_path: Path) -> None:
    """One row of 1e80 stands alone in a gap: without it noise and target are 80 orders of magnitude apart."""
    rows = {"x": NumberArray(np.array([1.0, 2.0, 3.0, 4.0])), "y": NumberArray(np.array([1.0, 2.0, 4.0, 1e80]))}
    block: Block = {**rows, "colour": texts("a", "b", "b", None)}
    requested = SupervisedRequest(DATASET_ID, "y", likelihood=GaussianLikelihood(1e77), missing="drop_rows")
    planned = plan(requested, dataset_of(block))
    with pytest.raises(TrainingFailedError, match="too far"):
        materialise(planned, lambda: iter(cut_up(block)), tmp_path, max_cells=MANY)
