"""`make demo`: two models trained through the running service, and what was learned, beside the truth."""
