"""A service of real versions, made in a moment, for clients of the API."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx2

from app.exports.formats import RENDERINGS
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.end_to_end.deployment import deployed
from tests.keys import add_key
from tests.small_models import small_version, version_of_three_classes
from tests.tasks.supervised.test_one_row import version_of_numbers

KEY = "a-key-of-the-tests"


@dataclass(frozen=True)
class Service:
    """Where it is, by HTTP and by gRPC, its key, the process that answers, and its log of errors."""

    url: str
    rpc: str
    key: str
    pid: int
    directory: Path

    def given(self) -> str:
        """All that it has logged."""
        return "\n".join(log.read_text() for log in sorted(self.directory.glob("*.log")))


@contextmanager
def served(sqlite_template: Path, directory: Path) -> Iterator[Service]:
    """One of two versions of `numbers`, the first called `champion`, and one of `mixed` columns and `states`."""
    shutil.copyfile(sqlite_template, directory / "relevance.db")
    url = f"sqlite:///{directory / 'relevance.db'}"
    add_key(url, KEY)
    with deployed(url, directory) as deployment:
        limits = {"RELEVANCE_MAX_PREDICTION_ROWS": "5000", "RELEVANCE_LOG_REQUESTS": "0"}
        api = deployment.api(RELEVANCE_GRPC_PORT="0", **limits)
        api.http.headers["Authorization"] = f"Bearer {KEY}"
        add_version(api.http, "numbers", version_of_numbers(Independent()))
        add_version(api.http, "numbers", version_of_numbers(GaussianProcess()))
        add_version(api.http, "mixed", small_version())
        add_version(api.http, "states", version_of_three_classes())
        response = api.http.put("/v1/models/numbers/aliases/champion", json={"version": 1})
        assert response.status_code == 201, response.text
        assert api.process.stdout is not None
        reported = (re.fullmatch(r"  gRPC +(\S+)\n", line) for line in api.process.stdout)
        rpc = next(found[1] for found in reported if found)
        yield Service(str(api.http.base_url).rstrip("/"), rpc, KEY, api.process.pid, directory)


def add_version(http: httpx2.Client, name: str, made: NewSupervisedVersion) -> None:
    """Import a version as the next one of a model."""
    exported = ExportedSupervised(name, 1, datetime(2024, 5, 1, tzinfo=UTC), made.report, made.predictor)
    content = RENDERINGS["json"].render(exported)
    response = http.post(f"/v1/models/{name}/versions", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 201, response.text
