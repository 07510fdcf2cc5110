"""A known function, told by few terms."""
