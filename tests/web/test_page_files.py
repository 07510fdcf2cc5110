"""The files of the page: what they import, what they are allowed to do, and where the foreign ones come from."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from app.web.static_files import FOLDER, MEDIA_TYPES, page
from tests.browser.vendor import LICENCES, MANIFEST, PACKAGES
from tests.packaging.wheels import ROOT

VENDOR = FOLDER / "vendor"
OWN = sorted(path for path in FOLDER.rglob("*.js") if path.parent != VENDOR)
SINKS = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "dangerouslySetInnerHTML",
    "document.write",
    "eval(",
    "Function(",
)
TYPES = ".d.ts"
"""Declarations for the type checker, which are not served."""

MAX_FIRST_LOAD = 60_000
MAX_FUNCTION_LINES = 40


def test_every_file_has_a_media_type_and_is_served() -> None:
    found = [path for path in FOLDER.rglob("*") if path.is_file() and not path.name.endswith(TYPES)]
    assert {path.relative_to(FOLDER).as_posix() for path in found} == {*page().files}
    assert {path.suffix for path in found} <= {*MEDIA_TYPES}


@pytest.mark.parametrize("path", OWN, ids=[path.relative_to(FOLDER).as_posix() for path in OWN])
def test_a_module_imports_files_of_the_page_and_turns_no_text_into_markup(path: Path) -> None:
    text = path.read_text()
    imports = re.findall(r'^import .*?"(.+)";$', text, flags=re.MULTILINE)
    assert [name for name in imports if not (path.parent / name).resolve().is_file()] == []
    assert [sink for sink in SINKS if sink in text] == []
    assert re.findall(r"https?://", text) == []


def test_the_document_has_no_inline_script_or_style_and_loads_the_page_alone() -> None:
    document = page().index("/page/1")
    assert re.findall(r"<script(?![^>]* src=)|<style| style=| on\w+=", document) == []
    links = re.findall(r'(?:src|href)="([^"]*)"', document)
    assert len(links) > 20
    assert {link.removeprefix("/page/1/") for link in links} <= {*page().files}


def test_all_that_a_first_visit_loads_is_small() -> None:
    names = {name for name in page().files if f'"/page/1/{name}"' in page().index("/page/1")}
    assert {"main.js", "page.css", "vendor/preact.js", "views/home.js"} <= names
    size = sum(len(page().files[name].compressed) for name in {"index.html", *names})
    assert 20_000 < size < MAX_FIRST_LOAD


def test_a_view_that_is_imported_when_it_is_opened_is_no_part_of_the_first_visit() -> None:
    first = {"main.js", *page().imported("main.js")}
    later = {name for name in page().files if name.endswith(".js")} - first
    dynamic = [
        (FOLDER / name).parent / path
        for name in first
        for path in re.findall(r'import\("([^"]+)"\)', (FOLDER / name).read_text())
        if not (FOLDER / name).read_text().partition(f'import("{path}")')[0].endswith("{")  # a type
    ]
    opened = {path.resolve().relative_to(FOLDER).as_posix() for path in dynamic} - first
    assert "views/version.js" in opened
    assert later == opened.union(*(page().imported(name) for name in opened)) - first


def test_files_of_others_are_those_of_the_manifest_with_their_licences() -> None:
    manifest = json.loads((VENDOR / MANIFEST).read_text())
    assert {*manifest, MANIFEST, LICENCES} == {path.name for path in VENDOR.iterdir() if not path.name.endswith(TYPES)}
    for name, source in manifest.items():
        assert sha256((VENDOR / name).read_bytes()).hexdigest() == source["sha256"], name
    listed = {(one.name, one.version, one.licence) for one in PACKAGES}
    assert {(source["package"], source["version"], source["licence"]) for source in manifest.values()} == listed
    notices = (VENDOR / LICENCES).read_text()
    for one in PACKAGES:
        assert f"{one.name} {one.version} ({one.licence})" in notices
    assert "Permission is hereby granted" in notices
    assert "Apache License" in notices


def test_the_manifest_names_no_host() -> None:
    assert "://" not in (VENDOR / MANIFEST).read_text()


def test_the_example_is_the_table_of_the_readme() -> None:
    assert (FOLDER / "example" / "kiosk.csv").read_bytes() == (ROOT / "examples" / "tour" / "kiosk.csv").read_bytes()


def test_functions_of_the_page_are_short() -> None:
    lengths = {
        f"{path.name}: {name}": body.count("\n")
        for path in OWN
        for name, body in re.findall(
            r"^(?:export )?(?:async )?function (\w+)(.*?)^}", path.read_text(), re.MULTILINE | re.DOTALL
        )
    }
    assert len(lengths) > 60
    assert {name: length for name, length in lengths.items() if length > MAX_FUNCTION_LINES} == {}


def test_the_example_is_the_table_of_the_tour() -> None:
    tour = ROOT / "examples" / "tour" / "kiosk.csv"
    assert (FOLDER / "example" / "kiosk.csv").read_bytes() == tour.read_bytes()
