"""The application that ours is measured against: Starlette, orjson and numpy, which checks nothing."""

import os
from pathlib import Path

import numpy as np
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.serving.model import INPUTS, PlainModel

MODEL = "RELEVANCE_BENCH_MODEL"
"""The variable of the environment that names the file of the model."""


def make_application() -> Starlette:
    """For `uvicorn --factory`."""
    model = PlainModel.read(Path(os.environ[MODEL]))

    async def predict(request: Request) -> Response:
        rows = orjson.loads(await request.body())["rows"]
        found = model.answer(np.array([[row[name] for name in INPUTS] for row in rows]))
        predictions = [
            {
                "mean": mean,
                "variance": {"total": total, "noise": noise, "weights": weights, "beyond": beyond},
                "lower": lower,
                "upper": upper,
            }
            for mean, total, noise, weights, beyond, lower, upper in zip(
                *(column.tolist() for column in found), strict=True
            )
        ]
        content = orjson.dumps({"model": "benchmark", "version": 1, "predictions": predictions})
        return Response(content, media_type="application/json")

    return Starlette(routes=[Route("/v1/models/{name}/predict", predict, methods=["POST"])])
