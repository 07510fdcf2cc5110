"""A version's predictions for a dataset, as a file."""

from dataclasses import dataclass

from relevance_bayes.types.json_schema import wire


@dataclass(frozen=True)
class BatchPredicted:
    """What was made: a file, at `/result` below the job for as long as it is kept."""

    __pydantic_config__ = wire()

    rows: int
    rows_not_predicted: int
    """Those that say in `error` why they have no prediction."""
    size: int
    """Of the file, in bytes."""
