"""Webhooks: registration, delivery with retries, and the requests that deliver messages."""
