"""The type of arrays of floats, for modules that are imported before any array is met.

An import of numpy takes a tenth of a second of CPU, which a program that only asks the service for JSON does without.
"""

from typing import TYPE_CHECKING  # noqa: TID251

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
else:
    Array = object

__all__ = ["Array"]
