"""Clients that generators make from the OpenAPI document: each check is a test, run by test_clients.

The environment has the generators: openapi-python-client makes a package with a function for each operation,
datamodel-code-generator classes of pydantic for the bodies.
"""

import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from tests.foreign.service import AUTHORIZATION, URL, exchange, get

DOCUMENT = "openapi.json"
GENERATED_CLIENT, GENERATED_MODELS = "generated_client", "generated_models"
TIMEOUT = 600
TABLE: dict[str, list[float]] = {"x": [0.1 * i for i in range(40)], "y": [0.3 * i + 0.01 * (i % 3) for i in range(40)]}

REQUEST = {"task": "regression", "target": "y", "effort": "quick", "split": {"type": "random"}}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the document and of what is generated; modules are imported from it."""
    directory = tmp_path_factory.mktemp("generated")
    (directory / DOCUMENT).write_bytes(get(f"/{DOCUMENT}"))
    (directory / "options.yml").write_text("post_hooks: []\n")
    sys.path.insert(0, str(directory))
    return directory


@pytest.fixture(scope="module")
def client(directory: Path) -> ModuleType:
    """The package that openapi-python-client generates."""
    options = ("--meta", "none", "--config", "options.yml", "--output-path", GENERATED_CLIENT)
    output = run(directory, "openapi_python_client", "generate", "--path", DOCUMENT, *options)
    assert "Unable to process schema" not in output, output
    return importlib.import_module(GENERATED_CLIENT)


@pytest.fixture(scope="module")
def models(directory: Path) -> ModuleType:
    """The module that datamodel-code-generator generates."""
    options = ("--output-model-type", "pydantic_v2.BaseModel", "--formatters", "builtin")
    output = (f"{GENERATED_MODELS}.py", "--input-file-type", "openapi", *options)
    run(directory, "datamodel_code_generator", "--input", DOCUMENT, "--output", *output)
    return importlib.import_module(GENERATED_MODELS)


def run(directory: Path, module: str, *arguments: str) -> str:
    """Run a module of Python in the directory, and return all that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def send(path: str, body: str) -> bytes:
    return exchange(path, body.encode(), {"Content-Type": "application/json"})[0]


def test_each_module_of_the_generated_client_is_imported(client: ModuleType) -> None:
    modules = [module.name for module in pkgutil.walk_packages(client.__path__, f"{GENERATED_CLIENT}.")]
    assert len(modules) > 400
    for module in modules:
        importlib.import_module(module)


def test_the_generated_client_uploads_trains_waits_and_predicts(client: ModuleType) -> None:
    records = importlib.import_module(f"{GENERATED_CLIENT}.models")
    calls, name = f"{GENERATED_CLIENT}.api", "by-openapi-python-client"
    token = AUTHORIZATION.removeprefix("Bearer ")
    with client.AuthenticatedClient(URL, token, timeout=TIMEOUT) as connection:
        upload = importlib.import_module(f"{calls}.datasets.upload_v1_datasets_post")
        table = records.ColumnsIn.from_dict({"columns": TABLE})
        dataset = upload.sync(client=connection, body=table, name=name)
        assert dataset.rows == 40
        submit = importlib.import_module(f"{calls}.training_jobs.submit_v1_training_jobs_post")
        request = records.SupervisedRequest.from_dict({**REQUEST, "dataset_id": str(dataset.id), "model": name})
        job = submit.sync(client=connection, body=request)
        assert isinstance(job, records.RegressionJob), job
        wait = importlib.import_module(f"{calls}.training_jobs.job_v1_training_jobs_job_id_get")
        while job.state in {"queued", "running"}:
            job = wait.sync(job.id, client=connection, wait=20.0)
        assert job.state == "succeeded", job
        predict = importlib.import_module(f"{calls}.predictions.predict_v1_models_name_predict_post")
        rows = records.PredictRecordsIn.from_dict({"rows": [{"x": 1.0}, {"x": 2.0}]})
        response = predict.sync(name, client=connection, body=rows)
        check_means([row.mean for row in response.predictions])


def test_the_generated_models_upload_train_wait_and_predict(models: ModuleType) -> None:
    table = models.ColumnsInInput(columns=TABLE)
    name = "by-datamodel-code-generator"
    dataset = models.Dataset.model_validate_json(send(f"/v1/datasets?name={name}", sent(table)))
    request = models.SupervisedRequestInput(**REQUEST, dataset_id=dataset.id, model=name)
    job = models.RegressionJob.model_validate_json(send("/v1/training-jobs", sent(request)))
    while job.state.value in {"queued", "running"}:
        job = models.RegressionJob.model_validate_json(get(f"/v1/training-jobs/{job.id}?wait=20"))
    assert job.state.value == "succeeded", job
    rows = models.PredictIn.model_validate({"rows": [{"x": 1.0}, {"x": 2.0}]})
    content = send(f"/v1/models/{name}/predict", sent(rows))
    check_means([row.mean for row in models.PredictionsOut.model_validate_json(content).predictions])


def sent(body: object) -> str:
    """Return a body with the members that were given."""
    text: str = body.model_dump_json(exclude_unset=True)  # type: ignore[attr-defined]
    return text


def check_means(means: Sequence[float]) -> None:
    assert means == pytest.approx([3.0, 6.0], abs=0.05)
