"""A version as one file of Python that needs numpy alone: readable, and free of this package."""
