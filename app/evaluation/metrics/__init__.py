"""Metrics of predictions, accumulated from rows that come block by block."""
