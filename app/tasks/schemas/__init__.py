"""The API's schemas of training jobs and their requests."""
