"""Several models of one target as one: their predictive densities are multiplied, each to the power of its weight.

[HINTON2002] is Hinton, Training products of experts by minimizing contrastive divergence, Neural Computation 14.
[CAO2014] is Cao & Fleet, Generalized product of experts for automatic and principled fusion of Gaussian process
predictions, arXiv:1410.7827.
"""
