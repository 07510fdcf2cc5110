"""The generated file: its numbers, the pieces that it needs, and `predict` that puts them together."""

import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from app.domain.encoding import EncodedNumber, EncodedTarget
from app.domain.exports import ExportedVersion
from app.exports.python_file.text import array, needed, quoted
from app.sparse_bayes.basis import (
    ConstantFunction,
    Functions,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
)
from app.sparse_bayes.dictionaries import FourierFunctions, GaborFunctions, SplineFunctions, StepFunctions
from app.sparse_bayes.kernels import Additive, Kernel, Polynomial, RationalQuadratic, Sigmoid
from app.sparse_bayes.likelihoods import (
    Bernoulli,
    Categorical,
    GaussianNoise,
    LogGaussian,
    OneAgainstRest,
    Poisson,
    StudentT,
)
from app.sparse_bayes.likelihoods.one_against_rest import SLOPE
from app.sparse_bayes.likelihoods.student_t import FIRST_DOF
from app.sparse_bayes.model import Model
from app.sparse_bayes.prediction import Ready
from app.sparse_bayes.types import Array, Indices

Numbers: TypeAlias = Array | Indices | None

HEAD = '''"""Version {number} of the model {model}: what it predicts, with numpy alone.

`predict(columns)` takes a sequence for each input, by name, and gives an array for each of what it tells, by name.
Inputs: {inputs}.
{notes}"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

Array = Indices = np.ndarray
'''


def render(exported: ExportedVersion) -> bytes:
    """A file of Python; raises NotPositiveDefiniteError."""
    return "".join(_Program(exported).lines()).encode()


class _Program:
    """One file as it is written: numbers get names as they are met."""

    def __init__(self, exported: ExportedVersion) -> None:
        self.exported = exported
        self.encoding = exported.predictor.encoding
        self.ready = Ready.of(exported.predictor.model)
        self.constants: dict[str, str] = {}

    def lines(self) -> Iterator[str]:
        """All of it."""
        body = "\n\n".join((self._encode(), self._functions(), self._predict()))
        wanted = needed(body)
        yield self._head()
        for name, text in self.constants.items():
            yield f"\n{name} = {text}\n"
        for source in wanted:
            yield f"\n\n{source}"
        yield f"\n\n{body}\n"

    def _head(self) -> str:
        exported, target = self.exported, self.encoding.target
        kinds = {"number": "numbers", "boolean": "0 and 1", "timestamp": "seconds since 1970 UTC", "category": "texts"}
        inputs = ", ".join(
            f"{quoted(column.name)} ({kinds[column.kind if isinstance(column, EncodedNumber) else 'category']})"
            for column in self.encoding.inputs
        )
        notes = "A missing value is None, or NaN. A row that can't be predicted is NaN throughout.\n"
        if target.noise_column is not None:
            notes += f"A row may bring the sd of its noise in {quoted(target.noise_column)}.\n"
        if target.classes:
            notes += (
                f"Classes, in the order of the probabilities: {', '.join(quoted(one) for one in target.classes)}.\n"
            )
        return HEAD.format(number=exported.number, model=quoted(exported.model), inputs=inputs, notes=notes)

    def _constant(self, name: str, numbers: Numbers) -> str:
        """The name under which numbers stand, or None."""
        if numbers is None:
            return "None"
        taken = name
        while taken in self.constants:
            base, _, last = taken.rpartition("_")
            taken = f"{base}_{int(last) + 1}" if last.isdecimal() and base else f"{taken}_2"
        self.constants[taken] = array(numbers)
        return taken

    def _encode(self) -> str:
        parts = []
        for column in self.encoding.inputs:
            where = f"columns[{column.name!r}]"
            if isinstance(column, EncodedNumber):
                said = (column.shift, column.scale, column.fill, column.indicator)
                parts.append(f"number({where}, {', '.join(map(repr, said))})")
            else:
                parts.append(f"category({where}, {column.categories!r}, {column.fill!r}, {column.indicator!r})")
        listed = "".join(f"            {part},\n" for part in parts)
        return (
            "def encode(columns: Mapping[str, Sequence[object]]) -> Array:\n"
            '    """The columns as the functions see them."""\n'
            f"    return np.hstack(\n        [\n{listed}        ]\n    )\n"
        )

    def _functions(self) -> str:
        parts = [_of(self, one) for one in self.ready.model.functions if one.size]
        listed = "".join(f"            {part},\n" for part in parts)
        stacked = f"np.hstack(\n        [\n{listed}        ]\n    )" if parts else "np.empty((len(X), 0))"
        return (
            "def functions(X: Array) -> Array:\n"
            '    """All functions of the model, one a column."""\n'
            f"    return {stacked}\n"
        )

    def _predict(self) -> str:
        model, target = self.ready.model, self.encoding.target
        told = self._told(model, target)
        body = [
            "X = encode(columns)",
            "sound = np.isfinite(X).all(axis=1)",
            *(self._noise() if "noise_sd" in told else []),
            "X = np.where(sound[:, None], X, 0.0)",
            "P = functions(X)",
            f"mean = P @ {self._constant('MEAN', model.mean)}",
            f"weights = row_sums((P @ {self._constant('LOWER', self.ready.lower)}) ** 2)",
            *self._beyond(),
            f"told = {told}",
            *(['told |= {"support": np.maximum(1.0 - left, 0.0)}'] if self._knows_places else []),
            "return sound_rows(told, sound)",
        ]
        lines = "".join(f"    {line}\n" for line in body)
        return (
            "def predict(columns: Mapping[str, Sequence[object]]) -> dict[str, Array]:\n"
            f'    """What is predicted for each row."""\n{lines}'
        )

    @property
    def _knows_places(self) -> bool:
        ready = self.ready
        return ready.augmented is not None or (ready.whitening is not None and len(ready.whitening.lower) > 0)

    def _noise(self) -> list[str]:
        """How the noise's sd is had: from the row, else from those learned from."""
        column, sd, scale = (
            self.encoding.target.noise_column,
            self.ready.model.noise_sd or 0.0,
            self.encoding.target.scale,
        )
        if column is None:
            return [f"noise_sd = np.full(len(X), {sd!r})"]
        said = f"columns.get({column!r}, [None] * len(X))"
        return [
            f"noise_sd = number({said}, 0.0, {scale!r}, {sd * scale!r}, False)[:, 0]",
            "sound &= noise_sd > 0.0",
        ]

    def _beyond(self) -> list[str]:
        ready = self.ready
        if ready.augmented is not None:
            kept = ready.augmented
            precision = (
                repr(kept.precision)
                if isinstance(kept.precision, float)
                else self._constant("PRECISION", np.asarray(kept.precision, np.float64))
            )
            said = (
                *("P", _kernel(self, kept.functions, "X", "ROWS")),
                *(self._constant("WHITENED", kept.whitened), self._constant("REACHED", kept.reached)),
                *(precision, repr(kept.prior)),
            )
            return [f"left = left_of_new({', '.join(said)})", f"beyond = {kept.prior!r} * left"]
        if ready.model.amplitude is None:
            return ["beyond = np.zeros(len(X))"]
        if ready.whitening is None or not len(ready.whitening.lower):
            return [f"beyond = np.full(len(X), {ready.model.amplitude!r})"]
        lower = ready.whitening.lower
        left = f"left = left_of_process(P[:, :{len(lower)}], {self._constant('FACTOR', lower)})"
        return [left, f"beyond = {ready.model.amplitude!r} * left"]

    def _told(self, model: Model, target: EncodedTarget) -> str:
        units = f"{target.shift!r}, {target.scale!r}"
        match model.likelihood:
            case GaussianNoise():
                return f"real(mean, noise_sd**2, weights, beyond, {units})"
            case LogGaussian():
                return f"positive(mean, noise_sd**2, weights, beyond, {units})"
            case StudentT(dof=dof):
                known = FIRST_DOF if dof == "learned" else float(dof)
                return f"heavy_tailed(mean, noise_sd**2, weights, beyond, {known!r}, {units})"
            case Poisson():
                return f"counts(mean, weights, beyond, {units})"
            case Bernoulli():
                return _class_members("of_two(mean, weights + beyond)")
            case Categorical():
                spread = f"np.sqrt(1.0 + {math.pi / 8.0!r} * (weights + beyond))[:, None]"
                return _class_members(f"softmax(mean / {spread})")
            case OneAgainstRest(sharpness=sharpness):
                sharp = SLOPE * (1.0 if sharpness == "learned" else float(sharpness))
                sd = "np.sqrt(noise_sd**2 + weights + beyond)[:, None]"
                return _class_members(f"softmax({sharp!r} * mean / {sd})")


def _class_members(probabilities: str) -> str:
    members = {"probabilities": probabilities, "latent_mean": "mean", "latent_variance": "weights + beyond"}
    return "{\n" + "".join(f'        "{name}": {value},\n' for name, value in members.items()) + "    }"


def _of(program: _Program, functions: Functions) -> str:
    if isinstance(functions, GroupFunctions):
        return _single(program, functions.of, f"X[:, {functions.columns.tolist()!r}]")
    return _single(program, functions, "X")


def _single(program: _Program, functions: SingleFunctions, seen: str) -> str:
    named = program._constant
    match functions:
        case KernelFunctions():
            return _kernel(program, functions, seen, "CENTRES")
        case ConstantFunction():
            return "bias(X)"
        case InputFunctions(columns=columns):
            return f"{seen}[:, {columns.tolist()!r}]"
        case StepFunctions(inputs=inputs, places=places):
            return f"steps({seen}, {named('STEP_INPUTS', inputs)}, {named('STEPS', places)})"
        case FourierFunctions():
            said = (named("WAVE_INPUTS", functions.inputs), named("ORIGINS", functions.origins))
            more = (named("FREQUENCIES", functions.frequencies), named("PHASES", functions.phases))
            return f"waves({', '.join((seen, *said, *more))})"
        case SplineFunctions():
            said = (named("SPLINE_INPUTS", functions.inputs), named("PLACES", functions.places))
            return f"b_splines({seen}, {functions.degree}, {', '.join(said)}, {named('SPANS', functions.spans)})"
        case GaborFunctions():
            said = (named("WAVELETS", functions.centres), named("SPANS", functions.spans))
            more = (named("FREQUENCIES", functions.frequencies), named("PHASES", functions.phases))
            return f"wavelets({', '.join((seen, *said, *more))})"


def _kernel(program: _Program, functions: KernelFunctions, seen: str, name: str) -> str:
    """k(u(x), u(z)), the centres z already bent."""
    bend, kernel = functions.input_map, functions.kernel
    said = (program._constant("WIDTHS", bend.widths), program._constant("SKEW", bend.skew))
    bent = f"bent({seen}, {', '.join(said)}, {program._constant('TAIL', bend.tail)})"
    mapped = bend(functions.centres)
    if not isinstance(kernel, Additive):
        return _called(kernel, bent, program._constant(name, mapped))
    rest = np.setdiff1d(np.arange(mapped.shape[1]), kernel.alone).tolist()
    centres = program._constant(name, mapped)
    terms = [*(([place], share) for place, share in zip(kernel.alone, kernel.shares, strict=True))]
    each = [
        f"{share!r} * {_called(kernel.kernel, f'{bent}[:, {inputs!r}]', f'{centres}[:, {inputs!r}]')}"
        for inputs, share in [*terms, (rest, 1.0 - sum(kernel.shares))]
    ]
    return f"\n{' ' * 12}+ ".join(each)


def _called(kernel: Kernel, U: str, Z: str) -> str:
    match kernel:
        case Polynomial(degree=option) | RationalQuadratic(power=option) | Sigmoid(offset=option):
            return f"{kernel.type}({U}, {Z}, {option!r})"
        case _:
            return f"{kernel.type}({U}, {Z})"
