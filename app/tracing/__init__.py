"""Distributed tracing: spans of requests, jobs and webhook deliveries, exported with OpenTelemetry where enabled."""
