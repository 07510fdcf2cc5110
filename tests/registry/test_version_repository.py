"""import json"""

import json
from dataclasses import replace
from typing import get_args

import pytest
from pydantic import ValidationError

from app.registry.trainings import TRAINING
from app.registry.version_repository import REPORT
from relevance_bayes.core.basis import Basis, Group, KernelBasis
from relevance_bayes.core.dictionaries import Fourier
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.model import Algorithm, Prior, TargetLikelihood
from relevance_bayes.core.priors import Independent
from relevance_bayes.records.reports import ClassRows
from relevance_bayes.tasks.components.request import ComponentsRequest
from relevance_bayes.tasks.supervised.report import Alternative, Member, SupervisedReport
from relevance_bayes.tasks.supervised.request import SupervisedRequest, Validation
from tests import samples
from tests.class_names import class_names_in
from tests.narrowing import of_data
from tests.small_components import version_of_components


def test_a_report_comes_back_as_it_was_written() -> None:
    report = samples.new_version().report
    assert REPORT.read(REPORT.write(report)) == report


@pytest.mark.parametrize("member", ["class_rows", "outliers", "temperature"])
def test_a_report_without_one_of_its_members_is_refused(member: str) -> None:
    written = json.loads(REPORT.write(samples.new_version().report))
    del written[member]
    with pytest.raises(ValidationError, match=rf"SupervisedReport\.{member}"):
        REPORT.read(json.dumps(written))


def test_a_validation_comes_back_as_it_was_requested() -> None:
    request = SupervisedRequest(samples.new_version().report.dataset_id, "y", validation=Validation(7))
    plan = replace(samples.new_version().report.plan, validation=Validation(7))
    assert TRAINING.request.read(TRAINING.request.write(request)) == request
    assert TRAINING.plan.read(TRAINING.plan.write(plan)) == plan


def test_the_rows_of_each_class_come_back_with_the_type_of_their_labels() -> None:
    counted = (ClassRows(False, 3), ClassRows(1, 4), ClassRows(2.5, 0), ClassRows("a", 2))
    report = replace(samples.new_version().report, class_rows=counted)
    found = of_data(REPORT.read(REPORT.write(report))).class_rows
    assert found == counted
    assert [type(one.label) for one in found] == [bool, int, float, str]


@pytest.mark.parametrize("kind", get_args(Kernel))
def test_each_kernel_is_planned_and_reported(kind: type[Kernel]) -> None:
    report = samples.new_version().report
    spec = replace(report.plan.spec, basis=(KernelBasis(kind()), Group((0,), KernelBasis(kind()))))
    _comes_back(replace(report, plan=replace(report.plan, spec=spec), members=(_of_kernel(report, kind()),)))


def _of_kernel(report: SupervisedReport, kernel: Kernel) -> Member:
    return replace(report.members[0], kernel=kernel)


@pytest.mark.parametrize("kind", get_args(TargetLikelihood))
def test_each_likelihood_is_planned_and_reported(kind: type[TargetLikelihood]) -> None:
    report = samples.new_version().report
    beaten = Alternative(None, Independent(), kind(), 3, "integrated_evidence", -1.0)
    spec = replace(report.plan.spec, likelihood=kind())
    _comes_back(replace(report, plan=replace(report.plan, spec=spec, compared_models=(spec,)), alternatives=(beaten,)))


@pytest.mark.parametrize("kind", get_args(Prior))
def test_each_prior_is_planned_and_reported(kind: type[Prior]) -> None:
    report = samples.new_version().report
    beaten = Alternative(None, kind(), GaussianNoise(), 3, "integrated_evidence", -1.0)
    spec = replace(report.plan.spec, prior=kind())
    _comes_back(replace(report, plan=replace(report.plan, spec=spec, pool=(spec,)), alternatives=(beaten,)))


@pytest.mark.parametrize("kind", get_args(Algorithm))
def test_each_algorithm_is_planned(kind: type[Algorithm]) -> None:
    report = samples.new_version().report
    spec = replace(report.plan.spec, algorithm=kind())
    _comes_back(replace(report, plan=replace(report.plan, spec=spec, alternatives=(spec,))))


@pytest.mark.parametrize("kind", get_args(Basis))
def test_each_dictionary_is_planned(kind: type[Basis]) -> None:
    report = samples.new_version().report
    made = Group((0,), Fourier()) if issubclass(kind, Group) else kind()
    _comes_back(replace(report, plan=replace(report.plan, spec=replace(report.plan.spec, basis=(made,)))))


def _comes_back(report: SupervisedReport) -> None:
    written = REPORT.write(report)
    assert REPORT.read(written) == report
    assert TRAINING.plan.read(TRAINING.plan.write(report.plan)) == report.plan
    assert class_names_in(written) == set()


def test_components_come_back_as_they_were_requested_planned_and_reported() -> None:
    report = version_of_components().report
    requested = ComponentsRequest(report.dataset_id, kernel=report.plan.kernel, width=(1.0 / 3.0, 2.0))
    assert TRAINING.request.read(TRAINING.request.write(requested)) == requested
    assert TRAINING.request.read(TRAINING.request.write(ComponentsRequest(report.dataset_id))) == ComponentsRequest(
        report.dataset_id
    )
    assert TRAINING.plan.read(TRAINING.plan.write(report.plan)) == report.plan
    assert REPORT.read(REPORT.write(report)) == report
