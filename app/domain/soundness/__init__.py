"""Whether a predictor that somebody else wrote can be one: what goes together in it, and what does not."""

from app.domain.soundness.approximation import approximation_faults
from app.domain.soundness.components import components_faults
from app.domain.soundness.supervised import supervised_faults

__all__ = ["approximation_faults", "components_faults", "supervised_faults"]
