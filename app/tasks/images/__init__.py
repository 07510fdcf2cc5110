"""An image, told by few wavelets."""
