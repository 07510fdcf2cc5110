"""The generated file of a version, with a `predict` for its kind of task."""

from dataclasses import dataclass, replace

import numpy as np

from app.exports.python_file.functions import (
    class_members,
    expression,
    hurdle_members,
    hurdle_moments_of,
    kernel_expression,
    number_members,
)
from app.exports.python_file.writing import Program, predict, quoted
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.likelihoods.base import NumberLikelihood
from relevance_bayes.core.likelihoods.gaussian import standard_quantile
from relevance_bayes.core.models.classes import PerClass
from relevance_bayes.core.models.hurdle import HurdleModel
from relevance_bayes.core.models.local.model import LocalModel
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pool import Pool
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.documents.reports import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)
from relevance_bayes.tables.encoding import EncodedTarget
from relevance_bayes.tasks.approximation.report import ApproximationPredictor
from relevance_bayes.tasks.components.report import COMPONENTS_REPORTED, ComponentsPredictor
from relevance_bayes.tasks.supervised.report import SupervisedPredictor


def _target_notes(target: EncodedTarget) -> str:
    """Return notes for callers on the target."""
    reported = ""
    if target.noise_column is not None:
        reported += f"The sd of the noise of each row is optional, in {quoted(target.noise_column)}.\n"
    if target.classes:
        reported += f"Classes, in the order of the probabilities: {', '.join(quoted(one) for one in target.classes)}.\n"
    return reported


def supervised(program: Program, predictor: SupervisedPredictor) -> str:
    """Return the source of `functions` and `predict`; raises NotPositiveDefiniteError."""
    target = predictor.encoding.target
    match predictor.learned:
        case Model() as model:
            parts = _Predicting(program, target, Ready.of(model))
            return f"{parts.functions()}\n\n{parts.predict()}"
        case Pool() as pool:
            return _pooled(program, target, pool)
        case PerClass() as per_class:
            return _per_class(program, target, per_class)
        case HurdleModel() as hurdle:
            return _hurdle(program, target, hurdle)
        case LocalModel():
            raise SparseBayesError("expected a model that keeps no rows")


def _pooled(program: Program, target: EncodedTarget, pool: Pool) -> str:
    """Return the functions of each member, and `predict`, which multiplies their predictive densities."""
    members = [_Predicting(program, target, Ready.of(one), f"_{k}") for k, one in enumerate(pool.members, 1)]
    z = standard_quantile(0.975, pool.degrees_of_freedom)
    lines = [
        "X = encode(columns)",
        "sound = np.isfinite(X).all(axis=1)",
        *(members[0].noise() if target.noise_column is not None else []),
        "X = np.where(sound[:, None], X, 0.0)",
        "members = []",
    ]
    for member in members:
        known = "np.maximum(1.0 - left, 0.0)" if member.has_support else "np.full(len(X), np.nan)"
        by_row = [] if target.noise_column is not None else member.noise()
        lines += [*by_row, *member.latent(), f"members.append((mean, noise_sd**2, weights, residual, {known}))"]
    lines += [
        f"mean, noise, weights, residual, support = product(members, {pool.weights.tolist()!r})",
        *_corrected(pool.variance_factor, "noise", "weights", "residual"),
        f"reported = real(mean, noise, weights, residual, {z!r}, {target.shift!r}, {target.scale!r})",
        *(['reported |= {"support": support}'] if all(member.has_support for member in members) else []),
        "return sound_rows(reported, sound)",
    ]
    return "\n\n".join([*(member.functions() for member in members), predict(lines)])


def _hurdle(program: Program, target: EncodedTarget, learned: HurdleModel) -> str:
    """Return the functions of both models, and `predict`: the mixture of a zero and a positive number."""
    zero, positive = (
        _Predicting(program, target, Ready.of(one), ending)
        for one, ending in zip(learned.members, ("_of_zero", "_of_positive"), strict=True)
    )
    model, units = learned.positive, f"{target.shift!r}, {target.scale!r}"
    factor, known = model.variance_factor, [one for one in (zero, positive) if one.has_support]
    keeps = {one.ending: ["supports.append(np.maximum(1.0 - left, 0.0))"] for one in known}
    lines = [
        "X = encode(columns)",
        "sound = np.isfinite(X).all(axis=1)",
        "X = np.where(sound[:, None], X, 0.0)",
        *(["supports = []"] if known else []),
        *zero.latent(),
        *keeps.get(zero.ending, []),
        *hurdle_members(program, learned.likelihood),
        *positive._within_range(),
        *positive.latent(),
        *keeps.get(positive.ending, []),
        *positive.noise(),
        *_corrected(factor, "weights", "residual"),
        *_corrected(factor**0.5, "noise_sd"),
        "logs = mean, noise_sd**2 + weights + residual",
        f"positive = {number_members(program, learned.likelihood.positive, '0.0, 1.0')}",
        "mean, noise = positive['mean'], positive['variance_noise']",
        "weights, residual = positive['variance_weights'], positive['variance_residual']",
        f"reported = in_units(*{hurdle_moments_of(program)}, {units})",
        f"reported |= between(*hurdle_ends(zero, *logs, {model.degrees_of_freedom!r}), {units})",
        *(['reported |= {"support": np.mean(supports, axis=0)}'] if known else []),
        "return sound_rows(reported, sound)",
    ]
    return "\n\n".join([zero.functions(), positive.functions(), predict(lines)])


def _corrected(factor: float, *names: str) -> list[str]:
    """Return the line that multiplies variables, where `factor` is not 1."""
    return [] if factor == 1.0 else [f"{', '.join(names)} = {', '.join(f'{factor!r} * {name}' for name in names)}"]


def _per_class(program: Program, target: EncodedTarget, learned: PerClass) -> str:
    """Return the functions of each class's model, and `predict`, which normalises their probabilities."""
    members = [_Predicting(program, target, Ready.of(one), f"_{k}") for k, one in enumerate(learned.members, 1)]
    knows = any(member.has_support for member in members)
    lines = [
        "X = encode(columns)",
        "sound = np.isfinite(X).all(axis=1)",
        "X = np.where(sound[:, None], X, 0.0)",
        f"means, variances{', supports' if knows else ''} = [], []{', []' if knows else ''}",
    ]
    for member in members:
        lines += [*member.latent(), "means.append(mean)", "variances.append(weights + residual)"]
        lines += ["supports.append(np.maximum(1.0 - left, 0.0))"] if member.has_support else []
    lines += [
        "mean, variance = np.column_stack(means), np.column_stack(variances)",
        f"reported = {class_members(program, learned.likelihood, 'mean', 'variance')}",
        *(['reported |= {"support": np.mean(supports, axis=0)}'] if knows else []),
        "return sound_rows(reported, sound)",
    ]
    return "\n\n".join([*(member.functions() for member in members), predict(lines)])


@dataclass(frozen=True)
class _Predicting:
    """A generated prediction; `ending` is the suffix of the name of its functions."""

    program: Program
    target: EncodedTarget
    ready: Ready
    ending: str = ""

    @property
    def second(self) -> "_Predicting | None":
        """Return the prediction of the log noise, where that is a function of the inputs."""
        noise = self.ready.noise
        return None if noise is None else replace(self, ready=noise, ending=f"{self.ending}_of_noise")

    def functions(self) -> str:
        """Return the function of all columns of the model, and that of the noise where it has one."""
        second = self.second
        own = self._functions()
        return own if second is None else f"{own}\n\n{second.functions()}"

    def _functions(self) -> str:
        parts = [expression(self.program, one) for one in self.ready.model.functions if one.size]
        listed = "".join(f"            {part},\n" for part in parts)
        stacked = f"np.hstack(\n        [\n{listed}        ]\n    )" if parts else "np.empty((len(X), 0))"
        return (
            f"def functions{self.ending}(X: Array) -> Array:\n"
            '    """All functions of the model, one a column."""\n'
            f"    return {stacked}\n"
        )

    def predict(self) -> str:
        """Return the source of `predict`."""
        model = self.ready.model
        reported = self._outputs(model, self.target)
        lines = [
            "X = encode(columns)",
            "sound = np.isfinite(X).all(axis=1)",
            *(self.noise() if "noise_sd" in reported and self.second is None else []),
            "X = np.where(sound[:, None], X, 0.0)",
            *self._within_range(),
            *(self.noise() if self.second is not None else []),
            *self.latent(),
            *_corrected(model.variance_factor, "weights", "residual"),
            *_corrected(model.variance_factor**0.5, "noise_sd"),
            f"reported = {reported}",
            *(['reported |= {"support": np.maximum(1.0 - left, 0.0)}'] if self.has_support else []),
            "return sound_rows(reported, sound)",
        ]
        return predict(lines)

    def _within_range(self) -> list[str]:
        """Return the line that bounds the inputs, where the model bounds them."""
        bounds = self.ready.model.input_range
        if bounds is None:
            return []
        lower, upper = (
            self.program.constant("INPUT_LOWER", bounds.lower),
            self.program.constant("INPUT_UPPER", bounds.upper),
        )
        return [f"X = np.clip(X, {lower}, {upper})"]

    def latent(self) -> list[str]:
        """Return the lines of the latent's mean and variances."""
        return [
            f"P = functions{self.ending}(X)",
            f"mean = P @ {self.program.constant('MEAN', self.ready.model.mean)}",
            f"weights = row_sums((P @ {self.program.constant('ROOT', self.ready.root)}) ** 2)",
            *self._residual(),
        ]

    @property
    def has_support(self) -> bool:
        """Return whether the support is known."""
        ready = self.ready
        return ready.augmented is not None or (ready.whitening is not None and len(ready.whitening.lower) > 0)

    def noise(self) -> list[str]:
        """Return the lines of the noise sd: from a function of the inputs, the row, or the training rows."""
        column, sd, scale = self.target.noise_column, self.ready.model.noise_sd or 0.0, self.target.scale
        bounds = self.ready.model.log_noise
        if self.second is not None and bounds is not None:
            logs = f"np.clip(mean + 0.5 * (weights + residual), {bounds.min_log!r}, {bounds.max_log!r})"
            return [*self.second.latent(), f"noise_sd = np.exp(0.5 * {logs})"]
        if column is None:
            return [f"noise_sd = np.full(len(X), {sd!r})"]
        given = f"columns.get({column!r}, [None] * len(X))"
        return [
            f"noise_sd = number({given}, 0.0, {scale!r}, {sd * scale!r}, False)[:, 0]",
            "sound &= noise_sd > 0.0",
        ]

    def _residual(self) -> list[str]:
        ready = self.ready
        if ready.augmented is not None:
            kept = ready.augmented
            precision = (
                repr(kept.precision)
                if isinstance(kept.precision, float)
                else self.program.constant("PRECISION", np.asarray(kept.precision, np.float64))
            )
            given = (
                *("P", kernel_expression(self.program, kept.functions, "X", "ROWS")),
                *(self.program.constant("WHITENED", kept.whitened), self.program.constant("REACHED", kept.reached)),
                *(precision, repr(kept.prior)),
            )
            return [f"left = left_of_new({', '.join(given)})", f"residual = {kept.prior!r} * left"]
        if ready.model.signal_variance is None:
            return ["residual = np.zeros(len(X))"]
        if ready.whitening is None or not len(ready.whitening.lower):
            return [f"residual = np.full(len(X), {ready.model.signal_variance!r})"]
        lower = ready.whitening.lower
        left = f"left = left_of_process(P[:, :{len(lower)}], {self.program.constant('FACTOR', lower)})"
        return [left, f"residual = {ready.model.signal_variance!r} * left"]

    def _outputs(self, model: Model, target: EncodedTarget) -> str:
        likelihood = model.likelihood
        if isinstance(likelihood, NumberLikelihood):
            units = f"{target.shift!r}, {target.scale!r}"
            return number_members(self.program, likelihood, units, model.degrees_of_freedom)
        return class_members(self.program, likelihood, "mean", "weights + residual")


NOTES = "`components` is the number of first components in the result, and for the `reconstruction_error`.\n"


def render(exported: ExportedVersion) -> bytes:
    """Return a file of Python; raises NotPositiveDefiniteError."""
    program = Program()
    notes, body = _written(program, exported)
    return program.written(exported, notes, body).encode()


def _written(program: Program, exported: ExportedVersion) -> tuple[str, str]:
    """Return notes for callers, and the source of `predict`."""
    match exported:
        case ExportedSupervised(predictor=predictor):
            return _target_notes(predictor.encoding.target), supervised(program, predictor)
        case ExportedApproximation(predictor=predictor):
            return "", _approximation(program, predictor)
        case ExportedComponents(predictor=predictor):
            return NOTES, _components(program, predictor)


def _approximation(program: Program, predictor: ApproximationPredictor) -> str:
    """Return `predict` of an approximation: its terms and their coefficients."""
    terms = predictor.expansion
    given = f"{program.constant('CENTRES', terms.centres)}, {program.constant('WIDTHS', terms.widths)}"
    value = f"gaussians(X, {given}) @ {program.constant('COEFFICIENTS', terms.coefficients)} + {terms.constant!r}"
    return predict(
        [
            "X = encode(columns)",
            "sound = np.isfinite(X).all(axis=1)",
            "X = np.where(sound[:, None], X, 0.0)",
            f'reported = {{"value": {value}}}',
            "return sound_rows(reported, sound)",
        ]
    )


def _components(program: Program, predictor: ComponentsPredictor) -> str:
    """Return `predict` of components: principal components and novelty."""
    found = predictor.components
    functions = KernelFunctions(found.kernel, found.input_map, found.centres, found.rows)
    images = kernel_expression(program, functions, "X", "CENTRES")
    usual = program.constant("USUAL", predictor.log_densities)
    spread = f"{program.constant('VARIANCES', found.variances)}, {found.noise_variance!r}"
    return predict(
        [
            "X = encode(columns)",
            "sound = np.isfinite(X).all(axis=1)",
            "X = np.where(sound[:, None], X, 0.0)",
            f"projected = {images} @ {program.constant('AXES', found.axes)}",
            f"density = log_densities(projected, {spread})",
            "first = projected[:, :components]",
            'reported = {"components": first, "reconstruction_error": missed(first)}',
            f'reported |= {{"log_density": density, "novelty": share_above(density, {usual})}}',
            "return sound_rows(reported, sound)",
        ],
        beside=f", components: int = {COMPONENTS_REPORTED}",
    )
