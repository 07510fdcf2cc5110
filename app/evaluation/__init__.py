"""Evaluations, promotions and comparisons of versions on rows with a known target."""
