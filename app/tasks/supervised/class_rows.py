"""The number of training rows of each class."""

import numpy as np

from app.tasks.supervised.materialise import Materialised
from relevance_bayes.types.reports import ClassRows


def class_rows(made: Materialised) -> tuple[ClassRows, ...]:
    """Return the number of training rows of each class, in the encoding's order; none where numbers are predicted."""
    classes = made.encoding.target.classes
    if not classes:
        return ()
    places = made.rows()[: made.training, made.inputs].astype(np.intp)
    return tuple(map(ClassRows, classes, np.bincount(places, minlength=len(classes)).tolist()))
