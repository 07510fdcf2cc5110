"""The array types of the core's signatures."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""Real numbers; each docstring gives the shape."""

ForRows: TypeAlias = float | Array
"""One number that holds for all rows, or one for each of them, (N,)."""

Indices: TypeAlias = NDArray[np.intp]
"""Positions of rows, candidates or folds."""

Mask: TypeAlias = NDArray[np.bool_]
"""Yes or no for each row or candidate."""
