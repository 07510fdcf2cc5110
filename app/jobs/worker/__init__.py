"""The worker: claims jobs, runs fits in child processes, records their outcomes."""
