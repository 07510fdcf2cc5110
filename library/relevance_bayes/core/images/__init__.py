"""Images as few wavelets: a dictionary of millions that is never a matrix, evaluated tile by tile."""

from relevance_bayes.core.images.code import ImageCode, decode, psnr
from relevance_bayes.core.images.encoding import Phase, Step, encode, steps
from relevance_bayes.core.images.levels import LEVELS, Level

__all__ = ["LEVELS", "ImageCode", "Level", "Phase", "Step", "decode", "encode", "psnr", "steps"]
