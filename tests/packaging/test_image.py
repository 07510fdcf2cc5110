import re

from tests.packaging.wheels import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_files_that_the_deployment_runs_by_their_path_are_copied_into_the_image() -> None:
    named = re.findall(r"/srv/relevance/([\w./]+)", (ROOT / "docker-compose.yml").read_text())
    last_stage = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    copied = {path.rpartition("/")[2] for path in re.findall(r"^COPY (\S+) \./$", last_stage, flags=re.MULTILINE)}
    assert named
    assert set(named) <= copied


def test_the_builder_is_given_all_that_the_image_is_made_of() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    sent = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copies = re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, flags=re.MULTILINE)
    assert {path.lstrip("./").split("/")[0] for copy in copies for path in copy.split()} <= sent
