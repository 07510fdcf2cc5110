"""Whether a predictor that somebody else wrote can be one: what goes together in it, and what does not."""

from app.domain.soundness.approximation import approximation_faults
from app.domain.soundness.components import components_faults
from app.domain.soundness.specs import spec_faults
from app.domain.soundness.supervised import supervised_faults
from app.domain.soundness.supervised_report import supervised_report_faults

__all__ = ["approximation_faults", "components_faults", "spec_faults", "supervised_faults", "supervised_report_faults"]
