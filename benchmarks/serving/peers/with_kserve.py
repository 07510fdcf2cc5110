"""The model in KServe, which reads its settings from the arguments of `python -m`."""

import asyncio
from collections.abc import Mapping

import uvloop
from kserve import InferOutput, InferRequest, InferResponse, Model, ModelServer

from benchmarks.serving.plain import PlainModel

NAME = "benchmark"


class Moments(Model):
    """Mean and variance of the rows of one tensor."""

    def load(self) -> bool:
        self._model = PlainModel.read()
        self.ready = True
        return True

    def predict(self, payload: InferRequest, headers: Mapping[str, str] | None = None) -> InferResponse:
        mean, variance, *_ = self._model.predict(payload.inputs[0].as_numpy())
        outputs = [
            InferOutput(name, list(column.shape), "FP64", column)
            for name, column in (("mean", mean), ("variance_total", variance))
        ]
        return InferResponse(payload.id or "", self.name, outputs, requested_outputs=payload.request_outputs)


if __name__ == "__main__":
    # KServe leaves uvloop to uvicorn, and uvicorn to who runs the loop; before it runs one it wants to see one.
    uvloop.install()
    asyncio.set_event_loop(uvloop.new_event_loop())
    model = Moments(NAME)
    model.load()
    ModelServer().start([model])
