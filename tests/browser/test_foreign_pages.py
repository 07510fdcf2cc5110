"""A foreign page in a real browser neither reads nor changes a service without keys, by whatever name it reaches it."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page, Response

from tests.browser.conftest import url_of
from tests.end_to_end.deployment import Api

FOREIGN = "attacker.example"

PAGE = b"""<!doctype html><title>foreign</title>
<form method="post" enctype="text/plain"><input name="x,y&#10;1,2&#10;3" value="4"></form>
<a>open</a>"""

REQUEST = """async ([url, options]) => {
  try { const response = await fetch(url, options); return `${response.status} ${await response.text()}`; }
  catch (error) { return `no response`; }
}"""


class Foreign(BaseHTTPRequestHandler):
    """A site that is not the service's: one page at every path."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  # its name in the base class
        pass


@contextmanager
def foreign_site() -> Iterator[int]:
    """The port of the site."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Foreign) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a context of its own."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def foreign_page(page: Page) -> Iterator[Page]:
    """A page of the foreign site, in a window of its own."""
    with foreign_site() as port:
        page.goto(f"http://{FOREIGN}:{port}/")
        yield page


def datasets(api: Api) -> list[str]:
    return [str(one["name"]) for one in api.http.get("/v1/datasets").json()["items"]]


def submit(page: Page, url: str) -> Response:
    """The response to the form of the page, which it sends to a URL."""
    with page.expect_response(lambda response: response.url == url) as submitted:
        page.evaluate("url => { document.forms[0].action = url; document.forms[0].submit(); }", url)
    return submitted.value


def test_a_page_whose_name_is_rebound_to_the_service_reads_and_creates_nothing(page: Page, api: Api) -> None:
    rebound = url_of(api).replace("127.0.0.1", FOREIGN)
    # The document comes from the foreign site, before its name has the address of the service; all else does not.
    page.route(f"{rebound}/", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    page.goto(f"{rebound}/")
    assert page.title() == "foreign"
    submitted = submit(page, f"{rebound}/v1/datasets?name=rebound.csv")
    assert (submitted.status, submitted.json()["type"]) == (421, "/problems/misdirected-request")
    read = page.goto(f"{rebound}/v1/datasets")
    assert read is not None
    assert read.status == 421
    assert "RELEVANCE_ALLOWED_HOSTS" in read.json()["detail"]
    assert "rebound.csv" not in datasets(api)


def test_a_form_and_a_request_of_a_foreign_page_create_nothing(foreign_page: Page, api: Api) -> None:
    url = f"{url_of(api)}/v1/datasets?name=forged.csv"
    simple = {"method": "POST", "mode": "no-cors", "body": "x,y\\n1,2\\n", "headers": {"Content-Type": "text/plain"}}
    foreign_page.evaluate(REQUEST, [url, simple])
    assert submit(foreign_page, url).status == 403
    assert datasets(api) == []


def test_a_foreign_page_reads_nothing_and_may_link_to_the_page(foreign_page: Page, api: Api) -> None:
    assert foreign_page.evaluate(REQUEST, [f"{url_of(api)}/v1/datasets", {}]) == "no response"
    foreign_page.evaluate("url => { document.querySelector('a').href = url; }", f"{url_of(api)}/")
    with foreign_page.expect_navigation() as opened:
        foreign_page.get_by_text("open").click()
    assert opened.value.status == 200
    assert foreign_page.title() != "foreign"
