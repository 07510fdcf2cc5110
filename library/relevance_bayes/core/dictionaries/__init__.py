"""Dictionaries of functions that stand on no row, one a file: what is asked for, and what it becomes on some rows.

What is asked for is a frozen dataclass whose `functions(X)` makes the candidates for the rows X (N, d). These are
`size` functions, called with X and the numbers of those wanted; `take` keeps some, `shape` says what one of them is.
"""

from relevance_bayes.core.dictionaries.fourier import Fourier, FourierFunctions
from relevance_bayes.core.dictionaries.gabor import Gabor, GaborFunctions
from relevance_bayes.core.dictionaries.shapes import Shape
from relevance_bayes.core.dictionaries.splines import BSplines, SplineFunctions
from relevance_bayes.core.dictionaries.steps import StepFunctions, Steps

Dictionary = Steps | Fourier | BSplines | Gabor
DictionaryFunctions = StepFunctions | FourierFunctions | SplineFunctions | GaborFunctions

__all__ = [
    "BSplines",
    "Dictionary",
    "DictionaryFunctions",
    "Fourier",
    "FourierFunctions",
    "Gabor",
    "GaborFunctions",
    "Shape",
    "SplineFunctions",
    "StepFunctions",
    "Steps",
]
