"""Actions on models: compare versions, move aliases, evaluate, predict datasets, delete."""

import re

import pytest
from playwright.sync_api import Dialog, expect

from relevance_bayes.client.registry import AnnotationChange
from relevance_bayes.records.evaluations import NumbersEvaluation
from tests.browser.data import KIOSK, LATER, Filled
from tests.browser.visits import Visit
from tests.end_to_end.deployment import Api, Deployment


@pytest.fixture(scope="module")
def worker(deployment: Deployment) -> None:
    deployment.start("worker")


@pytest.fixture(scope="module")
def versions(api: Api, worker: None) -> str:
    """A model with two versions that differ; the id of the dataset that they were trained on."""
    dataset = api.calls.upload(KIOSK).id
    for prior in ("independent", "gaussian_process"):
        api.train(dataset_id=dataset, target="litres", model="kiosk", holdout=0.2, prior={"type": prior})
    return dataset


@pytest.mark.parametrize(
    ("change", "errors", "grade"),
    [
        ("-0.5", "[0.1, 0.1]", "better"),
        ("0.5", "[0.1, 0.1]", "worse"),
        ("0.28", "[0.1, 0.1]", ""),
        ("9", "[0.1, null]", ""),
    ],
)
def test_a_difference_is_graded_beyond_twice_its_standard_error(
    visit: Visit, change: str, errors: str, grade: str
) -> None:
    visit.open()
    module = 'import("/page/of-a-test/parts/metric-table.js")'
    assert visit.page.evaluate(f"{module}.then((m) => m.gradeOf({change}, {errors}))") == grade


def test_two_versions_are_compared_with_the_differences_of_their_metrics(
    filled_visit: Visit, filled_service: Filled
) -> None:
    page = filled_visit.page
    filled_visit.open("models/kiosk")
    expect(page.get_by_text("Choose two versions to compare them.")).to_be_visible()
    page.get_by_label("Compare version 2").check()
    expect(page.get_by_text("Choose another version to compare with version 2.")).to_be_visible()
    page.get_by_label("Compare version 1").check()
    page.get_by_role("link", name="Compare versions 1 and 2").click()
    same = page.get_by_role("region", name="Metrics on the same rows")
    row = same.get_by_role("row", name="Root mean squared error")
    row.wait_for()
    first, second, difference = (cell.inner_text() for cell in row.get_by_role("cell").all())
    assert float(second) - float(first) == pytest.approx(float(difference.split()[0].replace("−", "-")), abs=1.1e-3)
    assert difference.split()[1:] == []  # its standard error is unknown
    expect(page.get_by_role("region", name="Settings that differ").get_by_role("row", name="prior")).to_contain_text(
        "independent"
    )
    expect(page.get_by_text("Both were trained on the same data.")).to_be_visible()

    page.get_by_role("button", name="Swap").click()
    expect(row.get_by_role("cell").first).to_have_text(second)
    shared = page.url
    page.goto("about:blank")
    page.goto(shared)
    expect(row.get_by_role("cell").first).to_have_text(second)
    page.get_by_label("Version", exact=True).fill("champion")
    page.get_by_label("With version").fill("7")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("alert")).to_contain_text("Model 'kiosk' has no version 7.")


def test_an_alias_is_set_moved_and_removed_with_reasons(visit: Visit, api: Api, versions: str) -> None:
    page = visit.page
    visit.open("models/kiosk")
    page.get_by_role("button", name="Set an alias").click()
    page.get_by_label("Alias", exact=True).fill("live")
    page.get_by_label("Version", exact=True).fill("1")
    page.get_by_role("button", name="Set", exact=True).click()
    row = page.get_by_role("region", name="Aliases").get_by_role("row", name="live")
    expect(row).to_contain_text("version 1")
    expect(page.get_by_role("region", name="Versions").get_by_role("row", name="Version 1")).to_contain_text("live")

    page.get_by_role("button", name="Move live", exact=True).click()
    api.calls.aliases.move("kiosk", "live", 2, reason="Meanwhile.")
    page.get_by_label("Move live to version").fill("1")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody else has moved it")
    assert api.calls.aliases.get("kiosk", "live").version == 2
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Move live", exact=True).click()
    page.get_by_label("Move live to version").fill("1")
    page.get_by_label("Reason").fill("Less memory.")
    assert visit.violations() == []
    page.get_by_role("button", name="Move", exact=True).click()
    expect(row).to_contain_text("Less memory.")

    page.get_by_role("button", name="History live").click()
    expect(page.locator(".history li").first).to_contain_text("from version 2 to version 1")
    page.get_by_role("button", name="Remove live").click()
    expect(page.get_by_text("Programs that use it will find no version.")).to_be_visible()
    page.get_by_label("Reason").fill("Not needed.")
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("No alias yet.")).to_be_visible()
    assert next(iter(api.calls.aliases.history("kiosk", "live"))).reason == "Not needed."


def test_a_version_is_evaluated_and_its_metrics_are_those_of_the_api(visit: Visit, api: Api, versions: str) -> None:
    page = visit.page
    later = api.calls.upload(LATER).id
    visit.open("models/kiosk/versions/2")
    page.get_by_role("link", name="Evaluate", exact=True).click()
    expect(page.get_by_role("button", name="Evaluate")).to_be_disabled()
    page.get_by_label("Dataset", exact=True).select_option(later)
    shared = page.url
    page.goto("about:blank")
    page.goto(shared)
    expect(page.get_by_label("Dataset", exact=True)).to_have_value(later)
    page.get_by_role("button", name="Evaluate").click()
    expect(page.locator("main .state")).to_have_text("succeeded")
    evaluation = api.calls.evaluations.get(page.url.rpartition("/")[2])
    assert isinstance(evaluation, NumbersEvaluation)
    assert evaluation.result is not None
    row = page.get_by_role("row", name="Root mean squared error")
    expect(row.get_by_role("cell")).to_have_text(f"{evaluation.result.metrics.rmse:.3f}")
    visit.open("models/kiosk/versions/2")
    expect(page.get_by_role("region", name="Evaluations").get_by_role("row", name="kiosk-later")).to_contain_text("60")


def test_a_dataset_is_predicted_into_another_format_and_what_does_not_fit_is_refused(
    visit: Visit, api: Api, versions: str
) -> None:
    page = visit.page
    visit.open(f"datasets/{versions}")
    page.get_by_role("link", name="Predict it").click()
    expect(page.get_by_role("button", name="Predict", exact=True)).to_be_disabled()
    page.get_by_label("Model", exact=True).select_option("kiosk")
    page.get_by_text("Options: the format").click()
    page.get_by_label("Format").select_option("parquet")
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.get_by_text("can't read Parquet: download the file")).to_be_visible(timeout=60_000)
    job = page.url.rpartition("/")[2]
    with page.expect_download() as downloading:
        page.get_by_role("link", name=re.compile("Download .* of Parquet")).click()
    content = downloading.value.path().read_bytes()
    made = api.calls.batch_predictions.get(job)
    assert made.result is not None
    assert (content[:4], len(content)) == (b"PAR1", made.result.size)

    page.get_by_role("link", name="predict the dataset again as CSV").click()
    expect(page.get_by_label("Dataset", exact=True)).to_have_value(versions)
    expect(page.get_by_label("Version", exact=True)).to_have_value("2")
    visit.open(f"jobs/prediction/{job}")
    page.get_by_role("button", name="Delete the batch prediction").click()
    expect(page.locator("h1")).to_have_text("Predict a dataset")
    assert job not in [one.id for one in api.calls.batch_predictions.all()]
    other = api.calls.create_dataset({"unrelated": [1.0, 2.0]}, name="unrelated").id
    visit.open(f"batch?model=kiosk&dataset={other}")
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("temperature")


def test_nothing_is_deleted_without_a_confirmation_that_names_it(visit: Visit, api: Api, versions: str) -> None:
    page = visit.page
    api.train(dataset_id=versions, target="litres", model="spare", holdout=0.2)
    questions: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        questions.append(dialog.message)
        dialog.dismiss()

    visit.open("models/spare/versions/1")
    page.remove_listener("dialog", visit.on_dialog)
    page.once("dialog", dismiss)
    page.get_by_role("button", name="Delete the version").click()
    assert questions == ["Delete version 1 of spare? Its number is not used again. This can't be undone."]
    assert api.calls.version("spare", 1).version == 1
    page.on("dialog", visit.on_dialog)
    api.calls.aliases.move("spare", "live", 1)
    page.get_by_role("button", name="Delete the version").click()
    expect(page.get_by_role("alert")).to_contain_text("has the alias 'live': move or remove that first.")
    visit.open("models/spare")
    page.get_by_role("button", name="Delete the model").click()
    expect(page.locator("h1")).to_have_text("Models")
    assert "spare" not in [model.name for model in api.calls.models()]


def test_lists_have_pages_whose_links_restore_them(visit: Visit, api: Api) -> None:
    page = visit.page
    for number in range(53):
        api.calls.create_dataset({"x": [float(number)]}, name=f"page-{number:02d}")
    rows = page.locator("tbody tr")
    visit.open("datasets")
    expect(rows).to_have_count(50)
    expect(page.get_by_role("rowheader", name="page-52")).to_be_visible()
    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_role("rowheader", name="page-02")).to_be_visible()
    assert rows.count() < 50
    assert page.evaluate("document.activeElement.id") == "main"
    shared = page.url
    page.go_back()
    expect(page.get_by_role("rowheader", name="page-52")).to_be_visible()
    page.goto("about:blank")
    page.goto(shared)
    expect(page.get_by_role("rowheader", name="page-02")).to_be_visible()
    page.get_by_role("link", name="First page").click()
    expect(page.get_by_role("rowheader", name="page-52")).to_be_visible()

    visit.open("batch")
    expect(page.get_by_label("Dataset", exact=True).locator("option", has_text="page-52")).to_be_attached()
    page.get_by_role("button", name="Older choices of Dataset").click()
    expect(page.get_by_label("Dataset", exact=True).locator("option", has_text="page-02")).to_be_attached()
    page.get_by_label("Dataset", exact=True).select_option(label="page-02, 1 row")
    page.get_by_role("button", name="Newest choices of Dataset").click()
    expect(page.get_by_label("Dataset", exact=True).locator("option:checked")).to_have_text("page-02, 1 row")


def test_the_keyboard_alone_sets_an_alias_and_predicts_a_dataset(visit: Visit, api: Api, versions: str) -> None:
    page = visit.page
    api.calls.registry.annotate("kiosk", AnnotationChange(description="Litres a day."))
    visit.open("models/kiosk?version=2")
    expect(page.get_by_label("Alias", exact=True)).to_be_focused()
    page.keyboard.type("typed")
    visit.focus("Reason")
    page.keyboard.type("By keys.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Aliases").get_by_role("row", name="typed")).to_contain_text("By keys.")
    assert api.calls.aliases.get("kiosk", "typed").version == 2
    visit.open(f"batch?model=kiosk&dataset={versions}")
    visit.focus("Version")
    page.keyboard.type("typed")
    visit.focus("Predict")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Batch prediction of kiosk")
    page.get_by_role("link", name=re.compile("Download")).wait_for()
    visit.focus(page.get_by_role("link", name=re.compile("Download")).inner_text())
    api.calls.aliases.delete("kiosk", "typed")


def test_a_view_that_can_not_be_loaded_states_it_and_loads_later(filled_visit: Visit) -> None:
    filled_visit.may_fail = True
    page = filled_visit.page
    filled_visit.open("models/kiosk")
    page.route("**/views/compare.js", lambda route: route.abort())
    page.get_by_label("Compare version 1").check()
    page.get_by_label("Compare version 2").check()
    page.get_by_role("link", name="Compare versions 1 and 2").click()
    expect(page.get_by_role("alert")).to_contain_text("The view can't be loaded")
    page.unroute("**/views/compare.js")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("region", name="Metrics on the same rows")).to_be_visible()
