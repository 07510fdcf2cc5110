"""The service's own nouns and rules: datasets, training jobs, models; no I/O and no framework."""
