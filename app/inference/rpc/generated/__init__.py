"""Made from open_inference.proto by `make protocol`."""
