"""Jobs that put versions beside the rows of a dataset: they run in the worker's own threads, block by block."""
