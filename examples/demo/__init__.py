"""`make demo`: models trained by a running service, beside the truth and other libraries."""
