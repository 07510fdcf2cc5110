"""Requests of the Open Inference Protocol: tensors become rows to predict for, predictions become tensors."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.api.inference.messages import InferenceAnswer, InferenceRequest, RequestedOutput, read_request, written
from app.api.inference.signature import Told, block_of, inputs_of, outputs_of, tensors_of
from app.api.inference.tensors import from_bytes
from app.api.json_codec import max_containers
from app.api.prediction import YieldGil, is_read_quickly
from app.domain.errors import Fault, InvalidRequestError, MalformedBodyError, TooLargeError
from app.domain.tables import block_rows
from app.formats.misfits import refuse
from app.services.prediction import Prediction, PredictOptions, PredictRequest, ServedVersion


@dataclass(frozen=True)
class RenderedTensors:
    """The body of a response, and how many of its first bytes are JSON, None where all of them are."""

    content: bytes
    header_length: int | None


class TensorCodec:
    """A body whose first `header_length` bytes are JSON, all where None; 0: all is the one input."""

    def __init__(self, body: bytes, header_length: int | None, max_rows: int) -> None:
        self._body = body
        self._header_length = header_length
        self._max_rows = max_rows
        self._asked = InferenceRequest(())

    def read_inline(self, served: ServedVersion) -> PredictRequest | None:
        """A body that is read and predicted for in no time."""
        return self._read(served) if is_read_quickly(served, len(self._body)) else None

    def is_small(self, served: ServedVersion) -> bool:
        """Never: small bodies need no thread."""
        return False

    def read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        """Raises what is wrong with the body."""
        return self._read(served)

    def render(
        self, served: ServedVersion, request: PredictRequest, prediction: Prediction
    ) -> Iterator[RenderedTensors]:
        """JSON, and what is to be binary behind it."""
        yield RenderedTensors(*written(answer_of(served, self._asked, prediction)))

    def _read(self, served: ServedVersion) -> PredictRequest:
        if self._header_length == 0:
            self._asked = _only_input(served, self._body)
        else:
            containers = max_containers(self._max_rows)
            self._asked = read_request(self._body, self._header_length, max_containers=containers)
        return request_of(served, self._asked, self._max_rows)


def request_of(served: ServedVersion, asked: InferenceRequest, max_rows: int) -> PredictRequest:
    """The rows that the tensors of a request hold; raises what is wrong with them."""
    block, misfits = block_of(served, asked.inputs)
    if (rows := block_rows(block)) > max_rows:
        raise TooLargeError(f"There are {rows} rows, more than {max_rows}; send them in parts.")
    if rows == 0:
        raise MalformedBodyError("The tensors have no rows.")
    refuse(misfits)
    return PredictRequest(block, _options(asked.interval), refuses=True)


def answer_of(served: ServedVersion, asked: InferenceRequest, prediction: Prediction) -> InferenceAnswer:
    """The tensors that were asked for; raises MalformedBodyError for those that there are not."""
    found: dict[str, Told] = {tensor.name: (tensor, parameters) for tensor, parameters in tensors_of(prediction)}
    wanted = asked.outputs if asked.outputs else tuple(RequestedOutput(name, None) for name in found)
    unknown = [output.name for output in wanted if output.name not in found]
    if unknown:
        known = ", ".join(kind.name for kind in outputs_of(served))
        raise MalformedBodyError(f"There is no output {unknown[0]!r}; the model has {known}.")
    version = served.version
    return InferenceAnswer(
        version.model,
        str(version.number),
        asked.id,
        tuple(found[output.name][0] for output in wanted),
        frozenset(output.name for output in wanted if (asked.binary if output.binary is None else output.binary)),
        {output.name: found[output.name][1] for output in wanted},
    )


def _only_input(served: ServedVersion, body: bytes) -> InferenceRequest:
    """The request of a body that is nothing but the values of the one input."""
    only, *others = inputs_of(served)
    if others:
        raise MalformedBodyError(f"The model has {1 + len(others)} inputs: a body without JSON can hold one alone.")
    width = 8
    for length in only.shape[1:]:
        width *= length
    tensor = from_bytes(only.name, only.datatype, (len(body) // width, *only.shape[1:]), memoryview(body))
    return InferenceRequest((tensor,), binary=True)


def _options(interval: float | None) -> PredictOptions:
    if interval is None:
        return PredictOptions()
    if not 0.0 < interval < 1.0:
        detail = f"The parameter `interval`: expected a probability between 0 and 1, got {interval}."
        raise InvalidRequestError(detail, [Fault(detail, "/parameters/interval")])
    return PredictOptions(interval)
