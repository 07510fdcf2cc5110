"""Each view in both themes and at the width of a phone; markup in names; the size of a first visit."""

import pytest
from playwright.sync_api import expect

from tests.browser.data import MARKUP, Filled
from tests.browser.visits import Visit

VIEWS = (
    "home",
    "datasets",
    "dataset",
    "train",
    "jobs",
    "job",
    "models",
    "model",
    "version",
    "classes",
    "compare",
    "evaluate",
    "promote",
    "batch",
    "evaluation",
    "confusion",
    "promotion",
    "prediction",
    "missing",
    "nowhere",
)
PHONE = 390
MAX_FIRST_LOAD = 60_000


def test_every_view_is_looked_at(filled_service: Filled) -> None:
    assert {*VIEWS} == {*filled_service.views}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_accessible_in_both_themes_and_fits_a_phone(
    filled_service: Filled, filled_visit: Visit, view: str
) -> None:
    page = filled_visit.page
    filled_visit.open(filled_service.views[view])
    filled_visit.see_all()
    for folded in page.locator("summary").all():
        folded.click()
    filled_visit.settled()
    assert filled_visit.violations() == []
    page.emulate_media(color_scheme="dark")
    assert filled_visit.violations("color-contrast") == []
    page.set_viewport_size({"width": PHONE, "height": 800})
    assert filled_visit.overflow() == 0


def test_the_switch_of_the_theme_has_precedence_and_is_kept(filled_visit: Visit) -> None:
    filled_visit.open()
    page = filled_visit.page
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_label("Theme").select_option("dark")
    dark = page.evaluate(background)
    assert dark != light
    page.reload()
    filled_visit.settled()
    assert page.evaluate(background) == dark
    page.get_by_label("Theme").select_option("auto")
    assert page.evaluate(background) == light


def test_names_that_are_markup_are_shown_as_texts(filled_service: Filled, filled_visit: Visit) -> None:
    page = filled_visit.page
    for address in (
        "datasets",
        f"datasets/{filled_service.markup}",
        f"train/{filled_service.markup}",
        f"jobs/training/{filled_service.markup_job}",
        "models/markup",
        "models/markup/versions/1",
        "jobs",
        "models/markup/compare?first=1&second=1",
        f"models/markup/compare?first={MARKUP[3]}&second=1",
        f"models/markup/versions/1/evaluate?dataset={filled_service.markup}",
        f"models/markup/versions/1/promote?alias={MARKUP[0]}&dataset={filled_service.markup}&groups={MARKUP[2]}",
        f"models/markup?version={MARKUP[0]}",
        f"batch?model=markup&version=1&dataset={filled_service.markup}",
        f"batch?model={MARKUP[0]}&version={MARKUP[1]}&dataset={MARKUP[2]}",
        f"jobs/prediction/{filled_service.markup_prediction}",
        f"models/{MARKUP[0]}",
        f"train/{filled_service.markup}?target={MARKUP[0]}",
    ):
        filled_visit.open(address)
        filled_visit.see_all()
        for folded in page.locator("summary").all():
            folded.click()
        filled_visit.settled()
        assert page.locator("main :is(img, script, iframe)").count() == 0, address
    filled_visit.open(f"datasets/{filled_service.markup}")
    assert filled_visit.title() == MARKUP[1]
    for name in (MARKUP[0], *MARKUP[2:]):
        assert page.get_by_role("rowheader", name=name, exact=True).count() == 1, name
    filled_visit.open("models/markup")
    expect(page.get_by_role("cell", name=MARKUP[0], exact=True)).to_be_visible()
    filled_visit.open(f"jobs/prediction/{filled_service.markup_prediction}")
    expect(page.get_by_role("columnheader", name=MARKUP[2], exact=True)).to_be_visible()
    filled_visit.open("models/markup/versions/1")
    expect(page.locator(".outcome")).to_contain_text(MARKUP[0])


def test_a_first_visit_loads_little_and_files_come_from_the_cache_afterwards(filled_visit: Visit) -> None:
    sizes: dict[str, int] = {}
    filled_visit.page.on(
        "requestfinished",
        lambda request: (
            sizes.setdefault(request.url, request.sizes()["responseBodySize"]) if "/v1/" not in request.url else None
        ),
    )
    filled_visit.open()
    filled_visit.page.wait_for_load_state("load")
    files = [url for url in sizes if "/page/" in url]
    assert len(files) > 20
    assert 20_000 < sum(sizes.values()) < MAX_FIRST_LOAD
    transferred = """performance.getEntriesByType("resource")
        .filter((one) => one.name.includes("/page/")).map((one) => one.transferSize)"""
    filled_visit.page.reload()
    filled_visit.settled()
    assert {*filled_visit.page.evaluate(transferred)} == {0}
