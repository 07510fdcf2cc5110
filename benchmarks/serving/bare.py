"""The application that ours is measured against: Starlette, orjson and numpy, which checks nothing."""

from collections.abc import Mapping, Sequence

import numpy as np
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.serving.forms import FIGURES, LENGTH, NAME
from benchmarks.serving.model import INPUTS
from benchmarks.serving.plain import Array, PlainModel

VERSION = {"model_name": NAME, "model_version": "1"}


def make_application() -> Starlette:
    """For `uvicorn --factory`."""
    model = PlainModel.read()

    async def predict(request: Request) -> Response:
        rows = orjson.loads(await request.body())["rows"]
        found = model.predict(np.array([[row[name] for name in INPUTS] for row in rows]))
        predictions = [
            {
                "mean": mean,
                "variance": {"total": total, "noise": noise, "weights": weights, "residual": residual},
                "lower": lower,
                "upper": upper,
            }
            for mean, total, noise, weights, residual, lower, upper in zip(
                *(column.tolist() for column in found), strict=True
            )
        ]
        content = orjson.dumps({"model": "benchmark", "version": 1, "predictions": predictions})
        return Response(content, media_type="application/json")

    def outputs_of(head: Mapping[str, Sequence[Mapping[str, str]]], X: Array) -> list[tuple[str, Array]]:
        found = dict(zip(FIGURES, model.predict(X), strict=True))
        return [(output["name"], found[output["name"]]) for output in head["outputs"]]

    async def infer(request: Request) -> Response:
        body, length = await request.body(), request.headers.get(LENGTH)
        if length is None:
            head = orjson.loads(body)
            (tensor,) = head["inputs"]
            outputs = [
                {"name": name, "datatype": "FP64", "shape": column.shape, "data": column}
                for name, column in outputs_of(head, np.array(tensor["data"]).reshape(tensor["shape"]))
            ]
            content = orjson.dumps({**VERSION, "outputs": outputs}, option=orjson.OPT_SERIALIZE_NUMPY)
            return Response(content, media_type="application/json")
        head = orjson.loads(body[: int(length)])
        (tensor,) = head["inputs"]
        found = outputs_of(head, np.frombuffer(body, np.float64, offset=int(length)).reshape(tensor["shape"]))
        outputs = [
            {"name": name, "datatype": "FP64", "shape": column.shape, "parameters": {"binary_data_size": column.nbytes}}
            for name, column in found
        ]
        header = orjson.dumps({**VERSION, "outputs": outputs})
        content = b"".join((header, *(column.tobytes() for _, column in found)))
        return Response(content, headers={LENGTH: str(len(header))}, media_type="application/octet-stream")

    return Starlette(
        routes=[
            Route("/v1/models/{name}/predict", predict, methods=["POST"]),
            Route("/v2/models/{name}/infer", infer, methods=["POST"]),
        ]
    )
