"""Inference for given hyperparameters: the posterior, the evidence, and processes through inducing points."""
