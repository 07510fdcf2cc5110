"""The result of components: the report for its owner, and the predictor."""

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from relevance_bayes.core.types import Array
from relevance_bayes.records.annotations import is_none
from relevance_bayes.records.baselines import Baseline
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.lineage import ImportedFrom, OtherMembers
from relevance_bayes.records.reports import InputWidth
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.tasks.components.request import ComponentsPlan
from relevance_bayes.tasks.components.space import Components

COMPONENTS_REPORTED = 10
"""The default number of components in a prediction."""


@dataclass(frozen=True)
class ComponentsReport:
    """The report of a version, without its arrays.

    `rows` are those that novelty is measured against, of which `rows_drawn` were trained on; `functions` is the number
    of rows that carry the components. `reached` is the share of all rows' images explained by the components,
    `variances` are theirs in feature space, descending, and `noise_variance` is the residual variance.
    `log_marginal_likelihood` is relative to that of noise only. `widths` are those in encoded inputs. `imported` is
    None for a version trained here; else all other members are those of the original. `baseline` has the histograms of
    the training rows and of their novelty.
    """

    plan: ComponentsPlan
    functions: int
    rows: int
    rows_drawn: int
    rows_dropped: int
    widths: tuple[InputWidth, ...]
    explained_variance: float
    noise_variance: float
    variances: tuple[float, ...]
    log_marginal_likelihood: float
    dataset_id: UUID
    dataset_digest: str
    seconds: float
    software_version: str
    task: Literal["components"] = "components"
    imported: ImportedFrom | None = None
    others: OtherMembers | None = field(default=None, metadata={"exclude_if": is_none})
    baseline: Baseline | None = None

    @property
    def diagnostics(self) -> None:
        """None: there is no target."""

    def with_diagnostics(self, found: Diagnostics | None) -> "ComponentsReport":
        """Return the report itself."""
        return self


@dataclass(frozen=True, eq=False)
class ComponentsPredictor:
    """Raw columns to x, the components, and the log densities of rows like the training rows, ascending."""

    encoding: InputEncoding
    components: Components
    log_densities: Array
