"""Principal components of rows in a kernel's feature space."""
