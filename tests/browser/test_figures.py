"""The figures of a version in Chromium: each beside the numbers of the API that it draws."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.conftest import url_of
from tests.browser.data import Filled
from tests.browser.figured import CURVE, DATES, DELETED, IMAGE, MODELS, REGIONS, SURFACE, WIDE, WIDTHS, Trained, trained
from tests.browser.visits import Visit, visiting
from tests.end_to_end.deployment import deployed

PHONE = 390
MAX_FIGURES = 6
MAX_SLIDER_MS = 250.0
"""For a machine that others use too; on an idle one the median is some 20."""


@pytest.fixture(scope="module")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trained]:
    directory = tmp_path_factory.mktemp("figures")
    shutil.copyfile(sqlite_template, directory / "relevance.db")
    with deployed(f"sqlite:///{directory / 'relevance.db'}", directory) as made:
        api = made.api()
        made.start("worker")
        yield trained(api.calls, url_of(api))


@pytest.fixture
def look(browser: Browser, service: Trained) -> Iterator[Visit]:
    with visiting(browser, service.url) as visit:
        yield visit


def plot(visit: Visit, title: str) -> Locator:
    """The figure with a title."""
    return visit.page.locator("figure.plot", has=visit.page.get_by_role("heading", name=title, exact=True))


def table(found: Locator) -> list[list[str]]:
    """The rows of the table of a figure, which is opened."""
    found.locator("summary").click()
    rows = found.locator("tbody tr")
    rows.first.wait_for()
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def in_module(visit: Visit, module: str, expression: str) -> object:
    """The value of an expression with a module of figures `m`."""
    return visit.page.evaluate(f'import("/page/of-a-test/figures/{module}.js").then((m) => {expression})')


@pytest.mark.parametrize("model", MODELS)
def test_the_figures_are_accessible_in_both_themes_and_fit_a_phone(service: Trained, look: Visit, model: str) -> None:
    page = look.page
    look.open(service.address(model))
    look.see_all()
    for folded in page.locator("summary").all():
        folded.click()
    look.settled()
    assert page.locator("svg.figure, .image img").count() > 0
    for image in page.locator("svg.figure").all():
        assert len(str(image.get_attribute("aria-label"))) > 20
    assert look.violations() == []
    page.emulate_media(color_scheme="dark")
    assert look.violations("color-contrast") == []
    page.set_viewport_size({"width": PHONE, "height": 800})
    assert look.overflow() == 0


def test_coverage_and_pit_are_those_of_the_diagnostics(filled_visit: Visit) -> None:
    filled_visit.open("models/kiosk/versions/1")
    found = filled_visit.page.request.get(f"{filled_visit.url}/v1/models/kiosk/versions/1/diagnostics").json()
    coverage = plot(filled_visit, "Coverage of the intervals")
    levels = found["reliability"]["coverage"]
    assert [(row[0], row[1]) for row in table(coverage)] == [
        (f"{level['level']:.0%}".replace("%", "\u00a0%"), f"{level['share']:.0%}".replace("%", "\u00a0%"))
        for level in levels
    ]
    assert coverage.locator("circle.dot").count() == len(levels) == 5
    expect(coverage.locator(".note")).to_contain_text(f"of {found['reliability']['rows']} rows are within their 95 %")
    pit = plot(filled_visit, "Where targets fall in their predicted distributions")
    assert pit.locator("rect.bar").count() == len(found["reliability"]["pit"]) == 20
    assert len(table(pit)) == 20


@pytest.mark.parametrize(
    ("pit", "words"),
    [
        ([0.05] * 20, "as even as chance permits"),
        ([0.2, *[0.6 / 18] * 18, 0.2], "intervals are too narrow"),
        ([*[0.02] * 8, *[0.17] * 4, *[0.02] * 8], "intervals are too wide"),
        ([0.005 * place for place in range(20)], "greater than predicted"),
        ([0.095 - 0.005 * place for place in range(20)], "less than predicted"),
    ],
    ids=["even", "U", "peak", "rising", "falling"],
)
def test_the_shape_of_the_pit_is_put_into_words(visit: Visit, pit: list[float], words: str) -> None:
    visit.open()
    assert words in str(in_module(visit, "pit", f"m.pitText({pit}, 500)"))


@pytest.mark.parametrize("rows", [100, 500, 5000])
def test_at_most_one_of_a_hundred_calibrated_models_is_called_uneven(visit: Visit, rows: int) -> None:
    visit.open()
    pits = (np.random.default_rng(2027).multinomial(rows, [0.05] * 20, size=4000) / rows).tolist()
    even = in_module(visit, "pit", f"{pits}.filter((pit) => m.pitText(pit, {rows}).startsWith('It is as even')).length")
    assert isinstance(even, int)
    # The level is .8 %, within three standard errors.
    assert 1 - even / len(pits) <= 0.008 + 3 * (0.008 / len(pits)) ** 0.5


def test_the_curves_of_classes_are_described_by_where_they_are_lowest_and_highest(visit: Visit) -> None:
    visit.open()
    rows = [{"probabilities": [{"label": "yes", "probability": value}]} for value in (0.001, 0.93, 0.001)]
    found = visit.page.evaluate(
        f'import("/page/of-a-test/parts/curve.js").then((m) => m.linesOf({json.dumps(rows)}).text([0, 1, 2]))'
    )
    assert found == "yes least 0.1\u00a0% at 0, greatest 93\u00a0% at 1."


def test_intervals_that_do_not_hold_are_named(visit: Visit) -> None:
    visit.open()
    levels = "[{level: .5, share: .3, standard_error: .02}, {level: .95, share: .94, standard_error: .01}]"
    text = str(in_module(visit, "coverage", f"m.coverageText({levels}, 500)"))
    assert text.endswith("Beyond two standard errors: those of 50\u00a0% hold for 30\u00a0%; they are too narrow.")


def test_two_classes_have_one_calibration_and_more_have_one_each(
    service: Trained, look: Visit, filled_visit: Visit
) -> None:
    filled_visit.open("models/screening/versions/1")
    expect(filled_visit.page.get_by_role("heading", name=re.compile("Calibration of"))).to_have_count(1)
    found = filled_visit.page.request.get(f"{filled_visit.url}/v1/models/screening/versions/1/diagnostics").json()
    (bins,) = [curve["bins"] for curve in found["reliability"]["curves"] if curve["label"] == "yes"]
    calibration = plot(filled_visit, "Calibration of yes")
    assert calibration.locator("circle.dot").count() == len(bins)
    assert [row[2] for row in table(calibration)] == [str(one["rows"]) for one in bins]
    look.open(service.address(REGIONS))
    expect(look.page.get_by_role("heading", name=re.compile("Calibration of"))).to_have_count(3)


def test_residuals_have_a_figure_for_the_prediction_and_each_input(filled_visit: Visit) -> None:
    filled_visit.open("models/kiosk/versions/1")
    found = filled_visit.page.request.get(f"{filled_visit.url}/v1/models/kiosk/versions/1/diagnostics").json()
    residuals = found["residuals"]
    assert len(table(plot(filled_visit, "Against the prediction"))) == len(residuals["prediction"]["bins"])
    for of in residuals["inputs"]:
        shown = plot(filled_visit, f"Against {of['name']}")
        bins = of.get("bins") or of["categories"]
        assert shown.locator("circle").count() == len(bins) > 1
        assert [row[1] for row in table(shown)] == [str(one["rows"]) for one in bins]


def test_a_mean_residual_far_from_zero_is_marked_and_named(visit: Visit) -> None:
    visit.open()
    bins = "[{rows: 20, mean: 0.1, sd: 1}, {rows: 20, mean: 5, sd: 1}]"
    of = f"{{kind: 'number', min: 0, max: 2, edges: [1], bins: {bins}, missing: {{rows: 3, mean: 0, sd: 1}}}}"
    text = str(in_module(visit, "residuals", f"m.residualText(m.binsOf({of}, false), {of})"))
    assert text == "Predictions are too low from 1 to 2 (the mean is 5 ± 0.22)."
    both = of.replace("mean: 0.1", "mean: -4")
    assert str(in_module(visit, "residuals", f"m.residualText(m.binsOf({both}, false), {both})")) == (
        "Predictions are too low from 1 to 2 (the mean is 5 ± 0.22). "
        "Predictions are too high from 0 to 1 (the mean is −4 ± 0.22)."
    )
    # A class that none of 20 rows has is no surprise at a probability of 3 %.
    rare = "{kind: 'number', min: 0, max: 1, edges: [], bins: [{rows: 20, mean: -0.03, sd: 0.002}], missing: null}"
    assert float(str(in_module(visit, "residuals", f"m.surprise({rare}, true)"))) < 1
    assert float(str(in_module(visit, "residuals", f"m.surprise({rare}, false)"))) > 3


def test_effects_are_profiles_over_a_sample_of_the_data_the_strongest_first(filled_visit: Visit) -> None:
    page = filled_visit.page
    sent: list[dict[str, object]] = []
    page.on("request", lambda one: sent.append(one.post_data_json) if one.url.endswith("/profile") else None)
    filled_visit.open("models/kiosk/versions/1")
    effects = page.locator("section.effects")
    assert sent == []
    filled_visit.see_all()
    expect(effects.locator("figure.effect")).to_have_count(3)
    assert effects.locator("h3").first.inner_text() == "temperature"
    expect(effects.locator("> .note")).to_contain_text("50 rows of the data")
    (body,) = [one for one in sent if one["inputs"] == ["temperature"]]
    profile = page.request.post(f"{filled_visit.url}/v1/models/kiosk/versions/1/profile", data=body).json()
    assert (profile["rows"], profile["band"], len(profile["points"])) == (50, "mean", 25)
    rows = table(effects.locator("figure.effect").first)
    assert len(rows) == 25
    assert float(rows[0][1]) == pytest.approx(profile["points"][0]["mean"], rel=1e-3)
    assert float(rows[-1][3]) == pytest.approx(profile["points"][-1]["band"]["upper"], rel=1e-3)
    assert effects.locator("figure.effect").first.locator("path.single").count() == 10
    assert effects.locator("figure.effect").first.locator(".rug").count() > 5
    filled_visit.open("batch")
    filled_visit.open("models/kiosk/versions/1")
    effects.wait_for()
    filled_visit.see_all()
    expect(effects.locator("figure.effect")).to_have_count(3)
    assert len(sent) == 3, "profiles of a version are requested once in a visit"


def test_of_a_thousand_columns_a_few_are_drawn_and_others_on_request_or_by_name(service: Trained, look: Visit) -> None:
    page = look.page
    sent: list[str] = []
    page.on("request", lambda one: sent.append(one.url) if one.url.endswith("/profile") else None)
    look.open(service.address(WIDTHS))
    look.see_all()
    effects = page.locator("section.effects")
    expect(effects.locator("figure.effect")).to_have_count(MAX_FIGURES)
    assert len(sent) == MAX_FIGURES
    expect(effects.locator(".chosen")).to_contain_text(f"The first {MAX_FIGURES} of {WIDE - 1} inputs")
    assert effects.locator("h3").first.inner_text() == "column 700"
    effects.get_by_role("button", name=f"Show {MAX_FIGURES} more inputs").click()
    expect(effects.locator("figure.effect")).to_have_count(2 * MAX_FIGURES)
    assert len(sent) == 2 * MAX_FIGURES
    page.get_by_label("Filter inputs").last.wait_for()
    effects.get_by_label("Filter inputs").fill("column 99")
    expect(effects.locator("figure.effect")).to_have_count(MAX_FIGURES)
    expect(effects.locator(".chosen")).to_contain_text(f"{MAX_FIGURES} of 10 with this name")
    expect(page.locator(".outcome .value")).to_be_visible()
    expect(page.locator(".curve")).to_be_visible()
    assert page.evaluate("performance.memory.usedJSHeapSize") < 200_000_000


def test_without_its_dataset_a_version_has_effects_of_the_ends_of_the_data(service: Trained, look: Visit) -> None:
    look.open(service.address(DELETED))
    look.see_all()
    effects = look.page.locator("section.effects")
    expect(effects).to_contain_text("The dataset was deleted")
    expect(effects.locator("figure.effect")).to_have_count(3)


def test_dates_and_missing_values_have_their_place(service: Trained, look: Visit) -> None:
    look.open(service.address(DATES))
    look.see_all()
    effects = look.page.locator("section.effects")
    expect(effects.locator("figure.effect")).to_have_count(2)
    dates = effects.locator("figure.effect", has=look.page.get_by_role("heading", name="day", exact=True))
    expect(dates.locator("svg text", has_text=re.compile(r"^2025-\d\d-\d\d$")).first).to_be_visible()
    rows = table(plot(look, "Against load"))
    assert rows[-1][0] == "missing"
    assert int(rows[-1][1]) == 25


def test_one_input_shows_the_data_three_bands_and_ringed_vectors(service: Trained, look: Visit) -> None:
    look.open(service.address(CURVE))
    curve = look.page.locator(".curve")
    vectors = service.calls.relevance_vectors(CURVE, 1)
    rows = [one.row for one in vectors if one.row is not None]
    expect(curve.locator("circle.point")).to_have_count(120)
    expect(curve.locator("circle.ring")).to_have_count(len(rows))
    assert curve.locator("path.band").count() == 3
    expect(curve.locator(".note")).to_contain_text(f"{len(rows)} rows carry its functions.")
    points = curve.evaluate("""(figure) => {
        const at = (one) => `${one.getAttribute("cx")} ${one.getAttribute("cy")}`;
        const data = new Set([...figure.querySelectorAll("circle.point")].map(at));
        return [...figure.querySelectorAll("circle.ring")].filter((one) => data.has(at(one))).length;
    }""")
    assert points == len(rows)


def test_the_boundary_of_classes_has_the_rows_and_vectors(service: Trained, look: Visit) -> None:
    look.open(service.address(REGIONS))
    boundary = plot(look, "Decision boundary")
    expect(boundary.locator("circle.point")).to_have_count(200)
    assert boundary.locator("path.layer").count() == 3
    expect(boundary.locator("circle.ring").first).to_be_visible()
    expect(boundary.locator(".note")).to_contain_text(re.compile(r"outer is predicted in \d\d\s%.* of the area"))
    middle = [row for row in table(boundary) if abs(float(row[0].replace("−", "-"))) < 0.7]
    assert len(middle) >= 6
    look.open(service.address(SURFACE))
    expect(plot(look, "z over both inputs").locator("text.level").first).to_be_visible()


def test_contours_are_closed_rings_around_what_is_above_the_level(visit: Visit) -> None:
    visit.open()
    area = """((ring) => ring.reduce((sum, [x, y], at) =>
        sum + x * ring[(at + 1) % ring.length][1] - y * ring[(at + 1) % ring.length][0], 0) / 2)"""
    cone = "Array.from({ length: 1681 }, (_, at) => 15 - Math.hypot((at % 41) - 20, Math.floor(at / 41) - 20))"
    found = in_module(visit, "contours", f"m.contours({{ columns: 41, rows: 41, values: {cone} }}, 5).map({area})")
    assert isinstance(found, list)
    assert [abs(one) for one in found] == [pytest.approx(3.14159 * 100, rel=0.01)]
    whole = in_module(
        visit, "contours", f"m.contours({{ columns: 3, rows: 2, values: [1, 1, 1, 1, 1, 1] }}, 0).map({area})"
    )
    assert isinstance(whole, list)
    assert [abs(one) for one in whole] == [2]
    assert in_module(visit, "contours", "m.contours({ columns: 2, rows: 2, values: [1, 1, 1, 1] }, 2)") == []
    two = in_module(visit, "contours", "m.contours({ columns: 5, rows: 1, values: [1, 0, 0, 0, 1] }, 0.5).length")
    assert two == 2
    saddle = in_module(visit, "contours", "m.contours({ columns: 2, rows: 2, values: [1, 0, 0, 1] }, 0.5).length")
    assert saddle == 2


def test_the_labels_of_an_axis_differ(filled_visit: Visit) -> None:
    filled_visit.open("models/kiosk/versions/1")
    page = filled_visit.page
    expect(page.get_by_role("heading", name="Steps of the fit")).to_be_visible()
    names = "labelled(%s, %s).map(({ name }) => name)"
    assert in_module(
        filled_visit, "../parts/axes", f"m.{names % ('[-330.02, -330.01, -330]', '(at) => at.toFixed(0)')}"
    ) == [
        "−330.02",
        "−330.01",
        "−330.00",
    ]
    whole = "(at) => (Number.isInteger(at) ? String(at) : '')"
    assert in_module(filled_visit, "../parts/axes", f"m.{names % ('[1, 1.5, 2]', whole)}") == ["1", "", "2"]
    assert in_module(filled_visit, "../parts/axes", f"m.{names % ('[0, 0.5, 1]', 'String')}") == ["0.0", "0.5", "1.0"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("[22.57481, 97.16523, 8.12971]", ["22.57", "97.17", "8.13"]),
        ("[0.038178, 0.002381]", ["0.03818", "0.00238"]),
        ("[60.4, 88, 7]", ["60.4", "88.0", "7.0"]),
        ("[1200, 3, null]", ["1,200", "3", ""]),
        ("['2024-06-03T00:00:00Z', '2024-06-03T12:00:00Z']", ["2024-06-03", "2024-06-03T12:00:00Z"]),
    ],
    ids=["of one size", "small", "as they are", "integers", "days"],
)
def test_columns_of_numbers_have_enough_decimals_and_days_no_time(
    look: Visit, values: str, expected: list[str]
) -> None:
    look.open()
    assert in_module(look, "../format", f"{values}.map(m.columnFormat({values}))") == expected


def test_the_widths_of_an_input_are_those_of_its_columns(look: Visit) -> None:
    look.open()
    inputs = "[{ name: 'size' }, { name: 'a' }, { name: 'a=b' }, { name: 'x=1' }]"
    widths = """[{ input: 'size', width: 8 }, { input: 'size missing', width: 2 }, { input: 'a=b=c', width: 5 },
        { input: 'a=d', width: 9 }, { input: 'x=1', width: 7 }, { input: null, width: 1 }]"""
    version = f"{{ inputs: {inputs}, hyperparameters: {{ widths: {widths} }} }}"
    assert in_module(look, "../parts/encoded-columns", f"m.shortestWidths({version})") == [
        {"input": "size missing", "width": 2},
        {"input": "a=b", "width": 5},
        {"input": "x=1", "width": 7},
        {"input": "size", "width": 8},
        {"input": "a", "width": 9},
    ]


def test_the_steps_of_the_fit_are_replayed(service: Trained, look: Visit) -> None:
    page = look.page
    look.open(service.address(CURVE))
    replay = page.locator("section.replay")
    steps = service.calls.registry.diagnostics(CURVE, version=1).traces[0].kept
    slider = page.get_by_label("Step of the fit")
    expect(replay.locator(".step")).to_contain_text(f"Iteration {steps[-1].iteration}, ")
    expect(replay.locator(".entered circle.ring").nth(2)).to_be_attached()
    entered = steps[1].entered
    assert entered is not None
    final = replay.locator(".entered circle.ring").count()
    slider.focus()
    page.keyboard.press("Home")
    expect(replay.locator(".step")).to_contain_text(f"Iteration {steps[0].iteration}, ")
    expect(replay.locator(".entered circle.ring")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(replay.locator(".step")).to_contain_text(f"the function of row {entered + 1} entered")
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(replay.locator(".step")).to_contain_text(f"Iteration {steps[-1].iteration}, ")
    expect(page.get_by_role("button", name="Replay")).to_be_visible()
    expect(replay.locator(".entered circle.ring")).to_have_count(final)
    assert len(table(plot(look, "Functions in the model"))) == len(steps)


def test_an_image_is_decoded_from_as_many_functions_as_the_slider_has(service: Trained, look: Visit) -> None:
    page = look.page
    look.open(service.address(IMAGE))
    image = page.get_by_role("img", name=re.compile("^The image from"))
    size = "(image) => [image.naturalWidth, image.naturalHeight]"
    expect(image).to_have_attribute("src", re.compile("/image$"))
    page.get_by_label("Functions, those with the largest weights first").fill("3")
    expect(image).to_have_attribute("src", re.compile(r"/image\?functions=3$"))
    expect(page.get_by_role("heading", name="The image from 3 of 29 functions")).to_be_visible()
    page.wait_for_function("[...document.querySelectorAll('.image img')].every((one) => one.complete)")
    original = page.get_by_role("img", name="The original")
    assert image.evaluate(size) == original.evaluate(size) == [64, 48]
    places = [one.bounding_box() for one in (original, image)]
    assert places[0] is not None
    assert places[1] is not None
    assert places[0]["y"] == places[1]["y"]
    assert places[0]["x"] + places[0]["width"] <= places[1]["x"]


def test_an_image_whose_dataset_is_deleted_has_no_original(service: Trained, look: Visit) -> None:
    look.may_fail = True
    look.page.route("**/v1/datasets/*", lambda route: route.fulfill(status=404, json={"title": "Not found"}))
    look.open(service.address(IMAGE))
    expect(look.page.get_by_text("The dataset was deleted: the original can't be shown.")).to_be_visible()
    expect(look.page.get_by_role("img", name="The original")).to_have_count(0)


def test_functions_are_listed_page_by_page(filled_visit: Visit, filled_service: Filled) -> None:
    page = filled_visit.page
    filled_visit.open("models/kiosk/versions/1")
    rows = page.get_by_role("region", name="Functions").locator("tbody tr")
    expect(rows).to_have_count(10)
    page.get_by_role("button", name="Show more").click()
    expect(rows).not_to_have_count(10)
    assert rows.count() > 10


def test_a_slider_is_followed_at_once_and_ends_at_the_newest_value(filled_visit: Visit) -> None:
    page = filled_visit.page
    filled_visit.open("models/kiosk/versions/1")
    page.locator(".curve").wait_for()
    page.get_by_label("temperature, slider").evaluate("(slider) => (window.slider = slider)")
    times = page.evaluate("""async () => {
        const found = [];
        for (let at = 0; at < 40; at += 1) {
            const value = document.querySelector(".outcome .value");
            const before = value.textContent;
            const start = performance.now();
            slider.value = 6 + 0.7 * at;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            while (value.textContent === before) await new Promise(requestAnimationFrame);
            found.push(performance.now() - start);
        }
        return found;
    }""")
    assert sorted(times)[20] < MAX_SLIDER_MS, sorted(times)
    page.evaluate("""() => {
        for (let at = 0; at < 30; at += 1) {
            slider.value = 5.1 + at;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        }
    }""")
    row = {"temperature": 34.1, "weather": "sunny", "holiday": False}
    predicted = page.request.post(f"{filled_visit.url}/v1/models/kiosk/versions/1/predict", data={"rows": [row]}).json()
    expect(page.locator(".outcome .value")).to_have_text(f"{predicted['predictions'][0]['mean']:.4g}")


def test_the_verdict_compares_with_the_mean_and_counts_intervals(filled_visit: Visit) -> None:
    filled_visit.open("models/kiosk/versions/1")
    metrics = filled_visit.page.request.get(f"{filled_visit.url}/v1/models/kiosk/versions/1").json()["metrics"]
    found = metrics["validation"]
    off = found["rmse"] / (1 - found["r2"]) ** 0.5
    held = round(found["coverage_95"] * found["rows"])
    verdict = filled_visit.page.locator(".verdict")
    expect(verdict).to_contain_text(f"typical error of {found['rmse']:.4g} (by cross-validation)")
    expect(verdict).to_contain_text(f"always predicting the mean of litres would be off by {off:.4g}.")
    expect(verdict).to_contain_text(f"contained {held} of {found['rows']:.0f} rows")
