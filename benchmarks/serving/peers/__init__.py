"""Servers that others wrote, each in an environment of its own (`make peers`), with the same model as ours."""
