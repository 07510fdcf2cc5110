"""The model in BentoML, whose command serves this class."""

import bentoml
import numpy as np
from numpy.typing import NDArray

from benchmarks.serving.plain import PlainModel


@bentoml.service(workers=1, metrics={"enabled": False}, logging={"access": {"enabled": False}})
class Moments:
    """Mean and variance of rows; on the event loop, since a thread would cost more than it does."""

    def __init__(self) -> None:
        self._model = PlainModel.read()

    @bentoml.api
    async def predict(self, rows: NDArray[np.float64], /) -> NDArray[np.float64]:
        return np.stack(self._model.predict(rows)[:2])
