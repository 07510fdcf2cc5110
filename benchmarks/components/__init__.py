"""Sparse kernel principal components beside those of all rows, and the detection of new rows by them."""
