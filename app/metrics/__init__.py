"""Metrics: the numbers that the parts of a process count, and their text for Prometheus."""
