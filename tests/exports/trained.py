"""Small versions, trained: of each likelihood, kernel, prior and dictionary, on raw columns of every kind."""

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import get_args

import numpy as np
from pydantic import TypeAdapter

from relevance_bayes.core.algorithms import Greedy, Sequential
from relevance_bayes.core.basis import Basis, Bias, Group, Inputs, KernelBasis, KernelFunctions
from relevance_bayes.core.dictionaries import BSplines, Fourier, Gabor, Steps
from relevance_bayes.core.kernels import Additive, Covariance, Gaussian, Kernel, Laplacian, Matern32
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, FixedWidth, InputMap
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    BernoulliPerClass,
    Categorical,
    ClassLikelihood,
    GaussianNoise,
    Hurdle,
    LogGaussian,
    LogitGaussian,
    OneAgainstRest,
    OtherNumberTarget,
    StudentT,
    TargetLikelihood,
)
from relevance_bayes.core.likelihoods.bernoulli import temperature_of
from relevance_bayes.core.models.classes import PerClass, without_functions
from relevance_bayes.core.models.fitting import FitLog, pose
from relevance_bayes.core.models.hurdle import HurdleModel
from relevance_bayes.core.models.model import Model, Prior, Spec
from relevance_bayes.core.models.pool import (
    LearnedModel,
    Pool,
    degrees_of_freedom_of,
    likelihood_of,
    members_of,
    n_functions,
    with_degrees_of_freedom,
)
from relevance_bayes.core.models.pooling.members import exact_model, whole
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.types import Array
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.records.reports import ClassRows, InputWidth
from relevance_bayes.records.values import InputColumn, Task
from relevance_bayes.tables.columns import Block, BooleanArray, CategoryArray, NumberArray, TimestampArray
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedEffects,
    EncodedInput,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    encode_inputs,
    user_evidence,
    user_noise_sd,
    user_process_sd,
)
from relevance_bayes.tasks.listing import model_terms, model_warps, model_widths
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.report import Hyperparameters, Member, SupervisedPredictor, SupervisedReport
from tests.small_models import small_version

ROWS = 40
EXPORTED_AT = datetime(2024, 5, 1, 13, tzinfo=UTC)

UNKNOWN = "mauve"
"""A text that has no effect in training, which is the mean effect in exports."""

COLOURS = ("blue", 'gr"een', "red ✓")

MIXED = (
    EncodedNumber("x", "number", 1.0, 0.5, fill=None, indicator=False),
    EncodedNumber("depth [m]", "number", 3.0, 2.0, fill=2.5, indicator=True),
    EncodedCategory("colour", COLOURS, fill=(0.25, 0.25, 0.5), indicator=True),
    EncodedNumber("open", "boolean", 0.5, 0.5, fill=None, indicator=False),
    EncodedNumber("when", "timestamp", 1.7e9, 86_400.0, fill=None, indicator=False),
)
DAY = 86_400.0
DERIVED = (
    EncodedNumber("day", "timestamp", 1.7e9, 400.0 * DAY, fill=None, indicator=False, periods=("year", "week", "day")),
    EncodedNumber("seen", "timestamp", 1.6e9, 3.0 * DAY, fill=1.6e9, indicator=True, periods=("week",)),
    EncodedEffects("shop", COLOURS, ((-1.0, 0.5, 1.5),), fill=None, indicator=False),
    EncodedEffects("town", COLOURS, ((0.3, -0.2, 0.1), (0.0, 0.7, -1.3)), fill=0.0, indicator=True),
)
"""Dates with their positions in periods, and texts by their effects."""

PLAIN = (
    EncodedNumber("x", "number", 1.0, 0.5, fill=None, indicator=False),
    EncodedNumber("z", "number", -3.0, 4.0, fill=None, indicator=False),
)

PROCESS = GaussianProcess("rows", 3.0, 12)
FREE = GaussianProcess("optimised", 3.0, 8)
INDEPENDENT = Independent()


def with_other_options(kernel: Kernel) -> Kernel:
    """With other numbers than the defaults."""
    numbers = {
        one.name: type(one.default)(1.5 * one.default) for one in fields(kernel) if isinstance(one.default, int | float)
    }
    return TypeAdapter[Kernel](Kernel).validate_python({"type": kernel.type, **numbers})


KERNELS: tuple[Kernel, ...] = tuple(with_other_options(member()) for member in get_args(Kernel))
COVARIANCES = tuple(kernel for kernel in KERNELS if isinstance(kernel, Covariance))
LIKELIHOODS: tuple[TargetLikelihood, ...] = (
    GaussianNoise(),
    GaussianNoise(0.1),
    GaussianNoise("rows"),
    LogGaussian(),
    StudentT(),
    *(member() for member in get_args(OtherNumberTarget) if member not in {LogGaussian, StudentT}),
    Bernoulli(),
    Categorical(3),
    OneAgainstRest(3),
    BernoulliPerClass(3),
    Bernoulli(1.7),
    Categorical(3, 0.6),
    OneAgainstRest(3, 2.0),
    BernoulliPerClass(3, 1.4),
)
DICTIONARIES: dict[str, tuple[Basis, ...]] = {
    "steps": (Steps(), Bias()),
    "fourier": (Fourier(5), Bias()),
    "lines": (BSplines(1, 4),),
    "splines": (BSplines(3, 4), Inputs()),
    "high splines": (BSplines(6, 4), Inputs()),
    "wavelets": (Group((0, 1), Gabor(2, 1)), Bias()),
    "one wavelet": (Group((0,), Gabor(2, 1)), Bias()),
    "groups": (
        Group((1,), KernelBasis(Gaussian(), FixedWidth(0.7))),
        Group((1, 0), KernelBasis(Laplacian(), FixedWidth((2.0, 3.0)))),
        Group((0,), Inputs()),
    ),
}


def block(inputs: tuple[EncodedInput, ...], rows: int, seed: int, *, gaps: bool = True) -> Block:
    """Raw rows for these inputs; where gaps are accepted there are some."""
    rng = np.random.default_rng(seed)
    columns: dict[str, NumberArray | BooleanArray | TimestampArray | CategoryArray] = {}
    for column in inputs:
        missing = (rng.uniform(size=rows) < 0.2) if gaps and column.fill is not None else np.zeros(rows, np.bool_)
        if isinstance(column, EncodedCategory):
            codes = np.where(missing, -1, rng.integers(len(column.categories), size=rows)).astype(np.int32)
            columns[column.name] = CategoryArray(codes, column.categories)
            continue
        if isinstance(column, EncodedEffects):
            codes = np.where(missing, -1, rng.integers(len(column.categories) + 1, size=rows)).astype(np.int32)
            columns[column.name] = CategoryArray(codes, (*column.categories, UNKNOWN))
            continue
        values = column.shift + column.scale * rng.uniform(-1.7, 1.7, rows)
        match column.kind:
            case "boolean":
                columns[column.name] = BooleanArray(rng.integers(2, size=rows).astype(np.int8))
            case "timestamp":
                columns[column.name] = TimestampArray(np.where(missing, np.nan, np.round(values)))
            case "number":
                columns[column.name] = NumberArray(np.where(missing, np.nan, values))
    return columns


def far_rows(inputs: tuple[EncodedInput, ...], rows: int, seed: int) -> Block:
    """Raw rows whose numbers are up to four times as far from those of training as these are from each other."""
    near, far = block(inputs, rows, seed), np.random.default_rng(seed + 1).uniform(1.0, 5.0, rows)
    moved: Block = {
        one.name: NumberArray(one.shift + far * (column.values - one.shift))
        for one in inputs
        if isinstance(one, EncodedNumber) and isinstance(column := near[one.name], NumberArray)
    }
    return {**near, **moved}


def targets(likelihood: TargetLikelihood, encoded: Array) -> Array:
    """Drawn of a curve in the first input and a line in the last."""
    rng = np.random.default_rng(7)
    f = np.sin(2.0 * encoded[:, 0]) + 0.3 * encoded[:, -1]
    noisy = f + 0.1 * rng.standard_normal(len(encoded))
    match likelihood:
        case Bernoulli():
            return (noisy > 0.0).astype(np.float64)
        case Categorical() | OneAgainstRest() | BernoulliPerClass():
            return np.digitize(noisy, [-0.5, 0.5]).astype(np.float64)
        case _ if likelihood.targets == "count":
            return rng.poisson(np.exp(1.0 + f)).astype(np.float64)
        case LogGaussian():
            return np.exp(noisy)
        case Hurdle():
            return np.where(noisy > 0.0, np.exp(noisy), 0.0)
        case LogitGaussian():
            return 1.0 / (1.0 + np.exp(-noisy))
        case _:
            return noisy


def encoded_target(likelihood: TargetLikelihood) -> EncodedTarget:
    """In the user's units where these are others."""
    match likelihood:
        case Bernoulli():
            return EncodedTarget("y", "boolean", 0.0, 1.0, (False, True))
        case Categorical() | OneAgainstRest() | BernoulliPerClass():
            return EncodedTarget("y", "category", 0.0, 1.0, ("gas", "liquid", "solid"))
        case _ if likelihood.targets == "count":
            return EncodedTarget("y", "number", 0.0, 1.0, ())
        case LogGaussian():
            return EncodedTarget("y", "number", 0.0, 3.0, (), logarithmic=True)
        case LogitGaussian() | Hurdle():
            return EncodedTarget("y", "number", 0.0, 1.0, ())
        case GaussianNoise(noise_sd="rows"):
            return EncodedTarget("y", "number", 10.0, 2.0, (), noise_column="sd")
        case _:
            return EncodedTarget("y", "number", 10.0, 2.0, ())


def version(
    likelihood: TargetLikelihood,
    basis: tuple[Basis, ...],
    prior: Prior = INDEPENDENT,
    inputs: tuple[EncodedInput, ...] = MIXED,
) -> ExportedSupervised:
    """Trained on a few rows."""
    encoding = Encoding(inputs, encoded_target(likelihood))
    rows, _ = encode_inputs(encoding, block(inputs, ROWS, 1))
    algorithm = Sequential() if isinstance(prior, Independent) else Greedy()
    spec = Spec(likelihood, basis, prior, algorithm)
    known = np.linspace(0.05, 0.2, ROWS) if likelihood.noise_by_row else None
    *_, found = train(Rows(rows, targets(likelihood, rows), known), Selection(spec))
    assert isinstance(found, Trained)
    return exported(SupervisedPredictor(encoding, found.learned), spec)


def exported(predictor: SupervisedPredictor, spec: Spec) -> ExportedSupervised:
    """A version with a minimal report."""
    encoding = predictor.encoding
    target = encoding.target
    task: Task = "classification" if target.classes else "regression"
    before = small_version(task).report
    plan = replace(
        before.plan,
        target_kind=target.kind,
        classes=target.classes,
        inputs=tuple(map(input_column, encoding.inputs)),
        spec=spec,
        noise_column=target.noise_column,
    )
    report = of_model(replace(before, plan=plan), predictor)
    return ExportedSupervised("small", 1, EXPORTED_AT, report, predictor)


def input_column(column: EncodedInput) -> InputColumn:
    """The input of a plan."""
    match column:
        case EncodedNumber():
            return InputColumn(column.name, column.kind)
        case EncodedCategory():
            return InputColumn(column.name, "category", column.categories)
        case EncodedEffects():
            return InputColumn(column.name, "category")


def of_model(report: SupervisedReport, predictor: SupervisedPredictor) -> SupervisedReport:
    """With the figures that are the model's, or those of the members of a pool."""
    learned, target = predictor.learned, predictor.encoding.target
    models, likelihood = members_of(learned), likelihood_of(learned)
    weights: list[float | None] = [None if isinstance(learned, PerClass | HurdleModel) else 1.0] * len(models)
    members = tuple(_member(model, predictor) for model in models)
    if isinstance(learned, Pool):
        weights = list(learned.weights.tolist())
        members = tuple(replace(one, evidence_unreduced=one.evidence, score=-0.5) for one in members)
    if isinstance(learned, PerClass):
        members = tuple(replace(one, label=label) for one, label in zip(members, target.classes, strict=True))
    return replace(
        report,
        members=tuple(replace(one, weight=weight) for one, weight in zip(members, weights, strict=True)),
        functions=n_functions(learned),
        rows=models[0].rows,
        candidates=models[0].candidates,
        termination=models[0].termination,
        class_rows=class_rows(models[0].rows, target),
        temperature=temperature_of(likelihood.temperature) if isinstance(likelihood, ClassLikelihood) else None,
        score_loss=0.01 if isinstance(learned, Pool) else None,
    )


def class_rows(rows: int, target: EncodedTarget) -> tuple[ClassRows, ...]:
    """Ten of each class but the first."""
    counts = (rows - 10 * (len(target.classes) - 1), *[10] * (len(target.classes) - 1))
    return tuple(map(ClassRows, target.classes, counts)) if target.classes else ()


def _member(model: Model, predictor: SupervisedPredictor) -> Member:
    encoding = predictor.encoding
    learned = predictor.learned
    tails = degrees_of_freedom_of(model if isinstance(learned, HurdleModel) else learned)
    dof = model.likelihood.degrees_of_freedom if isinstance(model.likelihood, StudentT) else tails
    kernels = [one.kernel for one in model.functions if isinstance(one, KernelFunctions)]
    kernel = kernels[0] if len(kernels) == 1 else None
    return Member(
        kernel.kernel if isinstance(kernel, Additive) else kernel,
        1.0,
        model.size,
        Hyperparameters(
            noise_sd=user_noise_sd(encoding.target, model.noise_sd),
            degrees_of_freedom=None if dof is None or isinstance(dof, str) else float(dof),
            widths=model_widths(model, encoding) or (InputWidth(None, 1.5),),
            warps=model_warps(model, encoding),
            terms=model_terms(model, encoding),
            signal_sd=user_process_sd(encoding.target, model.signal_variance),
            last_gain=model.last_gain,
            next_gain=model.next_gain,
        ),
        user_evidence(encoding.target, model.evidence, model.rows),
    )


def with_model(made: ExportedSupervised, model: LearnedModel) -> ExportedSupervised:
    """With another model in the same place."""
    predictor = replace(made.predictor, learned=model)
    return replace(made, report=of_model(made.report, predictor), predictor=predictor)


def _kernel(kernel: Kernel) -> tuple[Basis, ...]:
    return (KernelBasis(kernel, FixedWidth(3.0)), Bias())


def _bent() -> ExportedSupervised:
    """A process that sees inputs bent, and one of them apart."""
    basis = (KernelBasis(Gaussian(), EvidencePerInputWidth(), "evidence"), Bias(), Inputs())
    made = version(GaussianNoise(), basis, FREE)
    first, *others = made.predictor.model.functions
    assert isinstance(first, KernelFunctions)
    d = made.predictor.encoding.width
    bend = InputMap(np.linspace(1.0, 3.0, d), np.linspace(-0.4, 0.5, d), np.linspace(0.3, -0.6, d))
    additive = KernelFunctions(Additive(Gaussian(), (3, 0), (0.2, 0.3)), bend, first.centres, first.rows)
    return with_model(made, replace(made.predictor.model, functions=(additive, *others)))


def _pool(likelihood: TargetLikelihood) -> ExportedSupervised:
    """A smooth process, a rough one, and one that sees inputs bent, with linear columns."""
    each = EvidencePerInputWidth()
    bases = (
        (KernelBasis(Gaussian(), each), Bias(), Inputs()),
        (KernelBasis(Matern32(), each), Bias(), Inputs()),
        (KernelBasis(Gaussian(), each, "evidence"), Bias(), Inputs()),
    )
    members = [version(likelihood, basis, PROCESS) for basis in bases]
    first, *others = (made.predictor.model for made in members)
    # Little jitter, as a member with next to no noise has it.
    gaussian = [replace(one, degrees_of_freedom=None) for one in (replace(first, jitter=1e-6), *others)]
    pool = with_degrees_of_freedom(Pool(tuple(gaussian), np.array([0.2, 0.3, 0.5])))
    return with_model(members[0], pool)


def _all_rows() -> ExportedSupervised:
    """A process through the functions of all rows, which is exact."""
    made = version(GaussianNoise(), _kernel(Gaussian()), PROCESS)
    rows, _ = encode_inputs(made.predictor.encoding, block(MIXED, ROWS, 1))
    basis = (KernelBasis(Gaussian(), EvidencePerInputWidth()), Bias(), Inputs())
    spec = Spec(GaussianNoise(), basis, PROCESS, Greedy())
    *_, member = whole(pose(rows, targets(GaussianNoise(), rows), spec), spec, FitLog())
    return with_model(made, with_degrees_of_freedom(exact_model(member)))


HETEROSCEDASTIC = GaussianNoise("heteroscedastic")


def _varying_noise() -> ExportedSupervised:
    """Noise that is a function of the inputs."""
    basis = (KernelBasis(Gaussian(), EvidencePerInputWidth()), Bias(), Inputs())
    return version(HETEROSCEDASTIC, basis, PROCESS)


def _pool_of_varying_noise() -> ExportedSupervised:
    """Members whose noise is a function of the inputs each."""
    first = _varying_noise()
    basis = (KernelBasis(Matern32(), EvidencePerInputWidth()), Bias(), Inputs())
    second = version(HETEROSCEDASTIC, basis, PROCESS)
    pool = Pool((first.predictor.model, second.predictor.model), np.array([0.4, 0.6]))
    return with_model(first, pool)


def _class_without_functions() -> ExportedSupervised:
    """One class is as probable everywhere as it is frequent."""
    made = version(BernoulliPerClass(3), _kernel(Gaussian()), PROCESS)
    learned = made.predictor.learned
    assert isinstance(learned, PerClass)
    first, second, third = learned.members
    t = (np.arange(second.rows) < 2).astype(np.float64)
    constant = without_functions(second.inputs, t, second.candidates)
    return with_model(made, replace(learned, members=(first, constant, third)))


def _constant() -> ExportedSupervised:
    return version(GaussianNoise(), (Bias(),))


def _no_functions() -> ExportedSupervised:
    """All that is left is noise."""
    made = version(GaussianNoise(), (Bias(),))
    model = replace(
        made.predictor.model,
        functions=(),
        mean=np.empty(0),
        covariance=np.empty((0, 0)),
        alpha=np.empty(0),
        gamma=np.empty(0),
        augmentation=None,
    )
    return with_model(made, model)


def _normal_hurdle() -> ExportedSupervised:
    """A hurdle as of many rows, whose predictions are not Student's t."""
    made = version(Hurdle(), _kernel(Gaussian()), PROCESS)
    learned = made.predictor.learned
    assert isinstance(learned, HurdleModel)
    normal = replace(learned, positive=replace(learned.positive, degrees_of_freedom=None))
    return replace(made, predictor=replace(made.predictor, learned=normal))


def is_class_default(likelihood: TargetLikelihood) -> bool:
    """Return whether it is one of classes whose temperature is left open."""
    return isinstance(likelihood, ClassLikelihood) and likelihood.temperature == "learned"


def _cases() -> dict[str, Callable[[], ExportedSupervised]]:
    made: dict[str, Callable[[], ExportedSupervised]] = {}
    for likelihood in LIKELIHOODS:
        given = getattr(likelihood, "noise_sd", getattr(likelihood, "temperature", ""))
        name = likelihood.type if given == "" or is_class_default(likelihood) else f"{likelihood.type} {given}"
        made[f"{name}, independent"] = partial(version, likelihood, _kernel(Gaussian()))
        made[f"{name}, process"] = partial(version, likelihood, _kernel(Gaussian()), PROCESS)
    made["hurdle, independent"] = partial(version, Hurdle(), _kernel(Gaussian()))
    made["hurdle, process"] = partial(version, Hurdle(), _kernel(Gaussian()), PROCESS)
    made["hurdle, normal"] = _normal_hurdle
    made["dates and texts"] = partial(version, GaussianNoise(), _kernel(Gaussian()), PROCESS, DERIVED)
    for kernel in KERNELS:
        made[kernel.type] = partial(version, GaussianNoise(), _kernel(kernel))
        made[f"{kernel.type} of two inputs"] = partial(version, Bernoulli(), _kernel(kernel), inputs=PLAIN)
    for kernel in COVARIANCES[1:]:
        made[f"{kernel.type}, process"] = partial(version, GaussianNoise(), _kernel(kernel), PROCESS)
    for name, basis in DICTIONARIES.items():
        made[name] = partial(version, GaussianNoise(), basis, inputs=PLAIN)
    made["a pool"] = partial(_pool, GaussianNoise())
    made["all rows"] = _all_rows
    made["heteroscedastic noise"] = _varying_noise
    made["a pool, heteroscedastic noise"] = _pool_of_varying_noise
    made["a pool, noise by row"] = partial(_pool, GaussianNoise("rows"))
    made["a class without functions"] = _class_without_functions
    made["steps of classes"] = partial(version, Bernoulli(), DICTIONARIES["steps"])
    made["inputs"] = partial(version, StudentT(), (Inputs(), Bias()))
    made["bent, additive, free"] = _bent
    made["constant"] = _constant
    made["no functions"] = _no_functions
    return made


CASES = _cases()

LOG_LINKS = tuple(
    f"{likelihood}, {prior}"
    for likelihood in ("log_gaussian", "logit_gaussian", "poisson", "negative_binomial")
    for prior in ("independent", "process")
)
"""Those of `CASES` whose inputs are bounded."""


def predicted(made: ExportedSupervised, rows: Block) -> dict[str, Array]:
    """All arrays of the service's own answer for these rows."""
    response = SupervisedModel.of(made.predictor, made.report).predict(rows, PredictOptions())
    reported = {field.name: getattr(response, field.name) for field in fields(response)}
    return {name: array for name, array in reported.items() if isinstance(array, np.ndarray)}


def with_mean_effect(made: ExportedSupervised) -> ExportedSupervised:
    """The same version with the text `UNKNOWN` as a known one, of the effect 0."""
    encoding = made.predictor.encoding
    inputs = tuple(
        replace(one, categories=(*one.categories, UNKNOWN), effects=tuple((*each, 0.0) for each in one.effects))
        if isinstance(one, EncodedEffects)
        else one
        for one in encoding.inputs
    )
    return replace(made, predictor=replace(made.predictor, encoding=replace(encoding, inputs=inputs)))


@cache
def trained(name: str) -> ExportedSupervised:
    """One of `CASES`, trained once."""
    return CASES[name]()
