"""One fit: a generator of states, and the model of the last."""

from collections import deque
from collections.abc import Iterator
from math import inf

import numpy as np

from relevance_bayes.core.algorithms.state import Iterate, State, Termination
from relevance_bayes.core.basis import (
    Basis,
    Bias,
    Candidates,
    ConstantFunction,
    Functions,
    Group,
    GroupFunctions,
    InputFunctions,
    Inputs,
    KernelBasis,
    KernelFunctions,
    Single,
    SingleFunctions,
)
from relevance_bayes.core.errors import DataError, IllegalCombinationError, SparseBayesError
from relevance_bayes.core.folds import distinct
from relevance_bayes.core.model import Model
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.problem import Problem, check_shapes, check_source
from relevance_bayes.core.row_source import ArrayRows, RowSource
from relevance_bayes.core.sampling import Sample
from relevance_bayes.core.scales import FixedWidth, InheritedWidth, InputMap, Learning, Width
from relevance_bayes.core.spec import Spec, check, is_heteroscedastic, learning
from relevance_bayes.core.types import Array, Indices

__all__ = ["State", "Termination", "fit", "is_checkpoint", "iterate", "iterates", "pose", "pose_rows"]

REBUILT_EVERY = 16
"""States whose number is a multiple of this are checkpoints."""


def pose(
    X: Array,
    t: Array,
    spec: Spec,
    *,
    centres: Indices | None = None,
    inherited: KernelFunctions | None = None,
    noise_sd: Array | None = None,
    threads: int = 1,
) -> Problem:
    """The problem of a spec without width search: X (N, d), t (N,), candidates on the rows `centres`, or on all.

    `threads` share passes over all rows; the other parameters are those of `pose_rows`. Raises DataError,
    IllegalCombinationError.
    """
    check(spec)
    check_shapes(X, t)
    sample = None if centres is None else Sample(centres, X[centres])
    source = ArrayRows(X, t, threads=threads)
    return pose_rows(source, spec, centres=sample, inherited=inherited, noise_sd=noise_sd)


def pose_rows(
    source: RowSource,
    spec: Spec,
    *,
    centres: Sample | None = None,
    inherited: KernelFunctions | None = None,
    noise_sd: Array | None = None,
) -> Problem:
    """The problem of a spec without width search, with candidates on the rows `centres`, or on all.

    Under independent weights equal rows have one candidate, since copies would enter twice. `inherited` are functions
    of another fit, whose input map and covariance a kernel with an inherited width has. `noise_sd` (N,) is given where
    the likelihood has known noise by row. Raises DataError, IllegalCombinationError.
    """
    check(spec)
    likelihood, t = spec.model_likelihood, source.t
    if is_heteroscedastic(likelihood):
        raise SparseBayesError("expected noise of one size, or known by row: two fits in turn learn it as a function")
    check_source(source, noise_sd)
    likelihood.check(t)
    if likelihood.noise_by_row != (noise_sd is not None):
        raise DataError("expected a noise sd for each row where the likelihood has it as known, and only there")
    sample = Sample(np.arange(len(t)), source.every().X) if centres is None else centres
    if isinstance(spec.prior, Independent):
        apart = distinct(sample.X, t[sample.numbers])
        sample = Sample(sample.numbers[apart], sample.X[apart])
    learns = Learning()
    for basis in spec.basis:
        if isinstance(basis, KernelBasis):
            learns = learning(spec, basis)
    dictionaries = [_functions(basis, source, sample, learns, inherited) for basis in spec.basis]
    working, log_jacobian = likelihood.working(t)
    precisions = None if noise_sd is None else noise_sd**-2
    centre = _centre(spec, working, precisions)
    return Problem(
        source.with_targets(working - centre, precisions),
        Candidates(tuple(dictionaries)),
        likelihood,
        spec.prior,
        learns,
        spec.seed,
        log_jacobian=log_jacobian,
        centre=centre,
    )


def _functions(
    basis: Basis, source: RowSource, sample: Sample, learns: Learning, inherited: KernelFunctions | None
) -> Functions:
    """The candidates of a dictionary for the rows of a source, kernels centred on the `sample`."""
    if not isinstance(basis, Group):
        return _single(basis, source, sample, learns, inherited)
    if not all(0 <= k < source.inputs for k in basis.inputs):
        raise IllegalCombinationError("basis", f"expected inputs from 0 to {source.inputs - 1} in a group")
    columns = np.array(basis.inputs, np.intp)
    group, among = ArrayRows(source.every().X[:, columns], source.t), Sample(sample.numbers, sample.X[:, columns])
    return GroupFunctions(columns, _single(basis.of, group, among, Learning(), None))


def _single(
    basis: Single, source: RowSource, sample: Sample, learns: Learning, inherited: KernelFunctions | None
) -> SingleFunctions:
    match basis:
        case Bias():
            return ConstantFunction()
        case Inputs():
            return InputFunctions(np.arange(source.inputs))
        case KernelBasis(width=InheritedWidth()) if inherited is not None:
            return inherited.moved(inherited.input_map, sample.X, sample.numbers)
        case KernelBasis(kernel=kernel, width=width):
            input_map = _input_map(width, learns, inputs=source.inputs)
            return KernelFunctions(kernel, input_map, sample.X, sample.numbers)
        case _:
            return basis.functions(source.every().X)


def _centre(spec: Spec, working: Array, precisions: Array | None) -> Array:
    """The prior mean of the constant: that of the targets, where the latent has their units, else 0.

    Summed in sorted order, so that the order of the rows changes no bit: samples depend on the centred targets.
    """
    constant = any(isinstance(basis, Bias) for basis in spec.basis)
    if not (constant and spec.prior.centred and spec.likelihood.has_target_units):
        return np.zeros(working.shape[1:])
    weights = np.ones(len(working)) if precisions is None else precisions
    total = np.sort((working.T * weights).T, axis=0).sum(axis=0)
    return np.asarray(total / np.sort(weights).sum())


def _input_map(width: Width | InheritedWidth, learns: Learning, *, inputs: int) -> InputMap:
    match width:
        case FixedWidth(value=tuple(), each=each) if len(each) != inputs:
            raise IllegalCombinationError("basis", f"expected {inputs} widths, one for each input, got {len(each)}")
        case FixedWidth(each=each):
            if not all(0.0 < one < inf for one in each):
                raise IllegalCombinationError("basis", f"expected widths above 0, got {', '.join(map(str, each))}")
            return InputMap(np.array(each))
        case _ if learns.widths != "none":
            return InputMap.isotropic(1.0)
    raise SparseBayesError("expected widths that are fixed, inherited or learned: selection finds the others")


def is_checkpoint(state: State) -> bool:
    """True where a fit can be resumed from this state alone with the same result.

    All derived quantities are rebuilt there. Under a process, where that changes no bit, every state is a checkpoint.
    """
    if state.iteration == 0:
        return False
    return state.process is not None or state.termination is not None or state.iteration % REBUILT_EVERY == 0


def iterates(problem: Problem, spec: Spec, start: State | None = None) -> Iterator[Iterate]:
    """The iterates from `start`, or from the beginning, to the end, which has a termination."""
    now: Iterate = spec.algorithm.init(problem) if start is None else spec.algorithm.rebuild(problem, start)
    yield now
    while now.state.termination is None:
        now = spec.algorithm.step(problem, now)
        if now.state.process is None and is_checkpoint(now.state):
            now = spec.algorithm.rebuild(problem, now.state)
        yield now


def iterate(problem: Problem, spec: Spec, start: State | None = None) -> Iterator[State]:
    """The states of one fit. The first is `start` or the algorithm's first; only the last has a termination."""
    return (now.state for now in iterates(problem, spec, start))


def fit(X: Array, t: Array, spec: Spec, *, centres: Indices | None = None, noise_sd: Array | None = None) -> Model:
    """The fitted model: X (N, d), t (N,), a spec without width search; see `pose`."""
    problem = pose(X, t, spec, centres=centres, noise_sd=noise_sd)
    (last,) = deque(iterates(problem, spec), maxlen=1)
    return learned(problem, last)


def learned(problem: Problem, last: Iterate) -> Model:
    """The model of the end of a fit."""
    kept, state = last.kept(problem), last.state
    return Model(
        likelihood=kept.likelihood,
        functions=kept.functions,
        mean=kept.mean,
        covariance=kept.covariance,
        alpha=kept.alpha,
        gamma=kept.gamma,
        noise_sd=kept.likelihood.noise(problem.precision(state.beta)),
        evidence=last.log_evidence(problem),
        inputs=problem.inputs,
        rows=problem.rows,
        candidates=problem.candidates.size,
        termination=str(state.termination or Termination.MAX_ITERATIONS),
        signal_variance=kept.signal_variance,
        last_gain=kept.last_gain,
        next_gain=kept.next_gain,
        augmentation=kept.augmentation,
        jitter=kept.jitter,
        trace=state.trace,
    )
