"""Principal components of rows in a kernel's space."""
