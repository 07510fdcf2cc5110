"""From an empty database to predictions, by clicks; with a key, and with the keyboard alone."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from relevance_bayes.client import Client, connect
from tests.browser.conftest import url_of
from tests.browser.data import KIOSK, LATER
from tests.browser.visits import Visit, visiting
from tests.end_to_end.deployment import Api, Deployment
from tests.keys import add_key

KEY = "a-key-of-the-tests"


@pytest.fixture(scope="module", autouse=True)
def worker(deployment: Deployment) -> None:
    deployment.start("worker")


def choose_file(visit: Visit, path: Path) -> None:
    visit.page.locator("input[type=file]").set_input_files(path)


def wait_for_the_version(visit: Visit) -> None:
    visit.page.get_by_role("link", name=re.compile(r"Look at version \d+")).click(timeout=60_000)
    visit.page.locator(".curve").wait_for()
    visit.settled()


def promote_and_predict(visit: Visit, service: Client, model: str) -> None:
    """From a second version on by clicks: alias, promotion with its figures, batch prediction, download."""
    page = visit.page
    page.get_by_role("link", name="Datasets", exact=True).click()
    choose_file(visit, LATER)
    expect(page.locator("h1")).to_have_text("kiosk-later")
    later = page.url.rpartition("/")[2]

    page.get_by_role("link", name="Models", exact=True).click()
    page.get_by_role("link", name=model, exact=True).click()
    page.get_by_role("link", name="Version 1", exact=True).click()
    page.get_by_role("link", name="Set an alias").click()
    page.get_by_label("Alias", exact=True).fill("champion")
    expect(page.get_by_label("Version", exact=True)).to_have_value("1")
    page.get_by_label("Reason", exact=True).fill("The first.")
    page.get_by_role("button", name="Set", exact=True).click()
    expect(page.get_by_role("region", name="Aliases").get_by_role("row", name="champion")).to_contain_text("The first.")

    page.get_by_role("link", name="Version 2", exact=True).click()
    page.get_by_role("link", name="Promote").click()
    expect(page.get_by_text("Points to version 1 now.")).to_be_visible()
    page.get_by_label("Dataset", exact=True).select_option(label="kiosk-later, 60 rows")
    page.get_by_role("button", name="Compare, and move the alias if it is better").click()
    expect(page.locator("h1")).to_have_text(f"Promotion of {model}")
    expect(page.locator("main .state")).to_have_text("succeeded", timeout=60_000)
    result = service.promotions.get(page.url.rpartition("/")[2]).result
    assert result is not None
    assert result.improvement is not None
    assert result.improvement.rows == 60
    expect(page.get_by_text(result.reason)).to_be_visible()
    outcome = "points to version 2 now." if result.moved else "was not moved."
    expect(page.locator(".verdict")).to_have_text(f"The alias champion {outcome}")
    lower, upper = (f"{end:.4g}".replace("-", "−") for end in (result.improvement.lower, result.improvement.upper))
    expect(page.locator(".interval figcaption")).to_contain_text(f"between {lower} and {upper} with 95 % confidence")

    page.get_by_role("link", name=f"{model}, version 2").click()
    page.get_by_role("link", name="Predict a dataset").click()
    page.get_by_label("Dataset", exact=True).select_option(later)
    page.get_by_text("Options: the format").click()
    page.get_by_role("checkbox", name="litres").check()
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.locator("h1")).to_have_text(f"Batch prediction of {model}")
    with page.expect_download(timeout=60_000) as downloading:
        page.get_by_role("link", name=re.compile("Download .* of CSV")).click(timeout=60_000)
    downloaded = downloading.value.path().read_text()
    assert downloading.value.suggested_filename.endswith(".csv")
    assert downloaded.splitlines()[0].startswith('"litres","mean"')
    assert downloaded.count("\n") == 61
    expect(page.get_by_role("region", name="First rows").locator("tbody tr")).to_have_count(20)
    first = downloaded.splitlines()[1].partition(",")[0]
    expect(page.get_by_role("region", name="First rows").locator("tbody td").first).to_have_text(f"{float(first):.1f}")


def test_a_table_is_uploaded_trained_and_predicted(visit: Visit, api: Api) -> None:
    page = visit.page
    visit.open()
    expect(page.get_by_role("heading", name="Predict a column of your table, with error bars")).to_be_visible()
    choose_file(visit, KIOSK)
    expect(page.locator("h1")).to_have_text("kiosk")
    expect(page.locator("text=150 rows, 4 columns")).to_be_visible()
    expect(page.locator(".data tbody tr")).to_have_count(20)

    page.get_by_label("Kind of holiday").select_option("category")
    page.get_by_role("button", name="Store with 1 other kind").click()
    expect(page.get_by_label("Kind of holiday")).to_have_value("category")
    expect(page.get_by_role("row", name=re.compile("holiday.*false"))).to_be_visible()
    (dataset,) = api.calls.datasets()
    assert [column.kind for column in dataset.columns] == ["number", "category", "category", "number"]

    page.get_by_role("link", name="Train a model").click()
    button = page.get_by_role("button", name="Train", exact=True)
    expect(button).to_be_disabled()
    page.get_by_label("Column to predict").select_option("litres")
    expect(page.locator("#target-help")).to_contain_text("A quantity")
    page.get_by_text("Options: by default").click()
    page.get_by_label("Effort").select_option("quick")
    page.get_by_label("Holdout").fill("0.2")
    page.get_by_label("Prior", exact=True).select_option("gaussian_process")
    page.get_by_role("checkbox", name="holiday").uncheck()
    button.click()

    expect(page.locator("h1")).to_have_text("Training of kiosk")
    expect(page.get_by_text("`", exact=True)).to_have_count(0)
    wait_for_the_version(visit)
    assert visit.title() == "kiosk, version 1"
    expect(page.locator(".verdict")).to_contain_text("Predicts litres with a typical error of")
    version = api.calls.version("kiosk", 1)
    assert [one.name for one in version.inputs] == ["temperature", "weather"]
    assert version.holdout == 0.2
    assert version.prior["type"] == "gaussian_process"

    page.get_by_label("temperature", exact=True).fill("29")
    page.get_by_label("temperature", exact=True).blur()
    page.get_by_label("weather", exact=True).select_option("rain")
    predicted = api.calls.predict("kiosk", {"columns": {"temperature": [29], "weather": ["rain"]}}).predictions[0]
    expect(page.locator(".outcome .value")).to_have_text(f"{predicted.mean:.4g}")
    shared = page.url
    page.goto("about:blank")
    page.goto(shared)
    expect(page.locator(".outcome .value")).to_have_text(f"{predicted.mean:.4g}")

    page.get_by_role("link", name="Home").click()
    expect(page.get_by_role("row", name=re.compile("Training kiosk succeeded"))).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("kiosk litres RMSE"))).to_be_visible()

    page.goto(f"{visit.url}/#/train/{dataset.id}?target=litres")
    page.get_by_text("Options: by default").click()
    page.get_by_label("Effort").select_option("quick")
    page.get_by_role("checkbox", name="holiday").uncheck()
    button.click()
    wait_for_the_version(visit)
    assert visit.title() == "kiosk, version 2"
    promote_and_predict(visit, api.calls, "kiosk")


def test_the_keyboard_alone_is_enough(visit: Visit, api: Api) -> None:
    api.calls.upload(KIOSK, name="typed")
    visit.open("datasets")
    page = visit.page

    visit.focus("Skip to the content")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    visit.focus("typed")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("typed")
    assert page.evaluate("document.activeElement.id") == "main"
    visit.focus("Train a model")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Train a model")
    visit.focus("Column to predict")
    page.keyboard.type("litres")
    visit.focus("Train")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Training of typed")
    page.get_by_role("link", name="Look at version 1").wait_for(timeout=60_000)
    visit.focus("Look at version 1")
    page.keyboard.press("Enter")
    expect(page.locator(".verdict")).to_be_visible()
    visit.focus("temperature, slider")
    before = page.locator(".outcome .value").inner_text()
    page.keyboard.press("PageUp")
    expect(page.locator(".outcome .value")).not_to_have_text(before)


def test_with_keys_the_page_logs_in_and_out(browser: Browser, deployment: Deployment, tmp_path: Path) -> None:
    table = tmp_path / "guarded.csv"
    shutil.copyfile(KIOSK, table)
    add_key(deployment.database_url, KEY)
    guarded = deployment.api()
    service = connect(url_of(guarded), api_key=KEY)
    with visiting(browser, url_of(guarded)) as visit:
        page = visit.page
        page.goto(f"{visit.url}/#/datasets")
        page.get_by_label("API key").fill("another-key-than-the-one")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_contain_text("This key is not valid")
        page.get_by_label("API key").fill(KEY)
        page.get_by_role("button", name="Log in").click()
        expect(page.locator("h1")).to_have_text("Datasets")
        assert KEY not in page.content()
        assert page.evaluate("document.cookie") == ""

        page.get_by_text("As curl, as Python").click()
        expect(page.locator("pre").first).to_contain_text('-H "Authorization: Bearer $RELEVANCE_API_KEY"')
        choose_file(visit, table)
        page.get_by_role("link", name="Train a model").click()
        page.get_by_label("Column to predict").select_option("litres")
        page.get_by_role("button", name="Train", exact=True).click()
        expect(page.locator("h1")).to_have_text("Training of guarded")
        wait_for_the_version(visit)
        expect(page.locator(".outcome .value")).to_be_visible()
        page.get_by_role("link", name="Trained").click()
        first = page.url
        page.get_by_role("button", name="Run again").click()
        expect(page).not_to_have_url(first)  # whose version would be looked at
        wait_for_the_version(visit)
        assert visit.title() == "guarded, version 2"
        promote_and_predict(visit, service, "guarded")
        service.http.close()

        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("API key")).to_be_visible()
        assert [cookie["name"] for cookie in visit.context.cookies()] == []
        visit.page.reload()
        expect(page.get_by_label("API key")).to_be_visible()
