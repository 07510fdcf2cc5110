"""An inference request: its tensors and its options."""

from dataclasses import dataclass
from functools import cached_property

from app.inference.tensors import Tensor


@dataclass(frozen=True)
class RequestedOutput:
    """A requested output; `binary` None: the request does not specify it."""

    name: str
    binary: bool | None


@dataclass(frozen=True)
class InferenceOptions:
    """Options of a request; `outputs` None: all of them, `binary` for outputs without an option of their own.

    `row_ids` is the input that has the ids of the rows, None for none; `unknown_categories` and `nulls` as of predict
    calls, None for the default.
    """

    id: str | None = None
    outputs: tuple[RequestedOutput, ...] | None = None
    binary: bool = False
    interval: float | None = None
    row_ids: str | None = None
    unknown_categories: str | None = None
    nulls: str | None = None

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """Return the requested outputs, None for all."""
        return tuple(output.name for output in self.outputs) if self.outputs else None

    @cached_property
    def binary_names(self) -> frozenset[str]:
        """Return the outputs whose values are sent as bytes."""
        return frozenset(
            output.name for output in self.outputs or () if (self.binary if output.binary is None else output.binary)
        )


@dataclass(frozen=True, eq=False)
class InferenceRequest:
    """The input tensors, and the options."""

    inputs: tuple[Tensor, ...]
    options: InferenceOptions
