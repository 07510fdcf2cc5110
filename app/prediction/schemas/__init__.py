"""The API's form of predictions."""
