"""The data and the outputs of the README and of pages."""
