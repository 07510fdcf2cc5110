"""Dictionaries of functions that are not centred on rows, one a file: the choice, and its candidates for some rows.

The choice is a frozen dataclass whose `functions(X)` makes the candidates for the rows X (N, d). These are `size`
functions, called with X and the numbers of the requested ones; `take` keeps some, `shape` describes one.
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
