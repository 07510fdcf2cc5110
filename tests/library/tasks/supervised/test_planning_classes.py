"""Three and more classes, from a request to a plan."""

from dataclasses import replace

import numpy as np
import pytest
from pydantic import TypeAdapter

from app.datasets.records import Dataset
from relevance_bayes.core.algorithms import Greedy, Sequential
from relevance_bayes.core.basis import Basis, Bias, Inputs, KernelBasis
from relevance_bayes.core.kernels import CityBlock, Gaussian, LinearSpline, Matern32, Matern52
from relevance_bayes.core.kernels.hyperparameters import (
    SHRINKAGE,
    CrossValidationWidth,
    EvidencePerInputWidth,
    EvidenceWidth,
)
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    BernoulliPerClass,
    Categorical,
    Likelihood,
    OneAgainstRest,
    TargetLikelihood,
)
from relevance_bayes.core.models.classes import softmax_regression_spec
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.json import encode, validate
from relevance_bayes.records.values import Label, Task
from relevance_bayes.tables.columns import Column, NumberArray
from relevance_bayes.tasks.supervised.request import KernelChoice, SupervisedPlan, SupervisedRequest, named_likelihood
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, dataset_of, flags, numbers, texts

SIX = texts("c", "b", "a", "c", "b", "a")
GRADES = numbers(7, 1, 2, 7, 2, 1)
TASKS: tuple[Task | None, ...] = (None, "classification")


def with_target(column: Column) -> Dataset:
    return dataset_of({"x": numbers(0.5, 1.5, 2.0, 3.5, 4.5, 6.0), "t": column})


def requesting(likelihood: TargetLikelihood | None = None) -> SupervisedRequest:
    return SupervisedRequest(DATASET_ID, "t", likelihood=None if likelihood is None else named_likelihood(likelihood))


def only_fault(request: SupervisedRequest, column: Column) -> Fault:
    with pytest.raises(InvalidRequestError) as caught:
        plan(request, with_target(column))
    (fault,) = caught.value.faults
    return fault


@pytest.mark.parametrize(
    ("column", "request_", "classes", "why"),
    [
        (SIX, requesting(), ("a", "b", "c"), "holds texts"),
        (GRADES, replace(requesting(), task="classification"), (1, 2, 7), "requests classification"),
        (numbers(0.5, 1, -2, 0.5, 1, -2), replace(requesting(), task="classification"), (-2.0, 0.5, 1.0), "requests"),
        (GRADES, requesting(Categorical()), (1, 2, 7), '"categorical" is for classes'),
    ],
    ids=["texts", "whole numbers", "fractions", "by the likelihood"],
)
def test_classes_are_in_order_and_each_has_a_process_of_its_own(
    column: Column, request_: SupervisedRequest, classes: tuple[object, ...], why: str
) -> None:
    found = plan(request_, with_target(column))
    assert (found.task, found.classes) == ("classification", classes)
    assert [type(label) for label in found.classes] == [type(label) for label in classes]
    assert why in found.task_reason
    assert found.spec.likelihood == (BernoulliPerClass(3) if request_.likelihood is None else Categorical(3))
    assert (found.spec.prior, found.spec.algorithm) == (GaussianProcess("rows", min_gain=0.1), Greedy())
    assert found.spec.basis == (KernelBasis(width=EvidenceWidth()), Bias())
    assert found.compared_models == found.pool == ()
    assert [type(spec.basis[0]) for spec in found.alternatives] == [KernelBasis]


def test_fifty_classes_are_planned() -> None:
    rows = 300
    column = texts(*(f"c{row % 50:02}" for row in range(rows)))
    dataset = dataset_of({"x": NumberArray(np.sqrt(np.arange(rows))), "t": column})
    found = plan(requesting(), dataset)
    assert found.classes == tuple(f"c{number:02}" for number in range(50))
    assert found.spec.likelihood == OneAgainstRest(50)


@pytest.mark.parametrize(
    ("classes", "rows", "likelihood"),
    [
        (2, 60, Bernoulli()),
        (3, 60, BernoulliPerClass(3)),
        (10, 60, BernoulliPerClass(10)),
        (11, 60, Categorical(11)),
        (11, 1_100, OneAgainstRest(11)),
    ],
)
def test_up_to_ten_classes_have_models_and_more_are_distinguished_together_while_that_is_affordable(
    classes: int, rows: int, likelihood: TargetLikelihood
) -> None:
    column = texts(*(f"c{row % classes:02}" for row in range(rows)))
    dataset = dataset_of({"x": NumberArray(np.sqrt(np.arange(float(rows)))), "t": column})
    assert plan(requesting(), dataset).spec.likelihood == likelihood
    assert plan(requesting(type(likelihood)()), dataset).spec.likelihood == likelihood
    shared = Bernoulli() if classes == 2 else Categorical(classes) if classes <= 10 else OneAgainstRest(classes)
    assert plan(replace(requesting(), prior=Independent()), dataset).spec.likelihood == shared


GAUSSIAN_ONE = KernelBasis(Gaussian(), EvidenceWidth())
GAUSSIAN_EACH = KernelBasis(Gaussian(), EvidencePerInputWidth(1.0))
CITY_BLOCK_EACH = KernelBasis(CityBlock(), EvidencePerInputWidth(1.0))


def of_two_inputs(request: SupervisedRequest) -> list[Basis]:
    dataset = dataset_of({"x": numbers(0.5, 1.5, 2.0, 3.5, 4.5, 6.0), "z": numbers(1, 5, 2, 5, 4, 3.5), "t": SIX})
    found = plan(request, dataset)
    kernels: list[Basis] = []
    for spec in (found.spec, *found.alternatives):
        kernel, *beside = spec.basis
        assert spec == replace(found.spec, basis=spec.basis)
        if Inputs() in beside:
            assert kernel == kernels[0]
        else:
            kernels.append(kernel)
    return kernels


def test_folds_choose_among_three_processes() -> None:
    normal = replace(requesting(), effort="normal")
    assert of_two_inputs(normal) == [GAUSSIAN_ONE, GAUSSIAN_EACH, CITY_BLOCK_EACH]
    assert of_two_inputs(replace(normal, likelihood=Categorical())) == [GAUSSIAN_ONE, GAUSSIAN_EACH, CITY_BLOCK_EACH]
    assert of_two_inputs(replace(normal, effort="quick")) == [GAUSSIAN_ONE]


def test_the_inputs_are_columns_of_one_more_alternative() -> None:
    dataset = dataset_of({"x": numbers(0.5, 1.5, 2.0, 3.5, 4.5, 6.0), "z": numbers(1, 5, 2, 5, 4, 3.5), "t": SIX})
    for request, expected in (
        (requesting(), (GAUSSIAN_ONE, Bias(), Inputs())),
        (replace(requesting(), effort="quick"), None),
        (replace(requesting(), basis=KernelChoice(Matern32())), None),
    ):
        found = [spec.basis for spec in plan(request, dataset).alternatives if Inputs() in spec.basis]
        assert found == ([] if expected is None else [expected])


def test_many_classes_are_compared_with_a_softmax_regression_unless_a_likelihood_is_named() -> None:
    rows, classes = 1_100, 11
    column = texts(*(f"c{row % classes:02}" for row in range(rows)))
    one, other = NumberArray(np.sqrt(np.arange(float(rows)))), NumberArray(np.cos(np.arange(float(rows))))
    dataset = dataset_of({"x": one, "z": other, "t": column})
    regression = softmax_regression_spec(classes)
    found = plan(requesting(), dataset)
    assert found.spec.basis == (GAUSSIAN_ONE, Bias())
    assert found.alternatives[0] == regression
    assert [spec.basis[0] for spec in found.alternatives[1:]] == [GAUSSIAN_EACH, CITY_BLOCK_EACH]
    for request in (
        replace(requesting(), effort="quick"),
        replace(requesting(), basis=KernelChoice(Matern32())),
        requesting(OneAgainstRest()),
        requesting(Categorical()),
    ):
        assert regression not in plan(request, dataset).alternatives


def test_a_thorough_training_compares_a_fourth() -> None:
    thorough = replace(requesting(), effort="thorough")
    rough = KernelBasis(Matern32(), EvidencePerInputWidth(SHRINKAGE))
    assert of_two_inputs(thorough) == [*of_two_inputs(requesting()), rough]
    named = replace(thorough, basis=KernelChoice(Matern52()))
    assert of_two_inputs(named) == of_two_inputs(replace(named, effort="normal"))


def test_what_is_named_leaves_what_fits_it() -> None:
    normal = replace(requesting(), effort="normal")
    named = replace(normal, basis=KernelChoice(Matern32()))
    assert of_two_inputs(named) == [
        KernelBasis(Matern32(), EvidenceWidth()),
        KernelBasis(Matern32(), EvidencePerInputWidth(1.0)),
    ]
    wide = replace(normal, basis=KernelChoice(width=EvidencePerInputWidth()))
    assert of_two_inputs(wide) == [KernelBasis(Gaussian(), EvidencePerInputWidth())]
    assert of_two_inputs(replace(normal, prior=GaussianProcess())) == [GAUSSIAN_EACH]
    assert of_two_inputs(replace(normal, algorithm=Sequential())) == [KernelBasis(width=CrossValidationWidth())]


def test_one_input_has_one_width_under_each_kernel() -> None:
    found = plan(replace(requesting(), effort="normal"), with_target(SIX))
    assert [spec.basis[0] for spec in (found.spec, *found.alternatives)] == [GAUSSIAN_ONE, CITY_BLOCK_EACH]


def test_numbers_of_few_values_are_a_quantity_unless_classes_are_requested() -> None:
    assert plan(requesting(), with_target(GRADES)).task == "regression"


@pytest.mark.parametrize("column", [texts(*"ababab"), flags(True, False, True, True, False, False)], ids=["ab", "on"])
def test_two_classes_may_have_a_latent_each(column: Column) -> None:
    assert plan(requesting(), with_target(column)).spec.likelihood == Bernoulli()
    found = plan(requesting(Categorical()), with_target(column))
    assert found.spec.likelihood == Categorical(2)
    assert len(found.classes) == 2


TWO_LABELS = texts("a", "b", "a", "b", "a", "b")


@pytest.mark.parametrize(
    ("column", "likelihood", "pointer", "given"),
    [
        (
            TWO_LABELS,
            BernoulliPerClass(),
            "/likelihood/type",
            '"bernoulli_per_class" is for three classes and more, and `t` has 2; use "bernoulli".',
        ),
        (
            SIX,
            BernoulliPerClass(4),
            "/likelihood/classes",
            "`t` has 3 classes, got 4; by default they are counted.",
        ),
        (
            SIX,
            Categorical(temperature=0.01),
            "/likelihood/temperature",
            "`temperature` must be from 0.05 to 20, got 0.01.",
        ),
        (
            SIX,
            OneAgainstRest(temperature=21.0),
            "/likelihood/temperature",
            "`temperature` must be from 0.05 to 20, got 21.",
        ),
        (
            SIX,
            Bernoulli(),
            "/likelihood/type",
            '"bernoulli" is for two classes, and `t` has 3; use "bernoulli_per_class" or "categorical".',
        ),
        (SIX, Categorical(4), "/likelihood/classes", "`t` has 3 classes, got 4; by default they are counted."),
    ],
    ids=["of three", "of four", "too cold", "too hot", "of two", "of another number"],
)
def test_a_likelihood_of_another_number_of_classes_is_refused(
    column: Column, likelihood: Likelihood, pointer: str, given: str
) -> None:
    fault = only_fault(requesting(likelihood), column)
    assert (fault.pointer, fault.detail) == (pointer, given)


def test_two_classes_are_not_seen_in_more_numbers_unless_classes_are_requested() -> None:
    quantity, classes = (only_fault(replace(requesting(Bernoulli()), task=task), GRADES) for task in TASKS)
    assert quantity.pointer == classes.pointer == "/likelihood/type"
    assert '"bernoulli" is not a likelihood for regression' in quantity.detail
    assert '"bernoulli" is for two classes' in classes.detail


@pytest.mark.parametrize("likelihood", [Categorical(), Categorical(3)], ids=str)
def test_classes_are_no_quantity_even_where_one_is_requested(likelihood: Likelihood) -> None:
    fault = only_fault(replace(requesting(likelihood), task="regression"), GRADES)
    assert fault.pointer == "/likelihood/type"
    assert '"categorical" is not a likelihood for regression' in fault.detail


@pytest.mark.parametrize(
    ("request_", "basis"),
    [
        (replace(requesting(), prior=Independent()), (KernelBasis(width=CrossValidationWidth()), Bias())),
        (
            replace(requesting(), basis=KernelChoice(LinearSpline())),
            (KernelBasis(LinearSpline(), CrossValidationWidth()), Bias()),
        ),
        (replace(requesting(), basis=Inputs()), (Inputs(),)),
    ],
    ids=["independent weights", "no covariance", "no kernel"],
)
def test_without_a_process_classes_share_the_precisions_of_independent_weights(
    request_: SupervisedRequest, basis: tuple[Basis, ...]
) -> None:
    found = plan(request_, with_target(SIX))
    assert (found.spec.prior, found.spec.algorithm) == (Independent(), Sequential())
    assert (found.spec.likelihood, found.spec.basis) == (Categorical(3), basis)
    assert found.compared_models == ()


@pytest.mark.parametrize(
    ("column", "named", "kept"),
    [
        (SIX, "b", "b"),
        (GRADES, 2, 2),
        (GRADES, "2", 2),
        (flags(True, False, True, False, True, False), True, True),
        (flags(True, False, True, False, True, False), "false", False),
        (SIX, None, None),
    ],
    ids=["text", "number", "number by its text", "truth value", "truth value by its text", "none"],
)
def test_the_positive_class_is_one_of_the_target(column: Column, named: Label | None, kept: Label | None) -> None:
    request = replace(requesting(), task="classification", positive_class=named)
    planned = plan(request, with_target(column))
    assert (planned.positive_class, type(planned.positive_class)) == (kept, type(kept))
    assert validate(TypeAdapter(SupervisedPlan), encode(planned)) == planned


@pytest.mark.parametrize(
    ("column", "task", "named", "detail"),
    [
        (SIX, "classification", "d", "`t` has the classes 'a', 'b', 'c', got 'd'."),
        (
            flags(True, False, True, False, True, False),
            "classification",
            1,
            "`t` has the classes 'false', 'true', got '1'.",
        ),
        (numbers(0.5, 1, -2, 0.5, 1, -2), "regression", 1, "`t` is a number, got '1'."),
    ],
    ids=["another text", "a number", "regression"],
)
def test_a_positive_class_that_is_none_is_refused(column: Column, task: Task, named: Label, detail: str) -> None:
    fault = only_fault(replace(requesting(), task=task, positive_class=named), column)
    assert (fault.pointer, fault.detail) == ("/positive_class", detail)
