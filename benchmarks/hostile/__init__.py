"""The cost of hostile clients and of the limits on them, beside another checkout of the service."""
