"""A version as ONNX, in float64 and standard operators alone. Needs the package `onnx`, which only this imports."""
