"""Who calls the service: API keys, their scopes and their owners."""
