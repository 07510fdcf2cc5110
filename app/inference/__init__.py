"""The Open Inference Protocol, version 2: tensors in and out, in JSON and binary."""
