"""How good predictions are, in figures and as what pictures are drawn of."""

from collections.abc import Sequence

from pydantic import Field

from app.api.schemas.jobs.shared import FromDomain
from relevance_bayes.types.values import Label


class CoverageOut(FromDomain):
    """The intervals between which so many percent of what comes should be."""

    percent: int
    share: float = Field(description="Of the rows, how many were in theirs: `percent`/100 where predictions are right.")
    width: float = Field(description="Their mean width, in the target's units: the less, the better.")


class NumberMetricsOut(FromDomain):
    """Predictions of numbers beside what came; null of no rows."""

    rmse: float | None = Field(description="Root of the mean squared error of the mean, in the target's units.")
    mae: float | None = Field(description="Mean absolute error of the mean.")
    r2: float | None = Field(description="Share of the target's variance that is explained: 1 at best.")
    nll: float | None = Field(description="Mean negative log density of what came, in nats: the less, the better.")
    rows_of_zero_density: int = Field(
        description="Rows that `nll` leaves out: the version held what came for impossible."
    )
    coverage: Sequence[CoverageOut] = Field(description="At 50, 80 and 95 percent.")


class ResidualBinOut(FromDomain):
    """Rows whose predictions are neighbours."""

    rows: int
    lower: float
    upper: float
    mean_prediction: float = Field(description="The mean of them.")
    mean_residual: float = Field(
        description="The mean of target less prediction: near 0 where nothing is left to learn."
    )
    mean_absolute_residual: float = Field(description="The mean of its size.")


class NumberDiagnosticsOut(FromDomain):
    """What pictures of residuals are drawn of."""

    bin_edges: Sequence[float] = Field(
        description="Between the bins of `standardised`, of which the outer two are open."
    )
    standardised_residuals: Sequence[int] = Field(description="Rows by (target - mean)/sd.")
    pit: Sequence[float] = Field(
        description="Shares of rows by P(y <= what came), in bins of equal width: flat where predictions are right, "
        "heaped at both ends where they are too sure."
    )
    residuals: Sequence[ResidualBinOut] = Field(description="Bins of about as many rows, in the predictions' order.")


class AreaOut(FromDomain):
    """The chance that a row of a class scores above another row, and by how much that may be off."""

    value: float
    tolerance: float = Field(description="0 up to a million probabilities; beyond, they are counted in fine bins.")


class ClassMetricsOut(FromDomain):
    """Predictions of classes beside what came; null of no rows."""

    error: float | None = Field(description="Share of rows whose most probable class was not theirs.")
    log_loss: float | None = Field(description="Mean negative log probability of the class, in nats.")
    brier: float | None = Field(description="Half of the mean squared distance from certainty.")
    auc: AreaOut | None = Field(description="Mean of `areas`; null where rows are of one class.")
    ece: float | None = Field(description="By how much the predicted label's probability is off, on average.")
    rows_of_unknown_class: int = Field(
        description="Rows of classes never learned: an error each, without a share in `log_loss`."
    )


class ReliabilityBinOut(FromDomain):
    """Rows whose probability is between two bounds."""

    lower: float
    upper: float
    rows: int
    predicted: float = Field(description="The mean of their probabilities.")
    observed: float = Field(description="How often it came so.")


class ClassDiagnosticsOut(FromDomain):
    """What pictures of classes are drawn of; lists of classes are in the order of `classes`."""

    classes: Sequence[Label]
    auc_per_class: Sequence[AreaOut | None] = Field(description="Of each class against the rest.")
    confusion: Sequence[Sequence[int]] = Field(description="Rows, by their class and in it by predicted label.")
    confidence: Sequence[ReliabilityBinOut] = Field(description="Of the predicted label.")
    reliability: Sequence[Sequence[ReliabilityBinOut]] = Field(description="Of each class.")
