"""The service is as its OpenAPI document states, found by a tool that sends all that the document allows, and more."""

import os
import subprocess
from pathlib import Path

import httpx2
import pytest

from tests.served import Service

HERE = Path(__file__).parent
TOOL = HERE.parents[1] / ".venv-clients" / "schemathesis" / "bin" / "schemathesis"
TIMEOUT = 3000
"""Seconds after which the tool is taken to hang, also on a busy machine."""
SECONDS = "RELEVANCE_CONTRACT_SECONDS"
"""The variable of the environment with the seconds of a longer run, in which the tool goes on with other examples."""


@pytest.mark.thorough
def test_all_that_the_document_allows_gets_a_response_as_it_states(service: Service, tmp_path: Path) -> None:
    assert TOOL.exists(), "the tool is not installed: `make thorough` does it"
    document = tmp_path / "openapi.json"  # the tool itself waits for it ten seconds
    document.write_bytes(httpx2.get(f"{service.url}/openapi.json", timeout=TIMEOUT).raise_for_status().content)
    requested = ("--url", service.url, "--header", f"Authorization: Bearer {service.key}", "--seed", "1", "--no-color")
    longer = ("--max-time", os.environ[SECONDS]) if SECONDS in os.environ else ()
    done = subprocess.run(
        [TOOL, "--config-file", HERE / "schemathesis.toml", "run", *requested, *longer, document],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " failures" not in done.stdout
