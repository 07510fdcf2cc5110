"""HTTP for all routes: problems, authentication, limits, conditional requests, idempotency, compression, OpenAPI."""
