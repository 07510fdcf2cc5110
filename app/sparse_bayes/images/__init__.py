"""Images told by few wavelets: a dictionary of millions that is never a matrix, met tile by tile."""

from app.sparse_bayes.images.code import ImageCode, decode, psnr
from app.sparse_bayes.images.encoding import Phase, Step, encode, steps
from app.sparse_bayes.images.levels import LEVELS, Level

__all__ = ["LEVELS", "ImageCode", "Level", "Phase", "Step", "decode", "encode", "psnr", "steps"]
