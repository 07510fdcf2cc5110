"""A process of the service imports a library when it is first needed: start-up and memory are those of the rest."""

import json
import subprocess
import sys
from collections.abc import Mapping

import pytest

PROGRAM = """
import json, sys, threading
import app.main
assert threading.active_count() == 1
imported = {"at import": sorted(sys.modules)}

from app.settings import Settings
from app.services import build
build(Settings()).close()
imported["when it is built"] = sorted(sys.modules)

from app.prediction import PredictRequest, predict
from relevance_bayes.core.priors import GaussianProcess
from tests.served_versions import served
from tests.small_models import small_version
from tests.small_tables import numbers, texts
predict(served(small_version(prior=GaussianProcess())), PredictRequest({"x": numbers(0.5), "colour": texts("red")}))
imported["when it predicts"] = sorted(sys.modules)
print(json.dumps(imported))
"""

LATER = {
    "fits": ("scipy.linalg", "scipy.optimize", "scipy.special", "scipy.sparse", "scipy.interpolate"),
    "tokens": ("jwt", "cryptography", "app.accounts.tokens", "app.accounts.tokens"),
    "webhooks": ("httpx", "app.webhooks.deliverer"),
    "traces": ("opentelemetry.sdk", "opentelemetry.exporter"),
    "files": ("pyarrow", "openpyxl"),
    "metrics": ("prometheus_client",),
    "migrations": ("alembic",),
}
"""Packages that are imported later, by the purpose that needs them."""


@pytest.fixture(scope="module")
def imported() -> Mapping[str, list[str]]:
    """All modules of a new process that imports the service, builds it and predicts, without a warning."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found: Mapping[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("purpose", LATER)
@pytest.mark.parametrize("when", ["at import", "when it is built", "when it predicts"])
def test_a_package_is_imported_when_it_is_needed(imported: Mapping[str, list[str]], when: str, purpose: str) -> None:
    assert {"app.main", "numpy"} < set(imported[when])
    assert [name for name in imported[when] if name.startswith(LATER[purpose])] == []
