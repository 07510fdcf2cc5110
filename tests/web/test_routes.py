"""The page as the service serves it."""

import gzip

import pytest
from starlette.testclient import TestClient

from app import __version__
from app.web.static_files import page
from tests.problems import assert_problem

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


def path_of(name: str) -> str:
    return f"/page/{page().digest}/{name}"


def test_a_browser_gets_the_page(client: TestClient) -> None:
    response = client.get("/", headers={"Accept": BROWSER})
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert f'<script type="module" src="{path_of("main.js")}">' in response.text
    assert response.headers["Vary"] == "Accept, Accept-Encoding"
    assert response.headers["Content-Encoding"] == "gzip"
    plain = client.get("/", headers={"Accept": BROWSER, "Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert plain.text == response.text
    assert response.headers["Cache-Control"] == "no-cache"


def test_the_page_may_load_its_own_files_alone(client: TestClient) -> None:
    policies = client.get("/", headers={"Accept": BROWSER}).headers.get_list("Content-Security-Policy")
    assert len(policies) == 1
    directives = dict(one.strip().split(" ", 1) for one in policies[0].split(";"))
    assert {directives.pop(name) for name in ("script-src", "style-src", "connect-src", "img-src")} == {"'self'"}
    assert directives.pop("require-trusted-types-for") == "'script'"
    assert {*directives.values()} == {"'none'"}
    assert {*directives} == {"default-src", "base-uri", "form-action", "frame-ancestors", "trusted-types"}


@pytest.mark.parametrize(
    "accept", [None, "*/*", "application/json", "application/json, text/html", "text/html;q=0.5, */*"]
)
def test_a_program_gets_links_as_json(client: TestClient, accept: str | None) -> None:
    response = client.get("/", headers={} if accept is None else {"Accept": accept})
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers.get_list("Content-Security-Policy") == ["default-src 'none'; frame-ancestors 'none'"]
    found = response.json()
    assert (found["name"], found["version"]) == ("relevance", __version__)
    for name, path in found["links"].items():
        if name != "guide":  # where it was built
            assert client.get(path).status_code == 200, path


def test_links_are_below_the_path_at_which_the_service_is_mounted(client: TestClient) -> None:
    mounted = TestClient(client.app, root_path="/below", base_url="http://localhost")
    assert mounted.get("/below/").json()["links"]["models"] == "/below/v1/models"
    assert f'"/below{path_of("main.js")}"' in mounted.get("/below/", headers={"Accept": BROWSER}).text


def test_another_type_is_406(client: TestClient) -> None:
    expected = "Expected application/json or text/html in the Accept header, got neither."
    assert_problem(client.get("/", headers={"Accept": "image/png"}), "not-acceptable", expected)


def test_head_has_the_headers_of_get(client: TestClient) -> None:
    response = client.head("/", headers={"Accept": BROWSER})
    assert (response.status_code, response.text) == (200, "")
    assert "require-trusted-types-for" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("main.js", "text/javascript"),
        ("views/home.js", "text/javascript"),
        ("page.css", "text/css"),
        ("icon.svg", "image/svg+xml"),
    ],
)
def test_a_file_is_compressed_and_kept_by_caches(client: TestClient, name: str, media_type: str) -> None:
    response = client.get(path_of(name))
    assert response.headers["Content-Type"].startswith(media_type)
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response.headers["Vary"] == "Accept-Encoding"
    assert int(response.headers["Content-Length"]) == len(page().files[name].compressed)
    assert response.content == page().files[name].content
    assert gzip.decompress(page().files[name].compressed) == response.content


def test_a_client_without_gzip_gets_the_file_as_it_is(client: TestClient) -> None:
    for encoding in ("identity", "gzip;q=0", "br"):
        response = client.get(path_of("main.js"), headers={"Accept-Encoding": encoding})
        assert "Content-Encoding" not in response.headers
        assert response.content == page().files["main.js"].content


def test_each_encoding_has_a_tag_of_its_own(client: TestClient) -> None:
    compressed = client.get(path_of("main.js")).headers["ETag"]
    plain = client.get(path_of("main.js"), headers={"Accept-Encoding": "identity"}).headers["ETag"]
    assert compressed != plain
    again = client.get(path_of("main.js"), headers={"If-None-Match": compressed})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(path_of("main.js"), headers={"If-None-Match": plain}).status_code == 200


def test_a_file_requested_by_the_page_of_another_release_is_kept_by_no_cache(client: TestClient) -> None:
    response = client.get("/page/0123456789abcdef/main.js")
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", ["no.js", "", "../routes.py", "%2e%2e/routes.py", "index.html/", "views"])
def test_what_is_no_file_of_the_page_is_404(client: TestClient, name: str) -> None:
    response = client.get(path_of(name))
    assert response.status_code == 404


def test_neither_the_page_nor_its_files_need_a_key(client_with_keys: TestClient) -> None:
    assert client_with_keys.get("/v1/models").status_code == 401
    assert client_with_keys.get("/", headers={"Accept": BROWSER}).status_code == 200
    assert client_with_keys.get(path_of("main.js")).status_code == 200
