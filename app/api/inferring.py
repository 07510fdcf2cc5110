"""From the body of an inference request to the bytes of its answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, TypeVarTuple, Unpack

from starlette.types import Receive

from app.api.expanding import expanded
from app.api.inference.messages import InferenceAnswer, InferenceRequest, WantedOutput, read_request, written
from app.api.inference.signature import Told, block_of, inputs_of, outputs_of, tensors_of
from app.api.inference.tensors import from_bytes
from app.api.predicting import Predicting, is_read_quickly, max_containers
from app.domain.errors import MalformedBodyError, TooLargeError
from app.formats.misfits import refuse
from app.services.answering import ServedVersion, Wanted, support_of
from app.services.answering import answer as predict
from app.services.counting import CountedRequest, Rows
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.types.errors import Fault, InvalidRequestError
from relevance_bayes.types.references import Reference

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


@dataclass(frozen=True)
class Inferred:
    """An answer's body, and how many of its first bytes are JSON, None where all of them are."""

    content: bytes
    header_length: int | None


class Inferring:
    """Answers requests for inference as predict calls are: small ones on the event loop, large ones in a thread."""

    def __init__(self, predicting: Predicting) -> None:
        self._predicting = predicting

    async def unpacked(self, body: bytes, encoding: str) -> bytes:
        """A body as it was before it was packed; raises what `expanded` does."""
        if not encoding:
            return body
        return await self._predicting.run_large(expanded, body, encoding, self._predicting.most_bytes)

    async def run_large(self, call: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> T:
        """A call in a thread, once few enough other large ones are."""
        return await self._predicting.run_large(call, *arguments)

    async def answered(
        self, owner: str, reference: Reference, body: bytes, header_length: int | None, receive: Receive
    ) -> Inferred:
        """The answer to a body whose first `header_length` bytes are JSON, all where None; 0: all is the one input.

        Raises what `infer` does.
        """

        def read(served: ServedVersion) -> InferenceRequest:
            if header_length == 0:
                return _only_input(served, body)
            return read_request(body, header_length, max_containers=max_containers(self._predicting.most_rows))

        return await self.infer(owner, reference, len(body), read, lambda answer: Inferred(*written(answer)), receive)

    async def infer(
        self,
        owner: str,
        reference: Reference,
        size: int,
        read: Callable[[ServedVersion], InferenceRequest],
        write: Callable[[InferenceAnswer], T],
        receive: Receive | None = None,
    ) -> T:
        """The answer, written, to a request of so many bytes that is read for a version.

        Raises what `Predicting.served` does, and what the request is refused for.
        """
        served = await self._predicting.served(owner, reference)
        with CountedRequest(served.counts) as counted:

            def answer() -> T:
                return write(inferred(served, read(served), self._predicting.most_rows, counted))

            if is_read_quickly(served, size):
                return answer()
            return await self._predicting.run_for_client(receive, answer)


def inferred(served: ServedVersion, asked: InferenceRequest, most_rows: int, counted: Rows) -> InferenceAnswer:
    """Predictions for the tensors of a request."""
    block, misfits = block_of(served, asked.inputs)
    if (rows := block_rows(block)) > most_rows:
        raise TooLargeError(f"There are {rows} rows, more than {most_rows}; send them in parts.")
    if rows == 0:
        raise MalformedBodyError("The tensors have no rows.")
    refuse(misfits)
    found = predict(served, block, _wanted(asked.interval))
    refuse(found.faults)
    counted.add(rows, support_of(found))
    return _answer(served, asked, {tensor.name: (tensor, told) for tensor, told in tensors_of(found)})


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


def _wanted(interval: float | None) -> Wanted:
    if interval is None:
        return Wanted()
    if not 0.0 < interval < 1.0:
        detail = f"The parameter `interval`: expected a probability between 0 and 1, got {interval}."
        raise InvalidRequestError(detail, [Fault(detail, "/parameters/interval")])
    return Wanted(interval)


def _answer(served: ServedVersion, asked: InferenceRequest, found: dict[str, Told]) -> InferenceAnswer:
    wanted = asked.outputs if asked.outputs else tuple(WantedOutput(name, None) for name in found)
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
