"""Sparse approximation of a known function."""
