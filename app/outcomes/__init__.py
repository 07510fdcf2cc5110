"""Predictions compared with their outcomes: coverage and log score over time, and alarms."""
