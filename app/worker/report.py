"""From what a child learned to the version that is recorded, in the user's units and with the user's rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from app import __version__
from app.domain.datasets import Dataset
from app.domain.encoding import (
    EncodedTarget,
    Encoding,
    in_target_units,
    user_evidence,
    user_log_evidence,
    user_noise_sd,
    user_process_sd,
    user_scores,
)
from app.domain.jobs import Progress
from app.domain.models import (
    Alternative,
    Hyperparameters,
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
from app.sparse_bayes.likelihoods import Likelihood, LogGaussian, StudentT
from app.sparse_bayes.model import Model
from app.sparse_bayes.pool import members_of, n_functions
from app.sparse_bayes.scales import FixedWidth, InputMap
from app.sparse_bayes.selection import Member as TrainedMember
from app.sparse_bayes.selection import Score as TrainedScore
from app.sparse_bayes.selection import Step, Trained
from app.sparse_bayes.spec import Prior, Spec
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
    learned, encoding = trained.learned, _settled(made.encoding, trained)
    target, units = encoding.target, _Units.of(plan, made.encoding.target)
    model = members_of(learned)[0]
    report = SupervisedReport(
        task=plan.task,
        plan=replace(plan, spec=units.spec(_recorded(trained.spec, plan.spec))),
        members=_members(trained, encoding),
        score=_score(trained.score, target, model.rows),
        alternatives=_alternatives(trained, target, units, model.rows),
        score_loss=trained.score_loss,
        outliers=outliers(model, made),
        class_rows=class_rows(made),
        standardised=plan.standardise,
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
        dataset_id=dataset.id,
        dataset_digest=dataset.digest,
        seconds=seconds,
        software_version=__version__,
    )
    return Learned(
        report, tuple(vectors(plan, dataset, learned, made, holding)), SupervisedPredictor(encoding, learned)
    )


@dataclass(frozen=True)
class _Units:
    """Likelihoods and priors as they were asked for, by what they are in the units of t."""

    likelihoods: Mapping[Likelihood, Likelihood]
    priors: Mapping[Prior, Prior]

    @classmethod
    def of(cls, plan: SupervisedPlan, target: EncodedTarget) -> "_Units":
        asked = (plan.spec, *plan.rivals, *plan.pool)
        run = [in_target_units(spec, target) for spec in asked]
        return cls(
            {there.likelihood: here.likelihood for there, here in zip(run, asked, strict=True)},
            {there.prior: here.prior for there, here in zip(run, asked, strict=True)},
        )

    def likelihood(self, likelihood: Likelihood) -> Likelihood:
        """One whose noise is known, with that in the user's units; any other as it is."""
        return self.likelihoods.get(likelihood, likelihood)

    def prior(self, prior: Prior) -> Prior:
        """One with hyperpriors, with their rates in the user's units; any other as it is."""
        return self.priors.get(prior, prior)

    def spec(self, spec: Spec) -> Spec:
        """Both of them."""
        return replace(spec, likelihood=self.likelihood(spec.likelihood), prior=self.prior(spec.prior))


def _members(trained: Trained, encoding: Encoding) -> tuple[Member, ...]:
    """The models that predict together, or the only one."""
    told = trained.members or (TrainedMember(trained.spec),)
    return tuple(_member(one, model, encoding) for one, model in zip(told, members_of(trained.learned), strict=True))


def _member(told: TrainedMember, model: Model, encoding: Encoding) -> Member:
    target = encoding.target
    return Member(
        kernel=_kernel_of(told.spec),
        weight=told.weight,
        functions=len(model.mean),
        hyperparameters=Hyperparameters(
            noise_sd=user_noise_sd(target, model.noise_sd),
            degrees_of_freedom=_degrees_of_freedom(model.likelihood),
            widths=_widths(model, told.spec, encoding),
            warps=model_warps(model, encoding),
            terms=model_terms(model, encoding),
            process_sd=user_process_sd(target, model.amplitude),
            last_gain=model.last_gain,
            next_gain=model.next_gain,
        ),
        evidence=user_evidence(target, model.evidence, model.rows),
        evidence_unreduced=None if told.unreduced is None else user_evidence(target, told.unreduced, model.rows),
        score=None if told.score is None else user_log_evidence(target, told.score, 1),
    )


def _kernel_of(spec: Spec) -> Kernel | None:
    kernels = [basis.kernel for basis in spec.basis if isinstance(basis, KernelBasis)]
    return kernels[0] if len(kernels) == 1 else None


def _score(score: TrainedScore | None, target: EncodedTarget, rows: int) -> Score | None:
    if score is None:
        return None
    return Score(user_log_evidence(target, score.value, _rows_scored(score, rows)), score.kind)


def _rows_scored(score: TrainedScore | None, rows: int) -> int:
    """Of how many rows a score is: the log of the target's unit counts so often."""
    return 1 if score is not None and score.kind == "fold_log_density" else rows


def _alternatives(trained: Trained, target: EncodedTarget, units: _Units, rows: int) -> tuple[Alternative, ...]:
    """What was compared and not taken."""
    scored = _rows_scored(trained.score, rows)
    return tuple(
        Alternative(
            basis=one.spec.basis[0],
            prior=units.prior(one.spec.prior),
            likelihood=units.likelihood(one.spec.likelihood),
            functions=one.functions,
            score=None if one.score is None else user_log_evidence(target, one.score, scored),
            reason=one.reason,
        )
        for one in trained.alternatives
    )


def _settled(encoding: Encoding, trained: Trained) -> Encoding:
    """With what was open until the likelihood was chosen: whether the latent is the target's logarithm."""
    logarithmic = isinstance(members_of(trained.learned)[0].likelihood, LogGaussian)
    return replace(encoding, target=replace(encoding.target, logarithmic=logarithmic))


def _degrees_of_freedom(likelihood: Likelihood) -> float | None:
    return float(likelihood.dof) if isinstance(likelihood, StudentT) and likelihood.dof != "learned" else None


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
