"""Datasets: upload, storage, rows."""
