"""From what a child learned to the version that is recorded, in the user's units and with the user's rows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from app import __version__
from app.domain.datasets import Dataset
from app.domain.encoding import (
    Encoding,
    column_names,
    user_log_evidence,
    user_noise_sd,
    user_process_sd,
    user_scores,
)
from app.domain.jobs import Progress
from app.domain.models import (
    Contender,
    InputTerm,
    InputWarp,
    InputWidth,
    Learned,
    NewSupervisedVersion,
    SupervisedPredictor,
    SupervisedReport,
)
from app.domain.requests import SupervisedPlan
from app.sparse_bayes.basis import KernelBasis, KernelFunctions
from app.sparse_bayes.kernels import Additive
from app.sparse_bayes.likelihoods import Likelihood, LogGaussian, StudentT
from app.sparse_bayes.model import Model
from app.sparse_bayes.scales import FixedWidth, InputMap
from app.sparse_bayes.selection import Step, Trained
from app.worker.class_rows import class_rows
from app.worker.materialise import Materialised
from app.worker.outliers import outliers
from app.worker.vectors import BlockHolding, vectors


def progress(step: Step, made: Materialised) -> Progress:
    """A step in the user's units."""
    target, evidence = made.encoding.target, step.log_marginal_likelihood
    return Progress(
        phase=step.phase,
        completed=step.completed,
        total=step.total,
        unit=step.unit,
        log_marginal_likelihood=None if evidence is None else user_log_evidence(target, evidence, made.training),
        functions=step.functions,
        noise_sd=user_noise_sd(target, step.noise_sd),
    )


def new_version(
    plan: SupervisedPlan,
    dataset: Dataset,
    trained: Trained,
    *,
    made: Materialised,
    seconds: float,
    holding: BlockHolding,
) -> NewSupervisedVersion:
    """All that is recorded of a successful fit that took `seconds`."""
    model, encoding = trained.model, _settled(made.encoding, trained)
    target = encoding.target
    report = SupervisedReport(
        task=plan.task,
        plan=replace(plan, spec=trained.spec),
        widths=_widths(trained, encoding),
        warps=_warps(trained.model, encoding),
        terms=_terms(trained.model, encoding),
        process_sd=user_process_sd(target, model.amplitude),
        last_gain=model.last_gain,
        next_gain=model.next_gain,
        degrees_of_freedom=_degrees_of_freedom(model.likelihood),
        outliers=outliers(model, made),
        class_rows=class_rows(made),
        standardised=plan.standardise,
        noise_sd=user_noise_sd(target, model.noise_sd),
        log_marginal_likelihood=user_log_evidence(target, model.log_marginal_likelihood, model.rows),
        functions=len(model.mean),
        candidates=model.candidates,
        rows=made.training,
        rows_dropped=made.dropped,
        rows_held_out=made.held_out,
        termination=str(model.termination),
        metrics={
            name: user_scores(target, scores)
            for name, scores in (
                ("holdout", trained.scores),
                ("validation", trained.validation),
                ("leave_one_out", trained.leave_one_out),
            )
            if scores
        },
        contenders=tuple(
            Contender(
                prior=one.spec.prior,
                likelihood=one.spec.likelihood,
                functions=one.functions,
                score=user_log_evidence(target, one.score, model.rows),
            )
            for one in trained.contenders
        ),
        dataset_id=dataset.id,
        dataset_digest=dataset.digest,
        seconds=seconds,
        software_version=__version__,
    )
    return Learned(report, tuple(vectors(plan, dataset, model, made, holding)), SupervisedPredictor(encoding, model))


def _settled(encoding: Encoding, trained: Trained) -> Encoding:
    """With what was open until the likelihood was chosen: whether the latent is the target's logarithm."""
    logarithmic = isinstance(trained.model.likelihood, LogGaussian)
    return replace(encoding, target=replace(encoding.target, logarithmic=logarithmic))


def _degrees_of_freedom(likelihood: Likelihood) -> float | None:
    return float(likelihood.dof) if isinstance(likelihood, StudentT) and likelihood.dof != "learned" else None


def _widths(trained: Trained, encoding: Encoding) -> tuple[InputWidth, ...]:
    """Those of the maps of the functions kept; those asked for where none was."""
    kept = _maps(trained.model)
    if kept:
        return tuple(width for input_map in kept for width in _named_widths(input_map, encoding))
    return tuple(
        width
        for basis in trained.spec.basis
        if isinstance(basis, KernelBasis) and isinstance(basis.width, FixedWidth)
        for width in _named_widths(InputMap(np.array(basis.width.each)), encoding)
    )


def _named_widths(input_map: InputMap, encoding: Encoding) -> Iterator[InputWidth]:
    shared = len(input_map.widths) < encoding.width
    names: Sequence[str | None] = (None,) if shared else column_names(encoding)
    for name, width in zip(names, input_map.widths, strict=True):
        yield InputWidth(name, float(width))


def _warps(model: Model, encoding: Encoding) -> tuple[InputWarp, ...]:
    """The warps of the maps that have some."""
    straight = np.zeros(encoding.width)
    return tuple(
        InputWarp(name, float(skew), float(tail))
        for bent in _maps(model)
        if bent.skew is not None or bent.tail is not None
        for name, skew, tail in zip(
            column_names(encoding),
            straight if bent.skew is None else bent.skew,
            straight if bent.tail is None else bent.tail,
            strict=True,
        )
    )


def _terms(model: Model, encoding: Encoding) -> tuple[InputTerm, ...]:
    """The terms of single inputs, in the inputs' order."""
    names = column_names(encoding)
    return tuple(
        InputTerm(names[place], share)
        for functions in model.functions
        if isinstance(functions, KernelFunctions) and isinstance(functions.kernel, Additive)
        for place, share in sorted(zip(functions.kernel.alone, functions.kernel.shares, strict=True))
    )


def _maps(model: Model) -> tuple[InputMap, ...]:
    """Those of the kernels that see all inputs: of a group the widths are in what was asked for."""
    return tuple(functions.input_map for functions in model.functions if isinstance(functions, KernelFunctions))
