"""A version as ONNX, in float64 and standard operators only. Only this package imports `onnx`."""
