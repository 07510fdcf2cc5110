"""Records a database of this code: `python -m tests.database.stored.record`, once for a revision of the tables.

The service trains small versions over HTTP, which cover every task, likelihood, prior, kernel and dictionary. The file
is JSON packed with xz, named for the `revision` of the database: the rows of its `tables` (bytes as {"base64": ...}),
and `predictions`: of each version the `request`, the `response`, and the `document` that it exported, where it has one.
It is never recorded again: later code reads it, and predicts as this did.
"""

import base64
import json
import lzma
import math
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import httpx2

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Members: TypeAlias = dict[str, Json]

OUTSIDE = (
    "alembic_version",
    "compatible_revisions",
    "sqlite_",
    "dbos",
    "workflow",
    "operation_",
    "notifications",
    "streams",
    "scheduler",
    "application_versions",
    "queues",
)
"""Tables that are not the service's own begin so."""

KERNELS = (
    "gaussian", "laplacian", "cauchy", "matern_3_2", "matern_5_2", "rational_quadratic", "city_block", "linear",
    "polynomial", "linear_spline", "cubic", "thin_plate", "sigmoid",
)  # fmt: skip
COVARIANCES = KERNELS[:7]
DICTIONARIES: tuple[Members, ...] = (
    {"type": "steps"},
    {"type": "b_splines", "levels": 2},
    {"type": "fourier", "harmonics": 3},
    {"type": "gabor", "octaves": 1, "waves": 1},
)
SMALL: Members = {"effort": "quick"}
PROCESS: Members = {"type": "gaussian_process", "max_functions": 4}
INDEPENDENT: Members = {"type": "independent"}
FIXED: Members = {"type": "fixed", "value": 1.0}


def table(rows: int) -> Members:
    """Rows of two numbers, two texts, a boolean and a time, and targets of every kind."""
    draw = random.Random(0)
    columns: dict[str, list[Json]] = {name: [] for name in (*INPUTS, *TARGETS, "noise")}
    for row in range(rows):
        x, w = draw.uniform(-2, 2), draw.gauss(0, 1)
        y = x * x - w + draw.gauss(0, 0.3)
        values: Members = {
            "x": x, "w": w, "colour": "red" if row % 3 else "blue", "flag": row % 2 == 0,
            "y": y, "stepped": (1.0 if x > 0.4 else 0.0) + draw.gauss(0, 0.05),
            "sum": math.sin(2 * x) + w * w + draw.gauss(0, 0.02),
            "positive": 1.0 + x * x + draw.random(), "count": max(0, int(3 + 2 * x + draw.random())),
            "share": 1.0 / (1.0 + math.exp(w - x)), "zeros": 0.0 if x < 0 else 1.0 + w * w,
            "place": f"p{row % 60}", "at": f"2026-01-{1 + row % 28:02}T{row % 24:02}:00:00Z",
            "two": "yes" if x + draw.gauss(0, 0.5) > 0 else "no", "three": "abc"[min(2, int(abs(x) * 1.5))],
            "noise": 0.2 + 0.1 * draw.random(),
        }  # fmt: skip
        for name, value in values.items():
            columns[name].append(value)
    return {"columns": dict[str, Json](columns)}


def kinked() -> Members:
    """90 rows of a kink, a step and a trend, which several processes represent better than one."""
    draw = random.Random(5)
    x, w = ([draw.uniform(-2, 2) for _ in range(90)] for _ in range(2))
    y = [
        abs(a) + 0.5 * b + (0.7 if b > 0.3 else 0.0) + math.sin(3 * a) * 0.3 + draw.gauss(0, 0.1)
        for a, b in zip(x, w, strict=True)
    ]
    return {"columns": {"x": [*x], "w": [*w], "y": [*y]}}


INPUTS = ("x", "w", "colour", "flag", "place", "at")
TARGETS = ("y", "stepped", "sum", "positive", "count", "share", "zeros", "two", "three")
ROWS: Members = {
    "columns": {
        "x": [-1.5, 0.0, 0.7, 9.0],
        "w": [0.3, -0.2, 1.0, -4.0],
        "colour": ["red", "blue", "red", "blue"],
        "flag": [True, False, True, False],
        "place": ["p3", "p7", "elsewhere", "p3"],
        "at": ["2026-01-05T10:00:00Z", "2026-02-01T00:00:00Z", "2026-01-06T23:00:00Z", "2025-12-31T12:00:00Z"],
    }
}
GAPS: Members = {"columns": {"x": [None, 0.5], "w": [0.1, None], "colour": [None, "green"]}}
"""Rows with missing values and an unknown category."""


def trainings() -> Iterator[tuple[str, Members]]:
    """The name of a model, and the request that makes a version of it."""
    for kernel in KERNELS:
        basis: Members = {"type": "kernel", "kernel": {"type": kernel}, "width": FIXED}
        yield f"independent-{kernel}", {"target": "y", "inputs": ["x", "w"], "basis": basis, "prior": INDEPENDENT}
    for kernel in COVARIANCES:
        basis = {"type": "kernel", "kernel": {"type": kernel}, "additive": "evidence"}
        yield f"process-{kernel}", {"target": "sum", "inputs": ["x", "w"], "basis": basis, "prior": PROCESS}
    for dictionary in DICTIONARIES:
        name = dictionary["type"]
        yield f"dictionary-{name}", {"target": "stepped", "inputs": ["x"], "basis": [dictionary, {"type": "bias"}]}
    parts: tuple[Members, ...] = ({"type": "inputs"}, {"type": "steps"})
    grouped: list[Json] = [{"type": "group", "inputs": ["x"], "of": one} for one in parts]
    yield "groups", {"target": "stepped", "inputs": ["x", "w"], "basis": [*grouped, {"type": "bias"}]}
    for prior in (INDEPENDENT, PROCESS):
        known: Members = {"inputs": ["x", "w"], "prior": prior}
        if prior is INDEPENDENT:
            known["basis"] = {"type": "kernel", "width": FIXED}
        numbers: dict[str, tuple[str, Members]] = {
            "gaussian": ("y", {"type": "gaussian"}),
            "known-noise": ("y", {"type": "gaussian", "noise_sd": 0.3}),
            "noise-by-row": ("y", {"type": "gaussian", "noise_sd": {"column": "noise"}}),
            "heteroscedastic": ("y", {"type": "gaussian", "noise_sd": "heteroscedastic"}),
            "student_t": ("y", {"type": "student_t"}),
            "heavy": ("y", {"type": "student_t", "degrees_of_freedom": 4.0}),
            "log_gaussian": ("positive", {"type": "log_gaussian"}),
            "poisson": ("count", {"type": "poisson"}),
            "negative_binomial": ("count", {"type": "negative_binomial"}),
            "logit_gaussian": ("share", {"type": "logit_gaussian"}),
            "hurdle": ("zeros", {"type": "hurdle"}),
        }
        for name, (target, likelihood) in numbers.items():
            yield f"{name}-{prior['type']}", {"target": target, "likelihood": likelihood, **known}
        classes = {
            "bernoulli": "two",
            "categorical": "three",
            "one_against_rest": "three",
            "bernoulli_per_class": "three",
        }
        for name, target in classes.items():
            yield f"{name}-{prior['type']}", {"target": target, "likelihood": {"type": name}, **known}
    mixed: Members = {**PROCESS, "rho": 0.5, "inducing_points": "rows"}
    yield "mixed", {"target": "y", "inputs": [*INPUTS[:4]], "prior": mixed}
    yield "gaps", {"target": "y", "inputs": [*INPUTS[:3]], "prior": PROCESS}
    re_estimation: Members = {"type": "re_estimation", "update": "em"}
    yield (
        "re-estimated",
        {
            "target": "y",
            "inputs": ["x"],
            "basis": {"type": "kernel", "width": FIXED},
            "algorithm": re_estimation,
            "prior": {**INDEPENDENT, "a": 0.01, "b": 0.01},
        },
    )
    yield "validated", {"target": "y", "inputs": ["x"], "prior": PROCESS, "validation": {"folds": 2}, "holdout": 0.2}
    yield "automatic", {"target": "y", "inputs": ["x", "w"]}


def others(dataset: str, terms: str, image: str) -> Iterator[tuple[str, Members]]:
    """Trainings of the tasks without a target."""
    yield "terms", {"task": "approximation", "dataset_id": terms, "coefficients": "c", "width": 0.7, "max_functions": 3}
    yield "density", {"task": "approximation", "dataset_id": terms, "inputs": ["x"], "width": 0.7, "density": True}
    yield "picture", {"task": "image", "dataset_id": image, "max_functions": 4}
    for kernel in COVARIANCES:
        request: Members = {
            "task": "components",
            "dataset_id": dataset,
            "inputs": ["x", "w"],
            "min_explained_variance": 0.5,
        }
        yield f"components-{kernel}", {**request, "kernel": {"type": kernel}}


UNDOCUMENTED = re.compile("(independent|process|components)-(?!gaussian|gaussian_process)[a-z0-9_]+")
"""Models whose documents differ from another's by their kernel alone."""

FOLDER = Path(__file__).parent


def main() -> None:
    """Record."""
    with tempfile.TemporaryDirectory() as directory:
        database = Path(directory) / "relevance.db"
        ours = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
        settings = {
            "RELEVANCE_DATABASE_URL": f"sqlite:///{database}", "RELEVANCE_PORT": "0",
            "RELEVANCE_LOG_LEVEL": "error", "OPENBLAS_NUM_THREADS": "1",
        }  # fmt: skip
        service = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "serve", "--until-eof"],
            env=ours | settings, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        try:
            assert service.stdout is not None
            url = next(found[1] for line in service.stdout if (found := re.search(r"is at (http://\S+)", line)))
            with httpx2.Client(base_url=url, timeout=600) as http:
                predicted = list(_versions(http))
        finally:
            os.killpg(service.pid, signal.SIGKILL)
            service.wait()
        recorded = {**_rows(database), "predictions": predicted}
    out = FOLDER / f"{recorded['revision']}.json.xz"
    out.write_bytes(lzma.compress(json.dumps(recorded).encode(), preset=9 | lzma.PRESET_EXTREME))
    sys.stdout.write(f"{out.stat().st_size:,} bytes\n")


def _versions(http: httpx2.Client) -> Iterator[Members]:
    dataset = _upload(http, json.dumps(table(40)).encode(), "application/json")
    larger = _upload(http, json.dumps(table(120)).encode(), "application/json")
    draw = random.Random(1)
    noise = {name: [draw.gauss(0, 1) for _ in range(12)] for name in ("x", "c")}
    terms = _upload(http, json.dumps({"columns": noise}).encode(), "application/json")
    image = _upload(http, _pixels(), "application/x-npy")
    bent = _upload(http, json.dumps(kinked()).encode(), "application/json")
    requests = [(name, {"dataset_id": dataset, **SMALL, **request}) for name, request in trainings()]
    pool: Members = {"dataset_id": bent, "target": "y", "effort": "normal"}
    large: Members = {"dataset_id": larger, **SMALL, "target": "y"}
    local: Members = {"type": "neighbours", "neighbours": 8, "on": "targets"}
    requests += [
        ("pool", pool),
        ("texts-and-dates", {**large, "inputs": [*INPUTS], "prior": PROCESS}),
        ("neighbours", {**large, "inputs": ["x", "w"], "local": local}),
    ]
    jobs: dict[str, str] = {}
    for name, request in [*requests, *others(dataset, terms, image)]:
        response = http.post("/v1/training-jobs", json={**request, "model": name})
        if response.status_code == 422:  # of a combination that there is not
            sys.stdout.write(f"{name}: {response.json()['detail']}\n")
            continue
        jobs[name] = response.json()["id"]
    for name, job in jobs.items():
        state = http.get(f"/v1/training-jobs/{job}").json()
        while state["state"] in {"queued", "running"}:
            time.sleep(0.2)
            state = http.get(f"/v1/training-jobs/{job}").json()
        assert state["state"] == "succeeded", f"{name}: {state}"
        yield _predicted(http, name)


def _predicted(http: httpx2.Client, name: str) -> Members:
    path = f"/v1/models/{name}/versions/1"
    if name == "picture":
        image = http.get(f"{path}/image", headers={"Accept": "application/x-npy"})
        return {"model": name, "request": None, "response": base64.b64encode(image.content).decode(), "document": None}
    inputs = http.get(f"/v1/models/{name}").json()["inputs"]
    columns = (GAPS if name == "gaps" else ROWS)["columns"]
    assert isinstance(columns, dict)
    request = {"columns": {one: columns[one] for one in inputs}}
    response = http.post(f"{path}/predict", json=request)
    assert response.status_code == 200, response.text
    exported = http.get(f"{path}/export", headers={"Accept": "application/json"})
    document = None if UNDOCUMENTED.fullmatch(name) or exported.status_code != 200 else exported.json()
    return {"model": name, "request": request, "response": response.json(), "document": document}


def _upload(http: httpx2.Client, content: bytes, media_type: str) -> str:
    response = http.post("/v1/datasets", content=content, headers={"Content-Type": media_type})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def _pixels() -> bytes:
    import io

    import numpy as np

    sink = io.BytesIO()
    np.save(sink, np.add.outer(np.sin(np.arange(12.0)), np.arange(9.0) % 3))
    return sink.getvalue()


def _rows(database: Path) -> Members:
    with sqlite3.connect(database) as connection:
        (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        every = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        names = [name for (name,) in every if not name.startswith(OUTSIDE)]
        tables = {name: list(_table(connection, name)) for name in names}
    return {"revision": revision, "tables": {name: list[Json](rows) for name, rows in tables.items() if rows}}


def _table(connection: sqlite3.Connection, name: str) -> Iterator[Members]:
    cursor = connection.execute(f'SELECT * FROM "{name}"')
    columns = [column[0] for column in cursor.description]
    for row in cursor:
        yield {column: _cell(value) for column, value in zip(columns, row, strict=True)}


def _cell(value: bytes | str | float | None) -> Json:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


if __name__ == "__main__":
    main()
