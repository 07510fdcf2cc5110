"""The API's form of training jobs."""
