"""Metrics of predictions, accumulated block by block."""
