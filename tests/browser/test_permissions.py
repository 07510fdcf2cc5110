"""Sessions of a few scopes, and switches between projects."""

import re
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from relevance_bayes.client import connect
from tests.browser.conftest import url_of
from tests.browser.data import KIOSK, LATER
from tests.browser.visits import Visit, visiting
from tests.end_to_end.deployment import Deployment
from tests.keys import add_key

ADMIN = "a-key-of-the-tests"


VIEWS: dict[str, tuple[str, ...]] = {
    "dataset": ("Train a model", "Predict it", "Delete the dataset"),
    "job": ("Run again",),
    "version": ("Predict a dataset", "Evaluate", "Promote", "Set an alias", "Evaluate it", "Delete the version"),
    "model": ("Set an alias", "Delete the model"),
}
"""The actions of views that need the scope `train`, or one of several with it."""


@dataclass(frozen=True)
class Guarded:
    """A service that needs keys: its origin, and what the owner `local` has there."""

    url: str
    dataset: str
    job: str

    def address(self, view: str) -> str:
        """The address of a view."""
        return {
            "dataset": f"datasets/{self.dataset}",
            "job": f"jobs/training/{self.job}",
            "version": "models/kiosk/versions/1",
            "model": "models/kiosk",
        }[view]


def action(page: Page, name: str) -> Locator:
    """A button or a link."""
    return page.get_by_role("button", name=name, exact=True).or_(page.get_by_role("link", name=name, exact=True))


@pytest.fixture(scope="module")
def guarded(deployment: Deployment) -> Guarded:
    """A service that needs keys, with a dataset `kiosk`."""
    add_key(deployment.database_url, ADMIN)
    url = url_of(deployment.api())
    deployment.start("worker")
    with connect(url, api_key=ADMIN) as service:
        dataset = service.upload(KIOSK).id
        job = service.trainings.submit({"dataset_id": dataset, "target": "litres", "effort": "quick"})
        assert service.trainings.wait(job.id).state == "succeeded"
    return Guarded(url, dataset, job.id)


def created(deployment: Deployment, name: str, *options: str) -> str:
    """The secret of a new key."""
    (secret,) = re.findall(r"secret +(\S+)", deployment.run("keys", "create", name, *options))
    return str(secret)


def log_in(visit: Visit, key: str, *, heading: str = "Datasets") -> None:
    visit.page.goto(f"{visit.url}/#/datasets")
    visit.page.get_by_label("API key").fill(key)
    visit.page.get_by_role("button", name="Log in").click()
    expect(visit.page.locator("h1")).to_have_text(heading)


def test_a_key_that_only_reads_is_offered_no_change(browser: Browser, guarded: Guarded, deployment: Deployment) -> None:
    reader = created(deployment, "reader", "--scope", "read")
    with visiting(browser, guarded.url) as visit:
        page = visit.page
        log_in(visit, reader)
        visit.open("models/kiosk")
        expect(page.get_by_role("heading", name="Aliases")).to_be_visible()
        for name in ("Set an alias", "Delete the model"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        for address, needed in (
            ("models/kiosk/versions/1/evaluate", "This needs a key with the scope train."),
            ("models/kiosk/versions/1/promote", "This needs a key with the scope train."),
            ("batch", "This needs a key with the scope predict or train."),
            (f"train/{guarded.dataset}?target=litres", "This needs a key with the scope train."),
            ("", "An upload needs a key with the scope train."),
            ("datasets", "An upload needs a key with the scope train."),
            ("models/kiosk/versions/1", "What if, with the effects of the inputs, needs a key with the scope predict."),
        ):
            visit.open(address)
            expect(page.get_by_text(needed)).to_be_visible()
            expect(page.locator("main button.primary, main input[type=file]")).to_have_count(0)
        for address, names in VIEWS.items():
            visit.open(guarded.address(address))
            for name in names:
                expect(action(page, name)).to_have_count(0)


def test_a_key_that_trains_is_offered_every_action(browser: Browser, guarded: Guarded, deployment: Deployment) -> None:
    with visiting(browser, guarded.url) as visit:
        log_in(visit, created(deployment, "trainer", "--scope", "read", "--scope", "train"))
        for address, names in VIEWS.items():
            visit.open(guarded.address(address))
            for name in names:
                expect(action(visit.page, name)).to_be_visible()


def test_a_key_that_predicts_is_offered_predictions_alone(
    browser: Browser, guarded: Guarded, deployment: Deployment
) -> None:
    with visiting(browser, guarded.url) as visit:
        page = visit.page
        log_in(visit, created(deployment, "predictor", "--scope", "read", "--scope", "predict"))
        visit.open(guarded.address("version"))
        expect(page.locator(".outcome .value")).to_be_visible()
        expect(action(page, "Predict a dataset")).to_be_visible()
        for name in ("Evaluate", "Promote", "Set an alias", "Delete the version"):
            expect(action(page, name)).to_have_count(0)


def test_a_key_that_cannot_read_is_refused_in_words(browser: Browser, guarded: Guarded, deployment: Deployment) -> None:
    with visiting(browser, guarded.url) as visit:
        log_in(visit, created(deployment, "sender", "--scope", "predict"), heading="This key can't read")
        expect(
            visit.page.get_by_text("The page needs a key with the scope read. This one has predict,")
        ).to_be_visible()
        assert visit.violations() == []


def test_a_session_switches_between_projects(browser: Browser, guarded: Guarded, deployment: Deployment) -> None:
    visitor = created(deployment, "visitor", "--owner", "vision")
    with connect(guarded.url, api_key=ADMIN) as service:
        service.members.put("vision", "viewer")
    with connect(guarded.url, api_key=visitor) as service:
        service.members.accept("local")
        service.upload(LATER, name="own")
    with visiting(browser, guarded.url) as visit:
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
