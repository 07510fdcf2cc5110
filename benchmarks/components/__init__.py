"""Sparse kernel principal components beside those of all rows, and what they are used for: to tell what is new."""
