"""The complete ONNX model: named inputs, the predictions of each kind of task, and the outputs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, checker, helper

from app.exports.onnx_file.functions import (
    columns_of,
    component_outputs,
    is_writable,
    kernel_columns,
    terms_of,
    written,
)
from app.exports.onnx_file.graph import IR_VERSION, OPSET, Graph, Value, total
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.likelihoods import BernoulliPerClass, Hurdle, Likelihood
from relevance_bayes.core.likelihoods.base import NumberLikelihood, PredictsClasses
from relevance_bayes.core.likelihoods.gaussian import standard_quantile
from relevance_bayes.core.likelihoods.hurdle import MIN_PROBABILITY, hurdle_moments
from relevance_bayes.core.likelihoods.transformed_gaussian import MAX_LOG
from relevance_bayes.core.linalg import solve_lower
from relevance_bayes.core.models.classes import PerClass
from relevance_bayes.core.models.hurdle import HurdleModel
from relevance_bayes.core.models.local.model import LocalModel
from relevance_bayes.core.models.model import LogNoise, Model
from relevance_bayes.core.models.pool import LearnedModel, Pool, has_latent_per_class, members_of
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.tracing import TRACING, Traced
from relevance_bayes.documents.reports import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)
from relevance_bayes.records.values import Period
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedEffects,
    EncodedInput,
    EncodedNumber,
    EncodedTarget,
    InputEncoding,
)
from relevance_bayes.tables.encoding.columns import DAY, FIRST_MONDAY, SECONDS
from relevance_bayes.tasks.approximation.report import ApproximationPredictor
from relevance_bayes.tasks.components.report import COMPONENTS_REPORTED, ComponentsPredictor
from relevance_bayes.tasks.supervised.report import SupervisedPredictor

MAX_SCALED = 1e75
"""The maximum magnitude of encoded numbers in rows that can be predicted, as in the service."""

GAP = ""
"""The missing value of text columns; of numbers it is NaN."""


@dataclass(frozen=True)
class Encoded:
    """X (N, d), and a column (N, 1), NaN where a row can't be predicted, else 0.

    `noise_sd` (N, 1) where rows have their own.
    """

    matrix: Value
    unsound: Value
    noise_sd: Value | None = None


def declared(encoding: InputEncoding, names: Sequence[str], noise_column: str | None = None) -> list[ValueInfoProto]:
    """Return the inputs in the order of `names`: float64, or string for categories, one for each row."""
    columns = {column.name: column for column in encoding.inputs}
    numbers = [] if noise_column is None else [_declared(noise_column, TensorProto.DOUBLE)]
    return [
        *(
            _declared(name, TensorProto.DOUBLE if isinstance(columns[name], EncodedNumber) else TensorProto.STRING)
            for name in names
        ),
        *numbers,
    ]


def _declared(name: str, kind: TensorProto.DataType) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, ["rows"])


def encoded(graph: Graph, encoding: InputEncoding) -> Encoded:
    """Encode all columns; a row with a missing value that is not accepted, or an unknown category, is NaN."""
    matrix = graph.beside([part for column in encoding.inputs for part in _columns(graph, column)])
    return Encoded(matrix, graph.sum(matrix, 1) * 0.0)


def with_noise(rows: Encoded, target: EncodedTarget, noise_sd: float | None) -> Encoded:
    """Return the rows, each with its own noise sd, or `noise_sd` where it has none."""
    if target.noise_column is None or noise_sd is None:
        return rows
    noise = _noise(rows.matrix.graph, target, target.noise_column, noise_sd)
    return Encoded(rows.matrix, rows.unsound + noise * 0.0, noise)


def _raw(graph: Graph, name: str) -> Value:
    return graph.node("Unsqueeze", Value(graph, name), graph.constant(np.array([1], np.int64)))


def _columns(graph: Graph, column: EncodedInput) -> list[Value]:
    raw = _raw(graph, column.name)
    match column:
        case EncodedNumber():
            return _scaled_number(graph, column, raw)
        case EncodedCategory():
            return _category(graph, column, raw)
        case EncodedEffects():
            return _effects(graph, column, raw)


def _effects(graph: Graph, column: EncodedEffects, raw: Value) -> list[Value]:
    gap = graph.node("Equal", raw, graph.texts((GAP,)))
    places = graph.node("Equal", raw, graph.texts(column.categories)).as_number()
    effects = graph.node("MatMul", places, graph.constant(np.array(column.effects).T.copy()))
    missing = np.nan if column.fill is None else 0.0
    reported = effects if GAP in column.categories else graph.where(gap, missing, effects)
    return [reported, *([gap.as_number()] if column.indicator else [])]


def _scaled_number(graph: Graph, column: EncodedNumber, raw: Value) -> list[Value]:
    gap = graph.node("IsNaN", raw)
    filled = raw if column.fill is None else graph.where(gap, column.fill, raw)
    if column.unit is not None:
        filled = graph.node("Sign", filled) * graph.node("Log", abs(filled) / column.unit + 1.0)
    scaled = (filled - column.shift) / column.scale
    sound = graph.node("LessOrEqual", abs(scaled), MAX_SCALED)
    positions = [part for period in column.periods for part in _position(graph, raw, gap, period)]
    return [graph.where(sound, scaled, np.nan), *positions, *([gap.as_number()] if column.indicator else [])]


def _position(graph: Graph, seconds: Value, gap: Value, period: Period) -> list[Value]:
    """Return sine and cosine of points in time within a period; 0 where missing."""
    if period == "week":
        seconds = graph.node("Floor", seconds / DAY) * DAY - FIRST_MONDAY
    turns = seconds / SECONDS[period]
    angles = (turns - graph.node("Floor", turns)) * (2.0 * np.pi)
    return [graph.where(gap, 0.0, graph.node("Sin", each)) for each in (angles, angles + 0.5 * np.pi)]


def _category(graph: Graph, column: EncodedCategory, raw: Value) -> list[Value]:
    places = graph.node("Equal", raw, graph.texts(column.categories)).as_number()
    known = graph.node("Greater", graph.sum(places, 1), 0.5)
    if column.fill is None or GAP in column.categories:
        reported = graph.where(known, places, np.nan)
        return [reported, *([graph.sum(places, 1) * 0.0] if column.indicator else [])]
    gap = graph.node("Equal", raw, graph.texts((GAP,)))
    reported = graph.where(known, places, graph.where(gap, np.array([column.fill]), np.nan))
    return [reported, *([gap.as_number()] if column.indicator else [])]


def _noise(graph: Graph, target: EncodedTarget, name: str, noise_sd: float) -> Value:
    """Return the noise sd of each row, in the units of t; that of the training rows for a row without one."""
    raw = _raw(graph, name)
    scaled = raw / target.scale
    sound = graph.node("And", graph.node("Greater", raw, 0.0), graph.node("LessOrEqual", scaled, MAX_SCALED))
    return graph.where(graph.node("IsNaN", raw), noise_sd, graph.where(sound, scaled, np.nan))


@dataclass(frozen=True)
class Found:
    """The latent: `mean` (N, 1) or (N, K), the two parts of its variance and the noise sd, (N, 1)."""

    mean: Value
    weights: Value
    residual: Value
    noise_sd: Value

    @property
    def variance(self) -> Value:
        """Return the sum of both parts."""
        return self.weights + self.residual

    def corrected(self, factor: float) -> "Found":
        """Return the latent with all variances times `factor`."""
        return Found(self.mean, self.weights * factor, self.residual * factor, self.noise_sd * factor**0.5)


def outputs(
    likelihood: Likelihood,
    target: EncodedTarget,
    found: Found,
    degrees_of_freedom: float | None = None,
    variance_factor: float = 1.0,
) -> dict[str, Value]:
    """Return the outputs by name, in the user's units."""
    found = found if variance_factor == 1.0 else found.corrected(variance_factor)
    if isinstance(likelihood, NumberLikelihood):
        return _number(likelihood, target, found, standard_quantile(0.975, degrees_of_freedom))
    return _classes(likelihood, found.mean, found.variance, found.noise_sd.square())


def of_classes(likelihood: BernoulliPerClass, found: Sequence[Found]) -> dict[str, Value]:
    """Return the joint probabilities of one-against-all models of each class, from their latents."""
    graph = found[0].mean.graph
    mean, variance = (graph.beside(parts) for parts in ([one.mean for one in found], [one.variance for one in found]))
    return _classes(likelihood, mean, variance, found[0].noise_sd.square())


def _of_hurdle(positive: Model, target: EncodedTarget, zero: Found, above: Found) -> dict[str, Value]:
    """Return the outputs of a hurdle, from the latents of zeros and of positive numbers; bounds only where these are
    log-normal, since ONNX has no quantiles of Student's t."""
    graph, freedom = zero.mean.graph, positive.degrees_of_freedom
    above = above if freedom is None else above.corrected(positive.variance_factor)
    classes = _classes(Hurdle.zero, zero.mean, zero.variance, zero.noise_sd.square())
    p = classes["probabilities"].columns(np.array([1])).at_least(MIN_PROBABILITY).at_most(1.0 - MIN_PROBABILITY)
    of_zero = zero.mean, zero.variance, zero.residual / zero.variance.at_least(float(np.finfo(float).tiny))
    one = _number(Hurdle.positive, target, above, 0.0)
    given = (p, *of_zero, one["mean"], *(one[f"variance_{part}"] for part in ("noise", "weights", "residual")))
    z, m, v, s, e, n, w, r = parameters = [Traced("parameter") for _ in given]
    known = dict(zip(parameters, given, strict=True))
    reported = _parts(target, *(written(one, known) for one in hurdle_moments(TRACING, z, (m, v, s), e, (n, w, r))))
    if freedom is not None:
        return reported
    sd, once = (above.variance + above.noise_sd.square()).sqrt(), 1.0 - p
    for name, level in (("lower", 0.025), ("upper", 0.975)):
        below, tail = (level - p).at_least(0.0) / once, ((1.0 - level) / once).at_most(1.0)
        far = graph.node("Min", below, tail).at_least(1e-30).normal_quantile()
        signed = graph.where(graph.node("LessOrEqual", below, tail), far, -far)
        end = (above.mean + signed * sd).at_least(-MAX_LOG).at_most(MAX_LOG).exp()
        reported[name] = graph.where(graph.node("GreaterOrEqual", p, level), 0.0, end)
    return reported


def _classes(likelihood: PredictsClasses, mean: Value, variance: Value, noise: Value) -> dict[str, Value]:
    """Return the likelihood's class probabilities, traced."""
    m, v, n = (Traced("parameter") for _ in range(3))
    probabilities = written(likelihood.probabilities(TRACING, m, v, n), {m: mean, v: variance, n: noise})
    return {"probabilities": probabilities, "latent_mean": mean, "latent_variance": variance}


def _parts(target: EncodedTarget, mean: Value, noise: Value, weights: Value, residual: Value) -> dict[str, Value]:
    parts = {"noise": noise, "weights": weights, "residual": residual}
    in_units = {f"variance_{name}": part * target.scale * target.scale for name, part in parts.items()}
    total = (noise + weights + residual) * target.scale * target.scale
    return {"mean": mean * target.scale + target.shift, "variance": total, **in_units}


def _number(likelihood: NumberLikelihood, target: EncodedTarget, found: Found, z: float) -> dict[str, Value]:
    """Return the likelihood's moments, and quantiles at -+z sds where it has them in closed form, traced."""
    m, v, n = (Traced("parameter") for _ in range(3))
    known = {m: found.mean, v: found.variance, n: found.noise_sd.square()}
    mean, noise, function = likelihood.moments(TRACING, m, v, n)
    weights, residual = found.weights, found.residual
    if function is not v:
        share = found.residual / known[v].at_least(float(np.finfo(float).tiny))
        spread = written(function, known)
        weights, residual = (1.0 - share) * spread, share * spread
    reported = _parts(target, written(mean, known), written(noise, known), weights, residual)
    ends = likelihood.ends(TRACING, m, v, n, z)
    if ends is None or not is_writable(ends):
        return reported
    lower, upper = (written(end, known) * target.scale + target.shift for end in ends)
    return reported | {"lower": lower, "upper": upper}


def latent(graph: Graph, ready: Ready, rows: Encoded) -> tuple[Found, Value | None]:
    """Return mean p'mu, variance |root'p|^2 and residual variance, and the support where it is known."""
    model = ready.model
    inputs = _within_range(rows.matrix, model)
    none = rows.unsound
    noise_sd = none + (model.noise_sd or 0.0) if rows.noise_sd is None else rows.noise_sd
    if model.log_noise is not None and ready.noise is not None:
        noise_sd = _noise_sd(latent(graph, ready.noise, rows)[0], model.log_noise)
    parts = [columns_of(one, inputs) for one in model.functions if one.size]
    columns = graph.beside(parts) if parts else None
    if columns is None:
        mean = none + np.zeros((1, model.mean.shape[1] if model.mean.ndim > 1 else 1))
        weights = none
    else:
        mean = columns @ (model.mean if model.mean.ndim > 1 else model.mean[:, None])
        weights = graph.sum((columns @ ready.root).square(), 1)
    left, unreached = _left(graph, ready, inputs, columns)
    if unreached is None:
        return Found(mean, weights, none, noise_sd), None
    if left is None:
        return Found(mean, weights, none + unreached, noise_sd), None
    return Found(mean, weights, left * unreached, noise_sd), (1.0 - left).at_least(0.0)


def _within_range(inputs: Value, model: Model) -> Value:
    """Return the inputs at which the model is evaluated: see `InputRange`."""
    bounds, graph = model.input_range, inputs.graph
    return inputs if bounds is None else graph.node("Min", graph.node("Max", inputs, bounds.lower), bounds.upper)


def _noise_sd(found: Found, second: LogNoise) -> Value:
    """Return the square root of E exp g, within its bounds: see `LogNoise`."""
    return ((found.mean + found.variance * 0.5).at_least(second.min_log).at_most(second.max_log) * 0.5).exp()


def pooled(graph: Graph, pool: Pool, rows: Encoded) -> tuple[Found, Value | None]:
    """Return the product of the members' densities, see `ReadyPool.predict`, with its noise."""
    members = [latent(graph, Ready.of(member), rows) for member in pool.members]
    variances = [found.variance + found.noise_sd.square() for found, _ in members]
    precisions = [float(weight) / one for weight, one in zip(pool.weights, variances, strict=True)]
    variance = 1.0 / total(precisions)
    shares = [precision * variance for precision in precisions]
    parts = [share * variance / one for share, one in zip(shares, variances, strict=True)]
    supports = [support for _, support in members if support is not None]
    known = len(supports) == len(members)
    return Found(
        mean=total([share * found.mean for share, (found, _) in zip(shares, members, strict=True)]),
        weights=total([part * found.weights for part, (found, _) in zip(parts, members, strict=True)]),
        residual=total([part * found.residual for part, (found, _) in zip(parts, members, strict=True)]),
        noise_sd=total(
            [part * found.noise_sd.square() for part, (found, _) in zip(parts, members, strict=True)]
        ).sqrt(),
    ), total([share * support for share, support in zip(shares, supports, strict=True)]) if known else None


def of_members(graph: Graph, members: Sequence[Model], rows: Encoded) -> tuple[list[Found], Value | None]:
    """Return the latents of models, and the mean of their supports where one is known."""
    found = [latent(graph, Ready.of(member), rows) for member in members]
    known = [support for _, support in found if support is not None]
    return [one for one, _ in found], total(known) * (1.0 / len(known)) if known else None


def _left(graph: Graph, ready: Ready, inputs: Value, columns: Value | None) -> tuple[Value | None, float | None]:
    """Return the residual share of the prior variance, None for all of it, and the prior variance."""
    if ready.augmented is not None:
        augmented = ready.augmented
        p = kernel_columns(augmented.functions, inputs)
        weighted = p * np.broadcast_to(augmented.precision, (1, augmented.functions.size))
        known = graph.sum(p * weighted, 1)
        if columns is None:
            return 1.0 / (known * augmented.prior + 1.0), augmented.prior
        towards = weighted @ augmented.reached
        e = 1.0 - graph.sum(columns @ augmented.whitened * towards, 1)
        known = (known - graph.sum(towards.square(), 1)).at_least(0.0)
        return e.square() / (known * augmented.prior + 1.0), augmented.prior
    if ready.whitening is None or not len(ready.whitening.lower) or columns is None:
        return None, ready.model.signal_variance
    lower = ready.whitening.lower
    E, inverse = columns.columns(np.arange(len(lower))), solve_lower(lower, np.eye(len(lower))).T
    reached = E @ inverse
    if ready.model.is_exact:  # as `Ready.refined`
        reached = reached + (E - reached @ lower.T) @ inverse
    return (1.0 - graph.sum(reached.square(), 1)).at_least(0.0), ready.model.signal_variance


CLASSES = "relevance.classes"
"""The key of the class labels in the model's metadata, as JSON."""


@dataclass(frozen=True)
class Reported:
    """The outputs by name, (N, 1), or (N, K) where `widths` has K; their rows, and the model's metadata."""

    outputs: dict[str, Value]
    rows: Encoded
    widths: dict[str, int] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)


def render(exported: ExportedVersion) -> bytes:
    """Return an ONNX file; raises NotPositiveDefiniteError."""
    made = model_of(exported)
    checker.check_model(made)
    written: bytes = made.SerializeToString(deterministic=True)
    return written


def model_of(exported: ExportedVersion) -> ModelProto:
    """Return the model that predicts as the version does; a row that can't be predicted is NaN in all outputs."""
    names = [column.name for column in exported.report.plan.inputs]
    inputs = declared(exported.predictor.encoding, names, exported.noise_column)
    taken = {one.name for one in inputs}
    graph = Graph(frozenset(taken))
    reported = _outputs(graph, exported)
    named = {name: (_free(name, taken), value + reported.rows.unsound) for name, value in reported.outputs.items()}
    declared_outputs = [_output(graph, free, value, reported.widths.get(name)) for name, (free, value) in named.items()]
    whole = helper.make_graph(graph.nodes, "relevance", inputs, declared_outputs, graph.constants)
    made = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    made.producer_name = "relevance"
    component_outputs = {"relevance.model": exported.model, "relevance.version": str(exported.number)}
    helper.set_model_props(made, component_outputs | reported.metadata)
    return made


def _outputs(graph: Graph, exported: ExportedVersion) -> Reported:
    match exported:
        case ExportedSupervised(predictor=predictor):
            return _supervised(graph, predictor)
        case ExportedApproximation(predictor=predictor):
            return _approximation(graph, predictor)
        case ExportedComponents(predictor=predictor):
            return _components(graph, predictor)


def _supervised(graph: Graph, predictor: SupervisedPredictor) -> Reported:
    learned, target, labels = predictor.learned, predictor.encoding.target, predictor.encoding.target.classes
    model = members_of(learned)[0]
    rows = with_noise(encoded(graph, predictor.encoding.with_indicated_fills()), target, model.noise_sd)
    reported, support = _predicted(graph, learned, target, rows)
    reported |= {} if support is None else {"support": support}
    several = [
        "probabilities",
        *(["latent_mean"] if has_latent_per_class(learned) else []),
        *(["latent_variance"] if isinstance(learned, PerClass) else []),
    ]
    metadata = {CLASSES: json.dumps(labels)} if labels else {}
    return Reported(reported, rows, dict.fromkeys(several, len(labels)), metadata)


def _predicted(
    graph: Graph, learned: LearnedModel, target: EncodedTarget, rows: Encoded
) -> tuple[dict[str, Value], Value | None]:
    """Return the outputs by name, and the support."""
    match learned:
        case Model(likelihood=likelihood):
            found, support = latent(graph, Ready.of(learned), rows)
            tails = learned.degrees_of_freedom, learned.variance_factor
            return outputs(likelihood, target, found, *tails), support
        case Pool():
            found, support = pooled(graph, learned, rows)
            tails = learned.degrees_of_freedom, learned.variance_factor
            return outputs(learned.members[0].likelihood, target, found, *tails), support
        case PerClass(members=members, likelihood=of_all):
            each, support = of_members(graph, members, rows)
            return of_classes(of_all, each), support
        case HurdleModel(positive=positive):
            (zero, above), support = of_members(graph, learned.members, rows)
            return _of_hurdle(positive, target, zero, above), support
        case LocalModel():
            raise SparseBayesError("expected a model that keeps no rows")


def _approximation(graph: Graph, predictor: ApproximationPredictor) -> Reported:
    rows, terms = encoded(graph, predictor.encoding), predictor.expansion
    value = terms_of(terms, rows.matrix) @ terms.coefficients[:, None] + terms.constant
    return Reported({"value": value}, rows)


def _components(graph: Graph, predictor: ComponentsPredictor) -> Reported:
    rows = encoded(graph, predictor.encoding)
    first = min(COMPONENTS_REPORTED, len(predictor.components.variances))
    return Reported(component_outputs(predictor, rows.matrix), rows, {"components": first})


def _free(name: str, taken: set[str]) -> str:
    """Return the name, with underscores appended while a column has it."""
    while name in taken:
        name += "_"
    return name


def _output(graph: Graph, name: str, value: Value, classes: int | None) -> ValueInfoProto:
    """Return an output (N,), or (N, K)."""
    if classes is None:
        axis = graph.constant(np.array([1], np.int64)).name
        graph.nodes.append(helper.make_node("Squeeze", [value.name, axis], [name]))
        return helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["rows"])
    graph.nodes.append(helper.make_node("Identity", [value.name], [name]))
    return helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["rows", classes])
