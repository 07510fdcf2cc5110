import re

from app.http.openapi import PLACES
from tests.packaging.wheels import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_files_that_the_deployment_runs_by_their_path_are_copied_into_the_image() -> None:
    named = re.findall(r"/srv/relevance/([\w./]+)", (ROOT / "docker-compose.yml").read_text())
    last_stage = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    copied = {
        path.rpartition("/")[2]
        for path in re.findall(r"^COPY (?:--chmod=\d+ )?(\S+) \./$", last_stage, flags=re.MULTILINE)
    }
    assert named
    assert set(named) <= copied


def test_the_builder_is_given_all_that_the_image_is_made_of() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    sent = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copies = re.findall(r"^COPY (?:--chmod=\d+ )?(?!--)(.+) \S+$", DOCKERFILE, flags=re.MULTILINE)
    copied = {path.removeprefix("./") for copy in copies for path in copy.split()}
    assert {path for path in copied if not {path, path.split("/")[0]} & sent} == set()


def test_the_image_has_the_guide_where_the_service_looks_for_it() -> None:
    built = re.search(r"sphinx-build .* docs (\w+)", DOCKERFILE)
    assert built is not None
    copied = re.search(r"^COPY --from=guide /srv/relevance/(\w+) \./(\S+)$", DOCKERFILE, flags=re.MULTILINE)
    assert copied is not None
    assert copied[1] == built[1]
    assert ROOT / copied[2] == PLACES[0]


def test_the_guide_is_built_by_the_versions_that_the_checkout_has() -> None:
    pinned, checkout = (
        set(re.findall(r"^[\w.-]+==\S+", (ROOT / lock).read_text(), flags=re.MULTILINE))
        for lock in ("requirements-docs.lock", "requirements.lock")
    )
    assert any(version.startswith("furo==") for version in pinned)
    assert pinned <= checkout
