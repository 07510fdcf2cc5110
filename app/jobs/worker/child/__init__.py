"""The process of one fit, which imports the core and nothing else of the service."""
