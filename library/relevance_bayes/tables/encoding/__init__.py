"""Raw columns to the matrix X, and results back to the user's units, from statistics of the training rows."""

from relevance_bayes.tables.encoding.columns import (
    EncodedCategory,
    EncodedEffects,
    EncodedInput,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    InputEncoding,
    column_names,
    column_units,
)
from relevance_bayes.tables.encoding.inputs import encode_inputs, encode_known
from relevance_bayes.tables.encoding.outlying import Limits
from relevance_bayes.tables.encoding.raw import gaps, quoted, raw_cells, real_values
from relevance_bayes.tables.encoding.spec import in_columns, in_target_units
from relevance_bayes.tables.encoding.target import (
    encode_noise,
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
    "EncodedEffects",
    "EncodedInput",
    "EncodedNumber",
    "EncodedTarget",
    "Encoding",
    "InputEncoding",
    "Limits",
    "column_names",
    "column_units",
    "encode_inputs",
    "encode_known",
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
