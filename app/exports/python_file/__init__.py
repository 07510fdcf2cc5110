"""A version as one readable file of Python that needs only numpy."""
