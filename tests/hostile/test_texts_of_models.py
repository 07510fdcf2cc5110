"""Texts of all kinds in the registry and in versions, on both databases: they stay as they are, or are refused."""

import ast
import csv
import io
import json
import re
from datetime import UTC, datetime
from random import Random
from typing import TypeAlias
from urllib.parse import quote

import httpx2
import pytest

from app.exports.formats import RENDERINGS
from app.formats import WRITABLE_FORMATS
from relevance_bayes.documents.reports import ExportedSupervised
from tests.hostile.client import fault
from tests.hostile.conftest import Clients
from tests.hostile.forging import Document
from tests.hostile.texts import TEXTS, is_name, is_storable
from tests.properties import repetitions
from tests.served import add_version
from tests.small_models import version_of_three_classes
from tests.table_files import MEDIA_TYPES, table_of

Patch: TypeAlias = dict[str, str | dict[str, str]]

PATH = "/v1/models/annotated"
SHORT = [text for text in TEXTS if len(text) <= 2_000]
SOME = Random(2).sample(SHORT, repetitions(50, long=120))
DESCRIPTIONS = Random(4).sample(TEXTS, repetitions(30, long=80)) + [text for text in TEXTS if len(text) > 198]
LABELS = [text for text in TEXTS if is_storable(text) and len(text) <= 200]
NAMES = [text for text in TEXTS if is_name(text)]
SETS = repetitions(15, long=40)
"""Of a column's name, the target's name, two categories and three classes."""

ALIAS = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,62}")
TAG = re.compile(r"[A-Za-z][A-Za-z0-9._/-]{0,62}")
MODEL = re.compile(r"[a-z][a-z0-9._-]{0,62}")


@pytest.fixture(scope="module")
def annotated(clients: Clients) -> Clients:
    """Return the services with a model to annotate."""
    for client in clients.values():
        add_version(client, "annotated", version_of_three_classes())
    return clients


@pytest.mark.parametrize("path", [PATH, f"{PATH}/versions/1"])
def test_descriptions_and_tags_read_back_as_they_were(annotated: Clients, path: str) -> None:
    for database, client in annotated.items():
        for text in DESCRIPTIONS:
            is_description, is_value = ("\0" not in text and len(text) <= longest for longest in (2_000, 200))
            patches: list[tuple[Patch, bool]] = [
                ({"description": text}, is_description),
                ({"tags": {"a": text}}, is_value),
                ({"tags": {text: "a"}}, TAG.fullmatch(text) is not None),
            ]
            for patch, is_fit in patches:
                response = client.patch(path, json=patch)
                shown = (database, ascii(patch)[:200], response.text[:200])
                assert (response.status_code, fault(response)) == (200 if is_fit else 422, ""), shown
                if is_fit:
                    assert response.json() == client.get(path).json()
                    found = response.json()
                    stored = {"description": found["description"], "tags": found["tags"]}
                    assert {**stored, **patch, "tags": stored["tags"]} == stored, shown
                    tags = patch.get("tags", {})
                    assert isinstance(tags, dict)
                    assert found["tags"].items() >= tags.items(), shown
            client.patch(path, json={"tags": None})


def test_models_are_found_by_tags_of_any_value(annotated: Clients) -> None:
    for database, client in annotated.items():
        for text in SOME:
            if "\0" in text or len(text) > 200:
                continue
            assert client.patch(PATH, json={"tags": {"a": text}}).status_code == 200
            found = client.get(f"/v1/models?tag={quote(f'a:{text}', safe='')}")
            assert (found.status_code, [one["name"] for one in found.json()["items"]]) == (200, ["annotated"]), (
                database,
                ascii(text),
            )


def test_paths_take_names_and_nothing_else(annotated: Clients) -> None:
    for database, client in annotated.items():
        version = client.get(f"{PATH}/versions/1/export").content
        for text in SOME:
            segment, shown = quote(text, safe=""), (database, ascii(text))
            if text in {".", ".."}:  # clients resolve these before they send them
                continue
            moved = client.put(f"{PATH}/aliases/{segment}", json={"version": 1, "reason": "a"})
            expected = {201} if ALIAS.fullmatch(text) else {404, 405, 422}
            assert not fault(moved), shown
            assert moved.status_code in expected, (*shown, moved.text[:200])
            headers = {"Content-Type": "application/json"}
            made = client.post(f"/v1/models/{segment}/versions", content=version, headers=headers)
            assert not fault(made), shown
            assert made.status_code in ({201} if MODEL.fullmatch(text) else {404, 405, 422}), (*shown, made.text[:200])
            for path in (f"/v1/models/{segment}", f"{PATH}/aliases/{segment}", f"{PATH}/versions/{segment}"):
                assert not fault(client.get(path)), (path, *shown)
            client.delete(f"{PATH}/aliases/{segment}")


def test_reasons_of_aliases_and_descriptions_of_webhooks_read_back(annotated: Clients) -> None:
    for database, client in annotated.items():
        for number, text in enumerate(SOME):
            is_fit = "\0" not in text and len(text) <= 500
            moved = client.put(f"{PATH}/aliases/live", json={"version": 1, "reason": text})
            assert not fault(moved), (database, ascii(text))
            assert (moved.status_code < 300) == is_fit, (database, ascii(text), moved.text[:200])
            if is_fit:
                assert moved.json()["reason"] == text
                assert client.get(f"{PATH}/aliases/live").json()["reason"] == text
                assert client.get(f"{PATH}/aliases/live/history").json()["items"][0]["reason"] == text
            if number % 5:
                continue
            hook = {"url": "https://example.org/", "description": text}
            made = client.post("/v1/webhooks", json=hook)
            assert not fault(made), (database, ascii(text))
            if made.status_code == 201:
                path = f"/v1/webhooks/{made.json()['id']}"
                assert client.get(path).json()["description"] == text
                assert client.delete(path).status_code == 204


def exported(column: str, target: str, labels: list[str], name: str) -> bytes:
    """Return a version of three classes whose column, target, categories and classes are called so."""
    gas, liquid, solid, *categories = labels
    made = version_of_three_classes(name=name, classes=(gas, liquid, solid))
    origin = ExportedSupervised(name, 1, datetime(2024, 5, 1, tzinfo=UTC), made.report, made.predictor)
    document: Document = json.loads(RENDERINGS["json"].render(origin))
    match document:
        case {"inputs": [_, dict(colour)], "target": dict(answer)}:
            colour |= {"name": column, "categories": [*categories]}
            answer["name"] = target
    return json.dumps(document).encode()


def drawn_sets() -> list[tuple[str, str, list[str]]]:
    """Return sets of names and labels, every one different from the others of its set and from `x`."""
    random = Random(3)
    found = []
    for _ in range(SETS):
        column, target = random.sample([name for name in NAMES if name != "x"], 2)
        labels = random.sample(LABELS, 5)
        found.append((column, target, sorted(labels[:3]) + labels[3:]))
    return found


def predicted_labels(client: httpx2.Client, path: str, body: object) -> dict[str, str]:
    """Return the label that a row's prediction has, by the format of the response."""
    found: dict[str, str] = {}
    for form in (one.name for one in WRITABLE_FORMATS if one.has_texts):
        response = client.post(f"{path}/predict", json=body, headers={"Accept": MEDIA_TYPES[form]})
        assert response.status_code == 200, (form, response.text[:300])
        match form:
            case "json":
                found[form] = response.json()["predictions"][0]["label"]
            case "ndjson":
                found[form] = json.loads(response.content.split(b"\n")[0])["label"]
            case "csv":
                text = io.StringIO(response.content.decode(), newline="")
                found[form] = next(csv.DictReader(text))["label"]
            case _:
                found[form] = table_of(form, response.content)["label"][0].as_py()
    return found


def structure(program: str) -> list[str]:
    """Return the kinds of all nodes of a program but its constants."""
    return [type(node).__name__ for node in ast.walk(ast.parse(program)) if not isinstance(node, ast.Constant)]


def test_labels_and_columns_of_any_name_are_predicted_and_exported(annotated: Clients) -> None:
    for database, client in annotated.items():
        plain = client.get(f"{PATH}/versions/1/export?format=python").text
        for number, (column, target, labels) in enumerate(drawn_sets()):
            name, shown = f"labels-{number}", (database, ascii((column, target, labels))[:600])
            path = f"/v1/models/{name}/versions"
            content = exported(column, target, labels, name)
            response = client.post(path, content=content, headers={"Content-Type": "application/json"})
            assert response.status_code == 201, (*shown, response.text[:300])
            path = f"{path}/1"
            document = client.get(f"{path}/export").json()
            assert document["inputs"][1]["name"] == column, shown
            assert document["inputs"][1]["categories"] == labels[3:], shown
            assert (document["target"]["name"], document["target"]["classes"]) == (target, labels[:3]), shown
            row = {"x": 1.0, column: labels[3]}
            found = predicted_labels(client, path, {"rows": [row]})
            assert len({*found.values()}) == 1, (*shown, ascii(found))
            assert found["json"] in labels[:3], shown
            files = {form: client.get(f"{path}/export?format={form}") for form in ("npz", "onnx", "python")}
            assert not [*filter(None, map(fault, files.values()))], shown
            assert (files["npz"].status_code, files["python"].status_code) == (200, 200), shown
            assert structure(files["python"].text) == structure(plain), shown


def test_trainings_are_requested_by_any_name(annotated: Clients) -> None:
    for database, client in annotated.items():
        columns = {name: [float((row + place) % 5) for row in range(5)] for place, name in enumerate(NAMES[:100])}
        dataset = client.post("/v1/datasets", json={"columns": columns}).json()["id"]
        for text in SOME:
            shown = (database, ascii(text))
            request = {"dataset_id": dataset, "target": text, "inputs": NAMES[:3], "model": "asked"}
            response = client.post("/v1/training-jobs", json=request)
            assert not fault(response), shown
            if response.status_code >= 300:
                assert response.status_code == 422, shown
                assert text not in NAMES[3:100], (*shown, response.text[:300])
                continue
            assert text in NAMES[3:100], shown
            job = client.get(f"/v1/training-jobs/{response.json()['id']}").json()
            assert (job["target"], [column["name"] for column in job["inputs"]]) == (text, NAMES[:3]), shown
            assert client.post(f"/v1/training-jobs/{job['id']}/cancel").status_code < 300
