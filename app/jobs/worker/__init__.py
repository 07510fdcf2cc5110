"""The background door: fits in child processes, told as plain functions over ports."""
