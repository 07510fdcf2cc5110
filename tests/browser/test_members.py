"""The view of members: invitations are accepted and declined, and an admin sees who is invited."""

from collections.abc import Iterator, Mapping

import pytest
from playwright.sync_api import Browser, expect

from relevance_bayes.client import connect
from relevance_bayes.records.members import Role
from tests.browser.conftest import url_of
from tests.browser.test_permissions import ADMIN, created, log_in
from tests.browser.test_views import PHONE
from tests.browser.visits import Visit, visiting
from tests.end_to_end.deployment import Deployment
from tests.keys import add_key

NONE = "No project has invited you."


@pytest.fixture(scope="module")
def url(deployment: Deployment) -> str:
    """The origin of a service whose projects `local` and `acme` have invited `vision`."""
    add_key(deployment.database_url, ADMIN)
    url = url_of(deployment.api())
    roles: Mapping[str, Role] = {
        ADMIN: "viewer",
        created(deployment, "acme", "--owner", "acme", "--scope", "admin"): "editor",
    }
    for key, role in roles.items():
        with connect(url, api_key=key) as service:
            service.members.put("vision", role)
    return url


@pytest.fixture
def visit(browser: Browser, url: str) -> Iterator[Visit]:
    with visiting(browser, url) as visit:
        yield visit


def assert_fits(visit: Visit) -> None:
    """Assert that the view is accessible in both themes, and as wide as a phone."""
    assert visit.violations() == []
    visit.page.emulate_media(color_scheme="dark")
    assert visit.violations("color-contrast") == []
    visit.page.set_viewport_size({"width": PHONE, "height": 800})
    assert visit.overflow() == 0
    visit.page.emulate_media(color_scheme="light")
    visit.page.set_viewport_size({"width": 1100, "height": 800})


def test_a_key_that_only_reads_sees_its_invitations(visit: Visit, deployment: Deployment) -> None:
    log_in(visit, created(deployment, "reader", "--owner", "vision", "--scope", "read"))
    visit.page.get_by_role("link", name="2 invitations").click()
    expect(visit.page.get_by_role("rowheader", name="acme")).to_be_visible()
    expect(visit.page.get_by_text("Accepting and declining needs a key with the scope train.")).to_be_visible()
    expect(visit.page.locator("main").get_by_role("button", name="Accept")).to_have_count(0)
    expect(visit.page.get_by_text("The list of members needs a key with the scope admin.")).to_be_visible()
    assert_fits(visit)


def test_an_admin_sees_who_is_invited_and_who_is_a_member(visit: Visit, deployment: Deployment) -> None:
    page = visit.page
    log_in(visit, ADMIN)
    page.get_by_role("link", name="Members", exact=True).click()
    expect(page.get_by_text(NONE)).to_be_visible()
    expect(page.get_by_text("Nobody but the owner of the project.")).to_be_visible()
    row = page.get_by_role("region", name="Invited").get_by_role("row", name="vision")
    expect(row.get_by_role("cell", name="viewer")).to_be_visible()
    assert_fits(visit)


def test_invitations_are_accepted_and_declined(browser: Browser, visit: Visit, deployment: Deployment) -> None:
    page = visit.page
    log_in(visit, created(deployment, "visitor", "--owner", "vision"))
    expect(page.get_by_label("Project")).to_have_count(0)
    page.get_by_role("link", name="2 invitations").click()
    page.get_by_role("button", name="Accept the invitation to local").click()
    expect(page.get_by_text("You are a member of local.")).to_be_visible()
    expect(page.get_by_role("link", name="1 invitation")).to_be_visible()
    assert_fits(visit)
    page.get_by_role("button", name="Decline the invitation to acme").click()
    expect(page.get_by_text("You have declined the invitation to acme.")).to_be_visible()
    expect(page.get_by_text(NONE)).to_be_visible()
    page.get_by_label("Project").select_option("local")
    page.wait_for_url("**/#/")
    visit.open("members")
    expect(page.get_by_text("The list of members needs a key with the scope admin.")).to_be_visible()
    with visiting(browser, visit.url) as owner:
        log_in(owner, ADMIN)
        owner.open("members")
        expect(owner.page.get_by_role("region", name="Members").get_by_role("row", name="vision")).to_be_visible()
        expect(owner.page.get_by_text("Nobody is invited who has not accepted.")).to_be_visible()


def test_an_invitation_in_another_project_is_accepted_whatever_its_role_is(
    visit: Visit, deployment: Deployment
) -> None:
    page = visit.page
    with connect(visit.url, api_key=created(deployment, "acme", "--owner", "acme", "--scope", "admin")) as service:
        service.members.put("vision", "editor")
    log_in(visit, created(deployment, "visitor", "--owner", "vision"))
    page.get_by_label("Project").select_option("local")
    page.wait_for_url("**/#/")
    page.get_by_role("link", name="1 invitation").click()
    page.get_by_role("button", name="Accept the invitation to acme").click()
    expect(page.get_by_text("You are a member of acme.")).to_be_visible()
    expect(page.get_by_label("Project").locator("option")).to_have_text(["acme", "local", "vision"])
