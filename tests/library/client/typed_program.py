"""A program of a user, whose types mypy checks with all others here, and pyright in its strict mode."""

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import assert_type

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from relevance_bayes.client import AsyncClient, Client, ClientError, connect, connect_async
from relevance_bayes.client.calls import Asynchronous, Blocking
from relevance_bayes.client.jobs import JobHandle
from relevance_bayes.client.predictions import PredictedTable
from relevance_bayes.client.responses import (
    ApproximationJob,
    ImageVersion,
    Prediction,
    Predictions,
    SupervisedJob,
    SupervisedVersion,
)
from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor, SparseKernelPCA
from relevance_bayes.records.jobs import Event
from relevance_bayes.records.models import Alias, Model


def blocking(file: Path, table: pa.Table, rows: NDArray[np.float64]) -> float | None:
    """The calls of the blocking client."""
    with connect(file) as client:
        assert_type(client, Client)
        handle = client.trainings.start(table, target="y", model="m", effort="quick")
        assert_type(handle, JobHandle[Blocking, SupervisedJob])
        assert_type(handle.wait(progress=True), SupervisedJob)
        assert_type(handle.events(after=3), Iterator[Event])
        assert_type(client.trainings.submit({"dataset_id": "d"}, of=ApproximationJob), ApproximationJob)
        assert_type(client.version("m"), SupervisedVersion)
        assert_type(client.version("m", 2, of=ImageVersion), ImageVersion)
        assert_type(client.models(), Iterator[Model])
        assert_type(client.models["m"].pull(), RelevanceRegressor | RelevanceClassifier | SparseKernelPCA)
        assert_type(client.models["m"].pull("champion", of=RelevanceRegressor), RelevanceRegressor)
        assert_type(client.aliases.move("m", "champion", 1, new=True), Alias)
        assert_type(client.tables.predict("m", table, interval=0.9, outputs=["mean"]), PredictedTable)
        assert_type(client.tables.predict_array("m", rows), NDArray[np.float64])
        assert_type(client.tables.predict_rows("m", ({"x": x} for x in range(3))), Iterator[Prediction])
        try:
            response = client.predict("m", {"columns": {"x": [1, 2]}}, interval=0.9)
        except ClientError as error:
            return error.retry_after
        assert_type(response, Predictions)
        return response.predictions[0].mean


async def asynchronous(file: Path, table: pa.Table) -> str:
    """The same calls of the asynchronous client."""
    async with connect_async(file) as client:
        assert_type(client, AsyncClient)
        handle = await client.trainings.start(file, target="y", model="m")
        assert_type(handle, JobHandle[Asynchronous, SupervisedJob])
        assert_type(handle.events(), AsyncGenerator[Event, None])
        async for event in handle.events():
            assert_type(event, Event)
        assert_type(await handle.wait(), SupervisedJob)
        assert_type(await client.trainings.wait("j", of=ApproximationJob), ApproximationJob)
        assert_type(await client.version("m"), SupervisedVersion)
        assert_type(await client.tables.predict("m", table), PredictedTable)
        assert_type([model async for model in client.models()], list[Model])
        assert_type(await client.models["m@champion"].pull(of=RelevanceClassifier), RelevanceClassifier)
        other = await connect_async("http://127.0.0.1:8000", api_key="secret", max_retries=2)
        await other.aclose()
        return (await client.model("m")).name
