"""Small versions for tests, made by hand: two functions on one number, for a quantity and for classes."""

from dataclasses import replace
from uuid import UUID

import numpy as np

from relevance_bayes.core.algorithms import Greedy, Sequential
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, InputMap
from relevance_bayes.core.likelihoods import Bernoulli, Categorical, GaussianNoise
from relevance_bayes.core.models.model import ConstantFunction, KernelFunctions, Model, Prior, Spec
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.records.functions import ClassWeight, RelevanceVector
from relevance_bayes.records.reports import ClassRows, Evidence, InputWidth
from relevance_bayes.records.values import InputColumn, Label, Task
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    user_evidence,
    user_noise_sd,
    user_process_sd,
)
from relevance_bayes.tasks.listing import Learned
from relevance_bayes.tasks.supervised.report import Hyperparameters, Member, SupervisedPredictor, SupervisedReport
from relevance_bayes.tasks.supervised.request import RandomSplit, SupervisedPlan
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion

DATASET_ID = UUID("01900000-0000-7000-8000-000000000001")
COLOURS = ("blue", "red")
INDEPENDENT = Independent()

STATES = ("gas", "liquid", "solid")
WEIGHTS = np.array([[1.0, -2.0, 1.0], [-2.0, 0.5, 1.5], [0.5, 0.25, -0.75]])
"""Of each function in the latent of each of three classes."""

ROWS_OF_CLASSES = {0: (), 2: (15, 5), 3: (10, 6, 4)}
"""By how many classes there are, how many of the twenty training rows are of each."""

AMPLITUDE = 1.3
"""The variance of the process, under a prior that is one."""


def small_version(
    task: Task = "regression",
    *,
    name: str = "small",
    classes: tuple[Label, ...] = (False, True),
    prior: Prior = INDEPENDENT,
) -> NewSupervisedVersion:
    """A version that reads `x` (number) and `colour` (blue or red); y = 10 + 2 t where it is a regression."""
    labels = classes if task == "classification" else ()
    plan = _plan(task, name, labels, prior)
    target = EncodedTarget("y", plan.target_kind, *((0.0, 1.0) if labels else (10.0, 2.0)), labels)
    encoding = Encoding(
        (
            EncodedNumber("x", "number", 1.0, 0.5, fill=None, indicator=False),
            EncodedCategory("colour", COLOURS, fill=None, indicator=False),
        ),
        target,
    )
    noise_sd = None if labels else 0.1
    model = Model(
        likelihood=plan.spec.model_likelihood,
        functions=(
            KernelFunctions(
                Gaussian(), InputMap.isotropic(1.5), np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 1.0]]), np.array([3, 7])
            ),
            ConstantFunction(),
        ),
        mean=np.array([1.0, -2.0, 0.5]),
        covariance=np.array([[0.04, 0.01, 0.0], [0.01, 0.09, 0.0], [0.0, 0.0, 0.01]]),
        alpha=np.array([1.0, 0.25, 4.0]),
        gamma=np.array([0.96, 0.9775, 0.96]),
        noise_sd=noise_sd,
        evidence=Evidence(-12.5, "exact", 0.0, 0.0),
        inputs=3,
        rows=20,
        candidates=21,
        termination="converged",
        signal_variance=None if isinstance(prior, Independent) else AMPLITUDE,
    )
    vectors = (
        RelevanceVector(
            number=1,
            kind="kernel",
            row=3,
            inputs={"x": 1.0, "colour": "blue"},
            weight_mean=1.0,
            weight_sd=0.2,
            alpha=1.0,
            gamma=0.96,
        ),
        RelevanceVector(
            number=2,
            kind="kernel",
            row=7,
            inputs={"x": 2.0, "colour": "red"},
            weight_mean=-2.0,
            weight_sd=0.3,
            alpha=0.25,
            gamma=0.9775,
        ),
        RelevanceVector(
            number=3, kind="bias", row=None, inputs=None, weight_mean=0.5, weight_sd=0.1, alpha=4.0, gamma=0.96
        ),
    )
    report = replace(
        _report(plan, member_of(model, target)), class_rows=tuple(map(ClassRows, labels, ROWS_OF_CLASSES[len(labels)]))
    )
    return Learned(report, vectors, SupervisedPredictor(encoding, model))


def version_of_three_classes(
    *, name: str = "states", classes: tuple[Label, Label, Label] = STATES
) -> NewSupervisedVersion:
    """The same functions under a process, with a weight for each class."""
    made = small_version("classification", name=name, classes=classes, prior=GaussianProcess())
    plan = replace(
        made.report.plan, target_kind="category", spec=replace(made.report.plan.spec, likelihood=Categorical(3))
    )
    vectors = tuple(
        replace(vector, weight_mean=None, weight_means=tuple(map(ClassWeight, classes, means)))
        for vector, means in zip(made.vectors, WEIGHTS.tolist(), strict=True)
    )
    model = replace(made.predictor.model, likelihood=Categorical(3), mean=WEIGHTS)
    encoding = made.predictor.encoding
    encoding = replace(encoding, target=replace(encoding.target, kind="category"))
    return Learned(replace(made.report, plan=plan), vectors, SupervisedPredictor(encoding, model))


def _plan(task: Task, name: str, classes: tuple[Label, ...], prior: Prior) -> SupervisedPlan:
    return SupervisedPlan(
        task=task,
        task_reason="`y` was looked at",
        model=name,
        target="y",
        target_kind="boolean" if classes else "number",
        classes=classes,
        inputs=(InputColumn("x", "number"), InputColumn("colour", "category", COLOURS)),
        ignored=(),
        spec=Spec(
            Bernoulli() if classes else GaussianNoise(),
            (KernelBasis(Gaussian(), FixedWidth(1.5)), Bias()),
            prior,
            Sequential() if isinstance(prior, Independent) else Greedy(),
        ),
        standardise=True,
        missing="error",
        split=RandomSplit(),
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


def member_of(model: Model, target: EncodedTarget, *, width: float = 1.5) -> Member:
    """The report of a model, whose kernels have one width."""
    found = Hyperparameters(
        noise_sd=user_noise_sd(target, model.noise_sd),
        widths=(InputWidth(None, width),),
        signal_sd=user_process_sd(target, model.signal_variance),
    )
    return Member(Gaussian(), 1.0, len(model.mean), found, user_evidence(target, model.evidence, model.rows))


def _report(plan: SupervisedPlan, member: Member) -> SupervisedReport:
    return SupervisedReport(
        task=plan.task,
        plan=plan,
        members=(member,),
        standardised=True,
        functions=3,
        candidates=21,
        rows=20,
        rows_dropped=0,
        rows_held_out=0,
        termination="converged",
        metrics={},
        dataset_id=DATASET_ID,
        dataset_digest="0" * 64,
        seconds=0.25,
        software_version="0.1.0",
        score=None,
        integrated_evidence=None,
        alternatives=(),
        score_loss=None,
        outliers=(),
        class_rows=(),
        temperature=1.0 if plan.classes else None,
        unreduced_functions=None,
        warnings=(),
        local=None,
        calendar=None,
        logarithms=None,
        texts=None,
    )


def version_of_known_noise(*, name: str = "measured", column: str = "sd") -> NewSupervisedVersion:
    """The same where each row's noise is known, under a process."""
    made = small_version(name=name, prior=GaussianProcess())
    encoding, likelihood = made.predictor.encoding, GaussianNoise("rows")
    encoding = replace(encoding, target=replace(encoding.target, noise_column=column))
    plan = replace(made.report.plan, spec=replace(made.report.plan.spec, likelihood=likelihood), noise_column=column)
    model = replace(made.predictor.model, likelihood=likelihood)
    return Learned(replace(made.report, plan=plan), made.vectors, SupervisedPredictor(encoding, model))


def version_of_numbers(
    task: Task = "regression", *, name: str = "numbers", classes: tuple[Label, ...] = (False, True)
) -> NewSupervisedVersion:
    """The small version, but of three numbers `x`, `a` and `b`."""
    made = small_version(task, name=name, classes=classes)
    assert isinstance(made.predictor, SupervisedPredictor)
    names = ("x", "a", "b")
    encoding = replace(
        made.predictor.encoding,
        inputs=tuple(EncodedNumber(name, "number", 1.0, 0.5, fill=None, indicator=False) for name in names),
    )
    plan = replace(made.report.plan, inputs=tuple(InputColumn(name, "number") for name in names))
    predictor = replace(made.predictor, encoding=encoding)
    return replace(made, report=replace(made.report, plan=plan), predictor=predictor)
