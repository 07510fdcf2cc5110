"""`make demo`: models trained through the running service, and what was learned, beside the truth and the peers."""
