"""API schemas of predictions."""
