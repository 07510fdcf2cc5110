"""Speed, memory and accuracy beside the papers and the peers; prints tables, asserts nothing."""

import os

# Before numpy is imported anywhere: one thread for every engine that is measured, and for its children.
for _library in ("OMP", "OPENBLAS", "MKL", "VECLIB", "NUMEXPR"):
    os.environ[f"{_library}_{'MAXIMUM_THREADS' if _library == 'VECLIB' else 'NUM_THREADS'}"] = "1"
