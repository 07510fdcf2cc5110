"""Regression and classification: numbers, counts and classes, learned from rows with a target."""
