"""Pictures of the page for the guide: `python -m tests.browser.pictures`, which `make pictures` calls."""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from app.maintenance.administration import migrate
from app.settings import Settings
from relevance_bayes.client.responses import ImageJob, Json
from tests.browser.data import Filled, filled
from tests.browser.visits import Theme, visiting
from tests.end_to_end.deployment import deployed
from tests.packaging.wheels import ROOT

SPOT = ROOT / "examples" / "tour" / "spot.png"
FOLDER = ROOT / "docs" / "pictures" / "page"
THEMES: tuple[Theme, ...] = ("light", "dark")
VIEWS = (
    *("home", "dataset", "train", "job", "version", "classes"),
    *("model", "compare", "promote", "promotion", "evaluation", "batch", "prediction"),
)
SECTIONS = {
    "effects": ("version", "Effects of the inputs"),
    "reliability": ("version", "Reliability"),
    "residuals": ("version", "Residuals"),
    "steps": ("version", "Steps of the fit"),
    "boundary": ("classes", "Both inputs together"),
    "calibration": ("classes", "Reliability"),
    "reconstruction": ("image", "Reconstruction"),
}
"""Figures of versions: the view, and the heading of their section."""

PHONE = 390
MAX_BYTES = 120_000


def main() -> None:
    """Fill a service, and take a picture of each view in both themes, and of some at the width of a phone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        url = f"sqlite:///{directory}/relevance.db"
        migrate(Settings(database_url=url))
        with deployed(url, Path(directory)) as deployment:
            api = deployment.api()
            deployment.start("worker")
            service = filled(api.calls, str(api.http.base_url).rstrip("/"), with_markup=False)
            spot: dict[str, Json] = {"dataset_id": api.calls.upload(SPOT).id, "task": "image", "psnr": 36}
            job = api.calls.trainings.submit(spot, of=ImageJob)
            assert api.calls.trainings.wait(job.id, of=ImageJob).state == "succeeded"
            photograph(service)


def photograph(service: Filled) -> None:
    """Write the pictures."""
    views = {**service.views, "image": "models/spot/versions/1"}
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        for theme in THEMES:
            with visiting(browser, service.url, theme=theme) as visit:
                for view in VIEWS:
                    visit.open(service.views[view])
                    take(visit.page, f"{view}-{theme}")
                for name, (view, heading) in SECTIONS.items():
                    visit.open(views[view])
                    take_section(visit.page, heading, f"{name}-{theme}")
        with visiting(browser, service.url, width=PHONE) as visit:
            for view in ("home", "version", "compare"):
                visit.open(service.views[view])
                take(visit.page, f"{view}-phone")
        browser.close()


def take(page: Page, name: str) -> None:
    """Write a picture of what the window shows."""
    page.wait_for_timeout(500)
    check(page.screenshot(path=FOLDER / f"{name}.png", animations="disabled"), name)


def take_section(page: Page, heading: str, name: str) -> None:
    """Write a picture of the section with a heading."""
    section = page.locator("main section", has=page.get_by_role("heading", name=heading, exact=True))
    section.scroll_into_view_if_needed()
    section.locator("figure :is(svg, img)").first.wait_for()
    section.locator(".loading").first.wait_for(state="detached")
    page.wait_for_timeout(500)
    check(section.screenshot(path=FOLDER / f"{name}.png", animations="disabled"), name)


def check(content: bytes, name: str) -> None:
    """Raise ValueError for a picture that is too large for the guide."""
    if len(content) > MAX_BYTES:
        raise ValueError(f"expected at most {MAX_BYTES} bytes, got {len(content)} of {name}")


if __name__ == "__main__":
    main()
