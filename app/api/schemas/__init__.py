"""What goes in and out over HTTP, as OpenAPI shows it."""
