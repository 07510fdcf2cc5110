"""Reports as files, opened from a disk by a browser that reaches no network."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from relevance_bayes.client import connect
from relevance_bayes.client.responses import Job, Json
from tests.browser.data import MARKUP, Filled
from tests.browser.test_views import PHONE
from tests.browser.visits import Theme, Visit, visiting
from tests.packaging.wheels import ROOT

MODELS = ("kiosk", "screening", "markup", "line", "rows", "spot")
"""Numbers, two classes, names that are markup, one input, components, an image."""

SPOT = ROOT / "examples" / "tour" / "spot.png"
MAX_BYTES = 1_000_000
ALONG = "along "
"""In the sentence of the curve through values that are set."""


@pytest.fixture(scope="session")
def reports(filled_service: Filled, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the reports of all models, each named as its model."""
    folder = tmp_path_factory.mktemp("reports")
    with connect(filled_service.url) as calls:
        requests: list[dict[str, Json]] = [
            {
                "dataset_id": filled_service.dataset,
                "target": "litres",
                "inputs": ["temperature"],
                "model": "line",
                "effort": "quick",
            },
            {
                "dataset_id": filled_service.screening,
                "task": "components",
                "inputs": ["marker", "age"],
                "model": "rows",
            },
            {"dataset_id": calls.upload(SPOT).id, "task": "image", "model": "spot", "max_functions": 5},
        ]
        for job in [calls.trainings.submit(request, of=Job) for request in requests]:
            ended = calls.trainings.wait(job.id, of=Job)
            assert ended.state == "succeeded", ended.error
        for model in MODELS:
            (folder / f"{model}.html").write_bytes(calls.report(model, 1))
    return folder


@contextmanager
def opened(browser: Browser, folder: Path, model: str, theme: Theme = "light") -> Iterator[Visit]:
    """A visit of a report, in which any request but that of the file is wrong."""
    with visiting(browser, folder.as_uri(), theme=theme) as visit:
        visit.context.set_offline(offline=True)
        requested: list[str] = []
        visit.page.on("request", lambda request: requested.append(request.url))
        visit.page.goto((folder / f"{model}.html").as_uri())
        visit.settled()
        for folded in visit.page.locator("summary").all():
            folded.click()
        yield visit
        assert requested == [(folder / f"{model}.html").as_uri()]


@pytest.mark.parametrize(("model", "theme"), [*zip(MODELS, cycle(("light", "dark")), strict=False)])
def test_a_report_is_accessible_in_both_themes_and_fits_a_phone(
    browser: Browser, reports: Path, model: str, theme: Theme
) -> None:
    with opened(browser, reports, model, theme) as visit:
        assert visit.title() == f"{model}, version 1"
        assert visit.violations() == []
        visit.page.set_viewport_size({"width": PHONE, "height": 800})
        assert visit.overflow() == 0
    assert 50_000 < (reports / f"{model}.html").stat().st_size < MAX_BYTES


@pytest.mark.parametrize("model", ["kiosk", "screening", "rows", "spot"])
def test_a_report_shows_what_the_page_shows_but_what_needs_the_service(
    browser: Browser, reports: Path, filled_service: Filled, model: str
) -> None:
    with visiting(browser, filled_service.url) as visit:
        visit.open(f"models/{model}/versions/1")
        visit.see_all()
        expected = contents(visit.page)
    with opened(browser, reports, model) as visit:
        found = contents(visit.page)
        assert visit.page.locator(".failure, .loading, main a, main .button").count() == 0
        assert visit.page.locator("main :is(button, input):not(.player *)").count() == 0
    of_predictions = {"What if", "Evaluations"} if model in {"kiosk", "screening"} else set[str]()
    assert {*expected.headings} - {*found.headings} == {"Export", "Lineage"} | of_predictions
    assert {*expected.figures} - {*found.figures} <= {one for one in expected.figures if ALONG in one}
    assert found.facts[: len(expected.facts)] == expected.facts
    assert found.cells == expected.cells
    assert len(found.cells) > 5
    assert len(found.figures) > (0 if model == "spot" else 1)


def test_a_report_draws_predictions_along_each_input(browser: Browser, reports: Path) -> None:
    with opened(browser, reports, "kiosk") as visit:
        figures = visit.page.get_by_role("img")
        names = [str(one.get_attribute("aria-label")) for one in figures.all()[:3]]
        assert names[0].startswith("Along temperature. litres along temperature: least ")
        assert "litres by weather: sunny " in names[1]
        assert "litres by holiday: false " in names[2]
        table = visit.page.get_by_role("table", name="By weather")
        assert table.get_by_role("row").count() == 4


def test_the_only_input_is_drawn_with_the_rows_of_the_data(browser: Browser, reports: Path) -> None:
    with opened(browser, reports, "line") as visit:
        curve = visit.page.locator("figure.curve")
        assert curve.locator("circle.point").count() == 150
        assert curve.locator("circle.ring").count() > 0
        assert curve.locator(".band").count() >= 2


def test_the_steps_of_a_fit_are_replayed(browser: Browser, reports: Path) -> None:
    with opened(browser, reports, "kiosk") as visit:
        step = visit.page.locator(".step")
        last = step.inner_text()
        visit.page.get_by_role("button", name="Replay").click()
        expect(step).not_to_have_text(last)
        expect(step).to_have_text(last)


@dataclass(frozen=True)
class Contents:
    """The texts of a view."""

    headings: list[str]
    figures: list[str]
    facts: list[str]
    cells: list[str]


def contents(page: Page) -> Contents:
    """Return what a page or a report shows, without evaluations and lineage, with which a page ends."""
    record = page.locator("section", has=page.get_by_role("heading", name=re.compile("^(Evaluations|Lineage)$")))
    facts, cells = ".facts dd", ".scroll:not(details *) td"
    shown_facts, shown_cells = (page.locator(f"main {one}").all_inner_texts() for one in (facts, cells))
    return Contents(
        page.locator("h2").all_inner_texts(),
        [str(one.get_attribute("aria-label")) for one in page.locator("svg[role=img]").all()],
        shown_facts[: len(shown_facts) - record.locator(facts).count()],
        shown_cells[: len(shown_cells) - record.locator(cells).count()],
    )


def test_names_that_are_markup_are_texts(browser: Browser, reports: Path) -> None:
    with opened(browser, reports, "markup") as visit:
        assert visit.page.locator("main :is(img, script, iframe)").count() == 0
        text = visit.page.locator("main").inner_text()
        for name in MARKUP:
            assert name in text, name


def test_a_printed_report_has_no_controls_and_is_light(browser: Browser, reports: Path) -> None:
    with opened(browser, reports, "kiosk", "dark") as visit:
        page = visit.page
        page.get_by_label("Theme").select_option("dark")
        page.emulate_media(media="print")
        expect(page.get_by_label("Theme")).to_be_hidden()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        page.set_viewport_size({"width": 720, "height": 1000})
        assert visit.overflow() == 0
        assert len(page.pdf(format="A4")) > 10_000


def test_a_report_without_scripts_has_its_figures_as_texts(browser: Browser, reports: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto((reports / "kiosk.html").as_uri())
    expect(page.get_by_role("heading", name="kiosk, version 1")).to_be_visible()
    expect(page.get_by_role("table", name="cross-validation")).to_contain_text("rmse")
    context.close()


def test_a_service_shows_the_report_in_a_document_without_its_origin(filled_service: Filled, browser: Browser) -> None:
    with visiting(browser, filled_service.url) as visit:
        visit.page.goto(f"{filled_service.url}/v1/models/kiosk/versions/1/report")
        visit.settled()
        assert visit.title() == "kiosk, version 1"
        assert visit.page.evaluate("origin") == "null"
