"""Documents that are refused, member by member."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from relevance_bayes.core.basis import Group, KernelBasis
from relevance_bayes.core.kernels import Additive, Gaussian
from relevance_bayes.core.likelihoods import BernoulliPerClass
from relevance_bayes.core.likelihoods.counts import NegativeBinomial
from relevance_bayes.core.models.classes import PerClass
from relevance_bayes.documents.codec import below
from relevance_bayes.documents.parts import KernelPart, TermPart
from relevance_bayes.documents.reports import APPROXIMATION, read_report, unknown, value_faults
from relevance_bayes.documents.validation import approximation_faults, spec_faults, supervised_faults
from relevance_bayes.documents.validation.figures import Interval, likelihood_faults
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.values import ColumnKind, Label
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from relevance_bayes.tasks.supervised.request import SupervisedPlan, SupervisedRequest
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from relevance_bayes.tasks.union import plan
from tests.small_approximation import version_of_a_term
from tests.small_models import small_version, version_of_three_classes
from tests.small_tables import DATASET_ID, dataset_of, numbers


def planned(*basis: Group) -> SupervisedPlan:
    table = {"a": numbers(1, 2, 6, 4), "b": numbers(7, 3, 5, 1), "y": numbers(1, 2, 4, 9)}
    found = plan(SupervisedRequest(DATASET_ID, "y"), dataset_of(table))
    return replace(found, spec=replace(found.spec, basis=basis), compared_models=(), alternatives=())


@pytest.mark.parametrize("number", [-1, 0, 1, 2, 3, 100])
def test_a_group_is_of_inputs_that_there_are(number: int) -> None:
    faults = [(fault.pointer, fault.detail) for fault in spec_faults(planned(Group((number,), KernelBasis())), 2)]
    refused = ("/report/plan/spec/basis", "Expected indices of inputs.") in faults
    assert refused == (number not in {0, 1})


def test_the_positive_class_is_one_of_the_classes() -> None:
    report = version_of_three_classes().report
    for label, refused in ((report.plan.classes[1], False), ("another", True), (None, False)):
        faults = [fault.pointer for fault in spec_faults(replace(report.plan, positive_class=label), 2)]
        assert ("/report/plan/positive_class" in faults) == refused


def test_columns_are_those_of_the_matrix_and_the_first_that_is_none_is_named() -> None:
    below([0, 2, 1], 3, "/model/columns")
    with pytest.raises(InvalidRequestError) as caught:
        below([0, 3, 1, 7], 3, "/model/columns")
    (fault,) = caught.value.faults
    assert (fault.pointer, fault.detail) == ("/model/columns/1", "Expected a column from 0 to 2, got 3.")


@pytest.mark.parametrize(
    ("terms", "is_refused"),
    [
        (((0, 0.3), (1, 0.3)), False),
        (((0, 0.3), (0, 0.3)), True),
        (((0, 0.2), (1, 0.2), (2, 0.2)), True),
        (((0, 0.5), (1, 0.5)), True),
    ],
    ids=["distinct", "repeated", "all inputs", "sum of shares"],
)
def test_terms_are_of_distinct_inputs_and_leave_a_share_to_the_kernel_of_all(
    terms: tuple[tuple[int, float], ...], *, is_refused: bool
) -> None:
    part = KernelPart(
        type="kernel",
        kernel=Gaussian(),
        terms=[TermPart(input=place, share=share) for place, share in terms],
        widths=np.ones(3),
        skew=None,
        tail=None,
        centres=np.zeros((1, 3)),
    )
    if not is_refused:
        assert part.decode({"inputs": 3}, "/kernel").kernel == Additive(Gaussian(), (0, 1), (0.3, 0.3))
        return
    with pytest.raises(InvalidRequestError) as caught:
        part.decode({"inputs": 3}, "/kernel")
    assert [fault.pointer for fault in caught.value.faults] == ["/kernel/terms"]


def test_each_unknown_member_is_a_fault_at_its_object() -> None:
    sent = {"a": 1, "x": 2, "b": [{"c": 3}, {"c": 4, "y": 5}], "d": {"z": {}}}
    known = {"a": 1, "b": [{"c": 3}, {"c": 4}], "d": {}}
    assert [(fault.pointer, fault.detail) for fault in unknown(sent, known, "/report")] == [
        ("/report", "The member 'x' is unknown."),
        ("/report/b/1", "The member 'y' is unknown."),
        ("/report/d", "The member 'z' is unknown."),
    ]


def test_a_refusal_of_several_faults_names_pointer_and_detail_of_the_first() -> None:
    sent: dict[str, object] = {"task": None, "plan": {"inputs": None}}
    with pytest.raises(InvalidRequestError) as caught:
        read_report(APPROXIMATION, sent, version_of_a_term().predictor, model="small", task="approximation")
    first, second = caught.value.faults
    assert (first.pointer, second.pointer) == ("/report/task", "/report/plan/inputs")
    assert str(caught.value) == f"At {first.pointer}: {first.detail}"


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_an_interval_has_its_ends_unless_it_is_open(value: float) -> None:
    assert value in Interval(0.0, 1.0)
    assert (value in Interval(0.0, 1.0, is_open=True)) == (value == 0.5)


def test_an_interval_is_described_with_or_without_its_ends() -> None:
    assert str(Interval(0.0, 1.0)) == "a number from 0 to 1"
    assert str(Interval(0.0, 1.0, is_open=True)) == "a number above 0 and below 1"
    assert str(Interval(0.0, inf)) == "a finite number not below 0"
    assert str(Interval(0.0, inf, is_open=True)) == "a finite number above 0"
    assert str(Interval(-inf, 0.0)) == "a finite number not above 0"
    assert str(Interval(-inf, 0.0, is_open=True)) == "a finite number below 0"


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63 - 1)])
def test_integers_fit_into_64_bits(value: int) -> None:
    assert list(value_faults({"a": [value]}, "/report")) == []
    larger = value + (1 if value > 0 else -1)
    assert [fault.pointer for fault in value_faults({"a": [value, larger]}, "/report")] == ["/report/a/1"]


def places(version: NewSupervisedVersion, predictor: SupervisedPredictor | None = None) -> list[str | None]:
    """Where a supervised version has faults."""
    return [fault.pointer for fault in supervised_faults(predictor or version.predictor, version.report.task)]


def test_a_target_of_classes_has_no_unit() -> None:
    made = small_version("classification")
    assert places(made) == []
    encoding = made.predictor.encoding
    moved = replace(encoding, target=replace(encoding.target, shift=0.5))
    assert places(made, replace(made.predictor, encoding=moved)) == ["/target/shift"]
    scaled = replace(encoding, target=replace(encoding.target, scale=2.0))
    assert places(made, replace(made.predictor, encoding=scaled)) == ["/target/scale"]


@pytest.mark.parametrize("classes", [(0.0, 1.0, 1.0), ("gas", "liquid", "liquid"), (2.0, 1.0, 3.0)])
def test_labels_are_distinct_and_in_order(classes: tuple[Label, Label, Label]) -> None:
    kind: ColumnKind = "category" if isinstance(classes[0], str) else "number"
    made = version_of_three_classes(classes=classes)
    encoding = made.predictor.encoding
    encoding = replace(encoding, target=replace(encoding.target, kind=kind))
    assert places(made, replace(made.predictor, encoding=encoding)) == ["/target/classes"]


def test_a_model_of_a_class_has_no_noise_column() -> None:
    made = version_of_three_classes()
    member = replace(small_version("classification").predictor.model, likelihood=BernoulliPerClass.member)
    per_class = replace(made.predictor, learned=PerClass((member,) * 3, BernoulliPerClass(3)))
    assert places(made, per_class) == []
    encoding = per_class.encoding
    encoding = replace(encoding, target=replace(encoding.target, noise_column="sd"))
    assert places(made, replace(per_class, encoding=encoding)) == ["/target/noise_column"] * 3


@pytest.mark.parametrize(("dispersion", "is_refused"), [(1e-3, True), (1e-2, False), (1e4, False), (1e5, True)])
def test_the_dispersion_of_counts_is_bounded(dispersion: float, *, is_refused: bool) -> None:
    faults = likelihood_faults(NegativeBinomial(dispersion), "/model/likelihood", 0)
    assert [fault.pointer for fault in faults] == ["/model/likelihood/dispersion"] * is_refused


def test_coefficients_of_a_density_may_be_small_and_its_integral_is_that_of_the_terms() -> None:
    made = version_of_a_term()
    expansion = replace(made.predictor.expansion, coefficients=np.array([0.5]))
    report = replace(made.report, plan=replace(made.report.plan, density=True), integral_kept=expansion.mass)
    predictor = replace(made.predictor, expansion=expansion)
    assert approximation_faults(predictor, report) == ()
    wrong = replace(report, integral_kept=2.0 * expansion.mass)
    assert [fault.pointer for fault in approximation_faults(predictor, wrong)] == ["/report/integral_kept"]
