"""What deployments need beside the packages: the image, compose, monitoring."""
