"""The Open Inference Protocol over gRPC, where the package is installed."""
