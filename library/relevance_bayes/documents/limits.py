"""Limits of imported documents: their sizes, and values that they must not contain."""

import math
from collections.abc import Iterator

from relevance_bayes.documents.learned_schema import HurdlePart, LocalPart, ModelPart, PerClassPart, PoolPart
from relevance_bayes.documents.parts import (
    BiasPart,
    FunctionsPart,
    GroupPart,
    InputsPart,
    KernelPart,
    SplinesPart,
    StepsPart,
    WaveletsPart,
    WavesPart,
)
from relevance_bayes.documents.schema import ComponentsPart, TermsPart, VersionDocument
from relevance_bayes.documents.sizes import wrong
from relevance_bayes.records.errors import Fault, pointer

MAX_MEMBERS = 16

MAX_FUNCTIONS = 2_048
"""The maximum number of functions of an imported version; the cost of a model grows with their cube."""

MAX_TEXT_LENGTH = 100_000
MAX_INTEGER = 2**63 - 1


def refuse_large(document: VersionDocument) -> None:
    """Raise InvalidRequestError for an imported document of too many functions or models."""
    match document.model:
        case ModelPart() as model:
            _refuse_large_model(model, "/model")
        case PoolPart(members=members) | PerClassPart(members=members):
            if isinstance(document.model, PoolPart) and not 2 <= len(members) <= MAX_MEMBERS:
                detail = f"Expected 2 to {MAX_MEMBERS} members of a pool, got {len(members)}."
                raise wrong("/model/members", detail)
            for place, model in enumerate(members):
                _refuse_large_model(model, f"/model/members/{place}")
        case HurdlePart(zero=zero, positive=positive):
            _refuse_large_model(zero, "/model/zero")
            _refuse_large_model(positive, "/model/positive")
        case LocalPart(trend=trend, functions=functions_beside):
            if sum(map(_size, functions_beside)) > MAX_FUNCTIONS:
                raise wrong("/model/functions", f"Expected at most {MAX_FUNCTIONS:,} functions, got more.")
            if trend is not None:
                _refuse_large_model(trend, "/model/trend")
        case ComponentsPart(functions=functions):
            _refuse_other_size(functions, "/model/functions")
        case TermsPart():
            pass  # limited by the maximum of a training


def _refuse_large_model(part: ModelPart, where: str) -> None:
    size = sum(map(_size, part.functions))
    if size > MAX_FUNCTIONS:
        raise wrong(f"{where}/functions", f"Expected at most {MAX_FUNCTIONS:,} functions, got {size:,}.")
    if part.augmentation is not None:
        _refuse_other_size(part.augmentation.functions, f"{where}/augmentation/functions")
    if part.log_noise is not None:
        _refuse_large_model(part.log_noise.model, f"{where}/log_noise/model")


def _refuse_other_size(part: KernelPart, where: str) -> None:
    if not 1 <= len(part.centres) <= MAX_FUNCTIONS:
        detail = f"Expected 1 to {MAX_FUNCTIONS:,} functions, got {len(part.centres):,}."
        raise wrong(f"{where}/centres", detail)


def _size(part: FunctionsPart) -> int:
    match part:
        case GroupPart(of=functions):
            return _size(functions)
        case KernelPart(centres=centres):
            return len(centres)
        case BiasPart():
            return 1
        case InputsPart(columns=chosen):
            return len(chosen)
        case WaveletsPart(scales=scales):
            return len(scales)
        case StepsPart() | WavesPart() | SplinesPart():
            return len(part.inputs)


def value_faults(value: object, where: str) -> Iterator[Fault]:
    """Yield a fault for each value that can't be stored, with its place below `where`."""
    match value:
        case float() if not math.isfinite(value):
            yield Fault("Expected a finite number.", where)
        case int() if abs(value) > MAX_INTEGER:
            yield Fault(f"Expected an integer of at most {MAX_INTEGER} in magnitude.", where)
        case str() if "\0" in value or len(value) > MAX_TEXT_LENGTH:
            yield Fault(f"Expected a text of at most {MAX_TEXT_LENGTH:,} characters without NUL.", where)
        case list():
            for place, one in enumerate(value):
                yield from value_faults(one, f"{where}/{place}")
        case dict():
            for name, one in value.items():
                if "\0" in name or len(name) > MAX_TEXT_LENGTH:
                    yield Fault("Expected members without NUL in their names.", where)
                yield from value_faults(one, f"{where}{pointer((name[:MAX_TEXT_LENGTH],))}")
        case _:
            pass
