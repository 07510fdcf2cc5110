"""The documentation as the service serves it."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.http import documentation_pages as guide
from tests.problems import assert_problem

PAGE = "<html><script>var theme = 1;</script><form></form></html>"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "guide"
    (folder / "how-to").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "how-to" / "deploy.html").write_text(PAGE)
    (folder / "searchtools.js").write_text("var search = 1;")
    (tmp_path / "secret.txt").write_text("not of the site")
    monkeypatch.setattr(guide, "PLACES", (tmp_path / "nowhere", folder))
    return folder


def test_the_guide_opens_at_its_first_page(client: TestClient, site: Path) -> None:
    response = client.get("/guide")
    assert (str(response.url.path), response.text) == ("/guide/", PAGE)
    assert client.get("/guide/how-to/deploy.html").text == PAGE


def test_a_page_runs_its_own_scripts_alone(client: TestClient, site: Path) -> None:
    response = client.get("/guide/")
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self' 'sha256-" in policy
    assert "default-src 'none'" in policy
    assert "form-action 'self'" in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    script = client.get("/guide/searchtools.js")
    assert script.headers["Content-Type"].startswith("text/javascript")


@pytest.mark.parametrize("name", ["no.html", "how-to", "../secret.txt", "%2e%2e/secret.txt", "/etc/passwd"])
def test_what_is_no_file_of_the_site_is_not_there(client: TestClient, site: Path, name: str) -> None:
    response = client.get(f"/guide/{name}")
    assert response.status_code == 404
    assert "not of the site" not in response.text


def test_without_a_site_the_response_states_how_to_build_it(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide, "PLACES", ())
    missing = "The guide is not installed here: `make docs` builds it from a checkout."
    assert_problem(client.get("/guide/"), "not-found", missing)
