"""Training jobs and versions in responses of the API.

A record takes the members of the plan and the report that have its names; those that differ are given here.
"""

from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter

from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from app.registry.records import Version
from app.registry.trainings import TRAINING
from relevance_bayes.core.basis import Basis
from relevance_bayes.core.models.model import Spec
from relevance_bayes.records import trainings, versions
from relevance_bayes.records.json import encode
from relevance_bayes.records.models import DatasetName
from relevance_bayes.tasks.components.report import ComponentsReport
from relevance_bayes.tasks.components.request import ComponentsPlan
from relevance_bayes.tasks.supervised.report import Hyperparameters, SupervisedReport
from relevance_bayes.tasks.supervised.request import LocalPlan, SupervisedPlan, named_bases, named_likelihood
from relevance_bayes.tasks.union import TrainingPlan, VersionReport

Members = Mapping[str, object]

_JOB: TypeAdapter[trainings.KnownJob] = TypeAdapter(trainings.KnownJob)
_VERSION: TypeAdapter[versions.KnownVersion] = TypeAdapter(versions.KnownVersion)


def training_job(job: Job) -> trainings.KnownJob:
    """Return a training job of the API."""
    _, plan = TRAINING.read(job)
    own: Members = {}
    if isinstance(plan, SupervisedPlan):
        own = {
            "compared_models": [_compared(one, plan.noise_column) for one in plan.compared_models],
            "pool": _bases([one.basis[0] for one in plan.pool], plan),
            "alternatives": _bases([one.basis[0] for one in plan.alternatives], plan),
            "local": None if plan.local is None else _local(plan.local),
        }
    return _JOB.validate_python({**vars(plan), **_of_plan(plan), **own, **shared_by_jobs(job)})


def version_record(version: Version) -> versions.KnownVersion:
    """Return a version of the API."""
    return _VERSION.validate_python(version_members(version))


def version_members(version: Version) -> Members:
    """Return the members of a version of the API, and others of its plan and report."""
    report = version.report
    own = {
        "model": version.model,
        "version": version.number,
        "created_at": version.created_at,
        "job_id": None if version.job_id is None else str(version.job_id),
        "parent": version.parent,
        "description": version.annotation.description,
        "tags": dict(version.annotation.tags),
        "dataset": DatasetName(id=str(report.dataset_id), digest=report.dataset_digest),
    }
    plan = report.plan
    return {**vars(plan), **_of_plan(plan), **vars(report), **_of_report(report), **own}


def _of_plan(plan: TrainingPlan) -> Members:
    """Return the members of jobs and versions that differ from those of the plan."""
    match plan:
        case SupervisedPlan(spec=spec):
            return {
                **_compared(spec, plan.noise_column),
                "basis": _bases(spec.basis, plan),
                "algorithm": encode(spec.algorithm),
                "split": encode(plan.split),
                "validation": encode(plan.validation),
                "seed": spec.seed,
            }
        case ComponentsPlan():
            return {"kernel": encode(plan.kernel)}
        case _:
            return {}


def _of_report(report: VersionReport) -> Members:
    """Return the members of versions that differ from those of the report."""
    match report:
        case SupervisedReport(plan=plan, temperature=temperature):
            return {
                "hyperparameters": _hyperparameters(report.hyperparameters, temperature),
                "evidence": encode(report.evidence),
                "members": [
                    {
                        **vars(member),
                        "kernel": encode(member.kernel),
                        "hyperparameters": _hyperparameters(member.hyperparameters, temperature),
                        "evidence": encode(member.evidence),
                        "evidence_unreduced": encode(member.evidence_unreduced),
                    }
                    for member in report.members
                ],
                "alternatives": [
                    {
                        **vars(one),
                        "basis": None if one.basis is None else _bases([one.basis], plan)[0],
                        "prior": encode(one.prior),
                        "likelihood": encode(named_likelihood(one.likelihood, plan.noise_column)),
                    }
                    for one in report.alternatives
                ],
            }
        case ComponentsReport(plan=plan):
            return {"standardised": plan.standardise}
        case _:
            return {}


def _compared(spec: Spec, noise_column: str | None) -> Members:
    return {"prior": encode(spec.prior), "likelihood": encode(named_likelihood(spec.likelihood, noise_column))}


def _bases(bases: Sequence[Basis], plan: SupervisedPlan) -> list[object]:
    return [encode(one) for one in named_bases(bases, [column.name for column in plan.inputs])]


def _hyperparameters(found: Hyperparameters, temperature: float | None) -> Members:
    return {**vars(found), "temperature": temperature}


def _local(plan: LocalPlan) -> Members:
    choice = plan.choice
    kernels = [kernel.type for kernel in choice.kernels]
    return {**vars(plan), **vars(choice), "kernels": kernels}
