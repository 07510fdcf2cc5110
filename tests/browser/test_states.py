"""The states of views: waiting for a response, empty, refused, and without a service; and the code that they show."""

import os
import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Route, expect

from tests.browser.data import KIOSK, Filled
from tests.browser.visits import Visit
from tests.end_to_end.deployment import Api


def test_empty_lists_state_how_to_begin(visit: Visit) -> None:
    for address, title in {"datasets": "No dataset yet", "models": "No model yet", "jobs": "No jobs"}.items():
        visit.open(address)
        expect(visit.page.get_by_role("heading", name=title)).to_be_visible()
        assert visit.violations() == []
    visit.open()
    assert visit.violations() == []


def test_a_queued_job_is_cancelled_and_retried_and_home_shows_it(visit: Visit) -> None:
    visit.open()
    page = visit.page
    page.get_by_role("button", name="Try the example").click()
    expect(page.locator("h1")).to_have_text("Training of kiosk")
    expect(page.get_by_text("Waits for a worker.")).to_be_visible()
    first = page.url
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("main .state")).to_have_text("cancelled")
    page.get_by_role("button", name="Retry").click()
    expect(page.locator("main .state")).to_have_text("queued")
    assert page.url != first
    visit.open()
    expect(
        page.get_by_role("region", name="Running jobs").get_by_role("row", name=re.compile("queued"))
    ).to_be_visible()
    expect(page.get_by_role("region", name="Finished jobs").get_by_text("cancelled")).to_be_visible()


def test_lists_follow_what_others_do(visit: Visit, api: Api) -> None:
    visit.open("jobs")
    dataset = api.calls.upload(KIOSK)
    job = api.calls.trainings.submit({"dataset_id": dataset.id, "target": "litres", "model": "another"})
    row = visit.page.get_by_role("row", name=re.compile("another"))
    expect(row).to_contain_text("queued")
    api.calls.trainings.cancel(job.id)
    expect(row).to_contain_text("cancelled")


def test_a_hidden_page_has_no_stream_and_is_right_when_it_is_shown_again(visit: Visit, api: Api) -> None:
    visit.open("jobs")
    page = visit.page
    is_open = "performance.getEntriesByType('resource').filter((one) => one.name.includes('/jobs/events')).length"
    for hidden in ("true", "false"):
        page.evaluate(f"""Object.defineProperty(document, "hidden", {{ value: {hidden}, configurable: true }});
            document.dispatchEvent(new Event("visibilitychange"))""")
        if hidden == "true":
            page.wait_for_function(f"{is_open} === 1")  # a stream is an entry once it has ended
            dataset = api.calls.upload(KIOSK)
            api.calls.trainings.submit({"dataset_id": dataset.id, "target": "litres", "model": "meanwhile"})
            expect(page.get_by_role("row", name=re.compile("meanwhile"))).to_have_count(0)
    expect(page.get_by_role("row", name=re.compile("meanwhile"))).to_contain_text("queued")


def test_what_the_service_refuses_is_shown_in_words(visit: Visit, api: Api, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.parquet"
    wrong.write_bytes(b"no table")
    visit.open("datasets")
    visit.page.locator("input[type=file]").set_input_files(wrong)
    expect(visit.page.get_by_role("alert")).to_be_visible()
    assert visit.violations() == []
    constant = api.calls.create_dataset({"x": [1.0] * 30, "y": [1.0, 2.0, 4.0] * 10}, name="constant")
    visit.open(f"train/{constant.id}?target=y")
    visit.page.get_by_role("button", name="Train", exact=True).click()
    expect(visit.page.get_by_role("alert")).to_contain_text("`x`: it is the same in every row")
    visit.open("datasets/01900000-0000-7000-8000-000000000009")
    expect(visit.page.get_by_role("alert")).to_contain_text("There is no dataset")


def test_without_a_connection_the_page_keeps_what_it_has_and_recovers(visit: Visit) -> None:
    visit.may_fail = True
    visit.open("datasets")
    rows = visit.page.locator("tbody tr").count()
    assert rows >= 1
    visit.context.set_offline(True)
    expect(visit.page.get_by_text("You are offline")).to_be_visible()
    assert visit.page.locator("tbody tr").count() == rows
    visit.page.get_by_role("link", name="Models", exact=True).click()
    expect(visit.page.get_by_role("alert")).to_contain_text("The service can't be reached.")
    assert visit.violations() == []
    visit.context.set_offline(False)
    expect(visit.page.get_by_role("heading", name="No model yet")).to_be_visible()
    expect(visit.page.get_by_text("You are offline")).to_have_count(0)


def test_while_a_response_is_late_the_page_states_that_it_loads(visit: Visit) -> None:
    late: list[Route] = []
    visit.page.route("**/v1/models?*", lambda route: late.append(route))
    visit.page.goto(f"{visit.url}/#/models")
    expect(visit.page.get_by_text("Loading models")).to_be_attached()
    assert visit.violations() == []
    (route,) = late
    route.continue_()
    expect(visit.page.get_by_role("heading", name="No model yet")).to_be_visible()


CODE = (
    *("datasets", "dataset", "jobs", "job", "models", "model", "version", "train"),
    *("compare", "evaluate", "promote", "batch", "evaluation", "promotion", "prediction"),
)


def test_the_code_of_all_views_runs(filled_visit: Visit, filled_service: Filled, tmp_path: Path) -> None:
    commands: list[str] = []
    programs: list[str] = []
    for view in CODE:
        filled_visit.open(filled_service.views[view])
        filled_visit.page.locator(".code summary").first.wait_for()
        for folded in filled_visit.page.locator(".code summary").all():
            folded.click()
        curl, program = filled_visit.page.locator("pre").all_inner_texts()[-2:]
        commands.append(f"{curl} --fail-with-body")
        if view != "train":  # a training takes its time
            programs.append(program)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
    for command in (["bash", "-ec", "\n".join(commands)], [sys.executable, "-c", "\n\n".join(programs)]):
        done = subprocess.run(
            command, check=False, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.strip()


def test_the_code_of_an_upload_runs(visit: Visit, api: Api) -> None:
    visit.open("datasets")
    visit.page.locator("input[type=file]").set_input_files(KIOSK)
    code = visit.page.locator(".code", has_text=KIOSK.name).last
    code.wait_for()
    code.locator("summary").click()
    before = len([*api.calls.datasets()])
    texts = code.locator("pre").all_inner_texts()
    for command, text in zip((["bash", "-c"], [sys.executable, "-c"]), texts, strict=True):
        done = subprocess.run([*command, text], cwd=KIOSK.parent, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    assert len([*api.calls.datasets()]) == before + 2


def test_an_ambiguous_header_is_a_choice_and_columns_show_their_reading(visit: Visit, api: Api, tmp_path: Path) -> None:
    file = tmp_path / "years.csv"
    file.write_text("7,1,2,versicolor\n" + "".join(f"{n}.5,{n % 7},NA,setosa\n" for n in range(60)))
    visit.open("datasets")
    visit.page.locator("input[type=file]").set_input_files(file)
    visit.page.get_by_text("Read it otherwise").click()
    assert visit.violations() == []
    visit.page.get_by_role("button", name="The first line is a row of data").click()
    expect(visit.page.locator("h1")).to_have_text("years")
    columns = visit.page.get_by_role("region", name="Columns")
    expect(columns).to_contain_text("the first line is a row of data")
    expect(columns).to_contain_text("missing: NA (60)")
    assert next(api.calls.datasets()).rows == 61
    visit.page.get_by_text("Read it otherwise").click()
    visit.page.get_by_label("First line").select_option("The first line has the names")
    visit.page.get_by_label("Missing values, with commas between them").fill("NA, setosa")
    visit.page.get_by_role("button", name="Read it again").click()
    expect(columns).to_contain_text("missing: setosa (60)")
    assert visit.violations() == []
    code = visit.page.locator(".code", has_text="years.csv").last
    code.locator("summary").click()
    command, program = code.locator("pre").all_inner_texts()
    assert 'header=True, missing_values=["NA","setosa"]' in program
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert '"count":60' in done.stdout.replace(" ", "")
