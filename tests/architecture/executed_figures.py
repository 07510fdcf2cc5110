"""Figures of what is executed: the files and functions that a request or a fit passes through."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import httpx2
import numpy as np
from fastapi import FastAPI

from app.http.openapi import Json
from app.main import create_app
from app.services import build
from app.settings import Settings
from relevance_bayes.core.types import Array
from relevance_bayes.estimators import RelevanceRegressor
from tests.architecture.source_figures import PACKAGES, ROOT

FOLDERS = tuple(f"{ROOT / package}/" for package in PACKAGES)

OF_REQUESTS = frozenset({"MainThread", "AnyIO worker thread"})
"""The threads that requests are handled in: the event loop's, and those of synchronous routes."""

Function = tuple[str, str]
"""A file and the qualified name of a function in it."""


class Execution:
    """The named functions of service and library that are called while it records."""

    def __init__(self) -> None:
        self.functions = set[Function]()

    @property
    def files(self) -> set[str]:
        return {file for file, _ in self.functions}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record calls of this thread, and of threads for requests that start meanwhile."""
        before = sys.getprofile()
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(None)

    def _look(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Comprehensions and modules are called too: which of them are depends on the version of Python.
        if event != "call" or code.co_name.startswith("<") or not code.co_filename.startswith(FOLDERS):
            return
        if threading.current_thread().name in OF_REQUESTS:
            self.functions.add((code.co_filename, code.co_qualname))


def executed(run: Callable[[], object]) -> Execution:
    """Return what the second of two equal runs executes: the first fills caches, as earlier tests may do."""
    run()
    execution = Execution()
    with execution.recorded():
        run()
    return execution


def default_fit() -> None:
    """Fit 120 rows of three inputs, of which one matters, by the defaults of the estimator."""
    RelevanceRegressor().fit(*small_table())


def quick_fit() -> None:
    """Fit the same with `effort` quick."""
    RelevanceRegressor(effort="quick").fit(*small_table())


def small_table() -> tuple[Array, Array]:
    """Inputs (120, 3) and targets (120,), a sine of the first input with noise."""
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-5.0, 5.0, (120, 3))
    return inputs, np.sin(inputs[:, 0]) + 0.1 * rng.normal(size=120)


def csv_of(inputs: Array, targets: Array) -> bytes:
    """A file of inputs (N, 3) and targets (N,), the columns `x0`, `x1`, `x2` and `y`."""
    lines = (",".join(map(repr, row)) for row in np.column_stack([inputs, targets]).tolist())
    return "\n".join(["x0,x1,x2,y", *lines]).encode()


class SmallService:
    """The application as a server starts it, over a migrated SQLite file, with one dataset and one model of it."""

    def __init__(self, file: Path) -> None:
        settings = Settings(database_url=f"sqlite:///{file}", log_requests=False)
        self._parts = build(settings)
        self._application = create_app(settings, self._parts)
        model = RelevanceRegressor(effort="quick").fit(*small_table())
        self._post("/v1/models/small/versions", model.document_, "application/x-npz")
        dataset = self._post("/v1/datasets?name=small", csv_of(*small_table()), "text/csv")
        self.dataset_id = str(json.loads(dataset)["id"])

    def close(self) -> None:
        self._parts.close()

    def execution(self, path: str, body: Json) -> Execution:
        """Return the least that equal requests execute, once versions and pages are cached: keys are read again a
        second after they were, which is between two requests on a busy machine."""
        content = json.dumps(body).encode()
        for _ in range(2):
            self._post(path, content, "application/json")
        return min((self._recorded(path, content) for _ in range(4)), key=lambda execution: len(execution.functions))

    def _recorded(self, path: str, content: bytes) -> Execution:
        execution = Execution()
        with execution.recorded():
            self._post(path, content, "application/json")
        return execution

    def _post(self, path: str, content: bytes, media_type: str) -> bytes:
        return asyncio.run(_post(self._application, path, content, media_type))


async def _post(application: FastAPI, path: str, content: bytes, media_type: str) -> bytes:
    transport = httpx2.ASGITransport(app=application)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        response = await client.post(path, content=content, headers={"Content-Type": media_type})
        assert response.is_success, response.text
        return response.content
