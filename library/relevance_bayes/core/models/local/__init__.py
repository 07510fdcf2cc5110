"""Nearest-neighbour Gaussian processes: each row given its nearest rows, whose number bounds the cost [THEORY 21].

[VECCHIA1988] is Vecchia, Estimation and model identification for continuous spatial processes, JRSS B 50.
[DATTA2016] is Datta, Banerjee, Finley & Gelfand, Hierarchical nearest-neighbor Gaussian process models for large
geostatistical datasets, JASA 111. [GUINNESS2018] is Guinness, Permutation and grouping methods for sharpening Gaussian
process approximations, Technometrics 60. [KATZFUSS2021] is Katzfuss & Guinness, A general framework for Vecchia
approximations of Gaussian processes, Statistical Science 36.
"""
