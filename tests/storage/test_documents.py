import json
from dataclasses import replace

from app.domain.models import Alternative, ClassRows
from app.domain.requests import ComponentsRequest, SupervisedRequest, Validation
from app.sparse_bayes.likelihoods import OneAgainstRest
from app.sparse_bayes.likelihoods.temperature import Temperature
from app.storage.documents import PLAN, REPORT, REQUEST
from tests.narrowing import of_data
from tests.services.small_components import version_of_components
from tests.storage import samples


def test_a_report_comes_back_as_it_was_written() -> None:
    report = samples.new_version().report
    assert REPORT.read(REPORT.write(report)) == report


def test_a_report_from_before_there_were_heavy_tails_has_none() -> None:
    written = json.loads(REPORT.write(samples.new_version().report))
    del written["members"][0]["hyperparameters"]["degrees_of_freedom"], written["outliers"]
    report = of_data(REPORT.read(json.dumps(written)))
    assert (report.hyperparameters.degrees_of_freedom, report.outliers) == (None, ())


def test_a_validation_comes_back_as_it_was_asked_for() -> None:
    request = SupervisedRequest(samples.new_version().report.dataset_id, "y", validation=Validation(7))
    plan = replace(samples.new_version().report.plan, validation=Validation(7))
    assert REQUEST.read(REQUEST.write(request)) == request
    assert PLAN.read(PLAN.write(plan)) == plan


def test_what_was_written_before_there_was_a_validation_has_none() -> None:
    report = samples.new_version().report
    request, plan = SupervisedRequest(report.dataset_id, "y"), report.plan
    asked, planned = json.loads(REQUEST.write(request)), json.loads(PLAN.write(plan))
    del asked["validation"], planned["validation"]
    assert REQUEST.read(json.dumps(asked)) == request
    assert PLAN.read(json.dumps(planned)) == plan


def test_the_rows_of_each_class_come_back_with_the_type_of_their_labels() -> None:
    counted = (ClassRows(False, 3), ClassRows(1, 4), ClassRows(2.5, 0), ClassRows("a", 2))
    report = replace(samples.new_version().report, class_rows=counted)
    found = of_data(REPORT.read(REPORT.write(report))).class_rows
    assert found == counted
    assert [type(one.label) for one in found] == [bool, int, float, str]


def test_a_report_from_before_classes_were_counted_has_no_rows_of_them() -> None:
    written = json.loads(REPORT.write(samples.new_version().report))
    del written["class_rows"]
    assert of_data(REPORT.read(json.dumps(written))).class_rows == ()


def test_a_sharpness_of_before_is_a_temperature_of_one_over_it() -> None:
    report = samples.new_version().report
    cases: tuple[tuple[Temperature, Temperature], ...] = ((0.5, 2.0), ("learned", "learned"))
    for temperature, before in cases:
        likelihood = OneAgainstRest(3, temperature)
        plan = replace(report.plan, spec=replace(report.plan.spec, likelihood=likelihood))
        beaten = Alternative(None, plan.spec.prior, likelihood, 3, "integrated_evidence", -1.0)
        whole = replace(report, plan=plan, alternatives=(beaten,))
        written = REPORT.write(whole).replace(
            f'"temperature":{json.dumps(temperature)}', f'"sharpness":{json.dumps(before)}'
        )
        assert written.count('"sharpness"') == 2
        assert REPORT.read(written) == whole
        request = SupervisedRequest(report.dataset_id, "y", likelihood=likelihood)
        asked = REQUEST.write(request).replace('"temperature":', '"sharpness":', 1)
        assert REQUEST.read(asked.replace("0.5", "2.0")) == request


def test_a_report_from_before_there_were_temperatures_has_none() -> None:
    written = json.loads(REPORT.write(samples.new_version().report))
    del written["temperature"]
    assert of_data(REPORT.read(json.dumps(written))).temperature is None


def test_components_come_back_as_they_were_asked_for_planned_and_reported() -> None:
    report = version_of_components().report
    asked = ComponentsRequest(report.dataset_id, kernel=report.plan.kernel, width=(1.0 / 3.0, 2.0))
    assert REQUEST.read(REQUEST.write(asked)) == asked
    assert REQUEST.read(REQUEST.write(ComponentsRequest(report.dataset_id))) == ComponentsRequest(report.dataset_id)
    assert PLAN.read(PLAN.write(report.plan)) == report.plan
    assert REPORT.read(REPORT.write(report)) == report
