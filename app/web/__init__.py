"""The page for browsers: static files of this package, which use nothing but /v1 and the OpenAPI document."""
