"""From what a child learned to the version that is recorded, in the user's units and with the user's rows."""

from dataclasses import replace

import numpy as np

from app import __version__
from app.domain.datasets import Dataset
from app.domain.encoding import (
    EncodedTarget,
    Encoding,
    user_log_evidence,
    user_noise_sd,
    user_process_sd,
    user_scores,
)
from app.domain.jobs import Progress
from app.domain.models import (
    Compared,
    Contender,
    InputWidth,
    Learned,
    Member,
    NewSupervisedVersion,
    Score,
    SupervisedPredictor,
    SupervisedReport,
)
from app.domain.requests import SupervisedPlan
from app.domain.scales import model_terms, model_warps, model_widths, named_widths
from app.sparse_bayes.basis import Group, KernelBasis
from app.sparse_bayes.kernels import Kernel
from app.sparse_bayes.likelihoods import ClassLikelihood, Likelihood, LogGaussian, StudentT, TargetLikelihood
from app.sparse_bayes.likelihoods.temperature import temperature_of
from app.sparse_bayes.model import Model
from app.sparse_bayes.per_class import PerClass
from app.sparse_bayes.pool import Pool, likelihood_of, members_of, n_functions
from app.sparse_bayes.scales import FixedWidth, InputMap
from app.sparse_bayes.selection import Step, Trained
from app.sparse_bayes.spec import Spec
from app.worker.class_rows import class_rows
from app.worker.materialise import Materialised
from app.worker.outliers import outliers
from app.worker.vectors import BlockHolding, vectors
from app.worker.warnings import warnings


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
    learned, encoding = trained.learned, _settled(made.encoding, trained)
    target = encoding.target
    # What stands for the whole where several models predict together: none of their figures is the whole's.
    model, alone = members_of(learned)[0], isinstance(learned, Model)
    report = SupervisedReport(
        task=plan.task,
        plan=replace(plan, spec=_recorded(trained.spec, plan.spec)),
        widths=_widths(model, trained.spec, encoding) if alone else (),
        warps=model_warps(model, encoding) if alone else (),
        terms=model_terms(model, encoding) if alone else (),
        process_sd=user_process_sd(target, model.amplitude) if alone else None,
        last_gain=model.last_gain if alone else None,
        next_gain=model.next_gain if alone else None,
        degrees_of_freedom=_degrees_of_freedom(model.likelihood),
        outliers=outliers(model, made),
        members=_members(trained, encoding),
        compared=_compared(trained, target),
        warnings=warnings(trained, made),
        score_loss=trained.score_loss,
        temperature=_temperature(likelihood_of(learned)),
        unreduced_functions=trained.unreduced,
        score=_score(trained, target),
        class_rows=class_rows(made),
        standardised=plan.standardise,
        noise_sd=user_noise_sd(target, model.noise_sd) if alone else None,
        log_marginal_likelihood=user_log_evidence(target, model.log_marginal_likelihood, model.rows) if alone else None,
        functions=n_functions(learned),
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
    return Learned(
        report, tuple(vectors(plan, dataset, learned, made, holding)), SupervisedPredictor(encoding, learned)
    )


def _members(trained: Trained, encoding: Encoding) -> tuple[Member, ...]:
    """The processes of a pool, or the models of classes."""
    match trained.learned:
        case Pool() as pool:
            return _of_pool(trained, pool, encoding)
        case PerClass() as per_class:
            return _of_classes(trained, per_class, encoding)
        case _:
            return ()


def _of_classes(trained: Trained, learned: PerClass, encoding: Encoding) -> tuple[Member, ...]:
    return tuple(
        Member(
            kernel=_kernel_of(spec),
            weight=None,
            functions=len(model.mean),
            widths=model_widths(model, encoding),
            warps=model_warps(model, encoding),
            noise_sd=None,
            process_sd=user_process_sd(encoding.target, model.amplitude),
            log_marginal_likelihood=user_log_evidence(encoding.target, model.log_marginal_likelihood, model.rows),
            process_log_marginal_likelihood=None,
            label=label,
        )
        for label, spec, model in zip(encoding.target.classes, trained.class_specs, learned.members, strict=True)
    )


def _of_pool(trained: Trained, learned: Pool, encoding: Encoding) -> tuple[Member, ...]:
    target = encoding.target
    return tuple(
        Member(
            kernel=_kernel_of(one.spec),
            weight=one.weight,
            functions=one.functions,
            widths=model_widths(model, encoding),
            warps=model_warps(model, encoding),
            noise_sd=user_noise_sd(target, model.noise_sd),
            process_sd=user_process_sd(target, model.amplitude),
            log_marginal_likelihood=user_log_evidence(target, model.log_marginal_likelihood, model.rows),
            process_log_marginal_likelihood=user_log_evidence(target, one.evidence, model.rows),
        )
        for one, model in zip(trained.members, learned.members, strict=True)
    )


def _kernel_of(spec: Spec) -> Kernel | None:
    """The one kernel, None without or of several."""
    kernels = [basis.kernel for basis in spec.basis if isinstance(basis, KernelBasis)]
    return kernels[0] if len(kernels) == 1 else None


def _compared(trained: Trained, target: EncodedTarget) -> tuple[Compared, ...]:
    """What the folds judged; a log density of one row changes by the log of the target's unit."""
    return tuple(
        Compared(
            basis=one.spec.basis[0],
            prior=one.spec.prior,
            likelihood=one.spec.likelihood,
            score=None if one.score is None else user_log_evidence(target, one.score, 1),
            reason=one.reason,
        )
        for one in trained.compared
    )


def _score(trained: Trained, target: EncodedTarget) -> Score:
    """In nats of the target in the user's units."""
    found = trained.score
    value = None if found.value is None else user_log_evidence(target, found.value, 1)
    return Score(value, found.standard_error, found.rows, found.folds, found.reason)


def _settled(encoding: Encoding, trained: Trained) -> Encoding:
    """With what was open until the likelihood was chosen: whether the latent is the target's logarithm."""
    logarithmic = isinstance(likelihood_of(trained.learned), LogGaussian)
    return replace(encoding, target=replace(encoding.target, logarithmic=logarithmic))


def _degrees_of_freedom(likelihood: Likelihood) -> float | None:
    return float(likelihood.dof) if isinstance(likelihood, StudentT) and likelihood.dof != "learned" else None


def _temperature(likelihood: TargetLikelihood) -> float | None:
    return temperature_of(likelihood.temperature) if isinstance(likelihood, ClassLikelihood) else None


def _recorded(spec: Spec, planned: Spec) -> Spec:
    """The fit that was taken, whose groups count the inputs as the plan does, and not the columns that these become."""
    if len(spec.basis) != len(planned.basis):
        return spec
    pairs = zip(spec.basis, planned.basis, strict=True)
    return replace(spec, basis=tuple(other if isinstance(other, Group) else basis for basis, other in pairs))


def _widths(model: Model, spec: Spec, encoding: Encoding) -> tuple[InputWidth, ...]:
    """Those of the maps of the functions kept; those asked for where none was."""
    return model_widths(model, encoding) or tuple(
        width
        for basis in spec.basis
        if isinstance(basis, KernelBasis) and isinstance(basis.width, FixedWidth)
        for width in named_widths(InputMap(np.array(basis.width.each)), encoding)
    )
