"""The type of arrays of floats, for modules that do not import numpy.

Importing numpy takes a tenth of a second of CPU, which programs that use only JSON save.
"""

from typing import TYPE_CHECKING  # noqa: TID251

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
else:
    Array = object

__all__ = ["Array"]
