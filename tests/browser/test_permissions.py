"""Sessions of a few scopes, and switches between projects."""

import re

import pytest
from playwright.sync_api import Browser, expect

from relevance_bayes.client import connect
from tests.browser.conftest import url_of
from tests.browser.data import KIOSK, LATER
from tests.browser.visits import Visit, visiting
from tests.end_to_end.deployment import Deployment
from tests.keys import add_key

ADMIN = "a-key-of-the-tests"


@pytest.fixture(scope="module")
def guarded(deployment: Deployment) -> str:
    """The origin of a service that needs keys, with a dataset `kiosk` of the owner `local`."""
    add_key(deployment.database_url, ADMIN)
    url = url_of(deployment.api())
    deployment.start("worker")
    with connect(url, api_key=ADMIN) as service:
        dataset = service.upload(KIOSK).id
        job = service.trainings.submit({"dataset_id": dataset, "target": "litres", "effort": "quick"})
        assert service.trainings.wait(job.id).state == "succeeded"
    return url


def created(deployment: Deployment, name: str, *options: str) -> str:
    """The secret of a new key."""
    (secret,) = re.findall(r"secret +(\S+)", deployment.run("keys", "create", name, *options))
    return str(secret)


def log_in(visit: Visit, key: str) -> None:
    visit.page.goto(f"{visit.url}/#/datasets")
    visit.page.get_by_label("API key").fill(key)
    visit.page.get_by_role("button", name="Log in").click()
    expect(visit.page.locator("h1")).to_have_text("Datasets")


def test_a_key_that_only_reads_is_offered_no_change(browser: Browser, guarded: str, deployment: Deployment) -> None:
    reader = created(deployment, "reader", "--scope", "read")
    with visiting(browser, guarded) as visit:
        page = visit.page
        log_in(visit, reader)
        visit.open("models/kiosk")
        expect(page.get_by_role("heading", name="Aliases")).to_be_visible()
        for name in ("Set an alias", "Delete the model"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        for address, scopes in (
            ("models/kiosk/versions/1/evaluate", "train"),
            ("models/kiosk/versions/1/promote", "train"),
            ("batch", "predict or train"),
        ):
            visit.open(address)
            expect(page.get_by_text(f"This needs a key with the scope {scopes}.")).to_be_visible()
            expect(page.locator("main form button.primary")).to_have_count(0)


def test_a_session_switches_between_projects(browser: Browser, guarded: str, deployment: Deployment) -> None:
    visitor = created(deployment, "visitor", "--owner", "vision")
    with connect(guarded, api_key=ADMIN) as service:
        service.members.put("vision", "viewer")
    with connect(guarded, api_key=visitor) as service:
        service.upload(LATER, name="own")
    with visiting(browser, guarded) as visit:
        page = visit.page
        log_in(visit, visitor)
        expect(page.get_by_role("rowheader", name="own")).to_be_visible()
        project = page.get_by_label("Project")
        expect(project).to_have_value("vision")
        assert visit.violations() == []
        project.select_option("local")
        expect(page.get_by_role("rowheader", name="kiosk")).to_be_visible()
        expect(project).to_have_value("local")
        page.reload()
        expect(project).to_have_value("local")
        visit.open("datasets")
        expect(page.get_by_role("rowheader", name="own")).to_have_count(0)
        with page.expect_request("**/events*") as streamed:
            visit.open("jobs")
        response = streamed.value.response()
        assert response is not None
        assert response.status == 200
        project.select_option("vision")
        page.wait_for_url("**/#/")
        visit.open("datasets")
        expect(page.get_by_role("rowheader", name="own")).to_be_visible()
