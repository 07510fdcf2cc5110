"""Small datasets, jobs and versions for the tests of storage."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np

from app.database.transaction import OpenTransaction
from app.datasets.records import Dataset, Upload
from app.datasets.repository import DatasetRepository
from app.evaluation.jobs import EVALUATION, EvaluationPlan
from app.identity import uuid7
from app.jobs.records import Claim, Job, JobFailure
from app.jobs.repository import JobRepository
from app.registry.submission import submit
from app.registry.trainings import TRAINING
from app.tasks.service import finish_training
from relevance_bayes.core.basis import ConstantFunction, InputFunctions, KernelBasis, KernelFunctions
from relevance_bayes.core.kernels import Additive, Gaussian
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.priors import Independent
from relevance_bayes.records.evaluations import EvaluationRequest
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.reports import Evidence, InputTerm, InputWarp, InputWidth, Outlier
from relevance_bayes.records.values import InputColumn, Task
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    ColumnSummary,
    NumberArray,
    TimestampArray,
)
from relevance_bayes.tables.encoding import EncodedCategory, EncodedNumber, EncodedTarget, Encoding
from relevance_bayes.tasks.listing import Learned
from relevance_bayes.tasks.supervised.report import (
    Alternative,
    Hyperparameters,
    Member,
    SupervisedPredictor,
    SupervisedReport,
)
from relevance_bayes.tasks.supervised.request import SupervisedPlan, SupervisedRequest
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion

OWNER = "ada"
STRANGER = "bob"
AT = datetime(2026, 2, 3, 4, 5, 6, 789012, tzinfo=UTC)
PROBLEM = JobFailure("constant-target", "Nothing to learn", "All targets are 3: choose another column.")
PROGRESS = Progress("fit", 3, None, "functions", -12.5, 4, 0.1)

COLUMNS = (
    ColumnSummary("size", "number", 1, 0.1, 1e308, -5e-324, 2.5, integral=False, distinct=3),
    ColumnSummary("colour", "category", 0, distinct=2, categories=(("rød 😀", 2), ("blue\x00", 1))),
)


def block(rows: int = 4, *, seed: int = 0) -> Block:
    draw = np.random.default_rng(seed)
    size = draw.normal(size=rows)
    size[0] = np.nan
    return {
        "size": NumberArray(size),
        "sold": BooleanArray(draw.integers(-1, 2, rows).astype(np.int8)),
        "at": TimestampArray(draw.uniform(0, 2e9, rows)),
        "colour 😀": CategoryArray(draw.integers(-1, 2, rows).astype(np.int32), ("rød", 'null\x00, "quoted"')),
    }


def upload(*, owner: str = OWNER, name: str = "houses") -> Upload:
    return Upload(uuid7(), owner, name, AT, ("size", "colour"), ("number", "category"))


def stored_dataset(
    transaction: OpenTransaction, *, owner: str = OWNER, name: str = "houses", blocks: int = 2
) -> Dataset:
    sent = upload(owner=owner, name=name)
    with transaction() as tx:
        DatasetRepository(tx).begin(sent)
    for number in range(blocks):
        with transaction() as tx:
            DatasetRepository(tx).append(sent.id, number, 4 * number, block(4, seed=number))
    with transaction() as tx:
        return DatasetRepository(tx).finish(sent.id, rows=4 * blocks, digest="ab" * 32, columns=COLUMNS)


def plan(
    *, model: str = "prices", task: Task = "regression", target: str = "price", inputs: str = "xy"
) -> SupervisedPlan:
    return SupervisedPlan(
        task=task,
        task_reason="the target holds numbers",
        model=model,
        target=target,
        target_kind="number",
        classes=(1, 2.0, True, "a", 2**70),
        inputs=tuple(InputColumn(name, "number") for name in inputs),
        ignored=(),
        spec=Spec(likelihood=GaussianNoise(noise_sd=0.1)),
        standardise=True,
        missing="error",
        split=SupervisedRequest(dataset_id=UUID(int=0), target=target).split,
        holdout=0.0,
        compared_models=(),
        validation=None,
        noise_column=None,
        pool=(),
        alternatives=(),
        effort="quick",
        max_score_loss=0.01,
        local=None,
        missing_reason="",
        dates="time",
        text="leave_out",
        keep_rows=True,
        budget=None,
        positive_class=None,
    )


def new_job(dataset_id: UUID, *, owner: str = OWNER, made: SupervisedPlan | None = None) -> Job:
    request = SupervisedRequest(dataset_id=dataset_id, target="price")
    return replace(TRAINING.queued(owner, request, plan() if made is None else made, at=AT), transitions=())


def new_evaluation(dataset_id: UUID, *, model: str = "prices", version: int = 1, owner: str = OWNER) -> Job:
    request = EvaluationRequest(dataset_id, model, version="best")
    scoring = EvaluationPlan(model, version, "regression", "price")
    return replace(EVALUATION.queued(owner, request, scoring, at=AT), transitions=())


def queued_job(
    transaction: OpenTransaction,
    *,
    owner: str = OWNER,
    made: SupervisedPlan | None = None,
    dataset_id: UUID | None = None,
) -> UUID:
    if dataset_id is None:
        dataset_id = stored_dataset(transaction, owner=owner, blocks=1).id
    job = new_job(dataset_id, owner=owner, made=made)
    with transaction() as tx:
        submit(tx, job)
    return job.id


def running_job(transaction: OpenTransaction, *, owner: str = OWNER, made: SupervisedPlan | None = None) -> UUID:
    job_id = queued_job(transaction, owner=owner, made=made)
    with transaction() as tx:
        assert JobRepository(tx).claim(job_id) == Claim(1)
    return job_id


def predictor(*, seed: int = 0) -> SupervisedPredictor:
    draw = np.random.default_rng(seed)
    bent = InputMap(np.array([0.5, 1.0 / 3.0, 1e-75]), draw.normal(size=3), None)
    model = Model(
        likelihood=GaussianNoise(),
        functions=(
            KernelFunctions(
                Additive(Gaussian(), (2, 0), (0.1, 1.0 / 3.0)), bent, draw.normal(size=(2, 3)), np.array([4, 0])
            ),
            ConstantFunction(),
            InputFunctions(np.array([2, 0])),
        ),
        mean=draw.normal(size=5),
        covariance=draw.normal(size=(5, 5)),
        alpha=np.array([1e-308, 5e-324, 1.7976931348623157e308, 1.0, 0.1]),
        gamma=draw.uniform(size=5),
        noise_sd=0.1 + 0.2,
        evidence=Evidence(-1.0 / 3.0, "exact", 1.0 / 7.0, 0.1 + 0.2),
        inputs=3,
        rows=10,
        candidates=11,
        termination="converged",
        signal_variance=1.0 / 7.0,
        last_gain=None,
        next_gain=5e-324,
    )
    number = EncodedNumber("size", "number", 1e-17, 3.3, fill=None, indicator=False)
    category = EncodedCategory("colour", ("rød 😀", "blue"), fill=(0.1, 0.9), indicator=False)
    target = EncodedTarget("price", "number", 7.0, 2.0, (1, 2.0, True, "a"))
    return SupervisedPredictor(Encoding((number, category), target), model)


def vectors() -> tuple[RelevanceVector, ...]:
    return (
        RelevanceVector(
            number=1,
            kind="gaussian",
            row=4,
            inputs={"x": 0.1, "y": None, "colour": "rød", "n": 2**70},
            weight_mean=-3.0,
            weight_sd=0.1,
            alpha=1e-308,
            gamma=0.5,
        ),
        RelevanceVector(
            number=2,
            kind="gaussian",
            row=0,
            inputs={"x": -0.0, "y": True},
            weight_mean=3.0,
            weight_sd=0.2,
            alpha=2.0,
            gamma=0.25,
        ),
        RelevanceVector(
            number=3, kind="bias", row=None, inputs=None, weight_mean=1 / 3, weight_sd=0.3, alpha=3.0, gamma=1.0
        ),
        RelevanceVector(
            number=4,
            kind="gaussian",
            row=2,
            inputs={"x": 1e308},
            weight_mean=-7.5,
            weight_sd=0.4,
            alpha=4.0,
            gamma=0.0,
            optimised=True,
        ),
        RelevanceVector(
            number=5,
            kind="input",
            row=None,
            inputs=None,
            weight_mean=0.01,
            weight_sd=0.5,
            alpha=5.0,
            gamma=0.9,
            input="colour=rød 😀",
        ),
    )


def new_version(made: SupervisedPlan | None = None, *, seed: int = 0) -> NewSupervisedVersion:
    report = SupervisedReport(
        task="regression",
        plan=plan() if made is None else made,
        members=(
            Member(
                Gaussian(),
                1.0,
                4,
                Hyperparameters(
                    noise_sd=0.1 + 0.2,
                    degrees_of_freedom=2.1,
                    widths=(InputWidth("size", 0.5), InputWidth("colour=rød 😀", 1e300), InputWidth(None, 2.0)),
                    warps=(InputWarp("size", -0.1, 1 / 3),),
                    terms=(InputTerm("size", 1 / 3),),
                    signal_sd=1.1,
                    last_gain=3.3,
                    next_gain=0.0,
                ),
                Evidence(-12.25, "exact", 0.0, 0.0),
                Evidence(-11.0, "exact", -1.0 / 3.0, 0.0),
                -0.1,
            ),
        ),
        integrated_evidence=-1.0 / 3.0,
        alternatives=(
            Alternative(
                KernelBasis(), Independent(), GaussianNoise(), None, "fold_log_density", None, "was not fitted"
            ),
            Alternative(None, Independent(), GaussianNoise(), 3, "integrated_evidence", -1e-300),
        ),
        standardised=True,
        functions=4,
        candidates=11,
        rows=10,
        rows_dropped=1,
        rows_held_out=0,
        termination="converged",
        metrics={"holdout": {"rmse": 0.1, "r2": float("-inf")}},
        dataset_id=UUID(int=7),
        dataset_digest="ab" * 32,
        seconds=1.5,
        software_version="0.1.0",
        outliers=(Outlier(7, 1e-300), Outlier(0, 0.1 + 0.1)),
        score=None,
        score_loss=None,
        class_rows=(),
        temperature=None,
        unreduced_functions=None,
        warnings=(),
        local=None,
        calendar=None,
        logarithms=None,
        texts=None,
    )
    return Learned(report, vectors(), predictor(seed=seed))


def stored_version(transaction: OpenTransaction, *, owner: str = OWNER, made: SupervisedPlan | None = None) -> int:
    job_id = running_job(transaction, owner=owner, made=made)
    with transaction() as tx:
        version = finish_training(tx, job_id, 1, new_version(made))
    assert version is not None
    return version.number
