"""Predictions as flat columns, and as files of them: what goes out by a door, and what a job keeps."""
