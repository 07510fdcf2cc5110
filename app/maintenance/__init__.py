"""Maintenance of a deployment from the command line: backup, restore, copies between databases, checks."""
