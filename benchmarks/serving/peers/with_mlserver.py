"""The model in MLServer, which finds this class by the name that its environment gives."""

from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse

from benchmarks.serving.plain import PlainModel


class Moments(MLModel):
    """Mean and variance of the rows of one tensor."""

    async def load(self) -> bool:
        self._model = PlainModel.read()
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        mean, variance, *_ = self._model.predict(self.decode(payload.inputs[0], default_codec=NumpyCodec))
        outputs = [
            NumpyCodec.encode_output("mean", mean),
            NumpyCodec.encode_output("variance_total", variance),
        ]
        return InferenceResponse(model_name=self.name, outputs=outputs)
