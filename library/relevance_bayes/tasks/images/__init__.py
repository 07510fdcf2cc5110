"""Sparse codes of images by wavelets."""
