"""Each wheel in an empty environment, used from a folder that holds a package `app` of its user's own."""

import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app import __version__
from examples.tour.folder import PAGE, run_commands
from tests.packaging.wheels import Environment, Wheels, environment, run
from tests.waiting import until

pytestmark = pytest.mark.thorough

FIT = """
import app
import numpy as np
from relevance_bayes.core.algorithms import Sequential
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.pool import ready_of
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.models.model import Spec

assert app.OWN
x = np.linspace(-10.0, 10.0, 100)
t = np.sinc(x / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(100)
basis = (KernelBasis(Gaussian(), FixedWidth(3.0), "none"), Bias())
model = fit(x[:, None], t, Spec(GaussianNoise(), basis, Independent(), Sequential()))
prediction, _ = ready_of(model).predict(np.zeros((1, 1)))
print(prediction.mean[0])
"""

ESTIMATE = """
import app
import numpy as np
from relevance_bayes.estimators import RelevanceRegressor

assert app.OWN
x = np.linspace(-3.0, 3.0, 60)
model = RelevanceRegressor(effort="quick").fit(x[:, None], np.sin(x))
print(model.predict(np.array([[1.0]]))[0])
"""

REQUEST = """
import sys
import app
from relevance_bayes.client import connect

assert app.OWN
assert not {"numpy", "scipy"} & set(sys.modules)
with connect("URL") as service:
    columns = {"x": [x / 10 for x in range(40)], "y": [x / 5 for x in range(40)]}
    dataset = service.create_dataset(columns, name="line")
    job = service.trainings.submit({"dataset_id": dataset.id, "target": "y", "model": "line", "effort": "quick"})
    assert service.trainings.wait(job.id).state == "succeeded"
    open("line.json", "wb").write(service.export("line", 1))
    print(service.predict("line", {"columns": {"x": [1.0]}}).predictions[0].mean)
"""

PREDICT = """
import json
import app
import numpy as np
from relevance_bayes.core.models.pool import ready_of
from relevance_bayes.documents.schema import version_of
from relevance_bayes.documents.schema import DOCUMENT
from relevance_bayes.tables.columns import NumberArray
from relevance_bayes.tables.encoding import encode_inputs, user_mean
from relevance_bayes.records.json import validate

assert app.OWN
predictor = version_of(validate(DOCUMENT, json.load(open("line.json")))).predictor
X, _ = encode_inputs(predictor.encoding, {"x": NumberArray(np.array([1.0]))})
prediction, _ = ready_of(predictor.learned).predict(X)
print(user_mean(predictor.encoding.target, prediction.mean)[0])
"""

URL = re.compile(r"http://127\.0\.0\.1:\d+")


@pytest.fixture(scope="module")
def library(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment(
        tmp_path_factory.mktemp("library") / "env", f"relevance-bayes[client] @ {wheels.library.as_uri()}"
    )


@pytest.fixture(scope="module")
def server(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment(tmp_path_factory.mktemp("server") / "env", str(wheels.library), str(wheels.server))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's own project."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("OWN = True\n")
    return tmp_path


@contextmanager
def serving(server: Environment, project: Path) -> Iterator[str]:
    """The URL of `relevance serve` in a user's project."""
    environ = os.environ | {"RELEVANCE_PORT": "0", "RELEVANCE_DATABASE_URL": "sqlite:///kept.db"}
    environ.pop("PYTHONPATH", None)
    command = (str(server.command("relevance")), "serve", "--until-eof")
    log = project / "serve.log"
    with (
        log.open("w") as written,
        subprocess.Popen(
            command, cwd=project, stdin=subprocess.PIPE, stdout=written, stderr=subprocess.STDOUT, env=environ
        ) as process,
    ):
        try:
            until(lambda: URL.search(log.read_text()) is not None or process.poll() is not None, seconds=300.0)
            found = URL.search(log.read_text())
            assert found is not None, log.read_text()
            yield found[0]
        finally:
            process.communicate(timeout=300)
    assert process.returncode == 0, log.read_text()


def test_the_library_fits_beside_a_users_own_app(library: Environment, project: Path) -> None:
    assert float(library.run(FIT, project)) == pytest.approx(1.0, abs=0.1)


def test_estimators_and_client_commands_need_nothing_of_the_server(
    wheels: Wheels, project: Path, tmp_path: Path
) -> None:
    url = wheels.library.as_uri()
    made = environment(tmp_path / "env", f"relevance-bayes[cli] @ {url}", f"relevance-bayes[sklearn] @ {url}")
    assert not {"fastapi", "relevance-server", "sqlalchemy"} & set(made.distributions())
    assert float(made.run(ESTIMATE, project)) == pytest.approx(math.sin(1.0), abs=0.02)
    version = run(str(made.command("relevance-client")), "--version", folder=project)
    assert version == f"relevance-client {__version__}\n"
    assert "predict-dataset" in run(str(made.command("relevance-client")), "--help", folder=project)
    url = "http://127.0.0.1:9"
    refused = subprocess.run(
        (str(made.command("relevance-client")), "models", "--url", url), capture_output=True, text=True, timeout=60
    )
    assert (refused.returncode, url in refused.stderr) == (1, True)


def test_an_environment_of_the_client_has_few_distributions(library: Environment) -> None:
    found = library.distributions()
    assert len(found) <= 16
    assert not {"fastapi", "pyarrow", "sqlalchemy", "starlette"} & set(found)


def test_the_server_serves_in_any_folder_and_the_library_predicts_the_same_from_what_it_exports(
    library: Environment, server: Environment, project: Path
) -> None:
    assert run(str(server.command("relevance")), "--version", folder=project) == f"relevance {__version__}\n"
    with serving(server, project) as url:
        reported = float(library.run(REQUEST.replace("URL", url), project))
    assert reported == pytest.approx(2.0, abs=0.05)
    assert float(library.run(PREDICT, project)) == pytest.approx(reported, rel=1e-12)
    assert (project / "kept.db").is_file()


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the tour's commands need curl (apt install curl)")
def test_the_tour_runs_on_both_wheels_in_an_empty_environment(
    wheels: Wheels, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command prints what the page shows, but for figures, of which `tests/examples/test_tour.py` has a test."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    made = environment(tmp_path / "env", str(wheels.library), f"{wheels.server}[onnx]")
    folder = tmp_path / "empty"
    folder.mkdir()
    with serving(made, project) as url:
        steps = [*run_commands(PAGE.read_text(), url, folder, commands=made.command("relevance").parent)]
    assert len(steps) == PAGE.read_text().count("```sh\n") > 15
    assert {file.name for file in folder.iterdir()} >= {"predicted.csv", "heating.onnx", "heating.json"}
