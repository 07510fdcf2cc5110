"""The report and the predictor of kernel principal components."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from relevance_bayes.core.components import Components
from relevance_bayes.core.types import Array
from relevance_bayes.plans.requests import ComponentsPlan
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.reports import InputWidth

COMPONENTS_REPORTED = 10
"""The default number of components shown for a row."""


@dataclass(frozen=True)
class ComponentsReport:
    """The report of a version, without its arrays.

    `rows` are those that novelty is measured against, of which `rows_drawn` were learned from; `functions` counts those
    that carry the components. `reached` is the share of all rows' images that the components reach, `variances` are
    theirs in the kernel's space, falling, and `noise_variance` that of all else. `log_marginal_likelihood` is over that
    of noise alone. `widths` are those in encoded inputs. `imported` is None for what was trained here; else all other
    figures are those of where it was.
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


@dataclass(frozen=True, eq=False)
class ComponentsPredictor:
    """Raw columns to x, the components, and the log densities of rows like those learned from, rising."""

    encoding: InputEncoding
    components: Components
    log_densities: Array
