"""Schemas of requests and responses for OpenAPI."""
