"""Telling webhooks: where one may be reached, one request, one attempt."""
