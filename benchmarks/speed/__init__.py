"""CPU seconds and memory of one fit, beside peers; each fit has a process to itself."""
