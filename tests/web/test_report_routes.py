"""Reports of versions: what is in the file, and how it is sent."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from app import __version__
from app.identity import BUILT_IN_OWNER as OWNER
from app.main import make_application
from app.web.report import MAX_DATA_BYTES, bounded_version, embedded_json
from relevance_bayes.records.reports import ClassRows, InputWidth
from relevance_bayes.records.values import IgnoredColumn, InputColumn, Json
from relevance_bayes.tasks.supervised.report import SupervisedReport
from tests.applications import LIMITS, SmallParts
from tests.browser.data import MARKUP
from tests.doubles.authenticator import OneKey
from tests.problems import TITLES
from tests.small_approximation import version_of_a_term
from tests.small_components import version_of_components
from tests.small_image import version_of_an_image
from tests.small_models import small_version, version_of_three_classes
from tests.web.trained import trained

NAMESPACES = {f"http://www.w3.org/{name}" for name in ("2000/svg", "1998/Math/MathML", "1999/xhtml")}
PATH = "/v1/models/numbers/versions/1/report"


@pytest.fixture
def client(parts: SmallParts) -> Iterator[TestClient]:
    numbers = trained(small_version(name="numbers"))
    report = replace(numbers.report, metrics={"validation": {"rmse": 1.25, "rows": 20.0}, "holdout": {"mae": 0.5}})
    parts.stored.put_version(OWNER, replace(numbers, report=report), number=1)
    parts.stored.put_version(OWNER, trained(version_of_three_classes(name="three")), number=1)
    for made in (version_of_components(), version_of_a_term(), version_of_an_image()):
        parts.stored.put_version(OWNER, made, number=1)
    with TestClient(
        make_application(parts, LIMITS), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


def report(client: TestClient, model: str = "numbers") -> str:
    response = client.get(f"/v1/models/{model}/versions/1/report")
    assert response.status_code == 200, response.text
    return response.text


def refused(response: Response, slug: str) -> None:
    assert (response.json()["type"], response.status_code) == (f"/problems/{slug}", TITLES[slug][0])
    assert response.headers.get_list("Content-Security-Policy") == ["default-src 'none'; frame-ancestors 'none'"]


def embedded(document: str) -> dict[str, Json]:
    (found,) = re.findall(r'<script type="application/json" id="embedded">(.*?)</script>', document, re.DOTALL)
    data = json.loads(found)
    assert isinstance(data, dict)
    return data


def test_the_file_has_the_responses_of_the_api(client: TestClient) -> None:
    data = embedded(report(client))
    assert (data["model"], data["version"], data["service"]) == ("numbers", 1, __version__)
    path = "v1/models/numbers/versions/1"
    vectors = f"{path}/relevance-vectors?sort=weight&limit=10"
    responses = data["responses"]
    assert isinstance(responses, dict)
    assert {*responses} == {path, vectors, f"{path}/baseline"}
    for each, found in responses.items():
        expected = client.get(f"/{each}").json()
        if each == path:
            expected["inputs"] = [{"name": one["name"], "kind": one["kind"]} for one in expected["inputs"]]
        assert found == expected, each
    slices = data["slices"]
    assert isinstance(slices, list)
    assert {str(one["input"]) for one in slices if isinstance(one, dict)} == {"x", "colour"}


def test_the_policy_permits_the_script_and_the_style_of_the_file_alone(client: TestClient) -> None:
    response = client.get(PATH)
    document = response.text
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', document)
    directives = dict(one.strip().split(" ", 1) for one in policy.split(";"))
    (script,), (style,) = (re.findall(f"<{tag}>(.*?)</{tag}>", document, re.DOTALL) for tag in ("script", "style"))
    for name, content in (("script-src", script), ("style-src", style)):
        assert directives.pop(name) == f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
    assert (directives.pop("img-src"), directives.pop("require-trusted-types-for")) == ("data:", "'script'")
    assert {*directives.values()} == {"'none'"}
    assert {*directives} == {"default-src", "base-uri", "form-action", "trusted-types"}
    assert document.index("Content-Security-Policy") < document.index("<style>") < document.index("<script>")
    sent = response.headers.get_list("Content-Security-Policy")
    assert sent == [f"{policy}; frame-ancestors 'none'; sandbox allow-scripts"]


def test_the_file_refers_to_no_other(client: TestClient) -> None:
    document = report(client)
    without_licences = document[: document.index('<script type="text/plain">')]
    addresses = {*re.findall(r"https?://[^\s\"']*", without_licences)}
    assert addresses <= NAMESPACES
    assert {link[:5] for link in re.findall(r'\b(?:src|href)="([^"$]*)"', without_licences)} == {"data:"}
    assert re.findall(r"@import|url\(", document[: document.index("</style>")]) == []
    assert "Permission is hereby granted" in document[len(without_licences) :]


def test_texts_end_no_element(parts: SmallParts) -> None:
    for place, text in enumerate((*MARKUP, "</script><script>alert(1)</script>", "<!--<script>", "\u2028 & \u2029")):
        made = small_version(name=f"m{place}")
        plan = replace(made.report.plan, target=text)
        parts.stored.put_version(OWNER, replace(made, report=replace(made.report, plan=plan)), number=1)
        with TestClient(make_application(parts, LIMITS), base_url="http://localhost") as client:
            document = report(client, f"m{place}")
        assert len(re.findall("</script>", document)) == 3
        assert len(re.findall("<script", document)) == 3
        assert "<!--" not in document
        assert re.findall(r"<(?:img|svg|iframe|textarea)", document.partition("<script>")[0]) == []
        responses = embedded(document)["responses"]
        assert isinstance(responses, dict)
        version = responses[f"v1/models/m{place}/versions/1"]
        assert isinstance(version, dict)
        assert version["target"] == text


@pytest.mark.parametrize("text", ["</script>", "<!--", "\u2028", "a & b", "é 漢"])
def test_embedded_json_is_json_without_characters_of_markup(text: str) -> None:
    found = embedded_json({text: [text, 1.5, None, True]})
    assert json.loads(found) == {text: [text, 1.5, None, True]}
    assert not {*found} & {*"<>&\u2028\u2029"}


def test_without_scripts_there_are_figures_as_texts(client: TestClient) -> None:
    (shown,) = re.findall("<noscript>(.*?)</noscript>", report(client), re.DOTALL)
    version = client.get("/v1/models/numbers/versions/1").json()
    assert "<h1>numbers, version 1</h1>" in shown
    assert f"<dt>Target</dt><dd>{version['target']}</dd>" in shown
    assert len(version["metrics"]) == 2
    for metrics in version["metrics"].values():
        for name, value in metrics.items():
            assert f"<tr><th>{name}</th><td>{value:.6g}</td></tr>" in shown


@pytest.mark.parametrize("task", ["three", "components", "approximation", "spot"])
def test_every_task_has_a_report(client: TestClient, task: str) -> None:
    models = {one["task"]: one["name"] for one in client.get("/v1/models").json()["items"]}
    name = models.get(task, task)
    document = report(client, name)
    assert f"<title>{name}, version 1 – Relevance</title>" in document
    assert f"v1/models/{name}/versions/1" in str(embedded(document)["responses"])


def test_a_report_has_a_strong_tag_and_a_name_and_is_the_same_by_an_alias(
    client: TestClient, parts: SmallParts
) -> None:
    parts.aliases.move(OWNER, "numbers", "champion", to=1)
    response = client.get("/v1/models/numbers/versions/champion/report")
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'inline; filename="numbers-1.html"'
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert embedded(response.text)["origin"] == {
        "aliases": ["champion"],
        "dataset": "points.csv",
        "description": None,
        "digest": client.get("/v1/models/numbers/versions/1").json()["dataset"]["digest"],
        "imported": None,
        "software": "0.1.0",
    }
    again = client.get(PATH, headers={"If-None-Match": response.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert len(again.headers.get_list("Content-Security-Policy")) == 1
    assert client.get(PATH, headers={"If-None-Match": '"other"'}).content == response.content


def test_a_report_is_compressed_where_the_client_accepts_that(client: TestClient) -> None:
    compressed, plain = (client.get(PATH, headers={"Accept-Encoding": one}) for one in ("gzip, br", "identity"))
    assert compressed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert compressed.text == plain.text
    assert 3 * int(compressed.headers["Content-Length"]) < int(plain.headers["Content-Length"]) == len(plain.content)
    assert compressed.headers["ETag"] != plain.headers["ETag"]
    for response in (compressed, plain):
        assert "Accept-Encoding" in response.headers["Vary"].split(", ")
    known = {"Accept-Encoding": "gzip", "If-None-Match": compressed.headers["ETag"]}
    again = client.get(PATH, headers=known)
    assert (again.status_code, again.content, again.headers.get("Content-Encoding")) == (304, b"", None)


def test_what_is_no_version_has_no_report(client: TestClient) -> None:
    for path in ("/v1/models/numbers/versions/2/report", "/v1/models/none/versions/1/report"):
        refused(client.get(path), "not-found")
    refused(client.get(PATH, headers={"Accept": "application/json"}), "not-acceptable")
    assert client.get(PATH, headers={"Accept": "text/*"}).status_code == 200


def test_a_report_needs_the_key(parts: SmallParts) -> None:
    application = make_application(parts, LIMITS, authenticator=OneKey("key"))
    refused(
        TestClient(application, base_url="http://localhost").get("/v1/models/small/versions/1/report"),
        "unauthenticated",
    )


def test_a_version_of_many_inputs_is_small(parts: SmallParts) -> None:
    version = parts.stored.put_version(OWNER, small_version(name="wide"), number=1)
    report, label = version.report, "a" * 100_000
    assert isinstance(report, SupervisedReport)
    categories = tuple(f"{place}" * 100 for place in range(50))
    inputs = tuple(InputColumn(f"{place:04}" * 50, "category", categories) for place in range(1_000))
    widths = tuple(InputWidth(f"{place:04}" * 50, 1_000.0 - place) for place in range(1_000))
    member = replace(report.members[0], hyperparameters=replace(report.hyperparameters, widths=widths))
    wide = replace(
        report,
        plan=replace(report.plan, inputs=inputs, ignored=tuple(IgnoredColumn(label, label) for _ in range(1_000))),
        members=(member,) * 100,
        class_rows=tuple(ClassRows(f"{place}", place) for place in range(1_000)),
    )
    alone = bounded_version(replace(version, report=replace(wide, members=(member,))))
    learned = alone["hyperparameters"]
    assert isinstance(learned, dict)
    assert isinstance(learned["widths"], list)
    shortest = [one["width"] for one in learned["widths"] if isinstance(one, dict)]
    assert shortest == [float(place) for place in range(1, 101)]
    for found in (alone, bounded_version(replace(version, report=wide))):
        assert len(embedded_json(found)) < MAX_DATA_BYTES
        assert found["class_rows"] == [{"label": f"{place}", "rows": place} for place in range(1_000)]
