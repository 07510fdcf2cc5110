"""The worker: claims jobs, runs fits in child processes, records what becomes of them."""
