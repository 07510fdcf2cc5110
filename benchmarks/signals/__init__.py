"""Signals by dictionaries beside what signals are coded and denoised with elsewhere."""
