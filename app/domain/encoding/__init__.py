"""Raw columns to the matrix X and back to the user's units: the only road, made from the training rows' statistics."""

from app.domain.encoding.columns import (
    EncodedCategory,
    EncodedInput,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    InputEncoding,
    column_names,
    column_units,
)
from app.domain.encoding.inputs import encode_inputs
from app.domain.encoding.noise import encode_noise
from app.domain.encoding.outlying import Limits
from app.domain.encoding.raw import gaps, quoted, raw_cells, real_values
from app.domain.encoding.spec import in_columns, in_target_units
from app.domain.encoding.statistics import InputStatistics, Statistics
from app.domain.encoding.target import (
    encode_target,
    user_evidence,
    user_log_evidence,
    user_mean,
    user_noise_sd,
    user_process_sd,
    user_scores,
    user_sd,
    user_variance,
)

__all__ = [
    "EncodedCategory",
    "EncodedInput",
    "EncodedNumber",
    "EncodedTarget",
    "Encoding",
    "InputEncoding",
    "InputStatistics",
    "Limits",
    "Statistics",
    "column_names",
    "column_units",
    "encode_inputs",
    "encode_noise",
    "encode_target",
    "gaps",
    "in_columns",
    "in_target_units",
    "quoted",
    "raw_cells",
    "real_values",
    "user_evidence",
    "user_log_evidence",
    "user_mean",
    "user_noise_sd",
    "user_process_sd",
    "user_scores",
    "user_sd",
    "user_variance",
]
